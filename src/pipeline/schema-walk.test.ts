import { describe, expect, test } from "vitest";
import * as z from "zod";
import { keysAt, literalsAt, takesKey } from "./schema-walk.js";

const inner = z.strictObject({ a: z.number(), b: z.string() });
const tree: z.ZodType = z.lazy(() => z.strictObject({ leaf: z.string(), branches: z.array(tree) }));

describe("keysAt sees through", () => {
  test.each<[string, z.ZodType]>([
    ["nothing", inner],
    ["optional", inner.optional()],
    ["nullable and default", inner.nullable().default(null)],
    ["prefault and catch", inner.prefault({ a: 1, b: "" }).catch({ a: 1, b: "" })],
    ["readonly", inner.readonly()],
    ["refinement", inner.refine(() => true)],
    ["transform", inner.transform((value) => value.a)],
    ["preprocess", z.preprocess((value) => value, inner)],
    ["pipe", inner.pipe(z.any())],
    ["lazy", z.lazy(() => inner)],
    ["union with others", z.union([z.string(), inner])],
    ["intersection", z.intersection(z.object({ a: z.number() }), z.object({ b: z.string() }))],
  ])("%s", (_, schema) => {
    expect(keysAt(schema, {}, [])).toEqual(["a", "b"]);
    expect(keysAt(z.strictObject({ x: z.array(schema) }), { x: [{}] }, ["x", 0])).toEqual(["a", "b"]);
  });

  test("tuples, records, and schemas that refer to themselves", () => {
    expect(keysAt(z.tuple([z.string(), inner]), ["", {}], [1])).toEqual(["a", "b"]);
    expect(keysAt(z.record(z.string(), inner), { k: {} }, ["k"])).toEqual(["a", "b"]);
    expect(keysAt(tree, {}, ["branches", 0, "branches", 3])).toEqual(["leaf", "branches"]);
    expect(keysAt(inner, {}, ["none", "deep"])).toEqual([]);
    const endless: z.ZodType = z.lazy(() => endless);
    expect(keysAt(endless, {}, [])).toEqual([]);
  });
});

describe("a union told apart by a key", () => {
  const union = z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("x"), top: z.number() }),
    z.strictObject({ kind: z.enum(["y", "z"]), deep: z.strictObject({ q: z.number() }) }),
  ]);
  test("gives the keys of the branch that the value chose, or of all", () => {
    expect(keysAt(union, { kind: "x" }, [])).toEqual(["kind", "top"]);
    expect(keysAt(union, { kind: "z" }, [])).toEqual(["kind", "deep"]);
    expect(keysAt(union, { kind: "z" }, ["deep"])).toEqual(["q"]);
    expect(keysAt(union, { kind: "w" }, [])).toEqual(["kind", "top", "deep"]);
    expect(literalsAt(union, {}, ["kind"])).toEqual(["x", "y", "z"]);
  });
});

test("takesKey: named, or any", () => {
  expect(takesKey(inner, {}, [], "a")).toBe(true);
  expect(takesKey(inner, {}, [], "toString")).toBe(false);
  expect(takesKey(z.object({ a: z.number() }), {}, [], "other")).toBe(false);
  expect(takesKey(z.looseObject({}), {}, [], "other")).toBe(true);
  expect(takesKey(z.record(z.string(), z.any()), {}, [], "other")).toBe(true);
  expect(takesKey(z.unknown(), {}, [], "other")).toBe(true);
});
