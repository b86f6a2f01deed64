/** What holds of the lint of any data set, however odd. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cardMarkdown, datasetCard } from "../card.js";
import { type Case, caseSchema, datasetHeaderSchema, FILE_ROLES, FILE_STATUSES, LINK_GRADES } from "../schema.js";
import { FINDINGS, SEVERITIES } from "./contract.js";
import { brokenRules, fixDataset } from "./link-rules.js";
import { lintDataset } from "./lint.js";
import { sizeOf } from "./size.js";

const path = fc.constantFrom(
  "src/A.java",
  "src/B.java",
  "__proto__",
  "test/ATest.java",
  "a b.md",
  "ü/Ü.java",
  "x|y`<b>.js",
  "pom.xml",
  "\u001b[2J.c",
);
const time = fc.constantFrom(null, "2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z", "no date");
const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.constantFrom("see src/A.java", "Bump a from 1 to 2", "__proto__", "#2", 'Revert "x"'),
);
const repository = fc.constantFrom("o/r", "O/R", "other/x");
const link = fc.record({
  repository,
  number: fc.nat(4),
  title: fc.option(text),
  url: fc.constant(null),
  merged_at: time,
  grade: fc.option(fc.constantFrom(...LINK_GRADES)),
  files_truncated: fc.boolean(),
  files: fc.array(
    fc.record({ path, status: fc.option(fc.constantFrom(...FILE_STATUSES)), role: fc.constantFrom(...FILE_ROLES) }),
    { maxLength: 4 },
  ),
});
const one = fc.record({
  id: fc.constantFrom("o/r#1", "o/r#2", "o/r#3", "__proto__", "constructor"),
  repository: fc.option(repository),
  number: fc.option(fc.nat(4)),
  title: text,
  body: fc.option(text),
  created_at: time,
  closed_at: time,
  edited_at: time,
  state_reason: fc.option(fc.constantFrom("not_planned", "completed", "DUPLICATE")),
  base_commit: fc.option(fc.constant("b")),
  links: fc.array(link, { maxLength: 3 }),
  targets: fc.array(
    fc.record({
      path,
      role: fc.constantFrom(...FILE_ROLES),
      status: fc.option(fc.constantFrom(...FILE_STATUSES)),
      renamed_to: fc.option(path),
    }),
    { maxLength: 5 },
  ),
});
const cases = fc.array(one, { maxLength: 8 }).map((list): Case[] => list.map((value) => caseSchema.parse(value)));
const header = datasetHeaderSchema.parse({
  ...{ schema_version: 3, project_name: "o/r", url: null, scanned: null, links: null, extensions: null },
});

test("counts fit, nothing grows by being taken away, every case named is one, and the same cases give the same", () => {
  fc.assert(
    fc.property(cases, (list) => {
      const before = structuredClone(list);
      const report = lintDataset({ cases: list }, { exists: (_, target) => target.path.startsWith("src/") });
      const ids = new Set(list.map(({ id }) => id));
      for (const { name, severity, count, of, cases: concerned, without } of report.findings) {
        expect(FINDINGS).toContain(name);
        expect(SEVERITIES).toContain(severity);
        if (name !== "tiny-sample") expect(count).toBeGreaterThan(0);
        expect(count).toBeLessThanOrEqual(of);
        for (const id of concerned) expect(ids).toContain(id);
        expect(without?.targets ?? 0).toBeLessThanOrEqual(report.size.targets);
        expect(without?.cases_with_targets ?? 0).toBeLessThanOrEqual(report.size.cases_with_targets);
      }
      const leaks = report.leak.none + report.leak.partial + report.leak.full;
      expect(leaks).toBe(report.size.cases_with_targets);
      expect(list).toEqual(before);
      expect(lintDataset({ cases: before }, { exists: (_, target) => target.path.startsWith("src/") })).toEqual(report);
    }),
    { numRuns: 100 },
  );
});

test("after a repair no link breaks a rule, and the sizes are those that the lint announced", () => {
  fc.assert(
    fc.property(cases, (list) => {
      const fixed = fixDataset({ header, cases: list });
      for (const asked of fixed.cases) for (const kept of asked.links) expect(brokenRules(asked, kept)).toEqual([]);
      const { link_rules: announced } = lintDataset({ cases: list });
      const { cases_with_targets, targets, test_only } = sizeOf(fixed.cases);
      expect({ cases_with_targets, targets, test_only }).toEqual({
        cases_with_targets: announced.cases_with_targets,
        targets: announced.targets,
        test_only: announced.test_only,
      });
    }),
    { numRuns: 100 },
  );
});

test("a card is Markdown whatever strangers wrote: no HTML, no control characters, every table row in two columns", () => {
  fc.assert(
    fc.property(cases, text, (list, name) => {
      const dataset = { header: { ...header, project_name: `x${name}`, notes: ["<script>\n# no | heading"] }, cases: list };
      const facts = { file: `<b>|${name}`, fileDigest: null, minedAt: name };
      const page = cardMarkdown(datasetCard(dataset, lintDataset(dataset), facts));
      expect(page).not.toMatch(/<[a-z/]/i);
      expect([...page].filter((character) => character !== "\n" && character < " ")).toEqual([]);
      for (const row of page.split("\n").filter((line) => line.startsWith("| "))) {
        expect(row.replaceAll(/\\[\\|]/g, "").match(/\|/g)).toHaveLength(3);
      }
    }),
    { numRuns: 60 },
  );
});
