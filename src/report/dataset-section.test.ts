import { describe, expect, test } from "vitest";
import { scoredCase, scoreMeta, viewScores } from "../../test/rigs/scored-cases.js";
import { parseMeasures } from "../measures/registry.js";
import type { DatasetFinding, ScoredCase } from "../scoring/contract.js";
import { summarise } from "../scoring/summary.js";
import { datasetSection } from "./dataset-section.js";
import type { Cell } from "./json.js";

const parsed = parseMeasures("R,F1");
const MEASURES = parsed.ok ? parsed.value : [];

function found(name: string, changes: Partial<DatasetFinding> = {}): DatasetFinding {
  return {
    name,
    severity: "warning",
    count: 1,
    of: 4,
    unit: "cases",
    what: `1 case has ${name}`,
    effect: null,
    cases: ["a#1"],
    ...changes,
  };
}

function cell(label: string, cases: readonly ScoredCase[], findings: DatasetFinding[] | undefined, digest = "1"): Cell {
  const base = scoreMeta(cases, { backend: label });
  const meta = { ...base, dataset: { ...base.dataset, digest, ...(findings === undefined ? {} : { findings }) } };
  return { label, meta, cases, summary: summarise(cases, meta, MEASURES, null) };
}

const CASES = [
  scoredCase("a#1", viewScores(1, 0, 99)),
  scoredCase("a#2", viewScores(1, 0, 0)),
  scoredCase("a#3", viewScores(1, 1, 0)),
  scoredCase("a#4", viewScores(0, 0, 0)),
];

describe("the data set's findings in a report", () => {
  test("each with what the backend scores without its cases, as mean and pooled", () => {
    const text = datasetSection([cell("bm25", CASES, [found("bulk-change", { severity: "error" })])]);
    // R: (0.01 + 1 + 1) / 3 and pooled 2 * 3 / (2 * 3 + 1 + 99); without the first, (1 + 1) / 2 and 2 * 2 / (2 * 2 + 1).
    expect(text).toContain("bm25: R, pooled F1 (0.670, 0.057 with all)");
    expect(text).toContain("| bulk-change (error) | 1 case has bulk-change | 1 | 1.000, 0.800 |");
  });

  test("where no case is left, or the data set as a whole is meant, there is no figure", () => {
    const findings = [found("missing-body", { cases: ["a#1", "a#2", "a#3"] }), found("tiny-sample", { cases: [] })];
    const text = datasetSection([cell("bm25", CASES, findings)]);
    expect(text).toContain("| missing-body (warning) | 1 case has missing-body | 3 | no case left |");
    expect(text).toContain("| tiny-sample (warning) | 1 case has tiny-sample | - | - |");
  });

  test("twelve at most, and what is not shown is counted", () => {
    const findings = Array.from({ length: 15 }, (_, at) => found(`finding-${at}`));
    const text = datasetSection([cell("bm25", CASES, findings)]);
    expect(text.match(/^\| finding-/gm)).toHaveLength(12);
    expect(text).toContain("3 lesser findings more");
  });

  test("cells of one data set share a table, of two they don't; strangers' text is escaped", () => {
    const findings = [found("bot", { what: "evil | <b>" })];
    const cells = [cell("a", CASES, findings), cell("b", CASES, findings), cell("c", CASES, findings, "2")];
    const text = datasetSection(cells);
    expect(text.match(/\| finding \|/g)).toHaveLength(2);
    expect(text).toContain("evil \\| &lt;b&gt;");
    expect(datasetSection(Array.from({ length: 6 }, (_, at) => cell(`c${at}`, CASES, findings)))).toContain("2 backends more");
  });

  test("a report of an earlier version, and a data set without a finding, have no section", () => {
    expect(datasetSection([cell("a", CASES, undefined)])).toBe("");
    expect(datasetSection([cell("a", CASES, [])])).toBe("");
  });
});
