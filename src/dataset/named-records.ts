/**
 * Records whose members are told by their names: a table with named columns (CSV), or JSON Lines of bug reports as BLIZZARD and similar
 * collections come in. One case per record: a text, and the files that it is about.
 *
 * Files may carry line ranges and grades, `path:12-40:2`, as octocode's benchmark writes them: 1-based inclusive lines, and a grade from 1.
 */
import { changedFile } from "./build.js";
import { plainPath, type Raw } from "./records.js";
import type { Case, FILE_STATUSES, Target } from "./schema.js";

/** Names that are understood, in lower case with `_`; the first that a record has counts. */
const NAMES = {
  id: ["id", "case_id", "instance_id", "bug_id", "bugid", "issue_id", "query_id", "qid"],
  title: ["title", "summary", "query", "question", "issue_title", "bug_title", "short_description"],
  body: ["body", "description", "text", "issue_body", "bug_report", "report", "problem_statement"],
  files: [
    ...["files", "targets", "goldset", "gold_set", "gold_files", "gold", "ground_truth", "ground_truths", "truth"],
    ...[
      "fixed_files",
      "fixedfiles",
      "buggy_files",
      "changed_files",
      "modified_files",
      "changeset",
      "expected",
      "paths",
      "file",
      "path",
    ],
  ],
  repository: ["repository", "repo", "project", "system", "repo_name"],
  commit: ["base_commit", "commit", "base_sha", "before_fix_sha", "version_commit"],
  url: ["url", "issue_url", "report_url", "html_url"],
  created: ["created_at", "opendate", "report_time", "reported_at", "date"],
} as const;

/** Members that are strata of reports. */
const STRATA = ["difficulty", "category", "type", "report_type", "severity", "priority", "language", "split"];

/** The number that a file gives a source file's first line. */
export type LinesFrom = 0 | 1;

export interface NamedOptions {
  /** Id of a record that has none: `<file>#<row>`. */
  readonly fallbackId: string;
  /** Strata that the format tells by other means. */
  readonly strata?: Readonly<Record<string, string>>;
  /** How the file counts lines; default 1. */
  readonly linesFrom?: LinesFrom;
}

/** Is there a text and a list of files among the names? */
export function isNamedRecord(names: Iterable<string>): boolean {
  const known = new Set([...names].map(plainName));
  const has = (wanted: readonly string[]) => wanted.some((name) => known.has(name));
  return (has(NAMES.title) || has(NAMES.body)) && (has(NAMES.files) || known.has("result1"));
}

function plainName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
}

/** A case, or what is wrong with the record. */
export function caseOfNamed(record: Raw, { fallbackId, strata = {}, linesFrom = 1 }: NamedOptions): Case | string {
  const members = new Map(Object.entries(record).map(([name, value]) => [plainName(name), value]));
  const first = (names: readonly string[]): unknown =>
    names.map((name) => members.get(name)).find((value) => value !== undefined && value !== null && value !== "");
  const words = (names: readonly string[]) => textOf(first(names));
  const title = words(NAMES.title);
  const body = words(NAMES.body);
  if (title === null && body === null)
    return `it has no text: expected one of ${[...NAMES.title, ...NAMES.body].slice(0, 8).join(", ")}, ...`;
  const entries = [...listOf(first(NAMES.files)), ...numberedResults(members)];
  const targets: Target[] = [];
  for (const entry of entries) {
    const target = targetOf(entry, linesFrom);
    if (typeof target === "string") return target;
    targets.push(target);
  }
  if (targets.length === 0) return "it names no file";
  const id = words(NAMES.id) ?? fallbackId;
  const repository = words(NAMES.repository)?.toLowerCase() ?? null;
  const number = /^\d{1,15}$/.test(id) ? Number(id) : Number(/#(\d{1,15})$/.exec(id)?.[1] ?? Number.NaN);
  const lines = (title ?? body ?? "").replaceAll("\r\n", "\n").split("\n");
  const own = STRATA.flatMap((name) => {
    const value = textOf(members.get(name));
    return value === null || value === "" ? [] : [[name, value.slice(0, 100)] as const];
  });
  return {
    id,
    repository: repository !== null && /^[^\s/]+\/[^\s/]+$/.test(repository) ? repository : null,
    number: Number.isSafeInteger(number) ? number : null,
    number_is_real: true,
    title: lines[0] ?? "",
    body: title === null ? lines.slice(1).join("\n") : (body ?? ""),
    url: words(NAMES.url),
    created_at: words(NAMES.created),
    closed_at: null,
    state_reason: null,
    labels: [],
    base_commit: words(NAMES.commit),
    links: [],
    targets: targets.sort((a, b) =>
      a.path < b.path ? -1 : a.path > b.path ? 1 : (a.ranges?.[0]?.[0] ?? 0) - (b.ranges?.[0]?.[0] ?? 0),
    ),
    best_grade: "curated",
    strata: { ...strata, ...Object.fromEntries(own), links: "curated" },
  };
}

function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" && Number.isFinite(value) ? String(value) : null;
}

/** `result1`, `result2`, ... as octocode's tables have them. */
function numberedResults(members: ReadonlyMap<string, unknown>): string[] {
  const found: string[] = [];
  for (let number = 1; number <= 100; number++) {
    const value = members.get(`result${number}`) ?? members.get(`result_${number}`);
    if (value === undefined) break;
    if (typeof value === "string" && value.trim() !== "") found.push(value.trim());
  }
  return found;
}

/** A list, a text that is a JSON list, or a text with one file per line or between `;` or `|` (a comma may be part of a name). */
function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => (typeof entry === "string" ? [entry] : fileOf(entry)));
  if (typeof value !== "string") return value === undefined ? [] : fileOf(value);
  const text = value.trim();
  if (text.startsWith("[")) {
    const parsed = jsonList(text);
    if (parsed !== null) return parsed;
  }
  const separator = /[\n;|]/.test(text) ? /[\n;|]/ : /,\s*(?=\S)/;
  return text
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function fileOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  for (const name of ["path", "filename", "file", "name"]) {
    const path = (value as Raw)[name];
    if (typeof path === "string") return [path];
  }
  return [];
}

/** JSON, or the same with Python's quotes. */
function jsonList(text: string): string[] | null {
  for (const candidate of [text, text.replaceAll("'", '"')]) {
    try {
      const value: unknown = JSON.parse(candidate);
      if (Array.isArray(value)) return value.filter((entry): entry is string => typeof entry === "string");
    } catch {
      // The next one may do.
    }
  }
  return null;
}

/** `path`, `path:12-40`, `path:12-40:2`, read from the right: a path may hold colons. */
function targetOf(entry: string, linesFrom: LinesFrom): Target | string {
  const found = /^(.+):(\d{1,9})-(\d{1,9})(?::(-?\d{1,9}))?$/.exec(entry.trim());
  const path = plainPath((found?.[1] ?? entry).replaceAll("\\", "/"));
  if (path === "") return `${JSON.stringify(entry.slice(0, 60))} names no file`;
  const shown = JSON.stringify(entry.slice(0, 100));
  const shift = 1 - linesFrom;
  const [from, to, grade] = [Number(found?.[2] ?? 1) + shift, Number(found?.[3] ?? 1) + shift, Number(found?.[4] ?? 1)];
  if (found !== null && from === 0)
    return `${shown} begins at line 0; lines are counted from 1: is the table 0-based (\`lines_from: 0\`)?`;
  if (to < from) return `${shown} ends before it begins`;
  if (grade < 1) return `${shown} has the grade ${grade}; a target's grade is 1 or more`;
  return targetAt(path, found === null ? null : [[from, to]], grade, null);
}

export function targetAt(
  path: string,
  ranges: [number, number][] | null,
  grade: number,
  status: (typeof FILE_STATUSES)[number] | null,
): Target {
  const { role } = changedFile({ path, status, previous_path: null, additions: null, deletions: null });
  return { path, role, status, renamed_to: null, grade, ranges };
}
