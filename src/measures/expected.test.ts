/** Closed-form expectations against all rankings of small pools, and against drawn rankings of a larger one. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Measure } from "./contract.js";
import { parseMeasures } from "./registry.js";

const parsed = parseMeasures("P,R,F1,Hit@1,Hit@3,All@1,All@3,AccLocAgent@1,AccLocAgent@3,R@1,R@3,P@1,P@3,RR,RR@2,AP,AP@2,Rprec");
const measures: readonly Measure[] = parsed.ok ? parsed.value : [];

/** Every way in which targets (1) and other files (0) can come up, each equally likely to fall on a given pattern. */
function meanOverRankings(measure: Measure, size: number, pool: number, relevant: number): number {
  let total = 0;
  const visit = (ranking: number[], relevantLeft: number, otherLeft: number, probability: number): void => {
    if (probability === 0) return;
    if (ranking.length === size) {
      total += probability * (measure.ofCase({ ranking, targets: new Array(relevant).fill(1) }) ?? 0);
      return;
    }
    const left = relevantLeft + otherLeft;
    visit([...ranking, relevant - relevantLeft], relevantLeft - 1, otherLeft, (probability * relevantLeft) / left);
    visit([...ranking, -1], relevantLeft, otherLeft - 1, (probability * otherLeft) / left);
  };
  visit([], relevant, pool - relevant, 1);
  return total;
}

test("all rankings of all pools of up to 7 files", () => {
  expect(measures).toHaveLength(18);
  for (let pool = 1; pool <= 7; pool++) {
    for (let relevant = 1; relevant <= pool; relevant++) {
      for (let size = 0; size <= pool; size++) {
        for (const measure of measures) {
          const label = `${measure.name} of ${size} out of ${pool} with ${relevant} targets`;
          expect(measure.expected?.(size, pool, relevant), label).toBeCloseTo(
            meanOverRankings(measure, size, pool, relevant),
            12,
          );
        }
      }
    }
  }
});

test("drawn rankings of a pool of 60, within four standard errors", () => {
  const [size, pool, relevant, draws] = [12, 60, 5, 20_000];
  // A small generator of its own: this room may not import the one of `statistics`.
  let state = 12345;
  const below = (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const sums = new Map(measures.map((measure) => [measure, { total: 0, squares: 0 }]));
  for (let draw = 0; draw < draws; draw++) {
    const files = Array.from({ length: pool }, (_, file) => (file < relevant ? file : -1));
    for (let i = 0; i < size; i++) {
      const j = i + below(pool - i);
      [files[i], files[j]] = [files[j] ?? -1, files[i] ?? -1];
    }
    for (const [measure, sum] of sums) {
      const value = measure.ofCase({ ranking: files.slice(0, size), targets: [1, 1, 1, 1, 1] }) ?? 0;
      sum.total += value;
      sum.squares += value * value;
    }
  }
  for (const [measure, { total, squares }] of sums) {
    const mean = total / draws;
    const error = Math.sqrt((squares / draws - mean * mean) / draws);
    const expected = measure.expected?.(size, pool, relevant) ?? Number.NaN;
    expect(Math.abs(mean - expected), measure.name).toBeLessThanOrEqual(4 * error + 1e-12);
  }
});

describe("for any sizes", () => {
  const count = fc.integer({ min: 0, max: 3000 });
  test("the expectation is a number in [0, 1], also beyond the pool", () => {
    fc.assert(
      fc.property(count, count, count, (size, pool, relevant) => {
        for (const measure of measures) {
          const value = measure.expected?.(size, pool, relevant) ?? Number.NaN;
          expect(value >= 0 && value <= 1 + 1e-9, `${measure.name}: ${value}`).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
  test("no target, no file or no draw gives 0", () => {
    for (const measure of measures) {
      expect([measure.expected?.(3, 10, 0), measure.expected?.(3, 0, 0), measure.expected?.(0, 10, 2)]).toEqual([0, 0, 0]);
    }
  });
});
