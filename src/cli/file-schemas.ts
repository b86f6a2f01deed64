/**
 * JSON Schemas (draft-07) of the files that people write and read beside pipelines: a line of an answers file, a case of a data set, a rule set, and the
 * report of a cell. Made of the schemas that check these files; rules are checked by hand with places, so theirs is made of the same lists of names.
 */
import * as z from "zod";
import { answerSchema } from "../answers/schema.js";
import { caseSchema } from "../dataset/schema.js";
import { NORMALISATIONS, RENAME_RULES } from "../matching/contract.js";
import { LADDER } from "../matching/rules.js";
import { OUTCOMES_LEFT_OUT } from "../matching/rules-file.js";
import { summarySchema } from "../scoring/summary-schema.js";

type Schema = Readonly<Record<string, unknown>>;

/** By the file's name. */
export const FILE_SCHEMAS: Readonly<Record<string, () => Schema>> = {
  "answers.schema.json": () => titled("A line of an answers file (JSON Lines)", ofInput(answerSchema)),
  "case.schema.json": () =>
    titled("A case of a data set (a line of JSON Lines, or a member of `cases`)", lenient(ofInput(caseSchema))),
  "rules.schema.json": rules,
  "report.schema.json": () => ({
    ...titled("The report of a cell", {}),
    type: "object",
    required: ["schema_version", "summary", "issues"],
    properties: {
      schema_version: { type: "integer" },
      summary: ofInput(summarySchema),
      issues: {
        type: "array",
        items: { type: "object", required: ["id", "status"], properties: { id: { type: "string" }, status: { type: "string" } } },
      },
    },
  }),
};

function titled(title: string, schema: Schema): Schema {
  return { $schema: "http://json-schema.org/draft-07/schema#", title: `bench: ${title}`, ...schema };
}

function ofInput(schema: z.ZodType): Schema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io: "input", target: "draft-7", unrepresentable: "any" });
  return made as Schema;
}

/** What a target's path tells (its role) need not be written: the reader adds it. */
function lenient(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (name, value) =>
    name === "required" && Array.isArray(value) ? value.filter((one) => one !== "role") : value,
  ) as Schema;
}

function rules(): Schema {
  const onOff = { type: ["boolean", "string"], enum: [true, false, "on", "off"] };
  const switches = (names: readonly string[]) => ({
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(names.map((name) => [name, onOff])),
  });
  return titled("A rule set: how predictions are matched with targets", {
    type: "object",
    additionalProperties: false,
    required: ["name"],
    properties: {
      name: { type: "string", minLength: 1 },
      extends: { enum: ["strict", "lenient"], default: "strict" },
      rungs: { anyOf: [{ type: "array", minItems: 1, uniqueItems: true, items: { enum: [...LADDER] } }, switches(LADDER)] },
      normalise: switches(NORMALISATIONS),
      extensions: { anyOf: [{ const: "all" }, { type: "array", minItems: 1, items: { type: "string", pattern: "^\\." } }] },
      paths: { type: "object", additionalProperties: { type: ["string", "null"] } },
      inner_classes: onOff,
      renames: { enum: [...RENAME_RULES] },
      leave_out: { type: "array", uniqueItems: true, items: { enum: [...OUTCOMES_LEFT_OUT] } },
    },
  });
}
