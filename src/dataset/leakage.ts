/**
 * Does the text of a case name its answer? Reports that are localised already make any system look good (a bias that Kochhar, Tian and Lo studied, ASE
 * 2014), so every figure is shown by this class.
 *
 * | class | when |
 * | --- | --- |
 * | `none` | the text names no target |
 * | `partial` | it names some of the targets |
 * | `full` | it names every target: whoever copies the names out of the text has the whole answer |
 *
 * A target is named by its path, its file name, or its class (the file name without extension; where `locate-lines` looked, also the classes and
 * functions that the fix changed) as a whole word. `full` asks for every target and
 * not for one, since recall asks for every target; with one target the two are the same. A case without targets has no class.
 */
import { NAMING_KINDS, type NamingKind, TargetNames } from "./names.js";
import type { Case, Target } from "./schema.js";

export const LEAK_CLASSES = ["none", "partial", "full"] as const;
export type LeakClass = (typeof LEAK_CLASSES)[number];

export interface Leakage {
  readonly class: LeakClass;
  /** How targets are named, in the order of `NAMING_KINDS`. */
  readonly kinds: readonly NamingKind[];
  /** Paths of the targets that are named, in the order of the targets. */
  readonly named: readonly string[];
  readonly targets: number;
}

type Text = Pick<Case, "title" | "body"> & {
  readonly targets: readonly (Pick<Target, "path" | "renamed_to"> & Partial<Pick<Target, "classes" | "functions">>)[];
};

/** null = the case has no target. */
export function leakageOf(one: Text): Leakage | null {
  const { targets } = one;
  if (targets.length === 0) return null;
  const { names, owner } = namesOfTargets(targets);
  const named = new Set<number>();
  const kinds = new Set<NamingKind>();
  for (const text of [one.title, one.body ?? ""]) {
    for (const naming of names.namings(text)) {
      if (!naming.counts) continue;
      for (const target of naming.targets) named.add(owner[target] ?? 0);
      for (const kind of naming.kinds) kinds.add(kind);
    }
  }
  return {
    class: named.size === 0 ? "none" : named.size === targets.length ? "full" : "partial",
    kinds: NAMING_KINDS.filter((kind) => kinds.has(kind)),
    named: [...named].sort((a, b) => a - b).map((index) => targets[index]?.path ?? ""),
    targets: targets.length,
  };
}

/** Of every case once: text and targets of a case never change, and its repeats and cells all ask. */
const known = new WeakMap<object, Leakage | null>();

/** `one`: the case itself, by which the answer is found again; `text`: what is read of it. */
export function knownLeakage(one: object, text: Text): Leakage | null {
  const before = known.get(one);
  if (before !== undefined) return before;
  const leakage = leakageOf(text);
  known.set(one, leakage);
  return leakage;
}

/** Shorter ones (`f`, `get`) are told by no text for sure. */
const SHORTEST_DEFINITION = 4;

/** `Outer.method` -> `method`; constructors and special methods (`__init__`) say nothing of their file. */
function lastPart(name: string): string {
  const part = name.slice(name.lastIndexOf(".") + 1);
  return /^(?:__\w+__|constructor|main|toString|equals|hashCode)$/.test(part) ? "" : part;
}

/** The names of all targets, by old and new path; `owner`: which target each name belongs to. */
export function namesOfTargets(targets: Text["targets"]): { readonly names: TargetNames; readonly owner: readonly number[] } {
  const paths: string[] = [];
  const definitions: string[][] = [];
  const owner: number[] = [];
  for (const [index, { path, renamed_to, classes = [], functions = [] }] of targets.entries()) {
    const own = [...classes, ...functions].map(({ name }) => lastPart(name)).filter((name) => name.length >= SHORTEST_DEFINITION);
    for (const name of renamed_to === null || renamed_to === path ? [path] : [path, renamed_to]) {
      paths.push(name);
      definitions.push(own);
      owner.push(index);
    }
  }
  return { names: new TargetNames(paths, definitions), owner };
}
