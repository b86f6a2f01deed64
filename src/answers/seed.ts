/**
 * The original program's reading of an answer, faults included, so that its old reports can be continued and compared.
 *
 * Known faults that are kept on purpose: thinking and prose are read as predictions where no JSON is found ("Sorry" is a class
 * name), an entry's path and name are two predictions, names with letters beyond ASCII are lost, and an empty list falls through
 * to the prose rules. Behaviour was taken down from the program and checked against it; the wording here is our own. The other
 * parsers share nothing with this one.
 */
import { err, ok, type Result } from "../base/result.js";
import { parsePythonJson } from "./python-json.js";
import { compareCodePoints, lastWord, PYTHON_SPACE, splitLines, strip } from "./python-text.js";
import { findJavaPaths, findQualifiedNames } from "./seed-patterns.js";

export interface SeedPrediction {
  /** `path:...`, `fqcn:...` or `simple:...`, lower case: predictions are distinct by it, and the original's reports list it. */
  readonly id: string;
  /** The path or name as the answer spelt it. */
  readonly raw: string;
  readonly pathKey: string | null;
  readonly simpleKey: string;
  /** The qualified name; of a path the alphabetically first that it may stand for. */
  readonly qualifiedKey: string | null;
}

/** The original raises an exception on this answer: it reports a failed call and leaves the case out of its figures. */
export interface SeedCrash {
  readonly message: string;
}

/** Predictions in the order of the answer, distinct by id. */
export function readSeedAnswer(response: string): Result<SeedPrediction[], SeedCrash> {
  const payload = findPayload(response);
  if (payload !== undefined) {
    const read = readTokens(payloadTokens(payload));
    if (!read.ok || read.value.length > 0) return read;
  }
  return readTokens(textTokens(response));
}

/** As `readSeedAnswer`; an answer that makes the original crash has no predictions, as in its report. */
export function parseSeedAnswer(response: string): SeedPrediction[] {
  const read = readSeedAnswer(response);
  return read.ok ? read.value : [];
}

/** The first that is JSON: the whole text, each fenced block, all from the first `{` to the last `}`. */
function findPayload(text: string): unknown {
  const candidates = new Set([strip(text), ...fencedBlocks(text)]);
  const first = text.indexOf("{");
  const last = text.lastIndexOf("}");
  if (first !== -1 && first < last) candidates.add(text.slice(first, last + 1));
  for (const candidate of candidates) {
    if (candidate === "") continue;
    const parsed = parsePythonJson(candidate);
    if (parsed.ok) return parsed.value;
  }
  return undefined;
}

/** What stands between two fences, wherever in a line they are. Python takes `jſon` for `json`, and so does the `u` flag. */
function fencedBlocks(text: string): string[] {
  const blocks: string[] = [];
  const label = /json/iuy;
  for (let open = text.indexOf("```"); open !== -1; ) {
    const close = text.indexOf("```", open + 3);
    if (close === -1) break;
    label.lastIndex = open + 3;
    const start = label.test(text) ? open + 7 : open + 3;
    blocks.push(strip(text.slice(start, close)));
    open = text.indexOf("```", close + 3);
  }
  return blocks;
}

const ENTRY_MEMBERS = ["path", "class_path", "file", "name", "class"];

function payloadTokens(payload: unknown): string[] {
  if (Array.isArray(payload)) return entryTokens(payload);
  if (typeof payload !== "object" || payload === null) return [];
  const classes = member(payload, "classes");
  const tokens = Array.isArray(classes) ? entryTokens(classes) : [];
  for (const name of ["paths", "java_files", "files"]) {
    const value = member(payload, name);
    for (const entry of Array.isArray(value) ? value : [value]) if (typeof entry === "string") tokens.push(entry);
  }
  return tokens;
}

function entryTokens(entries: readonly unknown[]): string[] {
  return entries.flatMap((entry) => {
    if (typeof entry === "string") return [entry];
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return [];
    return ENTRY_MEMBERS.map((name) => member(entry, name)).filter((value) => typeof value === "string");
  });
}

function member(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? (record as Record<string, unknown>)[name] : undefined;
}

const LINE_PREFIX = new RegExp(`^[${PYTHON_SPACE}]*(?:[-*+]|\\p{Nd}+[.)])`, "u");

/** Each line without its bullet, the line's pieces, then all code spans, Java paths and qualified names of the whole text. */
function* textTokens(text: string): Generator<string> {
  for (const line of splitLines(text)) {
    const token = strip(line.replace(LINE_PREFIX, ""));
    if (token === "") continue;
    yield token;
    yield* token
      .split(/[;,]/)
      .map((piece) => strip(piece))
      .filter((piece) => piece !== "");
  }
  for (const [, span = ""] of text.matchAll(/`([^`]+)`/g)) yield span;
  yield* findJavaPaths(text);
  yield* findQualifiedNames(text);
}

function readTokens(tokens: Iterable<string>): Result<SeedPrediction[], SeedCrash> {
  const predictions = new Map<string, SeedPrediction>();
  for (const token of tokens) {
    const read = readToken(token);
    if (!read.ok) return read;
    if (read.value !== null && !predictions.has(read.value.id)) predictions.set(read.value.id, read.value);
  }
  return ok([...predictions.values()]);
}

const TRIMMED = " \t\r\n,;:.";

/** Answers about one project name the same files again and again: what a token is depends on nothing else and is kept. */
const known = new Map<string, Result<SeedPrediction | null, SeedCrash>>();
const MOST_KNOWN = 20_000;
const LONGEST_KNOWN = 300;

function readToken(text: string): Result<SeedPrediction | null, SeedCrash> {
  const before = known.get(text);
  if (before !== undefined) return before;
  const read = readNewToken(text);
  if (text.length <= LONGEST_KNOWN) {
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(text, read);
  }
  return read;
}

function readNewToken(text: string): Result<SeedPrediction | null, SeedCrash> {
  const bare = strip(strip(strip(text), "`"));
  // A token that is one Markdown link counts by its label.
  const token = strip(
    bare.replace(/^\[([^\]]+)\]\([^)]+\)$/, (_, label: string) => label),
    TRIMMED,
  );
  if (token === "") return ok(null);

  const [path] = findJavaPaths(token, 1);
  if (path !== undefined) {
    const pathKey = seedPathKey(path);
    const name = path.slice(path.lastIndexOf("/") + 1, -".java".length);
    const [qualifiedKey = null] = [...seedQualifiedNames(path)].sort(compareCodePoints);
    return ok({ id: `path:${pathKey}`, raw: path, pathKey, simpleKey: name.toLowerCase(), qualifiedKey });
  }

  const [qualified] = findQualifiedNames(token, 1);
  if (qualified !== undefined) {
    const qualifiedKey = qualified.toLowerCase();
    const simpleKey = qualifiedKey.slice(qualifiedKey.lastIndexOf(".") + 1);
    return ok({ id: `fqcn:${qualifiedKey}`, raw: qualified, pathKey: null, simpleKey, qualifiedKey });
  }

  const word = lastWord(token);
  if (word === undefined) {
    return err({ message: "the original program stops with an IndexError on an entry of white space between punctuation marks" });
  }
  const name = strip(word, TRIMMED);
  if (!/^[A-Z][A-Za-z0-9_$]*$/.test(name)) return ok(null);
  const simpleKey = name.toLowerCase();
  return ok({ id: `simple:${simpleKey}`, raw: name, pathKey: null, simpleKey, qualifiedKey: null });
}

/** By what the original compares paths: trimmed, `\` as `/`, no `/` at either end, lower case. */
export function seedPathKey(path: string): string {
  return strip(strip(path).replaceAll("\\", "/"), "/").toLowerCase();
}

const SOURCE_ROOTS = ["/src/main/java/", "/src/test/java/", "/main/java/", "/test/java/", "/java/"];

/** The qualified names that a Java path may stand for: what follows each source root (its first occurrence), and the whole path. */
export function seedQualifiedNames(javaPath: string): Set<string> {
  const path = strip(javaPath).replaceAll("\\", "/");
  const names = new Set<string>();
  if (!path.toLowerCase().endsWith(".java")) return names;
  const stem = strip(path.slice(0, -".java".length), "/");
  const framed = `/${stem}/`;
  const lowered = framed.toLowerCase();
  const add = (part: string) => {
    const name = strip(part.replaceAll("/", "."), ".").toLowerCase();
    if (name !== "") names.add(name);
  };
  for (const root of SOURCE_ROOTS) {
    const at = lowered.indexOf(root);
    // The position is one of the lower-cased text, as in the original; `İ`, which grows in lower case, shifts it in both.
    if (at !== -1) add(framed.slice(at + root.length, -1));
  }
  if (stem.includes("/")) add(stem);
  return names;
}
