import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { bench, folderWith } from "../../test/rigs/bench-command.js";
import { digestBytes } from "../base/json.js";
import { FINDINGS } from "../dataset/lint/contract.js";
import { readDataset } from "../dataset/read.js";
import type { Dataset } from "../dataset/schema.js";

const POLLUTED = readFileSync(resolve(import.meta.dirname, "../../test/data/polluted.jsonl"), "utf8");

/** The original's file: no version, impacted files alone, `.java` and others. */
const ORIGINAL = `${JSON.stringify({
  project_name: "Acme/Shop",
  github_url: "https://example.org/acme/shop",
  mined_at: "2024-05-01T00:00:00Z",
  total_closed_issues_scanned: 9,
  issues: [
    {
      number: 1,
      title: "It fails",
      created_at: "2024-03-01T00:00:00Z",
      closed_at: "2024-03-03T00:00:00Z",
      linked_merged_pull_requests: [
        { number: 5, repository: "acme/shop", merged_at: "2024-03-02T00:00:00Z", impacted_files: ["src/A.java", "README.md"] },
        { number: 6, repository: "big/other", merged_at: "2024-03-02T00:00:00Z", impacted_files: ["x/B.java", "x/C.java"] },
      ],
    },
    {
      number: 2,
      title: "B is wrong",
      created_at: "2024-03-01T00:00:00Z",
      closed_at: "2024-03-03T00:00:00Z",
      linked_merged_pull_requests: [
        { number: 7, repository: "acme/shop", merged_at: "2024-01-01T00:00:00Z", impacted_files: ["src/B.java"] },
      ],
    },
  ],
})}\n`;

function read(folder: string, file: string): Dataset {
  const found = readDataset(readFileSync(join(folder, file), "utf8"), file);
  if (!found.ok) throw new Error(found.error.message);
  return found.value.dataset;
}

describe("findings", () => {
  const tree = { "tree/src/cart/ShoppingCart.java": "class ShoppingCart {}" };

  test("as JSON: every one, with counts, examples and the data set without it", async () => {
    const folder = folderWith({ "polluted.jsonl": POLLUTED, ...tree });
    const { exit, stdout } = await bench(folder, ["lint", "polluted.jsonl", "--corpus", "tree", "--json"]);
    expect(exit).toBe(0);
    const json = JSON.parse(stdout);
    expect(json.findings.map(({ name }: { name: string }) => name).sort()).toEqual([...FINDINGS].sort());
    expect(json).toMatchObject({
      dataset: "polluted.jsonl",
      project_name: "acme/shop",
      size: { cases: 30, cases_with_targets: 29, targets: 90 },
      leak: { none: 27, partial: 1, full: 1 },
      failed_on: [],
      wrote: [],
    });
    const bulk = json.findings.find(({ name }: { name: string }) => name === "bulk-change");
    expect(bulk).toMatchObject({ count: 1, of: 29, cases: ["acme/shop#4"], without: { cases_with_targets: 28, targets: 30 } });
  });

  test("for people: size, findings with their effect, worst first; a function of the file", async () => {
    const folder = folderWith({ "polluted.jsonl": POLLUTED });
    const { exit, stdout } = await bench(folder, ["lint", "polluted.jsonl"]);
    expect(exit).toBe(0);
    expect(stdout).toContain("acme/shop: 30 cases, 29 with targets, 90 targets; 1 tests only\n");
    expect(stdout).toContain("error bulk-change: 1 case owns 60 of 90 targets (67 %)");
    expect(stdout).toContain("    without: cases with targets 29 -> 28, targets 90 -> 30, best constant answer 28 % -> 29 %\n");
    expect(stdout.indexOf("\nwarning ")).toBeGreaterThan(stdout.lastIndexOf("\nerror "));
    expect((await bench(folder, ["lint", "polluted.jsonl"])).stdout).toBe(stdout);
  });

  test("hostile texts are shown, not obeyed", async () => {
    const one = JSON.parse(POLLUTED.split("\n")[9] ?? "");
    const folder = folderWith({ "d.jsonl": `${JSON.stringify({ ...one, title: "Bump \u001b[2Jx from 1 to 2" })}\n` });
    const { stdout } = await bench(folder, ["lint", "d.jsonl"]);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("--fail-on", () => {
  test.each([
    [["foreign-repository"], 3],
    [["any"], 3],
    [["error"], 3],
    [["warning"], 3],
    [["not-planned,bot"], 3],
  ])("%s", async (names, exit) => {
    const folder = folderWith({ "polluted.jsonl": POLLUTED });
    const found = await bench(folder, ["lint", "polluted.jsonl", ...names.flatMap((name) => ["--fail-on", name])]);
    expect(found.exit).toBe(exit);
    expect(found.stderr).toContain("bench lint: ");
  });

  test("what is not found fails nothing", async () => {
    const folder = folderWith({ "original.json": ORIGINAL });
    expect((await bench(folder, ["lint", "original.json", "--fail-on", "bot", "--fail-on", "revert"])).exit).toBe(0);
  });

  test("a wrong name is a mistake of the caller, with what was meant; so is a tree that is not given", async () => {
    const folder = folderWith({ "polluted.jsonl": POLLUTED });
    const wrong = await bench(folder, ["lint", "polluted.jsonl", "--fail-on", "foreign-repositry"]);
    expect(wrong.exit).toBe(2);
    expect(wrong.stderr).toContain('did you mean "foreign-repository"?');
    const treeless = await bench(folder, ["lint", "polluted.jsonl", "--fail-on", "absent-at-base"]);
    expect([treeless.exit, treeless.stderr]).toEqual([2, expect.stringContaining("--corpus DIR")]);
  });
});

describe("the original's files", () => {
  test("count Java files alone, as the original does, unless told otherwise", async () => {
    const folder = folderWith({ "original.json": ORIGINAL });
    const targets = async (...more: string[]) =>
      JSON.parse((await bench(folder, ["lint", "original.json", "--json", ...more])).stdout).size.targets;
    expect(await targets()).toBe(4);
    expect(await targets("--extensions", "all")).toBe(5);
    expect(await targets("--extensions", ".md")).toBe(1);
    expect(await targets("--extensions", "all", "--roles", "docs")).toBe(1);
  });

  test("--fix writes what the link rules leave, and what they removed", async () => {
    const folder = folderWith({ "original.json": ORIGINAL });
    const { exit, stderr } = await bench(folder, ["lint", "original.json", "--fix", "out/fixed.json"]);
    expect(exit).toBe(0);
    expect(stderr).toContain("repaired: 1 of 2 cases with a target and 1 of 4 targets are left");
    const fixed = read(folder, "out/fixed.json");
    expect(fixed.cases.map(({ id, targets }) => [id, targets.map(({ path }) => path)])).toEqual([
      ["acme/shop#1", ["src/A.java"]],
    ]);
    expect(fixed.header.audit.map(({ rule, items }) => [rule, items])).toEqual([
      ["extensions", ["acme/shop#1: README.md"]],
      ["other-repository", ["acme/shop#1 <- big/other#6"]],
      ["unexplained-target", ["acme/shop#1: x/B.java", "acme/shop#1: x/C.java", "acme/shop#2: src/B.java"]],
      ["merged-before-issue", ["acme/shop#2 <- acme/shop#7"]],
      ["no-accepted-link", ["acme/shop#2"]],
    ]);
    const json = JSON.parse(readFileSync(join(folder, "out/fixed.json"), "utf8"));
    expect(json).toMatchObject({ mined_at: "2024-05-01T00:00:00Z", total_relevant_issues: 1 });
    expect((await bench(folder, ["lint", "out/fixed.json", "--fail-on", "foreign-repository,merged-before-issue"])).exit).toBe(0);
  });

  test("--fix and --mask together: repaired, then masked", async () => {
    const folder = folderWith({ "original.json": ORIGINAL.replace("It fails", "A.java fails") });
    await bench(folder, ["lint", "original.json", "--fix", "fixed.json", "--mask", "masked.json"]);
    const [fixed, masked] = [read(folder, "fixed.json"), read(folder, "masked.json")];
    expect(fixed.cases.map(({ title }) => title)).toEqual(["A.java fails"]);
    expect(masked.cases.map(({ title }) => title)).toEqual(["Hidden1.java fails"]);
    expect(masked.header.notes.join("; ")).toContain("masked: ");
    const lint = JSON.parse((await bench(folder, ["lint", "masked.json", "--json"])).stdout);
    expect(lint.leak).toEqual({ none: 1, partial: 0, full: 0 });
  });

  test.each([
    [["--fix", "original.json"], "is the data set itself"],
    [["--fix", "a.json", "--mask", "./a.json"], "is what --fix writes"],
    [["--roles", "sauce"], "is none of all, source"],
    [["--corpus", "nowhere"], "--corpus: "],
  ])("%s is refused", async (more, message) => {
    const folder = folderWith({ "original.json": ORIGINAL });
    const { exit, stderr } = await bench(folder, ["lint", "original.json", ...more]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(readdirSync(folder)).toEqual(["original.json"]);
  });
});

describe("the card", () => {
  test("is a page for people and the same as JSON", async () => {
    const folder = folderWith({ "polluted.jsonl": POLLUTED });
    expect((await bench(folder, ["lint", "polluted.jsonl", "--card", "cards"])).exit).toBe(0);
    const card = JSON.parse(readFileSync(join(folder, "cards/dataset-card.json"), "utf8"));
    expect(card).toMatchObject({
      name: "acme/shop",
      file: "polluted.jsonl",
      file_sha256: digestBytes(POLLUTED),
      counts: { cases: 30, cases_with_targets: 29, targets: 90, links: 30, repositories: 1 },
      targets_by_role: { source: 87, test: 1, docs: 1, build: 1 },
    });
    const page = readFileSync(join(folder, "cards/dataset-card.md"), "utf8");
    for (const heading of ["# Data set acme/shop", "## Findings", "## Licence", "## How to cite"])
      expect(page).toContain(heading);
    expect(page).toContain(card.dataset_digest);
    expect(page.split(/\s+/).length).toBeLessThan(700);
  });

  test("a name ending in .md is that page's", async () => {
    const folder = folderWith({ "polluted.jsonl": POLLUTED });
    await bench(folder, ["lint", "polluted.jsonl", "--card", "shop.md"]);
    expect(["shop.md", "shop.json"].map((name) => existsSync(join(folder, name)))).toEqual([true, true]);
  });
});

test("what lint calls clusters, bench score resamples together", async () => {
  const answers = POLLUTED.split("\n")
    .slice(0, 30)
    .map(
      (line) =>
        `${JSON.stringify({ id: JSON.parse(line).id, response: '{"classes":[{"path":"src/cart/ShoppingCart.java"}]}' })}\n`,
    );
  const folder = folderWith({ "polluted.jsonl": POLLUTED, "answers.jsonl": answers.join("") });
  const score = (...more: string[]) => bench(folder, ["score", "answers.jsonl", "--dataset", "polluted.jsonl", ...more]);
  const [cases, changes] = [await score("--json"), await score("--json", "--cluster", "change")].map(
    ({ stdout }) => JSON.parse(stdout).summary,
  );
  expect(changes.bootstrap).toMatchObject({ cluster: "change" });
  expect(changes.measures.F1.value).toBe(cases.measures.F1.value);
  expect([changes.measures.F1.lower, changes.measures.F1.upper]).not.toEqual([cases.measures.F1.lower, cases.measures.F1.upper]);
  expect((await score("--cluster", "change")).stdout.replace(/\s+/g, " ")).toContain(
    "resamples of clusters of cases that share a pull request",
  );
  expect(await score("--cluster", "people")).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("none, repository, change"),
  });
});

test.each([
  ["nowhere.json", "there is no such file"],
  ["empty.json", "the file is empty"],
])("%s is no data set", async (file, message) => {
  const folder = folderWith({ "empty.json": "" });
  const { exit, stderr } = await bench(folder, ["lint", file]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining(message)]);
});
