import { describe, expect, test } from "vitest";
import * as z from "zod";
import { backendConfigSchema, builtInBackends } from "./registry.js";

const schema = backendConfigSchema(builtInBackends);
const problems = (value: unknown) => schema.safeParse(value).error?.issues.map(({ message }) => message);

describe("backendConfigSchema", () => {
  test("fills the defaults of the kind", () => {
    expect(schema.parse({ kind: "bm25", name: "lexical", top: 5 })).toEqual({
      kind: "bm25",
      name: "lexical",
      k1: 1.2,
      b: 0.75,
      lines: 40,
      top: 5,
    });
    expect(schema.parse({ kind: "empty" })).toEqual({ kind: "empty" });
  });

  test("unknown options and kinds are mistakes", () => {
    expect(problems({ kind: "bm25", topp: 5 })?.join()).toContain("topp");
    expect(problems({ kind: "oracle", top: 5 })?.join()).toContain("top");
    expect(problems({ kind: "bm52" })).toEqual([expect.stringContaining("did you mean bm25?")]);
    expect(problems({ kind: "elasticsearch" })).toEqual([expect.stringContaining("one of bm25, random")]);
    expect(problems({ top: 5 })).toEqual([expect.stringContaining("needs `kind`")]);
    expect(problems(["bm25"])).toBeDefined();
  });

  test("wrong values are found inside the kind that was meant", () => {
    const issues = schema.safeParse({ kind: "random", draws: 0 }).error?.issues;
    expect(issues?.map(({ path }) => path)).toEqual([["draws"]]);
  });

  test("can be turned into a JSON Schema", () => {
    const json = JSON.stringify(z.toJSONSchema(schema, { io: "input" }));
    for (const kind of builtInBackends.keys()) expect(json).toContain(`"const":"${kind}"`);
  });
});

/** Options without a default. */
const REQUIRED: Readonly<Record<string, unknown>> = {
  command: { run: ["x"] },
  chat: { provider: "ollama", model: "m" },
  mcp: { command: ["x"], tool: "t" },
  embedding: { provider: "ollama", model: "m" },
  hybrid: { of: [{ kind: "bm25" }, { kind: "lsa" }] },
};

test("every kind bears the name that it is registered under, and its options' defaults have an identity", () => {
  for (const [name, kind] of builtInBackends) {
    expect(kind.kind).toBe(name);
    const options = kind.options.parse(REQUIRED[name] ?? {});
    expect(kind.identityOf(options)).not.toBeNull();
  }
});
