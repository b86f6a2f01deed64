/**
 * From scored cases to the summary of a cell. Point values are computed here from the cases; intervals come in as rows (made by
 * the `bootstrap` stage, or by `bench score` itself), so that a report without a bootstrap is the same report without bounds.
 */
import { ANSWER_STATUSES } from "../answers/schema.js";
import type { Measure } from "../measures/contract.js";
import type { Counts, IntervalRow, ScoredCase, ScoredPrediction, ScoreMeta } from "./contract.js";
import { type BootstrapSettings, pointOf, pooledCounts, type RatioName } from "./intervals.js";
import type { Confidence95, MeasureSummary, Micro, Summary, ViewSummary } from "./summary-schema.js";
import { ratios } from "./view-scores.js";
import { isFailed, type View, type ViewRow, viewsOf } from "./views.js";

/** Every outcome is named in a report, also where it never occurred: a missing word must not look like a missing count. */
const OUTCOMES: readonly string[] = [
  "answered",
  "abstained",
  "refused",
  "unparsable",
  ...ANSWER_STATUSES.filter((status) => status !== "completed" && status !== "truncated"),
  "unasked",
];

export interface Bootstrapped {
  readonly settings: BootstrapSettings;
  readonly rows: readonly IntervalRow[];
}

/** `cases` in data-set order, those without an answer included (`inOrder` of `views.ts`). */
export function summarise(
  cases: readonly ScoredCase[],
  meta: ScoreMeta,
  measures: readonly Measure[],
  bootstrapped: Bootstrapped | null,
): Summary {
  const views = new Map(viewsOf(cases, meta).map((view) => [view.name, view]));
  const intervals = new Map(bootstrapped?.rows.map((row) => [key(row.view, row.name), row]));
  const summaryOf = (name: string): ViewSummary => viewSummary(views.get(name) ?? { name, rows: [] }, measures, intervals);
  const headline = summaryOf("headline");
  const withTarget = byCase(cases.filter((one) => one.scored));
  const withoutTarget = byCase(cases.filter((one) => !one.scored));
  const every = [...byCase(cases).values()];
  const failed = [...withTarget.values()].filter((answers) => answers.some(isFailed)).length;
  return {
    issues_in_source: meta.dataset.cases,
    issues_considered: meta.dataset.selected,
    issues_skipped_no_java_targets: withoutTarget.size,
    stopped_early_by_user: false,
    stop_reason: null,
    issues_evaluated: headline.n,
    issues_with_errors: failed,
    micro: headline.micro,
    macro: headline.macro,
    confidence_interval_95: confidence("headline", bootstrapped, intervals),
    in_repo_only: inRepoSummary(every, views.get("in_repo_only"), summaryOf("in_repo_only"), meta, () =>
      confidence("in_repo_only", bootstrapped, intervals),
    ),

    backend: meta.backend,
    kind: meta.kind,
    rules: meta.rules.name,
    n: headline.n,
    failed,
    left_out_by_rules: leftOutByRules([...withTarget.values()]),
    abstained: [...withTarget.values()].filter((answers) => answers.every(({ outcome }) => outcome === "abstained")).length,
    without_target: withoutTarget.size,
    with_absent_targets: every.filter(([first]) => (first?.absent_targets.length ?? 0) > 0).length,
    absent_targets: every.reduce((sum, [first]) => sum + (first?.absent_targets.length ?? 0), 0),
    repeats: every.reduce((most, answers) => Math.max(most, answers.length), 0),
    left_out: meta.left_out.reduce((sum, { count }) => sum + count, 0),
    measures: headline.measures,
    measure_order: measures.map(({ name }) => name),
    outcomes: outcomesOf([...withTarget.values()].flat()),
    outcomes_without_target: outcomesOf([...withoutTarget.values()].flat()),
    without_failed: views.has("without_failed") ? summaryOf("without_failed") : null,
    all_targets: summaryOf("all_targets"),
    strata: strata(views, summaryOf),
    ambiguous: sumOf(views.get("headline"), "ambiguous"),
    duplicates: sumOf(views.get("headline"), "duplicates"),
    read_by: predictionsBy(withTarget, ({ read_by }) => read_by),
    matched_by: predictionsBy(withTarget, ({ rung }) => rung ?? "none"),
    expectation: expectationOf(views.get("headline")?.rows ?? [], measures),
    bootstrap: bootstrapped === null ? null : bootstrapOf(bootstrapped.settings),
    seconds: totalOf(cases, ({ seconds }) => seconds),
    cost_usd: totalOf(cases, ({ usage }) => usage?.cost_usd ?? null),
  };
}

function bootstrapOf({ samples, seed, level, method, cluster, answers }: BootstrapSettings): NonNullable<Summary["bootstrap"]> {
  return {
    samples,
    seed,
    level,
    method,
    ...(cluster === undefined || cluster === "none" ? {} : { cluster }),
    ...(answers === true ? { answers } : {}),
  };
}

function key(view: string, name: string): string {
  return JSON.stringify([view, name]);
}

function byCase(cases: readonly ScoredCase[]): Map<string, ScoredCase[]> {
  const groups = new Map<string, ScoredCase[]>();
  for (const scored of cases) groups.set(scored.id, [...(groups.get(scored.id) ?? []), scored]);
  return groups;
}

function viewSummary(view: View, measures: readonly Measure[], intervals: ReadonlyMap<string, IntervalRow>): ViewSummary {
  const { tp, fp, fn } = pooledCounts(view.rows);
  const micro: Micro = { true_positives: tp, false_positives: fp, false_negatives: fn, ...ratios(tp, fp, fn) };
  const entries = measures.map((measure): [string, MeasureSummary] => {
    const row = intervals.get(key(view.name, measure.name));
    return [
      measure.name,
      {
        ...ordered(pointOf(view.rows, measure), row),
        ...(row?.wilson == null ? {} : { wilson: row.wilson }),
        ...(row?.instead === undefined ? {} : { instead: row.instead }),
      },
    ];
  });
  return { n: view.rows.length, micro, macro: macroOf(view.rows), measures: Object.fromEntries(entries) };
}

function ordered(
  point: { value: number | null; n: number; undefined: number },
  row: IntervalRow | undefined,
): Omit<MeasureSummary, "wilson"> {
  return { value: point.value, lower: row?.lower ?? null, upper: row?.upper ?? null, n: point.n, undefined: point.undefined };
}

/** The original divides by at least 1: no case at all gives 0. */
function macroOf(rows: readonly ViewRow[]): Record<RatioName, number> {
  const mean = (name: RatioName) => rows.reduce((sum, row) => sum + row.scores[name], 0) / Math.max(1, rows.length);
  return { precision: mean("precision"), recall: mean("recall"), f1: mean("f1") };
}

/** The original's member; null without a bootstrap, without a case, or where the bootstrap was asked for another coverage. */
function confidence(
  view: string,
  bootstrapped: Bootstrapped | null,
  intervals: ReadonlyMap<string, IntervalRow>,
): Confidence95 | null {
  if (bootstrapped === null || bootstrapped.settings.level !== 0.95) return null;
  const row = intervals.get(key(view, "micro.precision"));
  if (row === undefined || row.n === 0 || row.lower === null) return null;
  const bounds = (name: string) => {
    const found = intervals.get(key(view, name));
    return { lower: found?.lower ?? 0, upper: found?.upper ?? 0 };
  };
  const three = (kind: "micro" | "macro") => ({
    precision: bounds(`${kind}.precision`),
    recall: bounds(`${kind}.recall`),
    f1: bounds(`${kind}.f1`),
  });
  return {
    bootstrap_samples: bootstrapped.settings.samples,
    bootstrap_seed: bootstrapped.settings.seed,
    micro: three("micro"),
    macro: three("macro"),
  };
}

/** Counts files and cases over everything with a target, also the cases that have no target left in the corpus. */
function inRepoSummary(
  every: readonly (readonly ScoredCase[])[],
  view: View | undefined,
  summary: ViewSummary,
  meta: ScoreMeta,
  interval: () => Confidence95 | null,
): Summary["in_repo_only"] {
  const seen = every.flatMap((answers) => {
    // As in the views: with the original's denominators, what failed is not there.
    const inRepo = answers.find(({ excluded }) => excluded === null)?.in_repo_only;
    if (inRepo == null || inRepo.retained.length + inRepo.discarded.length === 0) return [];
    return [{ retained: inRepo.retained.length, discarded: inRepo.discarded.length }];
  });
  const retained = seen.reduce((sum, row) => sum + row.retained, 0);
  const discarded = seen.reduce((sum, row) => sum + row.discarded, 0);
  const enabled = meta.corpus !== null && view !== undefined;
  const bounds = enabled ? interval() : null;
  return {
    enabled,
    issues_with_in_repo_metrics: seen.length,
    issues_with_in_repo_targets: seen.filter((row) => row.retained > 0).length,
    issues_without_in_repo_targets: seen.filter((row) => row.retained === 0).length,
    issues_evaluated: enabled ? summary.n : 0,
    original_expected_java_files_total: retained + discarded,
    retained_expected_java_files_total: retained,
    expected_java_files_total: retained + discarded,
    expected_java_files_in_repo_total: retained,
    discarded_expected_java_files_total: discarded,
    discarded_expected_java_files_ratio: retained + discarded > 0 ? discarded / (retained + discarded) : 0,
    issues_with_discarded_expected_java_files: seen.filter((row) => row.discarded > 0).length,
    micro: enabled ? summary.micro : null,
    macro: enabled ? summary.macro : null,
    // The original says which seed made this view's intervals: one more than the first view's.
    confidence_interval_95:
      bounds !== null && meta.rules.engine === "seed" ? { ...bounds, bootstrap_seed: bounds.bootstrap_seed + 1 } : bounds,
  };
}

function outcomesOf(cases: readonly ScoredCase[]): Record<string, number> {
  const counts = new Map(OUTCOMES.map((outcome) => [outcome, 0]));
  for (const { outcome } of cases) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function leftOutByRules(cases: readonly (readonly ScoredCase[])[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const answers of cases) {
    const [first] = answers;
    if (first === undefined || answers.some(({ excluded }) => excluded === null)) continue;
    counts.set(first.outcome, (counts.get(first.outcome) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

function sumOf(view: View | undefined, name: keyof Counts): number {
  return (view?.rows ?? []).reduce((sum, row) => sum + row.scores.counts[name], 0);
}

/** Only the rungs that occur, in order of first use. */
function predictionsBy(
  groups: ReadonlyMap<string, readonly ScoredCase[]>,
  of: (prediction: ScoredPrediction) => string,
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const answers of groups.values()) {
    for (const { predictions } of answers) {
      for (const prediction of predictions) counts.set(of(prediction), (counts.get(of(prediction)) ?? 0) + 1);
    }
  }
  return Object.fromEntries(counts);
}

function strata(views: ReadonlyMap<string, View>, summaryOf: (view: string) => ViewSummary): Summary["strata"] {
  const names = new Map<string, [string, ViewSummary][]>();
  for (const { name: view, stratum } of views.values()) {
    if (stratum === undefined) continue;
    names.set(stratum.name, [...(names.get(stratum.name) ?? []), [stratum.value, summaryOf(view)]]);
  }
  return Object.fromEntries([...names].map(([name, values]) => [name, Object.fromEntries(values)]));
}

/** Mean of the cases' expectations; what failed has none and is left out of it, so it is null unless every case has one. */
function expectationOf(rows: readonly ViewRow[], measures: readonly Measure[]): Summary["expectation"] {
  if (rows.length === 0 || rows.some((row) => row.expectation === null)) return null;
  const mean = ({ name }: Measure): number | null => {
    let sum = 0;
    for (const { expectation } of rows) {
      const value = expectation?.[name] ?? null;
      if (value === null) return null;
      sum += value;
    }
    return sum / rows.length;
  };
  return Object.fromEntries(measures.map((measure) => [measure.name, mean(measure)]));
}

function totalOf(cases: readonly ScoredCase[], of: (scored: ScoredCase) => number | null) {
  const known = cases.flatMap((scored) => of(scored) ?? []);
  return known.length === 0 ? null : { total: known.reduce((sum, value) => sum + value, 0), answers: known.length };
}
