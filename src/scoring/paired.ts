/** One measure of two runs over the same cases: interval of the difference, tests, and the cases behind it. */
import type { Measure } from "../measures/contract.js";
import type { ResampleMatrix } from "../statistics/bootstrap.js";
import { type Figure, meanOf, meanOfSome, type Resampler, resampler } from "../statistics/figures.js";
import { boundsBy, type IntervalMethod } from "../statistics/interval-methods.js";
import { mcnemarExact } from "../statistics/mcnemar.js";
import { powerOf } from "../statistics/power.js";
import { leastRandomisationP, type RandomisationResult, randomisationTest, swapTest } from "../statistics/randomisation.js";
import { type ClusterBy, clustersOf, designOf } from "./design.js";
import type { ViewRow } from "./views.js";

/** The stream that cases are drawn from in comparisons. */
export const COMPARE_STREAM = "compare";

export interface PairedSettings {
  readonly samples: number;
  readonly seed: number;
  readonly method: IntervalMethod;
  readonly cluster: ClusterBy;
  readonly alpha: number;
}

export interface PairFigures {
  /** Values of the first and the second run, and second minus first. */
  readonly a: number;
  readonly b: number;
  readonly difference: number;
  readonly ci95: {
    readonly lower: number;
    readonly upper: number;
    readonly method: IntervalMethod;
    /** Why it is not the method that was asked for. */
    readonly instead?: string;
  };
  readonly randomisation: RandomisationResult;
  /** Measures of 0 and 1 only: cases that only the first (b) or only the second (c) has right. */
  readonly mcnemar?: { readonly b: number; readonly c: number; readonly p: number };
  /** Cases on which the second is better, equal, worse. */
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  /** Cases (clusters, where these are drawn) that differ at all. */
  readonly discordant: number;
  /** The least p that so many differing cases can give; above alpha, no result could have been significant. */
  readonly least_p: number;
  /** Median of the absolute differences that are not 0; null where there is none. */
  readonly median_difference: number | null;
  /** The smallest true difference that so many cases show with 80 % power, and the cases that this difference would need. */
  readonly detectable_difference: number | null;
  readonly cases_needed: number | null;
}

export interface ResampledSide {
  readonly rows: readonly ViewRow[];
  readonly resampler: Resampler;
  readonly columns: ReadonlyMap<string, number>;
}

const LEVEL = 0.95;
const ROUNDING = 1e-12;

/**
 * All sides draw the same cases (one stream) and each its own answers, where cases have several: `index` tells the sides apart.
 */
export function resampledSide(
  rows: readonly ViewRow[],
  measures: readonly Measure[],
  settings: PairedSettings,
  index: number,
  resamples?: ResampleMatrix,
): ResampledSide {
  const several = rows.some(({ answers }) => answers.length > 1);
  const each = (of: (scores: ViewRow["scores"], row: ViewRow) => number) =>
    Float64Array.from(rows.flatMap((row) => (several ? row.answers : [row.scores]).map((scores) => of(scores, row))));
  const columns = new Map<string, Float64Array>([
    ["tp", each((scores) => scores.counts.true_positives)],
    ["fp", each((scores) => scores.counts.false_positives)],
    ["fn", each((scores) => scores.counts.false_negatives)],
    ...measures
      .filter((measure) => measure.pooled === undefined)
      .map(
        (measure) =>
          [
            measure.name,
            each((scores, row) => (measure.ofRepeats === undefined ? scores : row.scores).measures[measure.name] ?? 0),
          ] as const,
      ),
    ...measures
      .filter((measure) => measure.level !== undefined)
      .map((measure) => [`cases of ${measure.name}`, each((scores) => (scores.measures[measure.name] == null ? 0 : 1))] as const),
  ]);
  const sizes = rows.map(({ answers }) => (several ? answers.length : 1));
  const design = designOf(rows, sizes, settings.cluster, several);
  const options = {
    samples: settings.samples,
    seed: settings.seed,
    stream: COMPARE_STREAM,
    answersStream: `${COMPARE_STREAM}/answers/${index}`,
    ...(resamples === undefined ? {} : { resamples }),
  };
  return {
    rows,
    resampler: resampler([...columns.values()], design, options),
    columns: new Map([...columns.keys()].map((name, at) => [name, at])),
  };
}

export function comparePair(a: ResampledSide, b: ResampledSide, measure: Measure, settings: PairedSettings): PairFigures {
  const figure = figureOf(a, measure);
  const [valueA, valueB] = [a.resampler.estimate(figure) ?? 0, b.resampler.estimate(figure) ?? 0];
  const difference = valueB - valueA;
  const perCase = differencesOf(a.rows, b.rows, measure);
  const drawn = minus(b.resampler.figures(figure), a.resampler.figures(figure));
  const leftOut = () => minus(b.resampler.leftOut(figure), a.resampler.leftOut(figure));
  const { lower, upper, method, instead } = boundsBy(settings.method, difference, drawn, leftOut, LEVEL);
  const units = settings.cluster === "none" ? a.rows.map((_, index) => [index]) : clustersOf(a.rows, settings.cluster);
  const tested = testOf(a.rows, b.rows, perCase, units, measure, settings);
  const named = (sign: number) => a.rows.filter((_, index) => Math.sign(perCase[index] ?? 0) === sign).map(({ id }) => id);
  const [gained, lost] = [named(1), named(-1)];
  const power = measure.pooled === undefined ? powerOf(perCase, settings.alpha) : { detectable: null, needed: null };
  return {
    a: valueA,
    b: valueB,
    difference,
    ci95: { lower, upper, method, ...(instead === undefined ? {} : { instead }) },
    randomisation: tested.result,
    ...mcnemarOf(a.rows, b.rows, perCase, measure, settings),
    wins: gained.length,
    ties: a.rows.length - gained.length - lost.length,
    losses: lost.length,
    gained,
    lost,
    discordant: tested.discordant,
    least_p: leastRandomisationP(tested.discordant),
    median_difference: medianOf([...perCase].map(Math.abs).filter((value) => value !== 0)),
    detectable_difference: power.detectable,
    cases_needed: power.needed,
  };
}

function figureOf({ columns }: ResampledSide, measure: Measure): Figure {
  const { pooled } = measure;
  const column = columns.get(measure.name) ?? 0;
  if (pooled === undefined && measure.level !== undefined)
    return meanOfSome(column, columns.get(`cases of ${measure.name}`) ?? 0);
  if (pooled === undefined) return meanOf(column);
  const [tp, fp, fn] = ["tp", "fp", "fn"].map((name) => columns.get(name) ?? 0) as [number, number, number];
  return (sum) => pooled({ tp: sum(tp), fp: sum(fp), fn: sum(fn) });
}

function minus(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, index) => value - (b[index] ?? 0));
}

/** Second minus first, case by case; for a pooled measure the case's own value of it, which says who did better there. */
function differencesOf(a: readonly ViewRow[], b: readonly ViewRow[], measure: Measure): Float64Array {
  const value = ({ scores }: ViewRow): number => {
    if (measure.pooled === undefined) return scores.measures[measure.name] ?? 0;
    const { true_positives: tp, false_positives: fp, false_negatives: fn } = scores.counts;
    return measure.pooled({ tp, fp, fn });
  };
  return Float64Array.from(a, (row, index) => {
    const other = b[index];
    const difference = other === undefined ? 0 : value(other) - value(row);
    // Means over answers differ by rounding where they are equal.
    return Math.abs(difference) < ROUNDING ? 0 : difference;
  });
}

/** Where clusters are drawn, whole clusters change sides: cases of one cluster are not exchangeable one by one. */
function testOf(
  a: readonly ViewRow[],
  b: readonly ViewRow[],
  perCase: Float64Array,
  units: readonly (readonly number[])[],
  { pooled }: Measure,
  settings: PairedSettings,
): { readonly result: RandomisationResult; readonly discordant: number } {
  const options = { samples: settings.samples, seed: settings.seed, stream: "compare/randomisation" };
  if (pooled === undefined) {
    const sums = units.map((members) => members.reduce((sum, index) => sum + (perCase[index] ?? 0), 0));
    return { result: randomisationTest(sums, options), discordant: sums.filter((sum) => sum !== 0).length };
  }
  const counts = ({ scores: { counts: row } }: ViewRow) => [row.true_positives, row.false_positives, row.false_negatives];
  const total = (rows: readonly ViewRow[]) => [0, 1, 2].map((at) => rows.reduce((sum, row) => sum + (counts(row)[at] ?? 0), 0));
  const [left, right] = [total(a), total(b)];
  // What a unit carries over to the other side when it changes sides.
  const moved = units
    .map((members) =>
      [0, 1, 2].map((at) =>
        members.reduce((sum, index) => {
          const [mine, theirs] = [a[index], b[index]];
          return mine === undefined || theirs === undefined ? sum : sum + (counts(theirs)[at] ?? 0) - (counts(mine)[at] ?? 0);
        }, 0),
      ),
    )
    .filter((change) => change.some((value) => value !== 0));
  const figure = (swapped: Uint8Array): number => {
    const change = [0, 0, 0];
    for (let unit = 0; unit < moved.length; unit++) {
      if (swapped[unit] === 1) for (let at = 0; at < 3; at++) change[at] = (change[at] ?? 0) + (moved[unit]?.[at] ?? 0);
    }
    const of = (totals: readonly number[], sign: number) => {
      const [tp = 0, fp = 0, fn = 0] = totals.map((value, at) => value + sign * (change[at] ?? 0));
      return pooled({ tp, fp, fn });
    };
    return of(right, -1) - of(left, 1);
  };
  return { result: swapTest(moved.length, figure, options), discordant: moved.length };
}

/** Only where every value is 0 or 1 and every case is a draw of its own. */
function mcnemarOf(
  a: readonly ViewRow[],
  b: readonly ViewRow[],
  perCase: Float64Array,
  { name, binary, pooled }: Measure,
  { cluster }: PairedSettings,
): Pick<PairFigures, "mcnemar"> {
  if (!binary || pooled !== undefined || cluster !== "none") return {};
  const zeroOrOne = ({ scores }: ViewRow) => [0, 1, null].includes(scores.measures[name] ?? null);
  if (!a.every(zeroOrOne) || !b.every(zeroOrOne)) return {};
  const onlyA = perCase.filter((value) => value < 0).length;
  const onlyB = perCase.filter((value) => value > 0).length;
  return { mcnemar: { b: onlyA, c: onlyB, p: mcnemarExact(onlyA, onlyB) } };
}

function medianOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((x, y) => x - y);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}
