import { describe, expect, test } from "vitest";
import { type BuildOptions, buildDataset, changedFile, datasetDigest, type IssueWithLinks, type MinedIssue } from "./build.js";
import { type ChangedFile, caseSchema, datasetHeaderSchema, type Link } from "./schema.js";
import { selectTargets } from "./targets.js";

const options: BuildOptions = {
  project: "O/R",
  url: "https://x/O/R",
  scanned: 9,
  links: "closing",
  notes: [],
  extensions: null,
  roles: null,
};

function issue(number: number, over: Partial<MinedIssue> = {}): MinedIssue {
  return {
    id: `o/r#${number}`,
    repository: "O/R",
    number,
    number_is_real: true,
    title: `t${number}`,
    body: null,
    url: null,
    created_at: null,
    closed_at: null,
    state_reason: null,
    labels: [],
    ...over,
  };
}

function file(path: string, over: Partial<ChangedFile> = {}): ChangedFile {
  return { ...changedFile({ path, status: "modified", previous_path: null, additions: 1, deletions: 1 }), ...over };
}

function link(number: number, merged: string | null, files: ChangedFile[], over: Partial<Link> = {}): Link {
  return {
    repository: "o/r",
    number,
    title: null,
    url: null,
    merged_at: merged,
    grade: "keyword",
    evidence: [],
    base_commit: `base${number}`,
    merge_commit: null,
    files_truncated: false,
    files,
    ...over,
  };
}

function entry(number: number, links: Link[], over: Partial<IssueWithLinks> = {}): IssueWithLinks {
  return { issue: issue(number), links, dropped: [], unknown: null, ...over };
}

const targets = (links: Link[], policy: Partial<BuildOptions> = {}) =>
  selectTargets(links, { ...options, ...policy }).targets.map(({ path, status, renamed_to }) => [path, status, renamed_to]);

describe("targets", () => {
  test("are the union over links, sorted, each once", () => {
    expect(
      targets([link(1, "2020-01-01T00:00:00Z", [file("b"), file("a")]), link(2, "2020-01-02T00:00:00Z", [file("b"), file("c")])]),
    ).toEqual([
      ["a", "modified", null],
      ["b", "modified", null],
      ["c", "modified", null],
    ]);
  });

  test("a renamed file counts by its old path, a copy and an added file by their own", () => {
    expect(
      targets([
        link(1, "2020-01-01T00:00:00Z", [
          file("New.java", { status: "renamed", previous_path: "Old.java" }),
          file("Copy.java", { status: "copied", previous_path: "Origin.java" }),
          file("Added.java", { status: "added" }),
          file("Gone.java", { status: "removed" }),
          file("Same.java", { status: "unchanged" }),
        ]),
      ]),
    ).toEqual([
      ["Added.java", "added", null],
      ["Copy.java", "copied", null],
      ["Gone.java", "removed", null],
      ["Old.java", "renamed", "New.java"],
    ]);
  });

  test("later links are read back to the names before the first, in merge order and not in the order given", () => {
    const rename = link(1, "2020-01-01T00:00:00Z", [file("B", { status: "renamed", previous_path: "A" })]);
    const edit = link(2, "2020-01-02T00:00:00Z", [file("B")]);
    const again = link(3, "2020-01-03T00:00:00+02:00", [file("C", { status: "renamed", previous_path: "B" })]);
    expect(targets([again, edit, rename])).toEqual([["A", "renamed", "C"]]);
  });

  test("two files that swap names in one change are two targets", () => {
    const swap = link(1, "2020-01-01T00:00:00Z", [
      file("A", { status: "renamed", previous_path: "B" }),
      file("B", { status: "renamed", previous_path: "A" }),
    ]);
    const edit = link(2, "2020-01-02T00:00:00Z", [file("A")]);
    expect(targets([swap, edit]).map(([path]) => path)).toEqual(["A", "B"]);
  });

  test("a file that a linked change added and another edited is added: the tree before lacks it", () => {
    expect(
      targets([link(2, "2020-01-02T00:00:00Z", [file("N")]), link(1, "2020-01-01T00:00:00Z", [file("N", { status: "added" })])]),
    ).toEqual([["N", "added", null]]);
  });

  test("extensions ignore letter case, roles are the path's; what is left out is listed", () => {
    const links = [link(1, null, [file("src/A.JAVA"), file("src/ATest.java"), file("x.md")])];
    const selected = selectTargets(links, { extensions: [".java"], roles: ["source"] });
    expect(selected).toMatchObject({
      targets: [{ path: "src/A.JAVA" }],
      otherExtension: ["x.md"],
      otherRole: [{ path: "src/ATest.java", role: "test" }],
    });
  });
});

describe("buildDataset", () => {
  test("cases are complete, sorted by number, named in lower case", () => {
    const { header, cases } = buildDataset(
      [
        entry(12, [link(3, "2020-01-02T00:00:00Z", [file("A.java")])], { issue: issue(12, { id: "O/R#12", body: null }) }),
        entry(2, [link(1, null, [])]),
      ],
      options,
    );
    expect(cases.map(({ id }) => id)).toEqual(["o/r#2", "o/r#12"]);
    for (const one of cases) expect(caseSchema.parse(JSON.parse(JSON.stringify(one)))).toEqual(one);
    expect(datasetHeaderSchema.parse(JSON.parse(JSON.stringify(header)))).toEqual(header);
    expect(cases[1]).toMatchObject({ body: "", repository: "o/r", best_grade: "keyword", strata: { links: "keyword" } });
    expect(header).toMatchObject({ project_name: "o/r", scanned: 9, links: "closing" });
  });

  test("the base commit is that of the earliest link of the same repository, never a later one's", () => {
    const base = (links: Link[]) => buildDataset([entry(1, links)], options).cases[0]?.base_commit;
    const early = link(5, "2020-01-01T00:00:00Z", []);
    const late = link(4, "2020-02-01T00:00:00Z", []);
    expect(base([late, early])).toBe("base5");
    expect(base([late, { ...early, repository: "other/r" }])).toBe("base4");
    expect(base([late, { ...early, base_commit: null }])).toBeNull();
  });

  test("the best grade is the stratum", () => {
    const { cases } = buildDataset(
      [entry(1, [link(1, null, [], { grade: "curated" }), link(2, null, [], { grade: "commit" })])],
      options,
    );
    expect(cases[0]).toMatchObject({ best_grade: "commit", strata: { links: "commit" } });
  });

  test("nothing is dropped without a line in the audit", () => {
    const { header, cases } = buildDataset(
      [
        entry(1, [link(1, null, [file("A.java"), file("b.md")])], { dropped: [{ rule: "reverted", what: "x", item: "o/r#9" }] }),
        entry(2, [], {
          dropped: [
            { rule: "other-repository", what: "y", item: "z/z#1" },
            { rule: "own-rule", what: "my words", item: "o/r#2" },
          ],
        }),
        entry(3, [], { unknown: "its links could not be fetched" }),
        entry(1, [link(7, null, [file("C.java")])]),
      ],
      { ...options, extensions: [".java"] },
    );
    expect(cases.map(({ id, targets: found }) => [id, found.map(({ path }) => path)])).toEqual([["o/r#1", ["A.java"]]]);
    expect(Object.fromEntries(header.audit.map(({ rule, removed, items }) => [rule, [removed, ...items]]))).toEqual({
      "duplicate-issue": [1, "o/r#1"],
      extensions: [1, "o/r#1: b.md"],
      "no-accepted-link": [1, "o/r#2"],
      "other-repository": [1, "o/r#2 <- z/z#1"],
      "own-rule": [1, "o/r#2"],
      reverted: [1, "o/r#1 <- o/r#9"],
      "truth-unknown": [1, "o/r#3"],
    });
    expect(header.audit.find(({ rule }) => rule === "own-rule")?.what).toBe("my words");
  });

  test("what a reader must know is noted: made-up numbers, cases without targets, added and cut files", () => {
    const { header } = buildDataset(
      [
        entry(100001, [link(1, null, [file("N", { status: "added" })], { files_truncated: true })], {
          issue: issue(100001, { number_is_real: false }),
        }),
        entry(2, [link(2, null, [])]),
      ],
      { ...options, notes: ["from the source"] },
    );
    expect(header.notes).toEqual([
      "from the source",
      "1 of 2 cases have no real number; theirs are made up (100001 and up)",
      expect.stringContaining("1 of 2 cases have no target"),
      expect.stringContaining("1 targets are files that the fix added"),
      expect.stringContaining("1 pull requests are cut: o/r#1"),
    ]);
  });

  test("the digest is that of the cases, and independent of the order in which issues came", () => {
    const a = entry(1, [link(1, null, [file("a")])]);
    const b = entry(2, [link(1, null, [file("a")])]);
    const digest = (issues: IssueWithLinks[], over: Partial<BuildOptions> = {}) =>
      datasetDigest(buildDataset(issues, { ...options, ...over }));
    expect(digest([a, b])).toBe(digest([b, a], { notes: ["x"] }));
    expect(digest([a])).not.toBe(digest([b]));
  });
});
