/**
 * Matches the entries of one answer with the files of a corpus and the targets of a case.
 *
 * For each entry the rungs are tried in the rule set's order, and on each rung all spellings of the entry, most specific first:
 * the most trustworthy rung over all spellings wins, so a right class name never hides behind a wrong path, and never outranks a
 * right one. A rung on which a spelling means several files resolves nothing; if no later rung resolves the entry either, it is
 * a false positive that is counted apart as ambiguous.
 */
import type { Entry } from "../answers/schema.js";
import { splitLocation } from "../answers/tokens.js";
import type { MatchResult, MatchRung, Prediction, RuleSet } from "./contract.js";
import type { FileIndex, Lookup } from "./file-index.js";
import { isAbsolute, looksLikePath, nameSegments, normalisePath, pathForms } from "./normalise.js";

/**
 * `index` null = no file list: only the path rung works, against the targets themselves. Targets that the corpus lacks (added
 * by the fix) can be matched by path too: a caller that scores against all targets passes them all.
 * True positives + false negatives = distinct targets.
 */
export function matchEntries(
  entries: readonly Entry[],
  targets: readonly string[],
  index: FileIndex | null,
  rules: RuleSet,
): MatchResult {
  const wanted = new Map<string, string>();
  for (const target of targets) {
    const key = normalisePath(target);
    if (!wanted.has(key)) wanted.set(key, target);
  }
  const rungs = index === null ? rules.rungs.filter((rung) => rung === "path") : rules.rungs;
  const seen = new Map<string, number>();
  const predictions: { -readonly [K in keyof Prediction]: Prediction[K] }[] = [];
  let duplicates = 0;
  for (const entry of entries) {
    const resolved = resolveEntry(entry, wanted, index, rungs);
    const key = resolved.path === null ? `?${unresolvedKey(entry)}` : `=${normalisePath(resolved.path)}`;
    const first = seen.get(key);
    if (first !== undefined) {
      const kept = predictions[first];
      if (kept !== undefined) kept.duplicates++;
      duplicates++;
      continue;
    }
    seen.set(key, predictions.length);
    predictions.push({
      raw: entry.raw,
      path: resolved.path,
      readBy: entry.readBy,
      rung: resolved.rung,
      target: resolved.path === null ? null : (wanted.get(normalisePath(resolved.path)) ?? null),
      ambiguous: resolved.ambiguous,
      duplicates: 0,
      ...(entry.lines === undefined ? {} : { lines: entry.lines }),
    });
  }
  const truePositives = predictions.filter((one) => one.target !== null).length;
  return {
    predictions,
    truePositives,
    falsePositives: predictions.length - truePositives,
    falseNegatives: wanted.size - truePositives,
    ambiguous: predictions.filter((one) => one.ambiguous).length,
    duplicates,
  };
}

interface Resolved {
  readonly path: string | null;
  readonly rung: MatchRung | null;
  readonly ambiguous: boolean;
}

function resolveEntry(
  entry: Entry,
  wanted: ReadonlyMap<string, string>,
  index: FileIndex | null,
  rungs: readonly MatchRung[],
): Resolved {
  let ambiguous = false;
  for (const rung of rungs) {
    for (const spelling of entry.spellings) {
      const found = lookUp(spelling, rung, wanted, index, rungs);
      if (typeof found === "string") return { path: found, rung, ambiguous: false };
      if (found === null) ambiguous = true;
    }
  }
  return { path: null, rung: null, ambiguous };
}

function lookUp(
  spelling: string,
  rung: MatchRung,
  wanted: ReadonlyMap<string, string>,
  index: FileIndex | null,
  rungs: readonly MatchRung[],
): Lookup {
  switch (rung) {
    case "path":
      return byPath(spelling, wanted, index);
    case "suffix":
      return index === null ? undefined : bySuffix(spelling, index);
    case "qualified-name":
      return index === null ? undefined : byQualifiedName(spelling, index);
    case "simple-name":
      return index === null ? undefined : bySimpleName(spelling, index);
    case "letter-case":
      return index === null ? undefined : byLetterCase(spelling, index, rungs);
    case "seed":
      return undefined;
  }
}

/** First form that is a file. `a/` and line suffixes are taken off only where the plain form is none. */
function byPath(spelling: string, wanted: ReadonlyMap<string, string> | null, index: FileIndex | null): Lookup {
  let ambiguous = false;
  for (const form of pathForms(spelling, index?.roots ?? [])) {
    const found = index?.byPath(form);
    if (typeof found === "string") return found;
    if (found === null) ambiguous = true;
    const target = wanted?.get(form);
    if (target !== undefined) return target;
  }
  return ambiguous ? null : undefined;
}

/** A suffix of exactly one file; of an absolute path, its longest tail of two segments or more that is one. */
function bySuffix(spelling: string, index: FileIndex): Lookup {
  if (!looksLikePath(spelling, index.extensions)) return undefined;
  let ambiguous = false;
  for (const form of pathForms(spelling, index.roots)) {
    if (isAbsolute(form)) {
      let rest = form.replace(/^(?:[A-Za-z]:|~)?\//, "");
      for (let slash = rest.indexOf("/"); slash >= 0; slash = rest.indexOf("/")) {
        const found = index.bySuffix(rest);
        if (typeof found === "string") return found;
        // A tail that several files share: a shorter one is shared by more.
        if (found === null) {
          ambiguous = true;
          break;
        }
        rest = rest.slice(slash + 1);
      }
      continue;
    }
    const found = index.bySuffix(form);
    if (typeof found === "string") return found;
    if (found === null) ambiguous = true;
  }
  return ambiguous ? null : undefined;
}

/** Package and class (at least two segments); inner classes and members at the end are taken off one by one. */
function byQualifiedName(spelling: string, index: FileIndex): Lookup {
  const segments = nameSegments(spelling, index.extensions);
  if (segments === null || segments.length < 2) return undefined;
  let ambiguous = false;
  for (let length = segments.length; length >= 2; length--) {
    const found = index.byName(segments.slice(0, length));
    if (typeof found === "string") return found;
    if (found === null) ambiguous = true;
  }
  return ambiguous ? null : undefined;
}

/**
 * The class's name alone: of a path its base name, of a qualified name its first capitalised segment (what follows is an inner
 * class or a member), else its last.
 */
function bySimpleName(spelling: string, index: FileIndex): Lookup {
  const located = splitLocation(normalisePath(spelling)).path;
  if (looksLikePath(spelling, index.extensions) && nameSegments(spelling, index.extensions) === null) {
    return index.byBase(located.slice(located.lastIndexOf("/") + 1));
  }
  const segments = nameSegments(spelling, index.extensions);
  if (segments === null) return index.byBase(located.slice(located.lastIndexOf("/") + 1));
  const name = segments.find((segment) => /^\p{Lu}/u.test(segment)) ?? segments.at(-1);
  return name === undefined ? undefined : index.byClass(name);
}

/** Any other rung of the rule set, over lower-cased names. */
function byLetterCase(spelling: string, index: FileIndex, rungs: readonly MatchRung[]): Lookup {
  const folded = index.folded();
  const lower = spelling.normalize("NFC").toLowerCase();
  let ambiguous = false;
  for (const rung of rungs) {
    let found: Lookup;
    if (rung === "path") found = byPath(lower, null, folded);
    else if (rung === "suffix") found = bySuffix(lower, folded);
    else if (rung === "qualified-name") found = byQualifiedName(lower, folded);
    else if (rung === "simple-name") {
      // Lower-cased names have no capital to tell the class by: it is told before.
      const segments = nameSegments(spelling, index.extensions);
      const name = segments?.find((segment) => /^\p{Lu}/u.test(segment))?.toLowerCase();
      found = name === undefined ? bySimpleName(lower, folded) : folded.byClass(name);
    } else continue;
    if (typeof found === "string") return found;
    if (found === null) ambiguous = true;
  }
  return ambiguous ? null : undefined;
}

/** Two spellings of the same unknown file are one wrong prediction. */
function unresolvedKey(entry: Entry): string {
  return pathForms(entry.raw, []).at(0) === undefined ? entry.raw.trim() : splitLocation(normalisePath(entry.raw)).path;
}
