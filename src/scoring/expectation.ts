/** What pure chance would give in one case: the closed form beside which the mean over a baseline's draws is read. */
import type { Reading } from "../answers/schema.js";
import type { Measure } from "../measures/contract.js";

/**
 * Mean of the closed form over the sizes that a draw may have, all equally likely; null where a measure has none.
 *
 * `targets` all lie in the pool that was drawn from: a form that takes part of the truth for undrawable would be about another
 * figure. So null for the whole case where the pool is not the corpus that the truth was cut to.
 */
export function expectationOf(
  { pool, sizes }: Extract<Reading, { kind: "drawn" }>,
  targets: number,
  corpusFiles: number | null,
  measures: readonly Measure[],
): Record<string, number | null> | null {
  if (corpusFiles !== pool || targets > pool) return null;
  const times = new Map<number, number>();
  for (const size of sizes) times.set(size, (times.get(size) ?? 0) + 1);
  const expectation = ({ expected }: Measure): number | null => {
    // Without a target no case is scored, and there is nothing to expect.
    if (expected === undefined || sizes.length === 0 || targets === 0) return null;
    let sum = 0;
    for (const [size, count] of times) sum += count * expected(size, pool, targets);
    return sum / sizes.length;
  };
  return Object.fromEntries(measures.map((measure) => [measure.name, expectation(measure)]));
}
