/**
 * Answers files: JSON Lines as the agreement has them, a JSON array of the same records, a report (ours or the original's), LocAgent's
 * output (`locagent.ts`), or a TREC run (`foreign.ts`).
 *
 * One bad line never costs the good ones: it is reported by record and line. The original's names are accepted (`issue_number`,
 * `raw_response`, `status: ok | error | dry_run`). What a report can't give is said in the notes rather than guessed: the original
 * sorts and lower-cases its predictions, so without raw responses neither rank nor spelling can be rebuilt from it.
 */
import { elementLines } from "../base/json-lines.js";
import { nearest } from "../base/nearest.js";
import { firstProblem, type RecordPlace } from "../base/plain-words.js";
import { trecAnswers } from "./foreign.js";
import { locAgentRecords } from "./locagent.js";
import { ANSWER_STATUSES, type Answer, type AnswerStatus, answerSchema, FINAL_STATUSES } from "./schema.js";

export interface ReadAnswersOptions {
  /** Shown in messages; not opened. */
  readonly file: string;
  /** Ids of the data set: complete a bare issue number, and tell answers that belong to no case. */
  readonly caseIds?: ReadonlySet<string> | readonly string[];
  /** `owner/repo` for records that give a bare issue number. */
  readonly project?: string;
  /** The backend of records that name none; default `unnamed`. */
  readonly unnamed?: string;
}

/** What answers are called that name no backend: their file's name without folder and ending. */
export function answersFileStem(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  return name.replace(/(?!^)\.[^.]{0,20}$/, "").trim() || "unnamed";
}

/** Blank lines are no records; the line is where the record starts. */
interface BadAnswer extends RecordPlace {
  readonly line: number;
  readonly what: string;
}

export interface ReadAnswers {
  readonly answers: Answer[];
  readonly bad: BadAnswer[];
  /** Sentences for the reader. */
  readonly notes: string[];
}

interface Row {
  readonly record: number;
  readonly line: number;
  readonly value: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads every record that can be read. Of two with the same (id, backend, repeat) the later counts, at the earlier's place; but a late failure
 * takes no answer away: a file that grows over several tries may have either order.
 */
export function readAnswers(text: string, options: ReadAnswersOptions): ReadAnswers {
  const bad: BadAnswer[] = [];
  const notes: string[] = [];
  const known = new Set(options.caseIds ?? []);
  const numbered = idsByNumber(known);
  const source = readRows(text.replace(/^\ufeff/, ""), bad, (note) => notes.push(`${options.file}: ${note}.`));
  const project = source.report === null ? (options.project ?? null) : (projectOf(source.report) ?? options.project ?? null);
  const byKey = new Map<string, Answer>();
  let replaced = 0;
  let unusable = 0;
  for (const row of source.rows) {
    if (!isMembers(row.value)) {
      bad.push({ record: row.record, line: row.line, what: `a record must be a JSON object, and this is ${nameOf(row.value)}` });
      continue;
    }
    if (source.report !== null && !hasResponse(row.value)) {
      unusable++;
      continue;
    }
    if (source.report !== null && (row.value.answer_status ?? row.value.status) === "unasked") continue;
    for (const record of locAgentRecords(row.value) ?? [row.value]) {
      const read = readRecord(record, { project, numbered, unnamed: options.unnamed });
      if (typeof read === "string") {
        bad.push({ record: row.record, line: row.line, what: read });
        continue;
      }
      const key = JSON.stringify([read.id, read.backend, read.repeat]);
      const before = byKey.get(key);
      if (before !== undefined) replaced++;
      if (before === undefined || FINAL_STATUSES.has(read.status) || !FINAL_STATUSES.has(before.status)) byKey.set(key, read);
    }
  }
  const answers = [...byKey.values()];
  if (unusable > 0) {
    notes.push(
      `${options.file}: ${unusable} of ${source.rows.length} issues of this report carry no raw response and give no answer. ` +
        "Its predictions are sorted and lower-cased, so rank and spelling can't be rebuilt from them; " +
        "the original keeps raw responses only with --keep-raw-response.",
    );
  }
  if (replaced > 0) {
    notes.push(
      `${options.file}: ${plural(replaced, "answer was", "answers were")} given again (same id, backend, repeat); the later final one counts.`,
    );
  }
  if (known.size > 0) {
    const foreign = answers.filter((answer) => !known.has(answer.id));
    if (foreign.length > 0) {
      notes.push(
        `${options.file}: ${plural(foreign.length, "answer belongs", "answers belong")} to no case of the data set, such as ${foreign[0]?.id}.`,
      );
    }
  }
  bad.sort((a, b) => a.record - b.record);
  return { answers, bad, notes };
}

/** JSON Lines, one answer each, with a final line break; members at their default are left out. Reads back to the same answers. */
export function writeAnswers(answers: Iterable<Answer>): string {
  let text = "";
  for (const answer of answers) {
    const line = {
      id: answer.id,
      backend: answer.backend,
      repeat: answer.repeat,
      status: answer.status,
      finish_reason: answer.finish_reason ?? undefined,
      response: answer.response,
      error: answer.error ?? undefined,
      usage: answer.usage ?? undefined,
      seconds: answer.seconds ?? undefined,
      prompt: answer.prompt ?? undefined,
      details: Object.keys(answer.details).length > 0 ? answer.details : undefined,
    };
    text += `${JSON.stringify(line)}\n`;
  }
  return text;
}

function readRows(text: string, bad: BadAnswer[], note: (text: string) => void): { rows: Row[]; report: Members | null } {
  const trec = trecAnswers(text);
  if (trec !== null) {
    for (const one of trec.notes) note(one);
    bad.push(...trec.bad.map(({ line, what }) => ({ record: line, line, what })));
    return { rows: trec.rows.map((row, index) => ({ record: index + 1, ...row })), report: null };
  }
  return jsonRows(text, bad);
}

function jsonRows(text: string, bad: BadAnswer[]): { rows: Row[]; report: Members | null } {
  const first = /\S/.exec(text)?.[0];
  if (first === "[" || first === "{") {
    const whole = parse(text);
    if (whole.ok && Array.isArray(whole.value)) {
      const lines = elementLines(text);
      return { rows: whole.value.map((value, index) => ({ record: index + 1, line: lines[index] ?? 1, value })), report: null };
    }
    if (whole.ok && isMembers(whole.value) && Array.isArray(whole.value.issues)) {
      const start = text.indexOf('"issues"');
      const lines = elementLines(text, Math.max(0, start));
      const rows = whole.value.issues.map((value: unknown, index: number) => ({
        record: index + 1,
        line: lines[index] ?? 1,
        value,
      }));
      return { rows, report: whole.value };
    }
    if (first === "[" && !whole.ok) {
      bad.push({ record: 1, line: 1, what: `the file starts as a JSON array but is not valid JSON: ${whole.error}` });
      return { rows: [], report: null };
    }
    if (whole.ok)
      return {
        rows: [{ record: 1, line: text.slice(0, text.search(/\S/)).split("\n").length, value: whole.value }],
        report: null,
      };
  }
  const rows: Row[] = [];
  let record = 0;
  text.split(/\r\n|\n|\r/).forEach((line, index) => {
    if (line.trim() === "") return;
    record++;
    const parsed = parse(line);
    if (parsed.ok) rows.push({ record, line: index + 1, value: parsed.value });
    else bad.push({ record, line: index + 1, what: `not valid JSON: ${parsed.error}` });
  });
  return { rows, report: null };
}

function parse(text: string): { ok: true; value: unknown } | { ok: false; error: string } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    // The engine quotes the text; its first words say enough.
    return { ok: false, error: (error instanceof Error ? error.message : String(error)).slice(0, 120) };
  }
}

const STATUS_NAMES = new Map<string, AnswerStatus>([
  ["ok", "completed"],
  ["success", "completed"],
  ["error", "failed"],
  ["dry_run", "skipped"],
  ["timeout", "timed_out"],
]);

/** What a record may leave to its file and data set. */
interface Around {
  readonly project: string | null;
  readonly numbered: Numbered;
  readonly unnamed: string | undefined;
}

/** One record as an answer, or what is wrong with it. */
function readRecord(record: Members, { project, numbered, unnamed }: Around): Answer | string {
  const id = idOf(record, project, numbered);
  if (typeof id !== "string") return id.what;
  const finish = text(record.finish_reason);
  // In our own reports `status` is the original's word (ok, error, dry_run) and ours stands beside it.
  const status = statusOf(record.answer_status ?? record.status, finish);
  if (typeof status !== "string") return status.what;
  const response = responseOf(record);
  if (response === null && (status === "completed" || status === "truncated")) return responseProblem(record);
  const candidate: Record<string, unknown> = { id, status, response: response ?? "" };
  if (unnamed !== undefined) candidate.backend = unnamed;
  if (finish !== null) candidate.finish_reason = finish;
  for (const name of ["backend", "repeat", "error", "usage", "seconds", "details"]) {
    const value = record[name];
    if (value !== undefined && value !== null) candidate[name] = value;
  }
  if (record.status === "dry_run" && record.answer_status === undefined) {
    // The original averages such rows in as zeros, which the `seed` rules must know.
    candidate.details = { ...(isMembers(record.details) ? record.details : {}), original_status: "dry_run" };
  }
  const prompt = text(record.prompt) ?? text(record.query);
  if (prompt !== null) candidate.prompt = prompt;
  const parsed = answerSchema.safeParse(candidate);
  return parsed.success ? parsed.data : firstProblem(parsed.error, candidate);
}

/** `owner/repo#12` in lower case; any other id as given. */
function normaliseCaseId(id: string): string {
  const trimmed = id.trim();
  return /^[^\s/#]+\/[^\s/#]+#\d+$/.test(trimmed) ? trimmed.toLowerCase() : trimmed;
}

type Numbered = ReadonlyMap<number, readonly string[]>;

/** Issue number -> ids of the data set that end in it (or are it). */
function idsByNumber(known: ReadonlySet<string>): Numbered {
  const result = new Map<number, string[]>();
  for (const id of known) {
    const digits = /(?:^|#)(\d{1,15})$/.exec(id)?.[1];
    if (digits === undefined) continue;
    const list = result.get(Number(digits));
    if (list === undefined) result.set(Number(digits), [id]);
    else list.push(id);
  }
  return result;
}

function idOf(record: Members, project: string | null, numbered: Numbered): string | { readonly what: string } {
  const given = record.id ?? record.instance_id;
  if (typeof given === "string" && given.trim() !== "" && !/^#?\d+$/.test(given.trim())) return normaliseCaseId(given);
  if (given !== undefined && given !== null && typeof given !== "string" && typeof given !== "number") {
    return { what: `\`id\` must be text such as "owner/repo#12", and is ${nameOf(given)}` };
  }
  const number = numberOf(given) ?? numberOf(record.issue_number) ?? numberOf(record.number);
  if (number === null) {
    return {
      what: `\`id\` is ${given === undefined ? "missing" : "empty"}: give "owner/repo#12", or \`issue_number\` and \`project\``,
    };
  }
  const own = projectOf(record) ?? project;
  if (own !== null) return normaliseCaseId(`${own}#${number}`);
  const ends = numbered.get(number) ?? [];
  const only = ends[0];
  if (ends.length === 1 && only !== undefined) return only;
  return {
    what: `issue ${number} has no \`project\` ("owner/repo"), and ${ends.length === 0 ? "no case" : `${ends.length} cases`} of the data set has this number`,
  };
}

function numberOf(value: unknown): number | null {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const digits = typeof value === "string" ? /^\s*#?(\d{1,15})\s*$/.exec(value)?.[1] : undefined;
  return digits === undefined ? null : Number(digits);
}

/** `owner/repo` from the members that name a project, in any of the forms in use; null if none does. */
function projectOf(members: Members): string | null {
  for (const name of ["project", "repository", "repo", "project_name", "github_url", "url"]) {
    const value = text(members[name]);
    if (value === null) continue;
    const found = /^(?:https?:\/\/[^/\s]+\/)?([^\s/#]+)\/([^\s/#]+?)(?:\.git)?\/?$/.exec(value.trim());
    if (found !== null) return `${found[1]}/${found[2]}`;
    const folded = /^([^\s/#]+?)__([^\s/#]+?)(?:__\d{8}T\d{6}Z)?$/.exec(value.trim());
    if (folded !== null) return `${folded[1]}/${folded[2]}`;
  }
  return null;
}

function statusOf(value: unknown, finish: string | null): AnswerStatus | { readonly what: string } {
  if (value === undefined || value === null) {
    // Servers name the cut in the reason why they stopped.
    return finish !== null && /^(?:length|max_tokens|max_output_tokens|MAX_TOKENS)$/.test(finish) ? "truncated" : "completed";
  }
  const name = text(value) ?? "";
  const status = STATUS_NAMES.get(name) ?? ANSWER_STATUSES.find((one) => one === name);
  if (status !== undefined) return status;
  const near = nearest(name, [...ANSWER_STATUSES, ...STATUS_NAMES.keys()]);
  return {
    what: `unknown \`status\` "${name.slice(0, 40)}": ${near === undefined ? `one of ${ANSWER_STATUSES.join(", ")}` : `did you mean "${near}"?`}`,
  };
}

/** The text that came; null where the record has none. A model's own text goes before the server's envelope. */
function responseOf(record: Members): string | null {
  const content = text(record.llm_content);
  if (content !== null && content !== "" && record.response === undefined) return content;
  for (const name of ["response", "raw_response", "llm_content"]) {
    const value = record[name];
    if (typeof value === "string") return value;
    // A response that is JSON rather than text: its JSON text is what a parser wants.
    if (value !== undefined && value !== null && typeof value === "object") return JSON.stringify(value);
  }
  return null;
}

function responseProblem({ response, raw_response }: Members): string {
  const given = response ?? raw_response ?? undefined;
  if (given === undefined) return "`response` is missing: an answer needs `id` and `response`";
  return `\`response\` must be text, and is ${nameOf(given)}`;
}

function hasResponse(record: Members): boolean {
  return (
    responseOf(record) !== null || (typeof record.status === "string" && record.status !== "ok" && record.status !== "completed")
  );
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function nameOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
