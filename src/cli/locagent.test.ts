/** LocAgent's published run, end to end: its own files against its own truth, by `bench score` and by a few lines of arithmetic. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { bench, folderWith } from "../../test/rigs/bench-command.js";

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
  // Without the raw texts, what LocAgent read from them is the answer.
  const own = rows.map(({ instance_id, predicted_files }) => JSON.stringify({ instance_id, predicted_files }));
  const folder = folderWith({ "own.jsonl": own.join("\n") });
  const measures = "AccLocAgent@1,AccLocAgent@3,AccLocAgent@5";
  const argv = ["score", "own.jsonl", "--dataset", recorded, "--samples", "10", "--measures", measures, "--json"];
  const { exit, stdout, stderr } = await bench(folder, argv);
  expect(exit, stderr).toBe(0);
  const { summary } = JSON.parse(stdout);
  expect(summary.n).toBe(rows.length);
  for (const k of [1, 3, 5]) expect(summary.measures[`AccLocAgent@${k}`].value, String(k)).toBeCloseTo(accuracy(k), 12);
});
