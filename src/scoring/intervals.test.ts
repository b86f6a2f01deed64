import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scoredCase, scoreMeta, viewScores } from "../../test/rigs/scored-cases.js";
import { measuresOf } from "../stages/measures.js";
import { bootstrapMean, bootstrapPooled } from "../statistics/bootstrap.js";
import { DEFAULT_BOOTSTRAP, intervalRows } from "./intervals.js";
import { viewsOf } from "./views.js";

function near(actual: number | null | undefined, expected: number | null): void {
  if (expected === null) expect(actual).toBeNull();
  else expect(Math.abs((actual ?? Number.NaN) - expected)).toBeLessThan(1e-12);
}

describe("one pass over the resamples", () => {
  test("gives the bounds of the bootstrap of each figure by itself", () => {
    const measures = measuresOf(["P", "R", "F1", "P(micro)", "R(micro)", "F1(micro)"]);
    const count = fc.nat(4);
    fc.assert(
      fc.property(fc.array(fc.tuple(count, count, count), { minLength: 1, maxLength: 15 }), fc.nat(1000), (counts, seed) => {
        const cases = counts.map(([tp, fp, fn], i) => scoredCase(`c${i}`, viewScores(tp, fp, fn)));
        const settings = { ...DEFAULT_BOOTSTRAP, samples: 50, seed };
        const views = viewsOf(cases, scoreMeta(cases));
        const rows = intervalRows(views, measures, settings, "ladder").filter(({ view }) => view === "headline");
        const scored = views[0]?.rows ?? [];
        for (const measure of measures) {
          const alone =
            measure.pooled === undefined
              ? bootstrapMean(
                  scored.map((row) => row.scores.measures[measure.name] ?? null),
                  settings,
                )
              : bootstrapPooled(
                  scored.map(({ scores: { counts: pooled } }) => ({
                    tp: pooled.true_positives,
                    fp: pooled.false_positives,
                    fn: pooled.false_negatives,
                  })),
                  measure.pooled,
                  settings,
                );
          const row = rows.find(({ name }) => name === measure.name);
          near(row?.value, alone.value);
          near(row?.lower, alone.lower);
          near(row?.upper, alone.upper);
          expect(row).toMatchObject({ n: alone.n, undefined: alone.undefined });
        }
      }),
      { numRuns: 30 },
    );
  });

  test("asking for another measure changes no interval", () => {
    const cases = [
      scoredCase("a", viewScores(1, 2, 0)),
      scoredCase("b", viewScores(0, 1, 1)),
      scoredCase("c", viewScores(2, 0, 1)),
    ];
    const rows = (names: string[]) =>
      intervalRows(viewsOf(cases, scoreMeta(cases)), measuresOf(names), DEFAULT_BOOTSTRAP, "ladder");
    const alone = rows(["R"]).find(({ name }) => name === "R");
    expect(rows(["P", "F1", "R", "P(micro)"]).find(({ name }) => name === "R")).toEqual(alone);
  });

  test("cases that agree have an interval of no width, whatever rounding does", () => {
    const cases = Array.from({ length: 7 }, (_, i) => scoredCase(`c${i}`, viewScores(1, 2, 2)));
    for (const method of ["percentile", "basic", "bca"] as const) {
      const rows = intervalRows(viewsOf(cases, scoreMeta(cases)), measuresOf(["P"]), { ...DEFAULT_BOOTSTRAP, method }, "ladder");
      expect(rows.find(({ name, view }) => name === "P" && view === "headline")).toMatchObject({ lower: 1 / 3, upper: 1 / 3 });
    }
  });
});
