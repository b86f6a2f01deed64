/**
 * `bm25`: the lexical baseline that a retrieval system has to beat. One document per file: its text, and its path once, so
 * that the name of a file counts like a word in it.
 */
import * as z from "zod";
import type { Corpus } from "../corpus/contract.js";
import { Bm25Index } from "./bm25-index.js";
import type { BackendKind } from "./contract.js";
import { corpusMemo } from "./corpus-memo.js";
import { completed, rankedResponse } from "./ranked.js";
import { tokenize } from "./tokenize.js";

const options = z.strictObject({
  k1: z.number().min(0).default(1.2).describe("How soon repetition of a term in a file stops counting; 0 = presence only."),
  b: z.number().min(0).max(1).default(0.75).describe("How much long files are held back: 0 not at all, 1 in full."),
  top: z.number().int().min(1).default(15).describe("Longest list of files to answer with."),
});
type Options = z.infer<typeof options>;

/** Files that are no text (a NUL early on, as Git decides it) are found by their path alone. */
const BINARY_PROBE = 8000;

async function buildIndex(corpus: Corpus): Promise<Bm25Index> {
  const index = new Bm25Index();
  for (const { path } of corpus.tree.files) {
    const text = await corpus.text(path);
    const terms = tokenize(path);
    if (!text.slice(0, BINARY_PROBE).includes("\0")) for (const term of tokenize(text)) terms.push(term);
    index.add(path, terms);
  }
  return index;
}

const indexOf = corpusMemo(buildIndex);

export const bm25: BackendKind<Options> = {
  kind: "bm25",
  summary: "Okapi BM25 over whole files, with identifiers split into words.",
  version: 1,
  options,
  identityOf: ({ k1, b, top }) => ({ k1, b, top }),
  needsCorpus: true,
  readsTruth: false,
  readsDataset: false,
  prompt: "text",
  concurrency: () => 4,
  open: async (parameters) => ({
    ask: async ({ prompt, corpus }) => {
      if (corpus === undefined) throw new Error("bm25 was asked without a source tree");
      const index = await indexOf(corpus);
      return completed(rankedResponse(index.search(tokenize(prompt), parameters)));
    },
    close: async () => {},
  }),
};
