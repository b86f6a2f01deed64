/**
 * All figures of a view from one pass over the resamples. `statistics/bootstrap.ts` does one figure at a time, drawing the same
 * cases again for each; with a dozen figures, several views and ten thousand cases that takes minutes' worth of draws for
 * nothing. Here each resample is drawn once, as how often each case occurs in it, and every column is summed with these weights.
 * The draws are the same (same stream), so the bounds are too, up to the rounding of sums.
 */
import { percentileBounds } from "../statistics/bootstrap.js";
import { randomStream } from "../statistics/generator.js";

/** The stream that `bootstrapMean` and `bootstrapPooled` draw from by default. */
const STREAM = "bootstrap";

/**
 * Sums of each column over each resample: `sums[column][sample]`. Columns have one value per case, in data-set order.
 */
export function resampledSums(
  columns: readonly Float64Array[],
  n: number,
  { samples, seed }: { readonly samples: number; readonly seed: number },
): Float64Array[] {
  const sums = columns.map(() => new Float64Array(samples));
  if (n === 0) return sums;
  const draw = randomStream(seed, STREAM);
  const weights = new Float64Array(n);
  // Columns of nothing but zeros (differences where nothing differs) have sums of nothing but zeros.
  const filled = columns.flatMap((column, index) => {
    const into = sums[index];
    return into === undefined || column.every((value) => value === 0) ? [] : [{ column, into }];
  });
  if (filled.length === 0) return sums;
  for (let sample = 0; sample < samples; sample++) {
    weights.fill(0);
    for (let i = 0; i < n; i++) {
      const drawn = draw.below(n);
      weights[drawn] = (weights[drawn] ?? 0) + 1;
    }
    for (const { column, into } of filled) into[sample] = weightedSum(column, weights);
  }
  return sums;
}

function weightedSum(values: Float64Array, weights: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] ?? 0) * (weights[i] ?? 0);
  return sum;
}

export interface Bounds {
  readonly lower: number | null;
  readonly upper: number | null;
}

export const NO_BOUNDS: Bounds = { lower: null, upper: null };

/** Bounds of the mean of a column, from its resampled sums. */
export function boundsOfMean(column: Float64Array, sums: Float64Array, level: number): Bounds {
  const n = column.length;
  const [first] = column;
  if (first === undefined) return NO_BOUNDS;
  // Where all cases agree the interval is a point; sums of equal numbers must not make it a little wider by rounding.
  if (column.every((value) => value === first)) return { lower: first, upper: first };
  return percentileBounds(
    sums.map((sum) => sum / n),
    level,
  );
}

/** Bounds of a figure of pooled counts, from the resampled sums of the counts. */
export function boundsOfPooled(
  { tp, fp, fn }: { readonly tp: Float64Array; readonly fp: Float64Array; readonly fn: Float64Array },
  figure: (counts: { readonly tp: number; readonly fp: number; readonly fn: number }) => number,
  level: number,
): Bounds {
  if (tp.length === 0) return NO_BOUNDS;
  return percentileBounds(
    tp.map((value, sample) => figure({ tp: value, fp: fp[sample] ?? 0, fn: fn[sample] ?? 0 })),
    level,
  );
}
