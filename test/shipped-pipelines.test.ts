/**
 * The shipped pipelines for other people's benchmarks, as they are, on small stand-ins: octocode's on a repository of a few files with a double
 * of the program, Loc-Bench's on a Parquet file and clones of two repositories.
 */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { bench, folderWith } from "./rigs/bench-command.js";
import { type GitRig, gitRig } from "./rigs/git-repository.js";
import { FILES, type SearchRig, searchRig } from "./rigs/search-double.js";

const shipped = resolve(import.meta.dirname, "../pipelines");

interface RunJson {
  readonly counts: { readonly queries: number; readonly executed: number };
  readonly stages: readonly { readonly name: string; readonly executed: number; readonly message?: string }[];
  readonly summary: Readonly<
    Record<
      string,
      {
        readonly n: number;
        readonly measures: Record<string, { value: number | null }>;
        readonly strata: Record<string, Record<string, { n: number }>>;
      }
    >
  >;
}

async function run(folder: string, argv: readonly string[], env: Record<string, string>) {
  const { exit, stdout, stderr } = await bench(folder, ["run", ...argv, "--json"], env);
  if (stdout === "") throw new Error(stderr);
  const json = JSON.parse(stdout) as RunJson;
  return { exit, stderr, json, executed: (name: string) => json.stages.find((stage) => stage.name === name)?.executed };
}

function project(name: string): string {
  const folder = folderWith({});
  mkdirSync(join(folder, "pipelines"));
  copyFileSync(join(shipped, name), join(folder, "pipelines", name));
  return folder;
}

describe("octocode.yaml", () => {
  let rig: SearchRig;
  afterEach(() => rig.remove());

  function octocodeClone(): GitRig {
    const clone = gitRig();
    for (const [path, text] of Object.entries(FILES)) clone.write(path, text);
    clone.write(
      "benchmark/code.csv",
      "query,result1,result2\nnumbers overflow parser,src/Parser.java:6-9:2,src/Parser.java:1-3:1\nwrites numbers,src/Writer.java:1-4:2,\n",
    );
    clone.write("benchmark/config.toml", "[search]\nmax_results = 10\n\n[search.hybrid]\nenabled = true\n");
    return clone;
  }

  test("six variants of the search share one index; one of them again replaces its row only", async () => {
    rig = searchRig("octocode");
    const folder = project("octocode.yaml");
    const clone = octocodeClone();
    const commit = clone.commit("pinned").slice(0, 7);
    const env = { ...(rig.environment.env as Record<string, string>), VOYAGE_API_KEY: "key" };
    const set = ["--set", `octocode=${clone.folder}`, "--set", `commit="${commit}"`];
    // The double's log must reach it; the pipeline passes on what octocode needs and nothing else.
    const file = join(folder, "pipelines/octocode.yaml");
    const log = "env: [DOUBLE_LOG]";
    writeFileSync(
      file,
      readFileSync(file, "utf8")
        .replaceAll(/^( *)(- kind: octocode)$/gm, `$1$2\n$1  ${log}`)
        .replaceAll(/^ *env: \[VOYAGE_API_KEY\]\n/gm, "")
        .replaceAll(log, "env: [DOUBLE_LOG, VOYAGE_API_KEY]")
        .replace(/^( *)(kind: octocode)$/m, `$1$2\n$1${log}`),
    );
    const first = await run(folder, ["pipelines/octocode.yaml", ...set], env);
    expect(first.exit, first.stderr).toBe(0);
    const calls = rig.calls().map(([command]) => command);
    expect(calls.filter((command) => command === "index")).toHaveLength(1);
    expect(calls.filter((command) => command === "search")).toHaveLength(12);
    expect(Object.keys(first.json.summary).sort()).toEqual([
      "bm25",
      "hybrid-30-70",
      "hybrid-30-70-graph",
      "hybrid-30-70-graph-rerank",
      "hybrid-30-70-rerank",
      "hybrid-70-30",
      "vector-only",
    ]);
    // The variants do reach the tool: it ranks by file names only where keywords count.
    const lines = (label: string) => first.json.summary[label]?.measures["R(level=lines)@5"]?.value;
    expect(lines("vector-only")).toBe(1);
    const rows = () =>
      (
        JSON.parse(readFileSync(join(folder, "evaluation_results/octocode/RESULTS.json"), "utf8")) as {
          rows: { label: string; run_id: string; seconds: number | null; identity: { search?: unknown } | null }[];
        }
      ).rows;
    const before = rows();
    expect(before).toHaveLength(7);
    expect(before.every(({ seconds }) => seconds !== null)).toBe(true);
    expect(before.find(({ label }) => label === "vector-only")?.identity).toMatchObject({
      options: { search: { "search.hybrid.enabled": false } },
    });
    const again = await run(folder, ["pipelines/octocode.yaml", ...set, "--force", "answers[vector-only]"], env);
    expect(again.exit, again.stderr).toBe(0);
    expect(rig.calls().filter(([command]) => command === "index")).toHaveLength(1);
    expect(rig.calls().filter(([command]) => command === "search")).toHaveLength(14);
    const changed = rows().filter(({ label, run_id }) => before.find((row) => row.label === label)?.run_id !== run_id);
    expect(rows()).toHaveLength(7);
    expect(changed.map(({ label }) => label)).toEqual(["vector-only"]);
  }, 120_000);

  test("another commit than the one that the questions are about is refused before anything is asked", async () => {
    rig = searchRig("octocode");
    const folder = project("octocode.yaml");
    const clone = octocodeClone();
    clone.commit("pinned");
    clone.write("src/Parser.java", "class Parser {}\n");
    const commit = clone.commit("later").slice(0, 7);
    const env = rig.environment.env as Record<string, string>;
    const set = ["--set", `octocode=${clone.folder}`, "--set", `commit="${commit}"`];
    const { exit, stderr } = await bench(folder, ["run", "pipelines/octocode.yaml", ...set], env);
    expect(exit).toBe(1);
    expect(stderr).toContain("beyond the end of their file");
    expect(rig.calls().filter(([command]) => command === "search")).toEqual([]);
  }, 60_000);
});

test("loc-bench.yaml: instances of several repositories, each at its own commit, each repository cloned once", async () => {
  const folder = project("loc-bench.yaml");
  const repositories = ["one", "two"].map((name) => {
    const rig = gitRig();
    rig.write("pkg/reader.py", `def read_${name}(): pass\n`);
    rig.write("pkg/writer.py", "def write(): pass\n");
    const base = rig.commit("base");
    rig.write("pkg/reader.py", "fixed\n");
    rig.commit("fix");
    return { name, rig, base };
  });
  mkdirSync(join(folder, "clones/owner"), { recursive: true });
  for (const { name, rig } of repositories) symlinkSync(rig.folder, join(folder, "clones/owner", name));
  const instances = repositories.map(({ name, base }, index) => ({
    instance_id: `owner__${name}-1`,
    repo: `owner/${name}`,
    base_commit: base,
    problem_statement: `read_${name} fails`,
    created_at: `202${3 + index}-05-01T00:00:00Z`,
    edit_functions: index === 0 ? ["pkg/reader.py:read_one"] : ["pkg/reader.py:read_two", "pkg/writer.py:write"],
    category: "Bug Report",
  }));
  writeFileSync(join(folder, "loc.jsonl"), `${instances.map((one) => JSON.stringify(one)).join("\n")}\n`);
  const set = ["--set", "dataset=../loc.jsonl", "--set", "repositories=../clones/{repository}"];
  const first = await run(folder, ["pipelines/loc-bench.yaml", ...set], { PATH: process.env.PATH ?? "" });
  expect(first.exit, first.stderr).toBe(0);
  expect(first.executed("sources")).toBe(2);
  const summary = first.json.summary.bm25;
  expect(summary?.n).toBe(2);
  expect(summary?.measures["AccLocAgent@1"]?.value).toBe(1);
  const sizes = (name: string) => Object.entries(summary?.strata[name] ?? {}).map(([value, { n }]) => [value, n]);
  expect(sizes("category")).toEqual([["Bug Report", 2]]);
  expect(sizes("targets")).toEqual([
    ["1", 1],
    ["2-3", 1],
  ]);
  expect(sizes("year")).toEqual([
    ["2023", 1],
    ["2024", 1],
  ]);
  expect(sizes("repository")).toHaveLength(2);
  expect((await run(folder, ["pipelines/loc-bench.yaml", ...set], { PATH: process.env.PATH ?? "" })).json.counts.executed).toBe(
    0,
  );
}, 60_000);
