/**
 * The JSON Schema of pipeline files, for completion and checks in editors (yaml-language-server reads draft-07).
 *
 * Generated from the same zod schemas as the check. It is the looser of the two: where a value may be a reference any text with `${` passes,
 * and what only the graph can tell (needs, cycles, cells) is left to `bench`.
 */
import * as z from "zod";
import { withoutMark } from "../base/written-text.js";
import type { StageKindInfo } from "./model.js";

type Schema = { readonly [keyword: string]: unknown };

const REFERENCE: Schema = { type: "string", pattern: "\\$\\{" };
const MODULE: Schema = {
  type: "string",
  pattern: "^\\.{1,2}/|\\.(js|mjs|ts)$",
  description: "A module of your own, by its path relative to this file.",
};
const DURATION: Schema = {
  anyOf: [{ type: "number", exclusiveMinimum: 0 }, { type: "string", pattern: "^[0-9]+(\\.[0-9]+)?(s|m|h|d)$" }, REFERENCE],
};

/** Draft-07. Definitions are named after the kinds. */
export function pipelineJsonSchema(kinds: ReadonlyMap<string, StageKindInfo>): object {
  const definitions: Record<string, unknown> = {};
  const choices: Schema[] = [];
  const rules: Schema[] = [];
  for (const kind of kinds.values()) {
    const config = configSchema(kind, definitions);
    definitions[`with ${kind.kind}`] = config.loose;
    choices.push({ const: kind.kind, description: kind.summary });
    rules.push(kindRule(kind, config));
  }
  definitions.stage = stageSchema(choices, rules);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "bench pipeline",
    description: "A benchmark pipeline: parameters, and stages that need one another.",
    type: "object",
    additionalProperties: false,
    required: ["stages"],
    properties: {
      name: { type: "string", description: "Default: the file's name without its ending." },
      params: {
        type: ["object", "null"],
        description: `Parameters: used as \${params.NAME}, set with --set NAME=VALUE. One without a value (null) must be set.`,
        propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_-]*$" },
      },
      stages: {
        type: "object",
        description: "Stages by name.",
        minProperties: 1,
        propertyNames: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]*$", maxLength: 64 },
        additionalProperties: { $ref: "#/definitions/stage" },
      },
    },
    definitions,
  };
}

function stageSchema(choices: readonly Schema[], rules: readonly Schema[]): Schema {
  return {
    type: "object",
    additionalProperties: false,
    required: ["uses"],
    properties: {
      uses: { description: "The kind of the stage.", anyOf: [...choices, MODULE] },
      needs: {
        description: "The stages whose output it takes.",
        anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, uniqueItems: true }],
      },
      with: { description: "Options of the stage's kind.", type: ["object", "null", "string"] },
      matrix: {
        description: "Lists of values: the stage is done once for each combination.",
        type: "object",
        minProperties: 1,
        additionalProperties: { anyOf: [{ type: "array", minItems: 1 }, REFERENCE] },
      },
      retry: option("Attempts after the first for failures worth retrying.", { type: "integer", minimum: 0 }, 2),
      timeout: { description: "Longest time for one unit: seconds, or 90s, 15m, 1h, 1d.", ...DURATION },
      concurrency: option("Units at once.", { type: "integer", minimum: 1 }),
      resource: { description: "Name of a limited resource that is shared with other stages.", type: "string" },
      allow_failures: option(
        'Units that may fail: a count, or a share such as "5%".',
        {
          anyOf: [
            { type: "integer", minimum: 0 },
            { type: "string", pattern: "^[0-9]+(\\.[0-9]+)? ?%$" },
          ],
        },
        0,
      ),
      freshness: option(
        "How long what was fetched stays fresh.",
        { anyOf: [{ enum: ["pinned", "always"] }, DURATION] },
        "pinned",
      ),
    },
    allOf: rules,
  };
}

function option(description: string, schema: Schema, byDefault?: unknown): Schema {
  return { description, ...(byDefault === undefined ? {} : { default: byDefault }), anyOf: [schema, REFERENCE] };
}

interface ConfigSchema {
  /** Without required options: with a matrix they may stand there. */
  readonly loose: Schema;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

function kindRule(kind: StageKindInfo, config: ConfigSchema): Schema {
  const { required, properties } = config;
  const lists = Object.entries(properties).map(([key, schema]) => [
    key,
    { anyOf: [{ type: "array", minItems: 1, items: labelled(schema) }, REFERENCE] },
  ]);
  const then: Record<string, unknown> = {
    properties: {
      with: { anyOf: [{ $ref: `#/definitions/${pointer(`with ${kind.kind}`)}` }, { type: "null" }, REFERENCE] },
      ...(lists.length === 0 ? {} : { matrix: { properties: Object.fromEntries(lists) } }),
      ...(kind.fetches === true ? {} : { freshness: false }),
    },
  };
  if (required.length > 0) {
    const complete = { required: ["with"], properties: { with: { anyOf: [{ type: "object", required }, REFERENCE] } } };
    then.anyOf = [{ required: ["matrix"] }, complete];
  }
  return { if: { properties: { uses: { const: kind.kind } }, required: ["uses"] }, then };
}

/** A cell may have a `name:`, its label, whatever the schema says. */
function labelled(schema: unknown): unknown {
  if (!isSchema(schema)) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      ["anyOf", "allOf"].includes(keyword) && Array.isArray(value) ? value.map(labelled) : value,
    ]),
  );
  if (!isSchema(inner.properties) || "name" in inner.properties) return inner;
  return { ...inner, properties: { name: { type: "string", description: "Label of the cell." }, ...inner.properties } };
}

function configSchema(kind: StageKindInfo, definitions: Record<string, unknown>): ConfigSchema {
  let generated: Schema;
  try {
    generated = z.toJSONSchema(kind.config, { io: "input", target: "draft-7", unrepresentable: "any" }) as Schema;
  } catch {
    // A user's own kind may hold what has no JSON Schema; the editor then leaves `with` to the check.
    generated = {};
  }
  const { $schema: _, definitions: inner, ...root } = generated;
  const prefix = `${kind.kind} `;
  const self = `with ${kind.kind}`;
  for (const [name, schema] of Object.entries(isSchema(inner) ? inner : {}))
    definitions[`${prefix}${name}`] = convert(schema, prefix, self);
  const converted = convertKeywords(root, prefix, self);
  const { required, ...loose } = converted;
  return {
    loose: { description: kind.summary, ...loose },
    required: Array.isArray(required) ? required.map(String) : [],
    properties: isSchema(converted.properties) ? converted.properties : {},
  };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As a part of a JSON pointer in a URI fragment. */
function pointer(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** Takes a reference where the schema itself would not take any text; the description stays where editors look for it. */
function convert(schema: unknown, prefix: string, self: string): unknown {
  if (!isSchema(schema)) return schema;
  const written = withoutMark(schema);
  if (written !== null) return { ...written, type: ["string", "number", "boolean"] };
  const { description, default: byDefault, ...rest } = convertKeywords(schema, prefix, self);
  const keywords = Object.keys(rest);
  const takesAnyText = keywords.length === 0 || (keywords.length === 1 && rest.type === "string");
  const notes = {
    ...(description === undefined ? {} : { description }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
  };
  if (takesAnyText) return { ...notes, ...rest };
  const own = Array.isArray(rest.anyOf) && keywords.length === 1 ? rest.anyOf : [rest];
  const others = isChoiceOfKinds(own) ? [OWN_KIND] : [];
  return { ...notes, anyOf: [...own, ...others, REFERENCE] };
}

/** Where kinds are told apart by `kind`, a module of one's own may stand, with options that only it knows. */
const OWN_KIND: Schema = { type: "object", required: ["kind"], properties: { kind: MODULE } };

function isChoiceOfKinds(choices: readonly unknown[]): boolean {
  return choices.length > 1 && choices.every((one) => isSchema(one) && isSchema(one.properties) && "kind" in one.properties);
}

function convertKeywords(schema: Schema, prefix: string, self: string): Record<string, unknown> {
  const inner = (value: unknown): unknown => convert(value, prefix, self);
  const bare = (value: unknown): unknown => (isSchema(value) ? convertKeywords(value, prefix, self) : value);
  const converted: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    switch (keyword) {
      case "properties":
        converted.properties = Object.fromEntries(
          Object.entries(isSchema(value) ? value : {}).map(([key, each]) => [key, inner(each)]),
        );
        break;
      case "items":
        converted.items = Array.isArray(value) ? value.map(inner) : inner(value);
        break;
      case "additionalProperties":
      case "additionalItems":
        converted[keyword] = inner(value);
        break;
      // Exactly one branch would match no more when `kind` is a reference that fits each of them.
      case "oneOf":
      case "anyOf":
        converted.anyOf = Array.isArray(value) ? value.map(bare) : value;
        break;
      case "allOf":
        converted.allOf = Array.isArray(value) ? value.map(bare) : value;
        break;
      case "$ref":
        converted.$ref =
          value === "#"
            ? `#/definitions/${pointer(self)}`
            : String(value).replace(/^#\/definitions\/(.*)$/, (_, name: string) => `#/definitions/${pointer(prefix)}${name}`);
        break;
      default:
        converted[keyword] = value;
    }
  }
  return converted;
}
