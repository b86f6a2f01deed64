/**
 * From resampled figures to the bounds of an interval, by three methods (Efron and Tibshirani, "An Introduction to the Bootstrap",
 * 1993, chapters 13 and 14; Davison and Hinkley, 1997, chapter 5).
 *
 * - `percentile`: quantiles (type 7) of the resampled figures. Stays where figures can be.
 * - `basic`: the same distances, mirrored at the estimate. Can leave [0, 1].
 * - `bca`: percentile with corrected quantiles, for bias (the share of resamples below the estimate, ties counted half) and for
 *   skewness (from the jackknife). Where a correction is 0/0, the percentile bounds stand in, and the result says so.
 */
import { percentileBounds, tailOf } from "./bootstrap.js";
import { normalDistribution, normalQuantile } from "./normal.js";
import { quantileOfSorted } from "./quantile.js";

export const INTERVAL_METHODS = ["percentile", "basic", "bca"] as const;
export type IntervalMethod = (typeof INTERVAL_METHODS)[number];

export interface MethodBounds {
  readonly lower: number;
  readonly upper: number;
  /** The method that the bounds come from. */
  readonly method: IntervalMethod;
  /** Why it is not the one that was asked for. */
  readonly instead?: string;
  /** The corrections of `bca`. */
  readonly bias?: number;
  readonly acceleration?: number;
}

/** Sums of equal numbers in another order differ by rounding, and must still count as ties. */
const TOLERANCE = 1e-12;

/**
 * `figures`: one per resample, any order; `jackknife`: the figure without each unit in turn, asked for by `bca` alone. All figures
 * must be finite.
 */
export function boundsBy(
  method: IntervalMethod,
  estimate: number,
  figures: Float64Array,
  jackknife: () => Float64Array,
  level: number,
): MethodBounds {
  const percentile = percentileBounds(figures, level);
  if (method === "percentile") return { ...percentile, method };
  if (method === "basic") return { lower: 2 * estimate - percentile.upper, upper: 2 * estimate - percentile.lower, method };

  const instead = (why: string): MethodBounds => ({ ...percentile, method: "percentile", instead: why });
  const tolerance = TOLERANCE * Math.max(1, Math.abs(estimate));
  let below = 0;
  for (const figure of figures) below += Math.abs(figure - estimate) <= tolerance ? 0.5 : figure < estimate ? 1 : 0;
  const bias = normalQuantile(below / figures.length);
  if (!Number.isFinite(bias)) return instead("every resample lies on one side of the estimate");
  const acceleration = accelerationOf(jackknife());
  if (acceleration === null) return instead("every case has the same value");
  const sorted = Float64Array.from(figures).sort();
  const at = (z: number): number => {
    const shifted = bias + z;
    const share = normalDistribution(bias + shifted / (1 - acceleration * shifted));
    return quantileOfSorted(sorted, Math.min(1, Math.max(0, share)));
  };
  const tail = tailOf(level);
  return { lower: at(normalQuantile(tail)), upper: at(normalQuantile(1 - tail)), method, bias, acceleration };
}

/** Sum d^3 / (6 (sum d^2)^(3/2)) with d the mean of the leave-one-out figures minus each of them; null where they all agree. */
export function accelerationOf(leftOut: Float64Array): number | null {
  const centre = leftOut.reduce((sum, value) => sum + value, 0) / leftOut.length;
  let squares = 0;
  let cubes = 0;
  for (const value of leftOut) {
    const d = centre - value;
    squares += d * d;
    cubes += d * d * d;
  }
  // Differences that are rounding and nothing else would make an acceleration out of noise.
  if (squares <= leftOut.length * (TOLERANCE * Math.max(1, Math.abs(centre))) ** 2) return null;
  const acceleration = cubes / (6 * squares ** 1.5);
  return Number.isFinite(acceleration) ? acceleration : null;
}
