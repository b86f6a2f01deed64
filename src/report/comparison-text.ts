/** A comparison for the terminal, and as Markdown. */
import { visible } from "../base/diagnostics.js";
import type { Comparison, PairRow } from "../scoring/compare.js";
import { cautions, markedRuns, methodLines, noiseLines, pairsOf, powerLine, pValue, signed } from "./comparison.js";
import { markdownTable, markdownText } from "./escape.js";
import { ratio } from "./numbers.js";

const NAMED = 10;

export const PAIR_COLUMNS = [
  "first",
  "second",
  "difference",
  "95 % interval",
  "p",
  "p (Holm)",
  "won",
  "tied",
  "lost",
  "",
] as const;

/** A row of a pair's table, as `PAIR_COLUMNS` names them. */
export function pairCells(row: PairRow): string[] {
  return [
    ratio(row.a),
    ratio(row.b),
    signed(row.difference),
    `${signed(row.ci95.lower)} to ${signed(row.ci95.upper)}`,
    pValue(row.randomisation.p),
    pValue(row.p_holm),
    String(row.wins),
    String(row.ties),
    String(row.losses),
    row.stands ? "stands" : "",
  ];
}

/** Names of a few cases; all are in the JSON. */
function named(ids: readonly string[], show: (id: string) => string): string {
  const some = ids.slice(0, NAMED).map(show).join(", ");
  return ids.length > NAMED ? `${some} and ${ids.length - NAMED} more` : some;
}

/** What a reader of these rows must know beside the numbers; `show`: how the id of a case is written. */
export function remarks(
  comparison: Comparison,
  rows: readonly (readonly [string, PairRow])[],
  show: (text: string) => string,
): string[] {
  return rows.flatMap(([name, row]) => {
    const moved =
      row.mcnemar === undefined ? [] : [...caseLine(name, "gained", row.gained, show), ...caseLine(name, "lost", row.lost, show)];
    const test =
      row.mcnemar === undefined || row.discordant === 0
        ? []
        : [`${name}: McNemar's exact test of ${row.mcnemar.c} gained against ${row.mcnemar.b} lost: p ${pValue(row.mcnemar.p)}.`];
    const power = powerLine(name, row, comparison.n);
    return [...cautions(name, row, comparison.settings.alpha), ...test, ...moved, ...(power === null ? [] : [power])];
  });
}

function caseLine(name: string, what: string, ids: readonly string[], show: (text: string) => string): string[] {
  return ids.length === 0 ? [] : [`${name} ${what}: ${named(ids, show)}`];
}

/** Lines end with a line break each. */
export function renderComparison(comparison: Comparison, options: { readonly colour: boolean }): string {
  const bold = (text: string, on: boolean) => (on && options.colour ? `\u001b[1m${text}\u001b[22m` : text);
  const runs = markedRuns(comparison);
  const names = comparison.measure_order;
  const sections: string[] = [];
  const table = runs.map(({ letter, label, values }) => ({
    label: `${letter} ${shorten(label)}`,
    cells: names.map((name) => {
      const { value, beats, best } = values[name] ?? { value: null, beats: "", best: false };
      return { text: `${ratio(value)}${beats === "" ? "" : ` ${beats}`}`, best };
    }),
  }));
  const widths = names.map(
    (name, column) => Math.max(name.length, ...table.map(({ cells }) => cells[column]?.text.length ?? 0)) + 2,
  );
  const labelWidth = Math.max(...table.map(({ label }) => label.length));
  sections.push(
    [
      " ".repeat(labelWidth) + names.map((name, column) => `  ${name}`.padEnd(widths[column] ?? 0)).join(""),
      ...table.map(
        ({ label, cells }) =>
          label.padEnd(labelWidth) +
          cells
            .map(
              ({ text, best }, column) =>
                `  ${bold(text, best)}${" ".repeat(Math.max(0, (widths[column] ?? 0) - text.length - 2))}`,
            )
            .join(""),
      ),
      "A letter after a value: better than that run, and the difference stands.",
    ]
      .map((line) => line.trimEnd())
      .join("\n"),
  );
  for (const { a, b, rows } of pairsOf(comparison)) {
    const cells = rows.map(([name, row]) => [name, ...pairCells(row)]);
    const lines = aligned([["", ...PAIR_COLUMNS], ...cells]);
    sections.push(
      [`${shorten(a)} -> ${shorten(b)}`, ...lines, ...remarks(comparison, rows, visible).map((line) => `  ${line}`)].join("\n"),
    );
  }
  sections.push([...methodLines(comparison), ...noiseLines(comparison), ...comparison.notes.map(visible)].join("\n"));
  return `${sections.join("\n\n")}\n`;
}

function shorten(label: string): string {
  const text = visible(label);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** First column to the left, the others to the right. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : `  ${cell.padStart(widths[column] ?? 0)}`))
      .join("")
      .trimEnd(),
  );
}

/** A section of a report, or a page by itself; `level`: of its heading. */
export function comparisonMarkdown(comparison: Comparison, level = 1): string {
  const runs = markedRuns(comparison);
  const names = comparison.measure_order;
  const heading = (depth: number, text: string) => `${"#".repeat(depth)} ${text}`;
  const overview = markdownTable(
    ["", "run", ...names.map((name) => markdownText(name))],
    runs.map(({ letter, label, values }) => [
      letter,
      markdownText(label),
      ...names.map((name) => {
        const { value, beats, best } = values[name] ?? { value: null, beats: "", best: false };
        const text = best ? `**${ratio(value)}**` : ratio(value);
        return beats === "" ? text : `${text} <sup>${beats}</sup>`;
      }),
    ]),
    2,
  );
  const sections = [
    heading(level, "Comparison"),
    overview,
    "A raised letter: better than that run, and the difference stands. Bold: better than every other run.",
    ...methodLines(comparison),
  ];
  for (const { a, b, rows } of pairsOf(comparison)) {
    sections.push(
      heading(level + 1, `${markdownText(a)} → ${markdownText(b)}`),
      markdownTable(
        ["measure", ...PAIR_COLUMNS.slice(0, -1), "stands"],
        rows.map(([name, row]) => [markdownText(name), ...pairCells(row).slice(0, -1), row.stands ? "yes" : "no"]),
      ),
    );
    const lines = remarks(comparison, rows, (id) => id);
    if (lines.length > 0) sections.push(lines.map((line) => `- ${markdownText(line, 1000)}`).join("\n"));
  }
  const notes = [...noiseLines(comparison), ...comparison.notes];
  if (notes.length > 0)
    sections.push(heading(level + 1, "Notes"), notes.map((note) => `- ${markdownText(note, 1000)}`).join("\n"));
  return `${sections.join("\n\n")}\n`;
}
