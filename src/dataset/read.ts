/**
 * Reads a data set whatever its format: it is told by its content, never by its name.
 *
 * A record that can't be used is reported with its number and what is wrong; the others still count, and the header says how many
 * were left out, so that no table is ever about fewer cases than it seems.
 */
import { type Diagnostic, visible } from "../base/diagnostics.js";
import { elementLines } from "../base/json-lines.js";
import { firstProblem, type RecordPlace, recordPlace } from "../base/plain-words.js";
import { err, ok, type Result } from "../base/result.js";
import { isXml, readBugLocator } from "./buglocator.js";
import { caseOfInstance, isInstance } from "./instances.js";
import { isMinedFile, readMinedFile } from "./mined-file.js";
import { caseOfNamed, isNamedRecord, type LinesFrom } from "./named-records.js";
import { Collected, isRaw, type Raw, type ReadResult } from "./records.js";
import { fileRole } from "./roles.js";
import {
  type BadRecord,
  type Case,
  caseSchema,
  DATASET_SCHEMA_VERSION,
  type DatasetHeader,
  datasetHeaderSchema,
} from "./schema.js";
import { readTable } from "./tables.js";

export const DATASET_FORMATS = ["mined", "dataset", "jsonl", "csv", "buglocator"] as const;
export type DatasetFormat = (typeof DATASET_FORMATS)[number];

/**
 * `file`: the path as the person gave it, for messages; its last segment without extension names a set that does not name itself.
 * The error is a diagnostic with line and column where they are known.
 */
export function readDataset(
  text: string,
  file: string,
  format: DatasetFormat | "auto" = "auto",
  linesFrom: LinesFrom = 1,
): Result<ReadResult & { readonly format: DatasetFormat }, Diagnostic> {
  const content = text.startsWith("\ufeff") ? text.slice(1) : text;
  const failure = (message: string, suggestion?: string): Result<never, Diagnostic> =>
    err({ severity: "error", file, message, ...(suggestion === undefined ? {} : { suggestion }) });
  if (content.trim() === "")
    return failure("the file is empty", "a data set is a mined JSON file, or JSON Lines with one case each");
  const foreign = readForeign(content, file, linesFrom);
  if (foreign !== null) {
    if (format !== "auto" && format !== foreign.format) {
      return failure(`the file's format is ${foreign.format}, not ${format}`, "leave `format` out: it is told by the content");
    }
    return typeof foreign.read === "string" ? failure(foreign.read) : finished(foreign.read, foreign.format, failure);
  }
  const parsed = parse(content, file);
  if (!parsed.ok) return parsed;
  const found = formatOf(parsed.value);
  if (found === null) {
    return failure(
      "this is no data set that can be read",
      "expected a mined file (an object with `issues`), our own (`header` and `cases`), or JSON Lines of cases or SWE-bench instances",
    );
  }
  if (format !== "auto" && format !== found) {
    return failure(`the file's format is ${found}, not ${format}`, "leave `format` out: it is told by the content");
  }
  const read = readAs(parsed.value, found, file, linesFrom);
  if (typeof read === "string") return failure(read);
  return finished(read, found, failure);
}

/** Files that are no JSON, and say by their beginning what they are. */
function readForeign(
  content: string,
  file: string,
  linesFrom: LinesFrom,
): { format: DatasetFormat; read: ReadResult | string } | null {
  const name = baseName(file);
  if (isXml(content)) return { format: "buglocator", read: readBugLocator(content, name) };
  const table = readTable(content, name, linesFrom);
  if (table === null || typeof table === "string") return table === null ? null : { format: "csv", read: table };
  const { cases, bad } = table;
  return { format: "csv", read: { dataset: { header: headerOf(cases, file), cases }, bad, notes: [] } };
}

function baseName(file: string): string {
  return file.split(/[\\/]/).at(-1) ?? file;
}

function finished(
  read: ReadResult,
  format: DatasetFormat,
  failure: (message: string) => Result<never, Diagnostic>,
): Result<ReadResult & { readonly format: DatasetFormat }, Diagnostic> {
  if (read.dataset.cases.length === 0 && read.bad.length > 0) {
    const [first] = read.bad.map(shownBad);
    const none = read.bad.length === 1 ? "its only record can't" : `none of the ${read.bad.length} records can`;
    return failure(`${none} be used; ${first}`);
  }
  return ok({ ...withBadNote(read), format });
}

interface PlacedRecord extends RecordPlace {
  readonly value: unknown;
}

/** What a file holds: one JSON value, or records with their line numbers. */
type Content =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "lines"; readonly records: readonly PlacedRecord[] };

function parse(content: string, file: string): Result<Content, Diagnostic> {
  const start = content.trimStart();
  if (!start.startsWith("{") && !start.startsWith("[")) {
    const message = `the file does not begin like JSON, but with ${JSON.stringify(visible(start.slice(0, 20)))}`;
    return err({ severity: "error", file, line: 1, message, suggestion: "a data set is JSON or JSON Lines" });
  }
  const firstLine = /^[^\n]*/.exec(start)?.[0] ?? "";
  // JSON Lines if the first line is whole by itself and something follows it.
  const hasMore = start.slice(firstLine.length).trim() !== "";
  if (hasMore && isRaw(tryParse(firstLine))) return ok({ kind: "lines", records: parseLines(content) });
  try {
    const value: unknown = JSON.parse(content);
    if (!Array.isArray(value)) return ok({ kind: "value", value });
    const lines = elementLines(content);
    return ok({ kind: "lines", records: value.map((one, index) => ({ record: index + 1, line: lines[index], value: one })) });
  } catch (error) {
    return err(syntaxDiagnostic(content, file, (error as Error).message));
  }
}

const BROKEN = Symbol("not JSON");

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return BROKEN;
  }
}

function parseLines(content: string): PlacedRecord[] {
  const records: PlacedRecord[] = [];
  content.split("\n").forEach((text, index) => {
    if (text.trim() !== "") records.push({ record: records.length + 1, line: index + 1, value: tryParse(text) });
  });
  return records;
}

function syntaxDiagnostic(content: string, file: string, reason: string): Diagnostic {
  const position = Number(/ position (\d{1,12})/.exec(reason)?.[1] ?? (/end of JSON/.test(reason) ? content.length : Number.NaN));
  const message = `the file is not valid JSON: ${visible(reason.replace(/ in JSON at position.*$/s, "").slice(0, 200))}`;
  const base = { severity: "error" as const, file, message, suggestion: "was it cut off, or edited by hand?" };
  if (!Number.isInteger(position)) return base;
  const before = content.slice(0, position);
  const lineStart = before.lastIndexOf("\n") + 1;
  const lineEnd = content.indexOf("\n", lineStart);
  return {
    ...base,
    line: before.split("\n").length,
    column: position - lineStart + 1,
    sourceLine: content.slice(lineStart, lineEnd === -1 ? undefined : lineEnd).replace(/\r$/, ""),
  };
}

function formatOf(content: Content): DatasetFormat | null {
  if (content.kind === "lines") return "jsonl";
  const { value } = content;
  if (isMinedFile(value)) return "mined";
  if (!isRaw(value)) return null;
  if (isRaw(value.header) && Array.isArray(value.cases)) return "dataset";
  return isInstance(value) || isCaseLike(value) || isNamedRecord(Object.keys(value)) ? "jsonl" : null;
}

function readAs(content: Content, format: DatasetFormat, file: string, linesFrom: LinesFrom): ReadResult | string {
  if (content.kind === "lines") return readRecords(content.records, file, linesFrom);
  const { value } = content;
  if (format === "mined" && isMinedFile(value)) return readMinedFile(value);
  if (format === "dataset" && isRaw(value)) return readOurs(value, file);
  return readRecords([{ record: 1, value }], file, linesFrom);
}

/** `{ header, cases }`, our own form without the original's names. */
function readOurs(value: Raw, file: string): ReadResult | string {
  const header = datasetHeaderSchema.safeParse(value.header);
  if (!header.success) return `the \`header\` can't be used: ${firstProblem(header.error, value.header)}`;
  const values = Array.isArray(value.cases) ? (value.cases as readonly unknown[]) : [];
  const { cases, bad } = readCases(
    values.map((one, index) => ({ record: index + 1, value: one })),
    file,
  );
  return { dataset: { header: header.data, cases }, bad, notes: [] };
}

function readRecords(records: readonly PlacedRecord[], file: string, linesFrom: LinesFrom): ReadResult {
  const { cases, bad } = readCases(records, file, linesFrom);
  return { dataset: { header: headerOf(cases, file), cases }, bad, notes: [] };
}

function headerOf(cases: readonly Case[], file: string): DatasetHeader {
  const repositories = new Set(cases.map(({ repository }) => repository));
  const [repository] = repositories;
  const name = baseName(file).replace(/\.[^.]{1,10}$/, "");
  return {
    schema_version: DATASET_SCHEMA_VERSION,
    project_name: repositories.size === 1 && typeof repository === "string" ? repository : name || "dataset",
    url: null,
    scanned: null,
    links: null,
    extensions: null,
    notes: [],
    audit: [],
  };
}

function readCases(records: readonly PlacedRecord[], file: string, linesFrom: LinesFrom = 1): Collected {
  const collected = new Collected();
  const idOf = (place: RecordPlace) => `${baseName(file)}#${place.record}`;
  for (const { value, ...place } of records) collected.add(place, readCase(value, idOf(place), linesFrom));
  return collected;
}

function readCase(value: unknown, fallbackId: string, linesFrom: LinesFrom): Case | string {
  if (value === BROKEN) return "it is not valid JSON";
  if (!isRaw(value)) return "it is not an object";
  if (isInstance(value)) return caseOfInstance(value);
  if (!isCaseLike(value) && isNamedRecord(Object.keys(value))) return caseOfNamed(value, { fallbackId, linesFrom });
  if (!isCaseLike(value))
    return "it is neither a case (`id`, `title`, `targets`) nor a SWE-bench instance (`instance_id`, `problem_statement`)";
  const read = caseSchema.safeParse(withRoles(value));
  return read.success ? read.data : firstProblem(read.error, value);
}

/** A target that was written by hand is a path; its role is what such a path has. */
function withRoles(value: Raw): Raw {
  const { targets } = value;
  if (!Array.isArray(targets)) return value;
  const roled = targets.map((target: unknown) =>
    isRaw(target) && typeof target.path === "string" && target.role === undefined
      ? { ...target, role: fileRole(target.path) }
      : target,
  );
  return { ...value, targets: roled };
}

/** Ours: targets are objects, or there are none (a title alone is a case without truth). */
function isCaseLike(value: Raw): boolean {
  if (!("id" in value)) return false;
  // `targets` is our own name: only a list of plain paths is another format's, anything else is a case with a mistake.
  if ("targets" in value) {
    const { targets } = value;
    return !(Array.isArray(targets) && targets.length > 0 && targets.every((target) => typeof target === "string"));
  }
  return "title" in value && !isNamedRecord(Object.keys(value));
}

const SHOWN = 3;

function shownBad(bad: BadRecord): string {
  return `${recordPlace(bad)}: ${bad.what}`;
}

function withBadNote(read: ReadResult): ReadResult {
  if (read.bad.length === 0) return read;
  const total = read.dataset.cases.length + read.bad.length;
  const shown = read.bad.slice(0, SHOWN).map(shownBad);
  const rest = read.bad.length > SHOWN ? `; and ${read.bad.length - SHOWN} more` : "";
  const note = `${read.bad.length} of ${total} records could not be used (${shown.join("; ")}${rest})`;
  const { header } = read.dataset;
  return {
    ...read,
    notes: [...read.notes, note],
    dataset: { ...read.dataset, header: { ...header, notes: [...header.notes, note] } },
  };
}
