/**
 * What a JSON value says as an answer: a list of entries, one entry, text that holds the answer, or nothing.
 *
 * A member whose name says that its files are excluded (`not_affected`, `ignored_files`) gives nothing, nor does one that explains.
 */
import {
  fieldsOf,
  hasOwnPath,
  type ObjectNode,
  pathMap,
  type RawEntry,
  type ReadEntry,
  readEntry,
  readStringItem,
} from "./json-entry.js";
import type { JsonNode } from "./json-scan.js";

export type JsonShape =
  /** `keyed`: a member such as `classes` or `files` says that this is the answer; a bare array does not. */
  | { readonly kind: "list"; readonly entries: readonly RawEntry[]; readonly keyed: boolean; readonly pathlike: number }
  | { readonly kind: "entry"; readonly entry: RawEntry; readonly pathlike: boolean }
  | { readonly kind: "text"; readonly text: string };

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
  "answer response result output final final_answer message data payload prediction solution completion reply value text content choices".split(
    " ",
  ),
);

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
    else if (name === "choices" && value.type === "array") {
      // The envelope of a chat server.
      const inner = value.items[0] === undefined ? null : readShape(value.items[0], depth + 1);
      if (inner !== null) return inner;
    } else {
      const inner = readShape(value, depth + 1);
      if (inner !== null) return inner.kind === "list" ? { ...inner, keyed: true } : inner;
    }
  }
  if (text !== null) return { kind: "text", text };
  if (entry !== null) return { kind: "entry", entry: entry.entry, pathlike: entry.pathlike };
  const map = pathMap(node);
  if (map.length > 0) return { kind: "list", entries: map, keyed: false, pathlike: map.length };
  // Lists under names of their own: {"primary": [...], "secondary": [...]}.
  const lists = fields.flatMap(([name, value]) => {
    if (EXCLUDED_KEY.test(name) || EXPLANATION_KEY.test(name) || (value.type !== "object" && value.type !== "array")) return [];
    const inner = readShape(value, depth + 1);
    return inner?.kind === "list" && (inner.keyed || inner.pathlike > 0) ? [inner] : [];
  });
  if (lists.length === 0) return null;
  return {
    kind: "list",
    entries: lists.flatMap((one) => one.entries),
    keyed: lists.some((one) => one.keyed),
    pathlike: lists.reduce((sum, one) => sum + one.pathlike, 0),
  };
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
