import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tokenize } from "./tokenize.js";

describe("tokenize", () => {
  test.each([
    ["PluginManager", ["pluginmanager", "plugin", "manager"]],
    ["XMLHttpRequest", ["xmlhttprequest", "xml", "http", "request"]],
    ["parseXML", ["parsexml", "parse", "xml"]],
    ["max_retry_count", ["max_retry_count", "max", "retry", "count"]],
    ["CONSTANT_NAME", ["constant_name", "constant", "name"]],
    ["utf16Decoder", ["utf16decoder", "utf", "16", "decoder"]],
    ["Outer$Inner", ["outer$inner", "outer", "inner"]],
    ["plain words, here!", ["plain", "words", "here"]],
    ["src/main/Foo.java", ["src", "main", "foo", "java"]],
    ["ÜberKlasse straße", ["überklasse", "über", "klasse", "straße"]],
    ["ΑλφαΒήτα", ["αλφαβήτα", "αλφα", "βήτα"]],
    ["文件 名", ["文件", "名"]],
    ["", []],
    ["__ $ ...", []],
  ])("%j", (text, terms) => {
    expect(tokenize(text)).toEqual(terms);
  });

  test("single letters and digits are no terms", () => {
    expect(tokenize("for (i = 0; i < n; i++) x8")).toEqual(["for", "x8"]);
  });

  test("composed and decomposed letters are the same", () => {
    expect(tokenize("Cafe\u0301Menu")).toEqual(tokenize("CaféMenu"));
  });

  test("a very long word gives its parts only", () => {
    expect(tokenize(`Foo${"Bar".repeat(30)}`)).toEqual(["foo", ...new Array(30).fill("bar")]);
  });

  test("words are independent of what stands around them", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
        expect(tokenize(`${a}\n${b}`)).toEqual([...tokenize(a), ...tokenize(b)]);
      }),
    );
  });

  test("terms are lower case, without blanks or separators, and found again by themselves", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const term of tokenize(text)) {
          expect(term).toBe(term.toLowerCase());
          expect(term).not.toMatch(/[\s/.-]/);
        }
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z][a-z]{1,9}([A-Z][a-z]{1,9}){0,4}$/), (name) => {
        expect(tokenize(name)).toContain(name.toLowerCase());
      }),
    );
  });

  test("a megabyte of one kind of character is no problem", () => {
    for (const unit of ["A", "a", "1", "_", "aA", "A1", "AAa", "\u0301"]) {
      expect(() => tokenize(unit.repeat(2 ** 20 / unit.length))).not.toThrow();
    }
  });
});
