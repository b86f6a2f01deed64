import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { bench, folderWith } from "../../test/rigs/bench-command.js";
import { hitCases, reportText } from "../../test/rigs/report-files.js";

const NAME = (label: string) => `runs/r1/acme__tool__${label}_eval__20260101T000000Z.json`;

function project(): string {
  return folderWith({
    "pipelines/.keep": "",
    [NAME("alpha")]: reportText("alpha", hitCases("1100000000")),
    [NAME("beta")]: reportText("beta", hitCases("1111111100")),
    "runs/r1/results.json": JSON.stringify({ cells: ["alpha", "beta"].map((label) => ({ label })) }),
  });
}

const report = (...argv: string[]) => bench(project(), ["report", "runs/r1", ...argv]);

test("a table for a paper: the cells, measures and names that were asked for, in that order", async () => {
  const all = await report("--format", "latex");
  expect(all.exit, all.stderr).toBe(0);
  expect(all.stdout.indexOf("alpha")).toBeLessThan(all.stdout.indexOf("beta"));
  const { stdout, stderr } = await report(
    ...["--format", "latex", "--cells", "beta,alpha", "--measures", "Hit@1", "--label", "beta=B & {co}"],
  );
  expect(stderr).toBe("");
  expect(stdout).toContain("run & $n$ & Hit@1 \\\\");
  const rows = stdout.split("\n").filter((line) => / & 10 & /.test(line));
  expect(rows.map((line) => line.trim().split(" & 10")[0])).toEqual(["B \\& \\{co\\}", "alpha"]);
  const markdown = await report("--format", "markdown", "--measures", "Hit@1", "--cells", "beta", "--label", "beta=Beta");
  expect(markdown.stdout).toContain("Beta");
  expect(markdown.stdout).not.toContain("alpha");
});

test.each([
  [["--measures", "nDCG@10"], "was not scored by nDCG@10"],
  [["--cells", "gamma"], "the run has alpha, beta"],
  [["--label", "alpah=A"], "did you mean alpha"],
  [["--label", "alpha"], "write LABEL=NAME"],
  [["--label", "alpha=beta"], "two cells would be called beta"],
])("%j is refused with advice", async (argv, message) => {
  const { exit, stderr } = await report("--format", "latex", ...argv);
  expect([exit, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test("bench score takes Parquet, and says when it was cut off", async () => {
  const parquet = readFileSync(resolve(import.meta.dirname, "../../test/data/parquet/instances-zstd.parquet"));
  const folder = folderWith({
    "answers.jsonl": `${JSON.stringify({ id: "owner__project-1", response: '{"classes":[{"path":"src/reader.py"}]}' })}\n`,
  });
  writeFileSync(join(folder, "whole.parquet"), parquet);
  writeFileSync(join(folder, "cut.parquet"), parquet.subarray(0, 3000));
  const score = (file: string) =>
    bench(folder, ["score", "answers.jsonl", "--dataset", file, "--strata", "targets,year", "--json"]);
  const { summary } = JSON.parse((await score("whole.parquet")).stdout);
  expect([summary.n, summary.strata.targets["1"].n, summary.strata.targets["2-3"].n]).toEqual([3, 2, 1]);
  const cut = await score("cut.parquet");
  expect([cut.exit, cut.stderr]).toEqual([2, expect.stringContaining("cut.parquet begins like Parquet")]);
});

test("two runs of one label get names for people", async () => {
  const folder = project();
  const argv = ["compare", "runs/r1:alpha", "runs/r1:beta", "--samples", "100", "--measures", "Hit@1", "--format", "latex"];
  const named = await bench(folder, [...argv, "--label", "runs/r1:alpha=before", "--label", "beta=after"]);
  expect(named.exit, named.stderr).toBe(0);
  expect(named.stdout).toContain("$^{a}$ before &");
  expect(named.stdout).toContain("$^{b}$ after &");
  const whole = await bench(folder, [
    "compare",
    "runs/r1",
    "--samples",
    "100",
    "--label",
    "alpha=x",
    "--baseline",
    "x",
    "--json",
  ]);
  expect(JSON.parse(whole.stdout).runs.map(({ label }: { label: string }) => label)).toEqual(["x", "beta"]);
});
