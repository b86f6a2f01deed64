/** The JSON that commands print: the members that other programs may rely on, in the shapes that the documentation states. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { type Project, project, type RunJson } from "./rigs/cli.js";
import { casesFile } from "./rigs/puppet.js";

const share = z.number().min(0).max(1);
const interval = z.object({ lower: share, upper: share });
const measures = z.record(
  z.string(),
  z.object({
    value: share,
    lower: share,
    upper: share,
    n: z.number().int(),
    undefined: z.number().int(),
    wilson: interval.optional(),
  }),
);
const micro = z.object({
  precision: share,
  recall: share,
  f1: share,
  true_positives: z.number().int(),
  false_positives: z.number().int(),
  false_negatives: z.number().int(),
});
const macro = z.object({ precision: share, recall: share, f1: share });
const summary = z.object({
  micro,
  macro,
  confidence_interval_95: z.record(z.string(), z.unknown()),
  // Nothing to show without a corpus.
  in_repo_only: z.object({ micro: micro.nullable(), macro: macro.nullable() }).nullable(),
  measures,
  outcomes: z.record(z.string(), z.number().int()),
});
const prediction = z.object({
  raw: z.string(),
  path: z.string().nullable(),
  read_by: z.string(),
  rung: z.string().nullable(),
  target: z.string().nullable(),
});
const report = z.object({
  summary,
  issues: z.array(
    z.object({
      id: z.string(),
      outcome: z.string(),
      measures: z.record(z.string(), z.number().nullable()),
      predictions: z.array(prediction),
    }),
  ),
});
const run = z.object({
  run_id: z.string(),
  exit: z.literal(0),
  counts: z.object({
    requests: z.number().int(),
    queries: z.number().int(),
    executed: z.number().int(),
    cached: z.number().int(),
    failed: z.number().int(),
  }),
  stages: z.array(
    z.object({
      name: z.string(),
      uses: z.string(),
      label: z.string().optional(),
      items: z.number().int(),
      executed: z.number().int(),
      cached: z.number().int(),
      failed: z.number().int(),
      seconds: z.number().nonnegative(),
    }),
  ),
  reports: z.array(z.string()),
  summary: z.record(z.string(), summary),
});

let made: Project;
let first: RunJson & { stderr: string };
/** Of four cases one is right, one half right, one wrong, one not answered. */
const ANSWERS = [
  { id: "o/r#1", response: '{"classes":[{"path":"src/File1.java"}]}' },
  { id: "o/r#2", response: '{"classes":[{"path":"src/Other.java"},{"path":"./src/File2.java"}]}' },
  { id: "o/r#3", response: '{"classes":[{"path":"src/Other.java"}]}' },
];

beforeAll(async () => {
  made = project();
  made.write("pipelines/cases.jsonl", casesFile(4));
  made.write("pipelines/answers.jsonl", ANSWERS.map((answer) => `${JSON.stringify(answer)}\n`).join(""));
  made.write(
    "pipelines/p.yaml",
    `stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  answers: { uses: import-answers, needs: dataset, with: { path: answers.jsonl, name: given } }
  scores: { uses: score, needs: [dataset, answers], with: { measures: [P, R, F1, "P(micro)", "Hit@1", RR] } }
  intervals: { uses: bootstrap, needs: scores }
  report: { uses: report, needs: [scores, intervals] }
`,
  );
  for (const path of ["src/File1.java", "src/File2.java", "src/File3.java", "src/File4.java", "src/Other.java"]) {
    made.write(`tree/${path}`, "class X {}");
  }
  first = await made.run(["pipelines/p.yaml"]);
});
afterAll(() => made.remove());

test("run --json: one value with counts, stages, reports that exist, and the summary", () => {
  const parsed = run.parse(first);
  expect(parsed.stages.map(({ name, uses }) => `${name} ${uses}`)).toEqual([
    "dataset import-dataset",
    "answers import-answers",
    "scores score",
    "intervals bootstrap",
    "report report",
  ]);
  expect(parsed.counts.executed).toBe(parsed.stages.reduce((sum, { executed }) => sum + executed, 0));
  expect(parsed.reports.length).toBeGreaterThan(0);
  for (const path of parsed.reports) expect(existsSync(join(made.folder, path)), path).toBe(true);
  const { value, n } = parsed.summary.given?.measures.RR ?? {};
  expect([value, n]).toEqual([(1 + 0.5 + 0 + 0) / 4, 4]);
  expect(parsed.summary.given?.outcomes).toMatchObject({ answered: 3, unasked: 1 });
});

test("score --json: the report, with the same figures as the pipeline's; with a corpus too", async () => {
  const args = ["score", "pipelines/answers.jsonl", "--dataset", "pipelines/cases.jsonl", "--json"];
  const scored = await made.bench([...args, "--measures", "P,R,F1,P(micro),Hit@1,RR"]);
  expect(scored).toMatchObject({ exit: 0, stderr: "" });
  const json = report.parse(JSON.parse(scored.stdout));
  expect(json.summary.measures).toEqual(first.summary.given?.measures);
  expect(json.issues.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
    "o/r#1 answered",
    "o/r#2 answered",
    "o/r#3 answered",
    "o/r#4 unasked",
  ]);
  expect(json.issues[1]?.predictions.map(({ path, rung, target }) => [path, rung, target])).toContainEqual([
    "src/File2.java",
    "path",
    "src/File2.java",
  ]);
  expect(json.summary.measures["Hit@1"]?.wilson).toBeDefined();

  const withCorpus = await made.bench([...args, "--corpus", "tree"]);
  expect(withCorpus.exit).toBe(0);
  const seen = report.parse(JSON.parse(withCorpus.stdout));
  expect(seen.summary.measures.RR?.value).toBe(json.summary.measures.RR?.value);
  expect(seen.summary.in_repo_only?.micro?.true_positives).toBe(2);
  // A function of the files that it reads, byte for byte.
  expect((await made.bench([...args, "--corpus", "tree"])).stdout).toBe(withCorpus.stdout);
});

test("the files of a run are reports that score reads again, with the same result", async () => {
  const path = first.reports.find((name) => name.includes("__given_eval__")) ?? "";
  report.parse(JSON.parse(made.read(path)));
  const again = await made.bench([
    "score",
    path,
    "--dataset",
    "pipelines/cases.jsonl",
    "--json",
    "--measures",
    "P,R,F1,P(micro),Hit@1,RR",
  ]);
  expect(again.exit).toBe(0);
  expect(report.parse(JSON.parse(again.stdout)).summary.measures).toEqual(first.summary.given?.measures);
});

test("cache verify --json and cache stats --json", async () => {
  const verified = await made.bench(["cache", "verify", "--json"]);
  expect(verified).toMatchObject({ exit: 0, stderr: "" });
  const { checked, damaged } = z
    .object({ checked: z.number().int(), damaged: z.array(z.unknown()) })
    .parse(JSON.parse(verified.stdout));
  expect(damaged).toEqual([]);
  expect(checked).toBeGreaterThan(10);
  const stats = await made.bench(["cache", "stats", "--json"]);
  expect(JSON.parse(stats.stdout)).toMatchObject({ rows: { "score@7 unit": 3, "report@7 stage": 1 } });
});

test("plan, explain, status and dag: what they print with --json is one value", async () => {
  const plan = JSON.parse((await made.bench(["plan", "pipelines/p.yaml", "--json"])).stdout);
  expect(plan.stages.map(({ id, state }: { id: string; state: string }) => `${id} ${state}`)).toEqual(
    ["dataset", "answers", "scores", "intervals", "report"].map((id) => `${id} hit`),
  );
  const explained = JSON.parse((await made.bench(["explain", "pipelines/p.yaml", "scores", "o/r#1", "--json"])).stdout);
  expect(explained).toMatchObject({ id: "scores", stored: true, last: { differences: [] } });
  const record = JSON.parse((await made.bench(["status", "latest", "--json"])).stdout);
  expect(record).toMatchObject({ run_id: first.run_id, state: "done", exit: 0 });
  const dag = await made.bench(["dag", "pipelines/p.yaml", "--format", "mermaid"]);
  expect(dag.stdout).toContain("scores");
});
