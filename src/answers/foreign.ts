/**
 * Answers in other programs' formats, turned into records of ours before they are read.
 *
 * A TREC run: one answer per query, its documents in the order of the run. The answer's text is that list as JSON; there is no other.
 * LocAgent's output is `locagent.ts`.
 */
import { decodeTrecId, parseTrecRun } from "../base/trec.js";

export interface ForeignRow {
  readonly line: number;
  readonly value: unknown;
}

export interface ForeignRows {
  readonly rows: readonly ForeignRow[];
  readonly bad: readonly { readonly line: number; readonly what: string }[];
  readonly notes: readonly string[];
}

/** Null where the text is no TREC run: its first line must have the six columns. */
export function trecAnswers(text: string): ForeignRows | null {
  const first = /^\s*([^\r\n]+)/.exec(text)?.[1] ?? "";
  const columns = first.trim().split(/[ \t]+/);
  if (columns.length !== 6 || !/^[+-]?[\d.]+(?:e[+-]?\d+)?$/i.test(columns[4] ?? "") || /^[{["]/.test(first.trim())) return null;
  const run = parseTrecRun(text);
  if (!run.ok) return { rows: [], bad: run.error, notes: [] };
  const { rankings, tags } = run.value;
  const [tag = "run"] = tags;
  const notes: string[] = [];
  if (tags.length > 1) notes.push(`the run bears the tags ${tags.slice(0, 5).join(", ")}; its answers count as those of ${tag}`);
  let [duplicates, tied] = [0, 0];
  const rows = [...rankings].map(([query, { documents, ...counts }]) => {
    duplicates += counts.duplicates;
    tied += counts.tied;
    const value = {
      id: decodeTrecId(query),
      backend: decodeTrecId(tag),
      response: JSON.stringify({ files: documents.map(decodeTrecId) }),
    };
    return { line: 1, value };
  });
  if (duplicates > 0) notes.push(`${duplicates} lines of the run name a document again; the best line counts`);
  if (tied > 0)
    notes.push(`${tied} documents of the run share their score with another: ties go to the later id, as in trec_eval`);
  return { rows, bad: [], notes };
}
