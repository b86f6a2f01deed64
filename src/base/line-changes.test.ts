import fc from "fast-check";
import { expect, test } from "vitest";
import { carryBack, type Hunk, hunksOfDiff, rangesOf, uniteHunks } from "./line-changes.js";

test("changed runs of a diff with context, without the context", () => {
  const diff = [
    "diff --git a/x b/x",
    "--- a/x",
    "+++ b/x",
    "@@ -1,7 +1,8 @@",
    " 1",
    "-2",
    "+two",
    "+more",
    " 3",
    " 4",
    "+new",
    " 5",
    "-6",
    " 7",
    "",
  ];
  expect(hunksOfDiff(diff.join("\n"))).toEqual([
    { old: [2, 1], new: [2, 2] },
    { old: [4, 0], new: [6, 1] },
    { old: [6, 1], new: [7, 0] },
  ]);
});

test("without context the header says where: before the first line, after the last", () => {
  expect(hunksOfDiff("@@ -0,0 +1,2 @@\n+a\n+b\n@@ -9 +12,0 @@\n-x\n\\ No newline at end of file\n")).toEqual([
    { old: [0, 0], new: [1, 2] },
    { old: [9, 1], new: [12, 0] },
  ]);
});

test("what looks like a header inside a hunk is content; no hunk is no answer", () => {
  expect(hunksOfDiff("@@ -1,2 +1,2 @@\n-@@ -5 +5 @@\n+--- a\n x\n")).toEqual([{ old: [1, 1], new: [1, 1] }]);
  expect(hunksOfDiff("Binary files a/x and b/x differ\n")).toBeNull();
  expect(hunksOfDiff("")).toBeNull();
});

test("ranges: an insertion concerns its neighbours, what overlaps is one", () => {
  expect(
    rangesOf([
      [5, 2],
      [6, 0],
      [10, 0],
    ]),
  ).toEqual([
    [5, 7],
    [10, 11],
  ]);
  expect(rangesOf([[0, 0]])).toEqual([[1, 1]]);
  expect(rangesOf([[10, 0]], 10)).toEqual([[10, 10]]);
  expect(
    uniteHunks([
      [6, 0],
      [5, 2],
      [6, 3],
      [20, 0],
      [20, 0],
    ]),
  ).toEqual([
    [5, 4],
    [20, 0],
  ]);
});

/** A random diff: the old and the new lines, and the hunks between them. Lines are told apart by their numbers. */
const diffs = fc
  .array(
    fc.record({
      same: fc.integer({ min: 1, max: 4 }),
      gone: fc.integer({ min: 0, max: 3 }),
      come: fc.integer({ min: 0, max: 3 }),
    }),
    {
      maxLength: 6,
    },
  )
  .map((parts) => {
    const old: string[] = [];
    const now: string[] = [];
    const hunks: Hunk[] = [];
    for (const [index, { same, gone, come }] of parts.entries()) {
      for (let i = 0; i < same; i++) {
        old.push(`s${index}.${i}`);
        now.push(`s${index}.${i}`);
      }
      if (gone === 0 && come === 0) continue;
      hunks.push({
        old: [gone === 0 ? old.length : old.length + 1, gone],
        new: [come === 0 ? now.length : now.length + 1, come],
      });
      for (let i = 0; i < gone; i++) old.push(`g${index}.${i}`);
      for (let i = 0; i < come; i++) now.push(`c${index}.${i}`);
    }
    return { old, now, hunks };
  });

test("lines that both files have are carried back to themselves; others to what they came from", () => {
  fc.assert(
    fc.property(diffs, ({ old, now, hunks }) => {
      for (const [index, line] of now.entries()) {
        const [start, count] = carryBack([index + 1, 1], hunks);
        if (line.startsWith("s")) expect([old[start - 1], count]).toEqual([line, 1]);
        else for (let at = start; at < start + count; at++) expect(old[at - 1]?.startsWith("g")).toBe(true);
        expect(start).toBeGreaterThanOrEqual(count === 0 ? 0 : 1);
        expect(start + count - 1).toBeLessThanOrEqual(old.length);
      }
      // All of the later file is all of the earlier one, if both begin and end with a line that they share.
      if (now.length > 0 && old.length > 0 && now.at(-1) === old.at(-1))
        expect(carryBack([1, now.length], hunks)).toEqual([1, old.length]);
    }),
  );
});

test("a diff in text reads back as its hunks", () => {
  fc.assert(
    fc.property(diffs, ({ old, now, hunks }) => {
      const text = hunks
        .map(({ old: [a, b], new: [c, d] }) => {
          const gone = b === 0 ? [] : old.slice(a - 1, a - 1 + b);
          const come = d === 0 ? [] : now.slice(c - 1, c - 1 + d);
          return [`@@ -${a},${b} +${c},${d} @@`, ...gone.map((line) => `-${line}`), ...come.map((line) => `+${line}`)].join("\n");
        })
        .join("\n");
      expect(hunksOfDiff(text) ?? []).toEqual(hunks);
    }),
  );
});
