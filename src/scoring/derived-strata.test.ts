import { expect, test } from "vitest";
import { caseSchema } from "../dataset/schema.js";
import { derivedStrata, strataProblem } from "./derived-strata.js";

const asked = (paths: readonly string[], more: object = {}) =>
  caseSchema.parse({
    ...{ id: "o/r#1", repository: "o/r", number: 1, title: "t", body: "", created_at: "2023-12-31T23:59:59Z" },
    targets: paths.map((path) => ({ path, role: path.startsWith("test") ? "test" : "source" })),
    ...more,
  });

test.each([
  [1, "1"],
  [2, "2-3"],
  [3, "2-3"],
  [4, "4+"],
  [40, "4+"],
])("%i targets are %s", (count, value) => {
  const paths = Array.from({ length: count }, (_, index) => `src/${index}`);
  expect(derivedStrata(["targets"], asked(paths), paths)).toEqual({ targets: value });
});

test("only targets that count are counted, and give the role", () => {
  const one = asked(["src/a", "test/b"]);
  expect(derivedStrata(["targets", "role"], one, ["src/a"])).toEqual({ targets: "1", role: "source" });
  expect(derivedStrata(["targets", "role"], one, ["src/a", "test/b"])).toEqual({ targets: "2-3", role: "source and test" });
});

test("repository, year and a split by date; what is not said is unknown", () => {
  const names = ["repository", "year", "split=2024-01-01"];
  expect(derivedStrata(names, asked([]), [])).toEqual({ repository: "o/r", year: "2023", split: "before 2024-01-01" });
  expect(derivedStrata(names, asked([], { created_at: "2024-01-01T00:00:00Z" }), [])).toMatchObject({ split: "from 2024-01-01" });
  expect(derivedStrata(names, asked([], { created_at: null, repository: null }), [])).toEqual({
    ...{ repository: "unknown", year: "unknown", split: "unknown" },
  });
});

test("names are checked", () => {
  expect(["targets", "repository", "year", "role", "split=2024-02-29"].map(strataProblem)).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
  expect(strataProblem("leek")).toContain("targets, repository, year, role");
  expect(strataProblem("split=2024-13-40")).toContain("split=");
});
