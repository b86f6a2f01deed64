import { expect, test } from "vitest";
import { runFacts } from "./run-facts.js";

const NODE = { name: "answers", uses: "query-backend", needs: [], state: "done", items: 2, executed: 2, cached: 0, failed: 0 };
const RECORD = {
  ...{ run_id: "r", name: "p", command: ["bench", "run"], state: "done", counts: {}, warnings: [] },
  ...{ started_at: "2026-12-01T00:00:00.000Z", finished_at: "2026-12-01T00:00:20.000Z" },
  nodes: [
    { ...NODE, id: "answers[a]" },
    { ...NODE, id: "answers[b]", executed: 0, cached: 2 },
  ],
};
const at = (seconds: number, event: object) =>
  JSON.stringify({ time: `2026-12-01T00:00:${String(seconds).padStart(2, "0")}.000Z`, ...event });

test("a stage works from the beginning of its first unit to the end of its last", () => {
  const journal = [
    at(1, { type: "stage", stage: "answers[a]", status: "running", seconds: 0 }),
    at(5, { type: "unit", stage: "answers[a]", seconds: 3 }),
    at(9, { type: "unit", stage: "answers[a]", seconds: 1 }),
  ].join("\n");
  const facts = runFacts(RECORD, journal);
  expect(facts?.nodes.map(({ from, to }) => [from, to])).toEqual([
    [2000, 9000],
    [null, null],
  ]);
  expect(facts?.length).toBe(20_000);
});

test("waits have an end where there was one; a new date for the same wait is no second wait; attempts are counted", () => {
  const journal = [
    at(2, { type: "waiting", resource: "api", until: "2026-12-01T00:00:05.000Z", why: "limit" }),
    at(4, { type: "waiting", resource: "api", until: "2026-12-01T00:00:08.000Z", why: "limit" }),
    at(8, { type: "waiting", resource: "api", until: null, why: "" }),
    at(9, { type: "retry", stage: "answers[a]", attempt: 1, wait: 1 }),
    at(10, { type: "waiting", resource: "api", until: "2026-12-01T00:00:30.000Z", why: "again" }),
  ].join("\n");
  const facts = runFacts(RECORD, journal);
  expect(facts?.waits).toEqual([
    { resource: "api", from: 2000, to: 8000, why: "limit" },
    { resource: "api", from: 10_000, to: null, why: "again" },
  ]);
  expect(facts?.retries).toBe(1);
});

test("half a line, other lines and another record are no reason to fail", () => {
  expect(runFacts(RECORD, 'no json\n{"time":1}\n{"time":"2026-12-01T00:00:0')?.nodes.length).toBe(2);
  expect(runFacts({ run_id: "r" }, "")).toBe(null);
  expect(runFacts(null, "")).toBe(null);
});
