/** `lsa`: latent semantic analysis over whole files. Finds files that use other words for what the issue says, as far as the tree shows it. */
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import type { Corpus } from "../corpus/contract.js";
import type { BackendKind } from "./contract.js";
import { type CorpusMemo, corpusMemo } from "./corpus-memo.js";
import { LsaIndex, type LsaParameters } from "./lsa-index.js";
import { completed, isBinary, rankedResponse } from "./ranked.js";
import { tokenize } from "./tokenize.js";

const options = z.strictObject({
  dimensions: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(100)
    .describe("Dimensions of the space; fewer where the tree has no more."),
  iterations: z.number().int().min(1).max(100).default(8).describe("Rounds of the subspace iteration: more are more exact."),
  seed: z.number().int().default(42).describe("Seed of the random start; with enough iterations it does not matter."),
  min_files: z.number().int().min(1).default(2).describe("Terms that fewer files have are left out."),
  top: z.number().int().min(1).default(15).describe("Longest list of files to answer with."),
});
type Options = z.infer<typeof options>;

async function build(corpus: Corpus, parameters: LsaParameters): Promise<LsaIndex> {
  const documents: { path: string; terms: string[] }[] = [];
  for (const { path } of corpus.tree.files) {
    const text = await corpus.text(path);
    documents.push({ path, terms: [...tokenize(path), ...(isBinary(text) ? [] : tokenize(text))] });
  }
  return LsaIndex.build(documents, parameters, () => setImmediate());
}

/** Other parameters make another space: one memory per set of them, shared by all cells that have it. */
const memos = new Map<string, CorpusMemo<LsaIndex>>();

function indexOf(corpus: Corpus, parameters: LsaParameters): Promise<LsaIndex> {
  const name = JSON.stringify(parameters);
  const memo = memos.get(name) ?? corpusMemo((tree) => build(tree, parameters));
  memos.set(name, memo);
  return memo(corpus);
}

export const lsa: BackendKind<Options> = {
  kind: "lsa",
  summary: "Latent semantic analysis (truncated SVD of TF-IDF) over whole files.",
  version: 1,
  options,
  identityOf: ({ dimensions, iterations, seed, min_files, top }) => ({ dimensions, iterations, seed, min_files, top }),
  needsCorpus: true,
  readsTruth: false,
  readsDataset: false,
  prompt: "text",
  concurrency: () => 4,
  open: async ({ top, dimensions, iterations, seed, min_files }) => ({
    ask: async ({ prompt, corpus }) => {
      if (corpus === undefined) throw new Error("lsa was asked without a source tree");
      const index = await indexOf(corpus, { dimensions, iterations, seed, min_files });
      return completed(rankedResponse(index.search(tokenize(prompt), top)));
    },
    close: async () => {},
  }),
};
