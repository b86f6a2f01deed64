/** CSV as spreadsheets and Python write it (RFC 4180: quoted cells may hold commas, quotes and line breaks). Linear, never throws. */

export interface CsvRow {
  /** 1-based line of the file where the row starts. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Empty lines are no rows. A quote that is never closed ends with the file. */
export function csvRows(text: string, separator = ","): CsvRow[] {
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  let cell = "";
  let quoted = false;
  let line = 1;
  let start = 1;
  const endRow = () => {
    cells.push(cell);
    if (cells.length > 1 || cells[0] !== "") rows.push({ line: start, cells });
    cells = [];
    cell = "";
    start = line;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === "\n") line++;
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else quoted = false;
    } else if (character === '"' && cell === "") quoted = true;
    else if (character === separator) {
      cells.push(cell);
      cell = "";
    } else if (character === "\n") endRow();
    else if (character !== "\r" || text[at + 1] !== "\n") cell += character;
  }
  if (cell !== "" || cells.length > 0) endRow();
  return rows;
}
