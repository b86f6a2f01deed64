/** Measures that look at what people judged beside the targets, and those of several answers. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Measure } from "./contract.js";
import { judge } from "./judgement.js";
import { parseMeasure } from "./registry.js";

function measure(name: string): Measure {
  const parsed = parseMeasure(name);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
}

const targets = ["A", "B", "C"].map((path) => ({ path, grade: 1 }));
const answer = ["X", "A", "Y", "B", "Z"].map((path) => ({ path, target: /^[A-C]$/.test(path) ? path : null }));
const given = (judgements: Record<string, number>) => judge(answer, targets, { judgements: new Map(Object.entries(judgements)) });

describe("targets A, B, C; answer X A Y B Z; the figures are trec_eval's", () => {
  test.each([
    ["Bpref", {}, 2 / 3],
    ["Bpref", { X: 0, Z: 0, W: 0 }, 0.4444],
    ["Bpref", { Z: 0 }, 2 / 3],
    ["InfAP", {}, 1 / 3],
    ["InfAP", { X: 0, Y: -1 }, 0.375],
    ["Judged@5", {}, 0.4],
    ["Judged@5", { X: 0, Y: -1, Q: 0 }, 0.6],
    ["Judged@10", { X: 0 }, 0.3],
  ])("%s with %j", (name, judgements, expected) => {
    expect(measure(name).ofCase(given(judgements as Record<string, number>))).toBeCloseTo(expected, 4);
  });
  test("a repeat of a target says nothing, and other negative grades neither", () => {
    const repeated = judge(
      [
        { path: "A", target: "A" },
        { path: "A", target: "A" },
        { path: "V", target: null },
      ],
      targets,
      {
        judgements: new Map([["V", -2]]),
      },
    );
    expect(repeated.judged).toEqual({ ranks: ["judged", "unpooled", "unpooled"], nonrelevant: 0 });
  });
});

test("without judged misses Bpref is recall and InfAP is AP; with any they stay in [0, 1]", () => {
  const path = fc.constantFrom(..."ABCDEFGH");
  fc.assert(
    fc.property(
      fc.array(path),
      fc.uniqueArray(path),
      fc.dictionary(path, fc.integer({ min: -2, max: 0 })),
      (paths, right, others) => {
        const truth = right.map((name) => ({ path: name, grade: 1 }));
        const predictions = paths.map((name) => ({ path: name, target: right.includes(name) ? name : null }));
        const plain = judge(predictions, truth);
        const value = (name: string, judgement = plain) => measure(name).ofCase(judgement);
        expect(value("Bpref")).toBe(value("R"));
        if (right.length > 0) expect(Math.abs((value("InfAP") ?? 0) - (value("AP") ?? 0))).toBeLessThan(1e-4);
        expect(value("Judged@3")).toBe(value("P@3"));
        const judged = judge(predictions, truth, {
          judgements: new Map(Object.entries(others).filter(([name]) => !right.includes(name))),
        });
        for (const name of ["Bpref", "InfAP", "Judged@3"]) {
          const result = value(name, judged) ?? 0;
          expect(result >= 0 && result <= 1, name).toBe(true);
        }
      },
    ),
  );
});

describe("AccLocAgent@k", () => {
  const at = (paths: string, k: number) =>
    measure(`AccLocAgent@${k}`).ofCase(
      judge(
        [...paths].map((path) => ({ target: /[A-C]/.test(path) ? path : null })),
        targets,
      ),
    );
  test("asks for min(k, targets) hits", () => {
    expect([at("AXX", 1), at("XAB", 1), at("ABX", 2), at("AXB", 2), at("ABC", 3), at("AXBC", 5), at("AXB", 5)]).toEqual([
      1, 0, 1, 0, 1, 1, 0,
    ]);
    expect(measure("AccLocAgent@1").ofCase({ ranking: [], targets: [] })).toBeNull();
  });
});

describe("pass@k", () => {
  const of = (name: string, right: number, n: number) =>
    measure(name).ofRepeats?.(Array.from({ length: n }, (_, index) => (index < right ? 1 : 0)));
  test("is the unbiased estimate", () => {
    expect(of("pass@1", 3, 10)).toBeCloseTo(0.3, 12);
    expect(of("pass@5", 3, 10)).toBeCloseTo(0.9167, 4);
    expect([of("pass@5", 6, 10), of("pass@5", 0, 10), of("pass@3", 1, 2), of("pass@999999999", 1, 3)]).toEqual([
      1,
      0,
      null,
      null,
    ]);
  });
  test("its criterion is all targets, or what `by` names", () => {
    const judgement = judge(answer, targets);
    expect(measure("pass@1").ofCase(judgement)).toBe(0);
    expect(measure("pass(by=Hit@5)@1").ofCase(judgement)).toBe(1);
    expect(measure("pass(by=hit@5)@3").name).toBe("pass(by=Hit@5)@3");
  });
});

describe("nDCG with exponential gain", () => {
  const grades = [
    { path: "A", grade: 2 },
    { path: "B", grade: 1 },
    { path: "C", grade: 1 },
  ];
  test("gives the published value, and any name for it is one measure", () => {
    for (const name of ["nDCG(gain=exp)", "ndcg(dcg='exp-log2')", "nDCG(gain=exponential)"]) {
      expect(measure(name).name).toBe("nDCG(gain=exp)");
    }
    expect(measure("nDCG(gain=exp)").ofCase(judge(answer, grades))).toBeCloseTo(0.5625, 4);
    expect(measure("nDCG(gain=exp)@10").ofCase(judge(answer, targets))).toBe(measure("nDCG@10").ofCase(judge(answer, targets)));
    expect(measure("nDCG(gain=linear)@10").name).toBe("nDCG@10");
  });
  test("stays a number for grades beyond 2^1023", () => {
    const huge = [
      { path: "A", grade: 100_000 },
      { path: "B", grade: 1 },
    ];
    expect(measure("nDCG(gain=exp)").ofCase(judge(answer, huge))).toBeCloseTo(1 / Math.log2(3), 9);
  });
});

test.each([
  ["P(level=function)@5", "P(level=function)@5"],
  ["p( LEVEL = 'Function' )@05", "P(level=function)@5"],
  ["P(level=file)@5", "P@5"],
  ["R(level=hunk)@10", "R(level=lines)@10"],
  ["R(iou=.5)@10", "R(iou=0.5,level=lines)@10"],
  ["ndcg(level=lines,gain=exp)@10", "nDCG(gain=exp,level=lines)@10"],
  ["R(level=class)", "R(level=class)"],
])("%j is %s, and that is itself", (text, name) => {
  expect(measure(text).name).toBe(name);
  expect(measure(name).name).toBe(name);
});

test.each([
  ["P(level=word)@5", /none of file, class/],
  ["P(iou=0)@5", /above 0/],
  ["P(iou=0.5,level=class)@5", /lines only/],
  ["P(foo=1)@5", /no parameter "foo".*level/],
  ["P(micro,level=class)", /no measure|brackets|no parameter/],
  ["P(level=class", /brackets/],
  ["P(level=class,level=lines)", /twice/],
  ["Bpref(level=class)", /no parameter/],
  ["pass(by=RR)@3", /no measure of 0 and 1/],
  ["pass(by=pass@1)@3", /no measure of 0 and 1/],
  ["nDCG(gain=cubic)", /neither linear nor exp/],
])("%j is refused with advice", (text, message) => {
  const parsed = parseMeasure(text);
  expect(parsed.ok ? "" : `${parsed.error.message}; ${parsed.error.suggestion}`).toMatch(message);
});
