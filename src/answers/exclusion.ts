/**
 * What an answer excludes in words is not predicted, and what it names as a reason is none either.
 *
 * The rules look at one sentence, split into clauses. They are about files being *changed*: "B.java does not need changes" excludes B,
 * "B.java does not check for null" describes the bug and excludes nothing. English and French. Three kinds of marker:
 * - before a run of entries: `not B`, `rather than B or C`, `except B`, `instead of B`, `au lieu de B`;
 * - a negated change: `do not change B`, `no changes needed in B`, `B is not affected`, `B n'est pas concerné`;
 * - words that exclude by themselves: `B is unrelated`, `unlikely: B`, `leave B alone`, `ignore B`.
 */
import {
  ARTICLE,
  CHANGE_STATE,
  CHANGE_VERB,
  CLAUSE_WORD,
  CONCESSION,
  CONJUNCTION,
  EXCLUDING_VERB,
  EXCLUDING_WORD,
  FILLER,
  LEAD,
  NEGATION,
  REASON,
  RUN_MARKERS,
  STATE_MARKERS,
  SUSPICION,
} from "./exclusion-words.js";
import { isCamel } from "./tokens.js";
import { isEntryToken, type Word } from "./words.js";

export interface Mention {
  /** Index into the words. */
  readonly index: number;
  readonly excluded: boolean;
  /** Named behind `because`, `called by` and the like, after another entry of the sentence. */
  readonly reason: boolean;
}

/** The sentences of a paragraph as index ranges [from, to) into its words. */
export function sentences(words: readonly Word[]): (readonly [number, number])[] {
  const result: [number, number][] = [];
  let from = 0;
  words.forEach((word, index) => {
    const next = words[index + 1];
    const ends = /[.!?]/.test(word.stop) && !/^(?:e\.g|i\.e|cf|etc|vs|p\.ex|no|resp)$/.test(word.lower);
    if (next === undefined || (ends && (next.token !== null || !/^\p{Ll}/u.test(next.text)))) {
      result.push([from, index + 1]);
      from = index + 1;
    }
  });
  return result;
}

/** All entries that a sentence mentions, each with what the sentence says about it. `from` and `to` bound the sentence. */
export function mentions(words: readonly Word[], from: number, to: number): Mention[] {
  const excluded = new Set<number>();
  const parts = clauses(words, from, to);
  let subject: number | null = null;
  for (const [start, end] of parts) {
    const entries = excludeInClause(words, start, end, excluded);
    // "B calls it but does not need changes", "B was considered but ruled out": said of the subject before.
    if (entries.length === 0 && subject !== null && continuesNegative(words, start, end)) excluded.add(subject);
    subject = entries[0] ?? subject;
  }
  const result: Mention[] = [];
  let named = false;
  for (const [start, end] of parts) {
    let reason =
      CONCESSION.test(words[start]?.lower ?? "") ||
      words.slice(start, Math.min(end, start + 12)).some((word) => SUSPICION.test(word.lower));
    for (let index = start; index < end; index++) {
      const word = words[index];
      if (word === undefined) continue;
      if (isEntry(word)) {
        const out = excluded.has(index) || word.struck;
        result.push({ index, excluded: out, reason: reason && !out });
        if (!out) named = true;
      } else if (named && REASON.test(word.lower) && !isListing(words, index)) reason = true;
    }
  }
  return result;
}

/** "as well as", "such as", "see also": these go on listing. */
function isListing(words: readonly Word[], index: number): boolean {
  const next = words[index + 1]?.lower;
  const before = words[index - 1]?.lower;
  const word = words[index]?.lower;
  return (word === "as" && (next === "well" || before === "well" || before === "such")) || (word === "see" && next === "also");
}

/** A capital at the start of a sentence makes no class name: "Instead of ...". */
function isEntry(word: Word | undefined): boolean {
  return (
    word !== undefined &&
    isEntryToken(word.token) &&
    (word.token.kind !== "simple" || word.quoted || word.named === true || isCamel(word.token.raw))
  );
}

/** Next word after `index` that is no conjunction or article. */
function skipSmall(words: readonly Word[], index: number, end: number): number {
  let at = index;
  while (at < end && !isEntry(words[at]) && (CONJUNCTION.test(words[at]?.lower ?? "") || ARTICLE.test(words[at]?.lower ?? "")))
    at++;
  return at;
}

const MAX_CLAUSE = 200;

function clauses(words: readonly Word[], from: number, to: number): [number, number][] {
  const result: [number, number][] = [];
  let start = from;
  const cut = (at: number): void => {
    if (at > start) result.push([start, at]);
    start = at;
  };
  for (let index = from; index < to; index++) {
    const word = words[index];
    if (word === undefined) continue;
    if (index > start && CLAUSE_WORD.test(word.lower) && !isEntry(word)) cut(index);
    // "B is unaffected; instead change A": but "instead of" belongs to its own clause.
    if (
      index > start &&
      /^(?:instead|only|seulement)$/.test(word.lower) &&
      words[index + 1]?.lower !== "of" &&
      /,/.test(words[index - 1]?.stop ?? "")
    )
      cut(index);
    if (/^[-–—]+$/.test(word.text) && index > start) cut(index + 1);
    // No one writes such a clause; the cap bounds the work per marker.
    if (index - start >= MAX_CLAUSE) cut(index);
    if (/;/.test(word.stop)) cut(index + 1);
    else if (/,/.test(word.stop)) {
      const next = skipSmall(words, index + 1, to);
      const list = isEntry(words[next]) && isEntry(word);
      if (!list) cut(index + 1);
    } else if (index > start && /^(?:and|et)$/.test(word.lower)) {
      const next = skipSmall(words, index + 1, to);
      // "A needs changes and B does not": a new subject; "A and do not change B": a new negation.
      if ((isEntry(words[next]) && !isEntry(words[index - 1])) || NEGATION.test(words[index + 1]?.lower ?? "")) cut(index);
      else if (/^(?:do|does|should|must|need|leave|ignore|skip|ne|laisser|ignorer)$/.test(words[index + 1]?.lower ?? ""))
        cut(index);
    }
  }
  cut(to);
  return result;
}

/** Applies all markers of one clause; gives the entries that it names. */
function excludeInClause(words: readonly Word[], start: number, end: number, out: Set<number>): readonly number[] {
  const entries: number[] = [];
  for (let index = start; index < end; index++) if (isEntry(words[index])) entries.push(index);
  if (entries.length === 0) return entries;
  let negated = false;
  for (let index = start; index < end; index++) {
    const word = words[index];
    if (word === undefined || isEntry(word)) continue;
    const marker = RUN_MARKERS.find((one) => one.every((part, at) => words[index + at]?.lower === part));
    if (marker !== undefined) {
      // "No file other than A needs changes": the two cancel out.
      if (!negated) excludeRun(words, index + marker.length, end, 6, out);
      index += marker.length - 1;
      continue;
    }
    if (
      STATE_MARKERS.some((one) => one.every((part, at) => words[index + at]?.lower === part)) ||
      EXCLUDING_WORD.test(word.lower)
    ) {
      excludeBeforeOrBehind(entries, index, words, end, out);
    } else if (EXCLUDING_VERB.test(word.lower)) {
      const behind = excludeRun(words, index + 1, end, 5, out);
      if (!behind) excludeBefore(entries, index, out);
    } else if (word.lower === "leave" || word.lower === "laisser") {
      if (
        words
          .slice(index, Math.min(end, index + 15))
          .some((later) => /^(?:alone|untouched|unchanged|as-is|is|unmodified|tel|telle|inchangé|inchangée)$/.test(later.lower))
      ) {
        excludeRun(words, index + 1, end, 4, out);
      }
    } else if (NEGATION.test(word.lower)) {
      // "not only A": everything but an exclusion. "No file other than A": handled above.
      if (/^(?:only|just|merely|solely|simply|seulement|uniquement)$/.test(words[index + 1]?.lower ?? "")) continue;
      const cancels = RUN_MARKERS.some((one) => {
        for (let at = index + 1; at < Math.min(end, index + 6); at++) {
          if (one.every((part, offset) => words[at + offset]?.lower === part)) return true;
        }
        return false;
      });
      negated = true;
      if (cancels) continue;
      applyNegation(words, index, end, entries, out);
    }
  }
  return entries;
}

/** A clause without entry and subject of its own that takes back what came before: "but ruled out", "but does not need changes". */
function continuesNegative(words: readonly Word[], start: number, end: number): boolean {
  let index = start;
  while (
    index < end &&
    (CLAUSE_WORD.test(words[index]?.lower ?? "") ||
      /^(?:and|et|then|later|was|were|is|are|est|a|été)$/.test(words[index]?.lower ?? ""))
  )
    index++;
  if (index === start) return false;
  const lower = words[index]?.lower ?? "";
  if (lower === "no" || /^auc/.test(lower)) return false; // "but no other change is needed" is said of the rest.
  return startsNegative(words, index, end);
}

function applyNegation(words: readonly Word[], at: number, end: number, entries: readonly number[], out: Set<number>): void {
  let index = at + 1;
  while (
    index < end &&
    !isEntry(words[index]) &&
    FILLER.test(words[index]?.lower ?? "") &&
    !/^besoin$/.test(words[index]?.lower ?? "")
  )
    index++;
  const next = words[index];
  if (next === undefined || index >= end) {
    // "B does not." / "B is not"
    if (index === at + 1 || index >= end) excludeBefore(entries, at, out);
    return;
  }
  if (isEntry(next)) {
    // "not B", "not in B"; but "it is not that A ..." has more between than small words.
    excludeRun(words, index, end, 0, out);
    return;
  }
  if (CHANGE_VERB.test(next.lower)) {
    const behind = excludeRun(words, index + 1, end, 6, out);
    // "B does not need changes" and "B need not change" say it of B; "B does not update the index" describes the bug.
    if (!behind && (/^(?:needs?|requires?)$/.test(next.lower) || index === end - 1)) excludeBefore(entries, at, out);
    return;
  }
  if (CHANGE_STATE.test(next.lower)) {
    const isState = /(?:ed|ant|able|ary|ible|é|ée|és|ées|likely|responsible|cause|culprit|faulty|buggy|wrong)$/.test(next.lower);
    if (isState && entries.some((entry) => entry < at)) excludeBefore(entries, at, out);
    else if (!excludeRun(words, index + 1, end, 6, out)) excludeBefore(entries, at, out);
  }
}

function excludeBefore(entries: readonly number[], at: number, out: Set<number>): void {
  for (const entry of entries) if (entry < at) out.add(entry);
}

function excludeBeforeOrBehind(
  entries: readonly number[],
  at: number,
  words: readonly Word[],
  end: number,
  out: Set<number>,
): void {
  if (entries.some((entry) => entry < at)) excludeBefore(entries, at, out);
  else excludeRun(words, at + 1, end, 8, out);
}

/** Excludes the next run of entries (`B`, `B, C and D`), at most `gap` words away. False if there is none. */
function excludeRun(words: readonly Word[], from: number, end: number, gap: number, out: Set<number>): boolean {
  let index = from;
  while (index < end && !isEntry(words[index])) {
    if (index - from >= gap) return false;
    index++;
  }
  if (index >= end) return false;
  out.add(index);
  let toTheEnd = false;
  for (;;) {
    const next = skipSmall(words, index + 1, end);
    const comma = /[,/)]/.test(words[index]?.stop ?? "");
    if (!isEntry(words[next]) || next >= end) return true;
    const conjunction = words.slice(index + 1, next).some((word) => CONJUNCTION.test(word.lower));
    if (!conjunction && !comma) return true;
    // "Instead of B, A should change": without a conjunction the comma goes on only if the run ends the clause.
    toTheEnd ||= conjunction || runEndsClause(words, next, end);
    if (!toTheEnd) return true;
    out.add(next);
    index = next;
  }
}

function runEndsClause(words: readonly Word[], from: number, end: number): boolean {
  let index = from;
  for (;;) {
    const next = skipSmall(words, index + 1, end);
    if (next >= end) return true;
    if (!isEntry(words[next])) return false;
    if (words.slice(index + 1, next).some((word) => CONJUNCTION.test(word.lower))) return true;
    index = next;
  }
}

/** Does the text behind a list item's entry take it back: `- B.java: not affected`, `- B.java (no changes needed)`? */
export function takesBack(words: readonly Word[], from: number): boolean {
  for (let start = from; start < words.length; ) {
    let end = start;
    while (end < words.length && !/[.!?;,]/.test(words[end]?.stop ?? "")) end++;
    end = Math.min(words.length, end + 1);
    if (startsNegative(words, start, end)) return true;
    // Later sentences count only if they speak of the entry itself: "It is not affected."
    start = end;
    while (start < words.length && !/[.!?;]/.test(words[start - 1]?.stop ?? "")) start++;
  }
  return false;
}

function startsNegative(words: readonly Word[], start: number, end: number): boolean {
  let index = start;
  while (index < end && words[index]?.token?.kind !== "path" && LEAD.test(words[index]?.lower || words[index]?.text || ""))
    index++;
  const word = words[index];
  if (word === undefined || index >= end) return false;
  if (EXCLUDING_WORD.test(word.lower) || EXCLUDING_VERB.test(word.lower)) return true;
  if (STATE_MARKERS.some((one) => one.every((part, at) => words[index + at]?.lower === part))) return true;
  if (/^(?:leave|left|laisser|stays?|remains?|reste)$/.test(word.lower)) {
    return words
      .slice(index, end)
      .some((later) => /^(?:alone|untouched|unchanged|as-is|is|unmodified|inchangé|inchangée)$/.test(later.lower));
  }
  if (!NEGATION.test(word.lower) && !/n't$/.test(word.lower)) return false;
  let next = index + 1;
  while (next < end && FILLER.test(words[next]?.lower ?? "") && words[next]?.lower !== "besoin") next++;
  const after = words[next];
  // "no", "not": the whole remark.
  if (after === undefined || next >= end) return true;
  const later = words[next + 1]?.lower ?? "";
  // "does not update the index" describes the bug; "not updated here" would too, but "no changes" and "not affected" exclude.
  if (!CHANGE_STATE.test(after.lower) && !(CHANGE_VERB.test(after.lower) && next === end - 1)) return false;
  return (
    !/^(?:needs?|requires?|updates?|changes?|fixes|edits?|modif\p{L}*)$/u.test(after.lower) ||
    word.lower === "no" ||
    /^auc/.test(word.lower) ||
    later === "" ||
    /^(?:to|changes?|any|modifications?|updates?|a|edits?|d'être|needed|required|necessary|here|in|for|pour|nécessaires?|requis|requise)$/.test(
      later,
    )
  );
}
