/**
 * What a change of rules changed: the same answers scored twice, case by case. The answers are the same, so every difference is the rules'
 * doing (the parser's where a rule set has its own), and the comparison is paired by nature.
 *
 * Cases that only one of the two counts are named and left out of the differences: a mean over other cases is no difference of rules.
 */
import type { Measure } from "../measures/contract.js";
import { percentileBounds } from "../statistics/bootstrap.js";
import { resampledColumns, singleRows } from "../statistics/resampling.js";
import type { ScoredCase, ScoredPrediction, ScoreMeta } from "./contract.js";
import { type BootstrapSettings, pointOf } from "./intervals.js";
import { type ViewRow, viewsOf } from "./views.js";

export interface Scored {
  readonly meta: ScoreMeta;
  /** In data-set order, cases without an answer among them. */
  readonly cases: readonly ScoredCase[];
}

export interface MeasureDifference {
  /** Over the cases that both count; null without any. */
  readonly before: number | null;
  readonly after: number | null;
  /** After minus before. */
  readonly difference: number | null;
  /** Percentile bootstrap over the cases; coverage as in the settings. */
  readonly ci95: { readonly lower: number | null; readonly upper: number | null };
  /** Ids of the cases whose value rose or fell; empty for pooled measures, which cases have no value of. */
  readonly gained: readonly string[];
  readonly lost: readonly string[];
}

/** What became of a prediction under one rule set. */
export type Decision = Pick<ScoredPrediction, "path" | "rung" | "target" | "ambiguous">;

export interface PredictionChange {
  readonly raw: string;
  readonly repeat: number;
  /** null = that rule set did not read it, dropped it, or took it for a repetition. */
  readonly before: Decision | null;
  readonly after: Decision | null;
}

export interface CaseDifference {
  readonly id: string;
  readonly title: string;
  /** By F1; `other`: F1 is the same, but something was decided otherwise. */
  readonly change: "gained" | "lost" | "other";
  readonly f1: { readonly before: number; readonly after: number };
  /** Readings or statuses, where they differ (one per repeat). */
  readonly outcome: { readonly before: readonly string[]; readonly after: readonly string[] } | null;
  /** Files that count as truth only before or only after. */
  readonly targets: { readonly removed: readonly string[]; readonly added: readonly string[] };
  readonly predictions: readonly PredictionChange[];
}

export interface RuleDifference {
  /** Cases that both rule sets count. */
  readonly n: number;
  readonly only_before: readonly string[];
  readonly only_after: readonly string[];
  readonly measures: Readonly<Record<string, MeasureDifference>>;
  /** Every case that both count and that differs, in data-set order. */
  readonly cases: readonly CaseDifference[];
}

interface Pair {
  readonly before: ViewRow;
  readonly after: ViewRow;
}

/** Measures that one side does not have are left out. Both sides must be of the same answers. */
export function ruleDifference(
  before: Scored,
  after: Scored,
  measures: readonly Measure[],
  settings: BootstrapSettings,
): RuleDifference {
  const rows = { before: headline(before), after: headline(after) };
  const ids = [...rows.before.keys()].filter((id) => rows.after.has(id));
  const pairs = ids.flatMap((id): Pair[] => {
    const [a, b] = [rows.before.get(id), rows.after.get(id)];
    return a === undefined || b === undefined ? [] : [{ before: a, after: b }];
  });
  const shared = measures.filter(({ name }) => before.meta.measures.includes(name) && after.meta.measures.includes(name));
  return {
    n: pairs.length,
    only_before: [...rows.before.keys()].filter((id) => !rows.after.has(id)),
    only_after: [...rows.after.keys()].filter((id) => !rows.before.has(id)),
    measures: measureDifferences(pairs, shared, settings),
    cases: caseDifferences(pairs, before.cases, after.cases),
  };
}

function headline({ cases, meta }: Scored): ReadonlyMap<string, ViewRow> {
  const view = viewsOf(cases, meta).find(({ name }) => name === "headline");
  return new Map(view?.rows.map((row) => [row.id, row]));
}

/** All measures from one pass over the resamples, as in the intervals of a report. */
function measureDifferences(
  pairs: readonly Pair[],
  measures: readonly Measure[],
  settings: BootstrapSettings,
): Record<string, MeasureDifference> {
  const n = pairs.length;
  const column = (of: (pair: Pair) => number) => Float64Array.from(pairs, of);
  const counts = (side: keyof Pair) =>
    (["true_positives", "false_positives", "false_negatives"] as const).map((name) =>
      column((pair) => pair[side].scores.counts[name]),
    );
  const means = measures.filter(({ pooled }) => pooled === undefined);
  const differences = means.map(({ name }) => column((pair) => valueIn(pair.after, name) - valueIn(pair.before, name)));
  const { sums } = resampledColumns([...counts("before"), ...counts("after"), ...differences], singleRows(n), settings);
  const at = (index: number) => sums[index] ?? new Float64Array();

  const one = (measure: Measure): MeasureDifference => {
    const [old, now] = (["before", "after"] as const).map((side) =>
      pointOf(
        pairs.map((pair) => pair[side]),
        measure,
      ),
    );
    const [a, b] = [old?.value ?? null, now?.value ?? null];
    const { pooled } = measure;
    let ci95: MeasureDifference["ci95"] = { lower: null, upper: null };
    if (pooled !== undefined && n > 0) {
      const figure = (from: number, sample: number) =>
        pooled({ tp: at(from)[sample] ?? 0, fp: at(from + 1)[sample] ?? 0, fn: at(from + 2)[sample] ?? 0 });
      const figures = Float64Array.from({ length: settings.samples }, (_, sample) => figure(3, sample) - figure(0, sample));
      ci95 = percentileBounds(figures, settings.level);
    } else if (pooled === undefined) {
      const index = means.indexOf(measure);
      ci95 = boundsOfMean(differences[index] ?? new Float64Array(), at(6 + index), settings.level);
    }
    const moved = (by: (difference: number) => boolean) =>
      pooled === undefined
        ? pairs.flatMap((pair) =>
            by(valueIn(pair.after, measure.name) - valueIn(pair.before, measure.name)) ? [pair.before.id] : [],
          )
        : [];
    return {
      before: a,
      after: b,
      difference: a === null || b === null ? null : b - a,
      ci95,
      gained: moved((difference) => difference > 0),
      lost: moved((difference) => difference < 0),
    };
  };
  return Object.fromEntries(measures.map((measure) => [measure.name, one(measure)]));
}

function valueIn(row: ViewRow, measure: string): number {
  return row.scores.measures[measure] ?? 0;
}

function caseDifferences(pairs: readonly Pair[], before: readonly ScoredCase[], after: readonly ScoredCase[]): CaseDifference[] {
  const [old, now] = [byId(before), byId(after)];
  return pairs.flatMap(({ before: { id, scores: was }, after: { scores: is } }) => {
    const answers = { before: old.get(id) ?? [], after: now.get(id) ?? [] };
    const predictions = predictionChanges(answers.before, answers.after);
    const outcomes = { before: answers.before.map(({ outcome }) => outcome), after: answers.after.map(({ outcome }) => outcome) };
    const outcome = outcomes.before.join("\n") === outcomes.after.join("\n") ? null : outcomes;
    const targets = targetChanges(answers.before[0], answers.after[0]);
    const same = predictions.length === 0 && outcome === null && targets.added.length + targets.removed.length === 0;
    if (same && was.f1 === is.f1) return [];
    const change = is.f1 > was.f1 ? "gained" : is.f1 < was.f1 ? "lost" : "other";
    const title = answers.after[0]?.title ?? "";
    return [{ id, title, change, f1: { before: was.f1, after: is.f1 }, outcome, targets, predictions }] as const;
  });
}

function byId(cases: readonly ScoredCase[]): Map<string, ScoredCase[]> {
  const groups = new Map<string, ScoredCase[]>();
  for (const scored of cases) {
    const group = groups.get(scored.id);
    if (group === undefined) groups.set(scored.id, [scored]);
    else group.push(scored);
  }
  return groups;
}

function targetChanges(before: ScoredCase | undefined, after: ScoredCase | undefined): CaseDifference["targets"] {
  const [was, is] = [new Set(before?.targets), new Set(after?.targets)];
  return { removed: [...was].filter((path) => !is.has(path)), added: [...is].filter((path) => !was.has(path)) };
}

/**
 * Predictions are the same where they are spelt the same in the same answer. One that appears on one side only was not read there, or named
 * a file that an earlier entry had named.
 */
function predictionChanges(before: readonly ScoredCase[], after: readonly ScoredCase[]): PredictionChange[] {
  const changes: PredictionChange[] = [];
  const repeats = [...new Set([...before, ...after].map(({ repeat }) => repeat))].sort((a, b) => a - b);
  for (const repeat of repeats) {
    const was = decisions(before.find((one) => one.repeat === repeat));
    const is = decisions(after.find((one) => one.repeat === repeat));
    for (const raw of new Set([...was.keys(), ...is.keys()])) {
      const [a, b] = [was.get(raw) ?? null, is.get(raw) ?? null];
      if (!sameDecision(a, b)) changes.push({ raw, repeat, before: a, after: b });
    }
  }
  return changes;
}

function decisions(scored: ScoredCase | undefined): Map<string, Decision> {
  const found = new Map<string, Decision>();
  for (const { raw, path, rung, target, ambiguous } of scored?.predictions ?? []) {
    if (!found.has(raw)) found.set(raw, { path, rung, target, ambiguous });
  }
  return found;
}

/** The rung alone is no difference, nor is which file was named in vain: what counts is the target that was hit. */
function sameDecision(a: Decision | null, b: Decision | null): boolean {
  if (a === null || b === null) return a === b;
  return a.target === b.target && a.ambiguous === b.ambiguous;
}

/** Bounds of the mean of a column, from its resampled sums. */
function boundsOfMean(column: Float64Array, sums: Float64Array, level: number): MeasureDifference["ci95"] {
  const [first] = column;
  if (first === undefined) return { lower: null, upper: null };
  // Where all cases agree the interval is a point; sums of equal numbers must not make it a little wider by rounding.
  if (column.every((value) => value === first)) return { lower: first, upper: first };
  return percentileBounds(
    sums.map((sum) => sum / column.length),
    level,
  );
}
