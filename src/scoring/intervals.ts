/**
 * Figures of a view and their bootstrap intervals. Cases are resampled in data-set order from one stream of random numbers
 * per seed, so that all figures of a view are about the same resamples and adding a measure changes no other interval.
 */
import type { Measure } from "../measures/contract.js";
import { bootstrapMean, bootstrapPooled } from "../statistics/bootstrap.js";
import { type SeedSummary, seedSummary } from "../statistics/seed-bootstrap.js";
import { wilsonInterval } from "../statistics/wilson.js";
import type { IntervalRow } from "./contract.js";
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
const SAME_AS: Readonly<Record<string, `${"micro" | "macro"}.${RatioName}`>> = {
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

export function countsOf({ scores: { counts } }: ViewRow): { tp: number; fp: number; fn: number } {
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
  return views.flatMap((view) => {
    const members = ORIGINAL_VIEWS.has(view.name) ? memberRows(view, settings, engine) : [];
    const known = new Map(members.map((row) => [row.name, row]));
    const rows = measures.map((measure): IntervalRow => {
      const row = measureRow(view, measure, settings);
      const same = engine === "seed" ? known.get(SAME_AS[measure.name] ?? "") : undefined;
      return same === undefined ? row : { ...row, lower: same.lower, upper: same.upper };
    });
    return [...rows, ...members];
  });
}

function measureRow({ name: view, rows }: View, measure: Measure, settings: BootstrapSettings): IntervalRow {
  const { lower, upper } =
    measure.pooled === undefined
      ? bootstrapMean(valuesOf(rows, measure.name), settings)
      : bootstrapPooled(rows.map(countsOf), measure.pooled, settings);
  return { name: measure.name, view, ...pointOf(rows, measure), lower, upper, wilson: wilsonOf(rows, measure, settings.level) };
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

function memberRows({ name: view, rows }: View, settings: BootstrapSettings, engine: "ladder" | "seed"): IntervalRow[] {
  const shared = { view, n: rows.length, undefined: 0, wilson: null };
  if (rows.length === 0) return [];
  if (engine === "seed" && settings.level === 0.95) {
    const seed = view === "in_repo_only" ? settings.seed + 1 : settings.seed;
    const summary = seedSummary(rows.map(seedRow), { samples: settings.samples, seed });
    return (["micro", "macro"] as const).flatMap((kind) =>
      RATIOS.map((ratio) => ({
        ...shared,
        name: `${kind}.${ratio}`,
        value: summary[kind][ratio],
        ...seedBounds(summary, kind, ratio),
      })),
    );
  }
  return [
    ...RATIOS.map((ratio) => ({
      ...shared,
      name: `micro.${ratio}`,
      ...bounds(bootstrapPooled(rows.map(countsOf), ({ tp, fp, fn }) => ratios(tp, fp, fn)[ratio], settings)),
    })),
    ...RATIOS.map((ratio) => ({
      ...shared,
      name: `macro.${ratio}`,
      ...bounds(
        bootstrapMean(
          rows.map((row) => row.scores[ratio]),
          settings,
        ),
      ),
    })),
  ];
}

function bounds({ value, lower, upper }: { value: number | null; lower: number | null; upper: number | null }) {
  return { value, lower, upper };
}

function seedBounds(summary: SeedSummary, kind: "micro" | "macro", ratio: RatioName) {
  return summary.confidence_interval_95?.[kind][ratio] ?? { lower: null, upper: null };
}

function seedRow(row: ViewRow) {
  const { precision, recall, f1 } = row.scores;
  return { ...countsOf(row), precision, recall, f1 };
}
