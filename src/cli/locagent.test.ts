/** LocAgent's published run, end to end: its own files against its own truth, by `bench score` and by a few lines of arithmetic. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { expect, test } from "vitest";
import { bench } from "../../test/rigs/bench-command.js";

const recorded = resolve(import.meta.dirname, "../../../shared/data/answers/swe-bench-lite-answers.jsonl");

interface Row {
  readonly instance_id: string;
  readonly gold_files: readonly { readonly filename: string }[];
  readonly predicted_files: readonly string[];
}

test.skipIf(!existsSync(recorded))("AccLocAgent@1, 3 and 5 of the files that LocAgent read", async () => {
  const rows = readFileSync(recorded, "utf8")
    .trim()
    .split("\n")
    .map((line): Row => JSON.parse(line));
  const accuracy = (k: number) =>
    rows.filter(({ gold_files, predicted_files }) => {
      const gold = new Set(gold_files.map(({ filename }) => filename));
      return predicted_files.slice(0, k).filter((file) => gold.has(file)).length === Math.min(k, gold.size);
    }).length / rows.length;
  const argv = ["score", recorded, "--dataset", recorded, "--backend", "locagent-files", "--samples", "10", "--json"];
  const { exit, stdout, stderr } = await bench(dirname(recorded), [
    ...argv,
    "--measures",
    "AccLocAgent@1,AccLocAgent@3,AccLocAgent@5",
  ]);
  expect(exit, stderr).toBe(0);
  const { summary } = JSON.parse(stdout);
  expect(summary.n).toBe(rows.length);
  for (const k of [1, 3, 5]) expect(summary.measures[`AccLocAgent@${k}`].value, String(k)).toBeCloseTo(accuracy(k), 12);
});
