/**
 * nDCG: gains of the targets found, discounted by rank, relative to the best possible ranking. Gain is the grade itself (linear),
 * as in trec_eval; others take 2^grade - 1, which gives other figures for graded truth and the same for binary.
 */
import type { Measure } from "./contract.js";
import { measureName } from "./names.js";

/** How much a target of a grade is worth. */
export type Gain = "linear" | "exp";

/** `nDCG`, and with a cut-off `nDCG@k`; `nDCG(gain=exp)` where a grade is worth 2^grade - 1. */
export function ndcg(k?: number, gain: Gain = "linear"): Measure {
  const within = k ?? Number.POSITIVE_INFINITY;
  const among = k === undefined ? "" : ` among the first ${k}`;
  const worth = gain === "linear" ? "grade" : "(2^grade - 1)";
  return {
    name: measureName("nDCG", gain === "linear" ? {} : { gain }, k),
    definition: `Sum of ${worth} / log2(rank + 1) over the targets found${among}, divided by the same sum of the best possible ranking of all targets.`,
    edgeCases: `No target: undefined. The best ranking holds all targets${k === undefined ? "" : ` (cut at ${k})`}, not only those found. ${GAIN_NOTE[gain]}`,
    citation: CITATION[gain],
    binary: false,
    ofCase: ({ ranking, targets }) => {
      if (targets.length === 0) return null;
      // Relative to the best grade: 2^grade of a large one is no number any more, and the ratio is the same.
      const best = [...targets].sort((a, b) => b - a);
      const scale = best[0] ?? 0;
      const gains = ranking.map((target) => (target >= 0 ? gainOf(targets[target] ?? 0, gain, scale) : 0));
      const ideal = best.map((grade) => gainOf(grade, gain, scale));
      return Math.min(1, discountedSum(gains, within) / discountedSum(ideal, within));
    },
    // None: the expectation depends on the grades, not only on how many targets there are.
  };
}

const GAIN_NOTE: Readonly<Record<Gain, string>> = {
  linear: "Gain is linear in the grade.",
  exp: "Gain is exponential; with binary truth it makes no difference.",
};
const CITATION: Readonly<Record<Gain, string>> = {
  linear: "Järvelin and Kekäläinen, Cumulated Gain-based Evaluation of IR Techniques, ACM TOIS 20(4), 2002; trec_eval, ndcg_cut",
  exp: "Burges et al., Learning to Rank using Gradient Descent, ICML 2005; gdeval; ranx, ndcg_burges",
};

function gainOf(grade: number, gain: Gain, scale: number): number {
  if (grade <= 0) return 0;
  return gain === "linear" ? grade : 2 ** (grade - scale) - 2 ** -scale;
}

function discountedSum(gains: readonly number[], within: number): number {
  let total = 0;
  for (const [rank, gain] of gains.entries()) {
    if (rank >= within) break;
    total += gain / Math.log2(rank + 2);
  }
  return total;
}
