/** Reciprocal rank: how far down stands the first target? Its mean over cases is MRR. */
import type { Measure } from "./contract.js";
import { expectedReciprocalRank } from "./random-ranking.js";

/** `RR`, and with a cut-off `RR@k`. */
export function reciprocalRank(k?: number): Measure {
  const within = k ?? Number.POSITIVE_INFINITY;
  return {
    name: k === undefined ? "RR" : `RR@${k}`,
    definition: `1 / rank of the first target${k === undefined ? "" : ` if it is among the first ${k} predictions`}, else 0. Its mean over cases is known as MRR.`,
    edgeCases: "No target: undefined. None found: 0. Says nothing of the targets after the first.",
    citation: "Voorhees, The TREC-8 Question Answering Track Report, 1999",
    binary: k === 1,
    ofCase: ({ ranking, targets }) => {
      if (targets.length === 0) return null;
      const first = ranking.findIndex((target) => target >= 0);
      return first < 0 || first >= within ? 0 : 1 / (first + 1);
    },
    expected: (size, pool, relevant) => expectedReciprocalRank(Math.min(within, size), pool, relevant),
  };
}
