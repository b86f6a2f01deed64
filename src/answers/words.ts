/**
 * A line of text as words, some of which are entries: code spans, links and quoted paths are one word each, whatever stands
 * inside. This is the one tokeniser behind lists, lines and prose.
 */
import { classify, isOrdinaryWord, MAX_TOKEN, range, type Token } from "./tokens.js";

export interface Word {
  /** As written. */
  readonly text: string;
  /** Lower case, without punctuation, apostrophes straightened: what the exclusion rules look at. */
  readonly lower: string;
  readonly token: Token | null;
  /** In back-ticks, a link, or quotes. */
  readonly quoted: boolean;
  /** Struck through: the answer took it back. */
  readonly struck: boolean;
  /** A bare class name that its neighbours show to be one (see `prose.ts`). */
  named?: boolean;
  /** The punctuation that follows directly: `,` `;` `:` `.` `)` ... or empty. */
  stop: string;
  /** An opening bracket stands directly before. */
  readonly open: boolean;
}

export interface WordOptions {
  /** Running text: only known extensions and `package.Class` count outside code spans. */
  readonly prose: boolean;
}

const LINK = /\[([^\][\n]{0,400})\]\(<?([^()\s<>]{1,800})>?[^)\n]{0,100}\)/y;
const LOCATION =
  /\s{0,2}[([]\s{0,2}(?:lines?|lignes?|L|ln\.?)\s{0,2}:?\s{0,2}#?L?(\d{1,7})(?:\s{0,2}(?:[-–—,]|to|à)\s{0,2}L?(\d{1,7}))?[^)\]\n]{0,40}[)\]]|\s?[([](\d{1,7})\s?[-–]\s?(\d{1,7})[)\]]|,?\s{1,2}(?:at |on |à la )?(?:lines?|lignes?)\s{1,2}(\d{1,7})(?:\s{0,2}[-–]\s{0,2}(\d{1,7}))?/iy;
const QUOTED = /["“«]\s?([^"“”«»\n]{1,300}?)\s?["”»]/y;

/** Splits one line or paragraph. Linear: every expression is anchored and bounded. */
export function readWords(text: string, options: WordOptions): Word[] {
  const words: Word[] = [];
  const spans = spanEnds(text);
  let at = 0;
  let open = false;
  let struck = false;
  let glued = false;
  const push = (piece: string, token: Token | null, quoted: boolean): void => {
    let found = token;
    if (found !== null) {
      LOCATION.lastIndex = at;
      const location = LOCATION.exec(text);
      if (location !== null && found.kind !== "simple") {
        const first = Number(location[1] ?? location[3] ?? location[5]);
        const lines = range(first, Number(location[2] ?? location[4] ?? location[6] ?? first));
        if (lines !== undefined) found = { ...found, lines };
        at += location[0].length;
      }
    }
    words.push({ text: piece, lower: lowerWord(piece), token: found, quoted, struck, stop: "", open });
    open = false;
  };
  while (at < text.length) {
    const char = text.charAt(at);
    if (/\s/u.test(char)) {
      at++;
      glued = false;
      continue;
    }
    if (char === "~" && text.startsWith("~~", at)) {
      struck = !struck;
      at += 2;
      continue;
    }
    const spanEnd = char === "`" ? spans.get(at) : undefined;
    if (spanEnd !== undefined) {
      const inner = text.slice(at, spanEnd).replace(/^`+|`+$/g, "");
      at = spanEnd;
      push(inner, classify(inner, { prose: false, alone: true }), true);
      glued = true;
      continue;
    }
    if (char === "[" || (char === "!" && text.charAt(at + 1) === "[")) {
      LINK.lastIndex = char === "!" ? at + 1 : at;
      const link = LINK.exec(text);
      if (link !== null) {
        at = LINK.lastIndex;
        push(link[1] ?? "", linkToken(link[1] ?? "", link[2] ?? ""), true);
        glued = true;
        continue;
      }
    }
    if (char === '"' || char === "“" || char === "«") {
      QUOTED.lastIndex = at;
      const quote = QUOTED.exec(text);
      const inner = quote?.[1] ?? "";
      const token = quote === null ? null : classify(inner, { prose: true, alone: true });
      if (quote !== null && token !== null && (token.kind === "path" || !/\s/u.test(inner))) {
        at = QUOTED.lastIndex;
        push(inner, token, true);
        glued = true;
        continue;
      }
    }
    const end = plainEnd(text, at, spans);
    const piece = text.slice(at, end);
    at = end;
    const last = words.at(-1);
    if (glued && last !== undefined && /^[\p{P}\p{S}]+$|^['’]s\b/u.test(piece)) {
      last.stop += piece.replace(/[*_`'"’”]|s\b/g, "");
      glued = text.charAt(at) === "`";
      continue;
    }
    glued = true;
    if (/^[([{*_"'“]+$/.test(piece)) {
      open ||= /[([{]/.test(piece);
      continue;
    }
    readPlain(piece, options, push, words, () => {
      open = true;
    });
  }
  return words;
}

function readPlain(
  piece: string,
  options: WordOptions,
  push: (piece: string, token: Token | null, quoted: boolean) => void,
  words: Word[],
  opened: () => void,
): void {
  if (piece.length > MAX_TOKEN * 2) {
    push(piece.slice(0, 40), null, false);
    return;
  }
  const isUrl = /^[<(["']{0,3}[a-z][a-z0-9+.-]{1,20}:\/\//i.test(piece);
  for (const part of isUrl ? [piece] : piece.split(/(?<=[,;|])|(?<=->|=>|→|—)|(?=->|=>|→|—)/)) {
    if (part === "") continue;
    if (/^[\p{P}\p{S}]+$/u.test(part) && !/^[-–—→]$|^[-=]>$|^--$|^&$|^\+$|^[❌✗✘]$/u.test(part)) {
      const last = words.at(-1);
      if (/^[([{]/.test(part)) opened();
      else if (last !== undefined) last.stop += part.replace(/[*_`]/g, "");
      continue;
    }
    if (/^\*{0,2}[([{]/.test(part)) opened();
    const possessive = part.replace(/['’]s(?=[\p{P}]*$)/u, "");
    push(part, classify(possessive, { prose: options.prose, alone: false }), false);
    const last = words.at(-1);
    const stop = /[,;:.!?)\]}|]+[*_`"'”’]{0,4}$/.exec(part)?.[0].replace(/[*_`"'”’]/g, "");
    if (last !== undefined && stop !== undefined) last.stop += stop;
  }
}

/** Index after the plain run that starts at `from`: up to a blank, a code span or a link. */
function plainEnd(text: string, from: number, spans: ReadonlyMap<number, number>): number {
  let at = from + 1;
  while (at < text.length) {
    const char = text.charAt(at);
    if (/\s/u.test(char) || (char === "`" && spans.has(at)) || (char === "~" && text.startsWith("~~", at))) break;
    if (char === "[" && text.charCodeAt(at - 1) !== 47) {
      LINK.lastIndex = at;
      if (LINK.test(text)) break;
    }
    at++;
  }
  return at;
}

/** Start of each code span -> index after it. A run of back-ticks closes with the next run of the same length. */
function spanEnds(text: string): Map<number, number> {
  const runs: { at: number; length: number }[] = [];
  for (let at = text.indexOf("`"); at >= 0; at = text.indexOf("`", at)) {
    let end = at;
    while (text.charAt(end) === "`") end++;
    runs.push({ at, length: end - at });
    at = end;
  }
  const later = new Map<number, number[]>();
  runs.forEach((run, index) => {
    const list = later.get(run.length);
    if (list === undefined) later.set(run.length, [index]);
    else list.push(index);
  });
  const used = new Map<number, number>();
  const spans = new Map<number, number>();
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i];
    if (run === undefined) break;
    const list = later.get(run.length) ?? [];
    let next = used.get(run.length) ?? 0;
    while (next < list.length && (list[next] ?? 0) <= i) next++;
    used.set(run.length, next);
    const close = list[next];
    if (close === undefined) continue;
    const end = runs[close];
    if (end === undefined) continue;
    spans.set(run.at, end.at + end.length);
    i = close;
  }
  return spans;
}

function linkToken(label: string, target: string): Token | null {
  const options = { prose: false, alone: true };
  const name = classify(label, options);
  const place = /^(?:mailto:|#)/.test(target) ? null : classify(target, options);
  if (place?.kind !== "path") return name;
  if (name === null) return place;
  const first = name.kind === "path" && name.raw.length >= place.raw.length ? name : place;
  const second = first === name ? place : name;
  const lines = first.lines ?? second.lines;
  const spellings = [...new Set([...first.spellings, ...second.spellings])];
  return { kind: "path", raw: first.raw, spellings, ...(lines === undefined ? {} : { lines }) };
}

function lowerWord(text: string): string {
  return text
    .slice(0, 60)
    .replaceAll("’", "'")
    .toLowerCase()
    .replace(/^[^\p{L}\p{N}&+]+|[^\p{L}\p{N}&+]+$/gu, "");
}

/** A token that may stand as an entry by itself: not an ordinary word such as `None` or `Answer`. */
export function isEntryToken(token: Token | null): token is Token {
  return token !== null && !(token.kind === "simple" && (!/^\p{Lu}/u.test(token.raw) || isOrdinaryWord(token.raw)));
}
