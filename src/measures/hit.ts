/** Hit@k: does the top of the answer hold at least one target? */
import type { Measure } from "./contract.js";
import { hitsWithin } from "./judgement.js";
import { missProbability } from "./random-ranking.js";

export function hitAt(k: number): Measure {
  return {
    name: `Hit@${k}`,
    definition: `1 if at least one target is among the first ${k} predictions, else 0. Also called Success@${k} and Top-${k}.`,
    edgeCases:
      "No target: undefined. Not All@k (every target found), and not the accuracy of LocAgent, which asks for min(k, targets) hits.",
    citation: "trec_eval, measure success",
    binary: true,
    ofCase: (judgement) => (judgement.targets.length === 0 ? null : hitsWithin(judgement, k) > 0 ? 1 : 0),
    expected: (size, pool, relevant) => 1 - missProbability(Math.min(k, size), pool, relevant),
  };
}
