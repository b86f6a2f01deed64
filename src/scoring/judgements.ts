/**
 * What people judged beside the data set's truth: which other files would have been right answers (1, 2), which are none (0), and which were
 * to be judged and were not (-1). Without such judgements a mined fix says only what *was* changed, and whatever else an answer names
 * counts as wrong.
 *
 * Read from JSON Lines (`id`, `path`, `grade`), CSV with these columns, or TREC qrels.
 */

import { err, ok, type Result } from "../base/result.js";
import { decodeTrecId, parseQrels } from "../base/trec.js";
import { csvRows } from "../dataset/csv.js";
import { targetAt } from "../dataset/named-records.js";
import type { Target } from "../dataset/schema.js";

/** By case id, then by path. */
export type Judgements = ReadonlyMap<string, ReadonlyMap<string, number>>;

const MOST_MISTAKES = 20;

/** Error: one line per mistake. Records without a grade are pooled and not judged (yet): -1. */
export function parseJudgements(text: string): Result<Judgements, readonly string[]> {
  const content = text.startsWith("\ufeff") ? text.slice(1) : text;
  const start = content.trimStart();
  const rows = start.startsWith("{") ? jsonRows(content) : tableRows(content);
  if (rows === null) {
    const qrels = parseQrels(content);
    if (!qrels.ok) return err(qrels.error.map(({ line, what }) => `line ${line}: ${what}`));
    return ok(decoded(qrels.value));
  }
  const judgements = new Map<string, Map<string, number>>();
  const mistakes: string[] = [];
  for (const { line, id, path, grade } of rows) {
    const value = gradeOf(grade);
    if (typeof id !== "string" || id === "" || typeof path !== "string" || path === "")
      mistakes.push(`line ${line}: it needs \`id\` and \`path\``);
    else if (value === null)
      mistakes.push(`line ${line}: the grade must be -1, 0, 1, 2 or larger, and is ${JSON.stringify(grade)}`);
    else {
      const known = judgements.get(id) ?? new Map<string, number>();
      judgements.set(id, known);
      const before = known.get(path);
      // Judged by one and left open by another is judged; two opinions are a mistake.
      if (before !== undefined && before !== -1 && value !== -1 && before !== value) {
        mistakes.push(`line ${line}: ${path} was judged ${before} for ${id} before, and ${value} here`);
      } else if (before === undefined || before === -1) known.set(path, value);
    }
    if (mistakes.length === MOST_MISTAKES) break;
  }
  return mistakes.length > 0 ? err(mistakes) : ok(judgements);
}

interface Row {
  readonly line: number;
  readonly id: unknown;
  readonly path: unknown;
  readonly grade: unknown;
}

function jsonRows(content: string): Row[] {
  return content.split("\n").flatMap((text, index) => {
    if (text.trim() === "") return [];
    const line = index + 1;
    try {
      const value: unknown = JSON.parse(text);
      const { id, path, grade } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
      return [{ line, id, path, grade }];
    } catch {
      return [{ line, id: undefined, path: undefined, grade: undefined }];
    }
  });
}

/** Null where the first line is no header of such a table. */
function tableRows(content: string): Row[] | null {
  const [header, ...rows] = csvRows(content);
  const names = header?.cells.map((cell) => cell.trim().toLowerCase()) ?? [];
  const [id, path, grade] = ["id", "path", "grade"].map((name) => names.indexOf(name)) as [number, number, number];
  if (id === -1 || path === -1 || grade === -1) return null;
  return rows.map(({ line, cells }) => ({ line, id: cells[id], path: cells[path], grade: cells[grade] }));
}

function gradeOf(value: unknown): number | null {
  if (value === undefined || value === null || value === "") return -1;
  const grade = typeof value === "string" ? Number(value.trim()) : value;
  return typeof grade === "number" && Number.isInteger(grade) && grade >= -1 && grade <= 1_000_000 ? grade : null;
}

function decoded(qrels: Judgements): Judgements {
  return new Map(
    [...qrels].map(([id, grades]) => [
      decodeTrecId(id),
      new Map([...grades].map(([path, grade]) => [decodeTrecId(path), grade])),
    ]),
  );
}

/** The data set's targets, and the files that people judged right beside them. */
export function withJudged(targets: readonly Target[], judged: ReadonlyMap<string, number> | undefined): readonly Target[] {
  if (judged === undefined) return targets;
  const known = new Set(targets.map(({ path }) => path));
  const more = [...judged].flatMap(([path, grade]) => (grade > 0 && !known.has(path) ? [targetAt(path, null, grade, null)] : []));
  return more.length === 0 ? targets : [...targets, ...more];
}

export function countJudged(judgements: Judgements): { relevant: number; nonrelevant: number; open: number } {
  const counts = { relevant: 0, nonrelevant: 0, open: 0 };
  for (const grades of judgements.values()) {
    for (const grade of grades.values()) counts[grade > 0 ? "relevant" : grade === 0 ? "nonrelevant" : "open"]++;
  }
  return counts;
}
