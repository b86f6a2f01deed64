import fc from "fast-check";
import { expect, test } from "vitest";
import { filesOfPatch } from "./patch.js";

const facts = (patch: string) =>
  filesOfPatch(patch).map(({ path, status, previous_path, additions, deletions }) => [
    path,
    status,
    previous_path,
    additions,
    deletions,
  ]);

test("modified, added, removed, renamed, copied", () => {
  const patch = `diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,4 @@ def f():
 x
-y
+z
+w
 v
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+n
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-g
\\ No newline at end of file
diff --git a/old name.py b/new name.py
similarity index 100%
rename from old name.py
rename to new name.py
diff --git a/o.py b/c.py
copy from o.py
copy to c.py
diff --git a/empty.py b/empty.py
new file mode 100644
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
`;
  expect(facts(patch)).toEqual([
    ["src/a.py", "modified", null, 2, 1],
    ["new.py", "added", null, 1, 0],
    ["gone.py", "removed", null, 0, 1],
    ["new name.py", "renamed", "old name.py", 0, 0],
    ["c.py", "copied", "o.py", 0, 0],
    ["empty.py", "added", null, 0, 0],
    ["logo.png", "modified", null, 0, 0],
  ]);
});

test("lines that look like headers inside of a hunk are content", () => {
  const patch =
    "diff --git a/x.sql b/x.sql\n--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a/evil.sql\n-diff --git a/q b/q\n+++ b/evil.sql\n+@@ -1 +1 @@\n";
  expect(facts(patch)).toEqual([["x.sql", "modified", null, 2, 2]]);
});

test("a plain unified diff without git's lines, and names with dates", () => {
  const patch = "--- a/x.c\t2020-01-01\n+++ b/x.c\t2020-01-02\n@@ -1 +1 @@\n-a\n+b\n--- a/y.c\n+++ b/y.c\n@@ -1 +1 @@\n-a\n+b\n";
  expect(facts(patch).map(([path]) => path)).toEqual(["x.c", "y.c"]);
});

test("quoted names", () => {
  const patch =
    'diff --git "a/\\303\\251\\"\\t.txt" "b/\\303\\251\\"\\t.txt"\n--- "a/\\303\\251\\"\\t.txt"\n+++ "b/\\303\\251\\"\\t.txt"\n@@ -1 +1 @@\n-a\n+b\n';
  expect(facts(patch).map(([path]) => path)).toEqual(['é"\t.txt']);
});

test("any text gives a list, and no file without a name", () => {
  const line = fc.oneof(
    fc.constantFrom("--- a/x", "+++ b/x", "diff --git a/x b/x", "@@ -1,2 +1,2 @@", "rename to y", "+", "-", '"', "+++ "),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      for (const { path } of filesOfPatch(lines.join("\n"))) expect(path).not.toBe("");
    }),
  );
});

test("old sides of the changes: of a file that was there, told as lines", () => {
  const patch = [
    "diff --git a/a.py b/a.py",
    "--- a/a.py",
    "+++ b/a.py",
    "@@ -1,3 +1,3 @@",
    " x",
    "-y",
    "+z",
    " v",
    "@@ -10,2 +10,3 @@",
    " p",
    "+q",
    " r",
    "diff --git a/moved.py b/there.py",
    "similarity index 100%",
    "rename from moved.py",
    "rename to there.py",
    "diff --git a/pic.png b/pic.png",
    "Binary files a/pic.png and b/pic.png differ",
    "diff --git a/new.py b/new.py",
    "new file mode 100644",
    "--- /dev/null",
    "+++ b/new.py",
    "@@ -0,0 +1 @@",
    "+n",
    "",
  ].join("\n");
  expect(filesOfPatch(patch).map(({ path, hunks }) => [path, hunks])).toEqual([
    [
      "a.py",
      [
        [2, 1],
        [10, 0],
      ],
    ],
    ["there.py", []],
    ["pic.png", undefined],
    ["new.py", undefined],
  ]);
});
