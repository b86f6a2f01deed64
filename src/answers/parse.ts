/**
 * Raw answer -> ranked entries: a ladder, most structured rung first, and the first rung that gives an answer wins.
 *
 * The ladder is language-neutral and forgiving in form but strict in meaning: one entry is one prediction, a later complete
 * JSON answer replaces an earlier draft, NDJSON lines and patches add up, and what was thought, quoted, logged, echoed,
 * excluded in words or given as a reason predicts nothing. Everything is linear in the length of the text and nothing throws.
 */
import { readBlocks } from "./blocks.js";
import { readDiffs } from "./diff.js";
import { fieldToken, type RawEntry } from "./json-entry.js";
import { type Found, type JsonNode, parseJsonAt, parseJsonWhole, scanJson } from "./json-scan.js";
import { type JsonShape, readShape } from "./json-shapes.js";
import { isEchoOf, plainText, searchResponse, stripCitations, stripEcho, stripLogs, stripMarkup } from "./noise.js";
import { classifyEmpty } from "./refusals.js";
import type { AnswerParser, Entry, ParseContext, ReadBy, Reading } from "./schema.js";
import { readText } from "./text-rungs.js";
import { stripThinking } from "./thinking.js";

/** Entries beyond this are dropped; the reading says so in its `note`. */
export const MAX_ENTRIES = 10_000;

/** An answer inside a JSON string inside an answer ... is followed this far. */
const MAX_NESTING = 3;

export const parseAnswer: AnswerParser = (response, context) => {
  if (response.trim() === "") return { kind: "unparsable", why: "the response is empty" };
  return read(response, context, 0);
};

function read(response: string, context: ParseContext, nesting: number): Reading {
  const text = plainText(response);
  // A response that is JSON as a whole is read as such: a tag inside one of its strings is not the model's thinking.
  const whole = readWhole(text, context, nesting);
  if (whole !== null) return whole;
  const said = stripThinking(text);
  if (said.trim() === "") {
    return { kind: "unparsable", why: "the response holds thinking only" };
  }
  const answer = stripCitations(searchResponse(said));
  const again = answer === text ? null : readWhole(answer, context, nesting);
  if (again !== null) return again;
  const clean = stripLogs(stripEcho(answer, context.prompt));
  if (clean.trim() === "")
    return { kind: "unparsable", why: "nothing is left beside logs, tool calls and echoes of the question" };
  const diffs = readDiffs(clean, context.truncated);
  const json = readEmbedded(diffs.rest, context, nesting);
  if (json !== null) return json;
  if (diffs.files.length > 0) {
    const entries = diffs.files.flatMap((spellings) => {
      const token = fieldToken(spellings[0] ?? "");
      return token === null ? [] : [{ spellings: token.spellings }];
    });
    if (entries.length > 0) return answered(entries.map((entry) => toEntry(entry, "diff")));
  }
  const words = readText(stripMarkup(diffs.rest), context.truncated);
  if (words.length > 0) return answered(words.map((entry) => toEntry(entry, entry.readBy)));
  const empty = classifyEmpty(clean);
  if (empty !== null) return empty;
  if (hasEmptyFence(clean)) return { kind: "abstained", why: "the answer is an empty list" };
  return { kind: "unparsable", why: "no file, class or refusal was found in the response" };
}

function toEntry(entry: RawEntry, readBy: ReadBy): Entry {
  return {
    raw: entry.spellings[0] ?? "",
    readBy,
    spellings: entry.spellings,
    ...(entry.lines === undefined ? {} : { lines: entry.lines }),
    ...(entry.score === undefined ? {} : { score: entry.score }),
    ...(entry.symbols === undefined ? {} : { symbols: entry.symbols }),
  };
}

function answered(entries: readonly Entry[]): Reading {
  if (entries.length <= MAX_ENTRIES) return { kind: "answered", entries };
  const note = `the answer has ${entries.length} entries; the first ${MAX_ENTRIES} are read`;
  return { kind: "answered", entries: entries.slice(0, MAX_ENTRIES), note };
}

/** The whole text as one JSON value (cut or not); null if it is something else. */
function readWhole(text: string, context: ParseContext, nesting: number): Reading | null {
  const first = /^\s*([{["])/.exec(text)?.[1];
  if (first === undefined) return /^\s{0,100}null\s*$/.test(text) ? { kind: "abstained", why: "the answer is null" } : null;
  const parsed = parseJsonWhole(text);
  if (!parsed.ok) return null;
  const { node } = parsed;
  const drawn = readDrawn(node);
  if (drawn !== null) return drawn;
  const shape = readShape(node);
  if (shape === null) {
    if (!parsed.complete) return null;
    return { kind: "unparsable", why: "the JSON has no member that names files or classes" };
  }
  const reading = fromShape(shape, "json", context, nesting);
  if (parsed.complete || reading === null) return reading;
  // Cut JSON: entries that were complete before the cut count.
  if (reading.kind === "answered") return reading;
  return { kind: "unparsable", why: "the JSON was cut before its first complete entry" };
}

function fromShape(shape: JsonShape, readBy: ReadBy, context: ParseContext, nesting: number): Reading | null {
  if (shape.kind === "text") {
    if (nesting >= MAX_NESTING) return null;
    if (shape.text.trim() === "") return { kind: "abstained", why: "the answer is an empty string" };
    return read(shape.text, context, nesting + 1);
  }
  if (shape.kind === "entry") return answered([toEntry(shape.entry, readBy)]);
  if (shape.entries.length === 0) return { kind: "abstained", why: "the answer is an empty list" };
  return answered(shape.entries.map((entry) => toEntry(entry, readBy)));
}

/** The format of baselines that draw many times; an object with exactly these three members. */
function readDrawn(node: JsonNode): Reading | null {
  if (node.type !== "object" || !node.complete || node.members.length !== 3) return null;
  const member = (name: string): JsonNode | undefined => node.members.find(([key]) => key === name)?.[1];
  const draws = member("draws");
  const pool = member("pool");
  const sizes = member("sizes");
  if (draws?.type !== "array" || sizes?.type !== "array" || pool?.type !== "literal" || typeof pool.value !== "number")
    return null;
  const lists: Entry[][] = [];
  for (const draw of draws.items) {
    if (draw.type !== "array") return null;
    const entries: Entry[] = [];
    for (const item of draw.items) {
      if (item.type !== "string") return null;
      entries.push({ raw: item.value, readBy: "json", spellings: [item.value] });
    }
    lists.push(entries);
  }
  const numbers = sizes.items.map((item) =>
    item.type === "literal" && typeof item.value === "number" ? item.value : Number.NaN,
  );
  if (numbers.some(Number.isNaN)) return null;
  return { kind: "drawn", draws: lists, pool: pool.value, sizes: numbers };
}

interface JsonCandidate {
  readonly shape: JsonShape;
  readonly readBy: ReadBy;
  readonly complete: boolean;
}

/**
 * JSON in fences and in running text. Lists replace each other, the last complete one wins; single entries (NDJSON lines)
 * add up, and count only where there is no list.
 */
function readEmbedded(text: string, context: ParseContext, nesting: number): Reading | null {
  const echo = isEchoOf(context.prompt);
  const candidates: JsonCandidate[] = [];
  let echoChecks = 0;
  const consider = (found: Found, source: string, readBy: ReadBy, strict: boolean): boolean => {
    const drawn = readDrawn(found.node);
    const shape = drawn === null ? readShape(found.node) : null;
    if (shape === null || shape.kind === "text" || !isAnswer(shape, strict)) return false;
    if (echoChecks++ < 100 && found.complete && echo(source.slice(found.start, found.end))) return false;
    if (shape.kind === "list" && shape.entries.length === 0 && candidates.length > 0 && !endsLine(source, found.end))
      return false;
    const by = readBy === "ndjson" && shape.kind === "list" ? "json-embedded" : readBy;
    candidates.push({ shape, readBy: by, complete: found.complete });
    return true;
  };
  for (const piece of pieces(text)) {
    if (piece.code) continue;
    const { found } = scanJson(piece.text);
    const lines = isLines(piece.text, found);
    const whole = piece.fenced && found.length === 1 && isWholeOf(piece.text, found[0]);
    for (const one of found) {
      const readBy = lines ? "ndjson" : piece.fenced ? "json-fenced" : "json-embedded";
      const used = consider(one, piece.text, readBy, !(lines || whole));
      // What is inside a cut answer has been read with it.
      if (used && !one.complete) break;
    }
    if (!lines) continue;
    candidates.push(...stringLines(piece.text));
  }
  const lists = candidates.filter((one) => one.shape.kind === "list");
  const complete = lists.findLast((one) => one.complete) ?? lists.at(-1);
  if (complete !== undefined) {
    const reading = fromShape(complete.shape, complete.readBy, context, nesting);
    if (reading === null || complete.complete || reading.kind === "answered") return reading;
    return { kind: "unparsable", why: "the JSON was cut before its first complete entry" };
  }
  const entries = candidates.flatMap((one) => (one.shape.kind === "entry" ? [toEntry(one.shape.entry, one.readBy)] : []));
  return entries.length > 0 ? answered(entries) : null;
}

/** "`{"classes": []}` would mean none": an empty list inside a sentence doesn't take an answer back. */
function endsLine(text: string, end: number): boolean {
  const line = text.slice(end, end + 200).split("\n")[0] ?? "";
  return /^[\s.`*]*$/.test(line);
}

/** `strict`: the value stands inside other text, where samples of data stand too; only what can be an answer is one. */
function isAnswer(shape: JsonShape, strict: boolean): boolean {
  if (shape.kind === "entry") return shape.pathlike || !strict;
  if (shape.kind !== "list") return false;
  if (shape.entries.length === 0) return shape.keyed;
  if (!strict) return true;
  return shape.keyed ? true : shape.pathlike * 2 >= shape.entries.length;
}

interface Piece {
  readonly text: string;
  readonly fenced: boolean;
  readonly code: boolean;
}

const JSON_INFO =
  /^(?:jsonc?|json5|jsonl|ndjson|javascript|js|text|txt|plaintext|plain|output|answer|response|result|python|py)?(?:\s|$)/i;

/** Fences and what stands between them. Code in other languages is no place for an answer. */
function pieces(text: string): Piece[] {
  if (!/```|~~~/.test(text)) return [{ text, fenced: false, code: false }];
  const result: Piece[] = [];
  const lines = text.split("\n");
  let open: { mark: string; info: string } | null = null;
  let current: string[] = [];
  const flush = (): void => {
    const joined = current.join("\n");
    current = [];
    if (joined.trim() === "") return;
    if (open === null) result.push({ text: joined, fenced: false, code: false });
    else {
      // In a fence of code only a value that is the whole fence is an answer.
      const json = JSON_INFO.test(open.info) && (/^jsonc?|^json|^ndjson/i.test(open.info) || /^\s*[{[]/.test(joined));
      result.push({ text: joined, fenced: true, code: !json });
    }
  };
  for (const line of lines) {
    const fence = /^\s{0,12}(`{3,}|~{3,})\s*([^`\n]{0,200})$/.exec(line);
    if (fence !== null && (open === null || ((fence[2] ?? "").trim() === "" && (fence[1] ?? "").startsWith(open.mark)))) {
      flush();
      open = open === null ? { mark: fence[1] ?? "```", info: (fence[2] ?? "").trim() } : null;
    } else current.push(line);
  }
  flush();
  return result;
}

function isWholeOf(text: string, found: Found | undefined): boolean {
  return found !== undefined && text.slice(0, found.start).trim() === "" && text.slice(found.end).trim() === "";
}

/** Several values, each from the start of a line to its end, with nothing between: NDJSON. A cut last line doesn't spoil it. */
function isLines(text: string, found: readonly Found[]): boolean {
  const complete = found.filter((one) => one.complete);
  if (complete.length < 2) return false;
  let at = 0;
  for (const one of complete) {
    if (!/^[\s,]*$/.test(text.slice(at, one.start)) || text.slice(one.start, one.end).includes("\n")) return false;
    at = one.end;
  }
  const rest = text.slice(at).trim();
  return rest === "" || rest.startsWith("{");
}

/** Lines of an NDJSON text that are JSON strings rather than objects. */
function stringLines(text: string): JsonCandidate[] {
  const result: JsonCandidate[] = [];
  for (const line of text.split("\n")) {
    if (!/^\s*"/.test(line)) continue;
    const parsed = parseJsonAt(line, 0);
    const token = parsed.ok && parsed.node.type === "string" ? fieldToken(parsed.node.value) : null;
    if (token === null) continue;
    result.push({
      shape: { kind: "entry", entry: { spellings: token.spellings }, pathlike: true },
      readBy: "ndjson",
      complete: true,
    });
  }
  return result;
}

/** "```json\n[]\n```" and nothing else that could be read. */
function hasEmptyFence(text: string): boolean {
  return readBlocks(text).some(
    (block) => block.type === "fence" && /^\s*(?:\[\s*\]|\{\s*\})\s*$/.test(block.body.slice(0, 50).join("\n")),
  );
}
