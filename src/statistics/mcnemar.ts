/**
 * McNemar's exact test for measures that are 0 or 1 per case ("Note on the sampling error of the difference between correlated
 * proportions or percentages", Psychometrika 12, 1947): of the cases on which two systems disagree, each is equally likely to
 * go either way. With five or fewer such cases even unanimity gives p >= 0.0625, and a report should say so.
 */

/** Largest number of disagreeing cases for which the two-sided test can't reach 0.05. */
export const MCNEMAR_HOPELESS = 5;

/** Two-sided p: twice the smaller binomial(b + c, 1/2) tail, at most 1. `b`, `c`: cases that only one of the two got right. */
export function mcnemarExact(b: number, c: number): number {
  if (!Number.isInteger(b) || !Number.isInteger(c) || b < 0 || c < 0) throw new RangeError(`mcnemarExact(${b}, ${c})`);
  const n = b + c;
  const smaller = Math.min(b, c);
  if (b === c) return 1;
  // Sum of C(n, i) for i <= smaller, times 2^-n. The scale keeps thousands of cases from overflowing.
  let term = 1;
  let total = 1;
  let exponent = 1 - n;
  for (let i = 0; i < smaller; i++) {
    term *= (n - i) / (i + 1);
    total += term;
    if (total > 2 ** 500) {
      term *= 2 ** -500;
      total *= 2 ** -500;
      exponent += 500;
    }
  }
  // Two steps, because 2^exponent alone may underflow where the product does not.
  const half = Math.trunc(exponent / 2);
  return Math.min(1, total * 2 ** half * 2 ** (exponent - half));
}
