import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePythonJson } from "./python-json.js";
import { compareCodePoints, lastWord, splitLines, strip, wordAfter, wordBefore } from "./python-text.js";

describe("Python's text functions", () => {
  test("strip knows Python's white space, not JavaScript's", () => {
    expect(strip("\u001c\u001f\u0085\u00a0\u3000 x \t\v\f\r\n")).toBe("x");
    expect(strip("\ufeffx\u200b")).toBe("\ufeffx\u200b");
    expect(strip("..;x, ", " ,;.")).toBe("x");
    expect(strip(" \n ")).toBe("");
  });

  test("splitLines breaks where Python does", () => {
    expect(splitLines("a\r\nb\rc\vd\fe\u001cf\u001dg\u001eh\u0085i\u2028j\u2029k\u001fl")).toEqual([..."abcdefghij", "k\u001fl"]);
  });

  test("lastWord is undefined where Python has no last word", () => {
    expect(lastWord("a b\u00a0c ")).toBe("c");
    expect(lastWord("\u00a0")).toBeUndefined();
    expect(lastWord("")).toBeUndefined();
  });

  test("word characters are letters and digits of any script, also beyond the basic plane", () => {
    expect(wordBefore("é.", 1)).toBe(true);
    expect(wordBefore("𝒜.", 2)).toBe(true);
    expect(wordBefore("😀.", 2)).toBe(false);
    expect(wordAfter("²", 0)).toBe(true);
    expect(wordAfter("𐐀", 0)).toBe(true);
    expect(wordAfter("\ud800", 0)).toBe(false);
    expect([wordBefore("a", 0), wordAfter("a", 1)]).toEqual([false, false]);
    expect([..."$-. /"].some((character) => wordAfter(character, 0))).toBe(false);
  });

  test("order is that of code points", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(byPoints([...a], [...b])));
      }),
    );
    expect(["\u{1d49c}", "\ue000", "\ud835", "\ud835x", "a", "ab"].sort(compareCodePoints)).toEqual([
      "a",
      "ab",
      "\ud835",
      "\ud835x",
      "\ue000",
      "\u{1d49c}",
    ]);
  });
});

function byPoints(a: readonly string[], b: readonly string[]): number {
  for (const [i, character] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    const difference = (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

describe("Python's JSON", () => {
  test.each([
    ["NaN", null],
    ['{"a":NaN,"b":[-Infinity,Infinity]}', { a: null, b: [null, null] }],
    ['["NaN", "\\"NaN", NaN]', ["NaN", '"NaN', null]],
    ['{"a":1,"a":2}', { a: 2 }],
  ])("takes %s", (text, value) => {
    expect(parsePythonJson(text)).toEqual({ ok: true, value });
  });

  test.each([
    "-NaN",
    "nan",
    "[NaN",
    '"NaN',
    "NaN1",
    "{NaN:1}",
    "+Infinity",
    "--Infinity",
    "\ufeff1",
    "[1,]",
    '"\t"',
    "01",
    "1.",
    "",
  ])("refuses %j", (text) => {
    expect(parsePythonJson(text).ok).toBe(false);
  });

  test("agrees with JSON.parse on what JSON.parse takes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parsePythonJson(JSON.stringify(value))).toEqual({ ok: true, value: JSON.parse(JSON.stringify(value)) });
      }),
    );
  });

  test("deep nesting does not crash", () => {
    expect(parsePythonJson(`${"[".repeat(200_000)}NaN`).ok).toBe(false);
  });
});
