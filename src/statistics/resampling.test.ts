import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bootstrapMean, resampleMatrix } from "./bootstrap.js";
import { meanOf, resampler } from "./figures.js";
import { boundsBy } from "./interval-methods.js";
import { type Design, singleRows, unitsOf } from "./resampling.js";

const proportion = fc.double({ min: 0, max: 1, noNaN: true });
const options = { samples: 200, seed: 5 };

describe("designs", () => {
  test("single rows give the bootstrap of the mean", () => {
    fc.assert(
      fc.property(fc.array(proportion, { minLength: 1, maxLength: 12 }), (values) => {
        const bounds = resampler([Float64Array.from(values)], singleRows(values.length), options).interval(
          meanOf(0),
          "percentile",
          0.95,
        );
        const alone = bootstrapMean(values, options);
        expect(bounds?.lower).toBeCloseTo(alone.lower ?? Number.NaN, 12);
        expect(bounds?.upper).toBeCloseTo(alone.upper ?? Number.NaN, 12);
      }),
      { numRuns: 40 },
    );
  });

  test("clusters of one case each are no clusters", () => {
    const values = Float64Array.of(0, 1, 0.5, 0.25);
    const plain = resampler([values], singleRows(4), options).figures(meanOf(0));
    const clustered = { ...singleRows(4), clusters: [[0], [1], [2], [3]] };
    expect(resampler([values], clustered, options).figures(meanOf(0))).toEqual(plain);
  });

  test("a cluster is drawn whole: its cases agree in every resample", () => {
    const design: Design = {
      ...singleRows(4),
      clusters: [
        [0, 1],
        [2, 3],
      ],
    };
    const sums = resampler([Float64Array.of(1, 0, 0, 0), Float64Array.of(0, 1, 0, 0)], design, options);
    expect(sums.figures((sum) => sum(0))).toEqual(sums.figures((sum) => sum(1)));
    expect(new Set(sums.figures((sum) => sum(0)))).toEqual(new Set([0, 1, 2]));
  });

  test("clusters that agree inside widen the interval", () => {
    // Twenty clusters of ten equal cases hold as much as twenty cases.
    const values = Float64Array.from({ length: 200 }, (_, i) => Math.floor(i / 10) % 2);
    const clusters = Array.from({ length: 20 }, (_, cluster) => Array.from({ length: 10 }, (__, i) => cluster * 10 + i));
    const width = (design: Design) => {
      const bounds = resampler([values], design, { samples: 2000, seed: 1 }).interval(meanOf(0), "percentile", 0.95);
      return (bounds?.upper ?? 0) - (bounds?.lower ?? 0);
    };
    const ratio = width({ ...singleRows(200), clusters }) / width(singleRows(200));
    expect(ratio).toBeGreaterThan(2.7);
    expect(ratio).toBeLessThan(3.6);
  });

  test("clusters of different sizes: a resample has as many cases as its clusters, and divides by them", () => {
    const design: Design = { ...singleRows(3), clusters: [[0, 1], [2]] };
    const figures = resampler([Float64Array.of(1, 1, 0)], design, options).figures(meanOf(0));
    expect(new Set([...figures].map((figure) => figure.toFixed(4)))).toEqual(new Set(["1.0000", "0.6667", "0.0000"]));
  });

  test("answers are averaged, or drawn; drawing them widens the interval and moves no case", () => {
    const values = Float64Array.from({ length: 60 }, (_, i) => i % 2);
    const cases = Array.from({ length: 30 }, (_, i) => [2 * i, 2 * i + 1]);
    const mean = resampler([values], { cases }, options);
    // Every case has the mean 1/2, so averaging first leaves nothing that varies.
    expect(mean.interval(meanOf(0), "percentile", 0.95)).toMatchObject({ lower: 0.5, upper: 0.5 });
    const drawn = resampler([values], { cases, drawAnswers: true }, options).interval(meanOf(0), "percentile", 0.95);
    expect((drawn?.upper ?? 0) - (drawn?.lower ?? 0)).toBeGreaterThan(0.1);
    const marks = Float64Array.from({ length: 60 }, (_, i) => Math.floor(i / 2));
    const near = (figures: Float64Array) => [...figures].map((figure) => figure.toFixed(9));
    expect(near(resampler([marks], { cases, drawAnswers: true }, options).figures(meanOf(0)))).toEqual(
      near(resampler([marks], { cases }, options).figures(meanOf(0))),
    );
  });

  test("resamples can be given, for clusters too, and must be of that size", () => {
    const design: Design = { ...singleRows(3), clusters: [[0, 1], [2]] };
    const resamples = { n: 2, samples: 2, indices: Int32Array.of(0, 0, 1, 0) };
    const values = Float64Array.of(1, 0, 0.5);
    expect(resampler([values], design, { samples: 1, resamples }).figures(meanOf(0))).toEqual(Float64Array.of(0.5, 0.5));
    expect(() => resampler([values], singleRows(3), { samples: 1, resamples })).toThrow(/2 cases/);
    const written = resampleMatrix(3, options);
    expect(resampler([values], singleRows(3), { samples: 1, resamples: written }).figures(meanOf(0))).toEqual(
      resampler([values], singleRows(3), options).figures(meanOf(0)),
    );
  });

  test("no case: no figure", () => {
    const empty = resampler([new Float64Array()], singleRows(0), options);
    expect([empty.estimate(meanOf(0)), empty.interval(meanOf(0), "bca", 0.95)]).toEqual([null, null]);
    expect(unitsOf({ cases: [[0], [1]] })).toEqual([[0], [1]]);
  });
});

describe("methods", () => {
  test("rounding makes no acceleration and breaks no tie", () => {
    const noisy = Float64Array.of(0.1 + 0.2, 0.3, 0.3);
    expect(boundsBy("bca", 0.3, noisy, () => noisy, 0.95)).toMatchObject({
      method: "percentile",
      instead: "every case has the same value",
    });
  });
  test("all bounds are ordered; percentile and bca stay among the resampled figures", () => {
    fc.assert(
      fc.property(
        fc.array(proportion, { minLength: 2, maxLength: 20 }),
        fc.constantFrom("percentile" as const, "basic" as const, "bca" as const),
        (values, method) => {
          const drawn = resampler([Float64Array.from(values)], singleRows(values.length), options);
          const bounds = drawn.interval(meanOf(0), method, 0.9);
          if (bounds === null) throw new Error("no interval");
          expect(bounds.lower).toBeLessThanOrEqual(bounds.upper);
          if (method === "basic") return;
          const figures = drawn.figures(meanOf(0));
          expect(bounds.lower).toBeGreaterThanOrEqual(Math.min(...figures));
          expect(bounds.upper).toBeLessThanOrEqual(Math.max(...figures));
        },
      ),
      { numRuns: 60 },
    );
  });
});
