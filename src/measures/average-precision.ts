/** Average precision: precision at the rank of each target, averaged over *all* targets. Its mean over cases is MAP. */
import type { Measure } from "./contract.js";
import { expectedAveragePrecision } from "./random-ranking.js";

/** `AP`, and with a cut-off `AP@k`. */
export function averagePrecision(k?: number): Measure {
  const within = k ?? Number.POSITIVE_INFINITY;
  return {
    name: k === undefined ? "AP" : `AP@${k}`,
    definition: `Sum of precision at each target's rank${k === undefined ? "" : ` among the first ${k}`} / targets. Its mean over cases is known as MAP.`,
    edgeCases:
      "No target: undefined. Targets that were not found add 0. The divisor is the number of all targets, as in trec_eval; other programs divide by min(k, targets), by k, or by the targets found.",
    citation: "Harman, Overview of the First TREC Conference, 1993; trec_eval, measures map and map_cut",
    binary: false,
    ofCase: ({ ranking, targets }) => {
      if (targets.length === 0) return null;
      let hits = 0;
      let total = 0;
      for (const [rank, target] of ranking.entries()) {
        if (rank >= within) break;
        if (target >= 0) total += ++hits / (rank + 1);
      }
      return total / targets.length;
    },
    expected: (size, pool, relevant) => expectedAveragePrecision(Math.min(within, size), pool, relevant),
  };
}
