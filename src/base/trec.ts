/**
 * The line formats of TREC, which every retrieval tool reads: qrels (`query iteration document grade`) and runs
 * (`query Q0 document rank score tag`).
 *
 * Columns are separated by white space, so an id that holds any would shift them: white space and `%` in ids are percent-encoded
 * on the way out, nothing else is, and exactly that is undone on the way in. A malformed line is an error with its number; a figure
 * computed from half a file would look like any other.
 */
import { visible } from "./diagnostics.js";
import { err, ok, type Result } from "./result.js";

/** White space of any program that may split the line, Python's separators and U+0085 among it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters that separate are the subject here
const ENCODED = /[\s%\u001c-\u001f\u0085]/gu;

export function encodeTrecId(id: string): string {
  return id.replace(ENCODED, (character) => encodeURIComponent(character));
}

/** Undoes `encodeTrecId` and nothing more: `%41` of a foreign file stays as it is. */
export function decodeTrecId(id: string): string {
  return id.replace(/(?:%[0-9a-f]{2}){1,4}/gi, (escapes) => {
    let decoded = "";
    for (let at = 0; at < escapes.length; ) {
      const character = encodedCharacter(escapes, at);
      decoded += character?.text ?? escapes.slice(at, at + 3);
      at += character?.length ?? 3;
    }
    return decoded;
  });
}

function encodedCharacter(escapes: string, at: number): { readonly text: string; readonly length: number } | null {
  // White space takes one to three bytes of UTF-8.
  for (const length of [3, 6, 9]) {
    if (at + length > escapes.length) return null;
    try {
      const text = decodeURIComponent(escapes.slice(at, at + length));
      return encodeTrecId(text) === text ? null : { text, length };
    } catch {
      // Not whole yet.
    }
  }
  return null;
}

export interface TrecMistake {
  /** 1-based. */
  readonly line: number;
  readonly what: string;
}

/** Grades by query, then by document; queries and documents in the order of the file. */
export type Qrels = ReadonlyMap<string, ReadonlyMap<string, number>>;

const MOST_MISTAKES = 20;

/** Every mistake up to the twentieth; one document graded twice is a mistake unless both lines say the same. */
export function parseQrels(text: string): Result<Qrels, readonly TrecMistake[]> {
  const qrels = new Map<string, Map<string, number>>();
  const mistakes = readLines(text, (columns) => {
    if (columns.length !== 4) return `it has ${columns.length} columns; qrels have 4: query, iteration, document, grade`;
    const [query = "", , document = "", grade = ""] = columns;
    if (!/^[+-]?\d{1,9}$/.test(grade)) return `the grade ${shown(grade)} is not a whole number`;
    const grades = qrels.get(query) ?? new Map<string, number>();
    qrels.set(query, grades);
    const known = grades.get(document);
    if (known !== undefined && known !== Number(grade)) {
      return `${shown(document)} has the grade ${known} for the query ${shown(query)} already, and ${Number(grade)} here`;
    }
    grades.set(document, Number(grade));
    return null;
  });
  return mistakes.length > 0 ? err(mistakes) : ok(qrels);
}

export interface TrecRanking {
  /** Best first, each document once. */
  readonly documents: readonly string[];
  readonly scores: readonly number[];
  /** Lines that named a document again; the best of them counts. */
  readonly duplicates: number;
  /** Documents that share their score with another one. */
  readonly tied: number;
}

export interface TrecRun {
  /** By query, in the order of the file. */
  readonly rankings: ReadonlyMap<string, TrecRanking>;
  /** Names of the systems that the lines bear, each once. */
  readonly tags: readonly string[];
}

/**
 * A run file. Its rank column is not looked at, as in trec_eval: the score decides, higher is better, and ties go to the document
 * id that is *later* in the order of code points.
 */
export function parseTrecRun(text: string): Result<TrecRun, readonly TrecMistake[]> {
  const lists = new Map<string, Scored[]>();
  const tags = new Set<string>();
  const mistakes = readLines(text, (columns) => {
    if (columns.length !== 6) return `it has ${columns.length} columns; runs have 6: query, Q0, document, rank, score, tag`;
    const [query = "", , document = "", , score = "", tag = ""] = columns;
    if (!/^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:e[+-]?\d{1,5})?$/i.test(score)) {
      return `the score ${shown(score)} is not a number`;
    }
    const list = lists.get(query);
    if (list === undefined) lists.set(query, [{ document, score: Number(score) }]);
    else list.push({ document, score: Number(score) });
    tags.add(tag);
    return null;
  });
  if (mistakes.length > 0) return err(mistakes);
  return ok({ rankings: new Map([...lists].map(([query, list]) => [query, rank(list)])), tags: [...tags] });
}

interface Scored {
  readonly document: string;
  readonly score: number;
}

function rank(list: readonly Scored[]): TrecRanking {
  const sorted = [...list].sort((a, b) => b.score - a.score || byCodePoint(b.document, a.document));
  const documents = new Map<string, number>();
  for (const { document, score } of sorted) if (!documents.has(document)) documents.set(document, score);
  const scores = [...documents.values()];
  const tied = scores.filter((score, index) => score === scores[index - 1] || score === scores[index + 1]).length;
  return { documents: [...documents.keys()], scores, duplicates: sorted.length - documents.size, tied };
}

/** The order of UTF-8 bytes, which is that of code points; JavaScript's own is that of UTF-16 units. */
export function byCodePoint(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    // Halves of characters beyond U+FFFF sort after all others.
    const leftHalf = left >= 0xd800 && left <= 0xdfff;
    const rightHalf = right >= 0xd800 && right <= 0xdfff;
    return leftHalf === rightHalf ? left - right : leftHalf ? 1 : -1;
  }
  return a.length - b.length;
}

function readLines(text: string, read: (columns: readonly string[]) => string | null): TrecMistake[] {
  const mistakes: TrecMistake[] = [];
  const content = text.startsWith("\ufeff") ? text.slice(1) : text;
  let number = 0;
  for (const line of content.split("\n")) {
    number++;
    const columns = line.split(/[ \t\r\f\v]+/).filter((column) => column !== "");
    if (columns.length === 0) continue;
    const what = read(columns);
    if (what !== null) mistakes.push({ line: number, what });
    if (mistakes.length === MOST_MISTAKES) break;
  }
  return mistakes;
}

function shown(text: string): string {
  return JSON.stringify(visible(text.length > 60 ? `${text.slice(0, 60)}…` : text));
}

export interface TrecLine {
  readonly query: string;
  /** Best first; a document that comes again is left out. */
  readonly documents: readonly string[];
}

/** Lines of a run with scores n, n - 1, ..., 1, so that every tool restores exactly this order; a list without documents has none. */
export function trecRun(lists: readonly TrecLine[], tag: string): string {
  const name = encodeTrecId(tag) || "bench";
  return lists
    .flatMap(({ query, documents }) => {
      const distinct = [...new Set(documents)];
      return distinct.map((document, index) => {
        const score = distinct.length - index;
        return `${encodeTrecId(query)} Q0 ${encodeTrecId(document)} ${index + 1} ${score} ${name}\n`;
      });
    })
    .join("");
}

/** Lines of qrels. A query without a document has none, and so is not counted by any tool that reads the file. */
export function trecQrels(queries: Iterable<readonly [string, Iterable<readonly [string, number]>]>): string {
  const lines: string[] = [];
  for (const [query, grades] of queries) {
    for (const [document, grade] of grades) lines.push(`${encodeTrecId(query)} 0 ${encodeTrecId(document)} ${grade}\n`);
  }
  return lines.join("");
}
