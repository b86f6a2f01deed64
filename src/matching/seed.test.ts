import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSeedAnswer } from "../answers/seed.js";
import { scoreSeed, seedCase, seedUniverse } from "./seed.js";

const J = "src/main/java/org/json/JSONObject.java";

describe("the table of verified answers", () => {
  const json = (entry: unknown) => JSON.stringify({ classes: [entry] });
  const two = ["a/src/main/java/x/Foo.java", "b/src/main/java/y/Foo.java"];
  test.each([
    ["exact path", [J], json({ path: J }), [1, 0, 0]],
    ["path below the source root", [J], json({ path: "org/json/JSONObject.java" }), [1, 0, 0]],
    ["absolute path", [J], json({ path: `/home/me/${J}` }), [1, 0, 0]],
    ["line suffix", [J], json({ path: `${J}:120` }), [1, 0, 0]],
    ["wrong folder", [J], json({ path: "totally/wrong/JSONObject.java" }), [1, 0, 0]],
    ["wrong source set", ["src/main/java/x/Foo.java"], json({ path: "src/test/java/x/Foo.java" }), [1, 0, 0]],
    ["backslashes", [J], json({ path: J.replaceAll("/", "\\") }), [1, 0, 0]],
    ["qualified name", [J], json("org.json.JSONObject"), [1, 0, 0]],
    ["simple name", [J], json("JSONObject"), [1, 0, 0]],
    ["inner class", [J], json("org.json.JSONObject$Null"), [0, 1, 1]],
    ["ambiguous simple name", two, json("Foo"), [0, 1, 2]],
    ["path that only one target ends with", two, json({ path: "x/Foo.java" }), [1, 0, 1]],
    ["ambiguous qualified name", ["m1/src/main/java/x/Foo.java", "m2/src/main/java/x/Foo.java"], json("x.Foo"), [0, 1, 2]],
    ["wrong path and wrong name", [J], json({ path: "src/main/java/a/Nope.java", name: "Nope" }), [0, 2, 1]],
    ["right path and right name", [J], json({ path: J, name: "JSONObject" }), [1, 0, 0]],
    ["an apology", [J], "Sorry, I could not find any relevant Java Classes", [0, 2, 1]],
    ["an empty list", [J], '{"classes":[]}', [0, 0, 1]],
    ["two objects", [J], `${json("a/Foo.java")}\n${json(J)}`, [1, 1, 0]],
    ["thinking with braces", [J], `<think>about {x}</think>${json(J)}`, [1, 0, 0]],
    ["package-info", ["src/main/java/x/package-info.java"], json("src/main/java/x/package-info.java"), [0, 1, 1]],
    ["letters beyond ASCII", ["src/main/java/x/Épée.java"], json("src/main/java/x/Épée.java"), [0, 0, 1]],
    ["a blank in a folder", ["src/my dir/Foo.java"], json("src/my dir/Foo.java"), [1, 0, 0]],
    ["nothing expected", [], '{"classes":[]}', [0, 0, 0]],
  ])("%s", (_, expected, response, counts) => {
    const { tp, fp, fn } = seedCase(response, expected, null);
    expect([tp, fp, fn]).toEqual(counts);
  });

  test("0/0 is 0", () => {
    expect(seedCase("", [], null)).toMatchObject({ precision: 0, recall: 0, f1: 0 });
  });
});

interface Golden {
  readonly name: string;
  readonly response: string;
  readonly files: readonly string[];
  readonly universe: readonly string[] | null;
  readonly crash?: string;
  readonly ids: readonly string[];
  readonly counts: readonly number[];
  readonly expected: readonly string[];
  readonly in_repo?: readonly number[];
  readonly retained?: readonly string[];
}
const golden: readonly Golden[] = JSON.parse(readFileSync(resolve(import.meta.dirname, "testdata/seed-golden.json"), "utf8"));

/** Answers of our own making with what the original program (CPython 3.11) made of them. */
test.each(golden)("golden: $name", (row) => {
  const mine = seedCase(row.response, row.files, row.universe);
  expect(mine.crash !== null).toBe(row.crash !== undefined);
  if (row.crash !== undefined) return;
  expect(mine.predictions.map(({ id }) => id)).toEqual(row.ids);
  expect([mine.tp, mine.fp, mine.fn]).toEqual(row.counts);
  expect(mine.expected).toEqual(row.expected);
  expect(mine.inRepo && [mine.inRepo.tp, mine.inRepo.fp, mine.inRepo.fn]).toEqual(row.in_repo ?? null);
  expect(mine.inRepo?.retained).toEqual(row.retained);
});

test("each prediction says which target it hit, and by which rung", () => {
  const { predictions } = seedCase(
    JSON.stringify({ classes: [J, "org.json.XML", "Cookie", "Nope"] }),
    [J, "src/main/java/org/json/XML.java", "lib/Cookie.java"],
    null,
  );
  expect(predictions).toEqual([
    { id: `path:${J.toLowerCase()}`, raw: J, target: J, rung: "path" },
    { id: "fqcn:org.json.xml", raw: "org.json.XML", target: "src/main/java/org/json/XML.java", rung: "qualified-name" },
    { id: "simple:cookie", raw: "Cookie", target: "lib/Cookie.java", rung: "simple-name" },
    { id: "simple:nope", raw: "Nope", target: null, rung: null },
  ]);
});

test("the second view cuts the targets to the repository and leaves the predictions", () => {
  const files = [J, "gone/Old.java"];
  const response = JSON.stringify({ classes: files });
  const view = { tp: 1, fp: 1, fn: 0, precision: 0.5, recall: 1, retained: [J], discarded: ["gone/Old.java"] };
  expect(seedCase(response, files, [J.toUpperCase(), "x.kt"]).inRepo).toMatchObject(view);
  expect(seedCase(response, files, seedUniverse([J])).inRepo).toMatchObject(view);
  expect(seedCase(response, files, []).inRepo).toMatchObject({ tp: 0, fp: 2, fn: 0, recall: 0, retained: [] });
});

test("member names of JavaScript's own objects are names like any other", () => {
  const files = ["__proto__.java", "x/constructor.java", "toString/A.java"];
  expect(seedCase('{"classes":["__proto__.java","x/constructor.java","toString/A.java"]}', files, files)).toMatchObject({
    tp: 3,
    fp: 0,
    fn: 0,
    inRepo: { tp: 3, fp: 0, fn: 0 },
  });
});

test("counts add up for any answer and any files", () => {
  const name = fc.constantFrom(
    "Foo",
    "Bar",
    "foo",
    "x.Foo",
    "a/Foo.java",
    "b/Foo.java",
    "A/foo.JAVA",
    "src/main/java/x/Foo.java",
    "é.java",
  );
  fc.assert(
    fc.property(fc.array(name), fc.array(name), (answer, files) => {
      const predictions = parseSeedAnswer(JSON.stringify(answer));
      const score = scoreSeed(predictions, files);
      expect(score.tp + score.fn).toBe(score.expected.length);
      expect(score.tp + score.fp).toBeLessThanOrEqual(predictions.length);
      for (const value of [score.precision, score.recall, score.f1]) expect(value >= 0 && value <= 1).toBe(true);
      // The order and repetition of the files never matter.
      const { predictions: _, ...counts } = scoreSeed(predictions, [...files].reverse().concat(files));
      expect(score).toMatchObject(counts);
    }),
  );
});

const data = resolve(import.meta.dirname, "../../../shared/data");

interface MinedIssue {
  readonly number: number;
  readonly linked_merged_pull_requests: readonly { readonly impacted_files: readonly string[] }[];
}

test.skipIf(!existsSync(`${data}/vectors/seed-rules/answers.jsonl`))("all counts of the original on three projects", () => {
  // The files come from the mined data itself, so that the rule for the expected set is checked too.
  const files = new Map<string, readonly string[]>();
  for (const name of readdirSync(`${data}/mined`).filter((file) => file.endsWith(".json"))) {
    const { project_name, issues } = JSON.parse(readFileSync(`${data}/mined/${name}`, "utf8"));
    for (const issue of issues as readonly MinedIssue[]) {
      const impacted = issue.linked_merged_pull_requests.flatMap(({ impacted_files }) => impacted_files);
      files.set(`${project_name}#${issue.number}`, impacted);
    }
  }
  const rows = readFileSync(`${data}/vectors/seed-rules/answers.jsonl`, "utf8").trim().split("\n");
  expect(rows.length).toBe(79);
  for (const line of rows) {
    const row = JSON.parse(line);
    const mine = seedCase(row.raw_response, files.get(`${row.project}#${row.issue_number}`) ?? [], null);
    expect(mine.expected.length).toBe(row.expected_count);
    if (row.expected !== null) expect(mine.expected).toEqual(row.expected);
    expect(mine.predictions.map(({ id }) => id)).toEqual(row.predicted_ids);
    expect([mine.tp, mine.fp, mine.fn]).toEqual([row.true_positives, row.false_positives, row.false_negatives]);
    expect([mine.precision, mine.recall, mine.f1]).toEqual([row.precision, row.recall, row.f1]);
  }
});
