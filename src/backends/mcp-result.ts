/**
 * What a Model Context Protocol tool returned, as an answer. Pure.
 *
 * A result has content parts (texts, links to resources) and, from newer servers, structured content. Without a mapping the answer is what
 * was said, read by the parser ladder like any other; with one, a list is taken out of the JSON and each entry gives a file, a score, lines.
 */
import * as z from "zod";
import { bestChunks, type RankedFile, rankedResponse } from "./ranked.js";

const path = z
  .string()
  .regex(/^(?:[^.[\]]+|\[\d{1,6}\])?(?:\.[^.[\]]+|\[\d{1,6}\])*$/, "is no path such as results, file.path or ranges[0].start");

export const mappingSchema = z.strictObject({
  list: path
    .default("")
    .describe("Where the list of hits is, such as `results` or `data.hits`. Default: the JSON itself is the list."),
  path: path.default("path").describe("Within a hit: the file. Empty: the hit is the file's name."),
  score: path.optional().describe("Within a hit: its score."),
  start_line: path.optional().describe("Within a hit: its first line."),
  end_line: path.optional().describe("Within a hit: its last line. Default: the first line."),
  lines_from: z
    .union([z.literal(0), z.literal(1)])
    .default(1)
    .describe("How the server numbers the first line of a file."),
});
export type Mapping = z.infer<typeof mappingSchema>;

/** The members of a tool's result that are read. */
export interface ToolResult {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

export type ReadResult =
  | { readonly ok: true; readonly response: string; readonly hits: number | null; readonly unreadable: number }
  /** `said`: what there is instead, to keep. */
  | { readonly ok: false; readonly error: string; readonly said: string };

interface Parts {
  readonly texts: readonly string[];
  /** Addresses of resources that are linked or embedded, in order. */
  readonly resources: readonly string[];
}

/** `roots`: absolute prefixes that are taken off paths. */
export function readResult(result: ToolResult, mapping: Mapping | null, top: number, roots: readonly string[]): ReadResult {
  const parts = partsOf(result.content);
  const said = parts.texts.join("\n");
  if (result.isError === true) {
    return { ok: false, error: said.trim() === "" ? "the tool failed and did not say why" : said.trim(), said };
  }
  if (mapping !== null) return mapped(result, parts, mapping, top, roots);
  if (result.structuredContent !== undefined && result.structuredContent !== null) {
    return { ok: true, response: JSON.stringify(result.structuredContent), hits: null, unreadable: 0 };
  }
  if (said.trim() === "" && parts.resources.length > 0) {
    const files = parts.resources.map((uri) => ({ path: withoutRoot(fileOf(uri), roots) }));
    return { ok: true, response: rankedResponse(bestChunks(files, top)), hits: files.length, unreadable: 0 };
  }
  // A server that prints nothing at all may have lost its index; an empty list is said as one.
  if (said.trim() === "") return { ok: false, error: "the tool returned nothing, not even an empty list", said };
  return { ok: true, response: said, hits: null, unreadable: 0 };
}

function mapped(result: ToolResult, parts: Parts, mapping: Mapping, top: number, roots: readonly string[]): ReadResult {
  const said = parts.texts.join("\n");
  const values =
    result.structuredContent !== undefined && result.structuredContent !== null
      ? [result.structuredContent]
      : jsonOf(parts.texts);
  if (values === null)
    return {
      ok: false,
      error: "the tool's text is not JSON, so `result` can't be applied: leave `result` out to have it read as text",
      said,
    };
  const lists = values.map((value) => valueAt(value, mapping.list)).filter((list) => Array.isArray(list));
  // A part per hit: the parts are the list.
  const loose = lists.length === 0 && mapping.list === "" && values.some((value) => fileFrom(value, mapping, roots) !== null);
  if (lists.length === 0 && !loose) {
    const where = mapping.list === "" ? "the result" : `\`${mapping.list}\``;
    return { ok: false, error: `${where} is no list: check \`result.list\` (the result has ${membersOf(values[0])})`, said };
  }
  const entries = loose ? values : lists.flat();
  const files = entries.flatMap((entry) => {
    const file = fileFrom(entry, mapping, roots);
    return file === null ? [] : [file];
  });
  const unreadable = entries.length - files.length;
  if (files.length === 0 && unreadable > 0) {
    return {
      ok: false,
      error: `no hit has a file at \`${mapping.path}\`: check \`result.path\` (a hit has ${membersOf(entries[0])})`,
      said,
    };
  }
  return { ok: true, response: rankedResponse(bestChunks(files, top)), hits: files.length, unreadable };
}

function fileFrom(entry: unknown, mapping: Mapping, roots: readonly string[]): RankedFile | null {
  const name = valueAt(entry, mapping.path);
  if (typeof name !== "string" || name.trim() === "") return null;
  const number = (where: string | undefined): number | undefined => {
    const value = where === undefined ? undefined : valueAt(entry, where);
    const parsed = typeof value === "string" && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value) ? Number(value) : value;
    return typeof parsed === "number" && Number.isFinite(parsed) ? parsed : undefined;
  };
  const score = number(mapping.score);
  const offset = 1 - mapping.lines_from;
  const start = number(mapping.start_line);
  const first = start === undefined ? undefined : Math.trunc(start) + offset;
  const last = first === undefined ? undefined : Math.max(first, Math.trunc(number(mapping.end_line) ?? first - offset) + offset);
  return {
    path: withoutRoot(fileOf(name), roots),
    ...(score === undefined ? {} : { score }),
    ...(first === undefined || last === undefined || first < 1 ? {} : { start_line: first, end_line: last }),
  };
}

/** The JSON of the texts: all of them as one, or each by itself (servers that give a part per hit). null: neither. */
function jsonOf(texts: readonly string[]): unknown[] | null {
  const parse = (text: string): { value: unknown } | null => {
    try {
      return { value: JSON.parse(text) };
    } catch {
      return null;
    }
  };
  const whole = parse(texts.join("\n"));
  if (whole !== null) return [whole.value];
  const each = texts.filter((text) => text.trim() !== "").map(parse);
  if (each.length === 0 || each.includes(null)) return null;
  return each.map((one) => one?.value);
}

/** `file.path`, `ranges[0].start`; undefined where there is nothing. Own members only: the names come from a pipeline, the JSON from anywhere. */
export function valueAt(value: unknown, where: string): unknown {
  let at = value;
  for (const [, member, index] of where.matchAll(/([^.[\]]+)|\[(\d{1,6})\]/g)) {
    if (index !== undefined) at = Array.isArray(at) ? at[Number(index)] : undefined;
    else if (typeof at === "object" && at !== null && Object.hasOwn(at, member ?? ""))
      at = (at as Record<string, unknown>)[member ?? ""];
    else return undefined;
  }
  return at;
}

function partsOf(content: unknown): Parts {
  const texts: string[] = [];
  const resources: string[] = [];
  for (const part of Array.isArray(content) ? content : []) {
    const { type, text, uri, resource } = (part ?? {}) as Record<string, unknown>;
    if (type === "text" && typeof text === "string") texts.push(text);
    const address = type === "resource_link" ? uri : type === "resource" ? valueAt(resource, "uri") : undefined;
    if (typeof address === "string") resources.push(address);
  }
  return { texts, resources };
}

/** `file:///a/b%20c.java` is a path; other texts are taken as they are. */
function fileOf(name: string): string {
  const slashes = name.replaceAll("\\", "/");
  const address = /^file:\/\/[^/]*(\/.*)$/.exec(slashes)?.[1];
  if (address === undefined) return slashes;
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

function withoutRoot(name: string, roots: readonly string[]): string {
  const root = roots.find((candidate) => candidate !== "" && name.startsWith(`${candidate}/`));
  return root === undefined ? name : name.slice(root.length + 1);
}

function membersOf(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== "object" || value === null) return `a ${value === null ? "null" : typeof value}`;
  const names = Object.keys(value).slice(0, 12);
  return names.length === 0 ? "no members" : `the members ${names.join(", ").slice(0, 200)}`;
}
