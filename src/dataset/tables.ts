/** Data sets that are tables: CSV with named columns, octocode's benchmark among them. */
import { csvRows } from "./csv.js";
import { caseOfNamed, isNamedRecord, type LinesFrom } from "./named-records.js";
import { Collected } from "./records.js";

/**
 * octocode's benchmark over code: of its table's rows 101 to 127 are the hard ones, which no column says. Told by its columns and by what they
 * name (source files; its table over documents, of the same columns, has no hard rows), and not by its length, so that a part of it, or one
 * to which somebody added rows, keeps the stratum. What was added has none.
 */
const OCTOCODE_STANDARD = 100;
const OCTOCODE_ROWS = 127;

function isOctocodeCode(header: readonly string[], rows: readonly { readonly cells: readonly string[] }[]): boolean {
  const columns = header.map((name) => name.trim().toLowerCase());
  if (columns[0] !== "query" || columns[1] !== "result1" || columns.some((name, at) => at > 0 && name !== `result${at}`))
    return false;
  const named = rows.flatMap(({ cells }) => (cells[1] ?? "").trim() || []);
  const inDocuments = named.filter((entry) => /\.(?:md|mdx|rst|txt|adoc)(?::|$)/i.test(entry)).length;
  return named.length > 0 && inDocuments * 2 < named.length;
}

function octocodeStrata(index: number): Record<string, string> {
  if (index < OCTOCODE_STANDARD) return { difficulty: "standard" };
  return index < OCTOCODE_ROWS ? { difficulty: "hard" } : {};
}

/** Null where the first line names no columns that are understood; a text = it is such a table and can't be used. `fileName`: of cases without an id. */
export function readTable(content: string, fileName: string, linesFrom: LinesFrom = 1): Collected | string | null {
  if (/^\s*[{[]/.test(content)) return null;
  const firstLine = content.slice(0, content.search(/[\r\n]|$/));
  const separator = firstLine.includes("\t") ? "\t" : firstLine.includes(";") && !firstLine.includes(",") ? ";" : ",";
  // The header alone first: a large file that is no table must not be read as one.
  const [named] = csvRows(firstLine, separator);
  if (named === undefined || !isNamedRecord(named.cells)) return null;
  const [header = named, ...rows] = csvRows(content, separator);
  if (rows.length === 0) return "the table has a header and no rows";
  // A short table of these columns may be anybody's: only one that reaches the hard rows has two kinds.
  const octocode = rows.length > OCTOCODE_STANDARD && isOctocodeCode(header.cells, rows);
  const collected = new Collected();
  for (const [index, { line, cells }] of rows.entries()) {
    const record = Object.fromEntries(header.cells.map((name, column) => [name, cells[column] ?? ""]));
    const strata = octocode ? octocodeStrata(index) : {};
    collected.add(
      { record: index + 1, line },
      caseOfNamed(record, { fallbackId: `${fileName}#${index + 1}`, strata, linesFrom }),
    );
  }
  return collected;
}
