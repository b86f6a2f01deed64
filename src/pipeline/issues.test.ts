/** zod's issues in words; the places are tested with whole files. */
import { expect, test } from "vitest";
import * as z from "zod";
import { mistakesOf } from "../../test/rigs/pipeline-marks.js";
import type { StageKindInfo } from "./model.js";

function words(schema: z.ZodType, value: string): string[] {
  const kind: StageKindInfo = { kind: "k", summary: "", config: z.strictObject({ x: schema }), produces: "report", consumes: {} };
  return mistakesOf(`stages: { s: { uses: k, with: { x: ${value} } } }`, { kinds: new Map([["k", kind]]) }).map(
    ({ message }) => message,
  );
}

test.each<[string, z.ZodType, string, string[]]>([
  ["number between", z.number().min(1).max(3), "5", ["`x`: expected a number of at most 3, found the number 5"]],
  ["multiple", z.number().multipleOf(5), "3", ["`x`: expected a multiple of 5, found the number 3"]],
  ["short text", z.string().min(2), "a", ['`x`: expected text of at least 2 characters, found the text "a"']],
  ["exact text", z.string().length(2), "a", ['`x`: expected text of exactly 2 characters, found the text "a"']],
  ["short list", z.array(z.number()).min(2), "[1]", ["`x`: expected a list of at least 2 items, found a list"]],
  ["pattern", z.string().regex(/^a+$/), "b", ['`x`: expected text of the form /^a+$/, found the text "b"']],
  ["pattern with words of its own", z.string().regex(/^a+$/, "expected only a's"), "b", ["`x`: expected only a's"]],
  ["URL", z.url(), "nix", ['`x`: expected a URL (https://…), found the text "nix"']],
  ["one literal", z.literal("a"), "b", ['`x`: expected "a", found the text "b"']],
  [
    "key of a record",
    z.record(z.string().regex(/^a/), z.number()),
    "{ b: 1 }",
    ["the key `b` is not valid: expected text of the form /^a/"],
  ],
  ["tuple", z.tuple([z.number(), z.number()]), "[1]", ["`x`: expected a list of at least 2 items, found a list"]],
  ["never", z.never(), "1", ["`x`: expected nothing, found the number 1"]],
  ["simple forms", z.union([z.string(), z.number()]), "[a]", ["`x`: expected text, or a number, found a list"]],
  [
    "text or mapping: the mapping's own mistake",
    z.union([z.string(), z.strictObject({ a: z.number() })]),
    "{ a: b }",
    ['`a`: expected a number, found the text "b"'],
  ],
  [
    "mappings told apart by a literal without zod knowing",
    z.union([
      z.strictObject({ t: z.literal("a"), n: z.number() }),
      z.strictObject({ t: z.literal("b"), m: z.number(), o: z.number() }),
    ]),
    "{ t: b, m: x, o: y }",
    ['`m`: expected a number, found the text "x"', '`o`: expected a number, found the text "y"'],
  ],
  ["rule without words", z.number().refine(() => false), "1", ["`x`: the number 1 is not valid here"]],
  ["control characters are not shown", z.number(), '"\\e[31m"', ['`x`: expected a number, found the text "·[31m"']],
  ["long texts are cut", z.number(), "a".repeat(100), [`\`x\`: expected a number, found the text "${"a".repeat(59)}…"`]],
])("%s", (_, schema, value, expected) => {
  expect(words(schema, value)).toEqual(expected);
});
