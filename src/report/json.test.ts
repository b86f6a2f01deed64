import { expect, test } from "vitest";
import { scoredCase, scoreMeta, viewScores } from "../../test/rigs/scored-cases.js";
import type { ScoredCase } from "../scoring/contract.js";
import { summarise } from "../scoring/summary.js";
import { reportJson, resultsJson } from "./json.js";

const facts = { generatedAt: null, datasetFile: "mined.json" };

function cellOf(cases: readonly ScoredCase[]) {
  const meta = scoreMeta(cases);
  return { label: "puppet", meta, cases, summary: summarise(cases, meta, [], null) };
}

function prediction(changes: Partial<ScoredCase["predictions"][number]>): ScoredCase["predictions"][number] {
  return { id: null, raw: "", path: null, read_by: "json", rung: null, target: null, ambiguous: false, ...changes };
}

/** The members of the original's report, level by level. */
const TOP = ["generated_at", "benchmark_source_file", "project_name", "github_url", "settings", "summary", "issues"];
const SUMMARY = [
  ...["issues_in_source", "issues_considered", "issues_skipped_no_java_targets", "stopped_early_by_user", "stop_reason"],
  ...["issues_evaluated", "issues_with_errors", "micro", "macro", "confidence_interval_95", "in_repo_only"],
];
const ISSUE = [
  ...["issue_number", "issue_title", "issue_url", "status", "error", "query", "expected_java_files"],
  ...["expected_java_files_count", "predicted_classes", "predicted_classes_count", "true_positives", "false_positives"],
  ...["false_negatives", "precision", "recall", "f1", "command", "request_url", "request_payload", "llm_content"],
  ...["raw_response", "in_repo_only"],
];

test("has every member of the original's report", () => {
  const view = { ...viewScores(1, 0, 0), retained: ["a"], discarded: ["b"] };
  const report = reportJson(cellOf([scoredCase("a", viewScores(1, 1, 0), { in_repo_only: view })]), facts);
  const [issue] = report.issues;
  for (const member of TOP) expect(report).toHaveProperty(member);
  for (const member of SUMMARY) expect(report.summary).toHaveProperty(member);
  for (const member of ISSUE) expect(issue).toHaveProperty(member);
  expect(issue?.in_repo_only).toMatchObject({
    original_expected_java_files_count: 2,
    retained_expected_java_files: ["a"],
    retained_expected_java_files_count: 1,
    discarded_expected_java_files: ["b"],
    discarded_expected_java_files_count: 1,
    discarded_expected_java_files_ratio: 0.5,
    true_positives: 1,
  });
});

test("keeps the original's words for the status, and ours beside them", () => {
  const statuses = ["completed", "truncated", "timed_out", "skipped", "unasked"] as const;
  const cases = statuses.map((status, i) => scoredCase(`c${i}`, viewScores(0, 0, 1), { status, outcome: status }));
  const { issues } = reportJson(cellOf(cases), facts);
  expect(issues.map(({ status }) => status)).toEqual(["ok", "ok", "error", "dry_run", "error"]);
  expect(issues.map((issue) => issue.answer_status)).toEqual([...statuses]);
  expect(issues[4]?.error).not.toBeNull();
});

test("predictions keep rank and spelling; the original's ids are sorted beside them", () => {
  const predictions = [
    prediction({ raw: "src\\Zed.java", path: "src/Zed.java", rung: "path", target: "src/Zed.java" }),
    prediction({ raw: "org.acme.Foo" }),
    prediction({ raw: "Foo" }),
    prediction({ raw: "lost/Bar.java" }),
    prediction({ raw: "Seed", id: "simple:seed" }),
  ];
  const [issue] = reportJson(cellOf([scoredCase("a", viewScores(1, 3, 0), { predictions })]), facts).issues;
  expect(issue?.predictions).toEqual(predictions);
  expect(issue?.predicted_classes).toEqual([
    "fqcn:org.acme.foo",
    "path:lost/bar.java",
    "path:src/zed.java",
    "simple:foo",
    "simple:seed",
  ]);
});

test("results of all cells name their report files", () => {
  const cell = cellOf([scoredCase("a", viewScores(1, 0, 0))]);
  const results = resultsJson([cell], new Map([["puppet", "report.json"]]), facts);
  expect(results.cells).toMatchObject([{ label: "puppet", report: "report.json", summary: { n: 1 } }]);
  expect(JSON.stringify(results)).not.toContain("raw_response");
});
