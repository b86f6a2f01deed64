/** What a key names is changed while a stage runs: the results are used and reported, and found under no key afterwards. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { bench, folderWith } from "./rigs/bench-command.js";

const CASES = ["a", "b", "c"].map((id) => JSON.stringify({ id, title: `case ${id}`, targets: [{ path: "x.c" }] })).join("\n");

function project(script: string, more = ""): string {
  return folderWith({
    "pipelines/p.yaml": `name: p
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  answers:
    uses: query-backend
    needs: dataset
    with: { backend: { kind: command, run: [node, ./tool.mjs], files: [model.txt], output: lines, concurrency: 1 } }
  scores: { uses: score, needs: [dataset, answers], with: { rules: ./rules.yaml } }
  report: { uses: report, needs: scores }
${more}`,
    "pipelines/cases.jsonl": CASES,
    "pipelines/model.txt": "1",
    "pipelines/rules.yaml": "name: mine\nextends: strict\n",
    "pipelines/tool.mjs": script,
  });
}

async function run(folder: string) {
  const { exit, stdout, stderr } = await bench(folder, ["run", "pipelines/p.yaml", "--json"], { PATH: process.env.PATH ?? "" });
  const { counts, summary } = JSON.parse(stdout);
  return { exit, stderr, queries: counts.queries, R: summary.command.measures.R.value };
}

test("a model that is exchanged in the middle: nothing that was answered since is kept, and the next run asks it again", async () => {
  const folder = project(
    `import { readFileSync, writeFileSync } from "node:fs";
     const text = readFileSync(0, "utf8");
     if (text.includes("case b")) writeFileSync(new URL("./model.txt", import.meta.url), "2");
     console.log("x.c");`,
  );
  const first = await run(folder);
  expect([first.exit, first.queries, first.R]).toEqual([0, 3, 1]);
  expect(first.stderr).toContain("answers: what its key is made of changed while it ran (content)");
  // The first answer was made and stored before; with the model as it was, it alone is found.
  writeFileSync(join(folder, "pipelines/model.txt"), "1");
  expect((await run(folder)).queries).toBe(2);
  // It was changed again in that run; from now on it stays as it is.
  expect(readFileSync(join(folder, "pipelines/model.txt"), "utf8")).toBe("2");
  const third = await run(folder);
  expect([third.queries, third.stderr.includes("changed while it ran")]).toEqual([3, false]);
  expect((await run(folder)).queries).toBe(0);
});

test("a rule file that is saved while answers come in: no score is kept under the old rules", async () => {
  const folder = project(
    `import { writeFileSync } from "node:fs";
     writeFileSync(new URL("./rules.yaml", import.meta.url), "name: mine\\nextends: lenient\\n");
     console.log("x.c");`,
  );
  const first = await run(folder);
  expect(first.exit).toBe(0);
  expect(first.stderr).toContain("scores: what its key is made of changed while it ran (rules)");
  writeFileSync(join(folder, "pipelines/tool.mjs"), 'console.log("x.c");');
  writeFileSync(join(folder, "pipelines/rules.yaml"), "name: mine\nextends: strict\n");
  const again = await run(folder);
  expect(again.stderr).not.toContain("changed while it ran");
  expect([again.exit, again.R]).toEqual([0, 1]);
});
