/**
 * Stage `compare`: the cells of a run against each other, case by case. Gives `compare.json` and `compare.md`, and a section of the
 * report where a report stage needs it.
 */
import * as z from "zod";
import type { Json } from "../base/json.js";
import { wholeStage } from "../engine/contract.js";
import { comparisonMarkdown } from "../report/comparison-text.js";
import { compareRuns, DEFAULT_COMPARE } from "../scoring/compare.js";
import { CLUSTERS } from "../scoring/design.js";
import { MOST_SAMPLES } from "../scoring/intervals.js";
import { INTERVAL_METHODS } from "../statistics/interval-methods.js";
import { measureNames, measuresOf } from "./measures.js";
import { loadCells } from "./scored-input.js";

const configSchema = z.strictObject({
  measures: measureNames.optional().describe("The declared family; all that the cells share by default"),
  baseline: z.string().min(1).optional().describe("Label of the cell that all others are compared with; every pair by default"),
  common: z.boolean().default(false).describe("Over different data sets, compare the cases that all of them have"),
  samples: z
    .number()
    .int()
    .min(1)
    .max(MOST_SAMPLES)
    .default(DEFAULT_COMPARE.samples)
    .describe("Resamples and drawn sign patterns"),
  seed: z.number().int().nonnegative().default(DEFAULT_COMPARE.seed).describe("Seed of the random numbers"),
  method: z.enum(INTERVAL_METHODS).default(DEFAULT_COMPARE.method).describe("Interval of the difference: percentile, basic, bca"),
  cluster: z
    .enum(CLUSTERS)
    .default(DEFAULT_COMPARE.cluster)
    .describe("What is drawn: none (cases), repository, or change (issues that share a pull request)"),
  alpha: z.number().gt(0).lt(1).default(DEFAULT_COMPARE.alpha).describe("Chance of a false claim in the whole family"),
});

export const compareStage = wholeStage<z.infer<typeof configSchema>>({
  kind: "compare",
  summary: "Compares the cells of a run case by case",
  config: configSchema,
  produces: "comparison",
  consumes: { scores: "some" },
  shape: "whole",
  version: 1,
  precious: false,
  keyConfig: (config) => ({
    ...config,
    measures: config.measures === undefined ? null : measuresOf(config.measures).map(({ name }) => name),
  }),
  async run(config, inputs, tools) {
    const cells = await loadCells(inputs, tools);
    const { baseline, common, measures: names, ...settings } = config;
    const labels = cells.map(({ label }) => label);
    if (cells.length < 2) return { ok: false, message: "there is a single cell; a comparison needs two or more" };
    if (baseline !== undefined && !labels.includes(baseline)) {
      return { ok: false, message: `baseline: ${baseline} is none of the cells (${labels.join(", ")})` };
    }
    const [first, ...others] = cells;
    const shared = (first?.meta.measures ?? []).filter((name) => others.every(({ meta }) => meta.measures.includes(name)));
    const chosen = names ?? shared;
    if (chosen.length === 0) return { ok: false, message: "the cells share no measure: name some under `measures`" };
    // The baseline is always the first of a pair, so that what is better than it gains.
    const ordered =
      baseline === undefined ? cells : [...cells].sort((a, b) => Number(b.label === baseline) - Number(a.label === baseline));
    const compared = compareRuns(ordered, measuresOf(chosen), settings, {
      common,
      ...(baseline === undefined ? {} : { pair: (a: string, b: string) => a === baseline || b === baseline }),
    });
    if (!compared.ok) return { ok: false, message: compared.error };
    const comparison = compared.value;
    return {
      ok: true,
      value: {
        items: [{ id: "comparison", value: JSON.parse(JSON.stringify(comparison)) }],
        meta: { runs: labels, measures: [...comparison.measure_order], family: comparison.family } satisfies Json,
        files: [
          { root: "run", name: "compare.json", text: `${JSON.stringify(comparison, null, 2)}\n` },
          { root: "run", name: "compare.md", text: comparisonMarkdown(comparison) },
        ],
      },
    };
  },
});
