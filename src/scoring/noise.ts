/**
 * The noise floor: what the same backend gives when it is asked twice. A difference between two backends that is no larger says
 * nothing about either, however many cases it is made of.
 */
import type { Measure } from "../measures/contract.js";
import { meanOf, resampler } from "../statistics/figures.js";
import { singleRows } from "../statistics/resampling.js";
import type { ViewRow } from "./views.js";

export interface NoiseFloor {
  readonly run: string;
  readonly measure: string;
  /** Cases with at least two answers. */
  readonly n: number;
  /** Second answer minus first: mean, its percentile interval, and how many cases changed at all. */
  readonly difference: number;
  readonly ci95: { readonly lower: number; readonly upper: number };
  readonly changed: number;
}

export function noiseFloor(
  run: string,
  rows: readonly ViewRow[],
  measures: readonly Measure[],
  { samples, seed }: { readonly samples: number; readonly seed: number },
): NoiseFloor[] {
  const twice = rows.filter(({ answers }) => answers.length > 1);
  if (twice.length === 0) return [];
  // What is pooled over cases, or made of several answers, is not a value of one answer.
  const single = measures.filter(({ pooled, ofRepeats }) => pooled === undefined && ofRepeats === undefined);
  const columns = single.map(({ name }) =>
    Float64Array.from(twice, ({ answers: [first, second] }) => (second?.measures[name] ?? 0) - (first?.measures[name] ?? 0)),
  );
  const drawn = resampler(columns, singleRows(twice.length), { samples, seed, stream: "noise" });
  return single.map(({ name }, index) => {
    const figure = meanOf(index);
    const bounds = drawn.interval(figure, "percentile", 0.95);
    return {
      run,
      measure: name,
      n: twice.length,
      difference: drawn.estimate(figure) ?? 0,
      ci95: { lower: bounds?.lower ?? 0, upper: bounds?.upper ?? 0 },
      changed: columns[index]?.filter((value) => value !== 0).length ?? 0,
    };
  });
}
