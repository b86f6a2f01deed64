/**
 * A comparison as a fragment of HTML: one `<section>` with its own style and nothing else, to be put into a page or opened by itself. It loads
 * nothing, runs nothing, and whatever strangers named a run or a case comes out as text.
 */
import { visible } from "../base/diagnostics.js";
import type { Comparison } from "../scoring/compare.js";
import { markedRuns, methodLines, noiseLines, pairsOf } from "./comparison.js";
import { PAIR_COLUMNS, pairCells, remarks } from "./comparison-text.js";
import { INVISIBLE } from "./escape.js";
import { ratio } from "./numbers.js";

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const LONGEST = 2000;

/** Text as text, in an element or in a quoted attribute. */
export function htmlText(text: string, limit = LONGEST): string {
  const line = visible(
    text
      .slice(0, limit * 4)
      .replace(/\s+/g, " ")
      .replace(INVISIBLE, ""),
  );
  const characters = Array.from(line);
  const cut = characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
  return cut.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

const STYLE = `.bench-comparison table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}
.bench-comparison th,.bench-comparison td{padding:.25em .75em;text-align:right;border-top:1px solid #8884}
.bench-comparison thead th{border-top:2px solid;border-bottom:1px solid}
.bench-comparison tbody tr:last-child>*{border-bottom:2px solid}
.bench-comparison th:first-child,.bench-comparison td.text{text-align:left}
.bench-comparison tr.stands>*{font-weight:600}
.bench-comparison caption{text-align:left;font-weight:600}`;

/** Bold: better than every other run, and the difference stands. Ends with a line break. */
export function comparisonHtml(comparison: Comparison): string {
  const names = comparison.measure_order;
  const overview = markedRuns(comparison).map(({ letter, label, values }) => {
    const cells = names.map((name) => {
      const { value, beats, best } = values[name] ?? { value: null, beats: "", best: false };
      const shown = best ? `<strong>${ratio(value)}</strong>` : ratio(value);
      return `<td>${shown}${beats === "" ? "" : `<sup>${htmlText(beats)}</sup>`}</td>`;
    });
    return `<tr><th scope="row"><sup>${htmlText(letter)}</sup> ${htmlText(label)}</th>${cells.join("")}</tr>`;
  });
  const pairs = pairsOf(comparison).flatMap(({ a, b, rows }) => {
    const body = rows.map(([name, row]) => {
      const cells = pairCells(row).map((cell) => `<td>${htmlText(cell)}</td>`);
      return `<tr${row.stands ? ' class="stands"' : ""}><th scope="row">${htmlText(name)}</th>${cells.join("")}</tr>`;
    });
    const lines = remarks(comparison, rows, (id) => id);
    return [table(`${htmlText(a)} → ${htmlText(b)}`, ["measure", ...PAIR_COLUMNS], body), list(lines)];
  });
  return `${[
    '<section class="bench-comparison">',
    `<style>${STYLE}</style>`,
    table("Comparison", ["run", ...names], overview),
    paragraph("A raised letter: better than that run, and the difference stands. Bold: better than every other run."),
    ...methodLines(comparison).map(paragraph),
    ...pairs,
    list([...noiseLines(comparison), ...comparison.notes]),
    "</section>",
  ]
    .filter((part) => part !== "")
    .join("\n")}\n`;
}

/** `caption` and `rows` are HTML already. */
function table(caption: string, header: readonly string[], rows: readonly string[]): string {
  const head = header.map((name) => `<th scope="col">${htmlText(name)}</th>`).join("");
  return `<table><caption>${caption}</caption>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${rows.join("\n")}\n</tbody></table>`;
}

function paragraph(text: string): string {
  return `<p>${htmlText(text)}</p>`;
}

function list(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `<ul>\n${lines.map((line) => `<li>${htmlText(line)}</li>`).join("\n")}\n</ul>`;
}
