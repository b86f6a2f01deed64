/**
 * `names`: the files whose path or class the text itself names. It shows how much of a benchmark is answered by its questions; a case
 * in which nothing is named is honestly answered with the empty list.
 */
import * as z from "zod";
import type { BackendKind } from "./contract.js";
import { corpusMemo } from "./corpus-memo.js";
import { NameIndex } from "./name-index.js";
import { completed, rankedResponse } from "./ranked.js";

const options = z.strictObject({
  top: z.number().int().min(1).default(15).describe("Longest list of files to answer with."),
});
type Options = z.infer<typeof options>;

const indexOf = corpusMemo(async (corpus) => new NameIndex(corpus.tree.files.map(({ path }) => path)));

export const names: BackendKind<Options> = {
  kind: "names",
  summary: "The files whose path, file name or class name the issue's text names.",
  // 2: lines.
  version: 2,
  options,
  identityOf: ({ top }) => ({ top }),
  needsCorpus: true,
  readsTruth: false,
  readsDataset: false,
  prompt: "text",
  concurrency: () => 4,
  open: async ({ top }) => ({
    ask: async ({ prompt, corpus }) => {
      if (corpus === undefined) throw new Error("names was asked without a source tree");
      const mentions = (await indexOf(corpus)).mentions(prompt).slice(0, top);
      const details = {
        mentions: mentions.map(({ path, kind, at, lines }) => ({ path, kind, at, ...(lines === undefined ? {} : { lines }) })),
      };
      return completed(rankedResponse(mentions), details);
    },
    close: async () => {},
  }),
};
