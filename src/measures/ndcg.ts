/**
 * nDCG: gains of the targets found, discounted by rank, relative to the best possible ranking. Gain is the grade itself (linear),
 * as in trec_eval; others take 2^grade - 1, which gives other figures for graded truth and the same for binary.
 */
import type { Measure } from "./contract.js";

/** `nDCG`, and with a cut-off `nDCG@k`. */
export function ndcg(k?: number): Measure {
  const within = k ?? Number.POSITIVE_INFINITY;
  return {
    name: k === undefined ? "nDCG" : `nDCG@${k}`,
    definition: `Sum of grade / log2(rank + 1) over the targets found${k === undefined ? "" : ` among the first ${k}`}, divided by the same sum of the best possible ranking of all targets.`,
    edgeCases: `No target: undefined. The best ranking holds all targets${k === undefined ? "" : ` (cut at ${k})`}, not only those found. Gain is linear in the grade.`,
    citation:
      "Järvelin and Kekäläinen, Cumulated Gain-based Evaluation of IR Techniques, ACM TOIS 20(4), 2002; trec_eval, ndcg_cut",
    binary: false,
    ofCase: ({ ranking, targets }) => {
      if (targets.length === 0) return null;
      const gains = ranking.map((target) => (target >= 0 ? (targets[target] ?? 0) : 0));
      const best = [...targets].sort((a, b) => b - a);
      return Math.min(1, discountedSum(gains, within) / discountedSum(best, within));
    },
    // None: the expectation depends on the grades, not only on how many targets there are.
  };
}

function discountedSum(gains: readonly number[], within: number): number {
  let total = 0;
  for (const [rank, gain] of gains.entries()) {
    if (rank >= within) break;
    total += gain / Math.log2(rank + 2);
  }
  return total;
}
