// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in pipeline files are the subject here
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { check, graphOf, mistakesOf } from "../../test/rigs/pipeline-marks.js";
import { Mistakes, SourceText } from "./mistakes.js";
import { toJson } from "./tree.js";
import { MAX_BYTES, readYaml } from "./yaml.js";

function read(text: string) {
  const mistakes = new Mistakes(new SourceText("f", text));
  const node = readYaml(mistakes);
  const found = mistakes.sorted().map(({ line, column, message }) => `${line}:${column} ${message}`);
  return { value: node === null ? null : toJson(node), found };
}

const GOOD = "stages: { a: { uses: fetch-issues, with: { repo: x } } }";

describe("what is read", () => {
  test("YAML 1.2: plain words stay text, octal-looking numbers are decimal, dates are text", () => {
    expect(read("a: yes\nb: 012\nc: 2020-01-01\nd: ~\ne: 1.10\nf: -0").value).toEqual({
      a: "yes",
      b: 12,
      c: "2020-01-01",
      d: null,
      e: 1.1,
      f: 0,
    });
  });

  test("aliases are shared values", () => {
    expect(read("a: &x { k: 1 }\nb: *x\nc: [*x]").value).toEqual({ a: { k: 1 }, b: { k: 1 }, c: [{ k: 1 }] });
  });

  test("names of Object's own members are ordinary keys", () => {
    const { value, found } = read("constructor: 1\ntoString: 2\nhasOwnProperty: 3");
    expect(found).toEqual([]);
    expect(Object.entries(value ?? {})).toEqual([
      ["constructor", 1],
      ["toString", 2],
      ["hasOwnProperty", 3],
    ]);
  });

  test("a byte order mark and CRLF move nothing", () => {
    const text = "stages:\r\n  a: { uses: nix }\r\n";
    const [found] = mistakesOf(`\ufeff${text}`);
    expect(found).toMatchObject({ line: 2, column: 14, length: 3, sourceLine: "  a: { uses: nix }" });
    expect(mistakesOf(`\ufeff${GOOD.replace("uses", "usess")}`)[0]).toMatchObject({ line: 1, column: 16 });
    expect(graphOf(`\ufeff${GOOD}\r\n`).nodes).toHaveLength(1);
  });
});

describe("what is refused", () => {
  test.each([
    ["an empty file", "", "1:1 the file has no content"],
    ["only comments", "# a\n# b\n", "1:1 the file has no content"],
    ["only a marker", "---\n", ""],
    ["a repeated key", "a: 1\nb: 2\na: 3", "3:1 the key `a` stands here twice (first in line 1)"],
    ["a repeated key in braces", "x: { a: 1, a: 2 }", "1:12 the key `a` stands here twice (first in line 1)"],
    ["a tab as indentation", "a:\n\tb: 1", "2:1 Tabs are not allowed as indentation"],
    ["an open bracket", "a: [1,\nb: 2\n", "Flow sequence"],
    ["an open quote", "a: 'x\n", "Missing closing 'quote"],
    ["a colon in plain text", "a: b: c", "1:4 Nested mappings are not allowed in compact mappings"],
    ["a reserved character", "a: @b", "1:4 Plain value cannot start with reserved character @"],
    ["a second document", "a: 1\n---\nb: 2\n", "2:1 a second document starts here"],
    ["a number as key", "1: x", "1:1 a key must be text, found `1`"],
    ["an empty key", "? \n: x", "a key must be text, found nothing"],
    ["a list as key", "? [a]\n: x", "1:3 a key must be text, not a list"],
    ["__proto__", "a: { __proto__: { b: 1 } }", "1:6 `__proto__` can't be a key"],
    ["merge keys", "a: &x { b: 1 }\nc: { <<: *x }", "2:6 merge keys (`<<`) are not supported"],
    ["an unknown alias", "a: *x", "1:4 the alias `*x` has no anchor before it"],
    ["an alias to itself", "a: &x [*x]", "1:8 the alias `*x` refers to the value that it is part of"],
    ["a tag", "a: !!binary aGk=", "1:4 Unresolved tag: tag:yaml.org,2002:binary"],
    ["a tag on a mapping", "a: !x { b: 1 }", "1:4 "],
    ["a number too large", "a: 12345678901234567890", "1:4 `12345678901234567890` is too large to be kept exactly"],
    ["no number", "a: .nan", "1:4 `.nan` is not a finite number"],
    ["YAML 1.1", "%YAML 1.1\n---\na: yes", "1:1 YAML 1.1 is not supported"],
    ["a control character", "a: \u0007", "1:4 control character U+0007 in the file"],
    ["UTF-16", "a\u0000:\u0000", "1:2 control character U+0000 in the file"],
    ["what was not UTF-8", "a: 1\nb: x\ufffd", "2:5 the file is not valid UTF-8 here"],
    ["a list", "- a\n- b", ""],
  ])("%s", (_, text, message) => {
    if (message !== "") expect(read(text).found.join("\n")).toContain(message);
    const result = check(text);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    for (const diagnostic of result.error) {
      expect(diagnostic.line).toBeGreaterThan(0);
      expect(diagnostic.column).toBeGreaterThan(0);
      expect(diagnostic.sourceLine).toBeDefined();
      expect(diagnostic.message).not.toBe("");
    }
  });

  test("a list at top level is called that", () => {
    expect(mistakesOf("- a")[0]).toMatchObject({ line: 1, column: 1, message: "a pipeline file is a mapping, found a list" });
    expect(mistakesOf("---\n")[0]?.message).toBe("a pipeline file is a mapping, found nothing");
  });

  test("after a harmless slip the rest is checked too", () => {
    const found = mistakesOf(
      "stages:\n  a:\n    uses: fetch-issues\n    with: { repo: @x }\n  b: { uses: nix }\n  b: { uses: x }",
    );
    expect(found.map(({ line }) => line)).toEqual([4, 5, 6]);
  });

  test("after a serious one it is not: what follows would be noise", () => {
    expect(
      mistakesOf("stages:\n  a: { uses: fetch-issues\n  b: { uses: nix }\n").every(({ message }) => !message.includes("kind")),
    ).toBe(true);
  });
});

describe("hostile input", () => {
  test.each([
    ["brackets", "[".repeat(500_000)],
    ["braces", "{a: ".repeat(200_000)],
    ["dashes", "- ".repeat(400_000)],
    ["question marks", "? ".repeat(400_000)],
    ["inline keys", "a: ".repeat(300_000)],
    ["indentation", Array.from({ length: 1000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
  ])("deep nesting of %s is refused without bringing the process down", (_, text) => {
    const [found, ...others] = mistakesOf(text);
    expect(found?.message).toContain("nested more than 64 levels deep");
    expect(others).toEqual([]);
  });

  test("a file that is too large is not parsed", () => {
    expect(mistakesOf("#".repeat(MAX_BYTES + 1))[0]).toMatchObject({ line: 1, message: expect.stringContaining("too large") });
  });

  test("aliases that expand without end are refused", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 12; level++)
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ")}]`);
    expect(read(lines.join("\n")).found.join()).toContain("aliases expand this to more than 200000 values");
  });

  test("aliases that nest without end are refused", () => {
    const lines = ["a0: &a0 [x]"];
    for (let level = 1; level < 5000; level++) lines.push(`a${level}: &a${level} [*a${level - 1}]`);
    expect(read(lines.join("\n")).found.join()).toContain("aliases expand this to more than 64 levels");
  });

  test("stray brackets by the hundred thousand give a handful of mistakes", () => {
    expect(mistakesOf(`a: 1\n${"]".repeat(200_000)}`).length).toBeLessThan(30);
  });

  test("documents by the hundred thousand give one mistake", () => {
    expect(mistakesOf("---\n".repeat(100_000))).toHaveLength(2);
  });
});

describe("any text", () => {
  const pieces = fc.constantFrom(
    ..."stages: |params: |uses: |needs: |with: |matrix: |kind: |fetch-issues|score|query-backend|a|b|c|: |- |{|}|[|]|,|\n|\n  |\n    |${|}|${params.a}|${matrix.a}|${env.A}|&x |*x|!t |\"|'|#|? |---\n|null|1|5%|1h|\t|\ufeff|\u0000|__proto__: |<<: |%|@|\\".split(
      "|",
    ),
  );
  const valid = (text: string, set: string[] = []) => {
    const result = check(text, { set });
    if (result.ok) expect(result.value.nodes.length).toBeGreaterThan(0);
    else {
      expect(result.error.some(({ severity }) => severity === "error")).toBe(true);
      for (const each of result.error)
        expect((each.line ?? 0) > 0 && (each.column ?? 0) > 0 && (each.length ?? 0) > 0).toBe(true);
    }
  };

  test("gives a graph or mistakes with places, and never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => valid(text)),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), fc.array(fc.string()), (parts, set) => valid(parts.join(""), set)),
      { numRuns: 1000 },
    );
  });

  test("a good file with a piece cut out or put in gives a graph or mistakes", () => {
    const good = [
      "params: { repo: a/b, list: [1, 2] }",
      "stages:",
      `  issues: { uses: fetch-issues, with: { repo: "\${params.repo}" }, retry: 3 }`,
      "  data: { uses: build-dataset, needs: issues }",
      "  answers:",
      "    uses: query-backend",
      "    needs: [data]",
      "    matrix:",
      "      backend:",
      "        - { kind: bm25, top: 3 }",
      "        - { kind: bm25, top: 5 }",
      `      repeats: "\${params.list}"`,
      "  scores: { uses: score, needs: [data, answers] }",
    ].join("\n");
    expect(check(good).ok).toBe(true);
    fc.assert(
      fc.property(fc.nat(good.length), fc.nat(12), fc.array(pieces, { maxLength: 3 }), (at, cut, put) => {
        valid(good.slice(0, at) + put.join("") + good.slice(at + cut));
      }),
      { numRuns: 500 },
    );
  });
});
