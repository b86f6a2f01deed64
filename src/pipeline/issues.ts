/** zod's issues in plain words, each at the place of the value that a person can mend. */
import type * as z from "zod";
import { nearest } from "../base/nearest.js";
import type { Mistakes, Span } from "./mistakes.js";
import { keysAt, literalsAt } from "./schema-walk.js";
import { hasUnknown, type MapNode, type Member, member, type SourceNode } from "./tree.js";
import { code, found, listed, quoted } from "./words.js";

/** What zod is told to say where a schema has no message of its own; such an issue gets its words here. */
export const DEFAULT_MESSAGE = "\u0000";

export interface IssueContext {
  readonly schema: z.ZodType;
  readonly root: MapNode;
  readonly home: Span;
  readonly value: unknown;
  readonly mistakes: Mistakes;
}
type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

interface Located {
  /** The value; undefined where nothing stands. */
  readonly node: SourceNode | undefined;
  readonly keySpan: Span | undefined;
  /** Where something missing is reported. */
  readonly holder: Span;
  /** On the way there is a value whose own mistake has been reported. */
  readonly unknown: boolean;
}

function locate({ root, home }: IssueContext, path: Path): Located {
  let node: SourceNode | undefined = root;
  let keySpan: Span | undefined;
  let holder = home;
  for (const step of path) {
    if (node === undefined) break;
    if (node.type === "unknown") return { node, keySpan, holder, unknown: true };
    if (node !== root) holder = keySpan ?? node.span;
    keySpan = undefined;
    if (node.type === "map") {
      const hit: Member | undefined = member(node, String(step));
      keySpan = hit?.valueSpan ?? hit?.keySpan;
      node = hit?.value;
    } else node = node.type === "list" ? node.items[Number(step)] : undefined;
  }
  return { node, keySpan, holder, unknown: node?.type === "unknown" };
}

/** Reports one issue; `base` is the path of the union branch that it was found in. */
export function explainIssue(issue: Issue, base: Path, context: IssueContext): void {
  const path = [...base, ...issue.path];
  const located = locate(context, path);
  if (located.unknown) return;
  if (issue.code === "unrecognized_keys") {
    explainKeys(issue.keys, path, located, context);
    return;
  }
  // A rule about several values can't be judged while one of them is unknown.
  if (issue.code === "custom" && located.node !== undefined && hasUnknown(located.node)) return;
  if (issue.code === "invalid_union") {
    explainUnion(issue, path, located, context);
    return;
  }
  const { node } = located;
  const span = node === undefined ? located.holder : node === context.root ? context.home : spanOf(node, located);
  const subject = subjectOf(path);
  if (issue.message !== DEFAULT_MESSAGE) {
    const suggestion = issue.code === "custom" ? issue.params?.suggestion : undefined;
    const text = subject === null ? issue.message : `${subject}: ${issue.message}`;
    context.mistakes.error(span, text, typeof suggestion === "string" ? suggestion : undefined);
    return;
  }
  const wanted = expectation(issue);
  if (issue.code === "invalid_key") {
    const [inner] = issue.issues;
    const form = inner === undefined ? null : inner.message === DEFAULT_MESSAGE ? expectation(inner) : inner.message;
    context.mistakes.error(
      located.keySpan ?? span,
      `the key ${subject} is not valid${form === null ? "" : `: expected ${form}`}`,
    );
    return;
  }
  if (node === undefined) {
    context.mistakes.error(span, `${subject ?? "`with`"} is missing: expected ${wanted}`, missingAdvice(path, issue, context));
    return;
  }
  const message = wanted === null ? `${found(node)} is not valid here` : `expected ${wanted}, found ${found(node)}`;
  context.mistakes.error(span, subject === null ? message : `${subject}: ${message}`, typeAdvice(issue, node));
}

/** A mapping or list is pointed at by its key: its own text may be long, and is not what is wrong. */
function spanOf(node: SourceNode, located: Located): Span {
  if (located.keySpan === undefined) return node.span;
  const empty = node.span.end === node.span.start;
  return node.type === "map" || empty ? located.keySpan : node.span;
}

function subjectOf(path: Path): string | null {
  const last = path.at(-1);
  if (last === undefined) return null;
  if (typeof last !== "number") return code(String(last));
  const list = path.findLast((step) => typeof step !== "number");
  return list === undefined ? `item ${last + 1}` : `item ${last + 1} of ${code(String(list))}`;
}

function missingAdvice(path: Path, issue: Issue, context: IssueContext): string | undefined {
  const key = path.at(-1);
  if (typeof key !== "string") return undefined;
  // Where a key is missing and an unknown one looks like it, the unknown key's own mistake says so.
  const choices = literalsAt(context.schema, context.value, path);
  if (issue.code === "invalid_value" || choices.length === 0) return `add ${code(`${key}: …`)}`;
  return `add ${code(`${key}: ${String(choices[0])}`)} or another of ${listed(choices.map(String))}`;
}

function explainKeys(keys: readonly string[], path: Path, located: Located, context: IssueContext): void {
  const known = keysAt(context.schema, context.value, path);
  const members = new Map(located.node?.type === "map" ? located.node.members.map((each) => [each.key, each]) : []);
  const free = known.filter((candidate) => !members.has(candidate));
  for (const key of keys) {
    const at = members.get(key);
    // A slip most likely stands for an option that is absent.
    const near = nearest(key, free) ?? nearest(key, known);
    const where = path.length === 0 ? "" : ` in ${subjectOf(path)}`;
    const others = known.length === 0 ? "no options are allowed here" : `there are ${listed(known, "and")}`;
    const suggestion = near === undefined ? others : `did you mean ${code(near)}?`;
    context.mistakes.error(at?.keySpan ?? located.keySpan ?? located.holder, `unknown option ${code(key)}${where}`, suggestion);
  }
}

function explainUnion(issue: Issue & { code: "invalid_union" }, path: Path, located: Located, context: IssueContext): void {
  const { node } = located;
  const span = node === undefined ? located.holder : spanOf(node, located);
  const subject = subjectOf(path);
  const say = (text: string, suggestion?: string): void =>
    context.mistakes.error(span, subject === null ? text : `${subject}: ${text}`, suggestion);
  if (issue.message !== DEFAULT_MESSAGE) {
    say(issue.message);
    return;
  }
  if (issue.discriminator !== undefined && issue.errors.length === 0) {
    const options = literalsAt(context.schema, context.value, path).map(String);
    if (node === undefined) {
      context.mistakes.error(span, `${subject} is missing`, `add ${code(`${issue.discriminator}: …`)}: ${listed(options)}`);
      return;
    }
    const near = node.type === "scalar" && typeof node.value === "string" ? nearest(node.value, options) : undefined;
    context.mistakes.error(
      span,
      `there is no ${code(issue.discriminator)} ${shown(node)}`,
      near === undefined ? `there are ${listed(options, "and")}` : `did you mean ${code(near)}?`,
    );
    return;
  }
  if (issue.errors.length === 0) {
    say("fits several forms, and must fit one");
    return;
  }
  // The branch that the person meant: one that takes a value of this type,
  // with its literal members (`kind: …`), and of those the one with least to mend.
  const fitting = issue.errors.filter((inner) => !inner.some((each) => each.path.length === 0 && isTypeIssue(each)));
  const wrongLiterals = (inner: readonly Issue[]): number =>
    inner.filter((each) => each.code === "invalid_value" && each.values.length === 1).length;
  const [best] = [...fitting].sort((a, b) => wrongLiterals(a) - wrongLiterals(b) || a.length - b.length);
  if (best !== undefined && node !== undefined) {
    for (const inner of best) explainIssue(inner, path, context);
    return;
  }
  const wanted = [...new Set(issue.errors.flatMap((inner) => inner.filter((each) => each.path.length === 0).map(expectation)))]
    .filter((each) => each !== null)
    .join(", or ");
  if (node === undefined) {
    context.mistakes.error(span, `${subject} is missing: expected ${wanted}`, `add ${code(`${String(path.at(-1))}: …`)}`);
    return;
  }
  const literals = issue.errors.flatMap((inner) =>
    inner.flatMap((each) => (each.code === "invalid_value" ? each.values.map(String) : [])),
  );
  const near = node.type === "scalar" && typeof node.value === "string" ? nearest(node.value, literals) : undefined;
  say(`expected ${wanted}, found ${found(node)}`, near === undefined ? undefined : `did you mean ${code(near)}?`);
}

function shown(node: SourceNode): string {
  return node.type === "scalar" && node.origin?.hidden !== true ? quoted(node.text) : found(node);
}

function isTypeIssue(issue: Issue): boolean {
  return issue.code === "invalid_type" || issue.code === "invalid_value";
}

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  bigint: "a whole number",
  boolean: "true or false",
  object: "a mapping",
  record: "a mapping",
  map: "a mapping",
  array: "a list",
  tuple: "a list",
  set: "a list",
  null: "null",
  undefined: "nothing",
  never: "nothing",
  nonoptional: "a value",
};

const FORMATS: Readonly<Record<string, string>> = {
  url: "a URL (https://…)",
  email: "an e-mail address",
  datetime: "a time such as 2026-01-31T12:00:00Z",
  date: "a date such as 2026-01-31",
  uuid: "a UUID",
};

/** What would be right, or null where zod does not say. */
function expectation(issue: Issue): string | null {
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] ?? issue.expected;
    case "invalid_value":
      return issue.values.length === 1 ? JSON.stringify(issue.values[0]) : `one of ${listed(issue.values.map(String))}`;
    case "too_small":
      return bound(issue.origin, issue.minimum, issue.inclusive !== false ? "at least" : "more than", issue.exact === true);
    case "too_big":
      return bound(issue.origin, issue.maximum, issue.inclusive !== false ? "at most" : "less than", issue.exact === true);
    case "not_multiple_of":
      return `a multiple of ${issue.divisor}`;
    case "invalid_format":
      return issue.format === "regex"
        ? `text of the form ${issue.pattern}`
        : (FORMATS[issue.format] ?? `text in the format ${code(issue.format)}`);
    default:
      return null;
  }
}

function bound(origin: string, limit: number | bigint, how: string, exact: boolean): string {
  const amount = exact ? `exactly ${limit}` : `${how} ${limit}`;
  if (origin === "string") return limit === 1 && how === "at least" ? "text that is not empty" : `text of ${amount} characters`;
  if (origin === "array" || origin === "set") return `a list of ${amount} item${limit === 1 ? "" : "s"}`;
  if (origin === "object" || origin === "map") return `a mapping of ${amount} members`;
  if (how === "more than") return `a number greater than ${limit}`;
  return `a number of ${amount}`;
}

function typeAdvice(issue: Issue, node: SourceNode): string | undefined {
  if (node.type !== "scalar") return undefined;
  const { value } = node;
  if (issue.code === "invalid_value" && typeof value === "string") {
    const near = nearest(value, issue.values.map(String));
    return near === undefined ? undefined : `did you mean ${code(near)}?`;
  }
  if (issue.code !== "invalid_type") return undefined;
  const written = node.origin === undefined;
  if (issue.expected === "string" && written && (typeof value === "number" || typeof value === "boolean"))
    return `put it in quotes: "${node.text}"`;
  if (issue.expected === "array" && written && value !== null)
    return `write it as a list: [${node.text.length > 40 ? "…" : node.text}]`;
  if (typeof value !== "string") return undefined;
  if ((issue.expected === "number" || issue.expected === "int") && /^[+-]?[0-9]+(?:\.[0-9]+)?$/.test(value)) {
    return written
      ? "write it without quotes"
      : "environment variables and quoted values are text; use a parameter with a number";
  }
  if (issue.expected === "boolean" && /^(?:yes|no|on|off|true|false)$/i.test(value)) return "write true or false, without quotes";
  return undefined;
}
