/**
 * Stage `report`: joins the cells of a run into files for people and programs: one JSON per cell (a superset of the original's
 * report), `results.json` with the figures of all cells, `report.md`, and `report.html`. It computes nothing that the scores don't hold.
 */
import * as z from "zod";
import type { Json } from "../base/json.js";
import { cardMarkdown } from "../dataset/card.js";
import { type LabelledOutput, type OutFile, type StageInputs, type StageTools, wholeStage } from "../engine/contract.js";
import { comparisonMarkdown } from "../report/comparison-text.js";
import { htmlPage } from "../report/html/page.js";
import { type Cell, type ReportFacts, reportJson, resultsJson } from "../report/json.js";
import { reportFileName } from "../report/labels.js";
import { markdownReport } from "../report/markdown.js";
import type { Comparison } from "../scoring/compare.js";
import { intervalSchema } from "../scoring/contract.js";
import { type Bootstrapped, summarise } from "../scoring/summary.js";
import type { Summary } from "../scoring/summary-schema.js";
import { intervalsMetaSchema } from "./bootstrap.js";
import { measureNames, measuresOf } from "./measures.js";
import { loadCells } from "./scored-input.js";

const FORMATS = ["json", "markdown", "html"] as const;
/** A page takes seconds (comparisons), so it is made where it is asked for. */
const DEFAULT_FORMATS = ["json", "markdown"] as const;

const configSchema = z.strictObject({
  formats: z
    .array(z.enum(FORMATS))
    .min(1)
    .default([...DEFAULT_FORMATS])
    .describe("What to write: json, markdown, html (one file to look at, offline)"),
  measures: measureNames.optional().describe("Which of the scored measures to show, in this order; all by default"),
});
type Config = z.infer<typeof configSchema>;

/** Meta of the output: what the terminal shows and `run --json` prints. Names of files still hold `{timestamp}`. */
export interface ReportMeta {
  /** Labels in the order of the pipeline: stored objects are sorted and lose it (`summariesInOrder` gives it back). */
  readonly labels: readonly string[];
  readonly summary: Readonly<Record<string, Summary>>;
  readonly reports: readonly string[];
  /** What each cell was made of, for tables that outlive the run. */
  readonly provenance: Readonly<Record<string, { readonly dataset: string; readonly identity: unknown }>>;
}

export const reportStage = wholeStage<Config>({
  kind: "report",
  summary: "Writes the report of a run",
  config: configSchema,
  produces: "report",
  consumes: { scores: "some", intervals: "many", comparison: "many" },
  shape: "whole",
  version: 7,
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
    const comparisons: Comparison[] = [];
    for (const { output } of inputs.many("comparison")) {
      // Made by our own compare stage, whose items are checked against their digest.
      for (const value of await tools.load(output.items)) comparisons.push(value as Comparison);
    }
    const files = filesOf(cells.value, config.formats, facts, comparisons);
    const summary = Object.fromEntries(cells.value.map((cell) => [cell.label, cell.summary]));
    const labels = cells.value.map(({ label }) => label);
    const provenance = Object.fromEntries(
      cells.value.map(({ label, meta: { dataset, identity } }) => [
        label,
        { dataset: dataset.digest, identity: identity ?? null },
      ]),
    );
    const meta: ReportMeta = { labels, summary, reports: files.map(({ name }) => name), provenance };
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
  const intervals = inputs.many("intervals");
  const cells: Cell[] = [];
  for (const { label, output, meta, cases } of await loadCells(inputs, tools)) {
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
    cells.push({ label, meta, cases, summary: summarise(cases, meta, measures, bootstrapped) });
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
    const { scores: _, ...settings } = meta.data;
    const rows = z.array(intervalSchema).parse(await tools.load(output.items));
    return { settings, rows };
  }
  return null;
}

function filesOf(
  cells: readonly Cell[],
  formats: readonly (typeof FORMATS)[number][],
  facts: ReportFacts,
  comparisons: readonly Comparison[],
): OutFile[] {
  const files: OutFile[] = [];
  const reports = new Map<string, string>();
  if (formats.includes("json")) {
    for (const cell of cells) {
      const name = reportFileName(cell.meta.dataset.project_name, cell.label);
      reports.set(cell.label, name);
      files.push({ root: "run", name, text: `${JSON.stringify(reportJson(cell, facts), null, 2)}\n` });
    }
    files.push({
      root: "run",
      name: "results.json",
      text: `${JSON.stringify(resultsJson(cells, reports, facts), null, 2)}\n`,
      // It names the reports beside it.
      fill: true,
    });
  }
  if (formats.includes("markdown")) {
    const names = new Set(cells.flatMap(({ summary }) => Object.keys(summary.measures)));
    const definitions = new Map(measuresOf([...names]).map(({ name, definition }) => [name, definition]));
    files.push({
      root: "run",
      name: "report.md",
      text: [markdownReport(cells, { ...facts, definitions }), ...comparisons.map((one) => comparisonMarkdown(one, 2))].join(
        "\n",
      ),
    });
  }
  files.push(...cardFiles(cells, formats));
  if (formats.includes("html")) {
    const compared = comparisons.length > 0 ? { comparisons } : ({ work: "stage" } as const);
    files.push({ root: "run", name: "report.html", text: htmlPage(cells, facts, compared) });
  }
  return files;
}

/** The card of each data set of the run, `dataset-card.json` and `.md`; of several, each with its digest's beginning in the name. */
function cardFiles(cells: readonly Cell[], formats: readonly (typeof FORMATS)[number][]): OutFile[] {
  const cards = new Map(cells.flatMap(({ meta: { card } }) => (card === undefined ? [] : [[card.dataset_digest, card]])));
  return [...cards].flatMap(([digest, card]) => {
    const stem = cards.size === 1 ? "dataset-card" : `dataset-card-${digest.slice(0, 12)}`;
    const json: OutFile = { root: "run", name: `${stem}.json`, text: `${JSON.stringify(card, null, 2)}\n` };
    const markdown: OutFile = { root: "run", name: `${stem}.md`, text: cardMarkdown(card) };
    return [...(formats.includes("json") ? [json] : []), ...(formats.includes("markdown") ? [markdown] : [])];
  });
}
