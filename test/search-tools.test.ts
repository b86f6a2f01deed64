/** colgrep and octocode in a pipeline: an index per tree as a stage of its own, searched by query-backend; doubles of both programs. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { bench, folderWith } from "./rigs/bench-command.js";
import { FILES, type SearchRig, searchRig } from "./rigs/search-double.js";

const PASS = "env: [DOUBLE_LOG, DOUBLE_FAULT]";
const pipeline = (kind: string, index: boolean, more: string) => `name: search
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  sources: { uses: checkout, with: { folder: ./src } }
${index ? `  index: { uses: index-corpus, needs: sources, with: { tool: { kind: ${kind}, ${PASS} } } }\n` : ""}  answers:
    uses: query-backend
    needs: [dataset, sources${index ? ", index" : ""}]
    with: { backend: { kind: ${kind}, ${PASS}${more} } }
  scores: { uses: score, needs: [dataset, sources, answers], with: { measures: [R, RR] } }
  report: { uses: report, needs: scores, with: { formats: [json, markdown] } }
`;

const CASES = [
  { title: "numbers overflow", path: "src/Parser.java" },
  { title: `writes numbers ${"and a long story ".repeat(60)}`, path: "src/Writer.java" },
].map(({ title, path }, index) =>
  JSON.stringify({
    instance_id: `o/r#${index + 1}`,
    repo: "o/r",
    problem_statement: title,
    patch: `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`,
  }),
);

let rig: SearchRig | undefined;
afterEach(() => rig?.remove());

function project(kind: string, index: boolean, more = ""): { folder: string; write: (more: string) => void } {
  rig = searchRig(kind);
  const files = Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`pipelines/src/${path}`, text]));
  const folder = folderWith({
    "pipelines/cases.jsonl": `${CASES.join("\n")}\n`,
    "pipelines/p.yaml": pipeline(kind, index, more),
    ...files,
  });
  return { folder, write: (other) => writeFileSync(join(folder, "pipelines/p.yaml"), pipeline(kind, index, other)) };
}

async function run(folder: string, more: Record<string, string> = {}) {
  const env = Object.fromEntries(
    Object.entries({ ...rig?.environment.env, ...more }).map(([name, value]) => [name, value ?? ""]),
  );
  const { exit, stdout, stderr } = await bench(folder, ["run", "pipelines/p.yaml", "--json"], env);
  if (stdout === "") throw new Error(stderr);
  const json = JSON.parse(stdout) as {
    counts: { queries: number };
    reports: string[];
    stages: { name: string; executed: number; message?: string }[];
    summary: Record<string, { measures: Record<string, { value: number }>; failed?: number }>;
  };
  return { exit, stderr, ...json, executed: Object.fromEntries(json.stages.map(({ name, executed }) => [name, executed])) };
}

const commands = () => (rig?.calls() ?? []).map(([command]) => command).filter((command) => command !== "--version");

describe.each([
  ["colgrep", "init", ", results: 3"],
  ["octocode", "index", ", top: 1"],
])("%s", (kind, building, more) => {
  test("indexes once, as a stage of its own; new options ask again and index nothing, wherever the index's files went", async () => {
    const { folder, write } = project(kind, true);
    const first = await run(folder);
    expect(first.exit).toBe(0);
    expect(first.executed).toMatchObject({ index: 1, answers: 2 });
    expect(Object.values(first.summary)[0]?.measures.R?.value).toBe(1);
    expect(commands()).toEqual([building, "search", "search"]);
    expect((await run(folder)).executed).toMatchObject({ index: 0, answers: 0 });
    rmSync(join(folder, "cache", "indexes"), { recursive: true });
    write(more);
    expect((await run(folder)).executed).toMatchObject({ index: 0, answers: 2 });
    expect(commands().filter((command) => command === building)).toHaveLength(1);
  });

  test("without such a stage the first question makes the index, and the next run finds it", async () => {
    const { folder, write } = project(kind, false);
    expect((await run(folder)).exit).toBe(0);
    write(more);
    expect((await run(folder)).counts.queries).toBe(2);
    expect(commands().filter((command) => command === building)).toHaveLength(1);
  });

  test("that is missing fails for each question, and says once more at the end what to do", async () => {
    const { folder } = project(kind, false);
    const { exit, stderr } = await bench(folder, ["run", "pipelines/p.yaml"], { PATH: "/nowhere" });
    expect(exit).toBe(1);
    expect(stderr).toMatch(new RegExp(`\`${kind}\` was not found\\. Install ${kind}`));
    expect(commands()).toEqual([]);
  });
});

test("queries that octocode would refuse are cut, and the report counts them", async () => {
  const { folder } = project("octocode", false);
  const { reports } = await run(folder);
  const report = reports.map((path) => readFileSync(join(folder, path), "utf8")).join("\n");
  expect(report).toContain("1 of 2 answers: the query was longer than 500 bytes, which octocode refuses, and was cut at a word");
});

test("systems that are not there, with and without an index of their own, cost the others neither answers nor report", async () => {
  const { folder } = project("colgrep", false);
  writeFileSync(
    join(folder, "pipelines/p.yaml"),
    `name: p
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  sources: { uses: checkout, with: { folder: ./src } }
  index: { uses: index-corpus, needs: sources, with: { tool: { kind: octocode } } }
  indexed: { uses: query-backend, needs: [dataset, sources, index], with: { backend: { kind: octocode } } }
  answers:
    uses: query-backend
    needs: [dataset, sources]
    matrix:
      backend:
        - { kind: bm25 }
        - { kind: colgrep }
        - { kind: graphrag, dir: ./graph }
        - { kind: mcp, command: [no-such-server], tool: search, arguments: { q: "{prompt}" } }
        - { kind: command, name: tool, run: [no-such-tool, "{query}"], version: "1" }
  scores: { uses: score, needs: [dataset, sources, answers] }
  others: { uses: score, needs: [dataset, sources, indexed] }
  report: { uses: report, needs: [scores, others] }
`,
  );
  const { exit, stderr, summary, reports } = await run(folder, { PATH: "/nowhere" });
  expect(exit).toBe(1);
  expect(Object.keys(summary)).toEqual(["bm25", "colgrep", "graphrag", "mcp", "tool"]);
  expect(Object.values(summary).map(({ failed }) => failed)).toEqual([0, 2, 2, 2, 2]);
  expect(reports.some((path) => path.endsWith("report.md"))).toBe(true);
  expect(stderr).toContain("report is made without others");
  for (const name of ["octocode", "colgrep", "no-such-server", "no-such-tool"])
    expect(stderr).toContain(`\`${name}\` was not found`);
});
