/** One row per answer as CSV (RFC 4180: commas, CRLF, quotes doubled), for spreadsheets and data frames; numbers in full precision. */
import type { ScoredCase } from "../scoring/contract.js";
import type { Cell } from "./json.js";

const COLUMNS: readonly (readonly [name: string, of: (one: ScoredCase, cell: Cell) => string | number | null])[] = [
  ["run", (_, { label }) => label],
  ["rules", (_, { meta }) => meta.rules.name],
  ["id", ({ id }) => id],
  ["repeat", ({ repeat }) => repeat],
  ["repository", ({ repository }) => repository ?? null],
  ["outcome", ({ outcome }) => outcome],
  ["status", ({ status }) => status],
  ["scored", ({ scored, excluded }) => String(scored && excluded === null)],
  ["targets", ({ targets }) => targets.length],
  ["absent_targets", ({ absent_targets }) => absent_targets.length],
  ["predictions", ({ predictions }) => predictions.length],
  ["true_positives", ({ counts }) => counts.true_positives],
  ["false_positives", ({ counts }) => counts.false_positives],
  ["false_negatives", ({ counts }) => counts.false_negatives],
  ["seconds", ({ seconds }) => seconds],
  ["cost_usd", ({ usage }) => usage?.cost_usd ?? null],
];

/** Measures and strata of all cells are columns; what a row lacks is empty. */
export function csvReport(cells: readonly Cell[]): string {
  const measures = [...new Set(cells.flatMap(({ meta }) => meta.measures))];
  const strata = [...new Set(cells.flatMap(({ cases }) => cases.flatMap((one) => Object.keys(one.strata))))].sort();
  const rows = cells.flatMap((cell) =>
    cell.cases.map((one) => [
      ...COLUMNS.map(([, of]) => of(one, cell)),
      ...strata.map((name) => (Object.hasOwn(one.strata, name) ? (one.strata[name] ?? null) : null)),
      ...measures.map((name) => (Object.hasOwn(one.measures, name) ? (one.measures[name] ?? null) : null)),
    ]),
  );
  const header = [...COLUMNS.map(([name]) => name), ...strata.map((name) => `stratum:${name}`), ...measures];
  return [header, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

/** Text that a spreadsheet would run as a formula is kept as text by a leading apostrophe: ids and labels come from strangers. */
export function csvCell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+@\t\r-]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
