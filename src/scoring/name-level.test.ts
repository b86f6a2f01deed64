import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerSchema } from "../answers/schema.js";
import type { Definition } from "../base/definitions.js";
import { caseSchema } from "../dataset/schema.js";
import { builtInRules } from "../matching/rules.js";
import { measuresOf } from "../stages/measures.js";
import type { Contents } from "./contents.js";
import { filesNeeded, scoreCase } from "./score-case.js";
import { corpusFiles } from "./truth.js";

const FILE: readonly Definition[] = [
  { kind: "class", name: "A", lines: [1, 30] },
  { kind: "function", name: "A.f", lines: [2, 10] },
  { kind: "function", name: "A.g", lines: [12, 20] },
  { kind: "class", name: "A.B", lines: [22, 29] },
  { kind: "function", name: "A.B.f", lines: [23, 25] },
];
const contents: Contents = new Map([
  ["A.java", { tokens: new Array(30).fill(2), definitions: FILE }],
  ["B.java", { tokens: new Array(10).fill(2), definitions: [{ kind: "function", name: "B.x", lines: [1, 9] }] }],
  ["n.txt", { tokens: [1], definitions: null }],
]);
const corpus = corpusFiles({ paths: ["A.java", "B.java", "n.txt"], roots: [] });

function target(path: string, functions?: string[], classes?: string[]) {
  const places = (kind: "class" | "function", names: string[]) =>
    names.map((name) => ({
      name,
      ranges: FILE.filter((one) => one.kind === kind && one.name === name).map(({ lines }) => [...lines]),
    }));
  return {
    path,
    role: "source",
    ...(functions && { functions: places("function", functions) }),
    ...(classes && { classes: places("class", classes) }),
  };
}

function measured(targets: readonly object[], results: unknown, names: string[], given: Contents | null | "no tree" = contents) {
  const asked = caseSchema.parse({ id: "q", repository: null, number: null, title: "t", body: "", targets });
  const answer = answerSchema.parse({ id: "q", response: JSON.stringify(results) });
  const files = given === "no tree" ? null : corpus;
  const settings = { rules: builtInRules.strict, measures: measuresOf(names), corpus: files, backend: "x" };
  return scoreCase(asked, answer, given === null || given === "no tree" ? settings : { ...settings, contents: given }).measures;
}

const lines = (path: string, start: number, end: number) => ({ path, start_line: start, end_line: end });
const TRUTH = [target("A.java", ["A.g", "A.B.f"], ["A", "A.B"])];
const NAMES = ["P(level=function)", "R(level=function)", "Hit(level=function)@1", "RR(level=function)"];

describe("functions", () => {
  test("lines name the innermost function of each, in the order of the file; the same function is named once", () => {
    // A.f, A.g, then A.g again and A.B.f: three functions, two of them right.
    const found = measured(TRUTH, [lines("A.java", 8, 13), lines("A.java", 14, 24)], NAMES);
    expect(found).toEqual({
      "P(level=function)": 2 / 3,
      "R(level=function)": 1,
      "Hit(level=function)@1": 0,
      "RR(level=function)": 0.5,
    });
  });

  test("names in words count where there are no lines, qualified by the class beside them", () => {
    const found = measured(TRUTH, [{ path: "A.java", functions: ["g(int)", "A.B.f"] }], NAMES);
    expect(found).toMatchObject({ "P(level=function)": 1, "R(level=function)": 1 });
    // `f` alone may be A.f or A.B.f.
    expect(measured(TRUTH, [{ path: "A.java", function: "f" }], NAMES)).toMatchObject({ "P(level=function)": 0 });
    expect(measured(TRUTH, [{ path: "A.java", class: "B", method: "f" }], NAMES)).toMatchObject({ "P(level=function)": 1 });
  });

  test("what names no function is one wrong prediction per file", () => {
    const found = measured(TRUTH, ["A.java", "n.txt", "Nowhere.java", lines("A.java", 12, 12)], NAMES);
    expect(found).toMatchObject({ "P(level=function)": 1 / 4, "RR(level=function)": 1 / 4 });
  });

  test("nothing predicted is wrong, not left out; no truth at the level is left out, not wrong", () => {
    expect(measured(TRUTH, [], NAMES)).toEqual(Object.fromEntries(NAMES.map((name) => [name, 0])));
    const none = Object.fromEntries(NAMES.map((name) => [name, null]));
    expect(measured([target("A.java")], [lines("A.java", 12, 12)], NAMES)).toEqual(none);
    expect(measured([target("A.java", [])], [lines("A.java", 12, 12)], NAMES)).toEqual(none);
    expect(measured([...TRUTH, target("B.java")], [lines("A.java", 12, 12)], NAMES)).toEqual(none);
    // A target that the tree lacks is no target here either.
    expect(measured([...TRUTH, target("Added.java")], [lines("A.java", 12, 12)], NAMES)).toMatchObject({
      "R(level=function)": 0.5,
    });
  });

  test("a tree whose files can't be read gives no figure; without any tree the truth's own ranges and names are known", () => {
    const answer = [lines("A.java", 12, 13), lines("B.java", 1, 2), { path: "A.java", functions: ["A.B.f"] }];
    expect(measured(TRUTH, answer, NAMES, null)).toEqual(Object.fromEntries(NAMES.map((name) => [name, null])));
    const found = measured(TRUTH, answer, NAMES, "no tree");
    expect(found).toMatchObject({ "P(level=function)": 2 / 3, "R(level=function)": 1 });
    // Two other names are two wrong predictions.
    const words = measured(TRUTH, [{ path: "A.java", functions: ["x", "y"] }, lines("A.java", 12, 13)], NAMES, "no tree");
    expect(words).toMatchObject({ "P(level=function)": 1 / 3 });
  });

  test("a truth by names alone (Loc-Bench) can be named and, with the tree, be found by lines", () => {
    const stated = [{ path: "A.java", role: "source", functions: [{ name: "A.g", ranges: null }] }];
    expect(measured(stated, [lines("A.java", 15, 15)], NAMES)).toMatchObject({ "R(level=function)": 1 });
    expect(measured(stated, [{ path: "A.java", function: "g" }], NAMES, "no tree")).toMatchObject({ "R(level=function)": 1 });
  });
});

test("classes: by lines, by name, and by the class of a function that is named", () => {
  const names = ["P(level=class)", "R(level=class)"];
  const found = (results: unknown) => Object.values(measured(TRUTH, results, names));
  expect(found([lines("A.java", 21, 23)])).toEqual([1, 1]);
  expect(found([{ path: "A.java", class: "org.x.A" }])).toEqual([1, 0.5]);
  expect(found([{ path: "A.java", function: "B.f" }])).toEqual([1, 0.5]);
  expect(found(["A.java"])).toEqual([0, 0]);
});

test("what contents must be given for: the targets that are there, and what the predictions resolve to", () => {
  const asked = caseSchema.parse({ id: "q", repository: null, number: null, title: "t", body: "", targets: TRUTH });
  const answer = answerSchema.parse({ id: "q", response: '["B.java","Nowhere.java"]' });
  const settings = { rules: builtInRules.strict, measures: measuresOf(["R(level=class)"]), corpus };
  expect(filesNeeded(asked, answer, settings)).toEqual(["A.java", "B.java"]);
  expect(filesNeeded(asked, answer, { ...settings, measures: measuresOf(["R", "R(level=lines)"]) })).toEqual([]);
});

test("whatever is predicted, no measure leaves [0, 1]", () => {
  const measures = ["P", "R", "F1", "AP", "nDCG@5", "Hit@3", "P@2", "R@2"].flatMap((name) =>
    ["function", "class", "lines"].map((level) => name.replace(/(@|$)/, `(level=${level})$1`)),
  );
  const entry = fc.oneof(
    fc.constantFrom("A.java", "B.java", "Nowhere.java"),
    fc.tuple(fc.constantFrom("A.java", "B.java"), fc.nat(40), fc.nat(40)).map(([path, a, b]) => lines(path, a + 1, a + b + 1)),
    fc.record({ path: fc.constantFrom("A.java", "B.java"), functions: fc.array(fc.constantFrom("f", "g", "A.f", "B.f", "x")) }),
  );
  const truth = [
    {
      ...TRUTH[0],
      ranges: [
        [12, 14],
        [23, 23],
      ],
    },
  ];
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 12 }), (results) => {
      for (const [name, value] of Object.entries(measured(truth, results, measures))) {
        expect({ name, within: value !== null && value >= 0 && value <= 1 }).toEqual({ name, within: true });
      }
    }),
  );
});
