/**
 * Rows that accumulate over the runs of a pipeline: one per cell, rules, data set and selection. A later run replaces the rows that it made
 * again and leaves all others, so that a focused re-run of one variant keeps the table whole; each row says which run it is from.
 */
import * as z from "zod";
import { canonicalJson, type Json } from "../base/json.js";
import type { Summary } from "../scoring/summary-schema.js";
import { markdownTable, markdownText } from "./escape.js";
import { range, ratio } from "./numbers.js";

const figureSchema = z.object({
  value: z.number().nullable(),
  lower: z.number().nullable(),
  upper: z.number().nullable(),
});

const rowSchema = z.object({
  label: z.string(),
  rules: z.string(),
  /** Digest of the data set; null where unknown. */
  dataset: z.string().nullable(),
  /** Cases that the run was about, of all that the data set has. */
  selected: z.number(),
  cases: z.number(),
  n: z.number(),
  failed: z.number(),
  measures: z.record(z.string(), figureSchema),
  measure_order: z.array(z.string()),
  /** Seconds that the answers took when they were given; null where unknown. */
  seconds: z.number().nullable(),
  cost_usd: z.number().nullable(),
  run_id: z.string(),
  finished_at: z.string(),
  bench: z.string(),
  kind: z.string().nullable(),
  identity: z.unknown(),
  params: z.record(z.string(), z.unknown()),
});
export type ResultRow = z.infer<typeof rowSchema>;

export const resultsFileSchema = z.object({ schema_version: z.literal(1), pipeline: z.string(), rows: z.array(rowSchema) });
export type ResultsFile = z.infer<typeof resultsFileSchema>;

/** What identifies the cell of a summary beside its label. */
export interface CellProvenance {
  readonly dataset: string | null;
  readonly identity: unknown;
}

export function resultRow(
  label: string,
  summary: Summary,
  provenance: CellProvenance,
  run: Pick<ResultRow, "run_id" | "finished_at" | "bench"> & { readonly params: Readonly<Record<string, Json>> },
): ResultRow {
  return {
    label,
    rules: summary.rules,
    dataset: provenance.dataset,
    selected: summary.issues_considered,
    cases: summary.issues_in_source,
    n: summary.n,
    failed: summary.failed,
    measures: Object.fromEntries(
      Object.entries(summary.measures).map(([name, { value, lower, upper }]) => [name, { value, lower, upper }]),
    ),
    measure_order: summary.measure_order,
    seconds: summary.seconds?.total ?? null,
    cost_usd: summary.cost_usd?.total ?? null,
    ...run,
    kind: summary.kind,
    identity: provenance.identity ?? null,
  };
}

function keyOf({ label, rules, dataset, selected }: ResultRow): string {
  return JSON.stringify([label, rules, dataset, selected]);
}

/**
 * New rows take the place of the old ones that they replace; rows seen for the first time come last. A row that a run only took from the
 * cache stays as it was, with the run that made it: the seconds that its answers took are stored with them and say which those are.
 */
export function mergeRows(old: readonly ResultRow[], made: readonly ResultRow[]): ResultRow[] {
  const rows = new Map(old.map((row) => [keyOf(row), row]));
  for (const row of made) {
    const known = rows.get(keyOf(row));
    if (known === undefined || contentOf(known) !== contentOf(row)) rows.set(keyOf(row), row);
  }
  return [...rows.values()];
}

/** All but who made it when. */
function contentOf({ run_id: _run, finished_at: _time, bench: _version, ...content }: ResultRow): string {
  return canonicalJson(content as unknown as Json);
}

/** Data sets apart, the newest first: figures over different cases must not look like one column. */
export function resultsMarkdown({ pipeline, rows }: ResultsFile): string {
  const groups = new Map<string, ResultRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.dataset, row.selected]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const newest = (group: readonly ResultRow[]) =>
    group
      .map(({ finished_at }) => finished_at)
      .sort()
      .at(-1) ?? "";
  const sections = [...groups.values()].sort((a, b) => (newest(a) < newest(b) ? 1 : -1)).map(section);
  return [
    `# Results of ${markdownText(pipeline)}`,
    "Rows of all runs; a later run replaces the rows that it made again. In brackets: 95 % intervals where a bootstrap stage made them.",
    ...sections,
  ]
    .join("\n\n")
    .concat("\n");
}

function section(rows: readonly ResultRow[]): string {
  const [first] = rows;
  const names = [...new Set(rows.flatMap(({ measure_order }) => measure_order))];
  const which =
    first === undefined
      ? ""
      : `${first.selected === first.cases ? `${first.cases} cases` : `${first.selected} of ${first.cases} cases`}`;
  const digest = first?.dataset == null ? "unknown data set" : `data set ${first.dataset.slice(0, 12)}`;
  const table = markdownTable(
    ["run of", "rules", "n", "failed", ...names.map((name) => markdownText(name)), "seconds", "run"],
    rows.map((row) => [
      markdownText(row.label),
      markdownText(row.rules),
      String(row.n),
      String(row.failed),
      ...names.map((name) => {
        const figure = row.measures[name];
        const bounds = range(figure);
        return bounds === "" ? ratio(figure?.value) : `${ratio(figure?.value)} (${bounds})`;
      }),
      row.seconds === null ? "-" : row.seconds.toFixed(1),
      markdownText(row.run_id),
    ]),
    2,
  );
  return `## ${digest}, ${which}\n\n${table}`;
}
