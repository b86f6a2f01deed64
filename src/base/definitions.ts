/**
 * Classes and functions of a source file, as a grammar finds them, and which of them lines belong to. Names are qualified inside the file
 * (`Outer.Inner.method`, no package), as Loc-Bench writes them behind the path; overloads share a name and are one thing.
 */
import type { LineRange, OldHunk } from "./line-changes.js";

export const DEFINITION_KINDS = ["class", "function"] as const;
export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

export interface Definition {
  readonly kind: DefinitionKind;
  /** `Class.method`, `Outer.Inner`, `function`. */
  readonly name: string;
  readonly lines: LineRange;
}

/** Names of the kind that lines touch: of each line the innermost one around it, in the order of the file, each once. */
export function namesOfLines(definitions: readonly Definition[], kind: DefinitionKind, [from, to]: LineRange): string[] {
  const near = definitions.filter((one) => one.kind === kind && one.lines[0] <= to && one.lines[1] >= from);
  const touched = near.filter(({ lines }) => {
    // Some line of ours must be this one's own, in none of those inside of it.
    let line = Math.max(from, lines[0]);
    const end = Math.min(to, lines[1]);
    const inner = near
      .filter((other) => other.lines !== lines && within(other.lines, lines) && !same(other.lines, lines))
      .sort((a, b) => a.lines[0] - b.lines[0]);
    for (const other of inner) if (other.lines[0] <= line) line = Math.max(line, other.lines[1] + 1);
    return line <= end;
  });
  return [...new Set(touched.sort((a, b) => a.lines[0] - b.lines[0]).map(({ name }) => name))];
}

/** Names of the kind that changes concern. An insertion belongs to the innermost one that holds both lines that it comes between. */
export function namesOfHunks(definitions: readonly Definition[], kind: DefinitionKind, hunks: readonly OldHunk[]): string[] {
  const names = hunks.flatMap(([start, count]) => {
    if (count > 0) return namesOfLines(definitions, kind, [start, start + count - 1]);
    const around = definitions
      .filter(({ kind: found, lines }) => found === kind && lines[0] <= start && lines[1] > start)
      .sort((a, b) => a.lines[1] - a.lines[0] - (b.lines[1] - b.lines[0]));
    return around[0] === undefined ? [] : [around[0].name];
  });
  return [...new Set(names)];
}

/** Every place of a name. */
export function placesOf(definitions: readonly Definition[], kind: DefinitionKind, name: string): LineRange[] {
  return definitions.filter((one) => one.kind === kind && one.name === name).map(({ lines }) => lines);
}

/**
 * The definition that a text means: its whole name, else the only one whose name ends with it (`method` for `Class.method`) or that it ends with
 * (`org.x.Class.method`). Null where there is none, or several.
 */
export function definitionNamed(definitions: readonly Definition[], kind: DefinitionKind, text: string): string | null {
  const names = [...new Set(definitions.filter((one) => one.kind === kind).map(({ name }) => name))];
  const plain = text.trim().replaceAll("::", ".").replaceAll("#", ".").replaceAll("$", ".").replace(/\(.*$/s, "");
  if (plain === "") return null;
  if (names.includes(plain)) return plain;
  const longer = names.filter((name) => name.endsWith(`.${plain}`));
  if (longer.length > 0) return longer.length === 1 ? (longer[0] ?? null) : null;
  // The longest: `a.Outer.Inner` ends with both `Outer.Inner` and `Inner`.
  const shorter = names.filter((name) => plain.endsWith(`.${name}`)).sort((a, b) => b.length - a.length);
  return shorter[0] ?? null;
}

function within(inner: LineRange, outer: LineRange): boolean {
  return inner[0] >= outer[0] && inner[1] <= outer[1];
}

function same(a: LineRange, b: LineRange): boolean {
  return a[0] === b[0] && a[1] === b[1];
}
