/** Precision: of what was predicted, the share that is right. Of the whole answer (`P`), or of its first k ranks (`P@k`). */
import type { Measure } from "./contract.js";
import { hitsWithin } from "./judgement.js";
import { expectedHits } from "./random-ranking.js";

export const precision: Measure = {
  name: "P",
  definition: "Distinct targets hit / predictions; the report's figure is the mean over cases.",
  edgeCases: "Nothing predicted: 0/0, undefined, counted as 0 unless another policy is named.",
  citation: "van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7",
  binary: false,
  ofCase: (judgement) => (judgement.ranking.length === 0 ? null : hitsWithin(judgement) / judgement.ranking.length),
  expected: (size, pool, relevant) => {
    const drawn = Math.min(size, pool);
    return drawn > 0 ? expectedHits(drawn, pool, relevant) / drawn : 0;
  },
};

export function precisionAt(k: number): Measure {
  return {
    name: `P@${k}`,
    definition: `Distinct targets among the first ${k} predictions / ${k}.`,
    edgeCases: `A shorter answer still divides by ${k}, as trec_eval does: places left empty count as wrong. Always defined.`,
    citation: "trec_eval, measure P; Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, section 8.4",
    binary: k === 1,
    ofCase: (judgement) => hitsWithin(judgement, k) / k,
    expected: (size, pool, relevant) => expectedHits(Math.min(k, size), pool, relevant) / k,
  };
}
