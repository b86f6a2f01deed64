/**
 * The original program's summary: micro and macro figures and their 95 % intervals, member for member as its JSON has them, so
 * that its old reports can be continued and checked.
 *
 * It differs from `bootstrap.ts` in what it draws (Python's Mersenne Twister, one stream for all six figures), in rounding, and
 * in its denominators: rows that failed or were never asked are not passed in here at all.
 */
import { PythonRandom } from "./mersenne-twister.js";

export interface SeedRow {
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

interface SeedBounds {
  readonly lower: number;
  readonly upper: number;
}

interface SeedFigures<T> {
  readonly precision: T;
  readonly recall: T;
  readonly f1: T;
}

export interface SeedSummary {
  readonly issues_evaluated: number;
  readonly micro: SeedFigures<number> & {
    readonly true_positives: number;
    readonly false_positives: number;
    readonly false_negatives: number;
  };
  readonly macro: SeedFigures<number>;
  /** null where there is no row. */
  readonly confidence_interval_95: {
    readonly bootstrap_samples: number;
    readonly bootstrap_seed: number;
    readonly micro: SeedFigures<SeedBounds>;
    readonly macro: SeedFigures<SeedBounds>;
  } | null;
}

/** A row with its second view: targets cut to the files that the repository has, predictions not. */
export interface SeedInRepoRow {
  /** Number of expected files. */
  readonly expected: number;
  readonly inRepo: (SeedRow & { readonly expected: number }) | null;
}

export interface SeedOptions {
  /** Whole number; below 1 counts as 1. */
  readonly samples?: number;
  readonly seed?: number;
}

/** Summary of the rows that count, in the order of the data set (the resamples depend on it). */
export function seedSummary(rows: readonly SeedRow[], options: SeedOptions = {}): SeedSummary {
  const columns = columnsOf(rows);
  const figures = aggregate(columns, null);
  return {
    issues_evaluated: rows.length,
    micro: {
      true_positives: figures.tp,
      false_positives: figures.fp,
      false_negatives: figures.fn,
      precision: figures.values[0],
      recall: figures.values[1],
      f1: figures.values[2],
    },
    macro: { precision: figures.values[3], recall: figures.values[4], f1: figures.values[5] },
    confidence_interval_95: rows.length === 0 ? null : intervals(columns, options),
  };
}

/**
 * The `in_repo_only` member. Rows without a second view are left out of it, rows without a target in the repository out of its
 * figures. Its seed is one more than the first view's.
 */
export function seedInRepoSummary(rows: readonly SeedInRepoRow[], options: SeedOptions = {}) {
  const seen = rows.flatMap((row) => (row.inRepo === null ? [] : [{ expected: row.expected, inRepo: row.inRepo }]));
  const counted = seen.filter((row) => row.inRepo.expected > 0);
  const original = seen.reduce((total, row) => total + row.expected, 0);
  const retained = seen.reduce((total, row) => total + row.inRepo.expected, 0);
  const discarded = Math.max(0, original - retained);
  const summary = seedSummary(
    counted.map((row) => row.inRepo),
    { ...options, seed: (options.seed ?? 42) + 1 },
  );
  return {
    enabled: seen.length > 0,
    issues_with_in_repo_metrics: seen.length,
    issues_with_in_repo_targets: counted.length,
    issues_without_in_repo_targets: seen.length - counted.length,
    issues_evaluated: summary.issues_evaluated,
    original_expected_java_files_total: original,
    retained_expected_java_files_total: retained,
    expected_java_files_total: original,
    expected_java_files_in_repo_total: retained,
    discarded_expected_java_files_total: discarded,
    discarded_expected_java_files_ratio: original > 0 ? discarded / original : 0,
    issues_with_discarded_expected_java_files: seen.filter((row) => row.expected > row.inRepo.expected).length,
    micro: summary.micro,
    macro: summary.macro,
    confidence_interval_95: summary.confidence_interval_95,
  };
}

interface Columns {
  readonly n: number;
  readonly tp: Float64Array;
  readonly fp: Float64Array;
  readonly fn: Float64Array;
  readonly precision: Float64Array;
  readonly recall: Float64Array;
  readonly f1: Float64Array;
}

function columnsOf(rows: readonly SeedRow[]): Columns {
  const column = (of: (row: SeedRow) => number) => Float64Array.from(rows, of);
  return {
    n: rows.length,
    tp: column((row) => row.tp),
    fp: column((row) => row.fp),
    fn: column((row) => row.fn),
    precision: column((row) => row.precision),
    recall: column((row) => row.recall),
    f1: column((row) => row.f1),
  };
}

/** Micro precision, recall, F1, then macro. */
type Six = readonly [number, number, number, number, number, number];

/** Over the rows that `drawn` names (all of them, in order, for null). Sums run in that order: rounding is part of the result. */
function aggregate(columns: Columns, drawn: Int32Array | null): { tp: number; fp: number; fn: number; values: Six } {
  let tp = 0;
  let fp = 0;
  let fn = 0;
  let precisions = 0;
  let recalls = 0;
  let f1s = 0;
  for (let i = 0; i < columns.n; i++) {
    const row = drawn === null ? i : (drawn[i] ?? 0);
    tp += columns.tp[row] ?? 0;
    fp += columns.fp[row] ?? 0;
    fn += columns.fn[row] ?? 0;
    precisions += columns.precision[row] ?? 0;
    recalls += columns.recall[row] ?? 0;
    f1s += columns.f1[row] ?? 0;
  }
  const precision = tp + fp > 0 ? tp / (tp + fp) : 0;
  const recall = tp + fn > 0 ? tp / (tp + fn) : 0;
  const f1 = precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0;
  const n = Math.max(1, columns.n);
  return { tp, fp, fn, values: [precision, recall, f1, precisions / n, recalls / n, f1s / n] };
}

function intervals(columns: Columns, options: SeedOptions): SeedSummary["confidence_interval_95"] {
  const samples = Math.max(1, Math.trunc(options.samples ?? 1000));
  const seed = options.seed ?? 42;
  const random = new PythonRandom(seed);
  const resampled = Array.from({ length: 6 }, () => new Float64Array(samples));
  const drawn = new Int32Array(columns.n);
  for (let sample = 0; sample < samples; sample++) {
    for (let i = 0; i < columns.n; i++) drawn[i] = random.randrange(columns.n);
    for (const [figure, value] of aggregate(columns, drawn).values.entries()) {
      const column = resampled[figure];
      if (column !== undefined) column[sample] = value;
    }
  }
  const bounds = resampled.map((figures) => {
    const sorted = figures.sort();
    return { lower: seedPercentile(sorted, 0.025), upper: seedPercentile(sorted, 0.975) };
  });
  const at = (figure: number): SeedBounds => bounds[figure] ?? { lower: 0, upper: 0 };
  return {
    bootstrap_samples: samples,
    bootstrap_seed: seed,
    micro: { precision: at(0), recall: at(1), f1: at(2) },
    macro: { precision: at(3), recall: at(4), f1: at(5) },
  };
}

/** Type 7 as in `quantile.ts`, but weighted as the original weights it, which rounds differently in the last digit. */
function seedPercentile(sorted: Float64Array, q: number): number {
  const position = (sorted.length - 1) * q;
  const low = Math.floor(position);
  const high = Math.ceil(position);
  const weight = position - low;
  if (low === high) return sorted[low] ?? 0;
  return (sorted[low] ?? 0) * (1 - weight) + (sorted[high] ?? 0) * weight;
}
