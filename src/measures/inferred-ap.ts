/**
 * Inferred average precision: AP where only a sample of the pool was judged. Precision above a target is estimated from the judged
 * part of the pool.
 */
import type { Measure } from "./contract.js";

/** Keeps the estimate defined where nothing above a target was judged; trec_eval's value. */
const EPSILON = 1e-5;

export const inferredAp: Measure = {
  name: "InfAP",
  definition:
    "Sum over the targets found, at rank k, of 1/k + (k-1)/k x (pooled above / (k-1)) x ((targets above + e) / (judged above + 2e)), divided by the number of targets; e = 0.00001. At rank 1 a target adds 1.",
  edgeCases:
    "No target: undefined. Unpooled files count as wrong, pooled and unjudged ones are left open. Without such files it equals AP up to the effect of e.",
  citation: "Yilmaz and Aslam, Estimating Average Precision with Incomplete and Imperfect Judgments, CIKM 2006; trec_eval, infAP",
  binary: false,
  ofCase: ({ ranking, targets, judged }) => {
    if (targets.length === 0) return null;
    let relevant = 0;
    let nonrelevant = 0;
    let pooled = 0;
    let total = 0;
    for (const [above, target] of ranking.entries()) {
      if (target < 0) {
        if (judged?.ranks[above] === "judged") nonrelevant++;
        else if (judged?.ranks[above] === "pooled") pooled++;
        continue;
      }
      const seen = relevant + nonrelevant;
      const precision = (relevant + EPSILON) / (seen + 2 * EPSILON);
      total += above === 0 ? 1 : (1 + (seen + pooled) * precision) / (above + 1);
      relevant++;
    }
    return total / targets.length;
  },
};
