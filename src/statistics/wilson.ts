/**
 * The score interval of a proportion (Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", Journal
 * of the American Statistical Association 22, 1927). It stays inside [0, 1] and keeps a width where all cases agree (0 of 12
 * gives [0, 0.24]), which the bootstrap can't: hence it stands beside it for measures that are 0 or 1 per case.
 */
import { tailOf } from "./bootstrap.js";
import { normalQuantile } from "./normal.js";

/** Interval for `successes` of `n` cases; null for no case. */
export function wilsonInterval(
  successes: number,
  n: number,
  level = 0.95,
): { readonly lower: number; readonly upper: number } | null {
  if (n === 0) return null;
  if (!(successes >= 0 && successes <= n)) throw new RangeError(`${successes} successes of ${n} cases`);
  const z = normalQuantile(1 - tailOf(level));
  const p = successes / n;
  const centre = p + (z * z) / (2 * n);
  const half = z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  // Both ends are exact by algebra where all cases agree; rounding must not move them across the border.
  return {
    lower: successes === 0 ? 0 : Math.max(0, (centre - half) / scale),
    upper: successes === n ? 1 : Math.min(1, (centre + half) / scale),
  };
}
