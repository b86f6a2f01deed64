/** Judged@k: how much of the top of an answer has anybody looked at? It says how far the other figures can be trusted. */
import type { Measure } from "./contract.js";

export function judgedAt(k: number): Measure {
  return {
    name: `Judged@${k}`,
    definition: `Targets and files judged to be none among the first ${k} predictions / ${k}.`,
    edgeCases: `Always defined. A shorter answer still divides by ${k}, like P@${k}; some programs divide by its length. Without judgements beside the targets it equals P@${k}.`,
    citation: "ir_measures, Judged; its complement is trec_eval's unjudged_at_k",
    binary: k === 1,
    ofCase: ({ ranking, judged }) => {
      let known = 0;
      for (const [rank, target] of ranking.slice(0, k).entries()) if (target >= 0 || judged?.ranks[rank] === "judged") known++;
      return known / k;
    },
  };
}
