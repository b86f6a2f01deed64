/**
 * The entry at the head of a list item, a line, a heading, or a table cell.
 *
 * `- src/A.java: parses the text, calls src/B.java` predicts A; what follows the entry is its reason. A head may be labelled
 * (`File: src/A.java`), led by a verb (`Modify src/A.java to ...`), be several (`A.java, B.java and C.java`), or give a name and
 * its path (`JSONObject (src/JSONObject.java)`), which is one entry with two spellings.
 */
import { mentions, sentences, takesBack } from "./exclusion.js";
import type { RawEntry } from "./json-entry.js";
import { baseName, classify, hasKnownExtension, isCamel, type Token, type TokenKind } from "./tokens.js";
import { isEntryToken, readWords, type Word } from "./words.js";

export interface HeadEntry extends RawEntry {
  readonly kind: TokenKind;
}

export type Head =
  | {
      readonly type: "entries";
      readonly entries: readonly HeadEntry[];
      readonly label: "path" | "name" | "other" | null;
      readonly bare: boolean;
    }
  /** It named an entry in order to exclude it. */
  | { readonly type: "excluded" }
  /** `Reason: ...`, `Line: 12`: belongs to the entry above. */
  | { readonly type: "detail"; readonly label: string; readonly value: string }
  | { readonly type: "none" };

export interface HeadOptions {
  /** `item`: words may follow the entry. `line`: only a separator may. `record`: a fence, where every other line is a detail. */
  readonly place: "item" | "line" | "record";
}

const LEAD_WORDS = new Set(
  (
    "file files path paths class classes classe fichier fichiers chemin the a an modify update change edit fix check review inspect look at in " +
    "adjust refactor patch extend add to primary main secondary most likely probably possibly high medium low priority confidence rank test tests " +
    "source module script java python core target location new rewrite correct implement start with first second third then finally and " +
    "modifier mettre jour à corriger changer dans le la les un une premier deuxième principal principale create"
  ).split(" "),
);
const VERBS =
  /^(?:modify|update|change|edit|fix|check|review|inspect|look|adjust|refactor|patch|extend|add|rewrite|correct|implement|create|modifier|mettre|corriger|changer)$/;
const ADVERBS = /^(?:please|then|also|next|finally|first|second|third|and|to)$/;
const PATH_LABEL =
  /^(?:file|path|file ?path|file ?name|location|fichier|chemin|source file|target file|full path|relative path|file location|answer|réponse)$/;
const NAME_LABEL = /^(?:class|class name|classe|module|name|fqcn|fully qualified name|qualified name)$/;
const DETAIL_LABEL =
  /^(?:reason|reasons|reasoning|why|explanation|evidence|justification|rationale|notes?|details?|method|methods|function|functions|class\/function|class\/method|line|lines|line numbers?|line range|description|impact|changes?|confidence|score|usage|called by|calls|depends on|dependencies|related|relates to|see also|because|raison|explication|pourquoi|méthodes?|fonctions?|lignes?|variable|attribute|property|setting|purpose|role|rôle|context|snippet|code|example|risk|priority|type|fields?|constructor|imports?|used by|uses|similar to|parameters?|returns?|throws|issue|issue title|title|titre|question|query|problem|status|effort|thought|note to self|search|query used)$/;

const CONNECTOR = /^(?:and|or|&|\+|et|ou)$/;
const PLACE_WORD =
  /^(?:in|at|from|located|defined|declared|file|path|of|dans|fichier|under|inside|class|classe|[-–—:=]|->|=>|→)$/;

/** Reads the head of `text`. Linear in its length. */
export function readHead(text: string, options: HeadOptions): Head {
  const spaced = pathWithSpaces(text);
  const words = spaced === null ? readWords(text, { prose: false }) : [spaced.word, ...readWords(spaced.rest, { prose: false })];
  const crossed = /^\s*[❌✗✘🚫]/u.test(text);
  const { start, label, verb, labelled } = readLead(words, options.place);
  if (labelled !== null && DETAIL_LABEL.test(labelled)) {
    return { type: "detail", label: labelled, value: text.slice(text.search(/[::]/) + 1).trim() };
  }
  if (start < 0) return { type: "none" };
  const run = readRun(words, start);
  const first = words[start];
  if (run.entries.length === 0 || first === undefined) return { type: "none" };
  const numbersOnly =
    words.slice(run.end, run.end + 8).every((word) => /^[\d.,%]+$/.test(word.text)) && words.length <= run.end + 8;
  const rest = numbersOnly ? undefined : words[run.end];
  const before = words[run.end - 1];
  const separated =
    rest === undefined ||
    (options.place === "item" ? /[::;,.)|]/ : /[::;,)|]/).test(before?.stop ?? "") ||
    rest.open ||
    /^(?:[-–—:=#]|--|\/\/|->|=>|→|\[.*|#.*)$/.test(rest.text);
  const name = run.entries.length === 1 ? run.entries[0] : undefined;
  const own =
    name === undefined || name.kind === "path"
      ? undefined
      : words.slice(run.end).find((word) => word.token?.kind === "path" && isPathOf(name, word.token))?.token;
  if (!own && !isAcceptable(run.entries[0], first, { rest, separated, label, options, lead: start > 0 })) return { type: "none" };
  const [, firstEnd] = sentences(words).find(([, to]) => to > start) ?? [0, words.length];
  const said = mentions(words, 0, firstEnd);
  const out = (index: number): boolean => said.some((one) => one.index === index && one.excluded);
  if (crossed || words.slice(0, start).some((word) => word.struck)) return { type: "excluded" };
  const kept = run.entries.filter((_, at) => !out(run.indices[at] ?? -1));
  if (kept.length === 0 || (run.end < words.length && takesBack(words, run.end))) return { type: "excluded" };
  // "Cart: the class in src/shop/Cart.java ...": the path of the class that the head names.
  if (own && name !== undefined && kept[0] === name) kept[0] = mergeEntries(fromToken(own), name);
  if (verb) {
    // "Modify A to do x and B to do y": an instruction names its files anywhere in the sentence.
    for (const one of said) {
      const word = words[one.index];
      if (one.index >= run.end && !one.excluded && !one.reason && word?.token?.kind === "path" && kept.length < 200)
        kept.push(fromToken(word.token));
    }
  }
  return { type: "entries", entries: kept, label, bare: rest === undefined };
}

function isAcceptable(
  entry: HeadEntry | undefined,
  first: Word,
  at: { rest: Word | undefined; separated: boolean; label: string | null; options: HeadOptions; lead: boolean },
): boolean {
  if (entry === undefined) return false;
  const { rest, separated, label, options } = at;
  if (entry.kind === "path") {
    if (options.place === "item")
      return !(at.lead && !label && rest !== undefined && !hasKnownExtension(entry.spellings.at(-1) ?? ""));
    return separated;
  }
  if (options.place === "record" && label === null && entry.kind === "simple") return false;
  // "Location: Module docstring and imports" names no file.
  if (label === "name" || (label === "path" && rest === undefined)) return true;
  if (label === "path" && entry.kind === "simple") return first.quoted;
  if (options.place === "record" && /\(/.test(entry.spellings[0] ?? "")) return false;
  const raw = entry.spellings[0] ?? "";
  const alone = rest === undefined;
  if (entry.kind === "qualified") {
    if (/\(/.test(raw) && !alone) return false;
    return (
      alone ||
      (separated && (first.quoted || /\p{Lu}/u.test(raw) || raw.split(/\.|::/).length > 2)) ||
      (first.quoted && options.place === "item")
    );
  }
  if (at.lead && label === null && !first.quoted) return false;
  if (options.place === "line") return alone && (isCamel(raw) || first.quoted || /^\p{Lu}{2,}$/u.test(raw));
  return alone || (first.quoted && (isCamel(raw) || separated)) || (isCamel(raw) && separated);
}

/** Skips ranks, labels and leading verbs. `start` is the index of the first entry, or -1. */
function readLead(
  words: readonly Word[],
  place: HeadOptions["place"],
): {
  start: number;
  label: "path" | "name" | "other" | null;
  labelled: string | null;
  verb: boolean;
} {
  let verb = false;
  let known = true;
  const parts: string[] = [];
  for (let index = 0; index < Math.min(words.length, verb ? 30 : 8); index++) {
    const word = words[index];
    if (word === undefined) break;
    if (index === 0 && /^(?:[MADRCU]|\?\?)$/.test(word.text)) continue; // Letters of a version-control status.
    const isLabel = /[::]$/.test(word.stop) || word.stop.startsWith(":");
    if (isEntryToken(word.token) && !(isLabel && word.token.kind === "simple" && !word.quoted && isLabelWord(word.lower))) {
      if (word.token.kind === "simple" && !word.quoted && LEAD_WORDS.has(word.lower)) {
        parts.push(word.lower); // "File", "Class", "Modify" at the start of an item.
        if (VERBS.test(word.lower)) verb = true;
        continue;
      }
      // "Fix the sum in src/A.java": an instruction may say more, but then only a path is its object.
      const object = verb && place === "item" && word.token.kind === "path";
      if (!known && verb && place === "item" && !object) continue;
      return { start: known || object ? index : -1, label: null, labelled: null, verb };
    }
    if (/^\d{1,5}(?:[.,]\d{1,6})?%?$/.test(word.lower) || word.lower === "") continue;
    parts.push(word.lower);
    if (isLabel && parts.length <= 5) {
      const name = parts.join(" ");
      const label = PATH_LABEL.test(name) ? "path" : NAME_LABEL.test(name) ? "name" : "other";
      const next = words.findIndex((later, at) => at > index && later.lower !== "" && !/^\d{1,5}$/.test(later.lower));
      const after = words[next];
      return { start: after !== undefined && isEntryToken(after.token) ? next : -1, label, labelled: name, verb: false };
    }
    if (VERBS.test(word.lower) && parts.slice(0, -1).every((part) => ADVERBS.test(part))) verb = true;
    if (
      !LEAD_WORDS.has(word.lower) &&
      !/^(?:not|except|excluding|sauf|pas|ignore|skip|do|don't|unlikely|rather|than|instead|of|no|changes?|needed|ne)$/.test(
        word.lower,
      )
    )
      known = false;
  }
  return { start: -1, label: null, labelled: null, verb };
}

function isLabelWord(lower: string): boolean {
  return PATH_LABEL.test(lower) || NAME_LABEL.test(lower) || DETAIL_LABEL.test(lower) || LEAD_WORDS.has(lower);
}

interface Run {
  readonly entries: HeadEntry[];
  /** Word index of each entry. */
  readonly indices: number[];
  /** First word after the run. */
  readonly end: number;
}

function readRun(words: readonly Word[], start: number): Run {
  const entries: HeadEntry[] = [];
  const indices: number[] = [];
  let index = start;
  for (;;) {
    const word = words[index];
    if (word === undefined || !isEntryToken(word.token)) break;
    entries.push(fromToken(word.token));
    indices.push(index);
    let next = index + 1;
    const place = placeOf(words, index, next);
    if (place !== null && (word.token.kind !== "path" || isBaseOf(word.token, words[place]?.token))) {
      const path = words[place]?.token;
      const name = entries.at(-1);
      if (path !== undefined && path !== null && name !== undefined) {
        entries[entries.length - 1] = mergeEntries(fromToken(path), name);
        indices[indices.length - 1] = place;
        next = place + 1;
      }
    }
    const stop = words[next - 1]?.stop ?? "";
    while (/^\d{1,9}(?:[.,]\d{1,9})?%?$/.test(words[next]?.lower ?? "") && /[,;|]/.test(words[next - 1]?.stop ?? "")) next++;
    const joined = /[,;|+&]/.test(stop) && !/[::]/.test(stop);
    const following = words[next];
    if (following === undefined) return { entries, indices, end: next };
    if (isEntryToken(following.token) && !following.open && (joined || (stop === "" && bothPaths(word, following)))) index = next;
    else if (CONNECTOR.test(following.lower || following.text) && isEntryToken(words[next + 1]?.token ?? null)) index = next + 1;
    else return { entries, indices, end: next };
  }
  return { entries, indices, end: index };
}

/** `Cart.java (src/shop/Cart.java)`: the short form of the path behind it. */
function isBaseOf(short: Token, long: Token | null | undefined): boolean {
  return long?.kind === "path" && !/[\\/]/.test(short.raw) && baseName(long.spellings.at(-1) ?? "") === short.spellings.at(-1);
}

/** Is `path` the file of the class that `name` names? */
export function isPathOf(name: HeadEntry, path: Token): boolean {
  const base = baseName(path.spellings.at(-1) ?? path.raw);
  const stem = base.slice(0, Math.max(0, base.lastIndexOf(".")));
  return stem !== "" && name.spellings.some((spelling) => spelling.split(/::|[.#$]/).includes(stem));
}

function bothPaths(a: Word, b: Word): boolean {
  return a.token?.kind === "path" && b.token?.kind === "path";
}

/** Where the path of the name at `index` stands, if it follows directly: `Name (path)`, `Name: path`, `Name in path`. */
function placeOf(words: readonly Word[], index: number, from: number): number | null {
  let at = from;
  while (at < from + 3 && PLACE_WORD.test(words[at]?.lower || words[at]?.text || "") && words[at]?.token?.kind !== "path") at++;
  const word = words[at];
  if (word?.token?.kind !== "path") return null;
  const stop = words[index]?.stop ?? "";
  return at > from || word.open || /[::]/.test(stop) ? at : null;
}

export function mergeEntries(path: HeadEntry, name: HeadEntry): HeadEntry {
  const lines = path.lines ?? name.lines;
  return {
    kind: path.kind,
    spellings: [...new Set([...path.spellings, ...name.spellings])],
    ...(lines === undefined ? {} : { lines }),
  };
}

export function fromToken(token: Token): HeadEntry {
  return token.lines === undefined
    ? { kind: token.kind, spellings: token.spellings }
    : { kind: token.kind, spellings: token.spellings, lines: token.lines };
}

/** An unquoted path with blanks at the head: its first word has a separator, and the first known extension ends it. */
function pathWithSpaces(text: string): { word: Word; rest: string } | null {
  const start = /^\s*(?:(?:file|path|fichier)\s*:\s*)?/i.exec(text)?.[0].length ?? 0;
  const body = text.slice(start, start + 400);
  const first = /^[\p{L}\p{N}_.-]+[/\\][^\s`"']*/u.exec(body)?.[0];
  if (first === undefined || hasKnownExtension(first.replace(/[:,;)]+$/, ""))) return null;
  // No separator of reasons before the end of the path.
  const candidate = /^[^,;:|()`"'\n]{3,300}?\.[A-Za-z][A-Za-z0-9]{0,9}(?=$|[\s:,;)])/.exec(body)?.[0];
  if (candidate === undefined || !/\s/.test(candidate) || /\s[-–—]\s|->|=>/.test(candidate)) return null;
  const blanks = candidate.split(/\s+/);
  const last = blanks.at(-1) ?? "";
  if (blanks.length > 4 || !/[/\\]/.test(last) || !hasKnownExtension(candidate)) return null;
  const token = classify(candidate, { prose: false, alone: true });
  if (token?.kind !== "path") return null;
  const rest = body.slice(candidate.length) + text.slice(start + 400);
  const stop = /^[,;:)]+/.exec(rest)?.[0] ?? "";
  return {
    word: { text: candidate, lower: candidate.toLowerCase(), token, quoted: true, struck: false, stop, open: false },
    rest: rest.slice(stop.length),
  };
}
