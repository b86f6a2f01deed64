/** All@k: does the top of the answer hold every target? */
import type { Measure } from "./contract.js";
import { hitsWithin } from "./judgement.js";
import { coverProbability } from "./random-ranking.js";

export function allAt(k: number): Measure {
  return {
    name: `All@${k}`,
    definition: `1 if every target is among the first ${k} predictions, else 0.`,
    edgeCases: `No target: undefined. More than ${k} targets: 0, whatever was predicted.`,
    citation: "octocode's locbench, acc@k; Chen et al., LocAgent, 2025, differs: it cuts the targets to k",
    binary: true,
    ofCase: (judgement) =>
      judgement.targets.length === 0 ? null : hitsWithin(judgement, k) === judgement.targets.length ? 1 : 0,
    expected: (size, pool, relevant) => coverProbability(Math.min(k, size), pool, relevant),
  };
}
