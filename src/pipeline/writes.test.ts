import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { insideProject, pathsAt } from "./writes.js";

describe("insideProject", () => {
  test.each([
    ["out", "/p/pipelines/out"],
    ["../out/x.json", "/p/out/x.json"],
    ["./a/../b/", "/p/pipelines/b"],
    ["..", "/p"],
    ["/p/x", "/p/x"],
    ["..foo", "/p/pipelines/..foo"],
    ["../..", null],
    ["../../p2/x", null],
    ["/etc/passwd", null],
    ["/p/../etc", null],
    ["..\\..\\x", null],
    ["C:\\x", null],
    ["C:x", null],
    ["\\\\host\\share", null],
    ["/pother", null],
    ["a\u0000b", null],
  ])("%j in /p/pipelines of /p -> %j", (path, expected) => {
    expect(insideProject(path, "/p/pipelines", "/p")).toBe(expected);
  });

  test("drives compare without letter case; a project may be the root", () => {
    expect(insideProject("out", "C:/work/pipelines", "c:\\work")).toBe("C:/work/pipelines/out");
    expect(insideProject("D:/work/x", "C:/work", "C:/work")).toBeNull();
    expect(insideProject("../x", "/a", "/")).toBe("/x");
  });

  test("whatever the steps, what is called inside is inside", () => {
    const step = fc.constantFrom("..", ".", "a", "", "b\\..\\..", "...");
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const resolved = insideProject(steps.join("/"), "/p/q", "/p");
        if (resolved !== null) {
          expect(resolved === "/p" || resolved.startsWith("/p/")).toBe(true);
          expect(resolved.split("/")).not.toContain("..");
        }
      }),
    );
  });
});

test("pathsAt follows dots and gives each text of a list", () => {
  const config = { out: "a", files: { table: ["b", 5, "c"] }, toString: "d" };
  expect(pathsAt(config, "out")).toEqual([{ path: ["out"], text: "a" }]);
  expect(pathsAt(config, "files.table").map(({ path, text }) => [path.join("/"), text])).toEqual([
    ["files/table/0", "b"],
    ["files/table/2", "c"],
  ]);
  expect(pathsAt(config, "files.none.deep")).toEqual([]);
  expect(pathsAt({}, "constructor.name")).toEqual([]);
});
