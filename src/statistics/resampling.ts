/**
 * What one resample is: cases drawn with replacement, or whole clusters of cases (issues that share a pull request, repositories), and
 * for each drawn case, where there are several answers to it, answers drawn with replacement again.
 *
 * Figures are functions of column sums (a mean is sum / cases, micro precision is TP / (TP + FP)), so a resample is kept as the weight
 * of each row, drawn once, and every column is summed with the same weights: all figures of a report are about the same resamples, and
 * asking for one more changes no other. Cases are drawn from one stream and answers from another, so that repeats don't change which
 * cases are drawn. One thread does it: ten thousand resamples of a thousand cases take less time than starting another.
 *
 * Clusters: Field and Welsh, "Bootstrapping clustered data", JRSS B 69, 2007. Answers within cases: Davison and Hinkley, "Bootstrap
 * Methods and their Application", 1997, section 3.8.
 */
import { checkMatrix, DEFAULT_SEED, type ResampleMatrix } from "./bootstrap.js";
import { randomStream } from "./generator.js";

/** Which rows belong to which case, and which cases are drawn together. Indices are 0-based. */
export interface Design {
  /** Rows of each case: one, or one per answer to it. Every row belongs to exactly one case. */
  readonly cases: readonly (readonly number[])[];
  /** Cases of each cluster; absent = each case by itself. Every case belongs to exactly one cluster. */
  readonly clusters?: readonly (readonly number[])[];
  /** Draw among the answers of a case too; otherwise each counts alike. */
  readonly drawAnswers?: boolean;
}

export interface ResamplingOptions {
  /** At least 1. */
  readonly samples: number;
  readonly seed?: number;
  /** `bootstrap` by default, the stream that all intervals are drawn from. */
  readonly stream?: string;
  /** Stream of the draws among answers; two systems on the same cases need two, or their answers would be drawn in step. */
  readonly answersStream?: string;
  /** Takes the place of `samples` and `seed`: indices of units (clusters, or cases), one row per resample. */
  readonly resamples?: ResampleMatrix;
}

export interface ResampledSums {
  /** Weighted sums: `sums[column][sample]`. */
  readonly sums: readonly Float64Array[];
  /** Cases in each resample: constant unless clusters differ in size. */
  readonly cases: Float64Array;
}

/** `n` rows, each a case by itself. */
export function singleRows(n: number): Design {
  return { cases: Array.from({ length: n }, (_, row) => [row]) };
}

/** What is drawn: clusters, or cases. */
export function unitsOf({ cases, clusters }: Design): readonly (readonly number[])[] {
  return clusters ?? cases.map((_, index) => [index]);
}

/** Columns have one value per row. Without a unit all sums are 0. */
export function resampledColumns(columns: readonly Float64Array[], design: Design, options: ResamplingOptions): ResampledSums {
  const units = unitsOf(design);
  const samples = options.resamples?.samples ?? options.samples;
  if (!Number.isInteger(samples) || samples < 1)
    throw new RangeError(`${samples} resamples: at least 1 is needed, a whole number`);
  const sums = columns.map(() => new Float64Array(samples));
  const cases = new Float64Array(samples);
  if (units.length === 0) return { sums, cases };
  const drawUnit = unitDrawer(units.length, options);
  const rows = columns[0]?.length ?? design.cases.reduce((total, members) => total + members.length, 0);
  // Columns that are equal, or all zeros, are summed once, or not at all: many figures of a report are the same by another name.
  const first = columns.map((column, index) => columns.findIndex((other, at) => at === index || sameValues(column, other)));
  const distinct = columns.flatMap((column, index) => {
    const into = sums[index];
    return into === undefined || first[index] !== index || column.every((value) => value === 0) ? [] : [{ column, into }];
  });
  const simple =
    design.clusters === undefined && design.cases.every((members, index) => members.length === 1 && members[0] === index);
  const plan = simple ? [] : units.map((members) => members.map((index) => design.cases[index] ?? []));
  const answers =
    design.drawAnswers === true ? randomStream(options.seed ?? DEFAULT_SEED, options.answersStream ?? "bootstrap/answers") : null;
  const weights = new Float64Array(rows);
  const add = (row: number, weight: number) => {
    weights[row] = (weights[row] ?? 0) + weight;
  };
  for (let sample = 0; sample < samples; sample++) {
    weights.fill(0);
    let drawn = 0;
    if (simple) {
      for (let i = 0; i < units.length; i++) {
        const row = drawUnit(sample, i);
        weights[row] = (weights[row] ?? 0) + 1;
      }
      drawn = units.length;
    }
    for (let i = 0; !simple && i < units.length; i++) {
      for (const members of plan[drawUnit(sample, i)] ?? []) {
        drawn++;
        for (const row of members) {
          if (answers !== null && members.length > 1) add(members[answers.below(members.length)] ?? row, 1 / members.length);
          else add(row, 1 / members.length);
        }
      }
    }
    cases[sample] = drawn;
    for (const { column, into } of distinct) into[sample] = weightedSum(column, weights);
  }
  return { sums: sums.map((own, index) => sums[first[index] ?? index] ?? own), cases };
}

function sameValues(a: Float64Array, b: Float64Array): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** The unit that comes `i`-th in a sample; called in order. */
function unitDrawer(units: number, { seed, stream, resamples }: ResamplingOptions): (sample: number, i: number) => number {
  if (resamples === undefined) {
    const draw = randomStream(seed ?? DEFAULT_SEED, stream ?? "bootstrap");
    return () => draw.below(units);
  }
  checkMatrix(resamples, units);
  const { indices } = resamples;
  return (sample, i) => indices[sample * units + i] ?? 0;
}

function weightedSum(values: Float64Array, weights: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] ?? 0) * (weights[i] ?? 0);
  return sum;
}

/** Sums of each column over all rows, each case weighing 1, and the same without each unit in turn: what the jackknife needs. */
export function leaveOneOut(
  columns: readonly Float64Array[],
  design: Design,
): {
  readonly totals: readonly number[];
  readonly without: readonly Float64Array[];
  readonly cases: number;
  readonly casesWithout: Float64Array;
} {
  const units = unitsOf(design);
  const perUnit = columns.map((column) =>
    Float64Array.from(units, (members) =>
      members.reduce((sum, index) => {
        const rows = design.cases[index] ?? [];
        return sum + rows.reduce((part, row) => part + (column[row] ?? 0), 0) / Math.max(1, rows.length);
      }, 0),
    ),
  );
  const totals = perUnit.map((values) => values.reduce((sum, value) => sum + value, 0));
  const cases = units.reduce((sum, members) => sum + members.length, 0);
  return {
    totals,
    without: perUnit.map((values, column) => values.map((value) => (totals[column] ?? 0) - value)),
    cases,
    casesWithout: Float64Array.from(units, (members) => cases - members.length),
  };
}
