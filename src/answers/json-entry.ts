/**
 * One JSON value as one entry: which fields name it, with which lines and score, and when it says that it is no prediction.
 *
 * Field names are compared without case and punctuation (`filePath`, `file-path`, `File Path`). Only fields that name files,
 * classes or modules give spellings; explanations, snippets and code never do, whatever they mention.
 */
import type { JsonNode } from "./json-scan.js";
import { classify, MAX_TOKEN, range, type Token, undecorate } from "./tokens.js";

/** An entry before it knows by which rung it was read. */
export interface RawEntry {
  readonly spellings: readonly string[];
  readonly lines?: readonly [number, number];
  readonly score?: number;
  /** Functions that it names inside its file. */
  readonly symbols?: readonly string[];
}

export type ObjectNode = Extract<JsonNode, { type: "object" }>;

/** Fields that name the entry, most specific first: paths, then qualified names, then names. */
const PATH_FIELDS =
  "path file_path filepath file filename file_name relative_path rel_path abs_path absolute_path full_path class_path classpath source_file source_path location uri url chemin fichier".split(
    " ",
  );
const QUALIFIED_FIELDS = "fqcn fqn fully_qualified_name qualified_name full_name full_class_name module module_path classe".split(
  " ",
);
const NAME_FIELDS = "class class_name classname name symbol nom".split(" ");
const ENTRY_OBJECTS = new Set("unit file location document source item entry path class".split(" "));
const FUNCTION_FIELDS = "function functions function_name function_names method methods method_name method_names".split(" ");
const CLASS_FIELDS = "class class_name classname".split(" ");
const SCORE_FIELDS = "score confidence probability relevance similarity weight likelihood".split(" ");
const RANK_FIELDS = "rank position order".split(" ");
const LINE_FIELDS = "line lines line_number line_numbers start_line line_start startline line_range range".split(" ");
const END_FIELDS = "end_line line_end endline".split(" ");
const YES_FIELDS = "relevant is_relevant include included impacted affected needs_change should_change selected changed".split(
  " ",
);
const NO_FIELDS = "excluded exclude ignored ignore irrelevant unaffected unchanged".split(" ");
const VERDICT_FIELDS = "status verdict impact impacted change change_needed relevance affected relevant".split(" ");
const VERDICT_NO =
  /^(?:none|no|false|unchanged|unaffected|irrelevant|excluded|ignored|not (?:affected|relevant|impacted|needed|related|changed)|no change(?:s)?(?: needed| required)?|aucun|non)$/i;

/** Members by normalised name, in order. A name that occurs twice stays twice. */
export function fieldsOf(node: ObjectNode): readonly (readonly [string, JsonNode])[] {
  return node.members.map(([name, value]) => [fieldName(name), value] as const);
}

function fieldName(name: string): string {
  return name
    .slice(0, 80)
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1_$2")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_");
}

export interface ReadEntry {
  readonly entry: RawEntry;
  readonly pathlike: boolean;
  readonly rank: number | null;
}

export function hasOwnPath(fields: readonly (readonly [string, JsonNode])[]): boolean {
  return fields.some(([name, value]) => PATH_FIELDS.includes(name) && value.type === "string");
}

/** One object as one entry with all its spellings, or null if no field of it names anything or it says that it is no prediction. */
export function readEntry(node: ObjectNode): ReadEntry | null {
  const fields = new Map<string, JsonNode>();
  for (const [name, value] of fieldsOf(node)) if (!fields.has(name)) fields.set(name, value);
  if (isDenied(fields)) return null;
  const tokens: Token[] = [];
  const texts = (names: readonly string[]): string[] =>
    names.flatMap((name) => {
      const value = fields.get(name);
      return value?.type === "string" ? [value.value] : [];
    });
  const folder = texts(["dir", "directory", "folder"])[0];
  for (const text of texts(PATH_FIELDS)) {
    const token = fieldToken(text);
    if (token === null) continue;
    tokens.push(token);
    if (folder !== undefined && !/[\\/]/.test(token.raw)) {
      const joined = fieldToken(`${folder.replace(/[\\/]+$/, "")}/${token.raw}`);
      if (joined !== null) tokens.unshift(joined);
    }
  }
  for (const text of texts(QUALIFIED_FIELDS)) tokens.push(...[fieldToken(text)].filter((token) => token !== null));
  const packageName = texts(["package", "package_name", "namespace"])[0];
  for (const text of texts(NAME_FIELDS)) {
    const token = fieldToken(text);
    if (token === null) continue;
    if (packageName !== undefined && token.kind === "simple") {
      const joined = fieldToken(`${packageName}.${token.raw}`);
      if (joined !== null) tokens.push(joined);
    }
    // Beside a path, `name` is often a function's; only what looks like a class may stand in for the path.
    if (tokens.length === 0 || token.kind !== "simple" || /^\p{Lu}/u.test(token.raw)) tokens.push(token);
  }
  if (tokens.length === 0) {
    for (const [name, value] of fields) {
      if (!ENTRY_OBJECTS.has(name) || value.type !== "object" || !value.complete) continue;
      const inner = readEntry(value);
      if (inner !== null) return { ...inner, entry: withNumbers(inner.entry, fields), rank: rankOf(fields) ?? inner.rank };
    }
    return null;
  }
  tokens.sort((a, b) => kindOrder(a) - kindOrder(b)); // Stable: order of the fields within a kind.
  const spellings = [...new Set(tokens.flatMap((token) => token.spellings))];
  const located = tokens.find((token) => token.lines !== undefined)?.lines;
  const entry: RawEntry = located === undefined ? { spellings } : { spellings, lines: located };
  return { entry: withNumbers(entry, fields), pathlike: tokens.some((token) => token.kind !== "simple"), rank: rankOf(fields) };
}

function kindOrder(token: Token): number {
  return token.kind === "path" ? 0 : token.kind === "qualified" ? 1 : 2;
}

function isDenied(fields: ReadonlyMap<string, JsonNode>): boolean {
  const literal = (name: string): unknown => {
    const value = fields.get(name);
    return value?.type === "literal" ? value.value : undefined;
  };
  if (YES_FIELDS.some((name) => literal(name) === false) || NO_FIELDS.some((name) => literal(name) === true)) return true;
  return VERDICT_FIELDS.some((name) => {
    const value = fields.get(name);
    return value?.type === "string" && value.value.length < 60 && VERDICT_NO.test(value.value.trim());
  });
}

function rankOf(fields: ReadonlyMap<string, JsonNode>): number | null {
  for (const name of RANK_FIELDS) {
    const value = fields.get(name);
    if (value?.type === "literal" && typeof value.value === "number") return value.value;
  }
  return null;
}

function withNumbers(entry: RawEntry, fields: ReadonlyMap<string, JsonNode>): RawEntry {
  let { lines, score } = entry;
  for (const name of SCORE_FIELDS) {
    const value = fields.get(name);
    if (score === undefined && value?.type === "literal" && typeof value.value === "number") score = value.value;
  }
  for (const name of LINE_FIELDS) {
    const numbers = numbersOf(fields.get(name));
    if (lines !== undefined || numbers[0] === undefined) continue;
    const end = END_FIELDS.map((field) => numbersOf(fields.get(field))[0]).find((number) => number !== undefined);
    lines = range(numbers[0], end ?? numbers[1] ?? numbers[0]);
  }
  const symbols = entry.symbols ?? symbolsOf(fields);
  return {
    spellings: entry.spellings,
    ...(lines === undefined ? {} : { lines }),
    ...(score === undefined ? {} : { score }),
    ...(symbols.length === 0 ? {} : { symbols }),
  };
}

const MOST_SYMBOLS = 200;

/** Functions by name, one or a list, with the class that the entry names before those that have none. Sentences are no names. */
function symbolsOf(fields: ReadonlyMap<string, JsonNode>): readonly string[] {
  const names = FUNCTION_FIELDS.flatMap((name) => namesIn(fields.get(name)));
  const owner = CLASS_FIELDS.flatMap((name) => namesIn(fields.get(name))).find((name) => !/[\\/]/.test(name));
  const whole = names.map((name) => (owner === undefined || /[.#:]/.test(name) ? name : `${owner}.${name}`));
  return [...new Set(whole)].slice(0, MOST_SYMBOLS);
}

function namesIn(node: JsonNode | undefined): string[] {
  if (node === undefined) return [];
  if (node.type === "array")
    return node.items.slice(0, MOST_SYMBOLS).flatMap((item) => (item.type === "array" ? [] : namesIn(item)));
  if (node.type === "object") {
    const name = fieldsOf(node).find(([field]) => field === "name" || FUNCTION_FIELDS.includes(field))?.[1];
    return name?.type === "string" ? namesIn(name) : [];
  }
  if (node.type !== "string" || node.value.length > 300) return [];
  const name = /^[`\s]{0,4}([\p{L}_$][\p{L}\p{N}_$.#:<>]{0,250})(?:\([^()]{0,200}\))?[`\s]{0,4}$/u.exec(node.value)?.[1];
  return name === undefined ? [] : [name];
}

function numbersOf(node: JsonNode | undefined): number[] {
  if (node === undefined) return [];
  if (node.type === "literal") return typeof node.value === "number" ? [node.value] : [];
  if (node.type === "array") return node.items.slice(0, 2).flatMap(numbersOf);
  if (node.type === "string")
    return [...node.value.slice(0, 100).matchAll(/\d{1,7}/g)].slice(0, 2).map((match) => Number(match[0]));
  return [];
}

export function pathMap(node: ObjectNode): RawEntry[] {
  const entries: RawEntry[] = [];
  for (const [name, value] of node.members) {
    const token = fieldToken(name);
    if (token?.kind !== "path") return [];
    if (value.type === "literal" && value.value === false) continue;
    if (value.type === "object" && isDenied(new Map(fieldsOf(value)))) continue;
    const score = value.type === "literal" && typeof value.value === "number" ? value.value : undefined;
    entries.push({
      spellings: token.spellings,
      ...(token.lines === undefined ? {} : { lines: token.lines }),
      ...(score === undefined ? {} : { score }),
    });
  }
  return entries;
}

/** A string of a list: usually one token; else several lines or pieces, each a token; else `path - why`. */
export function readStringItem(text: string): readonly ReadEntry[] {
  const whole = fieldToken(text);
  if (whole !== null) return [fromToken(whole)];
  if (text.length > 100_000) return [];
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length > 1)
    return lines.flatMap((line) => (line.length > MAX_TOKEN ? [] : readStringItem(line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, ""))));
  const pieces = text.split(/[,;]/).map((piece) => fieldToken(piece));
  if (pieces.length > 1 && pieces.every((piece) => piece !== null))
    return pieces.flatMap((piece) => (piece === null ? [] : [fromToken(piece)]));
  const head = /^(.{1,1024}?)(?::\s|\s[-–—]\s|\s\(|\s{2,}|\t)/su.exec(text.slice(0, MAX_TOKEN + 8));
  const token = head === null ? null : fieldToken(head[1] ?? "");
  return token === null || token.kind === "simple" ? [] : [fromToken(token)];
}

function fromToken(token: Token): ReadEntry {
  return {
    entry: token.lines === undefined ? { spellings: token.spellings } : { spellings: token.spellings, lines: token.lines },
    pathlike: token.kind !== "simple",
    rank: null,
  };
}

const NOTHING = /^(?:n\/?a|none|null|nil|unknown|undefined|-+|\?+|aucun|aucune|rien)$/i;

/** A field's value as a token, or null for fillers and sentences. Spaces are allowed; a markdown link gives its target. */
export function fieldToken(value: string): Token | null {
  if (value.length > MAX_TOKEN * 2) return null;
  const text = restoreBackslashes(value);
  const trimmed = undecorate(text.trim());
  if (trimmed === "" || NOTHING.test(trimmed)) return null;
  const link = /^\[([^\][\n]{1,600})\]\(([^()\s]{1,800})\)$/.exec(text.trim());
  if (link !== null) {
    const target = fieldToken(link[2] ?? "");
    const label = fieldToken(link[1] ?? "");
    if (target?.kind === "path" && label !== null)
      return { ...target, spellings: [...new Set([...target.spellings, ...label.spellings])] };
    return label ?? target;
  }
  return classify(text, { prose: false, alone: true });
}

/** `"src\test\Foo.java"` in JSON is `src`, a tab, `est`...: where a path comes out of it, the control character was a separator. */
function restoreBackslashes(text: string): string {
  if (!/[\b\f\t\r\n]/.test(text) || /[ ]/.test(text)) return text;
  if (
    /\n/.test(text) &&
    text.split("\n").every((line) => line.trim() === "" || classify(line, { prose: false, alone: true }) !== null)
  )
    return text;
  return text
    .replace(/[\b]/g, "\\b")
    .replaceAll("\f", "\\f")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("\t", "\\t");
}
