/** Figures and their intervals from one pass over the resamples: whatever can be computed from sums of columns over cases. */
import { boundsBy, type IntervalMethod, type MethodBounds } from "./interval-methods.js";
import { type Design, leaveOneOut, type ResamplingOptions, resampledColumns } from "./resampling.js";

/** `sum(column)`: sum over the cases at hand, each weighing 1 however many rows it has; `cases`: how many these are. */
export type Figure = (sum: (column: number) => number, cases: number) => number;

/** Mean of a column over cases. */
export function meanOf(column: number): Figure {
  return (sum, cases) => sum(column) / cases;
}

/** Mean of a column over the cases that `counted` marks with 1; a resample without any of them gives 0. */
export function meanOfSome(column: number, counted: number): Figure {
  return (sum) => {
    const cases = sum(counted);
    return cases > 0 ? sum(column) / cases : 0;
  };
}

export interface Resampler {
  /** Null where there is no case. */
  readonly estimate: (figure: Figure) => number | null;
  readonly interval: (figure: Figure, method: IntervalMethod, level: number) => MethodBounds | null;
  /** The figure of every resample, in their order. */
  readonly figures: (figure: Figure) => Float64Array;
  /** The figure without each unit in turn. */
  readonly leftOut: (figure: Figure) => Float64Array;
}

/** Draws the resamples once; columns have one value per row. */
export function resampler(columns: readonly Float64Array[], design: Design, options: ResamplingOptions): Resampler {
  const { sums, cases } = resampledColumns(columns, design, options);
  const whole = leaveOneOut(columns, design);
  const evaluate = (from: readonly Float64Array[], counts: Float64Array, figure: Figure): Float64Array => {
    let at = 0;
    const sum = (column: number) => from[column]?.[at] ?? 0;
    return counts.map((count, index) => {
      at = index;
      return figure(sum, count);
    });
  };
  const estimate = (figure: Figure) => (whole.cases === 0 ? null : figure((column) => whole.totals[column] ?? 0, whole.cases));
  const figures = (figure: Figure) => evaluate(sums, cases, figure);
  const leftOut = (figure: Figure) => evaluate(whole.without, whole.casesWithout, figure);
  return {
    estimate,
    figures,
    leftOut,
    interval: (figure, method, level) => {
      const value = estimate(figure);
      if (value === null) return null;
      return boundsBy(method, value, figures(figure), () => leftOut(figure), level);
    },
  };
}
