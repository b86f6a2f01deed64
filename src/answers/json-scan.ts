/**
 * A forgiving JSON reader and a scanner that finds JSON inside other text.
 *
 * Models write trailing commas, comments, single quotes, `None`, Windows paths with single backslashes, and stop in the middle.
 * A strict parser gives nothing for those; this one keeps what was complete and says what was not. Objects are lists of
 * members, so `__proto__` is a name like any other. Iterative and bounded in depth: hostile text can't overflow the stack.
 */

export type JsonNode =
  | { readonly type: "object"; readonly members: readonly (readonly [string, JsonNode])[]; readonly complete: boolean }
  | { readonly type: "array"; readonly items: readonly JsonNode[]; readonly complete: boolean }
  | { readonly type: "string"; readonly value: string; readonly complete: true }
  | { readonly type: "literal"; readonly value: number | boolean | null; readonly complete: true };

/** `end`: index after the value. `complete` false = the text ended first; what was whole is in the node. */
export type Parsed =
  | { readonly ok: true; readonly node: JsonNode; readonly end: number; readonly complete: boolean }
  | { readonly ok: false; readonly at: number };

/** Deeper values than any answer format has are not read. */
const MAX_DEPTH = 64;

interface Frame {
  readonly type: "object" | "array";
  readonly members: [string, JsonNode][];
  readonly items: JsonNode[];
  key: string | null;
  /** A value is allowed here (after the opening bracket or a comma). */
  open: boolean;
}

/** Reads one JSON value that starts at `start` (blanks before it are skipped). Linear in the length consumed. */
export function parseJsonAt(text: string, start: number): Parsed {
  const stack: Frame[] = [];
  let at = start;
  for (;;) {
    at = skipBlanks(text, at);
    const frame = stack.at(-1);
    if (at >= text.length) return stack.length === 0 ? { ok: false, at } : unwind(stack, at);
    const char = text.charAt(at);
    let value: JsonNode | undefined;
    if (frame !== undefined && (char === "}" || char === "]")) {
      if ((char === "}") !== (frame.type === "object") || frame.key !== null) return { ok: false, at };
      at++;
      stack.pop();
      value = close(frame, true);
    } else if (frame !== undefined && char === ",") {
      if (frame.open) return { ok: false, at };
      frame.open = true;
      at++;
      continue;
    } else if (frame !== undefined && !frame.open) {
      return { ok: false, at };
    } else if (frame !== undefined && frame.type === "object" && frame.key === null) {
      const key = readKey(text, at);
      if (key === "cut") return unwind(stack, text.length);
      if (key === null) return { ok: false, at };
      at = skipBlanks(text, key.end);
      if (at >= text.length) return unwind(stack, at);
      if (text.charAt(at) !== ":") return { ok: false, at };
      at++;
      frame.key = key.value;
      continue;
    } else if (char === "{" || char === "[") {
      if (stack.length >= MAX_DEPTH) return { ok: false, at };
      stack.push({ type: char === "{" ? "object" : "array", members: [], items: [], key: null, open: true });
      at++;
      continue;
    } else {
      const scalar = readScalar(text, at);
      if (scalar === "cut") return stack.length === 0 ? { ok: false, at: text.length } : unwind(stack, text.length);
      if (scalar === null) return { ok: false, at };
      at = scalar.end;
      value = scalar.node;
    }
    const parent = stack.at(-1);
    if (parent === undefined) return { ok: true, node: value, end: at, complete: true };
    add(parent, value);
  }
}

/** The whole text as one JSON value: nothing but blanks may follow. */
export function parseJsonWhole(text: string): Parsed {
  const parsed = parseJsonAt(text, 0);
  if (!parsed.ok || !parsed.complete) return parsed;
  const rest = skipBlanks(text, parsed.end);
  return rest >= text.length ? parsed : { ok: false, at: rest };
}

function add(frame: Frame, value: JsonNode): void {
  frame.open = false;
  if (frame.type === "array") frame.items.push(value);
  else frame.members.push([frame.key ?? "", value]);
  frame.key = null;
}

function close(frame: Frame, complete: boolean): JsonNode {
  return frame.type === "object"
    ? { type: "object", members: frame.members, complete }
    : { type: "array", items: frame.items, complete };
}

/** The text ended: every open container becomes an incomplete node inside its parent. */
function unwind(stack: Frame[], at: number): Parsed {
  let node: JsonNode | undefined;
  for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
    if (node !== undefined) add(frame, node);
    node = close(frame, false);
  }
  return node === undefined ? { ok: false, at } : { ok: true, node, end: at, complete: false };
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0xfeff) at++;
    else if (code === 47 && text.charAt(at + 1) === "/") {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end + 1;
    } else if (code === 47 && text.charAt(at + 1) === "*") {
      const end = text.indexOf("*/", at + 2);
      at = end < 0 ? text.length : end + 2;
    } else return at;
  }
}

const WORD = /[A-Za-z_$][\w$-]{0,63}/y;
const NUMBER = /[-+]?\d[\d_]{0,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,6})?/y;

function readKey(text: string, at: number): { value: string; end: number } | "cut" | null {
  const char = text.charAt(at);
  if (char === '"' || char === "'") return readString(text, at);
  WORD.lastIndex = at;
  const word = WORD.exec(text)?.[0];
  return word === undefined ? null : { value: word, end: at + word.length };
}

const LITERALS = new Map<string, number | boolean | null>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["null", null],
  ["None", null],
  ["undefined", null],
  ["NaN", null],
]);

function readScalar(text: string, at: number): { node: JsonNode; end: number } | "cut" | null {
  const char = text.charAt(at);
  if (char === '"' || char === "'") {
    const string = readString(text, at);
    if (string === null || string === "cut") return string;
    return { node: { type: "string", value: string.value, complete: true }, end: string.end };
  }
  NUMBER.lastIndex = at;
  const number = NUMBER.exec(text)?.[0];
  if (number !== undefined) {
    const value = Number(number.replaceAll("_", ""));
    return { node: { type: "literal", value: Number.isFinite(value) ? value : null, complete: true }, end: at + number.length };
  }
  WORD.lastIndex = at;
  const word = WORD.exec(text)?.[0];
  if (word === undefined) return null;
  const end = at + word.length;
  const value = LITERALS.get(word);
  if (value === undefined) return end >= text.length ? "cut" : null;
  return { node: { type: "literal", value, complete: true }, end };
}

function readString(text: string, at: number): { value: string; end: number } | "cut" | null {
  const quote = text.charCodeAt(at);
  let escaped = false;
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 92) {
      escaped = true;
      i++;
    } else if (code === quote) {
      const inner = text.slice(at + 1, i);
      return { value: escaped ? decodeEscapes(inner) : inner, end: i + 1 };
    } else if (code === 10 && quote === 39) {
      return null; // An apostrophe of the prose, not a string.
    }
  }
  return "cut";
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  '"': '"',
  "'": "'",
  "\\": "\\",
  "/": "/",
};

/** Decodes escapes; a string with an invalid one (`src\main`) is a Windows path whose backslashes all mean themselves. */
function decodeEscapes(inner: string): string {
  const parts: string[] = [];
  for (let i = 0; i < inner.length; i++) {
    const char = inner.charAt(i);
    if (char !== "\\") {
      const next = inner.indexOf("\\", i);
      const end = next < 0 ? inner.length : next;
      parts.push(inner.slice(i, end));
      i = end - 1;
      continue;
    }
    const letter = inner.charAt(++i);
    const hex = letter === "u" ? inner.slice(i + 1, i + 5) : "";
    if (/^[0-9a-fA-F]{4}$/.test(hex)) {
      parts.push(String.fromCharCode(Number.parseInt(hex, 16)));
      i += 4;
    } else if (Object.hasOwn(ESCAPES, letter)) parts.push(ESCAPES[letter] ?? "");
    else return inner.replace(/\\(["\\])/g, "$1");
  }
  return parts.join("");
}

export interface Found {
  readonly node: JsonNode;
  readonly start: number;
  readonly end: number;
  readonly complete: boolean;
}

const STARTS_OBJECT = /\{\s{0,200}(?:["'}]|[A-Za-z_$][\w$-]{0,63}\s{0,20}:|\/[/*]|$)/y;
const STARTS_ARRAY = /\[\s{0,200}(?:["'[{\]]|\/[/*]|$)/y;

/**
 * All JSON objects and arrays in `text`, outermost only, in order. An attempt that fails is taken up again one character
 * later; because that alone could cost the square of the length, the characters read are counted, and once they exceed
 * `16 x length` a failed attempt is left behind whole. So the work is linear whatever the text.
 */
export function scanJson(text: string): { readonly found: readonly Found[]; readonly steps: number } {
  const found: Found[] = [];
  let budget = 16 * text.length + 4096;
  let steps = 0;
  let cut: Found | undefined;
  for (let at = nextBracket(text, 0); at < text.length; at = nextBracket(text, at)) {
    const start = text.charAt(at) === "{" ? STARTS_OBJECT : STARTS_ARRAY;
    start.lastIndex = at;
    if (!start.test(text)) {
      at++;
      continue;
    }
    const parsed = parseJsonAt(text, at);
    const consumed = (parsed.ok ? parsed.end : parsed.at) - at + 1;
    steps += consumed;
    budget -= consumed;
    if (parsed.ok && parsed.complete) {
      found.push({ node: parsed.node, start: at, end: parsed.end, complete: true });
      at = parsed.end;
      // What was complete after an unclosed bracket shows that the bracket was not the answer's.
      continue;
    }
    if (parsed.ok && cut === undefined) cut = { node: parsed.node, start: at, end: parsed.end, complete: false };
    at = budget > 0 ? at + 1 : Math.max(at + 1, parsed.ok ? parsed.end : parsed.at);
  }
  if (cut !== undefined) {
    const outer = cut;
    // The unclosed value comes in place of the complete ones inside it.
    const before = found.filter((one) => one.start < outer.start);
    const inside = found.filter((one) => one.start >= outer.start);
    return { found: [...before, outer, ...inside], steps };
  }
  return { found, steps };
}

function nextBracket(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 123 || code === 91) return at;
  }
  return text.length;
}
