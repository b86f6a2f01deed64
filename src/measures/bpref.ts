/**
 * Bpref: how often do targets stand above files that are *known* to be none? Made for truth with holes: what nobody judged plays
 * no part.
 */
import type { Measure } from "./contract.js";

export const bpref: Measure = {
  name: "Bpref",
  definition:
    "Mean over all targets of 1 - min(n, r) / min(N, r), where r is the number of targets, N the number of files judged to be none, and n how many of these stand above the target; targets that were not found add 0.",
  edgeCases:
    "No target: undefined. A target with no judged miss above it adds 1. Without any judged miss it equals R, so it says something of its own only once people have judged predictions.",
  citation: "Buckley and Voorhees, Retrieval Evaluation with Incomplete Information, SIGIR 2004; trec_eval, bpref",
  binary: false,
  ofCase: ({ ranking, targets, judged }) => {
    if (targets.length === 0) return null;
    const most = Math.min(judged?.nonrelevant ?? 0, targets.length);
    let above = 0;
    let total = 0;
    for (const [rank, target] of ranking.entries()) {
      if (target >= 0) total += above === 0 ? 1 : 1 - Math.min(above, targets.length) / most;
      else if (judged?.ranks[rank] === "judged") above++;
    }
    return total / targets.length;
  },
};
