/** What pure chance would give in one case: the closed form beside which the mean over a baseline's draws is read. */
import type { Reading } from "../answers/schema.js";
import type { Measure } from "../measures/contract.js";

/**
 * Mean of the closed form over the sizes that a draw may have, all equally likely; null where a measure has none. Targets outside
 * the pool can't be drawn, so at most `pool` are relevant.
 */
export function expectationOf(
  { pool, sizes }: Extract<Reading, { kind: "drawn" }>,
  targets: number,
  measures: readonly Measure[],
): Record<string, number | null> {
  const relevant = Math.min(targets, pool);
  const times = new Map<number, number>();
  for (const size of sizes) times.set(size, (times.get(size) ?? 0) + 1);
  const expectation = ({ expected }: Measure): number | null => {
    // Without a target no case is scored, and there is nothing to expect.
    if (expected === undefined || sizes.length === 0 || relevant === 0) return null;
    let sum = 0;
    for (const [size, count] of times) sum += count * expected(size, pool, relevant);
    return sum / sizes.length;
  };
  return Object.fromEntries(measures.map((measure) => [measure.name, expectation(measure)]));
}
