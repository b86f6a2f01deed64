import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { bench, folderWith } from "../../test/rigs/bench-command.js";
import { trecQrels, trecRun } from "../base/trec.js";

const QRELS = "q1 0 A 1\nq1 0 B 1\nq1 0 C 1\nq2 0 A 2\nq2 0 X 0\nq3 0 X 0\n";
const RUN = "q1 Q0 X 1 5 t\nq1 Q0 A 2 4 t\nq1 Q0 Y 3 3 t\nq1 Q0 B 4 2 t\nq1 Q0 Z 5 1 t\nq9 Q0 A 1 1 t\n";

test("every query of the qrels counts, also those that the run lacks or that have no target", async () => {
  const folder = folderWith({ qrels: QRELS, run: RUN });
  const { exit, stdout, stderr } = await bench(folder, [
    "measure",
    "--qrels",
    "qrels",
    "--run",
    "run",
    "--measures",
    "AP,P,P(micro)",
    "--json",
  ]);
  expect(exit).toBe(0);
  const json = JSON.parse(stdout);
  expect(json.n).toBe(3);
  expect(json.mean.AP).toBeCloseTo(1 / 9, 12);
  expect(json.mean.P).toBeCloseTo(0.4 / 3, 12);
  expect(json.mean["P(micro)"]).toBeCloseTo(0.4, 12);
  expect(json.per_query).toEqual({
    q1: { AP: 1 / 3, P: 0.4, "P(micro)": 0.4 },
    q2: { AP: 0, P: null, "P(micro)": null },
    q3: { AP: null, P: null, "P(micro)": null },
  });
  expect([json.missing, json.unknown]).toEqual([["q2", "q3"], ["q9"]]);
  expect(stderr).toMatch(/2 queries of the qrels have no line in the run and count as 0/);
  expect(stderr).toMatch(/AP for 1 query/);
});

test("the table has four digits, and the queries where asked", async () => {
  const folder = folderWith({ qrels: QRELS, run: RUN });
  const { stdout } = await bench(folder, ["measure", "--qrels=qrels", "--run=run", "--measures=AP,Hit@1", "--per-query"]);
  expect(stdout.split("\n").map((line) => line.trimEnd())).toEqual([
    "             AP   Hit@1",
    "q1       0.3333  0.0000",
    "q2       0.0000  0.0000",
    "q3            -       -",
    "all (3)  0.1111  0.0000",
    "",
  ]);
});

test.each([
  [["--qrels", "qrels"], /--run FILE is missing/],
  [["--qrels", "qrels", "--run", "nowhere"], /nowhere can't be read: there is no such file/],
  [["--qrels", "run", "--run", "run"], /run:1: it has 6 columns; qrels have 4/],
  [["--qrels", "qrels", "--run", "run", "--measures", "AP,Hti@5,Hit"], /did you mean Hit@5.*\n.*needs a cut-off/],
  [["--qrels", "qrels", "--run", "run", "--measures", "P(level=class)"], /parts of files/],
  [["--qrels", "qrels", "--run", "other"], /answers none of the 3 queries/],
])("%j is refused with advice", async (argv, message) => {
  const folder = folderWith({ qrels: QRELS, run: RUN, other: "z Q0 A 1 1 t\n" });
  const { exit, stderr, stdout } = await bench(folder, ["measure", ...argv]);
  expect([exit, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
});

test("explain-measure tells definition, edge cases and citation", async () => {
  const { exit, stdout } = await bench(".", ["explain-measure", "ndcg@10"]);
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^nDCG@10\n {2}Definition: .*\n {2}Edge cases: .*\n.*\n {2}Citation: Järvelin/);
  expect((await bench(".", ["explain-measure"])).stdout).toMatch(/Bpref/);
  expect((await bench(".", ["explain-measure", "wombat"])).exit).toBe(2);
});

const vectors = resolve(import.meta.dirname, "../../../shared/data/vectors/ranked-metrics.json");
test.skipIf(!existsSync(vectors))("trec_eval's means, through files", async () => {
  const {
    qrels,
    run,
    all,
  }: { qrels: Record<string, Record<string, number>>; run: Record<string, string[]>; all: Record<string, number> } = JSON.parse(
    readFileSync(vectors, "utf8"),
  );
  const folder = folderWith({
    qrels: trecQrels(Object.entries(qrels).map(([query, grades]) => [query, Object.entries(grades)] as const)),
    run: trecRun(
      Object.entries(run).map(([query, documents]) => ({ query, documents })),
      "x",
    ),
  });
  const { stdout } = await bench(folder, [
    "measure",
    "--qrels",
    "qrels",
    "--run",
    "run",
    "--measures",
    Object.keys(all).join(","),
    "--json",
  ]);
  const { mean }: { mean: Record<string, number> } = JSON.parse(stdout);
  const values = Object.values(mean);
  expect(values).toHaveLength(Object.keys(all).length);
  for (const [index, [name, expected]] of Object.entries(all).entries()) {
    expect(Math.abs((values[index] ?? 0) - expected), name).toBeLessThan(5.1e-5);
  }
});
