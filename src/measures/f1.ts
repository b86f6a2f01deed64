/** F1: the harmonic mean of a case's precision and recall, in the form that stays defined when nothing is hit. */
import type { Measure } from "./contract.js";
import { hitsWithin } from "./judgement.js";
import { expectedHits } from "./random-ranking.js";

export const f1: Measure = {
  name: "F1",
  definition:
    "2 hits / (predictions + targets), which is 2TP / (2TP + FP + FN); the report's figure is the mean of the cases' values, not the F1 of mean precision and mean recall.",
  edgeCases: "Undefined only where nothing was predicted and there is no target. Nothing predicted, but targets: 0.",
  citation: "van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7 (F = 1 - E with equal weights)",
  binary: false,
  ofCase: (judgement) => {
    const total = judgement.ranking.length + judgement.targets.length;
    return total === 0 ? null : (2 * hitsWithin(judgement)) / total;
  },
  // Linear in the number of hits, as sizes are fixed: the expectation of the ratio is the ratio of expectations.
  expected: (size, pool, relevant) => {
    const total = Math.min(size, pool) + Math.min(relevant, pool);
    return total > 0 ? (2 * expectedHits(size, pool, relevant)) / total : 0;
  },
};
