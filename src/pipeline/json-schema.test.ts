// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in pipeline files are the subject here
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { testKinds } from "../../test/rigs/pipeline-kinds.js";
import { check } from "../../test/rigs/pipeline-marks.js";
import { pipelineJsonSchema } from "./json-schema.js";

type Schema = boolean | { readonly [keyword: string]: unknown };
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keywords that `valid` below understands; the schema must use no other. */
const KNOWN = new Set(
  "$schema $ref title description default definitions type enum const pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf items minItems maxItems uniqueItems properties required additionalProperties propertyNames minProperties anyOf allOf if then".split(
    " ",
  ),
);

/** Draft-07, as much of it as the generated schemas use. */
function valid(schema: Schema, value: unknown, root: Schema): boolean {
  if (typeof schema === "boolean") return schema;
  for (const keyword of Object.keys(schema)) if (!KNOWN.has(keyword)) throw new Error(`unknown keyword ${keyword}`);
  const all = (keyword: string): Schema[] => (schema[keyword] as Schema[] | undefined) ?? [];
  const number = (keyword: string, holds: (limit: number) => boolean): boolean =>
    typeof schema[keyword] !== "number" || holds(schema[keyword]);
  if (typeof schema.$ref === "string") {
    let target: unknown = root;
    for (const step of schema.$ref.slice(2).split("/"))
      target = (target as Record<string, unknown>)[decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")];
    if (target === undefined) throw new Error(`dangling ${schema.$ref}`);
    return valid(target as Schema, value, root);
  }
  if (schema.type !== undefined && ![schema.type].flat().some((type) => typeIs(String(type), value))) return false;
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) return false;
  if ("const" in schema && schema.const !== value) return false;
  if (schema.anyOf !== undefined && !all("anyOf").some((each) => valid(each, value, root))) return false;
  if (!all("allOf").every((each) => valid(each, value, root))) return false;
  if (
    schema.if !== undefined &&
    schema.then !== undefined &&
    valid(schema.if as Schema, value, root) &&
    !valid(schema.then as Schema, value, root)
  )
    return false;
  if (typeof value === "string") {
    if (typeof schema.pattern === "string" && !new RegExp(schema.pattern, "u").test(value)) return false;
    if (!number("minLength", (limit) => value.length >= limit) || !number("maxLength", (limit) => value.length <= limit))
      return false;
  }
  if (typeof value === "number") {
    if (!number("minimum", (limit) => value >= limit) || !number("exclusiveMinimum", (limit) => value > limit)) return false;
    if (!number("maximum", (limit) => value <= limit)) return false;
  }
  if (Array.isArray(value)) {
    if (!number("minItems", (limit) => value.length >= limit)) return false;
    if (schema.uniqueItems === true && new Set(value).size < value.length) return false;
    if (schema.items !== undefined && !value.every((item) => valid(schema.items as Schema, item, root))) return false;
  }
  if (isObject(value)) {
    const properties = (schema.properties ?? {}) as Record<string, Schema>;
    if (Array.isArray(schema.required) && !schema.required.every((key) => String(key) in value)) return false;
    if (!number("minProperties", (limit) => Object.keys(value).length >= limit)) return false;
    for (const [key, inner] of Object.entries(value)) {
      if (schema.propertyNames !== undefined && !valid(schema.propertyNames as Schema, key, root)) return false;
      const rule = Object.hasOwn(properties, key) ? properties[key] : (schema.additionalProperties as Schema | undefined);
      if (rule !== undefined && !valid(rule, inner, root)) return false;
    }
  }
  return true;
}

function typeIs(type: string, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "null") return value === null;
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

const schema = pipelineJsonSchema(testKinds) as Schema;
const fits = (text: string): boolean => valid(schema, parse(text), schema);

describe("what the check accepts fits the schema", () => {
  const params = "params: { n: 3, l: [1], k: bm25, r: strict, o: { repo: x } }";
  const data = "  data: { uses: import-dataset, with: { path: x } }";
  test.each([
    ["a stage", "stages: { a: { uses: fetch-issues, with: { repo: x } } }"],
    [
      "common options",
      "stages: { a: { uses: fetch-issues, with: { repo: x }, retry: 1, timeout: 1.5h, concurrency: 2, resource: r, allow_failures: 5%, freshness: always } }",
    ],
    [
      "references for numbers and lists",
      `${params}\nstages:\n  i: { uses: fetch-issues, with: { repo: x, limit: "\${params.n}" }, retry: "\${params.n}" }\n  d: { uses: build-dataset, needs: i, with: { extensions: ["\${params.r}"], links: closing } }`,
    ],
    ["with as a reference", `${params}\nstages: { i: { uses: fetch-issues, with: "\${params.o}" } }`],
    [
      "kind as a reference",
      `${params}\nstages:\n${data}\n  a: { uses: query-backend, needs: data, with: { backend: { kind: "\${params.k}" } } }`,
    ],
    [
      "empty with",
      "stages:\n  i: { uses: fetch-issues, with: { repo: x } }\n  l:\n    uses: resolve-links\n    needs: [i]\n    with:",
    ],
    [
      "a required option from the matrix, with names",
      `stages:\n${data}\n  a: { uses: query-backend, needs: data, matrix: { backend: [{ name: x, kind: bm25 }, { kind: random, draws: 2 }], repeats: [1, 2] } }`,
    ],
    [
      "a matrix that is a reference",
      `${params}\nstages:\n${data}\n  a: { uses: query-backend, needs: data, with: { backend: { kind: bm25 } }, matrix: { repeats: "\${params.l}" } }`,
    ],
    [
      "a matrix that is only referred to",
      `stages:\n${data}\n  a: { uses: query-backend, needs: data, with: { backend: { kind: bm25 }, prompt: "\${matrix.p}" }, matrix: { p: [x] } }`,
    ],
  ])("%s", (_, text) => {
    expect(check(text).ok).toBe(true);
    expect(fits(text)).toBe(true);
  });

  test("user modules", () => {
    expect(fits("stages: { a: { uses: ./mine.js, with: { anything: 1 } } }")).toBe(true);
  });
});

describe("what an editor should underline", () => {
  const data = "  data: { uses: import-dataset, with: { path: x } }";
  test.each([
    ["unknown top-level key", "stage: {}\nstages: { a: { uses: fetch-issues, with: { repo: x } } }"],
    ["no stages", "name: x"],
    ["unknown kind", "stages: { a: { uses: fetch-isues } }"],
    ["unknown key", "stages: { a: { uses: fetch-issues, with: { repo: x }, retries: 1 } }"],
    ["unknown option", "stages: { a: { uses: fetch-issues, with: { repo: x, limt: 1 } } }"],
    ["missing option", "stages: { a: { uses: fetch-issues, with: { limit: 1 } } }"],
    ["missing with", "stages: { a: { uses: fetch-issues } }"],
    ["wrong type", "stages: { a: { uses: fetch-issues, with: { repo: x, limit: ten } } }"],
    ["wrong choice", "stages: { a: { uses: score, needs: b, with: { rules: strictt } } }"],
    ["wrong duration", "stages: { a: { uses: fetch-issues, with: { repo: x }, timeout: soon } }"],
    ["freshness of what fetches nothing", "stages: { a: { uses: score, needs: b, freshness: 1d } }"],
    ["unknown backend", `stages:\n${data}\n  a: { uses: query-backend, needs: data, with: { backend: { kind: bm52 } } }`],
    [
      "option of a backend in a matrix",
      `stages:\n${data}\n  a: { uses: query-backend, needs: data, matrix: { backend: [{ kind: bm25, topp: 1 }] } }`,
    ],
    ["empty matrix", `stages:\n${data}\n  a: { uses: query-backend, needs: data, matrix: { backend: [] } }`],
  ])("%s", (_, text) => {
    expect(fits(text)).toBe(false);
  });
});

describe("the schema itself", () => {
  test("is draft-07, describes kinds and options, and has no dangling references", () => {
    expect(schema).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#", required: ["stages"] });
    const text = JSON.stringify(schema);
    expect(text).toContain('"description":"owner/repo"');
    expect(text).toContain('{"const":"score","description":"Scores answers."}');
    expect(text).not.toContain("$defs");
  });

  test("recursive configurations keep their references", () => {
    const tree: z.ZodType = z.strictObject({
      name: z.string(),
      get children() {
        return z.array(tree).optional();
      },
    });
    const info = { summary: "", produces: "report", consumes: {} };
    const kinds = new Map([
      ["t/1", { kind: "t/1", config: z.strictObject({ root: tree }), ...info }],
      ["t/2", { kind: "t/2", config: tree, ...info }],
      ["any", { kind: "any", config: z.custom(), ...info }],
    ]);
    const own = pipelineJsonSchema(kinds) as Schema;
    const ok = (config: unknown, uses: string): boolean => valid(own, { stages: { a: { uses, with: config } } }, own);
    const good = { name: "x", children: [{ name: "y", children: [{ name: "z" }] }] };
    const bad = { name: "x", children: [{ name: "y", children: [{ nam: "z" }] }] };
    expect([ok({ root: good }, "t/1"), ok(good, "t/2"), ok({ a: 1 }, "any")]).toEqual([true, true, true]);
    expect([ok({ root: bad }, "t/1"), ok(bad, "t/2")]).toEqual([false, false]);
  });
});
