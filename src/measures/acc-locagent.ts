/**
 * The accuracy of LocAgent and SweRank: all of the top k is right, or every target is among it. Kept apart from Hit@k and All@k,
 * which papers report under the same name with other numbers.
 */
import type { Measure } from "./contract.js";
import { hitsWithin } from "./judgement.js";
import { coverProbability } from "./random-ranking.js";

export function accLocAgentAt(k: number): Measure {
  return {
    name: `AccLocAgent@${k}`,
    definition: `1 if the first ${k} predictions hold min(${k}, targets) distinct targets, else 0.`,
    edgeCases: `No target: undefined. More than ${k} targets: ${k === 1 ? "the first prediction" : `each of the first ${k} predictions`} must be one of them, so that it can be 1 where All@${k} can't. The original counts a file that is named twice as two hits; here it is one, so the two differ on lists with repeats.`,
    citation: "Chen et al., LocAgent: Graph-Guided LLM Agents for Code Localization, ACL 2025, acc_at_k of its evaluation",
    binary: true,
    ofCase: (judgement) => {
      const r = judgement.targets.length;
      return r === 0 ? null : hitsWithin(judgement, k) === Math.min(k, r) ? 1 : 0;
    },
    expected: (size, pool, relevant) => {
      const r = Math.min(relevant, pool);
      if (r === 0) return 0;
      if (r < k) return coverProbability(Math.min(k, size), pool, r);
      if (Math.min(size, pool) < k) return 0;
      let probability = 1;
      for (let drawn = 0; drawn < k && probability > 0; drawn++) probability *= (r - drawn) / (pool - drawn);
      return probability;
    },
  };
}
