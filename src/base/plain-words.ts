/**
 * What is wrong with a record of a file, in plain words: "`response` is missing", "`id` is empty". A validator's own sentences ("Invalid input:
 * expected string, received undefined") speak to programmers; the people who read these made a file.
 */
import type * as z from "zod";
import { visible } from "./diagnostics.js";

/** Where a record stands. `record`: 1-based among the records; `line`: 1-based, absent where the file has no line of its own for it. */
export interface RecordPlace {
  readonly record: number;
  readonly line?: number | undefined;
}

/** `record 2 (line 3)`. */
export function recordPlace({ record, line }: RecordPlace): string {
  return `record ${record}${line === undefined ? "" : ` (line ${line})`}`;
}

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** The first problem of the validated `value`, and how many more there are. Names and values from the file are cut and safe to print. */
export function firstProblem(error: z.ZodError, value: unknown): string {
  const [first] = error.issues;
  if (first === undefined) return "it can't be used";
  // Several rules may speak of one value: places are counted.
  const places = new Set(error.issues.map(({ path }) => JSON.stringify(path.map(String)))).size;
  const more = places > 1 ? ` (and ${places - 1} more)` : "";
  return `${problem(first, [], value)}${more}`;
}

const MOST_PLACE = 120;
const MOST_VALUE = 40;

function problem(issue: Issue, base: Path, value: unknown): string {
  const path = [...base, ...issue.path];
  const found = valueAt(value, path);
  const place = path.length === 0 ? "the record" : `\`${placeOf(path)}\``;
  if (found === undefined && issue.code !== "custom" && path.length > 0) return `${place} is missing`;
  switch (issue.code) {
    case "invalid_type":
      return `${place} must be ${TYPES[issue.expected] ?? visible(issue.expected)}, and is ${shown(found)}`;
    case "too_small":
      if (issue.origin === "string" && found === "") return `${place} is empty`;
      return `${place} must ${bound(issue.origin, issue.minimum, issue.inclusive === false ? "more than" : "at least")}, and ${measured(found)}`;
    case "too_big":
      return `${place} must ${bound(issue.origin, issue.maximum, issue.inclusive === false ? "less than" : "at most")}, and ${measured(found)}`;
    case "invalid_value":
      return `${place} must be ${choice(issue.values)}, and is ${shown(found)}`;
    case "unrecognized_keys":
      return `${place} has members that are not known: ${issue.keys.slice(0, 5).map(quoted).join(", ")}`;
    case "invalid_union":
      return union(issue, path, place, value, found);
    case "invalid_key":
      return `${place} is not a name that may stand there`;
    case "invalid_format":
      return `${place} does not have the right form: ${shown(found)}`;
    case "custom":
      return `${place}: ${visible(issue.message)}`;
    default:
      return `${place} can't be used: ${shown(found)}`;
  }
}

/** The form that was meant is the one that takes a value of this type; where none does, all that would be right. */
function union(issue: Issue & { code: "invalid_union" }, path: Path, place: string, value: unknown, found: unknown): string {
  const isWrongType = (each: Issue) => each.path.length === 0 && each.code === "invalid_type";
  const meant = issue.errors.find((branch) => branch.length > 0 && !branch.some(isWrongType))?.[0];
  if (meant !== undefined) return problem(meant, path, value);
  const types = issue.errors.flatMap((branch) => branch.flatMap((each) => (each.code === "invalid_type" ? [each.expected] : [])));
  const wanted = [...new Set(types.map((type) => TYPES[type] ?? visible(type)))].join(" or ");
  return wanted === "" ? `${place} can't be used: ${shown(found)}` : `${place} must be ${wanted}, and is ${shown(found)}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  tuple: "a list",
  null: "null",
};

function bound(origin: string, limit: number | bigint, how: string): string {
  if (origin === "string") return `have ${how} ${limit} ${limit === 1 ? "character" : "characters"}`;
  if (origin === "array" || origin === "set") return `have ${how} ${limit} ${limit === 1 ? "item" : "items"}`;
  return `be ${how} ${limit}`;
}

function measured(found: unknown): string {
  if (typeof found === "string" || Array.isArray(found)) return `has ${found.length}`;
  return `is ${shown(found)}`;
}

function choice(values: readonly unknown[]): string {
  const texts = values.map((one) => (typeof one === "string" ? quoted(one) : String(one)));
  return texts.length === 1 ? (texts[0] ?? "") : `one of ${texts.join(", ")}`;
}

function shown(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value === "" ? "empty" : `the text ${quoted(value)}`;
  if (typeof value === "number") return `the number ${value}`;
  return typeof value === "boolean" ? String(value) : "an object";
}

function quoted(text: string): string {
  return JSON.stringify(visible(text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE - 1)}…` : text));
}

/** `linked_merged_pull_requests[2].number`. */
function placeOf(path: Path): string {
  const place = path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${String(step)}`))
    .join("");
  return visible(place.length > MOST_PLACE ? `${place.slice(0, MOST_PLACE - 1)}…` : place).replaceAll("`", "'");
}

function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = Reflect.get(found, step);
  }
  return found;
}
