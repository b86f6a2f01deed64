/**
 * What is wrong with the data set, beside the figures that rest on it: the worst findings, and every system's figures without the cases that
 * they concern. Terse; `bench lint` has the examples and the rest.
 */
import type { Measure } from "../measures/contract.js";
import { parseMeasure } from "../measures/registry.js";
import type { DatasetFinding } from "../scoring/contract.js";
import { pointOf, pooledCounts } from "../scoring/intervals.js";
import { ratios } from "../scoring/view-scores.js";
import { type ViewRow, viewsOf } from "../scoring/views.js";
import { markdownTable, markdownText } from "./escape.js";
import type { Cell } from "./json.js";
import { plural, ratio } from "./numbers.js";

const MOST_FINDINGS = 12;
/** More columns than this no page holds. */
const MOST_CELLS = 4;

export function datasetSection(cells: readonly Cell[]): string {
  const groups = new Map<string, Cell[]>();
  for (const cell of cells) {
    if (cell.meta.dataset.findings === undefined) continue;
    const key = JSON.stringify([cell.meta.dataset.digest, cell.meta.order.length, cell.meta.dataset.findings.length]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [cell]);
    else group.push(cell);
  }
  const most = Math.max(3, Math.floor(MOST_FINDINGS / Math.max(1, groups.size)));
  const tables = [...groups.values()].flatMap((group) => {
    const table = findingsTable(group, most);
    if (table === "") return [];
    const name = groups.size > 1 ? [`### ${markdownText(group[0]?.meta.dataset.project_name ?? "")}`] : [];
    return [[...name, table].join("\n\n")];
  });
  return tables.length === 0 ? "" : ["## Data set", ...tables].join("\n\n");
}

function findingsTable(cells: readonly Cell[], most: number): string {
  const [first] = cells;
  const findings = first?.meta.dataset.findings ?? [];
  if (first === undefined || findings.length === 0) return "";
  const shown = findings.slice(0, most);
  // Baselines stand last, and are the first to go.
  const columns = cells.slice(0, MOST_CELLS).map((cell) => columnOf(cell));
  const header = ["finding", "", "cases", ...columns.map(({ title }) => title)];
  const rows = shown.map((finding) => [
    `${finding.name} (${finding.severity})`,
    markdownText(finding.what, 300),
    finding.cases.length === 0 ? "-" : String(finding.cases.length),
    ...columns.map(({ without }) => without(finding)),
  ]);
  const more =
    findings.length > shown.length
      ? ` ${plural(findings.length - shown.length, "lesser finding")} more: \`bench lint\` has them all.`
      : "";
  const cut = cells.length > MOST_CELLS ? ` ${plural(cells.length - MOST_CELLS, "backend")} more have no column here.` : "";
  return [
    markdownTable(header, rows, 2),
    `Each figure is what the backend would score without the cases of that finding: the mean of the cases, and the pooled F1.${cut}${more}`,
  ].join("\n\n");
}

interface Column {
  readonly title: string;
  readonly without: (finding: DatasetFinding) => string;
}

function columnOf({ label, meta, cases, summary }: Cell): Column {
  const rows = viewsOf(cases, meta)[0]?.rows ?? [];
  const parsed = parseMeasure(summary.measure_order[0] ?? "");
  const measure = parsed.ok ? parsed.value : null;
  const all = figures(rows, measure);
  return {
    title: `${markdownText(label)}: ${measure === null ? "" : `${markdownText(measure.name)}, `}pooled F1 (${all} with all)`,
    without: ({ cases: concerned }) => {
      if (concerned.length === 0) return "-";
      const ids = new Set(concerned);
      const rest = rows.filter(({ id }) => !ids.has(id));
      return rest.length === 0 ? "no case left" : figures(rest, measure);
    },
  };
}

function figures(rows: readonly ViewRow[], measure: Measure | null): string {
  const { tp, fp, fn } = pooledCounts(rows);
  const pooled = ratio(ratios(tp, fp, fn).f1);
  return measure === null ? pooled : `${ratio(pointOf(rows, measure).value)}, ${pooled}`;
}
