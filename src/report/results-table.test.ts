import { expect, test } from "vitest";
import { mergeRows, type ResultRow, resultsMarkdown } from "./results-table.js";

function row(label: string, changes: Partial<ResultRow> = {}): ResultRow {
  return {
    label,
    rules: "strict",
    dataset: "d".repeat(64),
    selected: 10,
    cases: 10,
    n: 9,
    failed: 0,
    measures: { "Hit@5": { value: 0.5, lower: 0.25, upper: 0.75 } },
    measure_order: ["Hit@5"],
    seconds: 1.5,
    cost_usd: null,
    run_id: "r1",
    finished_at: "2026-01-01T00:00:00.000Z",
    bench: "0.1.0",
    kind: null,
    identity: null,
    params: {},
    ...changes,
  };
}

test("a focused re-run replaces its own rows and keeps their place", () => {
  const again = row("b", { run_id: "r2", seconds: 2 });
  expect(mergeRows([row("a"), row("b"), row("c")], [again])).toEqual([row("a"), again, row("c")]);
});

test("a row that only came from the cache keeps the run that made it", () => {
  const cached = row("a", { run_id: "r2", finished_at: "2026-02-02T00:00:00.000Z", bench: "0.2.0" });
  expect(mergeRows([row("a")], [cached, row("b", { run_id: "r2" })])).toEqual([row("a"), row("b", { run_id: "r2" })]);
});

test("other rules, another data set and a sample are rows of their own", () => {
  const rows = [row("a"), row("a", { rules: "lenient" }), row("a", { dataset: "e".repeat(64) }), row("a", { selected: 3 })];
  expect(mergeRows([], rows)).toEqual(rows);
  const text = resultsMarkdown({ schema_version: 1, pipeline: "p", rows });
  expect(text.match(/^## /gm)).toHaveLength(3);
  expect(text).toContain("3 of 10 cases");
});

test("labels of strangers are text", () => {
  const text = resultsMarkdown({ schema_version: 1, pipeline: "p", rows: [row("a|b<i>")] });
  expect(text).toContain("a\\|b&lt;i&gt; | strict | 9 | 0 | 0.500 (0.250-0.750) | 1.5 | r1");
});
