/** Values: the worked example of every measure, trec_eval's numbers, and what must hold for any answer. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CaseJudgement, Measure } from "./contract.js";
import { hitsWithin, judge } from "./judgement.js";
import { measureFamilies, parseMeasure } from "./registry.js";

function measure(name: string): Measure {
  const parsed = parseMeasure(name);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
}

const value = (name: string, judgement: CaseJudgement) => measure(name).ofCase(judgement);
const ranked = (...paths: string[]) => paths.map((path) => ({ target: /^[A-C]$/.test(path) ? path : null }));
const binary = ["A", "B", "C"].map((path) => ({ path, grade: 1 }));
const graded = [
  { path: "A", grade: 2 },
  { path: "B", grade: 1 },
  { path: "C", grade: 1 },
];

/** Targets A, B, C; answer X A Y B Z; the figures are trec_eval's, to four digits. */
test.each([
  ["P", 0.4],
  ["R", 0.6667],
  ["F1", 0.5],
  ["Hit@1", 0],
  ["Hit@3", 1],
  ["Hit@5", 1],
  ["All@5", 0],
  ["R@1", 0],
  ["R@3", 0.3333],
  ["R@5", 0.6667],
  ["P@5", 0.4],
  ["P@10", 0.2],
  ["Rprec", 0.3333],
  ["RR", 0.5],
  ["RR@1", 0],
  ["AP", 0.3333],
  ["AP@3", 0.1667],
  ["nDCG@3", 0.2961],
  ["nDCG@5", 0.4982],
])("worked example: %s", (name, expected) => {
  expect(value(name, judge(ranked("X", "A", "Y", "B", "Z"), binary))).toBeCloseTo(expected, 4);
});

test("nDCG of graded targets takes the grade as gain", () => {
  const judgement = judge(ranked("X", "A", "Y", "B", "Z"), graded);
  expect(value("nDCG@3", judgement)).toBeCloseTo(0.403, 4);
  expect(value("nDCG@5", judgement)).toBeCloseTo(0.5406, 4);
  expect(value("nDCG", judge(ranked("A", "B", "C"), graded))).toBe(1);
});

test("mean of F1, not F1 of means: three cases of known counts", () => {
  const cases = [
    judge(ranked("A"), [{ path: "A", grade: 1 }]),
    judge(ranked("A", ..."xxxxxxxxx"), [{ path: "A", grade: 1 }]),
    judge([], binary),
  ];
  const mean = (name: string) => cases.reduce((total, judgement) => total + (value(name, judgement) ?? 0), 0) / cases.length;
  expect(mean("P")).toBeCloseTo(0.3667, 4);
  expect(mean("R")).toBeCloseTo(0.6667, 4);
  expect(mean("F1")).toBeCloseTo(0.3939, 4);
  const pooled = { tp: 2, fp: 9, fn: 3 };
  expect(measure("P(micro)").pooled?.(pooled)).toBeCloseTo(0.1818, 4);
  expect(measure("R(micro)").pooled?.(pooled)).toBeCloseTo(0.4, 4);
  expect(measure("F1(micro)").pooled?.(pooled)).toBeCloseTo(0.25, 4);
});

describe("edges", () => {
  const names = ["P", "R", "F1", "Hit@3", "All@3", "R@3", "P@3", "RR", "RR@3", "AP", "AP@3", "nDCG", "nDCG@3", "Rprec"];
  const at = (judgement: CaseJudgement) => Object.fromEntries(names.map((name) => [name, value(name, judgement)]));

  test("nothing predicted: precision is undefined, all else 0", () => {
    const zeros = Object.fromEntries(names.map((name) => [name, 0]));
    expect(at(judge([], binary))).toEqual({ ...zeros, P: null });
  });
  test("no target: undefined, but for what divides by predictions or k", () => {
    const undefineds = Object.fromEntries(names.map((name) => [name, null]));
    expect(at(judge(ranked("X"), []))).toEqual({ ...undefineds, P: 0, F1: 0, "P@3": 0 });
    expect(at(judge([], []))).toEqual({ ...undefineds, "P@3": 0 });
  });
  test("pooled 0/0 is 0", () => {
    for (const name of ["P(micro)", "R(micro)", "F1(micro)"]) expect(measure(name).pooled?.({ tp: 0, fp: 0, fn: 0 })).toBe(0);
  });
});

describe("judge", () => {
  test("credits a target once; a repeat is wrong, or dropped where asked", () => {
    expect(judge(ranked("A", "A", "X", "B"), binary)).toEqual({ ranking: [0, -1, -1, 1], targets: [1, 1, 1] });
    expect(judge(ranked("A", "A", "X", "B"), binary, { repeats: "dropped" }).ranking).toEqual([0, -1, 1]);
  });
  test("grades of 0 or less are no targets; a target listed twice counts once with its best grade", () => {
    const targets = [
      { path: "A", grade: 1 },
      { path: "B", grade: 0 },
      { path: "C", grade: -1 },
      { path: "A", grade: 3 },
    ];
    expect(judge(ranked("B", "A", "C"), targets)).toEqual({ ranking: [-1, 0, -1], targets: [3] });
  });
  test("a target named like a member of every object is a target like any other", () => {
    const targets = [{ path: "__proto__", grade: 1 }];
    expect(judge([{ target: "constructor" }, { target: "__proto__" }], targets).ranking).toEqual([-1, 0]);
  });
});

const CUTOFFS = [1, 2, 3, 5, 10];
const all = measureFamilies.flatMap(({ whole, at }) => [...(whole ? [whole] : []), ...(at ? CUTOFFS.map(at) : [])]);
const path = fc.constantFrom("A", "B", "C", "D", "E", "F", "G");
const targets = fc.array(fc.record({ path, grade: fc.integer({ min: 0, max: 4 }) }), { maxLength: 8 });
const answer = fc.array(fc.record({ target: fc.option(path) }), { maxLength: 15 });

describe("for any answer", () => {
  test("every measure lies in [0, 1] or is undefined, repeats or not", () => {
    fc.assert(
      fc.property(answer, targets, fc.constantFrom("wrong" as const, "dropped" as const), (predictions, truth, repeats) => {
        const judgement = judge(predictions, truth, { repeats });
        for (const { name, ofCase, binary: isBinary } of all) {
          const result = ofCase(judgement);
          if (result === null) continue;
          expect(result >= 0 && result <= 1, name).toBe(true);
          if (isBinary) expect([0, 1], name).toContain(result);
        }
      }),
    );
  });

  test("a wrong prediction at the end never raises anything", () => {
    fc.assert(
      fc.property(answer, targets, (predictions, truth) => {
        const before = judge(predictions, truth);
        const after = judge([...predictions, { target: null }], truth);
        for (const { name, ofCase } of all) expect(ofCase(after) ?? 0, name).toBeLessThanOrEqual(ofCase(before) ?? 0);
      }),
    );
  });

  test("a right prediction at the end never lowers what counts targets", () => {
    fc.assert(
      fc.property(answer, targets, path, (predictions, truth, extra) => {
        const before = judge(predictions, truth);
        const after = judge([...predictions, { target: extra }], truth);
        if (hitsWithin(after) === hitsWithin(before)) return;
        for (const name of ["P", "R", "F1", "AP", "nDCG", "RR", "Hit@5", "R@5", "P@5"]) {
          expect(value(name, after) ?? 0, name).toBeGreaterThanOrEqual(value(name, before) ?? 0);
        }
      }),
    );
  });

  test("what finds more with more ranks rises with k and ends at the uncut measure", () => {
    fc.assert(
      fc.property(answer, targets, (predictions, truth) => {
        const judgement = judge(predictions, truth);
        for (const name of ["Hit", "All", "R", "RR", "AP"]) {
          const values = CUTOFFS.map((k) => value(`${name}@${k}`, judgement) ?? 0);
          expect(values, name).toEqual([...values].sort((a, b) => a - b));
        }
        for (const name of ["R", "RR", "AP", "nDCG"]) expect(value(`${name}@1000`, judgement)).toBe(value(name, judgement));
      }),
    );
  });

  test("names of files play no part", () => {
    const renamed = (name: string) => `x/${name}.java`;
    fc.assert(
      fc.property(answer, targets, (predictions, truth) => {
        const before = judge(predictions, truth);
        const after = judge(
          predictions.map(({ target }) => ({ target: target === null ? null : renamed(target) })),
          truth.map(({ path: name, grade }) => ({ path: renamed(name), grade })),
        );
        expect(after).toEqual(before);
        // Nor does the order in which the targets are listed.
        const reversed = judge(predictions, [...truth].reverse());
        for (const { name, ofCase } of all) expect(ofCase(reversed), name).toBe(ofCase(before));
      }),
    );
  });

  test("pooling one case gives the case's own value", () => {
    fc.assert(
      fc.property(answer, targets, (predictions, truth) => {
        const judgement = judge(predictions, truth);
        const tp = hitsWithin(judgement);
        const counts = { tp, fp: judgement.ranking.length - tp, fn: judgement.targets.length - tp };
        for (const name of ["P", "R", "F1"]) {
          expect(measure(`${name}(micro)`).pooled?.(counts)).toBeCloseTo(value(name, judgement) ?? 0, 14);
        }
      }),
    );
  });
});

const file = resolve(import.meta.dirname, "../../../shared/data/vectors/ranked-metrics.json");

/** trec_eval's names and ours. */
const TREC: Record<string, string> = {
  map: "AP",
  bpref: "Bpref",
  Rprec: "Rprec",
  recip_rank: "RR",
  ndcg: "nDCG",
  set_P: "P",
  set_recall: "R",
  set_F_1: "F1",
  ...Object.fromEntries(
    [1, 3, 5, 10, 20].flatMap((k) => [
      [`P_${k}`, `P@${k}`],
      [`recall_${k}`, `R@${k}`],
      [`ndcg_cut_${k}`, `nDCG@${k}`],
      [`map_cut_${k}`, `AP@${k}`],
      [`success_${k}`, `Hit@${k}`],
    ]),
  ),
};

test.skipIf(!existsSync(file))("trec_eval's values of 40 queries and their means", () => {
  const vectors: {
    qrels: Record<string, Record<string, number>>;
    run: Record<string, string[]>;
    per_query: Record<string, Record<string, number>>;
    all: Record<string, number>;
  } = JSON.parse(readFileSync(file, "utf8"));
  const sums: Record<string, number> = {};
  let compared = 0;
  for (const [query, grades] of Object.entries(vectors.qrels)) {
    const judgement = judge(
      (vectors.run[query] ?? []).map((path) => ({ path, target: path })),
      Object.entries(grades).map(([path, grade]) => ({ path, grade })),
      { judgements: new Map(Object.entries(grades)) },
    );
    for (const [theirs, ours] of Object.entries(TREC)) {
      const mine = value(ours, judgement) ?? 0;
      // trec_eval's own names must be understood too.
      expect(measure(theirs).name).toBe(ours);
      sums[theirs] = (sums[theirs] ?? 0) + mine;
      const expected = vectors.per_query[query]?.[theirs];
      if (expected === undefined) continue;
      compared++;
      expect(Math.abs(mine - expected), `${query} ${theirs}`).toBeLessThan(5.1e-5);
    }
  }
  expect(compared).toBeGreaterThan(1000);
  const queries = Object.keys(vectors.qrels).length;
  for (const [theirs, expected] of Object.entries(vectors.all)) {
    if (theirs in TREC) expect(Math.abs((sums[theirs] ?? 0) / queries - expected), theirs).toBeLessThan(5.1e-5);
  }
});
