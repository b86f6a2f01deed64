import { expect, test } from "vitest";
import { roleAudit } from "./role-audit.js";

const file = (path: string, role: "test" | "docs" | "source") => ({ path, role });

test("says how many files of which role went, of how many issues, and which issues have nothing left", () => {
  const lines = roleAudit(
    [
      { id: "o/r#1", files: [file("ATest.java", "test"), file("a.md", "docs")], left: 1 },
      { id: "o/r#2", files: [file("BTest.java", "test")], left: 0 },
      { id: "o/r#3", files: [], left: 2 },
      // No file of it was left out: that it has no target is not the roles' doing.
      { id: "o/r#4", files: [], left: 0 },
    ],
    ["source"],
  );
  expect(lines).toEqual([
    {
      rule: "role",
      removed: 3,
      what: "changed files of other roles than source: test 2, docs 1; of 2 issues, 1 of which have no target left",
      items: ["o/r#1: ATest.java", "o/r#1: a.md", "o/r#2: BTest.java"],
    },
    expect.objectContaining({ rule: "role-no-target", removed: 1, items: ["o/r#2"] }),
  ]);
});

test("nothing left out, nothing said", () => {
  expect(roleAudit([{ id: "o/r#1", files: [], left: 0 }], null)).toEqual([]);
});
