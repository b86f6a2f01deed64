/**
 * Sample quantiles, type 7 of Hyndman and Fan ("Sample Quantiles in Statistical Packages", The American Statistician 50(4),
 * 1996): linear between order statistics at position (N - 1) q. It is the default of R and NumPy, hence what SciPy's
 * bootstrap uses; nine definitions are in use and differ visibly for small N, so reports name this one.
 */

/**
 * The `q` quantile (0 <= q <= 1) of values that are already sorted in ascending order.
 * Throws for an empty list: a caller with nothing to describe must say so itself.
 */
export function quantileOfSorted(sorted: ArrayLike<number>, q: number): number {
  if (sorted.length === 0) throw new RangeError("a quantile of no values");
  if (!(q >= 0 && q <= 1)) throw new RangeError(`quantile ${q} is outside [0, 1]`);
  const position = (sorted.length - 1) * q;
  const index = Math.floor(position);
  const low = sorted[index] ?? Number.NaN;
  const high = sorted[Math.min(index + 1, sorted.length - 1)] ?? Number.NaN;
  // This form gives exactly `low` where both neighbours are equal, whatever the weight.
  return low + (high - low) * (position - index);
}

/** As `quantileOfSorted`, for values in any order; the argument is left as it is. */
export function quantile(values: ArrayLike<number>, q: number): number {
  return quantileOfSorted(Float64Array.from(values).sort(), q);
}
