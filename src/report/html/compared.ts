/**
 * The comparisons that a page shows where no compare stage made any: all pairs of cells, with the settings that `bench compare` has by default,
 * of as many measures (in the order of the report) as the work allows. Fewer measures are a smaller family of tests, which the page says.
 */
import { parseMeasures } from "../../measures/registry.js";
import { type Comparison, compareRuns, DEFAULT_COMPARE } from "../../scoring/compare.js";
import type { Cell } from "../json.js";

/** Resampled values (pairs x measures x cases x resamples): about two seconds, while a run waits for its report. */
export const WORK_OF_A_STAGE = 20_000_000;
/** About fifteen seconds, where a person asked for the page alone. */
export const WORK_OF_A_COMMAND = 160_000_000;

export interface Compared {
  readonly comparisons: readonly Comparison[];
  readonly note: string | null;
}

export function comparedCells(cells: readonly Cell[], most: number): Compared {
  if (cells.length < 2) return { comparisons: [], note: "There is one configuration only: nothing to compare." };
  const shared = cells[0]?.summary.measure_order.filter((name) =>
    cells.every(({ summary }) => Object.hasOwn(summary.measures, name)),
  );
  const parsed = parseMeasures(shared ?? []);
  if (!parsed.ok || parsed.value.length === 0) return { comparisons: [], note: "The configurations share no measure." };
  const cases = Math.max(...cells.map(({ summary }) => summary.n));
  const perMeasure = ((cells.length * (cells.length - 1)) / 2) * Math.max(1, cases) * DEFAULT_COMPARE.samples;
  const affordable = Math.floor(most / perMeasure);
  if (affordable === 0) {
    return {
      comparisons: [],
      note: "So many cases and configurations were not compared here: a compare stage in the pipeline, or `bench compare`, makes the intervals and tests.",
    };
  }
  const measures = parsed.value.slice(0, affordable);
  const sides = cells.map(({ label, meta, cases: scored }) => ({ label, meta, cases: scored }));
  const compared = compareRuns(sides, measures, DEFAULT_COMPARE);
  if (!compared.ok) return { comparisons: [], note: compared.error };
  const left = parsed.value.length - measures.length;
  return {
    comparisons: [compared.value],
    note:
      left === 0
        ? null
        : `Tested here: ${measures.map(({ name }) => name).join(", ")}. A compare stage in the pipeline, or \`bench compare\`, tests the measures that it is given.`,
  };
}
