/**
 * Two or more runs on the same cases: what differs, by how much, and whether it stands.
 *
 * For each pair and measure first the interval of the difference (paired bootstrap: both runs on the same resampled cases), then a test
 * (paired randomisation; McNemar's beside it for measures of 0 and 1), adjusted by Holm over everything that was declared: all pairs times
 * all measures. Besides, what a reader needs who sees no difference: how small a one could have been seen, and how many cases it would
 * take. The difference is always second minus first, so a gain of the second is positive.
 */
import { ok, type Result } from "../base/result.js";
import type { Measure } from "../measures/contract.js";
import type { ResampleMatrix } from "../statistics/bootstrap.js";
import { holmAdjust } from "../statistics/holm.js";
import type { IntervalMethod } from "../statistics/interval-methods.js";
import { type Aligned, type AlignedSide, align, type LeftOutCase, type Side } from "./align.js";
import { type ClusterBy, clustersOf, FEW_CLUSTERS } from "./design.js";
import { pointOf } from "./intervals.js";
import { type NoiseFloor, noiseFloor } from "./noise.js";
import { comparePair, type PairFigures, resampledSide } from "./paired.js";

export interface CompareSettings {
  readonly samples: number;
  readonly seed: number;
  readonly method: IntervalMethod;
  readonly cluster: ClusterBy;
  /** Chance of a false claim in the whole family. */
  readonly alpha: number;
}

/** Ten thousand: a p value near 0.05 is then known to 0.004, and an interval's ends to a hundredth of its width. */
export const DEFAULT_COMPARE: CompareSettings = { samples: 10_000, seed: 42, method: "percentile", cluster: "none", alpha: 0.05 };

export interface PairRow extends PairFigures {
  readonly run_a: string;
  readonly run_b: string;
  /** Holm over the family. */
  readonly p_holm: number;
  /** The adjusted p is at most alpha and the interval does not hold 0. */
  readonly stands: boolean;
  /** The same without the cases for which an answer of either run failed; null where none did. */
  readonly without_failed: { readonly n: number; readonly difference: number } | null;
}

export interface ComparedRun {
  readonly label: string;
  readonly backend: string;
  readonly rules: string;
  readonly dataset_digest: string | null;
  /** Cases that its own headline counts, and those of the comparison for which an answer failed or is missing (they count as zero). */
  readonly n: number;
  readonly failed: readonly string[];
  readonly values: Readonly<Record<string, number | null>>;
}

export interface Comparison {
  readonly n: number;
  readonly runs: readonly ComparedRun[];
  /** By measure, in the order that was asked for; one row per pair of runs. */
  readonly measures: Readonly<Record<string, readonly PairRow[]>>;
  readonly measure_order: readonly string[];
  /** Tests that Holm's adjustment is over. */
  readonly family: number;
  readonly settings: CompareSettings & { readonly clusters: number | null };
  readonly left_out: readonly LeftOutCase[];
  readonly other_truth: readonly string[];
  /** What the same backend gives when asked twice, for runs that have repeats. */
  readonly noise: readonly NoiseFloor[];
  readonly notes: readonly string[];
}

export interface CompareScope {
  /** Over different data sets, compare the cases that all of them have. */
  readonly common?: boolean;
  /** Which pairs are compared (labels, in the order of the runs); all of them by default. Fewer pairs are a smaller family. */
  readonly pair?: (a: string, b: string) => boolean;
  /** The resamples for so many units (cases or clusters); drawn from the seed by default. */
  readonly resamples?: (units: number) => ResampleMatrix;
}

/** The error says why the runs can't be compared and what to do. */
export function compareRuns(
  sides: readonly Side[],
  measures: readonly Measure[],
  settings: CompareSettings = DEFAULT_COMPARE,
  { common = false, pair = () => true, resamples }: CompareScope = {},
): Result<Comparison, string> {
  const aligned = align(sides, measures, common);
  if (!aligned.ok) return aligned;
  const { sides: runs, left_out, other_truth } = aligned.value;
  const rows = runs[0]?.rows ?? [];
  const clusters = settings.cluster === "none" ? null : clustersOf(rows, settings.cluster).length;
  const given = resamples?.(clusters ?? rows.length);
  const resampled = runs.map((run, index) => resampledSide(run.rows, measures, settings, index, given));
  const pairs: { measure: Measure; a: AlignedSide; b: AlignedSide; figures: PairFigures }[] = [];
  for (const measure of measures) {
    for (const [i, a] of runs.entries()) {
      for (const [j, b] of runs.entries()) {
        const [left, right] = [resampled[i], resampled[j]];
        if (i >= j || !pair(a.side.label, b.side.label) || left === undefined || right === undefined) continue;
        pairs.push({ measure, a, b, figures: comparePair(left, right, measure, settings) });
      }
    }
  }
  const adjusted = holmAdjust(pairs.map(({ figures }) => figures.randomisation.p));
  const byMeasure = new Map<string, PairRow[]>(measures.map(({ name }) => [name, []]));
  for (const [index, { measure, a, b, figures }] of pairs.entries()) {
    const p = adjusted[index] ?? 1;
    const { lower, upper } = figures.ci95;
    byMeasure.get(measure.name)?.push({
      run_a: a.side.label,
      run_b: b.side.label,
      ...figures,
      p_holm: p,
      stands: p <= settings.alpha && (lower > 0 || upper < 0),
      without_failed: withoutFailed(a, b, measure),
    });
  }
  return ok({
    n: rows.length,
    runs: runs.map((run) => comparedRun(run, measures)),
    measures: Object.fromEntries(byMeasure),
    measure_order: measures.map(({ name }) => name),
    family: pairs.length,
    settings: { ...settings, samples: given?.samples ?? settings.samples, clusters },
    left_out,
    other_truth,
    noise: runs.flatMap((run) => noiseFloor(run.side.label, run.rows, measures, settings)),
    notes: notesOf(aligned.value, clusters),
  });
}

function comparedRun({ side, rows, failed }: AlignedSide, measures: readonly Measure[]): ComparedRun {
  const { label, meta, cases } = side;
  return {
    label,
    backend: meta.backend,
    rules: meta.rules.name,
    dataset_digest: meta.dataset.digest === "" ? null : meta.dataset.digest,
    n: new Set(cases.filter((one) => one.scored && one.excluded === null).map(({ id }) => id)).size,
    failed,
    values: Object.fromEntries(measures.map((measure) => [measure.name, pointOf(rows, measure).value])),
  };
}

function withoutFailed(a: AlignedSide, b: AlignedSide, measure: Measure): PairRow["without_failed"] {
  const failed = new Set([...a.failed, ...b.failed]);
  if (failed.size === 0) return null;
  const [left, right] = [a, b].map(({ rows }) =>
    pointOf(
      rows.filter(({ id }) => !failed.has(id)),
      measure,
    ),
  );
  if (left?.value == null || right?.value == null) return { n: 0, difference: 0 };
  return { n: left.n, difference: right.value - left.value };
}

function notesOf({ sides, left_out, other_truth }: Aligned, clusters: number | null): string[] {
  const notes: string[] = [];
  const rules = new Set(sides.map(({ side }) => side.meta.rules.digest));
  if (rules.size > 1) {
    const names = sides.map(({ side }) => `${side.label} ${side.meta.rules.name}`).join(", ");
    notes.push(`The runs were scored by different rules (${names}): part of a difference may be the rules'.`);
  }
  const digests = new Set(sides.map(({ side }) => side.meta.dataset.digest));
  if (digests.size > 1 && !digests.has(""))
    notes.push("The runs are over different data sets: only the cases that all of them have are compared.");
  if (digests.has(""))
    notes.push("A run does not say which data set it is over; its cases and their targets are those of the others.");
  if (other_truth.length > 0) {
    notes.push(
      `${other_truth.length} of the compared cases have other targets in one run than in another: ${some(other_truth)}.`,
    );
  }
  if (left_out.length > 0) {
    notes.push(
      `${left_out.length} cases are counted by some of the runs only and are not compared: ${some(left_out.map(({ id, missing_from: from }) => `${id} (${from.map(({ run, why }) => `${run}: ${why}`).join("; ")})`))}.`,
    );
  }
  for (const { side, failed } of sides) {
    if (failed.length > 0)
      notes.push(
        `${side.label} has no final answer to ${failed.length} of the compared cases; they count as zero: ${some(failed)}.`,
      );
  }
  for (const [i, { side: a }] of sides.entries()) {
    for (const { side: b } of sides.slice(i + 1)) {
      if (sameBackend(a, b))
        notes.push(`${a.label} and ${b.label} declare the same identity: their difference is what asking twice gives.`);
    }
  }
  if (clusters !== null && clusters < FEW_CLUSTERS) {
    notes.push(`The cases form ${clusters} clusters: with fewer than ${FEW_CLUSTERS}, intervals are too narrow.`);
  }
  return notes;
}

function sameBackend({ meta: a }: Side, { meta: b }: Side): boolean {
  return a.identity != null && JSON.stringify(a.identity) === JSON.stringify(b.identity) && a.rules.digest === b.rules.digest;
}

const SHOWN = 5;

function some(ids: readonly string[]): string {
  return ids.length > SHOWN ? `${ids.slice(0, SHOWN).join(", ")} and ${ids.length - SHOWN} more` : ids.join(", ");
}
