/**
 * What the tables of a comparison have in common, whether for the terminal, Markdown or LaTeX: marks, verdicts, sentences.
 *
 * A value bears the letters of the runs that it is better than, and only where that difference stands after Holm's adjustment; the best
 * one is set apart only if it stands against every other run. A table that prints the largest number in bold says more than its cases do.
 */
import { visible } from "../base/diagnostics.js";
import type { Comparison, PairRow } from "../scoring/compare.js";
import { plural } from "./numbers.js";

export interface MarkedValue {
  readonly value: number | null;
  /** Letters of the runs that it is better than, in order. */
  readonly beats: string;
  /** Better than every other run that it was compared with, and compared with all. */
  readonly best: boolean;
}

export interface MarkedRun {
  readonly letter: string;
  readonly label: string;
  readonly values: Readonly<Record<string, MarkedValue>>;
}

/** `a`, `b`, ..., `z`, `aa`. */
function letterOf(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest > 0 ? letterOf(rest - 1) : "") + String.fromCharCode(97 + (index % 26));
}

export function markedRuns({ runs, measures, measure_order }: Comparison): MarkedRun[] {
  const letters = new Map(runs.map(({ label }, index) => [label, letterOf(index)]));
  return runs.map(({ label, values }) => ({
    letter: letters.get(label) ?? "",
    label,
    values: Object.fromEntries(
      measure_order.map((name) => {
        const beaten = (measures[name] ?? []).flatMap((pair) => beatenBy(label, pair));
        const marks = beaten.map((other) => letters.get(other) ?? "").sort();
        const best = beaten.length > 0 && beaten.length === runs.length - 1;
        return [name, { value: values[name] ?? null, beats: marks.join(""), best }];
      }),
    ),
  }));
}

function beatenBy(label: string, { run_a, run_b, stands, difference }: PairRow): string[] {
  if (!stands) return [];
  if (label === run_b && difference > 0) return [run_a];
  if (label === run_a && difference < 0) return [run_b];
  return [];
}

/** Pairs in the order of the comparison, each with its rows by measure. */
export function pairsOf({
  measures,
  measure_order,
}: Comparison): { a: string; b: string; rows: readonly (readonly [string, PairRow])[] }[] {
  const pairs = new Map<string, { a: string; b: string; rows: [string, PairRow][] }>();
  for (const name of measure_order) {
    for (const row of measures[name] ?? []) {
      const key = JSON.stringify([row.run_a, row.run_b]);
      const pair = pairs.get(key) ?? { a: row.run_a, b: row.run_b, rows: [] };
      pairs.set(key, pair);
      pair.rows.push([name, row]);
    }
  }
  return [...pairs.values()];
}

/** `+0.123`. */
export function signed(value: number): string {
  const text = value.toFixed(3);
  return value > 0 && text !== "0.000" ? `+${text}` : text === "-0.000" ? "0.000" : text;
}

/** Three digits; below a thousandth as a bound, because a drawn p is known no better. */
export function pValue(p: number): string {
  return p < 0.001 ? "<0.001" : p.toFixed(3);
}

/** What a reader of one row must know beside its numbers; empty for most. */
export function cautions(name: string, row: PairRow, alpha: number): string[] {
  const lines: string[] = [];
  if (row.discordant === 0) lines.push(`${name}: no case differs.`);
  else if (row.least_p > alpha) {
    lines.push(
      `${name}: can't be significant with ${plural(row.discordant, "case")} that ${row.discordant === 1 ? "differs" : "differ"} (the least p is ${pValue(row.least_p)}).`,
    );
  }
  if (row.without_failed !== null) {
    lines.push(
      `${name}: without the cases that failed the difference is ${signed(row.without_failed.difference)} on ${row.without_failed.n} cases.`,
    );
  }
  if (row.ci95.instead !== undefined && row.discordant > 0)
    lines.push(`${name}: percentile interval, since ${row.ci95.instead}.`);
  return lines;
}

/** What could have been seen, for a row whose difference does not stand. */
export function powerLine(name: string, row: PairRow, n: number): string | null {
  if (row.stands || row.detectable_difference === null || row.discordant === 0) return null;
  const needed =
    row.cases_needed === null ? "" : `; a difference as large as this one would take about ${row.cases_needed} cases`;
  return `${name}: with ${n} cases a difference of ${row.detectable_difference.toFixed(3)} would be found (80 % power)${needed}.`;
}

/** Sentences on how the numbers were made. */
export function methodLines({ settings, family, n }: Comparison): string[] {
  const { samples, seed, method, cluster, clusters, alpha } = settings;
  const drawn =
    cluster === "none"
      ? "cases"
      : `${clusters ?? 0} ${cluster === "repository" ? "repositories" : "clusters of cases that share a pull request"}`;
  return [
    `${plural(n, "case")}; differences are second minus first. Intervals: 95 %, paired ${method === "bca" ? "BCa" : method} bootstrap over ${drawn}, ${samples} resamples, seed ${seed}.`,
    `p: paired randomisation test; p (Holm): adjusted over ${plural(family, "test")} (all pairs and measures shown). A difference stands if p (Holm) is at most ${alpha} and its interval does not hold 0.`,
  ];
}

/** The noise floor in sentences. */
export function noiseLines({ noise }: Comparison): string[] {
  return noise.map(
    ({ run, measure, n, difference, ci95, changed }) =>
      `${visible(run)}, ${measure}: asked twice, ${changed} of ${plural(n, "case")} changed; mean change ${signed(difference)} (${signed(ci95.lower)} to ${signed(ci95.upper)}).`,
  );
}
