import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BootstrapOptions, bootstrapMean, bootstrapPooled, type Counts, resampleMatrix } from "./bootstrap.js";
import { meanOf, resampler } from "./figures.js";
import { randomStream } from "./generator.js";
import type { IntervalMethod, MethodBounds } from "./interval-methods.js";
import { randomisationTest } from "./randomisation.js";
import { singleRows } from "./resampling.js";

const proportion = fc.double({ min: 0, max: 1, noNaN: true });
const recall = ({ tp, fn }: Counts) => (tp + fn === 0 ? 0 : tp / (tp + fn));

function interval(method: IntervalMethod, values: Float64Array, options: BootstrapOptions = {}): MethodBounds | null {
  const { samples = 1000, level = 0.95, ...rest } = options;
  return resampler([values], singleRows(values.length), { samples, ...rest }).interval(meanOf(0), method, level);
}
const basicInterval = (values: Float64Array) => interval("basic", values);
const bcaInterval = (values: Float64Array, options?: BootstrapOptions) => interval("bca", values, options);

describe("bootstrapMean", () => {
  test("no case gives nulls, one case its own value", () => {
    expect(bootstrapMean([])).toEqual({ value: null, lower: null, upper: null, n: 0, undefined: 0 });
    expect(bootstrapMean([0.25])).toEqual({ value: 0.25, lower: 0.25, upper: 0.25, n: 1, undefined: 0 });
  });

  test("undefined values count as the policy says, and are counted", () => {
    expect(bootstrapMean([null, 1])).toMatchObject({ value: 0.5, n: 2, undefined: 1 });
    expect(bootstrapMean([null, 1], { undefinedAs: "skip" })).toMatchObject({ value: 1, n: 1, undefined: 1 });
    expect(bootstrapMean([null, 0], { undefinedAs: "one" })).toMatchObject({ value: 0.5, n: 2, undefined: 1 });
    expect(bootstrapMean([null], { undefinedAs: "skip" })).toEqual({ value: null, lower: null, upper: null, n: 0, undefined: 1 });
  });

  test("bounds are ordered, inside the range of the values, and around the mean for enough samples", () => {
    fc.assert(
      fc.property(fc.array(proportion, { minLength: 1, maxLength: 30 }), fc.integer(), (values, seed) => {
        const { lower, upper } = bootstrapMean(values, { seed, samples: 100 });
        const slack = 1e-12;
        expect(lower).not.toBeNull();
        expect(Number(lower)).toBeLessThanOrEqual(Number(upper));
        expect(Number(lower)).toBeGreaterThanOrEqual(Math.min(...values) - slack);
        expect(Number(upper)).toBeLessThanOrEqual(Math.max(...values) + slack);
      }),
      { numRuns: 50 },
    );
  });

  test("covers the mean about as often as it says", () => {
    // 400 samples of 40 uniform values: 95 % nominal, a little less for a percentile interval of 40 cases; the count's own
    // standard deviation is 1.1 %.
    const draw = randomStream(11, "coverage");
    let covered = 0;
    for (let i = 0; i < 400; i++) {
      const values = Array.from({ length: 40 }, () => draw.uniform());
      const { lower, upper } = bootstrapMean(values, { seed: i, samples: 300 });
      if (Number(lower) <= 0.5 && Number(upper) >= 0.5) covered++;
    }
    expect(covered).toBeGreaterThan(360);
    expect(covered).toBeLessThan(396);
  });

  test("a seed and a stream name fix the resamples; the matrix written out gives the same bounds", () => {
    const values = [0.1, 0.9, 0.4, 0.4, 0.7];
    const options = { samples: 250, seed: 7, stream: "F1" };
    const direct = bootstrapMean(values, options);
    expect(bootstrapMean(values, { resamples: resampleMatrix(5, options) })).toEqual(direct);
    expect(bootstrapMean(values, options)).toEqual(direct);
    expect(bootstrapMean(values, { ...options, stream: "P" })).not.toEqual(direct);
    expect(bootstrapMean(values, { ...options, seed: 8 })).not.toEqual(direct);
  });

  test("refuses resamples of another size, or of cases that are not there", () => {
    const values = [0, 1];
    expect(() => bootstrapMean(values, { resamples: resampleMatrix(3) })).toThrow(/3 cases/);
    const outside = { n: 2, samples: 1, indices: Int32Array.of(0, 2) };
    expect(() => bootstrapMean(values, { resamples: outside })).toThrow(/not there/);
    expect(() => bootstrapMean(values, { samples: 0 })).toThrow(/at least 1/);
    expect(() => bootstrapMean(values, { level: 95 })).toThrow(/coverage/);
  });
});

describe("bootstrapPooled", () => {
  test("pools before it divides", () => {
    const counts = [
      { tp: 1, fp: 0, fn: 0 },
      { tp: 1, fp: 9, fn: 0 },
      { tp: 0, fp: 0, fn: 3 },
    ];
    expect(bootstrapPooled(counts, recall).value).toBeCloseTo(0.4, 15);
    expect(bootstrapPooled([], recall)).toEqual({ value: null, lower: null, upper: null, n: 0, undefined: 0 });
  });

  test("equals the bootstrap of the mean where every case has one target", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), (hits) => {
        const counts = hits.map((hit) => ({ tp: hit ? 1 : 0, fp: 0, fn: hit ? 0 : 1 }));
        const options = { samples: 50, seed: 1 };
        expect(bootstrapPooled(counts, recall, options)).toEqual(bootstrapMean(counts.map(recall), options));
      }),
      { numRuns: 50 },
    );
  });
});

describe("variants", () => {
  test("basic mirrors the percentile bounds at the estimate", () => {
    const values = Float64Array.of(0, 0, 1, 1, 1, 0.5);
    const percentile = bootstrapMean([...values]);
    const basic = basicInterval(values);
    expect(basic?.lower).toBeCloseTo(2 * Number(percentile.value) - Number(percentile.upper), 14);
    expect(basic?.upper).toBeCloseTo(2 * Number(percentile.value) - Number(percentile.lower), 14);
    expect(basicInterval(new Float64Array(0))).toBeNull();
  });

  test("BCa falls back, and says so, where its corrections are 0/0", () => {
    expect(bcaInterval(Float64Array.of(1, 1, 1))).toMatchObject({ lower: 1, upper: 1, method: "percentile" });
    expect(bcaInterval(Float64Array.of(0.3))).toMatchObject({ lower: 0.3, upper: 0.3, method: "percentile" });
    expect(bcaInterval(new Float64Array(0))).toBeNull();
  });

  test("BCa of symmetric values is near the percentile interval", () => {
    const values = Float64Array.from({ length: 41 }, (_, i) => i / 40);
    const bca = bcaInterval(values, { samples: 4000 });
    const percentile = bootstrapMean([...values], { samples: 4000 });
    expect(bca?.method).toBe("bca");
    expect(bca?.lower).toBeCloseTo(Number(percentile.lower), 2);
    expect(bca?.upper).toBeCloseTo(Number(percentile.upper), 2);
  });
});

interface Vectors {
  readonly bootstrap: readonly {
    readonly values: readonly number[];
    readonly resample_indices: readonly (readonly number[])[];
    readonly estimate: number;
    readonly percentile: readonly [number, number];
    readonly bca: readonly [number, number];
    readonly z0: number;
    readonly acceleration: number;
  }[];
  readonly randomisation: readonly {
    readonly a: readonly number[];
    readonly b: readonly number[];
    readonly exact_two_sided_p: number;
  }[];
}
const file = resolve(import.meta.dirname, "../../../shared/data/vectors/statistics.json");

describe.skipIf(!existsSync(file))("SciPy's values for given resamples", () => {
  const vectors: Vectors = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { bootstrap: [], randomisation: [] };

  test("percentile and BCa intervals", () => {
    expect(vectors.bootstrap.length).toBeGreaterThan(0);
    for (const vector of vectors.bootstrap) {
      const n = vector.values.length;
      const resamples = { n, samples: vector.resample_indices.length, indices: Int32Array.from(vector.resample_indices.flat()) };
      const percentile = bootstrapMean(vector.values, { resamples });
      expect(percentile.value).toBeCloseTo(vector.estimate, 12);
      expect(percentile.lower).toBeCloseTo(vector.percentile[0], 12);
      expect(percentile.upper).toBeCloseTo(vector.percentile[1], 12);
      const bca = bcaInterval(Float64Array.from(vector.values), { resamples });
      if (bca?.method !== "bca") throw new Error("BCa fell back");
      expect(bca.bias).toBeCloseTo(vector.z0, 12);
      expect(bca.acceleration).toBeCloseTo(vector.acceleration, 12);
      expect(bca.lower).toBeCloseTo(vector.bca[0], 12);
      expect(bca.upper).toBeCloseTo(vector.bca[1], 12);
    }
  });

  test("exact randomisation", () => {
    expect(vectors.randomisation.length).toBeGreaterThan(0);
    for (const { a, b, exact_two_sided_p } of vectors.randomisation) {
      const result = randomisationTest(a.map((value, i) => value - (b[i] ?? 0)));
      expect(result.exact).toBe(true);
      expect(result.p).toBeCloseTo(exact_two_sided_p, 12);
    }
  });
});
