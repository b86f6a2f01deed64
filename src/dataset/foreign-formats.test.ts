/** Tables with named columns, octocode's benchmark, BugLocator's XML, bug reports as JSON Lines. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csvRows } from "./csv.js";
import { readDataset } from "./read.js";
import type { Case } from "./schema.js";

const shared = resolve(import.meta.dirname, "../../../shared/data/datasets");

function read(text: string, file = "table.csv") {
  const found = readDataset(text, file);
  if (!found.ok) throw new Error(found.error.message);
  return found.value;
}

const brief = (one: Case | undefined) => one?.targets.map(({ path, grade, ranges }) => [path, grade, ranges]);

describe("CSV", () => {
  test("cells are read as they were written", () => {
    const cell = fc.stringMatching(/^[a-z",\n\r ;']{0,8}$/);
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 }), (rows) => {
        const text = rows.map((cells) => `${cells.map((one) => `"${one.replaceAll('"', '""')}"`).join(",")}\r\n`).join("");
        expect(csvRows(text).map(({ cells }) => cells)).toEqual(rows);
      }),
    );
  });
  test("rows know their line, also after a cell with line breaks", () => {
    expect(csvRows('a,b\n"x\ny",2\n\n3,4').map(({ line }) => line)).toEqual([1, 2, 5]);
  });

  test("columns are told by their names, files by any of the usual separators", () => {
    const text =
      "Bug ID,Summary,Description,Repo,Fixed Files,Severity\n12,Crash,\"It, too\",Acme/Tool,src/A.java;src/B.java,high\n13,Slow,,,\"['src/C.java', 'd e.py']\",\n";
    const { dataset, format, bad } = read(text);
    expect([format, bad]).toEqual(["csv", []]);
    expect(dataset.cases[0]).toMatchObject({
      id: "12",
      number: 12,
      repository: "acme/tool",
      title: "Crash",
      body: "It, too",
      best_grade: "curated",
      strata: { severity: "high", links: "curated" },
    });
    expect(brief(dataset.cases[0])).toEqual([
      ["src/A.java", 1, null],
      ["src/B.java", 1, null],
    ]);
    expect(brief(dataset.cases[1])).toEqual([
      ["d e.py", 1, null],
      ["src/C.java", 1, null],
    ]);
  });

  test("octocode's results have ranges and grades, and rows without an id are named by their place", () => {
    const text =
      "query,result1,result2\nhow is x made,src/x.rs:10-20:2,src/x.rs:30-31:1\nempty truth,,\nzero,src/x.rs:0-3:2,\nback,src/x.rs:9-3:1,\n";
    const { dataset, bad } = read(text, "some/code.csv");
    expect(dataset.cases.map(({ id, title }) => [id, title])).toEqual([["code.csv#1", "how is x made"]]);
    expect(brief(dataset.cases[0])).toEqual([
      ["src/x.rs", 2, [[10, 20]]],
      ["src/x.rs", 1, [[30, 31]]],
    ]);
    expect(bad.map(({ record, what }) => [record, what])).toEqual([
      [2, "it names no file"],
      [3, expect.stringContaining("0-based")],
      [4, expect.stringContaining("ends before it begins")],
    ]);
  });

  test.each([
    [101, 1, 0],
    [127, 27, 0],
    [130, 27, 3],
    [100, 0, 100],
  ])("a table of octocode's form with %i rows: %i hard ones, %i without a difficulty", (rows, hard, without) => {
    const table = (path: string) =>
      `query,result1,result2\n${Array.from({ length: rows }, (_, at) => `question ${at},${path}:${at + 1}-${at + 2}:2,`).join("\n")}\n`;
    const { dataset } = read(table("src/x.rs"), "code.csv");
    expect(dataset.cases.filter(({ strata }) => strata.difficulty === "hard").length).toBe(hard);
    expect(dataset.cases.filter(({ strata }) => strata.difficulty === undefined).length).toBe(without);
    const { dataset: documents } = read(table("docs/usage.md"), "docs.csv");
    expect(documents.cases.every(({ strata }) => strata.difficulty === undefined)).toBe(true);
    expect(documents.cases[0]?.targets).toMatchObject([{ path: "docs/usage.md", role: "docs", grade: 2, ranges: [[1, 2]] }]);
  });

  test.skipIf(!existsSync(`${shared}/code.csv`))("octocode's benchmark: 127 queries, 163 ranges, its last 27 rows hard", () => {
    const { dataset, bad } = read(readFileSync(`${shared}/code.csv`, "utf8"), "code.csv");
    const targets = dataset.cases.flatMap((one) => one.targets);
    expect([dataset.cases.length, bad.length, targets.length]).toEqual([127, 0, 163]);
    expect([1, 2].map((grade) => targets.filter((target) => target.grade === grade).length)).toEqual([36, 127]);
    const hard = dataset.cases.filter(({ strata }) => strata.difficulty === "hard");
    expect([hard.length, hard[0]?.id]).toEqual([27, "code.csv#101"]);
  });
});

describe("JSON Lines of bug reports", () => {
  test("members by their usual names", () => {
    const lines = [
      {
        bug_id: 95167,
        title: "Bug 95167",
        description: "[content assist] ...",
        goldset: ["org/A.java", "org/B.java"],
        system: "eclipse.jdt.ui",
        report_type: "NL",
      },
      { issue_title: "T", issue_body: "B", changed_files: "['x/y.kt']", base_sha: "abc", repo_name: "o/r" },
    ];
    const { dataset, format } = read(lines.map((line) => JSON.stringify(line)).join("\n"), "blizzard.jsonl");
    expect(format).toBe("jsonl");
    expect(dataset.cases.map(({ id, repository, base_commit }) => [id, repository, base_commit])).toEqual([
      ["95167", null, null],
      ["blizzard.jsonl#2", "o/r", "abc"],
    ]);
    expect(dataset.cases[0]?.strata).toEqual({ report_type: "NL", links: "curated" });
    expect(brief(dataset.cases[1])).toEqual([["x/y.kt", 1, null]]);
  });
});

const BENCH4BL = `<?xml version="1.0"?><bugrepository name="SWT">
<bug id="7" opendate="2004-01-02 03:04:05" fixdate="2004-02-01 00:00:00" resolution="Fixed">
  <buginformation><summary>Variant &amp; co</summary><description>a &lt; b</description><version>3.1</version></buginformation>
  <fixedFiles><file type="M">org.eclipse.swt.ole.Variant.java</file><file type="A" name="src/New.java"></file></fixedFiles>
</bug>
<bug id="8"><buginformation><summary>x</summary></buginformation><fixedFiles/></bug>
<bug id="7"><buginformation><summary>again</summary></buginformation><fixedfiles><file>a/B.java</file></fixedfiles></bug>
</bugrepository>`;

describe("BugLocator's XML", () => {
  test("variants of spelling; classes with dots stand for a path without its beginning", () => {
    const { dataset, bad, format, notes } = read(BENCH4BL, "swt.xml");
    expect([format, dataset.header.project_name]).toEqual(["buglocator", "SWT"]);
    expect(dataset.cases).toHaveLength(1);
    expect(dataset.cases[0]).toMatchObject({
      id: "7",
      title: "Variant & co",
      body: "a < b",
      created_at: "2004-01-02 03:04:05",
      strata: { version: "3.1" },
    });
    expect(dataset.cases[0]?.targets.map(({ path, partial, status }) => [path, partial, status])).toEqual([
      ["org/eclipse/swt/ole/Variant.java", true, "modified"],
      ["src/New.java", undefined, "added"],
    ]);
    expect(bad.map(({ record, what }) => [record, what])).toEqual([
      [2, "bug 8 names no fixed file"],
      [3, "its `id` 7 is that of record 1, which counts"],
    ]);
    expect(notes.join()).toMatch(/1 targets are named as classes with dots/);
  });
  test("declared entities are refused", () => {
    const bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><bugrepository name="x"><bug id="1"/></bugrepository>';
    expect(readDataset(bomb, "x.xml")).toMatchObject({ ok: false, error: { message: expect.stringContaining("entities") } });
  });
  test.skipIf(!existsSync(`${shared}/ZXingBugRepository.xml`))("ZXing's twenty bugs", () => {
    const { dataset, bad } = read(readFileSync(`${shared}/ZXingBugRepository.xml`, "utf8"), "ZXingBugRepository.xml");
    expect([dataset.cases.length, bad.length, dataset.header.project_name]).toEqual([20, 0, "ZXing"]);
    expect(dataset.cases.every(({ targets, title }) => targets.length > 0 && title !== "")).toBe(true);
  });
});

test("any text gives a data set or a diagnostic", () => {
  const pieces = fc.constantFrom(
    "<bugrepository>",
    "<bug id='1'>",
    "</bug>",
    "<fixedFiles>",
    "id,title,files\n",
    '"',
    ",",
    "\n",
    "a:1-2:3",
    "__proto__",
    "{",
    "}",
    "[",
    "&#0;",
    "<!--",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      const found = readDataset(parts.join(""), "x");
      if (!found.ok) expect(found.error.message.length).toBeLessThan(2000);
    }),
    { numRuns: 500 },
  );
});
