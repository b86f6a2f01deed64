/** What the original makes of an answer. Its counts, case by case, are in `matching/seed.test.ts`. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { processorSeconds } from "../../test/rigs/processor-time.js";
import { parseSeedAnswer, readSeedAnswer, seedQualifiedNames } from "./seed.js";
import { findJavaPaths, findQualifiedNames } from "./seed-patterns.js";

const ids = (response: string) => parseSeedAnswer(response).map(({ id }) => id);

test("predictions keep the order of the answer, the spelling of the first, and are distinct", () => {
  expect(parseSeedAnswer('{"classes":["b/Foo.java","a/Bar.java","B/FOO.java"]}')).toEqual([
    { id: "path:b/foo.java", raw: "b/Foo.java", pathKey: "b/foo.java", simpleKey: "foo", qualifiedKey: "b.foo" },
    { id: "path:a/bar.java", raw: "a/Bar.java", pathKey: "a/bar.java", simpleKey: "bar", qualifiedKey: "a.bar" },
  ]);
});

test("the first candidate that is JSON wins, even where a later one would say more", () => {
  expect(ids('```json\n{"classes":["Foo"]}\n```\n```json\n{"classes":["Bar"]}\n```')).toEqual(["simple:foo"]);
  expect(ids('{"other": 1}\n')).toEqual([]);
  expect(ids('[1]\nsee Foo.java {"classes":["Bar"]}')).toEqual(["simple:bar"]);
});

test("JSON with nothing usable falls through to the prose rules over the whole text", () => {
  expect(ids('{"classes":[],"note":"look at x/Foo.java"}')).toEqual(["path:x/foo.java"]);
});

test("what makes the original crash is said, and gives no predictions", () => {
  const read = readSeedAnswer("Foo\n.\u00a0.");
  expect(read).toMatchObject({ ok: false, error: { message: expect.stringContaining("IndexError") } });
  expect(parseSeedAnswer("Foo\n.\u00a0.")).toEqual([]);
});

test("qualified names of a path: behind each source root, and the whole", () => {
  expect([...seedQualifiedNames("core\\src\\main\\java\\org\\json\\XML.java")].sort()).toEqual([
    "core.src.main.java.org.json.xml",
    "org.json.xml",
  ]);
  expect([...seedQualifiedNames("XML.java")]).toEqual([]);
  expect([...seedQualifiedNames("x/XML.kt")]).toEqual([]);
});

/** The original's patterns, but for Unicode's word boundary: on ASCII text the scanners must find what they find. */
const JAVA_PATH = /\b(?:[\w.-]+\/)*[A-Za-z_][\w$]*\.java\b/g;
const QUALIFIED_NAME = /\b(?:[a-z_][a-z0-9_$]*\.)+[A-Z][\w$]*\b/g;

describe("scanners", () => {
  const piece = fc.constantFrom("a", "B", "_", "$", "1", "-", ".", "..", "/", "//", ".java", "java", "Foo", "x.", " ", "\n");
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));

  test("find what the patterns find in ASCII text", () => {
    fc.assert(
      fc.property(text, (ascii) => {
        expect(findJavaPaths(ascii)).toEqual(ascii.match(JAVA_PATH) ?? []);
        expect(findQualifiedNames(ascii)).toEqual(ascii.match(QUALIFIED_NAME) ?? []);
        expect(findJavaPaths(ascii, 1)).toEqual(findJavaPaths(ascii).slice(0, 1));
      }),
      { numRuns: 3000 },
    );
  });

  test("letters beyond ASCII stop a word boundary, and nothing else", () => {
    expect(findJavaPaths("éFoo.java Foo.javaé ~Foo.java…")).toEqual(["Foo.java"]);
    expect(findQualifiedNames("éx.Foo x.Fooé x.Fo$é x.Foo…")).toEqual(["x.Fo$", "x.Foo"]);
  });

  test("hostile answers take time in proportion to their length", () => {
    const size = 100_000;
    const hostile = [
      "a/".repeat(size),
      "a.".repeat(size),
      "a$.".repeat(size),
      `${"a.b/".repeat(size)}Foo.jav`,
      `${"Foo.java/".repeat(size)}`,
      "`".repeat(size),
      "```json ".repeat(size),
      `\`\`\`${" ".repeat(size)}`,
      `{"classes":[${"[".repeat(size)}`,
      `{"a":NaN,${'"\\'.repeat(size)}`,
      "[x](".repeat(size),
      `${" ".repeat(size)}-`,
      "1".repeat(size),
      ",;".repeat(size),
      "\n".repeat(size),
      "\ud800".repeat(size),
      "x.Foo$$$$".repeat(size / 4),
    ];
    const seconds = processorSeconds(() => {
      for (const response of hostile) expect(Array.isArray(parseSeedAnswer(response))).toBe(true);
    });
    // Quadratic work on any of them would take minutes; the bound leaves room for a slow machine.
    expect(seconds).toBeLessThan(20);
  });

  test("no text makes it throw", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (response) => {
        for (const { id } of parseSeedAnswer(response)) expect(id).toMatch(/^(?:path|fqcn|simple):/);
      }),
    );
  });
});
