/**
 * The original program's matching and counts, faults included. What it never looks at is the source tree: whether a name is
 * ambiguous is judged among the expected files of the one case, and a wrong folder with the right class name is a hit.
 */
import { compareCodePoints, strip } from "../answers/python-text.js";
import { readSeedAnswer, type SeedPrediction, seedPathKey, seedQualifiedNames } from "../answers/seed.js";
import type { MatchRung } from "./contract.js";

interface SeedCounts {
  /** Distinct expected files hit. */
  readonly tp: number;
  /** Distinct predictions that hit none. */
  readonly fp: number;
  readonly fn: number;
  /** 0/0 counts as 0 in all three. */
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

interface SeedMatch {
  readonly id: string;
  readonly raw: string;
  /** The expected file that it hit, as the data set spells it. */
  readonly target: string | null;
  readonly rung: Extract<MatchRung, "path" | "qualified-name" | "simple-name"> | null;
}

export interface SeedScore extends SeedCounts {
  readonly predictions: readonly SeedMatch[];
  /** The files that count as truth, as the data set spells them, sorted by code points. */
  readonly expected: readonly string[];
}

export interface SeedCase extends SeedScore {
  /** Why the original would have failed on the answer (it then leaves the case out of its figures); null = it would not. */
  readonly crash: string | null;
  /** The same predictions against the expected files that the repository has; null without a list of its files. */
  readonly inRepo: (SeedCounts & { readonly retained: readonly string[]; readonly discarded: readonly string[] }) | null;
}

/**
 * One case, from raw answer to counts. `impactedFiles`: the files of all linked pull requests, in any order, repeats allowed;
 * `universe`: the files of the repository, or their keys from `seedUniverse` where many cases share them.
 */
export function seedCase(
  response: string,
  impactedFiles: readonly string[],
  universe: readonly string[] | ReadonlySet<string> | null,
): SeedCase {
  const read = readSeedAnswer(response);
  const predictions = read.ok ? read.value : [];
  const score = scoreSeed(predictions, impactedFiles);
  let inRepo: SeedCase["inRepo"] = null;
  if (universe !== null) {
    const keys = universe instanceof Set ? universe : seedUniverse([...universe]);
    const discarded = score.expected.filter((file) => !keys.has(seedPathKey(file)));
    const kept = score.expected.filter((file) => keys.has(seedPathKey(file)));
    const { predictions: _, expected: retained, ...counts } = scoreSeed(predictions, kept);
    inRepo = { ...counts, retained, discarded };
  }
  return { ...score, crash: read.ok ? null : read.error.message, inRepo };
}

/** Keys of the repository's `.java` files; a file that is called just `.java` has no extension for Python. */
export function seedUniverse(paths: readonly string[]): ReadonlySet<string> {
  const isJava = (path: string) => path.toLowerCase().endsWith(".java") && baseName(path).length > ".java".length;
  return new Set(paths.filter(isJava).map(seedPathKey));
}

/**
 * Matches predictions with the files that count as truth, and counts. Of `impactedFiles` those count that end in `.java` in any
 * letter case (a blank after it is not trimmed first, so such a name is out), trimmed, each once.
 */
export function scoreSeed(predictions: readonly SeedPrediction[], impactedFiles: readonly string[]): SeedScore {
  const index = indexOf(impactedFiles);
  const matches = predictions.map((prediction) => match(prediction, index));
  const tp = new Set(matches.flatMap(({ target }) => (target === null ? [] : [target]))).size;
  const fp = new Set(matches.flatMap(({ target, id }) => (target === null ? [id] : []))).size;
  const targets = index.byPath.size;
  const precision = tp + fp > 0 ? tp / (tp + fp) : 0;
  const recall = targets > 0 ? tp / targets : 0;
  const f1 = precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0;
  const expected = [...index.byPath.values()].sort(compareCodePoints);
  return { predictions: matches, expected, tp, fp, fn: Math.max(0, targets - tp), precision, recall, f1 };
}

/** Targets are told apart by their path key; the names lead to keys. */
interface Index {
  /** Path key to spelling. */
  readonly byPath: ReadonlyMap<string, string>;
  readonly byQualifiedName: ReadonlyMap<string, ReadonlySet<string>>;
  readonly bySimpleName: ReadonlyMap<string, ReadonlySet<string>>;
}

function indexOf(impactedFiles: readonly string[]): Index {
  const names = new Set(impactedFiles.filter((file) => file.toLowerCase().endsWith(".java")).map((file) => strip(file)));
  const byPath = new Map<string, string>();
  const byQualifiedName = new Map<string, Set<string>>();
  const bySimpleName = new Map<string, Set<string>>();
  for (const file of [...names].sort(compareCodePoints)) {
    // Spellings that differ only in letter case or slashes are one target, shown as the last of them; all their names lead to it.
    const key = seedPathKey(file);
    byPath.set(key, file);
    add(bySimpleName, stem(file).toLowerCase(), key);
    for (const name of seedQualifiedNames(file)) add(byQualifiedName, name, key);
  }
  return { byPath, byQualifiedName, bySimpleName };
}

function add(index: Map<string, Set<string>>, name: string, key: string): void {
  const keys = index.get(name);
  if (keys === undefined) index.set(name, new Set([key]));
  else keys.add(key);
}

function match(prediction: SeedPrediction, index: Index): SeedMatch {
  const { id, raw, pathKey, qualifiedKey, simpleKey } = prediction;
  const hit = (key: string, rung: SeedMatch["rung"]): SeedMatch => ({ id, raw, target: index.byPath.get(key) ?? null, rung });
  if (pathKey !== null && index.byPath.has(pathKey)) return hit(pathKey, "path");
  const qualified = qualifiedKey === null ? null : only(index.byQualifiedName.get(qualifiedKey));
  if (qualified !== null) return hit(qualified, "qualified-name");
  const simple = only(index.bySimpleName.get(simpleKey));
  if (simple !== null) return hit(simple, "simple-name");
  return { id, raw, target: null, rung: null };
}

/** The one target of the set; a name of several targets matches none of them. */
function only(keys: ReadonlySet<string> | undefined): string | null {
  if (keys === undefined || keys.size !== 1) return null;
  const [key] = keys;
  return key ?? null;
}

/** Python's `Path(file).stem` of a name that ends in `.java`: a backslash is no separator, and `.java` alone is all stem. */
function stem(file: string): string {
  const name = baseName(file);
  return name.length > ".java".length ? name.slice(0, -".java".length) : name;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
