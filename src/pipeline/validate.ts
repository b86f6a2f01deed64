/**
 * Validation of `with:` by the schema of the stage kind: the value with defaults filled in, or mistakes at their places.
 *
 * zod reports paths into the value; the tree from which the value was made knows where each part stands, be it in `with`, in a cell of
 * a matrix or in a reference.
 */
import type * as z from "zod";
import { canonicalJson, type Json } from "../base/json.js";
import { DEFAULT_MESSAGE, explainIssue } from "./issues.js";
import type { Mistakes, Span } from "./mistakes.js";
import { takesWritten } from "./schema-walk.js";
import { hasUnknown, type MapNode, type SourceNode, toJson } from "./tree.js";
import { code } from "./words.js";

export interface Validation {
  readonly schema: z.ZodType;
  /** Stage kind, for messages. */
  readonly kind: string;
  readonly root: MapNode;
  /** Where a missing member of `root` is reported: the key `with`, or the stage's name. */
  readonly home: Span;
  readonly mistakes: Mistakes;
}

/** More than the collector keeps; finding the place of each takes time. */
const MAX_ISSUES = 1000;

type Issues = readonly z.core.$ZodIssue[];

/** The configuration as plain JSON (members sorted: a moved key changes nothing), or null after reporting why there is none. */
export function validate(validation: Validation): Json | null {
  const { schema, kind, root, home, mistakes } = validation;
  const first = parse(validation, root);
  if (first === null) return null;
  let { result } = first;
  let tree = root;
  if (!result.success) {
    const value = toJson(root);
    const places = textPlaces(result.error.issues).map((path) => ({
      key: pathKey(path),
      written: takesWritten(schema, value, path),
    }));
    const reread = rereadAs(validation, places);
    // What is no better as text stays what it was, and its mistake speaks of that.
    const still = reread?.result.success === false ? textPlaces(reread.result.error.issues).map(pathKey) : [];
    const best =
      still.length === 0
        ? reread
        : rereadAs(
            validation,
            places.filter(({ key }) => !still.includes(key)),
          );
    if (best !== null) ({ result, tree } = best);
  }
  if (result.success) {
    if (hasUnknown(tree)) return null;
    try {
      return JSON.parse(canonicalJson(result.data ?? null)) as Json;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      mistakes.error(
        home,
        `the schema of ${code(kind)} makes a value that is not JSON: ${why}`,
        "this is a mistake in the stage kind's code",
      );
      return null;
    }
  }
  const context = { schema, root: tree, home, value: toJson(tree), mistakes };
  for (const issue of result.error.issues.slice(0, MAX_ISSUES)) explainIssue(issue, [], context);
  return null;
}

function parse({ schema, kind, home, mistakes }: Validation, tree: SourceNode) {
  try {
    return { result: schema.safeParse(toJson(tree), { error: () => DEFAULT_MESSAGE }) };
  } catch (error) {
    // A user's own stage kind may throw in a refinement, or have an asynchronous one.
    const why = error instanceof Error ? error.message : String(error);
    mistakes.error(
      home,
      `the schema of ${code(kind)} could not be applied: ${why}`,
      "this is a mistake in the stage kind's code",
    );
    return null;
  }
}

/** The same with the values at `places` as the text that they were written as; null where there are none such. */
function rereadAs(validation: Validation, places: readonly TextPlace[]) {
  const tree = readAsText(validation.root, new Map(places.map(({ key, written }) => [key, written])));
  const parsed = tree === validation.root ? null : parse(validation, tree);
  return parsed === null ? null : { result: parsed.result, tree };
}

interface TextPlace {
  readonly key: string;
  /** The schema takes what was written there, whatever YAML makes of it. */
  readonly written: boolean;
}

/** Paths where text was wanted and something else came. */
function textPlaces(issues: Issues, base: readonly PropertyKey[] = []): PropertyKey[][] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.code === "invalid_union") return issue.errors.flatMap((inner) => textPlaces(inner, path));
    const wanted =
      issue.code === "invalid_type"
        ? issue.expected === "string"
        : issue.code === "invalid_value" || issue.code === "invalid_format";
    return wanted ? [path] : [];
  });
}

function pathKey(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}

/**
 * `--set revision=12e5` is a number in YAML and a revision in the person's mind: what was typed on the command line and is refused
 * as a number is tried as the text that it was. Values in the file are not, where the schema does not ask for it
 * (`writtenText`): there, quotes are easy and seen by all.
 */
function readAsText<Node extends SourceNode>(node: Node, places: ReadonlyMap<string, boolean>, path?: readonly string[]): Node;
function readAsText(node: SourceNode, places: ReadonlyMap<string, boolean>, path: readonly string[] = []): SourceNode {
  if (places.size === 0) return node;
  if (node.type === "scalar") {
    const written = places.get(pathKey(path));
    const fits = written !== undefined && (written || node.origin?.typed === true);
    return fits && typeof node.value !== "string" && node.value !== null ? { ...node, value: node.text } : node;
  }
  if (node.type === "list") {
    const items = node.items.map((item, index) => readAsText(item, places, [...path, String(index)]));
    return items.some((item, index) => item !== node.items[index]) ? { ...node, items } : node;
  }
  if (node.type === "map") {
    const members = node.members.map((each) => ({ ...each, value: readAsText(each.value, places, [...path, each.key]) }));
    return members.some((each, index) => each.value !== node.members[index]?.value) ? { ...node, members } : node;
  }
  return node;
}
