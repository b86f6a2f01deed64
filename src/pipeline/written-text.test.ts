// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in pipeline files are the subject here
/** Numbers and truth values where a program's arguments are wanted. */
import { describe, expect, test } from "vitest";
import { check, graphOf, mistakesOf } from "../../test/rigs/pipeline-marks.js";
import { stageKinds } from "../stages/registry.js";
import { pipelineJsonSchema } from "./json-schema.js";

const found = await stageKinds({ extensions: [], folder: "/" });
if (!found.ok) throw new Error(found.error);
const kinds = found.value;

function pipeline(backend: string, params = "{ top: 1.10, deep: true }"): string {
  return [
    `params: ${params}`,
    "stages:",
    "  dataset: { uses: import-dataset, with: { path: cases.jsonl } }",
    `  answers: { uses: query-backend, needs: dataset, matrix: { backend: [${backend}] } }`,
  ].join("\n");
}

function configured(backend: string, params?: string, set: readonly string[] = []): unknown {
  return graphOf(pipeline(backend, params), { kinds, set }).nodes.find(({ kind }) => kind === "query-backend")?.config;
}

describe("the arguments of a program", () => {
  test("may be numbers and truth values, and stay as they are written", () => {
    const backend = '{ kind: command, run: [search, --top, "${params.top}", 007, 1e3, "${params.deep}", false], version: 2.50 }';
    expect(configured(backend)).toMatchObject({
      backend: { run: ["search", "--top", "1.10", "007", "1e3", "true", "false"], version: "2.50" },
    });
    expect(configured(backend, undefined, ["top=1_0"])).toMatchObject({ backend: { run: expect.arrayContaining(["1_0"]) } });
  });

  test("are no lists and no nothing", () => {
    const [mistake, ...more] = mistakesOf(pipeline("{ kind: command, run: [search, 5, [a], ~] }"), { kinds });
    expect(mistake?.message).toMatch(/item 3 of `run`: expected text, found a list/);
    expect(more.map(({ message }) => message)).toEqual([expect.stringMatching(/item 4 of `run`: expected text, found nothing/)]);
  });

  test("another mistake is said alone", () => {
    const mistakes = mistakesOf(pipeline('{ kind: command, run: [search, 5], output: "xml", concurrency: 0 }'), { kinds });
    expect(mistakes.map(({ message }) => message)).toEqual([
      expect.stringContaining("`output`"),
      expect.stringContaining("`concurrency`"),
    ]);
  });

  test("elsewhere a number is no text", () => {
    const [mistake] = mistakesOf(pipeline("{ kind: command, run: [search], cwd: 5 }"), { kinds });
    expect(mistake).toMatchObject({ message: expect.stringContaining("`cwd`: expected text, found the number 5") });
    expect(check(pipeline('{ kind: command, run: [search], cwd: "5" }'), { kinds }).ok).toBe(true);
  });
});

test("editors are told so, without keywords that they do not know", () => {
  const schema = JSON.stringify(pipelineJsonSchema(kinds));
  expect(schema).toContain('"items":{"type":["string","number","boolean"]}');
  expect(schema).not.toContain('"written"');
});
