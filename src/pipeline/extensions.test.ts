// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in pipeline files are the subject here
import fc from "fast-check";
import { expect, test } from "vitest";
import { extensionPaths, isModulePath } from "./extensions.js";

test.each([
  ["./x", true],
  ["../lib/x.ts", true],
  ["x.js", true],
  ["x.mjs", true],
  ["score", false],
  ["a.json", false],
  [".js/x", false],
])("isModulePath(%j) = %j", (text, expected) => {
  expect(isModulePath(text)).toBe(expected);
});

test("stages, backends in `with` and in matrices, each once, in the order of the file", () => {
  const text = [
    "stages:",
    "  a: { uses: ./stage.js, with: { script: ./not-a-module.js } }",
    "  b: { uses: query-backend, with: { backend: { kind: ../b.ts } } }",
    "  c:",
    "    uses: query-backend",
    "    matrix:",
    "      backend: [{ kind: bm25 }, { kind: ./c.mjs }, { kind: ../b.ts }]",
    "  d: { uses: ./stage.js }",
  ].join("\n");
  expect(extensionPaths(text)).toEqual(["./stage.js", "../b.ts", "./c.mjs"]);
});

test("through parameters, --set and matrix values", () => {
  const text = [
    "params: { k: ./p.js, list: [{ kind: ./l.js }], unused: ./u.js, s: bm25 }",
    "stages:",
    '  a: { uses: query-backend, with: { backend: { kind: "${params.k}" } } }',
    '  b: { uses: query-backend, matrix: { backend: "${params.list}" } }',
    '  c: { uses: query-backend, matrix: { tool: [./m.js] }, with: { backend: { kind: "${matrix.tool}" } } }',
    '  d: { uses: query-backend, with: { backend: { kind: "${params.s}" } } }',
  ].join("\n");
  expect(extensionPaths(text)).toEqual(["./p.js", "./l.js", "./m.js"]);
  expect(extensionPaths(text, ["s=./s.js", "k=bm25"])).toEqual(["./l.js", "./m.js", "./s.js"]);
});

test("files with mistakes give what can be made out, and nothing throws or hangs", () => {
  expect(extensionPaths("stages:\n  a: { uses: ./x.js, uses: ./y.js, foo: 1 }\n  b: 5\n")).toEqual(["./x.js"]);
  expect(extensionPaths('params: { a: { x: "${params.a}" } }\nstages: { s: { with: { y: "${params.a}" } } }')).toEqual([]);
  expect(extensionPaths("")).toEqual([]);
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void extensionPaths(text)));
});
