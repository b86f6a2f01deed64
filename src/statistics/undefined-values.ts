/**
 * What an undefined value of a measure (0/0, written `null`) counts as when values of cases are averaged.
 *
 * The choice changes headline figures, so it has a name and the number of undefined values travels with every mean.
 * `zero` is the default because trec_eval, scikit-learn and the original program all count 0/0 as 0.
 */
export type UndefinedPolicy = "zero" | "skip" | "one";

export interface ResolvedValues {
  readonly values: Float64Array;
  /** How many were undefined, whatever became of them. */
  readonly undefined: number;
}

/** Replaces undefined values by 0 or 1, or leaves them out (`skip`: the values then are fewer than the cases). */
export function resolveUndefined(values: readonly (number | null)[], policy: UndefinedPolicy = "zero"): ResolvedValues {
  const resolved: number[] = [];
  let count = 0;
  for (const value of values) {
    if (value !== null) {
      resolved.push(value);
      continue;
    }
    count++;
    if (policy !== "skip") resolved.push(policy === "one" ? 1 : 0);
  }
  return { values: Float64Array.from(resolved), undefined: count };
}
