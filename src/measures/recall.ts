/** Recall: the share of the targets that was predicted. By the whole answer (`R`), or by its first k ranks (`R@k`). */
import type { Measure } from "./contract.js";
import { hitsWithin } from "./judgement.js";
import { expectedHits } from "./random-ranking.js";

export const recall: Measure = {
  name: "R",
  definition: "Distinct targets hit / targets; the report's figure is the mean over cases.",
  edgeCases: "No target: undefined (such cases are shown, not scored).",
  citation: "van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7",
  binary: false,
  ofCase: (judgement) => (judgement.targets.length === 0 ? null : hitsWithin(judgement) / judgement.targets.length),
  expected: (size, pool, relevant) => {
    const r = Math.min(relevant, pool);
    return r > 0 ? expectedHits(size, pool, r) / r : 0;
  },
};

export function recallAt(k: number): Measure {
  return {
    name: `R@${k}`,
    definition: `Distinct targets among the first ${k} predictions / targets.`,
    edgeCases: `No target: undefined. With more than ${k} targets it can't reach 1. Not to be taken for Hit@${k}, which some papers call recall.`,
    citation: "trec_eval, measure recall",
    binary: false,
    ofCase: (judgement) => (judgement.targets.length === 0 ? null : hitsWithin(judgement, k) / judgement.targets.length),
    expected: (size, pool, relevant) => recall.expected?.(Math.min(k, size), pool, relevant) ?? 0,
  };
}
