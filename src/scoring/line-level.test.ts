import { expect, test } from "vitest";
import { scoredCase, scoreMeta, viewScores } from "../../test/rigs/scored-cases.js";
import { answerSchema } from "../answers/schema.js";
import { caseSchema } from "../dataset/schema.js";
import { builtInRules } from "../matching/rules.js";
import { measuresOf } from "../stages/measures.js";
import { DEFAULT_BOOTSTRAP, intervalRows } from "./intervals.js";
import { scoreCase } from "./score-case.js";
import { corpusFiles } from "./truth.js";
import { viewsOf } from "./views.js";

const target = (path: string, ranges: [number, number][] | null, grade: number) => ({ path, role: "source", ranges, grade });

function measured(
  targets: readonly ReturnType<typeof target>[],
  blocks: readonly (readonly [string, number?, number?])[],
  names: string[],
) {
  const asked = caseSchema.parse({ id: "q", repository: null, number: null, title: "t", body: "", targets });
  const results = blocks.map(([path, start, end]) => ({
    path,
    ...(start === undefined ? {} : { start_line: start, end_line: end }),
  }));
  const answer = answerSchema.parse({ id: "q", response: JSON.stringify(results) });
  const corpus = corpusFiles({ paths: ["a.rs", "b.rs"], roots: [] });
  return scoreCase(asked, answer, { rules: builtInRules.strict, measures: measuresOf(names), corpus, backend: "x" }).measures;
}

const TRUTH = [target("a.rs", [[10, 20]], 2), target("a.rs", [[40, 50]], 1)];

test("one shared line is a hit; a second chunk in the same range is none", () => {
  const names = ["Hit(level=lines)@1", "R(level=lines)@5", "P(level=lines)@5", "nDCG(level=lines)@10"];
  const found = measured(
    TRUTH,
    [
      ["a.rs", 20, 30],
      ["a.rs", 15, 16],
      ["b.rs", 10, 20],
      ["a.rs", 50, 90],
    ],
    names,
  );
  expect(found).toMatchObject({ "Hit(level=lines)@1": 1, "R(level=lines)@5": 1, "P(level=lines)@5": 0.4 });
  // Gains 2, 0, 0, 1 against the ideal 2, 1.
  expect(found["nDCG(level=lines)@10"]).toBeCloseTo((2 + 1 / Math.log2(5)) / (2 + 1 / Math.log2(3)), 12);
});

test("with iou the ranges must agree as a whole", () => {
  const names = ["Hit(iou=0.5,level=lines)@5", "Hit(level=lines)@5"];
  expect(measured(TRUTH, [["a.rs", 1, 100]], names)).toEqual({ "Hit(iou=0.5,level=lines)@5": 0, "Hit(level=lines)@5": 1 });
  // Eleven lines of truth, of which ten are given: 10/11.
  expect(measured(TRUTH, [["a.rs", 11, 20]], ["Hit(iou=0.9,level=lines)@5"])).toEqual({ "Hit(iou=0.9,level=lines)@5": 1 });
});

test("a prediction without lines names none; a truth without lines is no case of this level", () => {
  expect(measured(TRUTH, [["a.rs"]], ["Hit(level=lines)@5", "Hit@5"])).toEqual({ "Hit(level=lines)@5": 0, "Hit@5": 1 });
  expect(measured([target("a.rs", null, 1)], [["a.rs", 1, 2]], ["Hit(level=lines)@5"])).toEqual({ "Hit(level=lines)@5": null });
  expect(measured(TRUTH, [["a.rs", 1, 2]], ["R(level=function)"])).toEqual({ "R(level=function)": null });
});

test("cases without truth at a level are left out of its mean and its interval, and counted", () => {
  const name = "Hit(level=lines)@5";
  const cases = [1, 0, null, 1].map((value, i) => scoredCase(`c${i}`, viewScores(1, 0, 0, { [name]: value })));
  const rows = (some: typeof cases) =>
    intervalRows(viewsOf(some, scoreMeta(some)), measuresOf([name]), DEFAULT_BOOTSTRAP, "ladder").find(
      (row) => row.name === name,
    );
  expect(rows(cases)).toMatchObject({ value: 2 / 3, n: 3, undefined: 1, upper: 1 });
  expect(rows(cases.slice(2, 3))).toMatchObject({ value: null, n: 0, lower: null, upper: null });
});
