/**
 * `random`: what pure chance gives. Many independent draws per case, so that a measure's mean over them stands beside the
 * closed-form expectation instead of one lucky or unlucky list.
 */
import * as z from "zod";
import { type RandomStream, randomStream } from "../base/random.js";
import type { BackendKind, RawAnswer } from "./contract.js";
import { completed } from "./ranked.js";

const options = z.strictObject({
  strategy: z
    .enum(["size-matched", "uniform"])
    .default("size-matched")
    .describe(
      "`size-matched`: as many files as the case has targets in the tree; `uniform`: a random number from n_min to n_max.",
    ),
  draws: z.number().int().min(1).max(100_000).default(100).describe("Independent lists per case."),
  seed: z.number().int().default(42).describe("Seed of the generator; each case has a stream of its own."),
  n_min: z.number().int().min(0).default(1).describe("`uniform`: smallest list."),
  n_max: z.number().int().min(0).nullable().default(null).describe("`uniform`: longest list; null = the whole tree."),
});
type Options = z.infer<typeof options>;

/** Paths in one answer beyond which a person should hear that the answers get large. */
const MANY_PATHS = 1_000_000;

/** `size` of the paths, in random order, without replacement. Shuffles `pool` in place: any order of it is as good a start. */
function draw(pool: string[], size: number, random: RandomStream): string[] {
  for (let i = 0; i < size; i++) {
    const j = i + random.below(pool.length - i);
    const chosen = pool[j] ?? "";
    pool[j] = pool[i] ?? "";
    pool[i] = chosen;
  }
  return pool.slice(0, size);
}

function failed(error: string): RawAnswer {
  return { status: "failed", response: "", error };
}

export const random: BackendKind<Options> = {
  kind: "random",
  summary: "Files drawn at random, many times per case, from the case's source tree.",
  version: 1,
  options,
  identityOf: ({ strategy, draws, seed, n_min, n_max }) =>
    strategy === "uniform" ? { strategy, draws, seed, n_min, n_max } : { strategy, draws, seed },
  needsCorpus: true,
  readsTruth: true,
  readsDataset: false,
  prompt: "none",
  concurrency: () => 4,
  open: async ({ strategy, draws, seed, n_min, n_max }, { warn }) => {
    let warned = false;
    return {
      ask: async ({ id, repeat, corpus, truth }) => {
        if (corpus === undefined || truth === undefined) throw new Error("random was asked without a source tree or truth");
        // Sorted, so that equal file lists give equal draws whatever order they came in.
        const pool = corpus.tree.files.map(({ path }) => path).sort();
        if (pool.length === 0) return failed("the source tree has no files to draw from: check `include` of the checkout stage");
        const smallest = strategy === "size-matched" ? truth.length : n_min;
        const largest = strategy === "size-matched" ? truth.length : Math.min(n_max ?? pool.length, pool.length);
        if (smallest > largest) {
          return failed(`n_min is ${n_min}, but only up to ${largest} files can be drawn: lower n_min or raise n_max`);
        }
        if (!warned && (draws * (smallest + largest)) / 2 > MANY_PATHS) {
          warned = true;
          warn(`random: ${draws} draws of up to ${largest} files make large answers; set n_max or fewer draws`);
        }
        const stream = randomStream([seed, id, repeat]);
        const lists = Array.from({ length: draws }, () =>
          draw(pool, smallest + (largest > smallest ? stream.below(largest - smallest + 1) : 0), stream),
        );
        // The sizes that a draw may have, all equally likely: what the closed-form expectation is taken over.
        const sizes = Array.from({ length: largest - smallest + 1 }, (_, i) => smallest + i);
        return completed(JSON.stringify({ draws: lists, pool: pool.length, sizes }));
      },
      close: async () => {},
    };
  },
};
