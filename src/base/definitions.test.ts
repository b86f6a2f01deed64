import { expect, test } from "vitest";
import { type Definition, definitionNamed, namesOfHunks, namesOfLines, placesOf } from "./definitions.js";

const FILE: readonly Definition[] = [
  { kind: "class", name: "Outer", lines: [1, 40] },
  { kind: "function", name: "Outer.run", lines: [3, 10] },
  { kind: "function", name: "Outer.run.helper", lines: [5, 7] },
  { kind: "class", name: "Outer.Inner", lines: [12, 20] },
  { kind: "function", name: "Outer.Inner.run", lines: [13, 15] },
  { kind: "function", name: "Outer.over", lines: [22, 24] },
  { kind: "function", name: "Outer.over", lines: [26, 28] },
  { kind: "function", name: "main", lines: [42, 44] },
];

test("of each line the innermost one counts", () => {
  expect(namesOfLines(FILE, "function", [6, 6])).toEqual(["Outer.run.helper"]);
  expect(namesOfLines(FILE, "function", [5, 7])).toEqual(["Outer.run.helper"]);
  expect(namesOfLines(FILE, "function", [4, 6])).toEqual(["Outer.run", "Outer.run.helper"]);
  expect(namesOfLines(FILE, "class", [13, 13])).toEqual(["Outer.Inner"]);
  expect(namesOfLines(FILE, "class", [20, 21])).toEqual(["Outer", "Outer.Inner"]);
  expect(namesOfLines(FILE, "function", [11, 12])).toEqual([]);
  expect(namesOfLines(FILE, "class", [41, 44])).toEqual([]);
  expect(namesOfLines(FILE, "function", [1, 100])).toEqual([
    "Outer.run",
    "Outer.run.helper",
    "Outer.Inner.run",
    "Outer.over",
    "main",
  ]);
});

test("an insertion belongs to what holds both of its neighbours", () => {
  expect(namesOfHunks(FILE, "function", [[9, 0]])).toEqual(["Outer.run"]);
  // Between two functions: neither, but their class.
  expect(
    namesOfHunks(FILE, "function", [
      [10, 0],
      [2, 0],
    ]),
  ).toEqual([]);
  expect(namesOfHunks(FILE, "class", [[10, 0]])).toEqual(["Outer"]);
  expect(
    namesOfHunks(FILE, "class", [
      [40, 0],
      [0, 0],
    ]),
  ).toEqual([]);
  expect(
    namesOfHunks(FILE, "function", [
      [23, 1],
      [27, 1],
    ]),
  ).toEqual(["Outer.over"]);
});

test("overloads are one name with two places", () => {
  expect(placesOf(FILE, "function", "Outer.over")).toEqual([
    [22, 24],
    [26, 28],
  ]);
});

test("names in a text: whole, the end of one, or with a package before; what means several means none", () => {
  expect(definitionNamed(FILE, "function", "Outer.run")).toBe("Outer.run");
  expect(definitionNamed(FILE, "function", "run")).toBeNull();
  expect(definitionNamed(FILE, "function", "over(int, String)")).toBe("Outer.over");
  expect(definitionNamed(FILE, "function", "org.x.Outer.Inner.run")).toBe("Outer.Inner.run");
  expect(definitionNamed(FILE, "class", "org.x.Outer$Inner")).toBe("Outer.Inner");
  expect(definitionNamed(FILE, "class", "Inner")).toBe("Outer.Inner");
  expect(definitionNamed(FILE, "class", "Nothing")).toBeNull();
  expect(definitionNamed(FILE, "function", "Outer#over")).toBe("Outer.over");
  expect(definitionNamed(FILE, "function", "()")).toBeNull();
});
