/**
 * The two patterns by which the original program finds Java files and qualified class names in running text, as linear scanners.
 *
 * As regular expressions they try every start again to the end of the run that it stands in (`a/a/a/...`, `a.a.a. ...`), which
 * takes quadratic time on hostile answers. Here one pass from right to left notes for each position where a match that starts
 * there would end, and one pass from left to right picks the matches that do not overlap. `\b` is Python's: any letter or digit
 * of Unicode counts as part of a word, although the patterns themselves take ASCII only.
 */
import { wordAfter, wordBefore } from "./python-text.js";

/** Most tokens are a path, or a name, and nothing else: then the whole token is the one match. */
const WHOLE_PATH = /^(?=\w)(?:[\w.-]+\/)*[A-Za-z_][\w$]*\.java$/;
const WHOLE_NAME = /^(?=\w)(?:[a-z_][a-z0-9_$]*\.)+[A-Z](?:[\w$]*\w)?$/;

/**
 * Java paths: folders of ASCII letters, digits, `_ . -`, each followed by one `/`; a base name that is an identifier (so never
 * one with a `-`); `.java`; not in the middle of a word. As many folders as there are.
 */
export function findJavaPaths(text: string, limit = Number.POSITIVE_INFINITY): string[] {
  return WHOLE_PATH.test(text) ? [text] : find(text, /[A-Za-z0-9_.$/-]+/g, ".java", pathEnds, limit);
}

/** Qualified names: one or more lower-case package segments with their dots, then a segment that starts with a capital. */
export function findQualifiedNames(text: string, limit = Number.POSITIVE_INFINITY): string[] {
  return WHOLE_NAME.test(text) ? [text] : find(text, /[A-Za-z0-9_.$]+/g, ".", qualifiedNameEnds, limit);
}

/** For each position of the run at `offset`, the end of the match that starts there; 0 = none. */
type Ends = (run: string, text: string, offset: number) => Int32Array;

function find(text: string, runs: RegExp, needle: string, endsOf: Ends, limit: number): string[] {
  const found: string[] = [];
  if (!text.includes(needle)) return found;
  for (const match of text.matchAll(runs)) {
    const run = match[0];
    if (!run.includes(needle)) continue;
    const ends = endsOf(run, text, match.index);
    for (let at = 0; at < run.length; at++) {
      const end = ends[at] ?? 0;
      if (end === 0 || wordBefore(text, match.index + at) === wordAfter(text, match.index + at)) continue;
      found.push(run.slice(at, end));
      if (found.length >= limit) return found;
      at = end - 1;
    }
  }
  return found;
}

function pathEnds(run: string, text: string, offset: number): Int32Array {
  const ends = new Int32Array(run.length + 1);
  let nameEnd = 0; // end of the identifier characters from here on
  let nextSegment = 0; // where the segment after this one starts; 0 = this one has no slash behind it
  let following = 0;
  for (let at = run.length - 1; at >= 0; at--) {
    const character = run.charCodeAt(at);
    if (!is(following, NAME)) nameEnd = at + 1;
    if (following === SLASH) nextSegment = at + 2;
    else if (!is(following, SEGMENT)) nextSegment = 0;
    following = character;
    if (!is(character, SEGMENT)) continue;
    const beyond = ends[nextSegment] ?? 0;
    if (nextSegment > 0 && beyond > 0) ends[at] = beyond;
    else if (
      is(character, NAME_START) &&
      run.startsWith(".java", nameEnd) &&
      !wordAfter(text, offset + nameEnd + ".java".length)
    ) {
      ends[at] = nameEnd + ".java".length;
    }
  }
  return ends;
}

function qualifiedNameEnds(run: string, text: string, offset: number): Int32Array {
  const ends = new Int32Array(run.length + 1);
  let packageEnd = 0; // end of the lower-case segment from here on
  let boundary = 0; // last word boundary within the identifier characters from here on; 0 = none
  let following = 0;
  for (let at = run.length - 1; at >= 0; at--) {
    const character = run.charCodeAt(at);
    if (!is(following, NAME)) boundary = 0;
    if (!is(following, PACKAGE)) packageEnd = at + 1;
    const breaks = wordBefore(text, offset + at + 1) !== wordAfter(text, offset + at + 1);
    if (boundary === 0 && breaks) boundary = at + 1;
    following = character;
    if (is(character, CAPITAL)) ends[at] = boundary;
    else if (is(character, PACKAGE_START) && run.charCodeAt(packageEnd) === DOT) ends[at] = ends[packageEnd + 1] ?? 0;
  }
  // A capital ends a match but can't start one: a package must come first.
  for (let at = 0; at < run.length; at++) if (is(run.charCodeAt(at), CAPITAL)) ends[at] = 0;
  return ends;
}

/** What an ASCII character may be part of, as bits: these functions are asked for every character of every answer. */
const NAME_START = 1; // [A-Za-z_]
const NAME = 2; // [A-Za-z0-9_$]
const SEGMENT = 4; // [A-Za-z0-9_.-]
const PACKAGE_START = 8; // [a-z_]
const PACKAGE = 16; // [a-z0-9_$]
const CAPITAL = 32; // [A-Z]
const SLASH = 47;
const DOT = 46;

const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  const sets: readonly (readonly [RegExp, number])[] = [
    [/[A-Za-z_]/, NAME_START],
    [/[A-Za-z0-9_$]/, NAME],
    [/[A-Za-z0-9_.-]/, SEGMENT],
    [/[a-z_]/, PACKAGE_START],
    [/[a-z0-9_$]/, PACKAGE],
    [/[A-Z]/, CAPITAL],
  ];
  return sets.reduce((bits, [set, bit]) => (set.test(character) ? bits | bit : bits), 0);
});

function is(code: number, bit: number): boolean {
  return ((KINDS[code] ?? 0) & bit) !== 0;
}
