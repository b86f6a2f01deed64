/**
 * Bootstrap intervals beside the percentile one: `basic` and `BCa` (bias-corrected and accelerated; Efron, "Better Bootstrap
 * Confidence Intervals", Journal of the American Statistical Association 82, 1987). Both are for means over cases.
 */
import { type BootstrapOptions, mean, percentileBounds, resampledMeans, sum, tailOf } from "./bootstrap.js";
import { normalDistribution, normalQuantile } from "./normal.js";
import { quantileOfSorted } from "./quantile.js";

export interface Bounds {
  readonly lower: number;
  readonly upper: number;
}

export type BcaInterval = Bounds &
  (
    | { readonly method: "BCa"; readonly bias: number; readonly acceleration: number }
    /** All resamples (or all cases) agree, so that the corrections are 0/0: the percentile bounds stand in, and say so. */
    | { readonly method: "percentile"; readonly why: string }
  );

/** [2 estimate - upper percentile, 2 estimate - lower percentile]; unlike the others it can leave [0, 1]. Null for no case. */
export function basicInterval(values: Float64Array, options: BootstrapOptions = {}): Bounds | null {
  if (values.length === 0) return null;
  const estimate = mean(values);
  const { lower, upper } = percentileBounds(resampledMeans(values, options), options.level);
  return { lower: 2 * estimate - upper, upper: 2 * estimate - lower };
}

/**
 * BCa interval of the mean; null for no case. Bias from the share of resamples below the estimate, ties counted half;
 * acceleration from the jackknife.
 */
export function bcaInterval(values: Float64Array, options: BootstrapOptions = {}): BcaInterval | null {
  if (values.length === 0) return null;
  const estimate = mean(values);
  const means = resampledMeans(values, options);
  const percentile = percentileBounds(means, options.level);

  let below = 0;
  for (const value of means) below += value < estimate ? 1 : value === estimate ? 0.5 : 0;
  const bias = normalQuantile(below / means.length);
  if (!Number.isFinite(bias)) {
    return { ...percentile, method: "percentile", why: "every resample lies on one side of the estimate" };
  }
  const acceleration = jackknifeAcceleration(values);
  if (acceleration === null) return { ...percentile, method: "percentile", why: "all cases have the same value" };

  const sorted = means.sort();
  const at = (z: number): number => {
    const shifted = bias + z;
    const share = normalDistribution(bias + shifted / (1 - acceleration * shifted));
    return quantileOfSorted(sorted, Math.min(1, Math.max(0, share)));
  };
  const tail = tailOf(options.level ?? 0.95);
  return {
    lower: at(normalQuantile(tail)),
    upper: at(normalQuantile(1 - tail)),
    method: "BCa",
    bias,
    acceleration,
  };
}

/** Sum d^3 / (6 (sum d^2)^(3/2)) with d the mean of the leave-one-out means minus each of them; null where they all agree. */
function jackknifeAcceleration(values: Float64Array): number | null {
  const n = values.length;
  const total = sum(values);
  const leftOut = values.map((value) => (total - value) / (n - 1));
  const centre = mean(leftOut);
  let squares = 0;
  let cubes = 0;
  for (const value of leftOut) {
    const d = centre - value;
    squares += d * d;
    cubes += d * d * d;
  }
  const acceleration = cubes / (6 * squares ** 1.5);
  return Number.isFinite(acceleration) ? acceleration : null;
}
