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
import type { MatchResult, MatchRung, Prediction, RuleSet, WantedFile } from "./contract.js";
import type { FileIndex, Lookup } from "./file-index.js";
import { isAbsolute, looksLikePath, nameSegments, namesInnerClass, normalisePath, pathForms } from "./normalise.js";

/**
 * `index` null = no file list: only the path rung works, against the targets themselves. Targets that the corpus lacks (added
 * by the fix) can be matched by path too: a caller that scores against all targets passes them all. A target may have several names
 * (`WantedFile`); two predictions of one target are one.
 * True positives + false negatives = distinct targets. Predictions of files that the rules' extensions leave out are in no list.
 */
export function matchEntries(
  entries: readonly Entry[],
  targets: readonly (string | WantedFile)[],
  index: FileIndex | null,
  rules: RuleSet,
): MatchResult {
  const wanted = wantedNames(targets);
  const rungs = index === null ? rules.rungs.filter((rung) => rung === "path") : rules.rungs;
  const seen = new Map<string, number>();
  const predictions: { -readonly [K in keyof Prediction]: Prediction[K] }[] = [];
  let duplicates = 0;
  for (const entry of entries) {
    const resolved = resolveEntry(entry, wanted.byName, index, rungs, rules);
    const target = resolved.path === null ? null : (wanted.byName.get(normalisePath(resolved.path)) ?? null);
    if (target === null && isLeftOut(entry, resolved.path, index, rules)) continue;
    const key = resolved.path === null ? `?${unresolvedKey(entry, rules)}` : `=${normalisePath(target ?? resolved.path)}`;
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
      target,
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
    falseNegatives: wanted.count - truePositives,
    ambiguous: predictions.filter((one) => one.ambiguous).length,
    duplicates,
  };
}

/** Normalised names to targets; a name that two targets claim is the one's whose first name it is. */
function wantedNames(targets: readonly (string | WantedFile)[]): {
  readonly byName: ReadonlyMap<string, string>;
  readonly count: number;
} {
  const byName = new Map<string, string>();
  const put = (name: string, target: string): void => {
    const key = normalisePath(name);
    if (!byName.has(key)) byName.set(key, target);
  };
  for (const target of targets) {
    if (typeof target === "string") put(target, target);
    else put(target.path, target.path);
  }
  const count = byName.size;
  for (const target of targets) {
    if (typeof target !== "string")
      for (const name of target.names) put(name, byName.get(normalisePath(target.path)) ?? target.path);
  }
  return { byName, count };
}

/** Is the prediction of a file that the rules do not look at? An unresolved one is judged by its own ending, if it names a file by path. */
function isLeftOut(entry: Entry, path: string | null, index: FileIndex | null, { extensions }: RuleSet): boolean {
  if (extensions === null) return false;
  if (path === null && !looksLikePath(entry.raw, index?.extensions ?? NONE)) return false;
  return !hasExtension(path ?? splitLocation(entry.raw).path, extensions);
}

const NONE: ReadonlySet<string> = new Set();

export function hasExtension(path: string, extensions: readonly string[]): boolean {
  const lower = path.toLowerCase();
  return extensions.some((extension) => lower.endsWith(extension));
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
  rules: RuleSet,
): Resolved {
  let ambiguous = false;
  for (const rung of rungs) {
    for (const spelling of entry.spellings) {
      const found = lookUp(spelling, rung, wanted, index, rungs, rules);
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
  rules: RuleSet,
): Lookup {
  if (rung === "path") return byPath(spelling, wanted, index, rules);
  if (index === null || rung === "seed") return undefined;
  if (rung === "suffix") return bySuffix(spelling, index, rules);
  const inner = rules.innerClasses ? false : namesInnerClass(nameSegments(spelling, index.extensions) ?? []);
  if (rung === "letter-case")
    return byLetterCase(spelling, index, inner ? rungs.filter((one) => !NAME_RUNGS.has(one)) : rungs, rules);
  if (inner) return undefined;
  return rung === "qualified-name" ? byQualifiedName(spelling, index) : bySimpleName(spelling, index);
}

const NAME_RUNGS: ReadonlySet<MatchRung> = new Set(["qualified-name", "simple-name"]);

/** First form that is a file. `a/` and line suffixes are taken off only where the plain form is none. */
function byPath(spelling: string, wanted: ReadonlyMap<string, string> | null, index: FileIndex | null, rules: RuleSet): Lookup {
  let ambiguous = false;
  for (const form of pathForms(spelling, index?.roots ?? [], rules)) {
    const found = index?.byPath(form);
    if (typeof found === "string") return found;
    if (found === null) ambiguous = true;
    const target = wanted?.get(form);
    if (target !== undefined) return target;
  }
  return ambiguous ? null : undefined;
}

/** A suffix of exactly one file; of an absolute path, its longest tail of two segments or more that is one. */
function bySuffix(spelling: string, index: FileIndex, rules: RuleSet): Lookup {
  if (!looksLikePath(spelling, index.extensions)) return undefined;
  let ambiguous = false;
  for (const form of pathForms(spelling, index.roots, rules)) {
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
function byLetterCase(spelling: string, index: FileIndex, rungs: readonly MatchRung[], rules: RuleSet): Lookup {
  const folded = index.folded();
  const lower = spelling.normalize("NFC").toLowerCase();
  const lowered = lowerCased(rules);
  let ambiguous = false;
  for (const rung of rungs) {
    let found: Lookup;
    if (rung === "path") found = byPath(lower, null, folded, lowered);
    else if (rung === "suffix") found = bySuffix(lower, folded, lowered);
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

const lowerCasedRules = new WeakMap<RuleSet, RuleSet>();

/** The rules for lower-cased paths: their mappings are compared with lower-cased text. */
function lowerCased(rules: RuleSet): RuleSet {
  let lowered = lowerCasedRules.get(rules);
  if (lowered === undefined) {
    const paths = rules.paths.map(({ from, to }) => ({ from: from.toLowerCase(), to: to.toLowerCase() }));
    lowered = { ...rules, paths };
    lowerCasedRules.set(rules, lowered);
  }
  return lowered;
}

/** Two spellings of the same unknown file are one wrong prediction. */
function unresolvedKey(entry: Entry, rules: RuleSet): string {
  return pathForms(entry.raw, [], rules).at(0) === undefined ? entry.raw.trim() : splitLocation(normalisePath(entry.raw)).path;
}
