/**
 * Holm's step-down adjustment for a family of tests ("A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
 * Journal of Statistics 6, 1979). It bounds the chance of any false claim in the family, whatever the dependence between tests.
 */

/** Adjusted p values in the order of `p`: the running maximum of (m - rank) p over ascending p, at most 1. */
export function holmAdjust(p: readonly number[]): number[] {
  const order = p.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const adjusted = new Array<number>(p.length);
  let largest = 0;
  for (const [rank, { value, index }] of order.entries()) {
    largest = Math.max(largest, Math.min(1, (p.length - rank) * value));
    adjusted[index] = largest;
  }
  return adjusted;
}
