import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { labelsOf } from "./matrix.js";
import { Mistakes, SourceText } from "./mistakes.js";
import { isReserved, MAX_LABEL, safeLabel, uniqueLabels } from "./names.js";
import type { SourceNode } from "./tree.js";
import { readYaml } from "./yaml.js";

function labels(list: string): string[] {
  const node: SourceNode | null = readYaml(new Mistakes(new SourceText("f", list)));
  if (node?.type !== "list") throw new Error("not a list");
  return uniqueLabels(labelsOf(node.items, "backend"));
}

describe("labels say what differs and no more", () => {
  test.each([
    ["scalars as text", "[strict, 5, 0.5, true, null, 1.10]", ["strict", "5", "0.5", "true", "null", "1.10"]],
    ["the kind alone where that is enough", "[{ kind: bm25, top: 5 }, { kind: random }]", ["bm25", "random"]],
    [
      "what differs among cells of a kind",
      "[{ kind: g, dir: x, m: local }, { kind: g, dir: x, m: drift }, { kind: b }]",
      ["g-local", "g-drift", "b"],
    ],
    ["several that differ", "[{ kind: g, m: a, n: 1 }, { kind: g, m: b, n: 2 }]", ["g-a-1", "g-b-2"]],
    ["one that not all have", "[{ kind: g }, { kind: g, top: 30 }]", ["g", "g-30"]],
    ["names", "[{ name: My Best, kind: g }, { kind: g, top: 1 }]", ["my-best", "g"]],
    ["a number as name", "[{ name: 7, kind: g }]", ["7"]],
    ["the same name twice", "[{ name: a, kind: g }, { name: A, kind: b }]", ["a", "a-2"]],
    ["paths", "[{ kind: g, dir: ../a/b }, { kind: g, dir: ../c }]", ["g-a-b", "g-c"]],
    ["a user's module", "[{ kind: ./lib/mine.js }, { kind: ../other.mjs, x: 1 }]", ["mine", "other"]],
    ["no kind", "[{ top: 5 }, { top: 10 }]", ["5", "10"]],
    ["neither kind nor difference", "[{ top: 5 }]", ["backend"]],
    ["lists", "[[a, b], [c]]", ["a-b", "c"]],
    ["what has no short text", "[{ kind: g, o: { x: 1 } }, { kind: g, o: { x: 2 } }]", ["g", "g-2"]],
    [
      "difference in the last characters of a long text",
      `[{ kind: g, p: ${"x".repeat(50)}a }, { kind: g, p: ${"x".repeat(50)}b }]`,
      [`g-${"x".repeat(32)}`, `g-${"x".repeat(32)}-2`],
    ],
  ])("%s", (_, list, expected) => {
    expect(labels(list)).toEqual(expected);
  });
});

describe("labels are file names everywhere", () => {
  test.each([
    ["A/B\\C:D", "a-b-c-d"],
    ["..", "cell"],
    [".hidden", "hidden"],
    ["Größe é", "gro-e-e"],
    ["con", "_con"],
    ["NUL.txt", "_nul.txt"],
    ["com1", "_com1"],
    ["company", "company"],
    ["", "cell"],
    ["日本", "cell"],
    ["a--b", "a-b"],
  ])("%j -> %j", (text, expected) => {
    expect(safeLabel(text)).toBe(expected);
  });

  test("whatever the texts: safe, short, unlike one another, and the same each time", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("a", "A", "a-2", "con", "x".repeat(200))), {
          maxLength: 30,
        }),
        (texts) => {
          const made = uniqueLabels(texts);
          expect(new Set(made).size).toBe(texts.length);
          for (const label of made) {
            expect(label).toMatch(/^[a-z0-9_][a-z0-9._-]*$/);
            expect(label).not.toMatch(/\.$/);
            expect(label.length).toBeLessThanOrEqual(MAX_LABEL + 1);
            expect(isReserved(label)).toBe(false);
          }
          expect(uniqueLabels(texts)).toEqual(made);
        },
      ),
    );
  });
});
