import { expect, test } from "vitest";
import { isRepositoryName, placeOfRepository } from "./repository-template.js";

test.each(["../etc", "o/..", "./r", "o/r/x", "-o/r", "o/-r", "o", "o/", "o/r\n", "o/r?x", "host:o/r", "o\\r/x"])(
  "%j is no repository",
  (name) => {
    expect(isRepositoryName(name)).toBe(false);
    expect(placeOfRepository("https://example.org/{repository}", name, "/").ok).toBe(false);
  },
);

test("a name is put into an address, and into a path", () => {
  expect(placeOfRepository("https://example.org/{repository}.git", "o/r.js", "/")).toMatchObject({
    value: { kind: "url", url: "https://example.org/o/r.js.git" },
  });
  expect(placeOfRepository("../repos/{repository}", "o/r", "/work/p")).toMatchObject({
    value: { kind: "path", path: "/work/repos/o/r" },
  });
  expect(placeOfRepository("https://example.org/{repository}", null, "/").ok).toBe(false);
  expect(placeOfRepository("https://example.org/o/r", null, "/").ok).toBe(true);
});
