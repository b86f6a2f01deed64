/** What GraphRAG's errors mean that its double does not raise; those that it does are in `graphrag.test.ts`. */
import { expect, test } from "vitest";
import { failureOfExit } from "./graphrag-failures.js";

const advice = { dir: "graphrag", data: "output", generation: "positional" };

/** Last line of the traceback, what is said, and what follows of it for the other questions. */
const cases: readonly [string, RegExp, "again" | "fail" | "stop" | "no"][] = [
  ["ValueError: Invalid placeholder in string: line 12, col 9", /write it as `\$\$`/, "fail"],
  ["KeyError: 'GRAPHRAG_API_KEY'", /variable GRAPHRAG_API_KEY, and it is not set/, "fail"],
  ["FileNotFoundError: [Errno 2] No such file or directory: 'o/create_final_nodes.parquet'", /index first/, "fail"],
  ["openai.NotFoundError: Error code: 404 - {'code': 'model_not_found'}", /does not know the model/, "fail"],
  ["ValueError: query vector has dimension 768, which does not match 1536", /another embedding model/, "fail"],
  ["ValueError: Table 'default-entity-description' was not found", /lacks the table default-entity-description/, "fail"],
  ["yaml.scanner.ScannerError: mapping values are not allowed here", /settings in graphrag are not valid/, "fail"],
  ["ModuleNotFoundError: No module named 'graphrag'", /pip install graphrag/, "fail"],
  ["ModuleNotFoundError: No module named 'graphrag.query'", /set `cli:`/, "fail"],
  ["litellm.ContextWindowExceededError: too many tokens", /max_context_tokens/, "no"],
  ["json.decoder.JSONDecodeError: Expecting value", /JSON that GraphRAG demanded/, "again"],
  ["Your credit balance is too low to access the API", /no quota left/, "stop"],
];

test.each(cases)("%s", (line, error, then) => {
  const failure = failureOfExit(1, `Traceback (most recent call last):\n  File "x.py", line 1\n${line}\n`, "", advice);
  expect(failure).toMatchObject({ status: "failed", error: expect.stringMatching(error) });
  expect(failure.retry === undefined ? (failure.ofAll ?? "no") : "again").toBe(then);
});

test("a command line of another release", () => {
  const failure = failureOfExit(2, "Usage: graphrag query\nNo such option: --query\n", "", advice);
  expect(failure).toMatchObject({ ofAll: "fail", error: expect.stringMatching(/generation `positional`: set `cli:`/) });
});
