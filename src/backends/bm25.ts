/**
 * `bm25`: the lexical baseline that a retrieval system has to beat. One document per file: its text, and its path once, so
 * that the name of a file counts like a word in it.
 */
import * as z from "zod";
import type { Corpus } from "../corpus/contract.js";
import { bestLines } from "./best-lines.js";
import { Bm25Index } from "./bm25-index.js";
import type { BackendKind } from "./contract.js";
import { corpusMemo } from "./corpus-memo.js";
import { completed, isBinary, type RankedFile, rankedResponse } from "./ranked.js";
import { tokenize } from "./tokenize.js";

const options = z.strictObject({
  k1: z.number().min(0).default(1.2).describe("How soon repetition of a term in a file stops counting; 0 = presence only."),
  b: z.number().min(0).max(1).default(0.75).describe("How much long files are held back: 0 not at all, 1 in full."),
  top: z.number().int().min(1).default(15).describe("Longest list of files to answer with."),
  lines: z
    .number()
    .int()
    .min(0)
    .default(40)
    .describe("Of each file, the best stretch of at most so many lines is answered with; 0 = no lines."),
});
type Options = z.infer<typeof options>;

async function buildIndex(corpus: Corpus): Promise<Bm25Index> {
  const index = new Bm25Index();
  for (const { path } of corpus.tree.files) {
    const text = await corpus.text(path);
    const terms = tokenize(path);
    if (!isBinary(text)) for (const term of tokenize(text)) terms.push(term);
    index.add(path, terms);
  }
  return index;
}

const indexOf = corpusMemo(buildIndex);

async function withLines(
  files: readonly RankedFile[],
  weights: ReadonlyMap<string, number>,
  corpus: Corpus,
  size: number,
): Promise<readonly RankedFile[]> {
  if (size === 0) return files;
  const found: RankedFile[] = [];
  for (const file of files) {
    const text = await corpus.text(file.path);
    const lines = isBinary(text) ? null : bestLines(text, weights, size);
    found.push(lines === null ? file : { ...file, lines });
  }
  return found;
}

export const bm25: BackendKind<Options> = {
  kind: "bm25",
  summary: "Okapi BM25 over whole files, with identifiers split into words.",
  // 2: lines.
  version: 2,
  options,
  // `last_line`: stretches of one line once passed over the last line of a file; such answers are asked anew.
  identityOf: ({ k1, b, top, lines }) => ({ k1, b, top, lines, ...(lines === 1 ? { last_line: true } : {}) }),
  needsCorpus: true,
  readsTruth: false,
  readsDataset: false,
  prompt: "text",
  concurrency: () => 4,
  open: async (parameters) => ({
    ask: async ({ prompt, corpus }) => {
      if (corpus === undefined) throw new Error("bm25 was asked without a source tree");
      const index = await indexOf(corpus);
      const query = tokenize(prompt);
      const files = index.search(query, parameters);
      return completed(rankedResponse(await withLines(files, index.weights(query), corpus, parameters.lines)));
    },
    close: async () => {},
  }),
};
