/**
 * Figures of a view and their bootstrap intervals. Cases are resampled in data-set order from one stream of random numbers
 * per seed, so that all figures of a view are about the same resamples and adding a measure changes no other interval.
 */
import type { Measure } from "../measures/contract.js";
import type { ResampleMatrix } from "../statistics/bootstrap.js";
import { type Figure, meanOf, meanOfSome, type Resampler, resampler } from "../statistics/figures.js";
import type { IntervalMethod } from "../statistics/interval-methods.js";
import type { Design, ResamplingOptions } from "../statistics/resampling.js";
import { seedSummary } from "../statistics/seed-bootstrap.js";
import { wilsonInterval } from "../statistics/wilson.js";
import type { IntervalRow, ViewScores } from "./contract.js";
import { type ClusterBy, designOf } from "./design.js";
import { ratios } from "./view-scores.js";
import type { View, ViewRow } from "./views.js";

export interface BootstrapSettings {
  readonly samples: number;
  readonly seed: number;
  /** Coverage, between 0 and 1. */
  readonly level: number;
  readonly method: IntervalMethod;
  /** What is drawn; cases by default. */
  readonly cluster?: ClusterBy;
  /** Where cases have several answers, draw among these too. */
  readonly answers?: boolean;
}

interface Bounds {
  readonly lower: number | null;
  readonly upper: number | null;
  readonly instead?: string;
}
const NO_BOUNDS: Bounds = { lower: null, upper: null };

/** Beyond it resampling takes hours and no digit that is printed changes. */
export const MOST_SAMPLES = 1_000_000;

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
  // A data set that says nothing of a level is no case of it, unlike an answer that says nothing.
  const counted = measure.level === undefined ? n : values.filter((value) => value !== null).length;
  return {
    value: counted === 0 ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / counted,
    n: counted,
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
  return views.flatMap((view) => viewIntervals(view, measures, settings, engine, undefined, memo));
}

/** What was resampled before: views that hold the same numbers (nothing is absent, nothing failed) need not be drawn again. */
export type ResampleMemo = { readonly columns: readonly Float64Array[]; readonly design: string; readonly drawn: Resampler }[];

function resampledOnce(
  columns: readonly Float64Array[],
  design: Design,
  options: ResamplingOptions,
  memo: ResampleMemo,
): Resampler {
  const name = JSON.stringify([design.cases, design.clusters ?? null, design.drawAnswers ?? false]);
  const same = (a: Float64Array, b: Float64Array | undefined) => a.length === b?.length && a.every((value, i) => value === b[i]);
  const known = memo.find(
    (one) =>
      one.design === name && one.columns.length === columns.length && columns.every((column, i) => same(column, one.columns[i])),
  );
  if (known !== undefined) return known.drawn;
  const drawn = resampler(columns, design, options);
  memo.push({ columns, design: name, drawn });
  return drawn;
}

/** The rows of one view; for callers that want to do something else between views. Those of one report share a `memo`, which starts empty. */
export function viewIntervals(
  view: View,
  measures: readonly Measure[],
  settings: BootstrapSettings,
  engine: "ladder" | "seed",
  resamples?: ResampleMatrix,
  memo: ResampleMemo = [],
): IntervalRow[] {
  const bounds = boundsOf(view.rows, measures, settings, resamples, memo);
  const original = engine === "seed" && isPlain(settings) && resamples === undefined;
  const members = ORIGINAL_VIEWS.has(view.name)
    ? memberRows(view, original ? seedMembers(view, settings) : bounds.members())
    : [];
  const known = new Map(members.map((row) => [row.name, row]));
  const rows = measures.map((measure): IntervalRow => {
    const same = original ? known.get(SAME_AS[measure.name] ?? "") : undefined;
    const { lower, upper, instead } = same ?? bounds.of(measure);
    return {
      name: measure.name,
      view: view.name,
      ...pointOf(view.rows, measure),
      lower,
      upper,
      wilson: wilsonOf(view.rows, measure, settings.level),
      ...(instead === undefined ? {} : { instead }),
    };
  });
  return [...rows, ...members];
}

type Member = `${"micro" | "macro"}.${RatioName}`;
type Members = ReadonlyMap<Member, Bounds & { readonly value: number }>;

/** The one way in which the original draws and reads off its bounds. */
function isPlain({ level, method, cluster, answers }: BootstrapSettings): boolean {
  return level === 0.95 && method === "percentile" && (cluster ?? "none") === "none" && answers !== true;
}

/** Resamples the cases of a view once, for all of its figures. */
function boundsOf(
  rows: readonly ViewRow[],
  measures: readonly Measure[],
  settings: BootstrapSettings,
  resamples: ResampleMatrix | undefined,
  memo: ResampleMemo,
) {
  const { level, method } = settings;
  const drawAnswers = settings.answers === true && rows.some(({ answers }) => answers.length > 1);
  // One row per answer only where answers are drawn: otherwise the case's own values are summed, rounded as they are shown.
  const sizes = rows.map(({ answers }) => (drawAnswers ? answers.length : 1));
  const each = (of: (scores: ViewScores, row: ViewRow) => number) =>
    Float64Array.from(rows.flatMap((row) => (drawAnswers ? row.answers : [row.scores]).map((scores) => of(scores, row))));
  const columns = new Map<string, Float64Array>([
    ["tp", each((scores) => scores.counts.true_positives)],
    ["fp", each((scores) => scores.counts.false_positives)],
    ["fn", each((scores) => scores.counts.false_negatives)],
    ...RATIOS.map((ratio) => [`ratio ${ratio}`, each((scores) => scores[ratio])] as const),
    ...measures
      .filter((measure) => measure.pooled === undefined)
      .map((measure) => [`measure ${measure.name}`, each((scores, row) => valueIn(scores, row, measure) ?? 0)] as const),
    ...measures
      .filter((measure) => measure.level !== undefined)
      .map(
        (measure) =>
          [`cases of ${measure.name}`, each((scores, row) => (valueIn(scores, row, measure) === null ? 0 : 1))] as const,
      ),
  ]);
  const names = [...columns.keys()];
  const design = designOf(rows, sizes, settings.cluster ?? "none", drawAnswers);
  // A single cluster is drawn every time: an interval of no width would claim that the figure is known for sure.
  const lone = design.clusters?.length === 1;
  const options = { samples: settings.samples, seed: settings.seed, ...(resamples === undefined ? {} : { resamples }) };
  const drawn = resampledOnce([...columns.values()], design, options, memo);
  const bounds = (figure: Figure): Bounds => {
    if (lone) return NO_BOUNDS;
    const found = drawn.interval(figure, method, level);
    if (found === null) return NO_BOUNDS;
    const { lower, upper, instead } = found;
    return { lower, upper, ...(instead === undefined ? {} : { instead }) };
  };
  const mean = (name: string): Bounds => {
    const column = columns.get(name) ?? new Float64Array();
    const [first] = column;
    if (lone) return NO_BOUNDS;
    // Where all cases agree the interval is a point; sums of equal numbers must not make it a little wider by rounding.
    if (first !== undefined && column.every((value) => value === first)) {
      const instead = method === "bca" ? { instead: "every case has the same value" } : {};
      return { lower: first, upper: first, ...instead };
    }
    return bounds(meanOf(names.indexOf(name)));
  };
  const [tp, fp, fn] = ["tp", "fp", "fn"].map((name) => names.indexOf(name)) as [number, number, number];
  const pooled = (figure: NonNullable<Measure["pooled"]>): Bounds =>
    bounds((sum) => figure({ tp: sum(tp), fp: sum(fp), fn: sum(fn) }));
  return {
    of: (measure: Measure): Bounds => {
      if (measure.pooled !== undefined) return pooled(measure.pooled);
      if (measure.level === undefined) return mean(`measure ${measure.name}`);
      const [sum, cases] = [names.indexOf(`measure ${measure.name}`), names.indexOf(`cases of ${measure.name}`)];
      const any = columns.get(`cases of ${measure.name}`)?.some((value) => value > 0) === true;
      return any ? bounds(meanOfSome(sum, cases)) : NO_BOUNDS;
    },
    members: (): Members => {
      const counts = pooledCounts(rows);
      const micro = ratios(counts.tp, counts.fp, counts.fn);
      const average = (ratio: RatioName) => rows.reduce((sum, row) => sum + row.scores[ratio], 0) / Math.max(1, rows.length);
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

/** Of one answer; what is made of several answers together (`pass@k`) is the case's and the same for each of them. */
function valueIn(scores: ViewScores, row: ViewRow, measure: Measure): number | null {
  return (measure.ofRepeats === undefined ? scores : row.scores).measures[measure.name] ?? null;
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
