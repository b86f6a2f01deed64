/**
 * How much a comparison of so many cases could show at all. From the normal approximation of the mean difference (Cohen, "Statistical
 * Power Analysis for the Behavioral Sciences", 1988, chapter 2; Sakai, "Statistical Reform in Information Retrieval?", SIGIR Forum 48,
 * 2014): rough for few cases, and meant to keep people from reading "not significant" as "equal".
 */
import { normalQuantile } from "./normal.js";

export interface Power {
  /** Standard deviation of the differences (n - 1); null below two cases. */
  readonly sd: number | null;
  /** The smallest true difference that a two-sided test at `alpha` finds with the given power on so many cases. */
  readonly detectable: number | null;
  /** Cases needed to find a true difference as large as the one seen; null where none was seen or nothing varies. */
  readonly needed: number | null;
}

export function powerOf(differences: Float64Array, alpha = 0.05, power = 0.8): Power {
  const n = differences.length;
  if (n < 2) return { sd: null, detectable: null, needed: null };
  const mean = differences.reduce((sum, value) => sum + value, 0) / n;
  const sd = Math.sqrt(differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1));
  const z = normalQuantile(1 - alpha / 2) + normalQuantile(power);
  const needed = mean === 0 || sd === 0 ? null : Math.ceil(((z * sd) / mean) ** 2);
  return {
    sd,
    detectable: (z * sd) / Math.sqrt(n),
    needed: needed !== null && Number.isFinite(needed) ? Math.max(2, needed) : null,
  };
}
