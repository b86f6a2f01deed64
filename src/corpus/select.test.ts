import { expect, test } from "vitest";
import { folderSelector, globProblem, nothingSelected, selector } from "./select.js";

test("include and exclude see whole paths, hidden ones too", () => {
  const java = selector({ include: ["framework/src/**/*.java"], exclude: ["**/*Test.java"] });
  expect(java("framework/src/org/A.java")).toBe(true);
  expect(java("framework/src/A.java")).toBe(true);
  expect(java("framework/src/.x/A.java")).toBe(true);
  expect(java("framework/src/org/ATest.java")).toBe(false);
  expect(java("other/framework/src/A.java")).toBe(false);
  const top = selector({ include: ["./*.java"], exclude: [] });
  expect(top("A.java")).toBe(true);
  expect(top("x/A.java")).toBe(false);
  expect(selector({ include: [], exclude: [] })(".hidden")).toBe(true);
  expect(selector({ include: [], exclude: ["test/**"] })("test/x/y")).toBe(false);
});

test.each(["", " ", "!x", "/abs", "a\\b", "../x", "x".repeat(501)])("%j is refused", (glob) => {
  expect(globProblem(glob)).toEqual(expect.any(String));
});

test("an empty choice says which globs made it", () => {
  expect(nothingSelected("npm:x@1.0.0", 12, { include: ["*.java"], exclude: [] })).toContain(
    "none of the 12 files of npm:x@1.0.0 is selected by include *.java",
  );
});

test.each<[string[], string[], string, boolean]>([
  [[], [], "a", true],
  [["src/**/*.java"], [], "docs", false],
  [["src/**/*.java"], [], "src", true],
  [["src/main/**/*.java"], [], "src", true],
  [["src/main/**/*.java"], [], "src/main/java", true],
  [["src/*.java"], [], "srcs", false],
  [["**/*.java", "docs/*"], [], "any/where", true],
  [["src/A.java"], [], "src", true],
  [["src/A.java"], [], "lib", false],
  [[], ["vendor/**"], "vendor", false],
  [[], ["vendor/**"], "vendor/deep", false],
  [[], ["**/vendor/**"], "a/vendor", false],
  [[], ["vendor/*"], "vendor", true],
  [[], ["vendor/*/*/*"], "vendor", true],
  [[], ["vendor/**/*.js"], "vendor", true],
  [[], ["vendor"], "vendor", true],
])("include %j, exclude %j: may the folder %s hold what is chosen? %s", (include, exclude, folder, expected) => {
  expect(folderSelector({ include, exclude })(folder)).toBe(expected);
});
