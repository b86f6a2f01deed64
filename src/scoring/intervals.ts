/**
 * Figures of a view and their bootstrap intervals. Cases are resampled in data-set order from one stream of random numbers
 * per seed, so that all figures of a view are about the same resamples and adding a measure changes no other interval.
 */
import type { Measure } from "../measures/contract.js";
import { seedSummary } from "../statistics/seed-bootstrap.js";
import { wilsonInterval } from "../statistics/wilson.js";
import type { IntervalRow } from "./contract.js";
import { type Bounds, boundsOfMean, boundsOfPooled, NO_BOUNDS, resampledSums } from "./resample.js";
import { ratios } from "./view-scores.js";
import type { View, ViewRow } from "./views.js";

export interface BootstrapSettings {
  readonly samples: number;
  readonly seed: number;
  /** Coverage, between 0 and 1. */
  readonly level: number;
  readonly method: "percentile";
}

export const DEFAULT_BOOTSTRAP: BootstrapSettings = { samples: 1000, seed: 42, level: 0.95, method: "percentile" };

const RATIOS = ["precision", "recall", "f1"] as const;
export type RatioName = (typeof RATIOS)[number];

/** The measures that say the same as a member of the original's summary. */
const SAME_AS: Readonly<Record<string, Member>> = {
  P: "macro.precision",
  R: "macro.recall",
  F1: "macro.f1",
  "P(micro)": "micro.precision",
  "R(micro)": "micro.recall",
  "F1(micro)": "micro.f1",
};

/** Views whose `micro` and `macro` members carry intervals in the original's report. */
const ORIGINAL_VIEWS: ReadonlySet<string> = new Set(["headline", "in_repo_only"]);

/** Point value of a measure over the rows: pooled counts or the mean over cases, undefined counted as 0; null for no row. */
export function pointOf(rows: readonly ViewRow[], measure: Measure): { value: number | null; n: number; undefined: number } {
  const n = rows.length;
  if (n === 0) return { value: null, n, undefined: 0 };
  if (measure.pooled !== undefined) return { value: measure.pooled(pooledCounts(rows)), n, undefined: 0 };
  const values = valuesOf(rows, measure.name);
  return {
    value: values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / n,
    n,
    undefined: values.filter((value) => value === null).length,
  };
}

export function pooledCounts(rows: readonly ViewRow[]): { tp: number; fp: number; fn: number } {
  const pooled = { tp: 0, fp: 0, fn: 0 };
  for (const row of rows) {
    const { tp, fp, fn } = countsOf(row);
    pooled.tp += tp;
    pooled.fp += fp;
    pooled.fn += fn;
  }
  return pooled;
}

function countsOf({ scores: { counts } }: ViewRow): { tp: number; fp: number; fn: number } {
  return { tp: counts.true_positives, fp: counts.false_positives, fn: counts.false_negatives };
}

function valuesOf(rows: readonly ViewRow[], name: string): (number | null)[] {
  return rows.map((row) => row.scores.measures[name] ?? null);
}

/**
 * One row per view and measure, and for the original's views one per member of `micro` and `macro`.
 *
 * With the `seed` rules these members and the measures that equal them take the original's own generator (the second view with
 * the seed plus 1); a level other than 0.95 is unknown to it, so then the general bootstrap is used throughout.
 */
export function intervalRows(
  views: readonly View[],
  measures: readonly Measure[],
  settings: BootstrapSettings,
  engine: "ladder" | "seed",
): IntervalRow[] {
  const memo: ResampleMemo = [];
  return views.flatMap((view) => viewIntervals(view, measures, settings, engine, memo));
}

/** What was resampled before: views that hold the same numbers (nothing absent, nothing failed) need not be drawn again. */
export type ResampleMemo = { readonly columns: readonly Float64Array[]; readonly sums: readonly Float64Array[] }[];

function resampledOnce(columns: readonly Float64Array[], n: number, settings: BootstrapSettings, memo: ResampleMemo) {
  const same = (a: Float64Array, b: Float64Array | undefined) => a.length === b?.length && a.every((value, i) => value === b[i]);
  const known = memo.find(
    (one) => one.columns.length === columns.length && columns.every((column, i) => same(column, one.columns[i])),
  );
  if (known !== undefined) return known.sums;
  const sums = resampledSums(columns, n, settings);
  memo.push({ columns, sums });
  return sums;
}

/** The rows of one view; for callers that want to do something else between views. They share a `memo`, which starts empty. */
export function viewIntervals(
  view: View,
  measures: readonly Measure[],
  settings: BootstrapSettings,
  engine: "ladder" | "seed",
  memo: ResampleMemo = [],
): IntervalRow[] {
  const bounds = resampler(view.rows, measures, settings, memo);
  const original = engine === "seed" && settings.level === 0.95;
  const members = ORIGINAL_VIEWS.has(view.name)
    ? memberRows(view, original ? seedMembers(view, settings) : bounds.members())
    : [];
  const known = new Map(members.map((row) => [row.name, row]));
  const rows = measures.map((measure): IntervalRow => {
    const same = original ? known.get(SAME_AS[measure.name] ?? "") : undefined;
    const { lower, upper } = same ?? bounds.of(measure);
    return {
      name: measure.name,
      view: view.name,
      ...pointOf(view.rows, measure),
      lower,
      upper,
      wilson: wilsonOf(view.rows, measure, settings.level),
    };
  });
  return [...rows, ...members];
}

type Member = `${"micro" | "macro"}.${RatioName}`;
type Members = ReadonlyMap<Member, Bounds & { readonly value: number }>;

/** Resamples the cases of a view once, for all of its figures. */
function resampler(rows: readonly ViewRow[], measures: readonly Measure[], settings: BootstrapSettings, memo: ResampleMemo) {
  const { level } = settings;
  const n = rows.length;
  const column = (of: (row: ViewRow) => number) => Float64Array.from(rows, of);
  const counts = rows.map(countsOf);
  const columns = new Map<string, Float64Array>([
    ["tp", Float64Array.from(counts, ({ tp }) => tp)],
    ["fp", Float64Array.from(counts, ({ fp }) => fp)],
    ["fn", Float64Array.from(counts, ({ fn }) => fn)],
    ...RATIOS.map((ratio) => [`ratio ${ratio}`, column((row) => row.scores[ratio])] as const),
    ...measures
      .filter((measure) => measure.pooled === undefined)
      .map(({ name }) => [`measure ${name}`, column((row) => row.scores.measures[name] ?? 0)] as const),
  ]);
  const all = resampledOnce([...columns.values()], n, settings, memo);
  const sums = new Map([...columns.keys()].map((name, index) => [name, all[index] ?? new Float64Array()]));
  const empty = new Float64Array();
  const mean = (name: string): Bounds => boundsOfMean(columns.get(name) ?? empty, sums.get(name) ?? empty, level);
  const pooledSums = { tp: sums.get("tp") ?? empty, fp: sums.get("fp") ?? empty, fn: sums.get("fn") ?? empty };
  const pooled = (figure: NonNullable<Measure["pooled"]>): Bounds =>
    n === 0 ? NO_BOUNDS : boundsOfPooled(pooledSums, figure, level);
  return {
    of: (measure: Measure): Bounds => (measure.pooled === undefined ? mean(`measure ${measure.name}`) : pooled(measure.pooled)),
    members: (): Members => {
      const { tp, fp, fn } = pooledCounts(rows);
      const micro = ratios(tp, fp, fn);
      const average = (ratio: RatioName) => rows.reduce((sum, row) => sum + row.scores[ratio], 0) / Math.max(1, n);
      return new Map([
        ...RATIOS.map(
          (ratio) =>
            [`micro.${ratio}`, { value: micro[ratio], ...pooled((sum) => ratios(sum.tp, sum.fp, sum.fn)[ratio]) }] as const,
        ),
        ...RATIOS.map((ratio) => [`macro.${ratio}`, { value: average(ratio), ...mean(`ratio ${ratio}`) }] as const),
      ]);
    },
  };
}

/** The same members from the original's generator; its second view takes the seed plus 1. */
function seedMembers({ name: view, rows }: View, settings: BootstrapSettings): Members {
  const seed = view === "in_repo_only" ? settings.seed + 1 : settings.seed;
  const summary = seedSummary(rows.map(seedRow), { samples: settings.samples, seed });
  return new Map(
    (["micro", "macro"] as const).flatMap((kind) =>
      RATIOS.map((ratio) => {
        const bounds = summary.confidence_interval_95?.[kind][ratio] ?? NO_BOUNDS;
        return [`${kind}.${ratio}`, { value: summary[kind][ratio], lower: bounds.lower, upper: bounds.upper }] as const;
      }),
    ),
  );
}

function memberRows({ name: view, rows }: View, members: Members): IntervalRow[] {
  if (rows.length === 0) return [];
  return [...members].map(([name, { value, lower, upper }]) => ({
    name,
    view,
    value,
    lower,
    upper,
    n: rows.length,
    undefined: 0,
    wilson: null,
  }));
}

/** Only where every case says yes or no: a mean over draws or repeats is no count of successes. */
function wilsonOf(rows: readonly ViewRow[], measure: Measure, level: number): IntervalRow["wilson"] {
  if (!measure.binary) return null;
  const values = valuesOf(rows, measure.name).map((value) => value ?? 0);
  if (values.some((value) => value !== 0 && value !== 1)) return null;
  return wilsonInterval(
    values.reduce((sum, value) => sum + value, 0),
    values.length,
    level,
  );
}

function seedRow(row: ViewRow) {
  const { precision, recall, f1 } = row.scores;
  return { ...countsOf(row), precision, recall, f1 };
}
