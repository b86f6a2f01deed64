/**
 * A stage's matrix: its cells (the product of its lists, the first key slowest) and their labels.
 *
 * A label is what a person reads in tables and types after `--only`, so it says what differs and no more: a cell's `name:`, else
 * the kind and the values in which cells of that kind differ.
 */
import type * as z from "zod";
import { canonicalJson } from "../base/json.js";
import type { Mistakes } from "./mistakes.js";
import { safeLabel, uniqueLabels } from "./names.js";
import { type Scope, substitute } from "./references.js";
import { takesKey } from "./schema-walk.js";
import type { RawStage } from "./stage.js";
import { type MapNode, type Member, member, placeOf, type SourceNode, toJson } from "./tree.js";
import { code, found } from "./words.js";

export const MAX_CELLS = 1000;
const MAX_KEYS = 20;

interface AxisCell {
  readonly label: string;
  /** By matrix key: the value, with the place of its key for mistakes. */
  readonly values: ReadonlyMap<string, Member>;
}

/** A stage's own matrix, seen as one dimension of the graph. */
export interface Axis {
  readonly stage: string;
  readonly keys: readonly string[];
  /** Its keys could not be read: what `with` lacks may have been meant to come from it. */
  readonly broken: boolean;
  readonly cells: readonly AxisCell[];
}

interface Choice {
  readonly member: Member;
  readonly label: string;
}

/** null where the stage has no matrix. A broken matrix has one cell of unknown values, so that the rest can be checked. */
export function readAxis(stage: RawStage, scope: Scope, schema: z.ZodType | null): Axis | null {
  if (stage.matrix === null) return null;
  const { mistakes } = scope;
  const { keySpan } = stage.matrix;
  // The keys must stand in the file: they decide what `with` may hold. Their values may be references.
  const matrix = stage.matrix.value;
  const broken = (keys: readonly string[]): Axis => ({
    stage: stage.name,
    keys,
    broken: keys.length === 0,
    cells: [unknownCell(keys, stage)],
  });
  if (matrix.type !== "map") {
    if (matrix.type !== "unknown") {
      mistakes.error(
        keySpan,
        `${code("matrix")}: expected a mapping of lists, found ${found(matrix)}`,
        "write `matrix: { key: [value, value] }`",
      );
    }
    return broken([]);
  }
  const evaluated = substitute(matrix, scope) as MapNode;
  const keys = evaluated.members.map(({ key }) => key);
  if (keys.length === 0) {
    mistakes.error(keySpan, `${code("matrix")} is empty`, "write `matrix: { key: [value, value] }`, or remove it");
    return broken([]);
  }
  if (keys.length > MAX_KEYS) {
    mistakes.error(
      keySpan,
      `${code("matrix")} has ${keys.length} keys; at most ${MAX_KEYS} are allowed`,
      "split it over several stages",
    );
    return broken([]);
  }
  checkClashes(stage, evaluated, mistakes);
  const dimensions: (readonly Choice[])[] = [];
  for (const each of evaluated.members) dimensions.push(readDimension(each, schema, mistakes));
  const size = dimensions.reduce((product, choices) => product * choices.length, 1);
  if (size > MAX_CELLS) {
    mistakes.error(
      keySpan,
      `${code("matrix")} makes ${size} cells; at most ${MAX_CELLS} are allowed`,
      "split it over several pipelines",
    );
    return broken(keys);
  }
  const cells = product(dimensions);
  const labels = uniqueLabels(cells.map((cell) => cell.map(({ label }) => label).join("-")));
  return {
    stage: stage.name,
    keys,
    broken: false,
    cells: cells.map((cell, index) => ({
      label: labels[index] ?? "cell",
      values: new Map(cell.map((choice) => [choice.member.key, choice.member])),
    })),
  };
}

function unknownCell(keys: readonly string[], { nameSpan }: RawStage): AxisCell {
  const unknown = (key: string): Member => ({ key, keySpan: nameSpan, value: { type: "unknown", span: nameSpan } });
  return { label: "cell", values: new Map(keys.map((key) => [key, unknown(key)])) };
}

function checkClashes(stage: RawStage, matrix: MapNode, mistakes: Mistakes): void {
  if (stage.with.type !== "map") return;
  for (const { key, keySpan } of matrix.members) {
    if (member(stage.with, key) !== undefined) {
      mistakes.error(
        keySpan,
        `${code(key)} stands in ${code("matrix")} and in ${code("with")}`,
        "keep one of them: each cell puts its value into `with`",
      );
    }
  }
}

function product(dimensions: readonly (readonly Choice[])[]): Choice[][] {
  let cells: Choice[][] = [[]];
  for (const choices of dimensions) cells = cells.flatMap((cell) => choices.map((choice) => [...cell, choice]));
  return cells;
}

function readDimension(each: Member, schema: z.ZodType | null, mistakes: Mistakes): readonly Choice[] {
  const { key, keySpan, value } = each;
  const unknown: Choice = { member: { key, keySpan, value: { type: "unknown", span: value.span } }, label: key };
  if (value.type === "unknown") return [unknown];
  if (value.type !== "list" || value.items.length === 0) {
    const place = value.type === "list" ? keySpan : placeOf(each);
    const advice = value.type === "scalar" ? `write it as a list: ${key}: [value, value]` : "give it at least one value";
    mistakes.error(place, `${code(key)} in ${code("matrix")}: expected a list of values, found ${found(value)}`, advice);
    return [unknown];
  }
  if (value.items.length > MAX_CELLS) {
    mistakes.error(
      keySpan,
      `${code(key)} has ${value.items.length} values; at most ${MAX_CELLS} cells are allowed`,
      "split it over several pipelines",
    );
    return [unknown];
  }
  warnOfTwins(value.items, key, mistakes);
  const labels = labelsOf(value.items, key);
  return value.items.map((item, index) => ({
    member: {
      key,
      keySpan,
      valueSpan: item.span.end > item.span.start ? item.span : value.span,
      value: withoutName(item, key, schema, mistakes),
    },
    label: labels[index] ?? key,
  }));
}

function warnOfTwins(items: readonly SourceNode[], key: string, mistakes: Mistakes): void {
  const first = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const text = canonicalJson(toJson(item) ?? index);
    const twin = first.get(text);
    if (twin === undefined) first.set(text, index);
    else if (item.type !== "unknown") {
      mistakes.warning(
        item.span,
        `values ${twin + 1} and ${index + 1} of ${code(key)} are equal: the same work under two labels`,
        "remove one of them",
      );
    }
  }
}

/** `name` labels the cell and is not an option, unless the schema says that it is one. */
function withoutName(item: SourceNode, key: string, schema: z.ZodType | null, mistakes: Mistakes): SourceNode {
  if (item.type !== "map") return item;
  const name = member(item, "name");
  if (name === undefined) return item;
  const takes = schema !== null && takesKey(schema, { [key]: toJson(item) }, [key], "name");
  if (takes) return item;
  if (name.value.type !== "unknown" && nameOf(item) === null) {
    mistakes.error(
      name.keySpan,
      `${code("name")}: expected a label for the cell, found ${found(name.value)}`,
      'write `name: "label"`',
    );
  }
  return { ...item, members: item.members.filter((each) => each !== name) };
}

function nameOf(item: SourceNode): string | null {
  const name = item.type === "map" ? member(item, "name")?.value : undefined;
  if (name?.type !== "scalar" || name.value === null || name.text === "" || name.origin?.hidden === true) return null;
  return name.text;
}

const MAX_PART = 32;

/** One text per value, not yet unique or safe. */
export function labelsOf(items: readonly SourceNode[], key: string): string[] {
  return items.map((item) => {
    const name = nameOf(item);
    if (name !== null) return name;
    if (item.type !== "map") return scalarLabel(item) ?? key;
    const kind = kindOf(item);
    const siblings = items.filter(
      (other): other is MapNode => other.type === "map" && nameOf(other) === null && kindOf(other) === kind,
    );
    const differing = item.members.filter((each) => each.key !== "kind" && each.key !== "name" && differs(each, siblings));
    const parts = differing.map(({ value }) => scalarLabel(value)).filter((part) => part !== null);
    return [kind ?? (parts.length === 0 ? key : null), ...parts].filter((part) => part !== null).join("-");
  });
}

function differs({ key, value }: Member, siblings: readonly MapNode[]): boolean {
  const own = canonicalJson(toJson(value) ?? null);
  return siblings.some((sibling) => {
    const other = member(sibling, key);
    return other === undefined || canonicalJson(toJson(other.value) ?? null) !== own;
  });
}

/** The kind; of a user's own module the file's name without its ending. */
function kindOf(item: MapNode): string | null {
  const kind = member(item, "kind")?.value;
  if (kind?.type !== "scalar" || typeof kind.value !== "string" || kind.origin?.hidden === true) return null;
  const file = kind.value.slice(Math.max(kind.value.lastIndexOf("/"), kind.value.lastIndexOf("\\")) + 1);
  return file.replace(/\.(?:js|mjs|ts)$/, "");
}

/** A value as a part of a label; null where it has no short text or must not be shown. */
function scalarLabel(value: SourceNode): string | null {
  if (value.origin?.hidden === true) return null;
  if (value.type === "list") {
    const parts = value.items.map(scalarLabel);
    return parts.length === 0 || parts.includes(null) ? null : safeLabel(parts.join("-"), MAX_PART);
  }
  if (value.type !== "scalar") return null;
  return safeLabel(value.value === null ? "null" : value.text, MAX_PART);
}
