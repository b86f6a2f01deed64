/** `oracle`: the truth in its best order. A self-test of the whole pipeline: every measure that can be 1 must be 1. */
import * as z from "zod";
import type { BackendKind } from "./contract.js";
import { comparePaths, completed, type LineRange, rankedResponse } from "./ranked.js";

const options = z.strictObject({});

export const oracle: BackendKind<z.infer<typeof options>> = {
  kind: "oracle",
  summary: "The truth itself: P, R, F1, RR and Hit@k must be 1.",
  // 2: lines.
  version: 2,
  options,
  identityOf: () => ({}),
  needsCorpus: false,
  readsTruth: true,
  readsDataset: false,
  prompt: "none",
  concurrency: () => 4,
  open: async () => ({
    ask: async ({ truth }) => {
      if (truth === undefined) throw new Error("oracle was asked without the truth");
      const best = [...truth].sort((a, b) => b.grade - a.grade || comparePaths(a.path, b.path));
      return completed(rankedResponse(best.map(({ path, ranges }) => ({ path, ...spanOf(ranges) }))));
    },
    close: async () => {},
  }),
};

/** From the first changed line to the last: an entry of an answer has one range. */
function spanOf(ranges: readonly LineRange[] | null): { lines?: LineRange } {
  if (ranges === null || ranges.length === 0) return {};
  return { lines: [Math.min(...ranges.map(([from]) => from)), Math.max(...ranges.map(([, to]) => to))] };
}
