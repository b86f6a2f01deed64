/** The example of docs/backends/own.md, as it is printed there, in the pipeline that is printed there. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
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

describe("the example of a program that is started once", () => {
  const commandPage = readFileSync(resolve(import.meta.dirname, "../docs/backends/command.md"), "utf8");
  const program = /```js\n(\/\/ search\.mjs[\s\S]*?)```/.exec(commandPage)?.[1] ?? "";
  const backend = /```yaml\nbackend: (\{.*json-lines.*\})\n```/.exec(commandPage)?.[1] ?? "";

  test("answers every question in one process, and its tokens are counted", async () => {
    const folder = project();
    writeFileSync(join(folder, "pipelines/search.mjs"), program);
    writeFileSync(join(folder, "pipelines/cases.jsonl"), `${CASES.join("\n").replaceAll("Numbers", "Parser: numbers")}\n`);
    writeFileSync(
      join(folder, "pipelines/p.yaml"),
      `name: p
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  sources: { uses: checkout, with: { folder: ./src } }
  answers: { uses: query-backend, needs: [dataset, sources], with: { backend: ${backend} } }
  scores: { uses: score, needs: [dataset, sources, answers], with: { measures: [R] } }
  report: { uses: report, needs: scores }
`,
    );
    const { exit, summary, counts } = await run(folder);
    expect([exit, counts.queries, Object.values(summary)[0]?.measures.R?.value]).toEqual([0, 2, 0.5]);
    const report = readdirSync(join(folder, "evaluation_results"), { recursive: true, encoding: "utf8" }).find((path) =>
      path.endsWith("report.md"),
    );
    expect(readFileSync(join(folder, "evaluation_results", report ?? ""), "utf8")).toMatch(/tokens/i);
  });
});

describe("an own backend with a bug", () => {
  const SECRET = "sk-thisIsNotForOthers";
  const faulty = (parts: { identity?: string; ask?: string; close?: string; open?: string }) => `export default {
  summary: "x",
  identityOf: () => { ${parts.identity ?? "return {}"} },
  open: async (_, { env }) => {
    ${parts.open ?? ""}
    return { ask: async ({ id }) => { ${parts.ask ?? 'return { status: "completed", response: "" }'} }, close: async () => { ${parts.close ?? ""} } };
  },
};`;
  const run = async (module: string) => {
    const folder = folderWith({
      "pipelines/p.yaml": `name: p
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  answers: { uses: query-backend, needs: dataset, matrix: { backend: [{ kind: ./own.mjs }, { kind: empty }] } }
  scores: { uses: score, needs: [dataset, answers] }
  report: { uses: report, needs: scores }
`,
      "pipelines/own.mjs": module,
      "pipelines/cases.jsonl": `${CASES.join("\n")}\n`,
    });
    const done = await bench(folder, ["run", "pipelines/p.yaml"], { PATH: process.env.PATH ?? "", MY_API_KEY: SECRET });
    const written = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
      .join("\n");
    expect(`${done.stdout}${done.stderr}${written}`).not.toContain(SECRET);
    expect(done.stderr).not.toMatch(/internal error|\n {4}at /);
    return done;
  };

  test.each([
    [
      "throws, with a secret in its message",
      { ask: "throw new Error('bad ' + env.MY_API_KEY)" },
      "./own.mjs threw Error: bad [MY_API_KEY] (own.mjs:",
    ],
    ["returns nothing", { ask: "" }, "what `ask` of ./own.mjs returned is no answer"],
    ["returns another status", { ask: 'return { status: "done", response: "x" }' }, '`status` must be one of "completed"'],
    ["returns no text", { ask: 'return { status: "completed", response: ["x"] }' }, "`response` must be"],
    [
      "returns what JSON can't hold",
      { ask: 'return { status: "completed", response: "", details: { n: 1n } }' },
      "can't be stored",
    ],
    ["throws what is no error", { ask: "throw { reason: 7 }" }, 'something that is no error: {"reason":7}'],
    ["can't be opened", { open: "throw new Error('no ' + env.MY_API_KEY)" }, "`open` threw Error: no [MY_API_KEY]"],
  ])("%s: its questions fail, the others are answered and reported", async (_, parts, said) => {
    const { exit, stderr, stdout } = await run(faulty(parts));
    expect(exit).toBe(1);
    expect(stderr).toContain(said);
    expect(stdout).toContain("empty");
  });

  test("throws at its end: said, and nothing is lost", async () => {
    const { exit, stderr } = await run(faulty({ close: "throw new Error('bye ' + env.MY_API_KEY)" }));
    expect([exit, stderr]).toEqual([0, expect.stringContaining("`close` threw Error: bye [MY_API_KEY]")]);
  });

  test("can't say what it is: nothing is run", async () => {
    const { exit, stderr } = await run(faulty({ identity: "null.x" }));
    expect([exit, stderr]).toEqual([
      2,
      expect.stringMatching(/answers\[own\] \(line 4\): \.\/own\.mjs: `identityOf` threw TypeError/),
    ]);
  });

  test("that is not there is named with line and column", async () => {
    const folder = folderWith({ "p.yaml": "name: p\nstages:\n  a: { uses: ./nope.mjs }\n" });
    const { exit, stderr } = await bench(folder, ["run", "p.yaml"]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining("p.yaml:3:14: error: there is no module ./nope.mjs")]);
  });
});
