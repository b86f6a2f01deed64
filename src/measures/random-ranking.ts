/**
 * A uniformly random ranking of `size` out of `pool` files, of which `relevant` are targets: what the `random` baseline draws.
 * The number of targets among its first m is hypergeometric; measures build their closed-form expectation from these parts.
 *
 * More draws than files are as many as there are files, and likewise for targets; a pool without files gives 0 throughout.
 */

/** Expected number of targets among `size` files. */
export function expectedHits(size: number, pool: number, relevant: number): number {
  const [m, n, r] = clamp(size, pool, relevant);
  return n === 0 ? 0 : (m * r) / n;
}

/** P(no target among `size` files). */
export function missProbability(size: number, pool: number, relevant: number): number {
  const [m, n, r] = clamp(size, pool, relevant);
  let probability = 1;
  for (let drawn = 0; drawn < m && probability > 0; drawn++) probability *= Math.max(0, n - r - drawn) / (n - drawn);
  return probability;
}

/** P(all targets are among `size` files); 0 without a target. */
export function coverProbability(size: number, pool: number, relevant: number): number {
  const [m, n, r] = clamp(size, pool, relevant);
  if (r === 0) return 0;
  let probability = 1;
  for (let target = 0; target < r && probability > 0; target++) probability *= Math.max(0, m - target) / (n - target);
  return probability;
}

/** E(1 / rank of the first target, 0 if none): sum over ranks j of P(first target at j) / j. */
export function expectedReciprocalRank(size: number, pool: number, relevant: number): number {
  const [m, n, r] = clamp(size, pool, relevant);
  let missed = 1;
  let total = 0;
  for (let rank = 1; rank <= m && missed > 0; rank++) {
    const left = n - rank + 1;
    total += (missed * Math.min(1, r / left)) / rank;
    missed *= Math.max(0, left - r) / left;
  }
  return total;
}

/** E(sum over the first `size` ranks of precision at each target's rank) / targets. */
export function expectedAveragePrecision(size: number, pool: number, relevant: number): number {
  const [m, n, r] = clamp(size, pool, relevant);
  if (r === 0) return 0;
  // Given a target at rank i, each of the i - 1 files before it is one of the other r - 1 targets with equal chance.
  const other = n > 1 ? (r - 1) / (n - 1) : 0;
  let total = 0;
  for (let rank = 1; rank <= m; rank++) total += (1 + (rank - 1) * other) / rank;
  return total / n;
}

function clamp(size: number, pool: number, relevant: number): [number, number, number] {
  const n = Math.max(0, Math.trunc(pool));
  return [Math.min(n, Math.max(0, Math.trunc(size))), n, Math.min(n, Math.max(0, Math.trunc(relevant)))];
}
