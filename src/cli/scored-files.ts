/** The files of cells that were scored without a pipeline: the same as a run's, but without a time, so that the same input gives the same bytes. */
import type { Measure } from "../measures/contract.js";
import { type Cell, reportJson, resultsJson } from "../report/json.js";
import { fileStem } from "../report/labels.js";
import { markdownReport } from "../report/markdown.js";
import { type BootstrapSettings, intervalRows } from "../scoring/intervals.js";
import type { Scored } from "../scoring/rule-difference.js";
import { summarise } from "../scoring/summary.js";
import { viewsOf } from "../scoring/views.js";

/** Scores with their intervals and their summary. */
export function summarisedCell(
  label: string,
  { meta, cases }: Scored,
  measures: readonly Measure[],
  bootstrap: BootstrapSettings,
): Cell {
  const rows = intervalRows(viewsOf(cases, meta), measures, bootstrap, meta.rules.engine);
  return { label, meta, cases, summary: summarise(cases, meta, measures, { settings: bootstrap, rows }) };
}

const NO_FACTS = { generatedAt: null, datasetFile: null };

/** One report per cell, `results.json`, `report.md`. */
export function scoredFiles(
  cells: readonly Cell[],
  measures: readonly Measure[],
): { readonly name: string; readonly text: string }[] {
  const names = new Map(
    cells.map(({ label, meta }) => [label, `${fileStem(meta.dataset.project_name)}__${fileStem(label)}_eval.json`] as const),
  );
  const definitions = new Map(measures.map(({ name, definition }) => [name, definition]));
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  return [
    ...cells.map((cell) => ({ name: names.get(cell.label) ?? "report.json", text: json(reportJson(cell, NO_FACTS)) })),
    { name: "results.json", text: json(resultsJson(cells, names, NO_FACTS)) },
    { name: "report.md", text: markdownReport(cells, { ...NO_FACTS, definitions }) },
  ];
}
