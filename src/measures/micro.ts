/**
 * Micro averages: counts are summed over cases, then divided. A case weighs as much as it has targets and predictions, so that one
 * issue with thousands of files decides the figure; read them beside the means over cases.
 */
import type { Measure } from "./contract.js";
import { f1 } from "./f1.js";
import { precision } from "./precision.js";
import { recall } from "./recall.js";

const CITATION = "Yang, An Evaluation of Statistical Approaches to Text Categorization, Information Retrieval 1, 1999";

export const microPrecision: Measure = {
  name: "P(micro)",
  definition: "TP / (TP + FP) of the counts summed over cases.",
  edgeCases: "Nothing predicted in any case: 0. A case without predictions does not count at all, unlike in P.",
  citation: CITATION,
  binary: false,
  ofCase: precision.ofCase,
  pooled: ({ tp, fp }) => ratio(tp, tp + fp),
};

export const microRecall: Measure = {
  name: "R(micro)",
  definition: "TP / (TP + FN) of the counts summed over cases.",
  edgeCases: "No target in any case: 0.",
  citation: CITATION,
  binary: false,
  ofCase: recall.ofCase,
  pooled: ({ tp, fn }) => ratio(tp, tp + fn),
};

export const microF1: Measure = {
  name: "F1(micro)",
  definition: "2TP / (2TP + FP + FN) of the counts summed over cases.",
  edgeCases: "Nothing predicted and no target in any case: 0.",
  citation: CITATION,
  binary: false,
  ofCase: f1.ofCase,
  pooled: ({ tp, fp, fn }) => ratio(2 * tp, 2 * tp + fp + fn),
};

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}
