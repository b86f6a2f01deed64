/**
 * Percentile bootstrap over cases (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13): draw as many
 * cases as there are, with replacement, compute the figure again, repeat; the interval is read off the quantiles (type 7).
 *
 * The cases are the only thing resampled: the interval says what other issues of the same kind would have given, not how
 * much a model's answers vary between runs. Which cases are drawn can be given from outside as a matrix of indices, so that
 * the same resamples can be fed to another program and the bounds compared digit by digit.
 */

import { type RandomStream, randomStream } from "./generator.js";
import { quantileOfSorted } from "./quantile.js";
import { resolveUndefined, type UndefinedPolicy } from "./undefined-values.js";

const DEFAULT_SAMPLES = 1000;
export const DEFAULT_SEED = 42;

/** Resample `s` is `indices[s * n] .. indices[s * n + n - 1]`, each an index of a case (0-based). */
export interface ResampleMatrix {
  readonly n: number;
  readonly samples: number;
  readonly indices: Int32Array;
}

export interface BootstrapOptions {
  /** Resamples, at least 1; 1000 by default. */
  readonly samples?: number;
  /** 42 by default. */
  readonly seed?: number;
  /** Name of the random stream. Equal names give equal resamples, which keeps the figures of one report comparable. */
  readonly stream?: string;
  /** Coverage, 0.95 by default. */
  readonly level?: number;
  /** What undefined values count as; `zero` by default. */
  readonly undefinedAs?: UndefinedPolicy;
  /** Takes the place of `samples`, `seed` and `stream`. */
  readonly resamples?: ResampleMatrix;
}

/** A figure with its interval. All three are null where there is no case. */
export interface Interval {
  readonly value: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
  /** Cases that the figure is made of. */
  readonly n: number;
  /** Cases whose value was undefined. */
  readonly undefined: number;
}

export interface Counts {
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
}

/** Mean over cases, and its percentile interval. `null` = undefined for that case. */
export function bootstrapMean(values: readonly (number | null)[], options: BootstrapOptions = {}): Interval {
  const resolved = resolveUndefined(values, options.undefinedAs);
  const n = resolved.values.length;
  if (n === 0) return { value: null, lower: null, upper: null, n, undefined: resolved.undefined };
  return {
    value: mean(resolved.values),
    ...percentileBounds(resampledMeans(resolved.values, options), options.level),
    n,
    undefined: resolved.undefined,
  };
}

/** A figure made of counts that are pooled over cases (micro precision, recall, F1), and its percentile interval. */
export function bootstrapPooled(
  counts: readonly Counts[],
  figure: (pooled: Counts) => number,
  options: BootstrapOptions = {},
): Interval {
  const n = counts.length;
  if (n === 0) return { value: null, lower: null, upper: null, n, undefined: 0 };
  const tp = Float64Array.from(counts, (row) => row.tp);
  const fp = Float64Array.from(counts, (row) => row.fp);
  const fn = Float64Array.from(counts, (row) => row.fn);
  const figures = mapResamples(n, options, (indices, start) => {
    const pooled = { tp: 0, fp: 0, fn: 0 };
    for (let i = start; i < start + n; i++) {
      const row = indices[i] ?? 0;
      pooled.tp += tp[row] ?? 0;
      pooled.fp += fp[row] ?? 0;
      pooled.fn += fn[row] ?? 0;
    }
    return figure(pooled);
  });
  return {
    value: figure({ tp: sum(tp), fp: sum(fp), fn: sum(fn) }),
    ...percentileBounds(figures, options.level),
    n,
    undefined: 0,
  };
}

/** The mean of every resample, in the order of the resamples. */
function resampledMeans(values: Float64Array, options: BootstrapOptions): Float64Array {
  const n = values.length;
  return mapResamples(n, options, (indices, start) => {
    let total = 0;
    for (let i = start; i < start + n; i++) total += values[indices[i] ?? 0] ?? 0;
    return total / n;
  });
}

/** Percentile bounds of resampled figures; they may come in any order. */
export function percentileBounds(figures: Float64Array, level = 0.95): { readonly lower: number; readonly upper: number } {
  const tail = tailOf(level);
  const sorted = Float64Array.from(figures).sort();
  return { lower: quantileOfSorted(sorted, tail), upper: quantileOfSorted(sorted, 1 - tail) };
}

/** Probability in each tail of a two-sided interval. */
export function tailOf(level: number): number {
  if (!(level > 0 && level < 1)) throw new RangeError(`coverage ${level} is not between 0 and 1`);
  // (1 - 0.95) / 2 is 0.025000000000000022; rounding keeps the quantile's position where it is meant to be.
  return Number(((1 - level) / 2).toPrecision(12));
}

/** The resamples that `seed` and `stream` stand for, written out (4 bytes per index: mind n times samples). */
export function resampleMatrix(n: number, options: Omit<BootstrapOptions, "resamples"> = {}): ResampleMatrix {
  const samples = samplesOf(options);
  const draw = streamOf(options);
  const indices = new Int32Array(n * samples);
  fill(indices, n, draw);
  return { n, samples, indices };
}

/** Runs `figure` over all resamples without ever holding more than one of them, unless the matrix was given. */
function mapResamples(
  n: number,
  options: BootstrapOptions,
  figure: (indices: Int32Array, start: number) => number,
): Float64Array {
  const given = options.resamples;
  if (given !== undefined) {
    checkMatrix(given, n);
    return Float64Array.from({ length: given.samples }, (_, sample) => figure(given.indices, sample * n));
  }
  const draw = streamOf(options);
  const row = new Int32Array(n);
  return Float64Array.from({ length: samplesOf(options) }, () => {
    fill(row, n, draw);
    return figure(row, 0);
  });
}

function fill(indices: Int32Array, n: number, draw: RandomStream): void {
  for (let i = 0; i < indices.length; i++) indices[i] = draw.below(n);
}

function samplesOf(options: BootstrapOptions): number {
  const samples = options.samples ?? DEFAULT_SAMPLES;
  if (!Number.isInteger(samples) || samples < 1)
    throw new RangeError(`${samples} resamples: at least 1 is needed, a whole number`);
  return samples;
}

function streamOf(options: BootstrapOptions): RandomStream {
  return randomStream(options.seed ?? DEFAULT_SEED, options.stream ?? "bootstrap");
}

export function checkMatrix(matrix: ResampleMatrix, n: number): void {
  if (matrix.n !== n) throw new RangeError(`the resamples are of ${matrix.n} cases, the values are ${n}`);
  if (matrix.samples < 1 || matrix.indices.length !== matrix.n * matrix.samples) {
    throw new RangeError(`${matrix.indices.length} indices are not ${matrix.samples} resamples of ${matrix.n} cases`);
  }
  if (matrix.indices.some((index) => index < 0 || index >= n)) throw new RangeError("a resample names a case that is not there");
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

function mean(values: Float64Array): number {
  return sum(values) / values.length;
}
