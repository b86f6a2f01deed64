/** Data sets that are tables: CSV with named columns, octocode's benchmark among them. */
import { csvRows } from "./csv.js";
import { caseOfNamed, isNamedRecord, type LinesFrom } from "./named-records.js";
import { Collected } from "./records.js";

/** octocode's benchmark has 127 rows, of which those after the hundredth are the hard ones; no column says so. */
const OCTOCODE_ROWS = 127;
const OCTOCODE_STANDARD = 100;

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
  const octocode = header.cells.some((name) => name.trim().toLowerCase() === "result1") && rows.length === OCTOCODE_ROWS;
  const collected = new Collected();
  for (const [index, { line, cells }] of rows.entries()) {
    const record = Object.fromEntries(header.cells.map((name, column) => [name, cells[column] ?? ""]));
    const strata = octocode ? { difficulty: index < OCTOCODE_STANDARD ? "standard" : "hard" } : {};
    collected.add(
      { record: index + 1, line },
      caseOfNamed(record, { fallbackId: `${fileName}#${index + 1}`, strata, linesFrom }),
    );
  }
  return collected;
}
