/** R-precision: precision at the rank that equals the number of targets, where precision and recall are the same. */
import type { Measure } from "./contract.js";
import { hitsWithin } from "./judgement.js";
import { expectedHits } from "./random-ranking.js";

export const rPrecision: Measure = {
  name: "Rprec",
  definition: "Distinct targets among the first r predictions / r, where r is the number of targets.",
  edgeCases: "No target: undefined. A shorter answer still divides by r.",
  citation:
    "Buckley and Voorhees, Retrieval System Evaluation, in: TREC: Experiment and Evaluation, 2005; trec_eval, measure Rprec",
  binary: false,
  ofCase: (judgement) => {
    const r = judgement.targets.length;
    return r === 0 ? null : hitsWithin(judgement, r) / r;
  },
  expected: (size, pool, relevant) => {
    const r = Math.min(relevant, pool);
    return r > 0 ? expectedHits(Math.min(r, size), pool, r) / r : 0;
  },
};
