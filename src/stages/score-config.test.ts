/** What the check of a pipeline file says of a score stage's rules and measures, before anything runs. */
import { expect, test } from "vitest";
import { mistakesOf } from "../../test/rigs/pipeline-marks.js";
import { stageKinds } from "./registry.js";

test("a slip in the rules and a measure that is listed twice are mistakes of the file, at their places", async () => {
  const kinds = await stageKinds({ extensions: [], folder: "/" });
  if (!kinds.ok) throw new Error(kinds.error);
  const text = [
    "stages:",
    "  dataset: { uses: import-dataset, with: { path: cases.jsonl } }",
    "  answers: { uses: import-answers, needs: dataset, with: { path: answers.jsonl } }",
    "  scores: { uses: score, needs: [dataset, answers], with: { rules: lenjent, measures: [P, R, P] } }",
  ].join("\n");
  expect(mistakesOf(text, { kinds: kinds.value })).toMatchObject([
    { line: 4, message: '`rules`: there are no rules "lenjent"', suggestion: "did you mean `lenient`?" },
    { line: 4, message: "item 3 of `measures`: P is there twice", suggestion: "remove it" },
  ]);
});
