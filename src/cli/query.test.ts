import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bench, folderWith } from "../../test/rigs/bench-command.js";

const CASES = [1, 2]
  .map((number) =>
    JSON.stringify({
      instance_id: `o__r-${number}`,
      repo: "o/r",
      problem_statement: "numbers overflow",
      gold_files: ["src/Parser.java"],
    }),
  )
  .join("\n");

function project(): string {
  return folderWith({
    "pipelines/.keep": "",
    "cases.jsonl": `${CASES}\n`,
    "repo/src/Parser.java": "class Parser { // numbers overflow\n}\n",
    "repo/src/Writer.java": "class Writer {}\n",
    "own.mjs": `export default { summary: "Says which file.", needsCorpus: "optional", identityOf: () => "v1",
      open: async () => ({ ask: async ({ prompt }) => ({ status: "completed", response: "- src/Parser.java\\n- Writer.java\\n- Gone.java (" + prompt.length + ")" }), close: async () => {} }) };\n`,
  });
}

test("a data set is asked about, and the answers are what bench score reads; nothing is asked twice", async () => {
  const folder = project();
  const argv = ["query", "cases.jsonl", "--backend", "bm25", "--opt", "top=1", "--corpus", "repo"];
  const first = await bench(folder, [...argv, "--out", "answers.jsonl"]);
  expect(first.exit, first.stderr).toBe(0);
  expect(first.stderr).toContain("2 answers, 2 queries");
  const again = await bench(folder, [...argv, "--json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({ exit: 0, queries: 0, answers: [{ id: "o__r-1" }, { id: "o__r-2" }] });
  const scored = await bench(folder, ["score", "answers.jsonl", "--dataset", "cases.jsonl", "--measures", "R", "--json"]);
  expect(JSON.parse(scored.stdout).summary.measures.R.value).toBe(1);
  expect((await bench(folder, argv)).stdout).toBe(readFileSync(join(folder, "answers.jsonl"), "utf8"));
  expect((await bench(folder, [...argv, "--items", "o__r-2", "--json"])).stdout).not.toContain("o__r-1");
});

test("a pipeline finds the answers in the cache", async () => {
  const folder = project();
  await bench(folder, ["query", "cases.jsonl", "--backend", "bm25", "--opt", "top=1", "--corpus", "repo"]);
  writeFileSync(
    join(folder, "pipelines/p.yaml"),
    `stages:
  dataset: { uses: import-dataset, with: { path: ../cases.jsonl } }
  sources: { uses: checkout, with: { folder: ../repo } }
  answers: { uses: query-backend, needs: [dataset, sources], with: { backend: { kind: bm25, top: 1 } } }
`,
  );
  const run = await bench(folder, ["run", "pipelines/p.yaml", "--json"]);
  expect(JSON.parse(run.stdout).counts).toMatchObject({ executed: 0, queries: 0 });
});

test("a question of one's own shows the answer and the files that are read from it", async () => {
  const folder = project();
  const argv = ["query", "--text", "who reads numbers?\nAnd how?", "--backend", "./own.mjs", "--corpus", "repo"];
  const { exit, stdout, stderr } = await bench(folder, argv);
  expect(exit, stderr).toBe(0);
  expect(stdout).toContain("- Gone.java (28)");
  expect(stdout).toContain("1. src/Parser.java");
  expect(stdout).toContain("2. src/Writer.java");
  expect(stdout).toContain("3. Gone.java (no file of the tree)");
  const json = JSON.parse((await bench(folder, [...argv, "--json"])).stdout);
  expect(json).toMatchObject({
    queries: 0,
    readings: [{ reading: "answered", files: [{ path: "src/Parser.java" }, { path: "src/Writer.java" }, { path: null }] }],
  });
});

test.each([
  [["query", "--backend", "bm25"], "ask about what"],
  [["query", "cases.jsonl", "--text", "x", "--backend", "bm25"], "ask about what"],
  [["query", "cases.jsonl"], "which backend"],
  [["query", "cases.jsonl", "--backend", "bm26"], "bm25"],
  [["query", "cases.jsonl", "--backend", "{ kind: bm25, topp: 1 }"], "topp"],
  [["query", "cases.jsonl", "--backend", "{ kind: bm25"], "no YAML"],
  [["query", "cases.jsonl", "--backend", "bm25", "--opt", "topp=1"], "topp"],
  [["query", "cases.jsonl", "--backend", "bm25", "--opt", "top=many"], "--opt top"],
  [["query", "cases.jsonl", "--backend", "bm25", "--opt", "top"], "name=value"],
  [["query", "cases.jsonl", "--backend", "bm25", "--opt", "top=[1"], "no YAML"],
  [["query", "--text", " ", "--backend", "bm25"], "--text is empty"],
])("%j is refused with advice", async (argv, message) => {
  const { exit, stderr } = await bench(project(), argv);
  expect([exit, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test("a backend that needs a tree and gets none says so", async () => {
  const { exit, stderr } = await bench(project(), ["query", "cases.jsonl", "--backend", "bm25"]);
  expect(exit).not.toBe(0);
  expect(stderr).toMatch(/source tree/);
});
