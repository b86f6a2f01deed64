/** Processes that end at the same moment write into one table of results: none may lose another's rows. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { folderWith } from "./rigs/bench-command.js";

const PROCESSES = 6;
const EACH = 8;
const built = pathToFileURL(resolve(import.meta.dirname, "../dist/cli/results.js")).href;

const program = `
import { accumulateResults } from ${JSON.stringify(built)};
const [out, name] = process.argv.slice(1);
// All begin when they are told to.
await new Promise((begin) => process.stdin.once("data", begin));
for (let i = 0; i < ${EACH}; i++) {
  const row = { label: name + "-" + i, rules: "strict", dataset: null, selected: 1, cases: 1, n: 1, failed: 0, measures: {}, measure_order: [],
    seconds: 1, cost_usd: null, run_id: name, finished_at: "2026-01-01T00:00:00Z", bench: "1", kind: null, identity: null, params: {} };
  await accumulateResults(out, "p", [row], console.error);
}
process.exit(0);
`;

test("rows of processes that write at once are all there", async () => {
  const out = folderWith({});
  const children = Array.from({ length: PROCESSES }, (_, index) =>
    spawn(process.execPath, ["--input-type=module", "-e", program, "--", out, `p${index}`], {
      stdio: ["pipe", "ignore", "inherit"],
    }),
  );
  const ends = children.map((child) => new Promise<number | null>((done) => child.on("exit", done)));
  for (const child of children) child.stdin.end("go\n");
  expect(await Promise.all(ends)).toEqual(children.map(() => 0));
  const { rows } = JSON.parse(readFileSync(join(out, "p", "RESULTS.json"), "utf8")) as { rows: { label: string }[] };
  expect(new Set(rows.map(({ label }) => label)).size).toBe(PROCESSES * EACH);
}, 60_000);
