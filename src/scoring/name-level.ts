/**
 * Judging by classes or functions: a prediction names those that its lines are in, or those that it names in words, in the file that it
 * resolved to. Each is predicted once, at its first rank, like a file; what names none in a file is one wrong prediction.
 *
 * Definitions come from the tree (`Contents`). Where a case has no tree at all, only those of the truth are known, by their names and ranges, and
 * any other name in words is a wrong prediction of its own.
 */
import type { Entry } from "../answers/schema.js";
import { type Definition, type DefinitionKind, definitionNamed, namesOfLines } from "../base/definitions.js";
import type { Target } from "../dataset/schema.js";
import type { RuleSet } from "../matching/contract.js";
import type { FileIndex } from "../matching/file-index.js";
import { matchEntries } from "../matching/match.js";
import type { CaseJudgement } from "../measures/contract.js";
import type { Contents } from "./contents.js";
import type { TrueFile } from "./truth.js";

/** Null where the data set does not say the classes (functions) of every target, or the fix changed none. */
export function judgeNames(
  kind: DefinitionKind,
  entries: readonly Entry[],
  targets: readonly Target[],
  present: readonly TrueFile[],
  index: FileIndex | null,
  rules: RuleSet,
  contents: Contents | undefined,
): CaseJudgement | null {
  const truth = truthOfKind(kind, targets, present);
  if (truth === null || truth.grades.size === 0) return null;
  const order = new Map([...truth.grades.keys()].map((key, at) => [key, at]));
  const seen = new Set<string>();
  const ranking: number[] = [];
  const predict = (key: string) => {
    if (seen.has(key)) return;
    seen.add(key);
    ranking.push(order.get(key) ?? -1);
  };
  for (const entry of entries) {
    const match = matchEntries([entry], present, index, rules).predictions[0];
    const file = match?.target ?? match?.path ?? null;
    if (file === null) {
      predict(`? ${entry.raw}`);
      continue;
    }
    const definitions = contents?.get(file)?.definitions ?? truth.known.get(file) ?? [];
    const names = namesOf(kind, entry, definitions);
    const others = contents === undefined && names.length === 0 ? (entry.symbols ?? []) : [];
    for (const name of others) predict(`? ${file}\0${name}`);
    if (names.length === 0 && others.length === 0) predict(`? ${file}`);
    for (const name of names) predict(keyOf(file, name));
  }
  return { ranking, targets: [...truth.grades.values()] };
}

function keyOf(path: string, name: string): string {
  return `= ${path}\0${name}`;
}

interface Truth {
  readonly grades: ReadonlyMap<string, number>;
  /** Definitions of the truth itself, by file. */
  readonly known: ReadonlyMap<string, readonly Definition[]>;
}

function truthOfKind(kind: DefinitionKind, targets: readonly Target[], present: readonly TrueFile[]): Truth | null {
  const grades = new Map<string, number>();
  const known = new Map<string, Definition[]>();
  for (const target of targets) {
    // A target that the tree lacks is no target here either.
    const file = present.find((one) => one.path === target.path || one.names.includes(target.path));
    if (file === undefined) continue;
    const named = kind === "class" ? target.classes : target.functions;
    if (named === undefined) return null;
    const definitions = known.get(file.path) ?? [];
    known.set(file.path, definitions);
    for (const { name, ranges } of named) {
      const key = keyOf(file.path, name);
      grades.set(key, Math.max(target.grade, grades.get(key) ?? 0));
      // Where it lies is not known: its name can still be named.
      definitions.push(...(ranges ?? [NOWHERE]).map((lines) => ({ kind, name, lines })));
    }
  }
  return { grades, known };
}

const NOWHERE = [0, -1] as const;

/** Its lines say it best; else its words. A class may also be named by the name that the file was found by. */
function namesOf(kind: DefinitionKind, entry: Entry, definitions: readonly Definition[]): string[] {
  const inLines = entry.lines === undefined ? [] : namesOfLines(definitions, kind, entry.lines);
  if (inLines.length > 0) return inLines;
  const words = [...(entry.symbols ?? []), ...(kind === "class" ? entry.spellings.filter((text) => !isPath(text)) : [])];
  const named = words.flatMap((word) => definitionNamed(definitions, kind, word) ?? []);
  if (named.length > 0) return [...new Set(named)];
  if (kind === "function") return [];
  // `Class.method` names its class as well.
  const around = (entry.symbols ?? []).flatMap((word) =>
    word.includes(".") ? (definitionNamed(definitions, kind, word.slice(0, word.lastIndexOf("."))) ?? []) : [],
  );
  return [...new Set(around)];
}

function isPath(text: string): boolean {
  return /[\\/]/.test(text) || /\.(?:java|py|pyi|[cm]?[jt]sx?|kts?)$/i.test(text);
}
