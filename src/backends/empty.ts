/** `empty`: always the empty list. A self-test: every measure must be 0 and every outcome `abstained`. */
import * as z from "zod";
import type { BackendKind } from "./contract.js";
import { completed, rankedResponse } from "./ranked.js";

const options = z.strictObject({});

export const empty: BackendKind<z.infer<typeof options>> = {
  kind: "empty",
  summary: "The empty answer: every measure must be 0.",
  version: 1,
  options,
  identityOf: () => ({}),
  needsCorpus: false,
  readsTruth: false,
  readsDataset: false,
  prompt: "none",
  concurrency: () => 4,
  open: async () => ({ ask: async () => completed(rankedResponse([])), close: async () => {} }),
};
