import fc from "fast-check";
import { expect, test } from "vitest";
import { answerSchema } from "../answers/schema.js";
import { caseSchema } from "../dataset/schema.js";
import { builtInRules } from "../matching/rules.js";
import { measuresOf } from "../stages/measures.js";
import { type Contents, tokensOfLines } from "./contents.js";
import { scoreCase } from "./score-case.js";
import { corpusFiles } from "./truth.js";

/** A.java has 100 lines of one token, the tenth of five; B.java 50 of two. */
const contents: Contents = new Map([
  ["A.java", { tokens: Array.from({ length: 100 }, (_, i) => (i === 9 ? 5 : 1)), definitions: null }],
  ["B.java", { tokens: new Array(50).fill(2), definitions: null }],
]);
const corpus = corpusFiles({ paths: ["A.java", "B.java"], roots: [] });
const truth = (ranges: [number, number][] | null) => ({ path: "A.java", role: "source", ranges });

function measured(targets: readonly object[], results: unknown, names: string[], given: Contents | null = contents) {
  const asked = caseSchema.parse({ id: "q", repository: null, number: null, title: "t", body: "", targets });
  const answer = answerSchema.parse({ id: "q", response: JSON.stringify(results) });
  const settings = { rules: builtInRules.strict, measures: measuresOf(names), corpus, backend: "x" };
  return Object.values(scoreCase(asked, answer, given === null ? settings : { ...settings, contents: given }).measures);
}

const lines = (path: string, start: number, end: number) => ({ path, start_line: start, end_line: end });

test("ranges cost their lines, whole files all of theirs, in the order of the answer", () => {
  const target = [truth([[10, 19]])];
  const names = ["R@lines=10", "P@lines=10", "R@lines=60", "P@lines=60"];
  expect(measured(target, [lines("A.java", 15, 24)], names)).toEqual([0.5, 0.5, 0.5, 0.5]);
  // Fifty lines of another file come first; then nine of the file's before the truth begins.
  expect(measured(target, ["B.java", "A.java"], names)).toEqual([0, 0, 1 / 10, 1 / 60]);
  expect(measured(target, ["A.java"], ["R@lines=200", "P@lines=200"])).toEqual([1, 0.1]);
});

test("tokens: of a line that does not fit, as much as does", () => {
  // The truth is line 10 with five tokens; nine tokens come before it.
  const names = ["R@tokens=9", "R@tokens=12", "R@tokens=14", "P@tokens=14"];
  expect(measured([truth([[10, 10]])], ["A.java"], names)).toEqual([0, 3 / 5, 1, 5 / 14]);
});

test("a line that is shown again costs nothing and finds nothing", () => {
  const target = [truth([[10, 19]])];
  const twice = [lines("A.java", 1, 12), lines("A.java", 8, 12), lines("A.java", 10, 19)];
  expect(measured(target, twice, ["R@lines=19", "P@lines=19"])).toEqual([1, 10 / 19]);
});

test("files that are not there, and lines beyond the end, cost nothing", () => {
  const answer = ["Nowhere.java", lines("B.java", 60, 90), lines("A.java", 95, 400)];
  expect(measured([truth([[99, 100]])], answer, ["R@lines=6", "P@lines=6"])).toEqual([1, 2 / 6]);
});

test("undefined where lines are not known or can't be read; nothing handed back is 0", () => {
  const names = ["R@lines=5", "P@tokens=5"];
  expect(measured([truth(null)], ["A.java"], names)).toEqual([null, null]);
  expect(measured([truth([])], ["A.java"], names)).toEqual([null, null]);
  expect(measured([truth([[1, 2]])], ["A.java"], names, null)).toEqual([null, null]);
  expect(measured([truth([[1, 2]])], [], names)).toEqual([0, 0]);
});

test("tokens are words and single other characters", () => {
  expect(tokensOfLines("int foo_1 = bar(2);\n\n  é + ü // x\n")).toEqual([8, 0, 6]);
  expect(tokensOfLines("a\nb")).toEqual([1, 1]);
  expect(tokensOfLines("")).toEqual([]);
});

test("within [0, 1]; recall never falls as the budget grows, and reaches what the whole answer finds", () => {
  const entry = fc.oneof(
    fc.constantFrom("A.java", "B.java", "Nowhere.java"),
    fc.tuple(fc.constantFrom("A.java", "B.java"), fc.nat(110), fc.nat(60)).map(([path, a, b]) => lines(path, a + 1, a + b + 1)),
  );
  const range = fc.tuple(fc.integer({ min: 1, max: 90 }), fc.nat(15)).map(([a, b]): [number, number] => [a, a + b]);
  const budgets = [1, 5, 20, 60, 150, 1000];
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), fc.array(range, { minLength: 1, maxLength: 4 }), (results, ranges) => {
      for (const unit of ["lines", "tokens"]) {
        const recalls = measured(
          [truth(ranges)],
          results,
          budgets.map((n) => `R@${unit}=${n}`),
        );
        const precisions = measured(
          [truth(ranges)],
          results,
          budgets.map((n) => `P@${unit}=${n}`),
        );
        for (const value of [...recalls, ...precisions]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        expect(recalls).toEqual([...recalls].sort((a, b) => (a ?? 0) - (b ?? 0)));
      }
    }),
  );
});
