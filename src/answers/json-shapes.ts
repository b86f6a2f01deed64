/**
 * What a JSON value says as an answer: a list of entries, one entry, text that holds the answer, or nothing.
 *
 * Field names are compared without case and punctuation (`filePath`, `file-path`, `File Path`). Only fields that name files,
 * classes or modules give spellings; explanations, snippets and code never do, whatever they mention. A member whose name says
 * that its files are excluded (`not_affected`, `ignored_files`) gives nothing.
 */
import type { JsonNode } from "./json-scan.js";
import { classify, MAX_TOKEN, range, type Token, undecorate } from "./tokens.js";

/** An entry before it knows by which rung it was read. */
export interface RawEntry {
  readonly spellings: readonly string[];
  readonly lines?: readonly [number, number];
  readonly score?: number;
}

export type JsonShape =
  /** `keyed`: a member such as `classes` or `files` says that this is the answer; a bare array does not. */
  | { readonly kind: "list"; readonly entries: readonly RawEntry[]; readonly keyed: boolean; readonly pathlike: number }
  | { readonly kind: "entry"; readonly entry: RawEntry; readonly pathlike: boolean }
  | { readonly kind: "text"; readonly text: string };

type ObjectNode = Extract<JsonNode, { type: "object" }>;

const LIST_KEYS = new Set(
  (
    "classes paths files java_files results predictions locations candidates items entries hits matches answers modules filenames " +
    "code_blocks document_blocks text_blocks suspects targets ranking ranked impacted affected"
  ).split(" "),
);
const LIST_ENDING = /(?:^|_)(?:files|paths|classes|locations|modules|filenames|predictions|candidates|results)$/;
const EXCLUDED_KEY =
  /(?:^|_)(?:not|non|no|exclude|excluded|excluding|ignore|ignored|reject|rejected|irrelevant|unaffected|unlikely|unchanged|unrelated|untouched|skipped|discarded|dismissed|ruled|inspected|examined|searched|viewed|visited|context|dependencies|references|citations|sources|imports|logs?|trace|stack)(?:_|$)/;
const EXPLANATION_KEY =
  /(?:^|_)(?:reason|reasons|reasoning|explanation|explanations|rationale|justification|description|analysis|thinking|thought|thoughts|snippet|snippets|content|contents|code|comment|comments|note|notes|evidence|summary|docstring|signature|prompt|question|query|issue|calls|called_by|usage)(?:_|$)/;
const WRAPPER_KEYS = new Set(
  "answer response result output final final_answer message data payload prediction solution completion reply value text content".split(
    " ",
  ),
);

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

const MAX_WRAPPING = 3;

/** Reads the root value of an answer. */
export function readShape(node: JsonNode, depth = 0): JsonShape | null {
  if (depth > MAX_WRAPPING) return null;
  if (node.type === "array") return listShape(node.items, false);
  if (node.type === "string") return { kind: "text", text: node.value };
  if (node.type !== "object") return null;
  const fields = fieldsOf(node);
  const entry = node.complete ? readEntry(node) : null;
  if (entry?.pathlike && hasOwnPath(fields)) return { kind: "entry", entry: entry.entry, pathlike: true };
  const list = keyedList(node, depth);
  if (list !== null) return list;
  let text: string | null = null;
  for (const [name, value] of fields) {
    if (!WRAPPER_KEYS.has(name) || EXCLUDED_KEY.test(name)) continue;
    if (value.type === "string") text ??= value.value;
    else {
      const inner = readShape(value, depth + 1);
      if (inner !== null) return inner.kind === "list" ? { ...inner, keyed: true } : inner;
    }
  }
  if (text !== null) return { kind: "text", text };
  if (entry !== null) return { kind: "entry", entry: entry.entry, pathlike: entry.pathlike };
  const map = pathMap(node);
  if (map.length > 0) return { kind: "list", entries: map, keyed: false, pathlike: map.length };
  for (const [name, value] of fields) {
    if (EXCLUDED_KEY.test(name) || EXPLANATION_KEY.test(name) || (value.type !== "object" && value.type !== "array")) continue;
    const inner = readShape(value, depth + 1);
    if (inner?.kind === "list" && (inner.keyed || inner.pathlike > 0)) return inner;
  }
  return null;
}

function keyedList(node: ObjectNode, depth: number): JsonShape | null {
  let found = false;
  let pathlike = 0;
  const entries: RawEntry[] = [];
  for (const [name, value] of fieldsOf(node)) {
    if (!isListKey(name)) continue;
    if (value.type === "object") {
      const inner = readShape(value, depth + 1);
      if (inner?.kind === "list") {
        found = true;
        entries.push(...inner.entries);
        pathlike += inner.pathlike;
      } else if (inner?.kind === "entry") {
        found = true;
        entries.push(inner.entry);
        if (inner.pathlike) pathlike++;
      } else if (value.members.length === 0) found = true;
      continue;
    }
    if (value.type === "literal" && typeof value.value === "number") continue; // A count, not a list.
    if (value.type === "literal" && typeof value.value === "boolean") continue;
    found = true;
    const inner = listShape(value.type === "array" ? value.items : [value], true);
    entries.push(...inner.entries);
    pathlike += inner.pathlike;
  }
  return found ? { kind: "list", entries, keyed: true, pathlike } : null;
}

function isListKey(name: string): boolean {
  return (LIST_KEYS.has(name) || LIST_ENDING.test(name)) && !EXCLUDED_KEY.test(name) && !EXPLANATION_KEY.test(name);
}

function listShape(items: readonly JsonNode[], keyed: boolean): Extract<JsonShape, { kind: "list" }> {
  const ranked: { entry: RawEntry; rank: number | null }[] = [];
  let pathlike = 0;
  const push = (one: ReadEntry): void => {
    ranked.push({ entry: one.entry, rank: one.rank });
    if (one.pathlike) pathlike++;
  };
  for (const item of items) {
    if (item.type === "string") {
      for (const one of readStringItem(item.value)) push(one);
    } else if (item.type === "object") {
      const entry = item.complete ? readEntry(item) : null;
      const inner = entry?.pathlike && hasOwnPath(fieldsOf(item)) ? null : keyedList(item, MAX_WRAPPING);
      if (inner?.kind === "list" && (inner.entries.length > 0 || entry === null)) {
        for (const one of inner.entries) ranked.push({ entry: one, rank: null });
        pathlike += inner.pathlike;
      } else if (entry !== null) push(entry);
      else if (item.complete) {
        // [{"src/A.java": "reason"}]
        for (const one of pathMap(item)) push({ entry: one, pathlike: true, rank: null });
      }
    } else if (item.type === "array" && item.complete) {
      // ["src/A.java", 0.9]: the first string names the entry.
      const first = item.items.find((one) => one.type === "string");
      if (first?.type === "string") for (const one of readStringItem(first.value)) push(one);
    }
  }
  // Only if every entry says its rank; a partial numbering would mix two orders.
  if (ranked.length > 1 && ranked.every((one) => one.rank !== null)) {
    ranked.sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  }
  return { kind: "list", entries: ranked.map((one) => one.entry), keyed, pathlike };
}

/** Members by normalised name, in order. A name that occurs twice stays twice. */
function fieldsOf(node: ObjectNode): readonly (readonly [string, JsonNode])[] {
  return node.members.map(([name, value]) => [fieldName(name), value] as const);
}

function fieldName(name: string): string {
  return name
    .slice(0, 80)
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1_$2")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_");
}

interface ReadEntry {
  readonly entry: RawEntry;
  readonly pathlike: boolean;
  readonly rank: number | null;
}

function hasOwnPath(fields: readonly (readonly [string, JsonNode])[]): boolean {
  return fields.some(([name, value]) => PATH_FIELDS.includes(name) && value.type === "string");
}

/** One object as one entry with all its spellings, or null if no field of it names anything or it says that it is no prediction. */
function readEntry(node: ObjectNode): ReadEntry | null {
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
  return { spellings: entry.spellings, ...(lines === undefined ? {} : { lines }), ...(score === undefined ? {} : { score }) };
}

function numbersOf(node: JsonNode | undefined): number[] {
  if (node === undefined) return [];
  if (node.type === "literal") return typeof node.value === "number" ? [node.value] : [];
  if (node.type === "array") return node.items.slice(0, 2).flatMap(numbersOf);
  if (node.type === "string")
    return [...node.value.slice(0, 100).matchAll(/\d{1,7}/g)].slice(0, 2).map((match) => Number(match[0]));
  return [];
}

function pathMap(node: ObjectNode): RawEntry[] {
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
function readStringItem(text: string): readonly ReadEntry[] {
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
