import { existsSync, readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../../test/rigs/bench-command.js";
import type { ResultRow } from "../report/results-table.js";
import { withFolderLock } from "./folder-lock.js";
import { accumulateResults } from "./results.js";

function row(label: string, run_id: string): ResultRow {
  const measures = { F1: { value: 0.5, lower: null, upper: null } };
  return {
    ...{ label, rules: "strict", dataset: null, selected: 3, cases: 3, n: 3, failed: 0, measures, measure_order: ["F1"] },
    ...{ seconds: 1, cost_usd: null, run_id, finished_at: "2026-01-01T00:00:00.000Z", bench: "1", kind: null, identity: null },
    params: {},
  };
}

const labels = (out: string) =>
  (JSON.parse(readFileSync(join(out, "p", "RESULTS.json"), "utf8")) as { rows: ResultRow[] }).rows.map(
    ({ label, run_id }) => `${label} ${run_id}`,
  );

test("runs that end at once lose no row, and a focused run replaces its own", async () => {
  const out = folderWith({});
  const names = Array.from({ length: 20 }, (_, index) => `cell-${index}`);
  await Promise.all(names.map((name) => accumulateResults(out, "p", [row(name, "r1")], () => {})));
  expect(labels(out).sort()).toEqual(names.map((name) => `${name} r1`).sort());
  // Another figure: a row of the same content keeps the run that made it.
  await accumulateResults(out, "p", [{ ...row("cell-7", "r2"), n: 2 }], () => {});
  expect(labels(out).filter((line) => line.endsWith("r2"))).toEqual(["cell-7 r2"]);
  expect(labels(out)).toHaveLength(20);
  expect(readdirSync(join(out, "p")).sort()).toEqual(["RESULTS.json", "RESULTS.md"]);
});

test("a lock that a killed process left is taken over", async () => {
  const folder = folderWith({ ".lock": JSON.stringify({ host: hostname(), pid: 999_999_999, start: "1", id: "x" }) });
  expect(await withFolderLock(folder, async () => existsSync(join(folder, ".lock")))).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});

test("another machine's lock counts while it is young, and not when it is old", async () => {
  const folder = folderWith({ ".lock": JSON.stringify({ host: "elsewhere", pid: 1, start: "", id: "x" }) });
  let now = Date.now();
  let waited = 0;
  const sleep = async () => {
    waited++;
    now += 30_000;
  };
  await withFolderLock(folder, async () => {}, { now: () => now, sleep });
  expect(waited).toBeGreaterThan(0);
});

test("a holder that throws gives the lock back", async () => {
  const folder = folderWith({});
  await expect(withFolderLock(folder, async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(readdirSync(folder)).toEqual([]);
});

test("a table that can't be read is kept beside the new one", async () => {
  const out = folderWith({ "p/RESULTS.json": "{" });
  const warnings: string[] = [];
  await accumulateResults(out, "p", [row("a", "r1")], (message) => warnings.push(message));
  expect(warnings.join()).toContain("RESULTS.unreadable.json");
  expect(readFileSync(join(out, "p", "RESULTS.unreadable.json"), "utf8")).toBe("{");
  expect(labels(out)).toEqual(["a r1"]);
});
