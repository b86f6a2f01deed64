import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type RunRecord, thisProcess, writeRunRecord } from "../engine/record.js";
import type { OptionValue } from "./contract.js";
import { command } from "./status.js";

async function status(out: string, args: string[] = [], options: Record<string, OptionValue> = {}): Promise<string> {
  const printed: string[] = [];
  const exit = await command.run(
    args,
    { out, ...options },
    {
      stdout: (text) => void printed.push(text),
      stderr: () => {},
      env: {},
      cwd: out,
      terminal: { isTTY: false, columns: 80, colour: false },
      interrupted: new AbortController().signal,
    },
  );
  expect(exit).toBe(0);
  return printed.join("");
}

function record(run_id: string): RunRecord {
  const node = { name: "n", uses: "k", label: null, needs: [], produces: "x", key: null, output: null, executed: 1, cached: 0 };
  return {
    ...{ schema_version: 1, run_id, pipeline: "p.yaml", name: "p", command: ["bench", "run"], state: "done" },
    ...{ started_at: "2026-01-01T00:00:00Z", finished_at: null, resume_at: null, exit: 0, process: thisProcess() },
    ...{ versions: { bench: "1", node: "20" }, params: {}, counts: {}, reports: [], warnings: [] },
    nodes: [
      { ...node, id: "one", state: "done", items: 1, units: 1, failed: 0, statuses: {}, seconds: 1, message: null },
      { ...node, id: "two", state: "done", items: 2, units: 2, failed: 0, statuses: {}, seconds: 1, message: null },
    ],
  };
}

test("a run whose record is garbage is listed as unreadable, in its place among the others", async () => {
  const out = mkdtempSync(join(tmpdir(), "bench-status-"));
  for (const name of ["20260101T000000Z-a", "20260103T000000Z-c"]) await writeRunRecord(join(out, name), record(name));
  for (const name of ["20260102T000000Z-b", "no-run"]) mkdirSync(join(out, name));
  writeFileSync(join(out, "20260102T000000Z-b", "run.json"), '{"schema_version": 1, "run_id"');
  writeFileSync(join(out, "file.txt"), "");
  expect((await status(out)).split("\n").map((line) => line.split("  ").slice(0, 2).join(" "))).toEqual([
    "20260101T000000Z-a done",
    "20260102T000000Z-b unreadable: its run.json is damaged, or of another version of bench",
    "20260103T000000Z-c done",
    "",
  ]);
  const json = JSON.parse(await status(out, [], { json: true }));
  expect(json.map(({ run_id, state }: { run_id: string; state: string }) => [run_id, state])).toEqual([
    ["20260101T000000Z-a", "done"],
    ["20260102T000000Z-b", "unreadable"],
    ["20260103T000000Z-c", "done"],
  ]);
  await expect(status(out, ["20260102T000000Z-b"])).rejects.toThrow(/run\.json can't be read/);
});
