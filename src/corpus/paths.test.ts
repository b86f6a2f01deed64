import { posix, win32 } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LeftOut, treePath } from "./paths.js";

describe("treePath", () => {
  test.each([
    ["src/A.java", "src/A.java"],
    ["./src//A.java", "src/A.java"],
    ["a/./b/", "a/b"],
    ["src/Épée.java", "src/Épée.java"],
    ["src/my dir/..hidden", "src/my dir/..hidden"],
    [".github/workflows/x.yml", ".github/workflows/x.yml"],
    ["__proto__/constructor", "__proto__/constructor"],
  ])("%j is the path %j", (raw, path) => expect(treePath(raw)).toEqual({ ok: true, value: path }));

  test.each([
    "",
    ".",
    "/etc/passwd",
    "C:/x",
    "c:x",
    "../x",
    "a/../../x",
    "a/..",
    "a\\..\\b",
    "a\0b",
    "a\u001bb",
    ".git/config",
    "x/.GIT/hooks/post-checkout",
    "x/.git./y",
    "x/GIT~1/y",
    "x/.g\u200cit/y",
    "x/.git::$INDEX_ALLOCATION/y",
    "\ufffd",
    "x".repeat(5000),
  ])("%j is refused with a reason", (raw) => {
    const result = treePath(raw);
    expect(result.ok).toBe(false);
    expect(!result.ok && result.error.length).toBeGreaterThan(5);
  });

  test("whatever is accepted stays below its root, on every system, and is in its final form", () => {
    const segment = fc.oneof(fc.constantFrom("..", ".", "", "a", "C:", ".git", "b.java", " ", "~"), fc.string({ maxLength: 6 }));
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 6 }), (segments) => {
        const result = treePath(segments.join("/"));
        if (!result.ok) return;
        expect(posix.join("/root", result.value).startsWith("/root/")).toBe(true);
        expect(win32.join("C:\\root", result.value).startsWith("C:\\root\\")).toBe(true);
        expect(treePath(result.value)).toEqual(result);
      }),
      { numRuns: 2000 },
    );
  });
});

test("notes name the first few and count the rest, in an order of their own", () => {
  const leftOut = new LeftOut();
  for (const name of ["g", "f", "e", "d", "c", "b", "a"]) leftOut.add("links are not followed", name);
  leftOut.add("a device", "z");
  expect(leftOut.notes()).toEqual(["1 left out (a device): z", "7 left out (links are not followed): a, b, c, d, e and 2 more"]);
});
