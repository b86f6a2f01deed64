/**
 * Keeps `evaluation_results/<pipeline>/RESULTS.json` and `.md` up to date after a run. Runs that end at the same moment take turns, so that
 * none of them writes back a table that lacks the rows of another.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../engine/record.js";
import { fileStem } from "../report/labels.js";
import { mergeRows, type ResultRow, resultsFileSchema, resultsMarkdown } from "../report/results-table.js";
import { withFolderLock } from "./folder-lock.js";

/** Returns the files written. A RESULTS.json that can't be read is moved aside, never overwritten: its rows may be all that is left of old runs. */
export async function accumulateResults(
  out: string,
  pipeline: string,
  rows: readonly ResultRow[],
  warn: (message: string) => void,
): Promise<string[]> {
  if (rows.length === 0) return [];
  const folder = join(out, fileStem(pipeline));
  return withFolderLock(folder, () => merge(folder, pipeline, rows, warn));
}

async function merge(
  folder: string,
  pipeline: string,
  rows: readonly ResultRow[],
  warn: (message: string) => void,
): Promise<string[]> {
  const file = join(folder, "RESULTS.json");
  const text = await readFile(file, "utf8").catch(() => null);
  let old: readonly ResultRow[] = [];
  if (text !== null) {
    const read = resultsFileSchema.safeParse(parse(text));
    if (read.success) old = read.data.rows;
    else {
      await writeAtomically(join(folder, "RESULTS.unreadable.json"), text);
      warn(`${file} can't be read and was kept as RESULTS.unreadable.json; the table begins anew`);
    }
  }
  const results = { schema_version: 1 as const, pipeline, rows: mergeRows(old, rows) };
  await writeAtomically(file, `${JSON.stringify(results, null, 2)}\n`);
  await writeAtomically(join(folder, "RESULTS.md"), resultsMarkdown(results));
  return [file, join(folder, "RESULTS.md")];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
