import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "./json.js";

/** The definition, without regard to speed. */
function plainly(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plainly).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${plainly(member)}`).join(",")}}`;
  }
  return JSON.stringify(Object.is(value, -0) ? 0 : value);
}

describe("canonical JSON", () => {
  test("is the text with sorted members, for whatever JSON can hold", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(value)).toBe(plainly(value));
      }),
    );
  });

  test("sorts by UTF-16 code units, numbers among names too", () => {
    expect(canonicalJson({ "10": 1, "9": 2, b: -0, a: "\u2028\ud800", A: null })).toBe(
      '{"10":1,"9":2,"A":null,"a":"\u2028\\ud800","b":0}',
    );
  });

  test("leaves out undefined members, wherever they stand", () => {
    expect(canonicalJson({ a: undefined, b: 1, c: undefined })).toBe('{"b":1}');
  });

  test("more names than are remembered give the same text", () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `name ${String(index).padStart(5, "0")}`);
    const record = Object.fromEntries(names.toReversed().map((name) => [name, 1]));
    expect(canonicalJson(record)).toBe(JSON.stringify(Object.fromEntries(names.map((name) => [name, 1]))));
  });

  test.each([
    ["NaN", Number.NaN],
    ["an infinity", Number.POSITIVE_INFINITY],
    ["a bigint", 1n],
    ["undefined", undefined],
    ["undefined in an array", [undefined]],
    ["a hole in an array", new Array(2)],
    ["a function", { f: () => 1 }],
    ["an object of a class", new Date(0)],
  ])("%s has no form", (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });
});
