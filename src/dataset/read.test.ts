import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { processorSeconds } from "../../test/rigs/processor-time.js";
import { buildDataset, changedFile, datasetDigest } from "./build.js";
import { minedFile, minedFileStem } from "./mined-file.js";
import { readDataset } from "./read.js";
import { restrictDataset } from "./restrict.js";
import { type Dataset, LINK_GRADES } from "./schema.js";

const shared = resolve(import.meta.dirname, "../../../shared/data");

function read(text: string, file = "data/x.json") {
  const result = readDataset(text, file);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

function failure(text: string) {
  const result = readDataset(text, "x.json");
  return result.ok ? null : result.error;
}

/** As the original writes it; `text` absent in its older versions. */
function originalIssue(number: number, files: string[], over: Record<string, unknown> = {}) {
  return {
    number,
    title: `t${number}`,
    url: `https://github.com/O/R/issues/${number}`,
    description_message: "text",
    created_at: "2020-01-01T00:00:00Z",
    closed_at: "2020-02-01T00:00:00Z",
    linked_merged_pull_request_urls: ["https://github.com/O/R/pull/9"],
    linked_merged_pull_requests: [
      {
        number: 9,
        title: "fix",
        url: "u",
        repository: "O/R",
        merged_at: "2020-01-15T00:00:00Z",
        impacted_files: files,
        impacted_files_count: files.length,
      },
    ],
    ...over,
  };
}

function original(issues: unknown[]): string {
  return JSON.stringify({
    project_name: "o/r",
    github_url: "https://github.com/O/R",
    mined_at: "x",
    total_closed_issues_scanned: 201,
    total_relevant_issues: issues.length,
    issues,
  });
}

const built: Dataset = buildDataset(
  [
    {
      issue: {
        id: "o/r#7",
        repository: "O/R",
        number: 7,
        number_is_real: true,
        title: "t",
        body: "b",
        url: "https://x/7",
        created_at: "2020-01-01T00:00:00Z",
        closed_at: "2020-02-01T00:00:00Z",
        state_reason: "completed",
        labels: ["bug"],
      },
      links: [
        {
          repository: "o/r",
          number: 9,
          title: "fix",
          url: "https://x/9",
          merged_at: "2020-01-15T00:00:00Z",
          grade: "keyword",
          evidence: ["its text says Fixes #7"],
          base_commit: "a".repeat(40),
          merge_commit: "b".repeat(40),
          files_truncated: false,
          files: [
            changedFile({ path: "New.java", status: "renamed", previous_path: "Old.java", additions: 1, deletions: 2 }),
            changedFile({ path: "x.md", status: "added", previous_path: null, additions: 1, deletions: 0 }),
          ],
        },
        {
          repository: "o/r",
          number: 10,
          title: null,
          url: null,
          merged_at: "2020-01-16T00:00:00Z",
          grade: "mention",
          evidence: [],
          base_commit: null,
          merge_commit: null,
          files_truncated: true,
          files: [changedFile({ path: "Other.java", status: null, previous_path: null, additions: null, deletions: null })],
        },
      ],
      dropped: [{ rule: "reverted", what: "w", item: "o/r#8" }],
      unknown: null,
    },
  ],
  { project: "O/R", url: "https://x", scanned: 5, links: "closing", notes: ["n"], extensions: [".java"], roles: null },
);

describe("the mined file", () => {
  test("comes back as it was written", () => {
    const { dataset, bad, notes, format } = read(minedFile(built, "2026-01-01T00:00:00.000Z"));
    expect(dataset).toEqual(JSON.parse(JSON.stringify(built)));
    expect({ bad, notes, format }).toEqual({ bad: [], notes: [], format: "mined" });
  });

  test("keeps the original's fields, names and meaning", () => {
    const file = JSON.parse(minedFile(built, "2026-01-01T00:00:00.000Z"));
    expect(file).toMatchObject({
      project_name: "o/r",
      github_url: "https://x",
      mined_at: "2026-01-01T00:00:00.000Z",
      total_closed_issues_scanned: 5,
      total_relevant_issues: 1,
      schema_version: 3,
      dataset_digest: datasetDigest(built),
    });
    expect(file.issues[0]).toMatchObject({
      number: 7,
      description_message: "b",
      linked_merged_pull_request_urls: ["https://x/9"],
      linked_merged_pull_requests: [
        {
          number: 9,
          repository: "o/r",
          impacted_files: ["New.java", "x.md"],
          impacted_files_count: 2,
          link: { grade: "keyword" },
          base_commit: "a".repeat(40),
          merge_commit: "b".repeat(40),
        },
        { impacted_files: ["Other.java"] },
      ],
    });
  });

  test("says when it was changed by hand", () => {
    const text = minedFile(built, "x").replace('"title": "t"', '"title": "changed"');
    expect(read(text).notes).toEqual([expect.stringContaining("changed after it was written")]);
  });

  test("a later schema version is refused", () => {
    expect(failure(minedFile(built, "x").replace('"schema_version": 3', '"schema_version": 4'))?.message).toContain(
      "schema_version 4",
    );
  });

  test("its name is safe on every file system", () => {
    expect(minedFileStem("O/R")).toBe("o__r__{timestamp}");
    expect(minedFileStem("../..\\x:y")).toBe("_.__.._x_y__{timestamp}");
    fc.assert(fc.property(fc.string(), (name) => /^[a-z0-9_][a-z0-9._-]*\{timestamp\}$/.test(minedFileStem(name))));
  });
});

describe("the original's files", () => {
  test("with and without texts", () => {
    const older = { ...originalIssue(1, ["src/A.java"]), description_message: undefined };
    const { dataset, notes } = read(
      original([older, originalIssue(2, ["src/B.java", "src/A.java"]), originalIssue(3, [], { description_message: null })]),
    );
    expect(dataset.cases.map(({ id, body, targets }) => [id, body, targets.map(({ path }) => path)])).toEqual([
      ["o/r#1", null, ["src/A.java"]],
      ["o/r#2", "text", ["src/A.java", "src/B.java"]],
      ["o/r#3", "", []],
    ]);
    expect(dataset.header).toMatchObject({ project_name: "o/r", scanned: 201, links: "mentions", extensions: null });
    expect(dataset.cases[0]).toMatchObject({
      best_grade: null,
      base_commit: null,
      links: [{ grade: null, files: [{ status: null, role: "source" }] }],
    });
    expect(notes.join()).toContain("1 of 3 issues carry no text");
  });

  test("bad records are reported by number, the good ones count, and the header says so", () => {
    const { dataset, bad } = read(
      original([
        originalIssue(1, ["a"]),
        5,
        originalIssue(2, ["a"], { title: 7 }),
        originalIssue(1, ["b"]),
        null,
        { ...originalIssue(4, ["a"]), number: undefined },
        originalIssue(3, ["a"], { linked_merged_pull_requests: [{ number: "x" }] }),
      ]),
    );
    expect(dataset.cases.map(({ id }) => id)).toEqual(["o/r#1"]);
    expect(bad.map(({ record }) => record)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(bad[1]?.what).toContain("title");
    expect(bad[2]?.what).toContain("that of record 1");
    expect(bad[5]?.what).toContain("linked_merged_pull_requests[0].number");
    expect(dataset.header.notes.at(-1)).toContain("6 of 7 records could not be used (record 2:");
  });

  test.skipIf(!existsSync(`${shared}/mined`))("the real ones: counts as their makers have them", () => {
    const facts = readdirSync(`${shared}/mined`)
      .sort()
      .map((name) => {
        const { dataset, bad } = read(readFileSync(`${shared}/mined/${name}`, "utf8"), name);
        const java = restrictDataset(dataset, { extensions: [".java"], roles: null, links: null });
        const withTargets = java.ok ? java.value.cases.filter(({ targets }) => targets.length > 0) : [];
        return [
          dataset.cases.length,
          bad.length,
          withTargets.length,
          withTargets.reduce((sum, { targets }) => sum + targets.length, 0),
        ];
      });
    expect(facts.map(([cases, bad]) => [cases, bad])).toEqual([
      [11, 0],
      [10, 0],
      [71, 0],
    ]);
    expect(facts[2]).toEqual([71, 0, 65, 2554]);
  });
});

const instance = {
  instance_id: "astropy__astropy-12907",
  repo: "Astropy/astropy",
  base_commit: "d".repeat(40),
  problem_statement: "Title line\r\nbody one\nbody two",
  category: "Bug Report",
  patch: "diff --git a/astropy/m.py b/astropy/m.py\n--- a/astropy/m.py\n+++ b/astropy/m.py\n@@ -1 +1 @@\n-a\n+b\n",
};

describe("JSON Lines", () => {
  test("SWE-bench: the first line of the text is the title, the patch is the truth", () => {
    const { dataset, format } = read(
      `${JSON.stringify(instance)}\n\n${JSON.stringify({ ...instance, instance_id: "b" })}\n`,
      "dir/lite.jsonl",
    );
    expect(format).toBe("jsonl");
    expect(dataset.header.project_name).toBe("astropy/astropy");
    expect(dataset.cases[0]).toMatchObject({
      id: "astropy__astropy-12907",
      repository: "astropy/astropy",
      number: null,
      title: "Title line",
      body: "body one\nbody two",
      base_commit: "d".repeat(40),
      best_grade: "curated",
      strata: { category: "Bug Report", links: "curated" },
      targets: [{ path: "astropy/m.py", status: "modified", role: "source" }],
    });
  });

  test("Loc-Bench: the edited functions' files are the truth, the patch tells what happened to them", () => {
    const { dataset } = read(
      JSON.stringify([{ ...instance, edit_functions: ["astropy/m.py:f", "astropy/m.py:C.g", "new.py:h"] }]),
    );
    expect(dataset.cases[0]?.targets.map(({ path, status }) => [path, status])).toEqual([
      ["astropy/m.py", "modified"],
      ["new.py", null],
    ]);
    expect(dataset.cases[0]?.targets.map(({ functions }) => functions)).toEqual([
      [
        { name: "C.g", ranges: null },
        { name: "f", ranges: null },
      ],
      [{ name: "h", ranges: null }],
    ]);
  });

  test("our cases, with bad lines between them", () => {
    const one = JSON.stringify(built.cases[0]);
    const { dataset, bad } = read(
      `\ufeff${one}\r\n{broken\n\n${one}\n[1]\n{"id":"x"}\n${JSON.stringify({ ...instance, patch: null })}\n`,
      "cases.jsonl",
    );
    expect(dataset.cases).toEqual(JSON.parse(`[${one}]`));
    expect(bad).toEqual([
      { record: 2, line: 2, what: "it is not valid JSON" },
      { record: 3, line: 4, what: "its `id` o/r#7 is that of record 1 (line 1), which counts", duplicate_of: "o/r#7" },
      { record: 4, line: 5, what: "it is not an object" },
      { record: 5, line: 6, what: expect.stringContaining("neither a case") },
      { record: 6, line: 7, what: expect.stringContaining("no truth") },
    ]);
  });

  test("what is wrong is said in plain words, with the line of the record", () => {
    const [good, ...wrong] = [{ id: "a" }, { id: "" }, { id: "c", title: 5 }, { id: "d", targets: [{ role: "source" }] }].map(
      (one) => ({ ...(built.cases[0] as object), ...one }),
    );
    const expected = ["`id` is empty", "`title` must be text, and is the number 5", "`targets[0].path` is missing"];
    const lines = read([good, ...wrong].map((one) => JSON.stringify(one)).join("\n"));
    expect(lines.bad.map(({ what }) => what)).toEqual(expected);
    const array = read(JSON.stringify([good, ...wrong], null, 2));
    expect(array.bad.map(({ what }) => what)).toEqual(expected);
    expect(array.bad.map(({ record }) => record)).toEqual([2, 3, 4]);
    const text = JSON.stringify([good, ...wrong], null, 2).split("\n");
    // An array that is written over several lines: each record begins with its brace.
    expect(array.bad.map(({ line }) => text[(line ?? 0) - 1])).toEqual(["  {", "  {", "  {"]);
    expect(array.dataset.header.notes.at(-1)).toMatch(/3 of 4 records could not be used \(record 2 \(line \d+\): `id` is empty;/);
  });

  test("header and cases in one object", () => {
    const { dataset, format } = read(JSON.stringify(built, null, 1));
    expect(format).toBe("dataset");
    expect(dataset).toEqual(JSON.parse(JSON.stringify(built)));
  });

  test.skipIf(!existsSync(`${shared}/answers`))("the real instances", () => {
    const { dataset, bad } = read(readFileSync(`${shared}/answers/swe-bench-lite-answers.jsonl`, "utf8"), "swe.jsonl");
    expect([dataset.cases.length, bad.length]).toEqual([150, 0]);
    expect(
      dataset.cases.every(({ targets, body, base_commit }) => targets.length > 0 && body !== null && base_commit?.length === 40),
    ).toBe(true);
  });
});

describe("what is no data set", () => {
  test.each([
    ["", "empty"],
    [" \n", "empty"],
    ["<xml/>", "holds no <bug>"],
    ["query,result1\n", "no rows"],
    ["a,b\n1,2\n", "does not begin like JSON"],
    ["{}", "no data set"],
    ["[]", ""],
    ['{"issues": 5}', "no data set"],
    ['{"issues": []}', "project_name"],
    ['[{"id": "x"}]', "its only record can't be used; record 1 (line 1): it is neither"],
  ])("%j", (text, message) => {
    const found = failure(text);
    if (text === "[]") expect(read(text).dataset.cases).toEqual([]);
    else expect(found?.message).toContain(message);
  });

  test("a syntax error has its place and line", () => {
    expect(failure('{"issues": [\n  {"number": 1,}\n]}')).toMatchObject({
      file: "x.json",
      line: 2,
      sourceLine: '  {"number": 1,}',
      message: expect.stringContaining("not valid JSON"),
    });
    expect(failure('{\n"issues": [')).toMatchObject({ message: expect.stringContaining("not valid JSON") });
  });

  test("another format than the one asked for is refused", () => {
    const result = readDataset(original([]), "x", "jsonl");
    expect(!result.ok && result.error.message).toContain("format is mined, not jsonl");
  });

  test("hostile names stay names", () => {
    const text =
      '{"project_name":"o/r","issues":[{"number":1,"title":"t","__proto__":{"polluted":1},"linked_merged_pull_requests":[{"number":1,"impacted_files":["__proto__","constructor","\\u001b[2J"]}]}]}';
    const { dataset } = read(text);
    expect(dataset.cases[0]?.targets.map(({ path }) => path)).toEqual(["\u001b[2J", "__proto__", "constructor"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const named = read(
      `${JSON.stringify({ id: "__proto__", title: "t", body: null, repository: null, number: null, targets: [] })}\n{"id":"constructor","title":"t","body":null,"repository":null,"number":null,"targets":[]}`,
    );
    expect(named.dataset.cases.map(({ id }) => id)).toEqual(["__proto__", "constructor"]);
  });

  test("whatever the text is, an answer comes", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((json) => `{"project_name":"x","issues":[${json}]}`),
        ),
        (text) => {
          readDataset(text, "x");
        },
      ),
    );
  });
});

describe("restrictDataset", () => {
  const all = { extensions: null, roles: null, links: null };

  test("grades: links that go take the targets with them that no other link explains", () => {
    const result = restrictDataset(built, { ...all, links: { text: "closing", grades: new Set(["keyword"] as const) } });
    expect(result.ok && result.value.cases[0]).toMatchObject({
      links: [{ number: 9 }],
      targets: [{ path: "Old.java" }],
      best_grade: "keyword",
    });
    expect(result.ok && result.value.header.audit.at(-1)).toMatchObject({
      rule: "grade-not-selected",
      removed: 1,
      items: ["o/r#7 <- o/r#10"],
    });
    const none = restrictDataset(built, { ...all, links: { text: "manual", grades: new Set(["manual"] as const) } });
    expect(none.ok && none.value.cases).toEqual([]);
  });

  test("a data set without grades can't be restricted by them", () => {
    const { dataset } = read(original([originalIssue(1, ["a"])]));
    expect(restrictDataset(dataset, { ...all, links: { text: "closing", grades: new Set(LINK_GRADES) } })).toMatchObject({
      ok: false,
      error: expect.stringContaining("does not say how its links were found"),
    });
  });

  test("extensions and roles", () => {
    const { dataset } = read(original([originalIssue(1, ["src/A.java", "src/ATest.java", "x.md"])]));
    const result = restrictDataset(dataset, { ...all, extensions: [".java"], roles: ["source"] });
    expect(result.ok && result.value.cases[0]?.targets.map(({ path }) => path)).toEqual(["src/A.java"]);
    expect(result.ok && result.value.header).toMatchObject({
      extensions: [".java"],
      audit: [{ rule: "extensions" }, { rule: "role" }],
    });
  });
});

test("10,000 cases are read in about a second", () => {
  const text = original(
    Array.from({ length: 10_000 }, (_, index) =>
      originalIssue(index + 1, [`src/A${index}.java`, `src/B${index}.java`, "README.md"]),
    ),
  );
  const seconds = processorSeconds(() => expect(read(text).dataset.cases).toHaveLength(10_000));
  // Many times what it takes.
  expect(seconds).toBeLessThan(10);
});
