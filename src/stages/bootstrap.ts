/** Stage `bootstrap`: intervals of every figure in every view, by resampling the cases. Cached as a whole. */
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { wholeStage } from "../engine/contract.js";
import type { IntervalRow } from "../scoring/contract.js";
import { DEFAULT_BOOTSTRAP, type ResampleMemo, viewIntervals } from "../scoring/intervals.js";
import { viewsOf } from "../scoring/views.js";
import { measuresOf } from "./measures.js";
import { loadScores } from "./scored-input.js";

/** Beyond it a run takes hours and no digit that is printed changes. */
const MOST_SAMPLES = 1_000_000;

const configSchema = z.strictObject({
  samples: z.number().int().min(1).max(MOST_SAMPLES).default(DEFAULT_BOOTSTRAP.samples).describe("Number of resamples"),
  seed: z.number().int().nonnegative().default(DEFAULT_BOOTSTRAP.seed).describe("Seed of the random numbers"),
  level: z.number().gt(0).lt(1).default(DEFAULT_BOOTSTRAP.level).describe("Coverage of the intervals"),
  method: z.enum(["percentile"]).default("percentile").describe("How bounds are read off the resamples"),
});

/** Meta of the output: how the intervals were made, and of which scores. */
export const intervalsMetaSchema = z.object({
  samples: z.number(),
  seed: z.number(),
  level: z.number(),
  method: z.enum(["percentile"]),
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
  version: 1,
  precious: false,
  async run(config, inputs, tools, signal) {
    const scores = inputs.one("scores");
    const { meta, cases } = await loadScores(scores, tools);
    const measures = measuresOf(meta.measures);
    const rows: IntervalRow[] = [];
    const memo: ResampleMemo = [];
    for (const view of viewsOf(cases, meta)) {
      // Ten thousand cases keep the processor busy for a while: between views an interruption must get through.
      await setImmediate();
      signal.throwIfAborted();
      rows.push(...viewIntervals(view, measures, config, meta.rules.engine, memo));
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
