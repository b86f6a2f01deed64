/** Stage `bootstrap`: intervals of every figure in every view, by resampling the cases. Cached as a whole. */
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { wholeStage } from "../engine/contract.js";
import type { IntervalRow } from "../scoring/contract.js";
import { CLUSTERS, clustersOf, FEW_CLUSTERS } from "../scoring/design.js";
import { DEFAULT_BOOTSTRAP, MOST_SAMPLES, type ResampleMemo, viewIntervals } from "../scoring/intervals.js";
import { viewsOf } from "../scoring/views.js";
import { INTERVAL_METHODS } from "../statistics/interval-methods.js";
import { measuresOf } from "./measures.js";
import { loadScores } from "./scored-input.js";

const configSchema = z.strictObject({
  samples: z.number().int().min(1).max(MOST_SAMPLES).default(DEFAULT_BOOTSTRAP.samples).describe("Number of resamples"),
  seed: z.number().int().nonnegative().default(DEFAULT_BOOTSTRAP.seed).describe("Seed of the random numbers"),
  level: z.number().gt(0).lt(1).default(DEFAULT_BOOTSTRAP.level).describe("Coverage of the intervals"),
  method: z
    .enum(INTERVAL_METHODS)
    .default(DEFAULT_BOOTSTRAP.method)
    .describe("How bounds are read off the resamples: percentile, basic, bca"),
  cluster: z
    .enum(CLUSTERS)
    .default("none")
    .describe("What is drawn: none (cases), repository, or change (issues that share a pull request)"),
  answers: z.boolean().default(false).describe("Where cases have several answers, draw among these too"),
});

/** Meta of the output: how the intervals were made, and of which scores. */
export const intervalsMetaSchema = z.object({
  samples: z.number(),
  seed: z.number(),
  level: z.number(),
  method: z.enum(INTERVAL_METHODS),
  cluster: z.enum(CLUSTERS).default("none"),
  answers: z.boolean().default(false),
  /** Digest of the scores that they belong to. */
  scores: z.string(),
});

export const bootstrapStage = wholeStage<z.infer<typeof configSchema>>({
  kind: "bootstrap",
  summary: "Confidence intervals by resampling the cases",
  config: configSchema,
  produces: "intervals",
  consumes: { scores: "one" },
  shape: "whole",
  version: 3,
  precious: false,
  async run(config, inputs, tools, signal) {
    const scores = inputs.one("scores");
    const { meta, cases } = await loadScores(scores, tools);
    const measures = measuresOf(meta.measures);
    const rows: IntervalRow[] = [];
    const memo: ResampleMemo = [];
    if (config.cluster !== "none") {
      const clusters = clustersOf(viewsOf(cases, meta)[0]?.rows ?? [], config.cluster).length;
      if (clusters < FEW_CLUSTERS) {
        tools.warn(
          `the headline's cases form ${clusters} clusters (cluster: ${config.cluster}): with fewer than ${FEW_CLUSTERS}, intervals are too narrow`,
        );
      }
    }
    for (const view of viewsOf(cases, meta)) {
      // Ten thousand cases keep the processor busy for a while: between views an interruption must get through.
      await setImmediate();
      signal.throwIfAborted();
      rows.push(...viewIntervals(view, measures, config, meta.rules.engine, undefined, memo));
    }
    return {
      ok: true,
      value: {
        items: rows.map((row) => ({ id: `${row.view} ${row.name}`, value: row })),
        meta: { ...config, scores: scores.digest },
      },
    };
  },
});
