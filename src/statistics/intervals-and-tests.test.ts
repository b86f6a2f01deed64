/** The small closed-form parts: quantile, normal, Wilson, McNemar, Holm, randomisation. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { holmAdjust } from "./holm.js";
import { MCNEMAR_HOPELESS, mcnemarExact } from "./mcnemar.js";
import { normalDistribution, normalQuantile } from "./normal.js";
import { quantile, quantileOfSorted } from "./quantile.js";
import { randomisationTest } from "./randomisation.js";
import { wilsonInterval } from "./wilson.js";

describe("quantile, type 7", () => {
  test("is linear between order statistics", () => {
    expect(quantile([4, 1, 3, 2], 0.25)).toBe(1.75);
    expect(quantile([1, 2, 3, 4], 0)).toBe(1);
    expect(quantile([1, 2, 3, 4], 1)).toBe(4);
    expect(quantile([7], 0.3)).toBe(7);
  });
  test("is monotone in q and leaves its argument alone", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, p, q) => {
          const before = [...values];
          // Rounding of the interpolation: a part in 1e9 of the range.
          expect(quantile(values, Math.min(p, q))).toBeLessThanOrEqual(quantile(values, Math.max(p, q)) + 1e-3);
          expect(values).toEqual(before);
        },
      ),
    );
  });
  test("refuses no values and quantiles outside [0, 1]", () => {
    expect(() => quantileOfSorted([], 0.5)).toThrow(RangeError);
    expect(() => quantileOfSorted([1], 1.1)).toThrow(RangeError);
    expect(() => quantileOfSorted([1], Number.NaN)).toThrow(RangeError);
  });
});

describe("normal distribution", () => {
  /** From Python's statistics.NormalDist().inv_cdf and math.erfc. */
  test.each([
    [1e-300, -37.0470962993612],
    [1e-20, -9.262340089798405],
    [1e-10, -6.361340902404056],
    [0.001, -3.090232306167813],
    [0.025, -1.9599639845400538],
    [0.07, -1.4757910281791702],
    [0.2, -0.8416212335729142],
    [0.5, 0],
    [0.6, 0.2533471031357998],
    [0.93, 1.4757910281791708],
    [0.999999, 4.753424308817089],
  ])("quantile(%s)", (p, x) => {
    expect(Math.abs(normalQuantile(p) - x)).toBeLessThan(1e-13 * Math.max(1, Math.abs(x)));
  });
  test.each([
    [-9, 0],
    [-6, 9.865876450377012e-10],
    [-3, 0.0013498980316300957],
    [-1.96, 0.024997895148220435],
    [-0.5, 0.3085375387259869],
    [0, 0.5],
    [0.1, 0.539827837277029],
    [1, 0.8413447460685429],
    [2.5, 0.9937903346742238],
    [5, 0.9999997133484281],
    [9, 1],
  ])("distribution(%s)", (x, p) => {
    expect(Math.abs(normalDistribution(x) - p)).toBeLessThan(2e-15);
  });
  test("ends and nonsense", () => {
    expect([normalQuantile(0), normalQuantile(1)]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
    expect(normalQuantile(1.5)).toBeNaN();
    expect(normalDistribution(Number.NaN)).toBeNaN();
    expect([normalDistribution(Number.POSITIVE_INFINITY), normalDistribution(Number.NEGATIVE_INFINITY)]).toEqual([1, 0]);
  });
});

describe("Wilson interval", () => {
  test.each([
    [0, 12, 0, 0.24249400665524085],
    [8, 12, 0.39062208887279953, 0.8618799089087867],
    [12, 12, 0.7575059933447592, 1],
    [29, 65, 0.33169527476665506, 0.5666218132219603],
    [1, 1000, 0.00017654637062607809, 0.0056425585979579355],
  ])("%s of %s, as SciPy has it", (k, n, lower, upper) => {
    const interval = wilsonInterval(k, n);
    expect(interval?.lower).toBeCloseTo(lower, 12);
    expect(interval?.upper).toBeCloseTo(upper, 12);
  });
  test("holds the proportion, stays in [0, 1], mirrors", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.nat(), (n, seed) => {
        const k = seed % (n + 1);
        const here = wilsonInterval(k, n);
        const there = wilsonInterval(n - k, n);
        if (here === null || there === null) throw new Error("no interval");
        expect(here.lower).toBeGreaterThanOrEqual(0);
        expect(here.upper).toBeLessThanOrEqual(1);
        expect(here.lower).toBeLessThanOrEqual(k / n);
        expect(here.upper).toBeGreaterThanOrEqual(k / n);
        expect(here.lower).toBeCloseTo(1 - there.upper, 12);
      }),
    );
  });
  test("no case, no interval; nonsense is refused", () => {
    expect(wilsonInterval(0, 0)).toBeNull();
    expect(() => wilsonInterval(3, 2)).toThrow(RangeError);
  });
});

describe("McNemar, exact", () => {
  test.each([
    [5, 0, 0.0625],
    [6, 0, 0.03125],
    [5, 1, 0.21875],
    [10, 3, 0.09228515625],
    [20, 20, 1],
    [0, 0, 1],
    [15, 4, 0.0192108154296875],
  ])("%s against %s", (b, c, p) => {
    expect(mcnemarExact(b, c)).toBeCloseTo(p, 14);
    expect(mcnemarExact(c, b)).toBe(mcnemarExact(b, c));
  });
  test("thousands of cases neither overflow nor vanish too early", () => {
    // Python: 2 * sum(comb(4000, i) for i in range(1951)) / 2**4000.
    expect(mcnemarExact(1950, 2050)).toBeCloseTo(0.11749506836896137, 12);
    expect(mcnemarExact(1100, 0)).toBe(0);
    expect(mcnemarExact(1000, 10) / 5.359574874624727e-281).toBeCloseTo(1, 10);
  });
  test("unanimity of the hopeless number of cases stays above 0.05, one more does not", () => {
    expect(mcnemarExact(MCNEMAR_HOPELESS, 0)).toBeGreaterThan(0.05);
    expect(mcnemarExact(MCNEMAR_HOPELESS + 1, 0)).toBeLessThan(0.05);
  });
  test("counts are whole and not negative", () => {
    expect(() => mcnemarExact(-1, 2)).toThrow(RangeError);
    expect(() => mcnemarExact(0.5, 2)).toThrow(RangeError);
  });
});

describe("Holm", () => {
  test("adjusts as statsmodels does, in the order given", () => {
    const adjusted = holmAdjust([0.5, 0.001, 0.04, 0.02, 0.03]);
    for (const [i, value] of [0.5, 0.005, 0.09, 0.08, 0.09].entries()) expect(adjusted[i]).toBeCloseTo(value, 14);
    expect(holmAdjust([])).toEqual([]);
    expect(holmAdjust([0.7, 0.8])).toEqual([1, 1]);
  });
  test("never lowers a p, keeps their order, never passes Bonferroni", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 }), (p) => {
        const adjusted = holmAdjust(p);
        for (const [i, value] of p.entries()) {
          const here = adjusted[i] ?? Number.NaN;
          expect(here).toBeGreaterThanOrEqual(value);
          expect(here).toBeLessThanOrEqual(Math.min(1, value * p.length));
          for (const [j, other] of p.entries()) if (value < other) expect(here).toBeLessThanOrEqual(adjusted[j] ?? Number.NaN);
        }
      }),
    );
  });
});

describe("randomisation test", () => {
  test("four differences of one sign: 2 of 16 patterns", () => {
    expect(randomisationTest([0.1, 0, 0.2, 0.3, 0, 0.1])).toEqual({ p: 0.125, exact: true });
  });
  test("no difference at all is p = 1", () => {
    expect(randomisationTest([0, 0])).toEqual({ p: 1, exact: true });
    expect(randomisationTest([])).toEqual({ p: 1, exact: true });
  });
  test("sums that tie but for rounding count: 0.1 + 0.2 against 0.3", () => {
    // The seen sum is 0.1 + 0.2 + 0.3; of 8 patterns those with |sum| >= 0.6 are the two of one sign. With -0.3: |0.0|, all 8.
    expect(randomisationTest([0.1, 0.2, -0.3]).p).toBe(1);
    expect(randomisationTest([0.3, 0.1, 0.2]).p).toBe(0.25);
  });
  test("more than 16 differences are drawn, never p = 0, near the exact value, and repeatable", () => {
    const differences = Array.from({ length: 20 }, (_, i) => (i % 3 === 0 ? -1 : 1) * (1 + (i % 5)));
    const drawn = randomisationTest(differences, { samples: 20_000, seed: 5 });
    expect(drawn.exact).toBe(false);
    expect(randomisationTest(differences, { samples: 20_000, seed: 5 })).toEqual(drawn);
    // Counted out over all 2^20 patterns of these integers by dynamic programming.
    expect(Math.abs(drawn.p - exactIntegerP(differences))).toBeLessThan(0.015);
    const unanimous = randomisationTest(new Array(60).fill(0.5), { samples: 99 });
    expect(unanimous.p).toBe(0.01);
    expect(() => randomisationTest(differences, { samples: 0 })).toThrow(RangeError);
  });
  test("is symmetric in the two systems and blind to scale", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 10 }), (differences) => {
        const { p } = randomisationTest(differences);
        expect(randomisationTest(differences.map((d) => -d)).p).toBe(p);
        expect(randomisationTest(differences.map((d) => d / 7)).p).toBe(p);
        expect(p).toBeCloseTo(exactIntegerP(differences), 12);
      }),
    );
  });
});

/** The distribution of the signed sum of integers, one difference after the other. */
function exactIntegerP(differences: readonly number[]): number {
  let distribution = new Map([[0, 1]]);
  for (const d of differences) {
    const next = new Map<number, number>();
    for (const [total, share] of distribution) {
      for (const value of [total + d, total - d]) next.set(value, (next.get(value) ?? 0) + share / 2);
    }
    distribution = next;
  }
  const seen = Math.abs(differences.reduce((total, d) => total + d, 0));
  return [...distribution].reduce((total, [value, share]) => total + (Math.abs(value) >= seen ? share : 0), 0);
}
