/**
 * Holds what the local server is asked by REST, and what it answers, against GitHub's published description (`test/data/github-openapi.json`).
 *
 * Requests: the path, each parameter's name and value. Answers: each member that is sent must be one that GitHub sends, of a type that it may
 * have. A recording knows the facts that decide and not each of the hundred members of an answer, so that none is demanded.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";

interface Operation {
  readonly path: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly response: Schema;
}
type Schema = { readonly [member: string]: unknown };

/** A timeline's events, by the event that they tell: the description lists kinds of events of which many look alike. */
const EVENT_SCHEMAS: Readonly<Record<string, string>> = {
  "cross-referenced": "timeline-cross-referenced-event",
  commented: "timeline-comment-event",
  labeled: "labeled-issue-event",
  renamed: "renamed-issue-event",
};
const OTHER_EVENTS = "state-change-issue-event";
/** What a recording may send though REST does not: the pull request of a connection, which live only GraphQL names. */
const TOLD_BY_RECORDINGS = new Set(["connected", "disconnected"]);

interface Description {
  readonly ajv: Ajv;
  readonly operations: readonly (Operation & { readonly pattern: RegExp })[];
  readonly validators: Map<string, ValidateFunction>;
}
let description: Description | undefined;

function described(): Description {
  if (description !== undefined) return description;
  const file = JSON.parse(readFileSync(join(import.meta.dirname, "../data/github-openapi.json"), "utf8")) as {
    operations: Operation[];
    components: { schemas: Record<string, Schema> };
  };
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: false });
  const schemas = Object.fromEntries(Object.entries(file.components.schemas).map(([name, schema]) => [name, jsonSchema(schema)]));
  ajv.addSchema({ $id: "github", components: { schemas } });
  const operations = file.operations.map((operation) => ({
    ...operation,
    pattern: new RegExp(`^${operation.path.replace(/\{[a-z_]+\}/g, "([^/]+)")}$`),
  }));
  description = { ajv, operations, validators: new Map() };
  return description;
}

/** OpenAPI 3.0's `nullable` in JSON Schema's words; nothing is demanded, and what is not named is not allowed. */
function jsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(jsonSchema);
  if (typeof value !== "object" || value === null) return value;
  const { nullable, required: _, ...rest } = value as Schema;
  const converted: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).map(([name, member]) => [
      name,
      name === "properties"
        ? Object.fromEntries(Object.entries(member as Schema).map(([property, schema]) => [property, jsonSchema(schema)]))
        : name === "$ref"
          ? String(member).replace("#/", "github#/")
          : jsonSchema(member),
    ]),
  );
  const isPlain =
    converted.type === "object" && converted.properties !== undefined && converted.additionalProperties === undefined;
  if (isPlain && converted.allOf === undefined && converted.anyOf === undefined && converted.oneOf === undefined) {
    converted.additionalProperties = false;
  }
  return nullable === true ? { anyOf: [converted, { type: "null" }] } : converted;
}

function check(schema: Schema, value: unknown): string | null {
  const { ajv, validators } = described();
  const key = JSON.stringify(schema);
  const validate = validators.get(key) ?? ajv.compile(jsonSchema(schema) as Schema);
  validators.set(key, validate);
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

/** Mistakes of one exchange; empty where GitHub's description allows it. `path`: with its query. */
export function openapiMistakes(path: string, answer: { readonly status: number; readonly body: string }): string[] {
  const url = new URL(path, "http://server");
  const operation = described().operations.find(({ pattern }) => pattern.test(url.pathname));
  if (operation === undefined) return [`${url.pathname} is no path that GitHub describes`];
  const mistakes: string[] = [];
  const said = (what: string) => mistakes.push(`GET ${path}: ${what}`);
  const names = [...operation.path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name ?? "");
  const values = operation.pattern.exec(url.pathname)?.slice(1) ?? [];
  const given = [
    ...names.map((name, index) => ({ name, in: "path", value: decodeURIComponent(values[index] ?? "") })),
    ...[...url.searchParams].map(([name, value]) => ({ name, in: "query", value })),
  ];
  for (const { name, in: where, value } of given) {
    const parameter = operation.parameters.find((one) => one.name === name && one.in === where);
    if (parameter === undefined) said(`there is no ${where} parameter ${name}`);
    else {
      const typed = parameter.schema.type === "integer" && /^-?\d+$/.test(value) ? Number(value) : value;
      const wrong = check(parameter.schema, typed);
      if (wrong !== null) said(`${name}=${value}: ${wrong}`);
    }
  }
  if (answer.status !== 200) return mistakes;
  const body: unknown = JSON.parse(answer.body);
  if (operation.path.endsWith("/timeline") && Array.isArray(body)) {
    for (const event of body as { event: string; source?: unknown }[]) {
      const { source, ...rest } = event;
      const told = TOLD_BY_RECORDINGS.has(event.event) ? rest : { ...rest, ...(source === undefined ? {} : { source }) };
      const wrong = check({ $ref: `#/components/schemas/${EVENT_SCHEMAS[event.event] ?? OTHER_EVENTS}` }, told);
      if (wrong !== null) said(`event ${event.event}: ${wrong}`);
    }
  } else {
    const wrong = check(operation.response, body);
    if (wrong !== null) said(wrong);
  }
  return mistakes;
}
