/**
 * Stage `report`: joins the cells of a run into files for people and programs: one JSON per cell (a superset of the original's
 * report), `results.json` with the figures of all cells, and `report.md`. It computes nothing that the scores don't hold.
 */
import * as z from "zod";
import type { Json } from "../base/json.js";
import { type LabelledOutput, type OutFile, type StageInputs, type StageTools, wholeStage } from "../engine/contract.js";
import { type Cell, type ReportFacts, reportJson, resultsJson } from "../report/json.js";
import { reportFileName, uniqueLabels } from "../report/labels.js";
import { markdownReport } from "../report/markdown.js";
import { intervalSchema } from "../scoring/contract.js";
import { type Bootstrapped, summarise } from "../scoring/summary.js";
import type { Summary } from "../scoring/summary-schema.js";
import { intervalsMetaSchema } from "./bootstrap.js";
import { measureNames, measuresOf } from "./measures.js";
import { loadScores } from "./scored-input.js";

const FORMATS = ["json", "markdown"] as const;

const configSchema = z.strictObject({
  formats: z
    .array(z.enum(FORMATS))
    .min(1)
    .default([...FORMATS])
    .describe("What to write: json, markdown"),
  measures: measureNames.optional().describe("Which of the scored measures to show, in this order; all by default"),
});
type Config = z.infer<typeof configSchema>;

/** Meta of the output: what the terminal shows and `run --json` prints. Names of files still hold `{timestamp}`. */
export interface ReportMeta {
  /** Labels in the order of the pipeline: stored objects are sorted and lose it (`summariesInOrder` gives it back). */
  readonly labels: readonly string[];
  readonly summary: Readonly<Record<string, Summary>>;
  readonly reports: readonly string[];
}

export const reportStage = wholeStage<Config>({
  kind: "report",
  summary: "Writes the report of a run",
  config: configSchema,
  produces: "report",
  consumes: { scores: "some", intervals: "many" },
  shape: "whole",
  version: 1,
  precious: false,
  keyConfig: ({ formats, measures }) => ({
    formats: [...new Set(formats)].sort(),
    measures: measures === undefined ? null : measuresOf(measures).map(({ name }) => name),
  }),
  async run(config, inputs, tools) {
    const cells = await cellsOf(config, inputs, tools);
    if (!cells.ok) return cells;
    const facts: ReportFacts = {
      generatedAt: new Date(tools.clock.now()).toISOString(),
      datasetFile: null,
      ...(tools.versions === undefined ? {} : { versions: tools.versions }),
    };
    const files = filesOf(cells.value, config.formats, facts);
    const summary = Object.fromEntries(cells.value.map((cell) => [cell.label, cell.summary]));
    const labels = cells.value.map(({ label }) => label);
    const meta: ReportMeta = { labels, summary, reports: files.map(({ name }) => name) };
    return {
      ok: true,
      value: {
        items: cells.value.map((cell) => ({ id: cell.label, value: cell.summary })),
        meta: JSON.parse(JSON.stringify(meta)) as Json,
        files,
      },
    };
  },
});

async function cellsOf(
  config: Config,
  inputs: StageInputs,
  tools: StageTools,
): Promise<{ readonly ok: true; readonly value: Cell[] } | { readonly ok: false; readonly message: string }> {
  const scores = inputs.many("scores");
  const intervals = inputs.many("intervals");
  const loaded = [];
  for (const { stage, label, output } of scores) {
    const { meta, cases } = await loadScores(output, tools);
    loaded.push({ stage, label, output, meta, cases });
  }
  const labels = uniqueLabels(
    loaded.map(({ stage, label, meta }) => ({ label: label ?? meta.backend, rules: meta.rules.name, stage })),
  );
  const cells: Cell[] = [];
  for (const [index, { output, meta, cases }] of loaded.entries()) {
    const absent = measuresOf(config.measures ?? []).filter(({ name }) => !meta.measures.includes(name));
    if (absent.length > 0) {
      const names = absent.map(({ name }) => name).join(", ");
      return {
        ok: false,
        message: `the report asks for ${names}, which the scores do not have: add it to the measures of the score stage`,
      };
    }
    const measures = measuresOf(config.measures ?? meta.measures);
    const bootstrapped = await intervalsOf(output.digest, intervals, tools);
    cells.push({ label: labels[index] ?? meta.backend, meta, cases, summary: summarise(cases, meta, measures, bootstrapped) });
  }
  return { ok: true, value: cells };
}

/**
 * The intervals that say they were made of exactly these scores. A label would not do: the same cell may be scored by two rule
 * sets, and bounds of the one must never stand beside a value of the other.
 */
async function intervalsOf(
  scores: string,
  intervals: readonly LabelledOutput[],
  tools: StageTools,
): Promise<Bootstrapped | null> {
  for (const { output } of intervals) {
    const meta = intervalsMetaSchema.safeParse(output.meta);
    if (!meta.success || meta.data.scores !== scores) continue;
    const { samples, seed, level, method } = meta.data;
    const rows = z.array(intervalSchema).parse(await tools.load(output.items));
    return { settings: { samples, seed, level, method }, rows };
  }
  return null;
}

function filesOf(cells: readonly Cell[], formats: readonly (typeof FORMATS)[number][], facts: ReportFacts): OutFile[] {
  const files: OutFile[] = [];
  const reports = new Map<string, string>();
  if (formats.includes("json")) {
    for (const cell of cells) {
      const name = reportFileName(cell.meta.dataset.project_name, cell.label);
      reports.set(cell.label, name);
      files.push({ root: "run", name, text: `${JSON.stringify(reportJson(cell, facts), null, 2)}\n` });
    }
    files.push({ root: "run", name: "results.json", text: `${JSON.stringify(resultsJson(cells, reports, facts), null, 2)}\n` });
  }
  if (formats.includes("markdown")) {
    const names = new Set(cells.flatMap(({ summary }) => Object.keys(summary.measures)));
    const definitions = new Map(measuresOf([...names]).map(({ name, definition }) => [name, definition]));
    files.push({ root: "run", name: "report.md", text: markdownReport(cells, { ...facts, definitions }) });
  }
  return files;
}
