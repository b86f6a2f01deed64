/** The example of docs/backends/own.md, as it is printed there, in the pipeline that is printed there. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { bench, folderWith } from "./rigs/bench-command.js";

const page = readFileSync(resolve(import.meta.dirname, "../docs/backends/own.md"), "utf8");
const fenced = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? "";
const example = fenced("js");
const pipeline = fenced("yaml");

const CASES = [
  { id: "o/r#1", title: "Numbers overflow", body: "", targets: ["Parser.java"] },
  { id: "o/r#2", title: "zebra", body: "", targets: ["Writer.java"] },
].map(({ id, title, body, targets }) =>
  JSON.stringify({
    instance_id: id,
    repo: "o/r",
    base_commit: null,
    problem_statement: `${title}\n${body}`,
    patch: patchOf(targets),
  }),
);

function patchOf(paths: readonly string[]): string {
  return paths.map((path) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`).join("");
}

function project(module = example): string {
  return folderWith({
    "pipelines/p.yaml": pipeline,
    "pipelines/word-search.mjs": module,
    "pipelines/cases.jsonl": `${CASES.join("\n")}\n`,
    "pipelines/src/Parser.java": "class Parser { /* numbers overflow */ }\n",
    "pipelines/src/Writer.java": "class Writer { /* numbers */ }\n",
  });
}

async function run(folder: string) {
  const { exit, stdout, stderr } = await bench(folder, ["run", "pipelines/p.yaml", "--json"], { PATH: process.env.PATH ?? "" });
  if (stdout === "") throw new Error(stderr);
  return {
    exit,
    stderr,
    ...(JSON.parse(stdout) as {
      counts: { queries: number };
      summary: Record<string, { measures: Record<string, { value: number }> }>;
    }),
  };
}

describe("the example of a user's own backend", () => {
  test("is complete in under 40 lines", () => {
    expect(example.trim().split("\n").length).toBeLessThan(40);
  });

  test("runs beside a built-in one, and a second run asks nothing", async () => {
    const folder = project();
    const first = await run(folder);
    expect(first.exit).toBe(0);
    expect(Object.keys(first.summary)).toEqual(["words", "bm25"]);
    expect(first.summary.words?.measures.R?.value).toBe(0.5);
    expect(first.stderr).toContain("o/r#2: no file shares a word with the issue");
    expect(first.counts.queries).toBe(4);
    expect((await run(folder)).counts.queries).toBe(0);
  });

  test("its options are checked with line and column", async () => {
    const wrong = folderWith({
      "pipelines/p.yaml": pipeline.replace("top: 5", "topp: 5"),
      "pipelines/word-search.mjs": example,
      "pipelines/cases.jsonl": "",
    });
    const mistakes = await bench(wrong, ["run", "pipelines/p.yaml"]);
    expect(mistakes.exit).toBe(2);
    expect(mistakes.stderr).toMatch(/p\.yaml:\d+:\d+[\s\S]*topp/);
  });

  test("options that are no schema are refused by name", async () => {
    const folder = project(example.replace(/options: \(z\).*\n/, "options: { top: 1 },\n"));
    const { exit, stderr } = await bench(folder, ["run", "pipelines/p.yaml"]);
    expect(exit).toBe(2);
    expect(stderr).toContain("must be an object schema");
  });
});
