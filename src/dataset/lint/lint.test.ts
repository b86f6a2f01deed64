import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { clustersOf } from "../../scoring/design.js";
import { readDataset } from "../read.js";
import { restrictDataset } from "../restrict.js";
import { type Case, caseSchema, type Dataset, type Link, linkSchema } from "../schema.js";
import { FINDINGS, type FindingName, type LintReport } from "./contract.js";
import { effectText } from "./effect.js";
import { brokenRules, fixDataset } from "./link-rules.js";
import { knownLint, type LintOptions, lintDataset } from "./lint.js";
import { duplicateTexts } from "./near-duplicates.js";
import { clustersOfChanges, halfWidth, sizeOf } from "./size.js";

const WORDS = ["lamp", "door", "bell", "shelf", "till", "basket", "clock", "paper", "coffee", "window"];

function link(number: number, path: string, changes: Partial<Link> = {}): Link {
  return linkSchema.parse({
    repository: "acme/shop",
    number,
    title: `Change ${number}`,
    url: null,
    merged_at: "2024-03-02T10:00:00Z",
    grade: "keyword",
    files: [{ path, status: "modified", role: "source" }],
    ...changes,
  });
}

/** A hundred cases without any flaw; each has its own file, change and words. */
function cleanCase(index: number, changes: Partial<Case> = {}): Case {
  const path = `src/part${index}/Piece${index}Part.java`;
  const words = Array.from({ length: 12 }, (_, at) => `${WORDS[(index * 7 + at * 3) % 10]}${(index * 31 + at * at) % 97}`);
  return caseSchema.parse({
    id: `acme/shop#${index}`,
    repository: "acme/shop",
    number: index,
    title: `It fails in way ${index}`,
    body: `What fails is ${words.join(" ")}, number ${index}.`,
    created_at: "2024-03-01T10:00:00Z",
    closed_at: "2024-03-03T10:00:00Z",
    base_commit: "b".repeat(40),
    links: [link(1000 + index, path)],
    targets: [{ path, role: "source", status: "modified" }],
    best_grade: "keyword",
    ...changes,
  });
}

const CLEAN = Array.from({ length: 100 }, (_, index) => cleanCase(index + 1));

/** The clean cases with the first one changed. */
function withFirst(changes: Partial<Case>): Case[] {
  return [cleanCase(1, changes), ...CLEAN.slice(1)];
}

function lint(cases: readonly Case[], options: LintOptions = {}): LintReport {
  return lintDataset({ cases }, options);
}

const first = CLEAN[0] as Case;
const ownLink = first.links[0] as Link;
const target = (path: string, role = "source", more: object = {}) =>
  ({ path, role, status: null, renamed_to: null, grade: 1, ranges: null, ...more }) as Case["targets"][number];

/** What makes each finding fire, and what is near it and must not. */
const TABLE: Readonly<Record<FindingName, { fires: [readonly Case[], LintOptions?]; silent: [readonly Case[], LintOptions?] }>> =
  {
    "foreign-repository": {
      fires: [withFirst({ links: [{ ...ownLink, repository: "acme/other" }] })],
      silent: [withFirst({ links: [{ ...ownLink, repository: "ACME/Shop" }] })],
    },
    "merged-before-issue": {
      fires: [withFirst({ links: [{ ...ownLink, merged_at: "2024-03-01T09:59:59Z" }] })],
      silent: [withFirst({ links: [{ ...ownLink, merged_at: first.created_at }] })],
    },
    "merged-after-close": {
      fires: [withFirst({ links: [{ ...ownLink, merged_at: "2024-03-03T10:00:02Z" }] })],
      silent: [withFirst({ links: [{ ...ownLink, merged_at: "2025-01-01T00:00:00Z" }], closed_at: null })],
    },
    "mention-link": {
      fires: [withFirst({ links: [{ ...ownLink, grade: "mention" }] })],
      silent: [withFirst({ links: [{ ...ownLink, grade: "curated" }] })],
    },
    "not-planned": {
      fires: [withFirst({ state_reason: "not_planned" })],
      silent: [withFirst({ state_reason: "completed" })],
    },
    revert: {
      fires: [withFirst({ links: [{ ...ownLink, title: 'Revert "Faster lamp"' }] })],
      silent: [withFirst({ links: [{ ...ownLink, title: "Reverting lists is slow" }] })],
    },
    bot: {
      fires: [withFirst({ title: "Bump lamp from 1.0 to 1.1" })],
      silent: [withFirst({ title: "Bump of the lamp from left to right" })],
    },
    "bulk-change": {
      fires: [withFirst({ targets: Array.from({ length: 51 }, (_, at) => target(`src/Many${at}.java`)) })],
      silent: [withFirst({ targets: Array.from({ length: 19 }, (_, at) => target(`src/Many${at}.java`)) })],
    },
    "files-cut": {
      fires: [withFirst({ links: [{ ...ownLink, files_truncated: true }] })],
      silent: [CLEAN],
    },
    "test-only": {
      fires: [withFirst({ targets: [target("test/A.java", "test")] })],
      silent: [withFirst({ targets: [target("src/A.java"), target("test/A.java", "test")] })],
    },
    "docs-only": {
      fires: [withFirst({ targets: [target("docs/a.md", "docs")] })],
      silent: [withFirst({ targets: [target("docs/a.md", "docs"), target("src/A.java")] })],
    },
    "no-source-target": {
      fires: [withFirst({ targets: [target("docs/a.md", "docs"), target("test/B.java", "test")] })],
      silent: [withFirst({ targets: [target("pom.xml", "build"), target("src/A.java")] })],
    },
    "added-target": {
      fires: [withFirst({ targets: [target("src/A.java", "source", { status: "added" })] })],
      silent: [withFirst({ targets: [target("src/A.java", "source", { status: "removed" })] })],
    },
    "renamed-target": {
      fires: [withFirst({ targets: [target("src/A.java", "source", { status: "renamed", renamed_to: "src/B.java" })] })],
      silent: [CLEAN],
    },
    "absent-at-base": {
      fires: [CLEAN, { exists: (_, { path }) => path !== first.targets[0]?.path }],
      silent: [CLEAN, { exists: () => true }],
    },
    "no-target": { fires: [withFirst({ targets: [] })], silent: [CLEAN] },
    "no-base-commit": { fires: [withFirst({ base_commit: null })], silent: [withFirst({ base_commit: null, targets: [] })] },
    "shared-change": {
      fires: [withFirst({ links: [...first.links, link(1002, "src/x/Y.java")] })],
      // The same number in another repository is another change.
      silent: [withFirst({ links: [...first.links, link(1002, "src/x/Y.java", { repository: "acme/other" })] })],
    },
    "leak-full": {
      fires: [withFirst({ body: "Piece1Part.java is wrong, and I say so at some length here." })],
      silent: [withFirst({ body: "Piece1PartX.java is wrong, and I say so at some length here." })],
    },
    "leak-partial": {
      fires: [withFirst({ body: "See Piece1Part for more of it.", targets: [...first.targets, target("src/Other9Thing.java")] })],
      silent: [withFirst({ body: "See Piece1Part for more of it." })],
    },
    "fix-named": {
      fires: [withFirst({ body: "As #1001 says, this is not how a lamp ought to look in any shop." })],
      silent: [withFirst({ body: "As #10012 and a#1001 say, this is not how a lamp ought to look in any shop." })],
    },
    "missing-body": { fires: [withFirst({ body: " \n" })], silent: [CLEAN] },
    "edited-after-fix": {
      fires: [withFirst({ edited_at: "2024-03-02T10:00:01Z" })],
      silent: [withFirst({ edited_at: "2024-03-02T09:00:00Z" })],
    },
    "duplicate-id": { fires: [[...CLEAN, first]], silent: [CLEAN, { bad: [{ record: 1, what: "it is not valid JSON" }] }] },
    "duplicate-text": {
      fires: [withFirst({ title: CLEAN[1]?.title ?? "", body: CLEAN[1]?.body ?? "" })],
      silent: [withFirst({ title: CLEAN[1]?.title ?? "" })],
    },
    "unusable-record": {
      fires: [CLEAN, { bad: [{ record: 7, what: "it is not valid JSON" }] }],
      silent: [CLEAN, { bad: [{ record: 7, what: "its id", duplicate_of: "acme/shop#1" }] }],
    },
    concentration: {
      fires: [CLEAN.map((one, index) => (index < 25 ? { ...one, targets: [...one.targets, target("src/Hub.java")] } : one))],
      silent: [CLEAN.map((one, index) => (index < 24 ? { ...one, targets: [...one.targets, target("src/Hub.java")] } : one))],
    },
    "tiny-sample": { fires: [CLEAN.slice(1)], silent: [CLEAN] },
  };

test("a data set without a flaw has no finding", () => {
  expect(lint(CLEAN, { exists: () => true }).findings).toEqual([]);
});

describe("every finding fires where it should, and only there", () => {
  test.each(FINDINGS)("%s", (name) => {
    const { fires, silent } = TABLE[name];
    const found = lint(...fires).findings.find((finding) => finding.name === name);
    expect(found).toBeDefined();
    expect(found?.count).toBeGreaterThan(0);
    expect(found?.of).toBeGreaterThanOrEqual(found?.count ?? 0);
    expect(lint(...silent).findings.map((finding) => finding.name)).not.toContain(name);
  });
});

test("the committed data set shows every finding", () => {
  const file = resolve(import.meta.dirname, "../../../test/data/polluted.jsonl");
  const read = readDataset(readFileSync(file, "utf8"), file);
  if (!read.ok) throw new Error(read.error.message);
  const { dataset, bad } = read.value;
  const report = lintDataset(dataset, { bad, exists: (_, { path }) => path !== "src/pay/CardReader.java" });
  expect(report.findings.map(({ name }) => name).sort()).toEqual([...FINDINGS].sort());
  expect(report.findings.map(({ severity }) => severity)).toEqual(
    [...report.findings.map(({ severity }) => severity)].sort((a, b) => "ewi".indexOf(a.charAt(0)) - "ewi".indexOf(b.charAt(0))),
  );
});

test("the documentation has a row for every finding", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/lint.md"), "utf8");
  expect([...page.matchAll(/^\| `([a-z-]+)` \| (?:error|warning|info)/gm)].map(([, name]) => name)).toEqual([...FINDINGS]);
});

test("without a finding: its links, targets or cases are gone, and so are they from the figures", () => {
  const cases = withFirst({
    links: [...first.links, link(7, "src/far/Away.java", { repository: "acme/other" })],
    targets: [...first.targets, target("src/far/Away.java")],
  });
  const found = lint(cases).findings.find(({ name }) => name === "foreign-repository");
  expect(found).toMatchObject({ count: 1, of: 101, unit: "links", severity: "error", cases: ["acme/shop#1"] });
  expect(found?.without).toMatchObject({ cases: 100, cases_with_targets: 100, targets: 100 });
  expect(effectText(sizeOf(cases), sizeOf(CLEAN))).toBe("targets 101 -> 100");
});

test("a finding that concerns every case leaves nothing to compare with", () => {
  const all = CLEAN.map((one) => ({ ...one, body: "" }));
  expect(lint(all).findings.find(({ name }) => name === "missing-body")).toMatchObject({ count: 100, without: null });
});

test("a case whose truth is stated, not linked, keeps its targets", () => {
  const stated = CLEAN.map((one) => ({ ...one, links: [] }));
  expect(lint(stated).link_rules).toMatchObject({ cases_with_targets: 100, targets: 100 });
  expect(fixDataset(dataset(stated)).cases).toEqual(stated);
});

function dataset(cases: readonly Case[]): Dataset {
  const header = {
    schema_version: 3 as const,
    project_name: "acme/shop",
    url: null,
    scanned: null,
    links: null,
    extensions: null,
  };
  return { header: { ...header, notes: [], audit: [] }, cases };
}

describe("repair", () => {
  test("what the data does not say breaks no rule", () => {
    expect(
      brokenRules({ repository: null, created_at: null, closed_at: null }, { repository: "a/b", merged_at: null, grade: null }),
    ).toEqual([]);
    expect(brokenRules({ ...first, created_at: "yesterday" }, { ...ownLink, merged_at: "1999-01-01" })).toEqual([]);
  });

  test("a second more where the link says that the merge closed the issue", () => {
    const late = { ...ownLink, merged_at: "2024-03-03T10:00:01Z" };
    expect(brokenRules(first, late)).toEqual([]);
    expect(brokenRules(first, { ...late, grade: null })).toEqual(["merged-after-close"]);
  });

  test("links go with the targets that only they explain; the audit names each once; a second repair changes nothing", () => {
    const foreign = link(7, "src/far/Away.java", { repository: "acme/other", merged_at: "1999-01-01T00:00:00Z" });
    const cases = [
      ...withFirst({ links: [foreign, ...first.links], targets: [...first.targets, target("src/far/Away.java")] }),
      cleanCase(200, { links: [foreign], targets: [target("src/far/Away.java")] }),
    ];
    const fixed = fixDataset(dataset(cases));
    expect(fixed.cases.map(({ id }) => id)).toEqual(CLEAN.map(({ id }) => id));
    expect(fixed.cases[0]?.targets).toEqual(first.targets);
    expect(fixed.header.audit.map(({ rule, removed }) => [rule, removed])).toEqual([
      ["other-repository", 2],
      ["unexplained-target", 2],
      ["no-accepted-link", 1],
    ]);
    expect(fixed.header.notes[0]).toContain("repaired by bench lint --fix from 101 cases");
    expect(fixDataset(fixed).cases).toEqual(fixed.cases);
    expect(lint(fixed.cases).findings).toEqual([]);
  });
});

describe("sizes", () => {
  test("half of the width of an interval", () => {
    expect([50, 100, 200, 560].map((n) => halfWidth(n)?.toFixed(3))).toEqual(["0.134", "0.096", "0.069", "0.041"]);
    expect(halfWidth(0)).toBeNull();
  });

  test("the best constant answer; of equals, the first by path", () => {
    expect(sizeOf([]).constant).toBeNull();
    const cases = [
      { ...first, targets: [target("b"), target("a")] },
      { ...cleanCase(2), targets: [target("b"), target("b")] },
    ];
    expect(sizeOf(cases)).toMatchObject({ targets: 3, constant: { path: "b", hits: 2, share: 1 } });
    expect(sizeOf([{ ...first, targets: [target("b"), target("a")] }]).constant?.path).toBe("a");
  });

  test("clusters are those that the bootstrap resamples", () => {
    const cases = CLEAN.slice(0, 12).map((one, index) => ({
      ...one,
      links: [0, 1].map((more) => link((index * 5 + more * 3) % 11, "src/x/Y.java")),
    }));
    const rows = cases.map(({ id, repository, links }) => ({
      ...{ id, repository },
      changes: links.map((one) => `${one.repository}#${one.number}`),
    }));
    const theirs = clustersOf(rows, "change").map((members) => members.map((index) => rows[index]?.id));
    expect(clustersOfChanges(cases)).toEqual(theirs);
  });
});

describe("texts that are nearly the same", () => {
  const text = (body: string, id: string) => ({ id, title: "", body });
  const long = Array.from({ length: 60 }, (_, at) => `word${at}`).join(" ");

  test("one word of sixty differs", () => {
    const groups = duplicateTexts([text(long, "a"), text(`${long} more`, "b"), text(long.replaceAll("word", "other"), "c")]);
    expect(groups).toEqual([{ ids: ["a", "b"], same: false }]);
  });

  test("the same but for case and punctuation; no text at all is nobody's twin", () => {
    expect(duplicateTexts([text("It FAILS!", "a"), text("it, fails", "b"), text("", "c"), text("...", "d")])).toEqual([
      { ids: ["a", "b"], same: true },
    ]);
  });

  test("ten thousand cases do not take the time of all pairs", () => {
    const cases = Array.from({ length: 10_000 }, (_, at) => text(`${long} number ${at} ${at * 7} ${at * 13}`, String(at)));
    expect(duplicateTexts(cases)[0]?.ids.length).toBeGreaterThan(9000);
  });
});

test("the same cases are linted once", () => {
  expect(knownLint({ cases: CLEAN }, "a")).toBe(knownLint({ cases: [...CLEAN] }, "a"));
  expect(knownLint({ cases: CLEAN.slice(1) }, "b")).not.toBe(knownLint({ cases: CLEAN }, "a"));
});

const mined = resolve(import.meta.dirname, "../../../../shared/data/mined");

describe.skipIf(!existsSync(mined))("the original's own data", () => {
  const read = (start: string): Dataset => {
    const name = readdirSync(mined).find((file) => file.startsWith(start)) ?? "";
    const found = readDataset(readFileSync(resolve(mined, name), "utf8"), name);
    if (!found.ok) throw new Error(found.error.message);
    const java = restrictDataset(found.value.dataset, { links: null, extensions: [".java"], roles: null });
    if (!java.ok) throw new Error(java.error);
    return java.value;
  };

  test("JSON-java: one link supplies nearly all of the truth", () => {
    const report = lintDataset(read("stleary"));
    const found = (name: FindingName) => report.findings.find((finding) => finding.name === name);
    expect(report.size).toMatchObject({ cases: 71, cases_with_targets: 65, targets: 2554, test_only: 11 });
    expect(report.size.constant).toMatchObject({ path: "src/main/java/org/json/JSONObject.java", hits: 29 });
    expect(report.link_rules).toMatchObject({ cases_with_targets: 53, targets: 185, test_only: 10 });
    expect(found("foreign-repository")).toMatchObject({ count: 13, of: 95 });
    expect(found("merged-before-issue")?.count).toBe(15);
    expect(found("merged-after-close")?.count).toBe(14);
    expect(found("bulk-change")?.cases[0]).toBe("stleary/json-java#706");
    expect(found("bulk-change")?.examples[0]).toContain("2280 targets, 89 % of all");
    expect(found("concentration")?.count).toBe(29);
    expect(report.leak).toEqual({ none: 18, partial: 39, full: 8 });
  });

  test("repaired, it has neither", () => {
    const report = lintDataset(fixDataset(read("stleary")));
    expect(report.size).toMatchObject({ cases_with_targets: 53, targets: 185, test_only: 10 });
    const names = report.findings.map(({ name }) => name);
    for (const gone of ["foreign-repository", "merged-before-issue", "merged-after-close", "bulk-change"])
      expect(names).not.toContain(gone);
  });

  test("the version without texts", () => {
    const report = lintDataset(read("nanohttpd"));
    expect(report.findings.find(({ name }) => name === "missing-body")).toMatchObject({ count: 10, of: 10, without: null });
    expect(lintDataset(read("mybatis")).size).toMatchObject({ cases: 11, cases_with_targets: 4, targets: 39 });
  });
});
