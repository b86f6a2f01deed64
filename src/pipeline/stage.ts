/** One stage as written: its members sorted out, their shapes checked, nothing put in and nothing looked up yet. */
import { nearest } from "../base/nearest.js";
import type { Mistakes, Span } from "./mistakes.js";
import { isReserved } from "./names.js";
import { splitReferences } from "./references.js";
import { type MapNode, type Member, placeOf, type SourceNode } from "./tree.js";
import { code, found, listed } from "./words.js";

const OPTION_KEYS = ["retry", "timeout", "concurrency", "resource", "allow_failures", "freshness"] as const;
const STAGE_KEYS = ["uses", "needs", "with", "matrix", ...OPTION_KEYS] as const;

interface Need {
  readonly name: string;
  readonly span: Span;
}

export interface RawStage {
  readonly name: string;
  readonly nameSpan: Span;
  /** null = missing or unreadable; reported. */
  readonly uses: { readonly kind: string; readonly span: Span } | null;
  /** Without duplicates and without itself. */
  readonly needs: readonly Need[];
  /** Where a missing need is reported. */
  readonly needsSpan: Span;
  /** False where a part of `needs` could not be read: what is missing can't be told. */
  readonly needsSound: boolean;
  /** Empty where the file has none; unknown where it could not be read. */
  readonly with: SourceNode;
  /** Where what concerns all of `with` is reported. */
  readonly withSpan: Span;
  readonly matrix: Member | null;
  readonly options: readonly Member[];
}

/**
 * Members by key. A key that is not valid is reported, and read as the valid one that it is nearest to if that is absent: what
 * stands below a misspelt `needs` is still what the stage needs, and complaints about missing needs would be noise.
 */
export function recogniseKeys(
  map: MapNode,
  valid: readonly string[],
  report: (member: Member, near: string | undefined) => void,
): ReadonlyMap<string, Member> {
  const members = new Map(map.members.filter(({ key }) => valid.includes(key)).map((each) => [each.key, each]));
  for (const each of map.members) {
    if (valid.includes(each.key)) continue;
    const near =
      nearest(
        each.key,
        valid.filter((key) => !members.has(key)),
      ) ?? nearest(each.key, valid);
    report(each, near);
    if (near !== undefined && !members.has(near)) members.set(near, each);
  }
  return members;
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const MAX_NAME = 64;

export function readStage({ key, keySpan, value }: Member, mistakes: Mistakes): RawStage | null {
  checkName(key, keySpan, mistakes);
  if (value.type === "unknown") return null;
  if (value.type !== "map") {
    mistakes.error(
      placeOf({ keySpan, value }),
      `the stage ${code(key)} must be a mapping with ${code("uses")}, found ${found(value)}`,
      "write `uses: KIND` below the stage's name",
    );
    return null;
  }
  const members = recogniseKeys(value, STAGE_KEYS, (each, near) => {
    const all = `a stage has ${listed(STAGE_KEYS, "and")}; options of its kind go under ${code("with")}`;
    const suggestion = near === undefined ? all : `did you mean ${code(near)}?`;
    mistakes.error(each.keySpan, `unknown key ${code(each.key)} in the stage ${code(key)}`, suggestion);
  });
  const needs = members.get("needs");
  const config = members.get("with");
  const { list, sound } = needs === undefined ? { list: [], sound: true } : readNeeds(key, needs, mistakes);
  return {
    name: key,
    nameSpan: keySpan,
    uses: readUses(key, keySpan, members.get("uses"), mistakes),
    needs: list,
    needsSpan: needs?.keySpan ?? keySpan,
    needsSound: sound,
    with: readWith(config, keySpan, mistakes),
    withSpan: config?.keySpan ?? keySpan,
    matrix: members.get("matrix") ?? null,
    options: OPTION_KEYS.flatMap((option) => {
      const each = members.get(option);
      return each === undefined ? [] : [{ ...each, key: option }];
    }),
  };
}

function checkName(name: string, span: Span, mistakes: Mistakes): void {
  if (!NAME.test(name) || name.endsWith(".")) {
    mistakes.error(
      span,
      `${code(name)} can't be the name of a stage`,
      "use letters, digits, _ - and . (names become parts of file names)",
    );
  } else if (name.length > MAX_NAME) {
    mistakes.error(span, `the name of the stage is longer than ${MAX_NAME} characters`, "choose a shorter one");
  } else if (isReserved(name)) {
    mistakes.error(span, `${code(name)} can't be a file name on Windows, hence not the name of a stage`, "choose another name");
  }
}

function readUses(stage: string, stageSpan: Span, uses: Member | undefined, mistakes: Mistakes): RawStage["uses"] {
  if (uses === undefined) {
    mistakes.error(stageSpan, `the stage ${code(stage)} does not say what it does`, "add `uses: KIND`");
    return null;
  }
  const { value, keySpan } = uses;
  if (value.type === "unknown") return null;
  if (value.type !== "scalar" || typeof value.value !== "string" || value.value === "") {
    mistakes.error(placeOf({ keySpan, value }), `${code("uses")}: expected the name of a stage kind, found ${found(value)}`);
    return null;
  }
  if (splitReferences(value.value).some(({ type }) => type !== "text")) {
    mistakes.error(value.span, `${code("uses")} can't hold a reference`, "write the stage kind out");
    return null;
  }
  return { kind: value.value, span: value.span };
}

function readNeeds(stage: string, { value, keySpan }: Member, mistakes: Mistakes): { list: Need[]; sound: boolean } {
  const written = value.type === "list" ? value.items : [value];
  const list: Need[] = [];
  const seen = new Set<string>();
  let sound = true;
  for (const item of written) {
    const span = item.span.end > item.span.start ? item.span : keySpan;
    if (item.type !== "scalar" || typeof item.value !== "string" || item.value === "") {
      sound = false;
      if (item.type === "unknown") continue;
      mistakes.error(
        span,
        `${code("needs")}: expected the name of a stage, found ${found(item)}`,
        "write `needs: stage` or `needs: [stage, stage]`",
      );
    } else if (item.value.includes("${")) {
      sound = false;
      mistakes.error(span, `${code("needs")} can't hold a reference`, "write the stage's name out");
    } else if (item.value === stage) {
      sound = false;
      mistakes.error(span, `the stage ${code(stage)} needs itself`, "remove it, or name the stage that you meant");
    } else if (seen.has(item.value)) {
      mistakes.error(span, `${code(item.value)} stands in ${code("needs")} twice`, "keep one of them");
    } else {
      seen.add(item.value);
      list.push({ name: item.value, span });
    }
  }
  return { list, sound };
}

function readWith(config: Member | undefined, stageSpan: Span, mistakes: Mistakes): SourceNode {
  const none: MapNode = { type: "map", span: config?.keySpan ?? stageSpan, members: [] };
  // `with:` whose members are all commented out is an empty mapping.
  if (config === undefined || (config.value.type === "scalar" && config.value.value === null)) return none;
  const { value } = config;
  if (value.type === "map" || value.type === "unknown") return value;
  if (value.type === "scalar" && typeof value.value === "string" && value.value.includes("${")) return value;
  mistakes.error(
    value.span,
    `${code("with")}: expected a mapping of options, found ${found(value)}`,
    "write `with: { option: value }`",
  );
  return { type: "unknown", span: value.span };
}
