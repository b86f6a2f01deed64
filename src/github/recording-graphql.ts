/**
 * Executes a GraphQL query over a recording's graph, without a schema: the queries are our own, and tests execute the same ones over the same
 * graph by GitHub's published schema. Only what they use is here: fields with arguments and aliases, fragments, variables.
 */
import { type FieldNode, type FragmentDefinitionNode, Kind, parse, type SelectionSetNode, type ValueNode } from "graphql";
import { isFields } from "./fields.js";
import type { GraphObject } from "./recording-graph.js";

interface QueryError {
  readonly type: string;
  readonly path: readonly (string | number)[];
  readonly message: string;
}

interface Execution {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly errors: QueryError[];
}

/** `body`: of the POST, `{ query, variables }`. */
export function executeQuery(root: GraphObject, body: string): { data: unknown; errors?: readonly QueryError[] } {
  const request: unknown = JSON.parse(body);
  if (!isFields(request) || typeof request.query !== "string")
    return { data: null, errors: [{ type: "parseError", path: [], message: "a query was expected" }] };
  const document = parse(request.query);
  const fragments = new Map(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [])),
  );
  const operation = document.definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) return { data: null, errors: [{ type: "parseError", path: [], message: "no operation" }] };
  const execution: Execution = { fragments, variables: isFields(request.variables) ? request.variables : {}, errors: [] };
  const data = select(root, operation.selectionSet, [], execution);
  return execution.errors.length === 0 ? { data } : { data, errors: execution.errors };
}

function select(from: GraphObject, set: SelectionSetNode, path: readonly (string | number)[], execution: Execution): object {
  const selected: Record<string, unknown> = {};
  for (const field of fieldsOf(from, set, execution)) {
    const name = (field.alias ?? field.name).value;
    const value = resolve(from, field, [...path, name], execution);
    const before = selected[name];
    // The same field twice (by two fragments): what both select belongs together.
    selected[name] = isFields(before) && isFields(value) ? { ...before, ...value } : value;
  }
  return selected;
}

function* fieldsOf(from: GraphObject, set: SelectionSetNode, execution: Execution): Generator<FieldNode> {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      yield selection;
      continue;
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? execution.fragments.get(selection.name.value) : selection;
    const on = fragment?.typeCondition?.name.value;
    if (fragment !== undefined && (on === undefined || on === from.__typename || UNIONS.has(on)))
      yield* fieldsOf(from, fragment.selectionSet, execution);
  }
}

/** Abstract types on which our fragments stand: whoever reaches them is of one. */
const UNIONS = new Set(["ReferencedSubject"]);

function resolve(from: GraphObject, field: FieldNode, path: readonly (string | number)[], execution: Execution): unknown {
  const given = Object.fromEntries((field.arguments ?? []).map(({ name, value }) => [name.value, argumentOf(value, execution)]));
  const member = from[field.name.value];
  try {
    return complete(typeof member === "function" ? member(given) : member, field.selectionSet, path, execution);
  } catch (error) {
    if (!(error instanceof Error && "extensions" in error && isFields(error.extensions))) throw error;
    execution.errors.push({ type: String(error.extensions.type), path, message: error.message });
    return null;
  }
}

function complete(
  value: unknown,
  set: SelectionSetNode | undefined,
  path: readonly (string | number)[],
  execution: Execution,
): unknown {
  if (Array.isArray(value)) return value.map((element, index) => complete(element, set, [...path, index], execution));
  if (set === undefined || !isFields(value)) return value ?? null;
  return select(value, set, path, execution);
}

function argumentOf(node: ValueNode, execution: Execution): unknown {
  switch (node.kind) {
    case Kind.VARIABLE:
      return execution.variables[node.name.value];
    case Kind.INT:
      return Number(node.value);
    case Kind.LIST:
      return node.values.map((value) => argumentOf(value, execution));
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, argumentOf(value, execution)]));
    case Kind.NULL:
      return null;
    default:
      return node.value;
  }
}
