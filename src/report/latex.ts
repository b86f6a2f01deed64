/** Tables for papers (package `booktabs`): figures of a run with their intervals, and a comparison with its marks. */
import type { Comparison } from "../scoring/compare.js";
import { markedRuns } from "./comparison.js";
import type { Cell } from "./json.js";
import { percent, plural, ratio } from "./numbers.js";

/** Figures of all cells; the interval in small type after each value. */
export function latexFigures(cells: readonly Cell[]): string {
  const names = [...new Set(cells.flatMap(({ summary }) => summary.measure_order))];
  const rows = cells.map(({ label, summary }) => [
    latexText(label),
    String(summary.n),
    ...names.map((name) => {
      const measure = summary.measures[name];
      const value = ratio(measure?.value);
      if (measure === undefined || measure.lower === null || measure.upper === null) return value;
      return `${value} {\\scriptsize [${ratio(measure.lower)}, ${ratio(measure.upper)}]}`;
    }),
  ]);
  const bootstrap = cells[0]?.summary.bootstrap ?? null;
  const note =
    bootstrap === null
      ? []
      : [
          `% ${percent(bootstrap.level).replace("%", "\\%")} intervals: ${bootstrap.method} bootstrap, ${bootstrap.samples} resamples, seed ${bootstrap.seed}`,
        ];
  return table(["run", "$n$", ...names.map(latexText)], rows, note);
}

/** Raised letters name the runs that a value is better than, where the difference stands; bold as in `markedRuns`. */
export function latexComparison(comparison: Comparison): string {
  const names = comparison.measure_order;
  const rows = markedRuns(comparison).map(({ letter, label, values }) => [
    `$^{${letter}}$ ${latexText(label)}`,
    ...names.map((name) => {
      const { value, beats, best } = values[name] ?? { value: null, beats: "", best: false };
      const text = best ? `\\textbf{${ratio(value)}}` : ratio(value);
      return beats === "" ? text : `${text}$^{${beats}}$`;
    }),
  ]);
  const { samples, seed, alpha } = comparison.settings;
  return table(["run", ...names.map(latexText)], rows, [
    `% ${comparison.n} cases; a raised letter: better than that run (paired randomisation test, Holm over ${plural(comparison.family, "test")}, alpha ${alpha}; ${samples} samples, seed ${seed})`,
  ]);
}

function table(header: readonly string[], rows: readonly (readonly string[])[], comments: readonly string[]): string {
  const line = (cells: readonly string[]) => `  ${cells.join(" & ")} \\\\`;
  return [
    ...comments,
    `\\begin{tabular}{l${"r".repeat(header.length - 1)}}`,
    "  \\toprule",
    line(header),
    "  \\midrule",
    ...rows.map(line),
    "  \\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

const SPECIAL: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
};

/** Text as text: a label may hold anything, and TeX runs what it reads. */
export function latexText(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\{}$&#^_~%]/g, (character) => SPECIAL[character] ?? `\\${character}`);
}
