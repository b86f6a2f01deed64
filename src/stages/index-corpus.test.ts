/** The stage around index tools, and what questions make of its indexes. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { driveStage } from "../../test/rigs/drive-stage.js";
import { type DoubleRelease, type GraphragDouble, graphragDouble } from "../../test/rigs/graphrag-double.js";
import { memoryCorpus, memoryTree } from "../../test/rigs/memory-corpus.js";
import { issue, puppet, said } from "../../test/rigs/query-stage.js";
import { type StageToolsRig, stageInputs, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { UnusableConfiguration } from "../backends/contract.js";
import { type Index, indexFolder, indexSchema } from "../backends/index-folder.js";
import type { IndexOutcome, IndexRequest, IndexTool } from "../backends/index-tool.js";
import { type AnyIndexTool, builtInIndexTools } from "../backends/index-tools.js";
import type { AnyBackendKind } from "../backends/registry.js";
import { digestBytes } from "../base/json.js";
import type { Tree } from "../corpus/contract.js";
import { treeFolder } from "../corpus/tree.js";
import type { ItemStageKind, StageOutput } from "../engine/contract.js";
import { indexCorpusStage } from "./index-corpus.js";
import { queryBackendStage } from "./query-backend.js";
import type { Prepared } from "./query-unit.js";

const FILES = { "src/A.java": "class A {}", "src/B.java": "class B {}", "blank.txt": " ", "logo.png": "\u0000PNG" };
const KEY = "key-of-a-stranger";

let folder: string;
let tools: StageToolsRig;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bench-index-corpus-"));
  tools = stageToolsRig({
    baseFolder: folder,
    env: { PATH: process.env.PATH, GRAPHRAG_API_KEY: KEY },
    cacheFolder: (name) => join(folder, "cache", name),
    // Time does not pass.
    clock: { now: () => 0, sleep: () => new Promise(() => {}) },
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const stageOf = (kinds: ReadonlyMap<string, AnyIndexTool> = builtInIndexTools) =>
  indexCorpusStage(kinds, (tree) => ({ ...memoryCorpus(FILES), tree })) as ItemStageKind;

const build = (
  config: Record<string, unknown>,
  kinds?: ReadonlyMap<string, AnyIndexTool>,
  trees: readonly Tree[] = [memoryTree(FILES)],
) => driveStage(stageOf(kinds), config, tools, tools.output(trees.map((tree) => ({ id: tree.id, value: tree }))));

/** An index tool that does as the test says. */
function toolOf(
  made: (request: IndexRequest, signal: AbortSignal) => Promise<IndexOutcome>,
  more: Partial<IndexTool<{ model: string; speed: number }>> = {},
): ReadonlyMap<string, AnyIndexTool> {
  const tool: IndexTool<{ model: string; speed: number }> = {
    kind: "puppet",
    summary: "Does as it is told.",
    version: 1,
    options: z.strictObject({ model: z.string().default("m"), speed: z.number().default(1) }),
    identityOf: ({ model }) => ({ model }),
    pathBound: false,
    concurrency: ({ speed }) => speed,
    timeout: () => null,
    build: (_options, request, _environment, signal) => made(request, signal),
    ...more,
  };
  return new Map([[tool.kind, tool]]);
}

describe("GraphRAG", () => {
  const RELEASES: readonly DoubleRelease[] = ["0.3.6", "2.3.0", "3.3.0"];
  const config = (double: GraphragDouble, more: Record<string, unknown> = {}) => ({
    tool: { kind: "graphrag", venv: double.venv, ...more },
  });
  const settingsOf = async (index: Index) => readFileSync(join(await indexFolder(index, tools), "settings.yaml"), "utf8");

  test.each(RELEASES)("%s: init, documents, index; kept are settings, prompts and tables, and no key", async (release) => {
    const double = graphragDouble(folder, release);
    const { items } = await build(config(double));
    const index = indexSchema.parse(items[0]?.value);
    expect(index).toMatchObject({ id: "all", tool: "graphrag", facts: { graphrag_version: release, documents: 2 } });
    const table =
      release === "0.3.6" ? "output/20240101-000000/artifacts/create_final_entities.parquet" : "output/entities.parquet";
    expect(index.files.map(({ path }) => path)).toEqual([table, "prompts/extract_graph.txt", "settings.yaml"]);
    const kept = await indexFolder(index, tools);
    const documents = readFileSync(join(kept, table), "utf8");
    for (const path of ["src/A.java", "src/B.java"]) expect(documents).toContain(path);
    expect(documents).not.toContain("logo.png");
    expect(JSON.stringify(index) + documents + (await settingsOf(index))).not.toContain(KEY);
    // The placeholder of `init` would be sent as a key.
    expect(double.calls().every(({ env }) => env.GRAPHRAG_API_KEY === KEY)).toBe(true);
    expect(readdirSync(join(folder, "cache", "indexing"))).toEqual([]);
  });

  test("models and address are written into the settings, where that release has them", async () => {
    const wishes = { model: "chat-m", embedding_model: "embed-m", api_base: "http://127.0.0.1:1/v1" };
    for (const release of RELEASES) {
      const { items } = await build(config(graphragDouble(folder, release), wishes));
      const settings = await settingsOf(indexSchema.parse(items[0]?.value));
      for (const wish of Object.values(wishes)) expect(settings).toContain(wish);
      expect(settings).toContain("# made by init");
    }
  });

  test("settings and prompts of one's own, as they are", async () => {
    writeFileSync(join(folder, "mine.yaml"), "mine: true\n");
    const { items } = await build(config(graphragDouble(folder, "3.3.0"), { settings: "mine.yaml", documents: "json" }));
    const index = indexSchema.parse(items[0]?.value);
    expect(await settingsOf(index)).toBe("mine: true\n");
    expect(readFileSync(join(await indexFolder(index, tools), "output", "entities.parquet"), "utf8")).toContain(
      '{"path":"src/A.java","text":"class A {}"}',
    );
  });

  test("an attempt that fails is worth another, which goes on with what was paid for", async () => {
    const double = graphragDouble(folder, "3.3.0");
    double.failIndexing(2);
    for (const _attempt of [1, 2]) {
      const { outcomes } = await build(config(double));
      expect(outcomes.get("all")).toMatchObject({
        type: "failed",
        message: expect.stringMatching(/^graphrag: .*could not be reached/),
        retry: {},
      });
    }
    const { items } = await build(config(double));
    const index = indexSchema.parse(items[0]?.value);
    // The third run found the cache of the first two.
    expect(readFileSync(join(await indexFolder(index, tools), "output", "entities.parquet"), "utf8")).toMatch(/ 4$/);
    expect(index.files.map(({ path }) => path)).not.toContain("output/half");
  });

  test("no key: what to do, and no other attempt", async () => {
    const double = graphragDouble(folder, "3.3.0");
    Object.assign(tools, { env: { PATH: process.env.PATH } });
    const { outcomes } = await build(config(double));
    expect(outcomes.get("all")).toMatchObject({
      type: "failed",
      message: expect.stringMatching(/variable GRAPHRAG_API_KEY, and it is not set/),
    });
    expect(outcomes.get("all")).not.toHaveProperty("retry");
  });

  test("an empty tree has nothing to index", async () => {
    const stage = indexCorpusStage(builtInIndexTools, (tree) => ({ ...memoryCorpus({}), tree }));
    const { outcomes } = await driveStage(
      stage,
      config(graphragDouble(folder, "3.3.0")),
      tools,
      tools.output([{ id: "all", value: memoryTree({}) }]),
    );
    expect(outcomes.get("all")).toMatchObject({ type: "failed", message: expect.stringMatching(/no text files/) });
  });

  test("what is named and not there stops the stage", async () => {
    const stage = stageOf();
    const identify = (tool: Record<string, unknown>) =>
      stage.identify?.(stage.config.parse({ tool: { kind: "graphrag", ...tool } }), tools);
    await expect(identify({ venv: "nowhere" })).rejects.toThrow(/no GraphRAG in the virtual environment/);
    const { venv } = graphragDouble(folder, "3.3.0");
    await expect(identify({ venv, settings: "none.yaml" })).rejects.toThrow(/`settings:` names .*none\.yaml/);
    await expect(identify({ venv, prompts: "none" })).rejects.toThrow(/`prompts:` names .*none/);
    expect(await identify({ venv })).toMatchObject([{ name: "content", value: { version: "3.3.0" } }]);
  });
});

describe("any tool", () => {
  const writing = toolOf(async ({ folder: work }) => {
    writeFileSync(join(work, "data"), "index");
    return { type: "built", keep: ["data"], facts: { chunks: 3 } };
  });

  test("an index per tree", async () => {
    const { items } = await build({ tool: { kind: "puppet" } }, writing, [memoryTree(FILES, "a"), memoryTree(FILES, "b")]);
    expect(items.map(({ id, value }) => [id, indexSchema.parse(value).facts])).toEqual([
      ["a", { chunks: 3 }],
      ["b", { chunks: 3 }],
    ]);
  });

  test("the key: tree, tool, version, identity; the tree's folder only where the index holds it; nothing that steers", async () => {
    const keys = async (kinds: ReadonlyMap<string, AnyIndexTool>, options: Record<string, unknown> = {}) => {
      const stage = stageOf(kinds);
      const config = stage.config.parse({ tool: { kind: "puppet", ...options } });
      const prepared = await stage.prepare(config, stageInputs({}), tools);
      const units = stage.units?.(prepared, { id: "all", digest: digestBytes("") }, memoryTree(FILES)) ?? [];
      return JSON.stringify([stage.keyConfig?.(config), await stage.identify?.(config, tools), units.map(({ parts }) => parts)]);
    };
    const plain = await keys(writing);
    expect(await keys(writing, { speed: 9, name: "label" })).toBe(plain);
    expect(await keys(writing, { model: "n" })).not.toBe(plain);
    const never = async (): Promise<IndexOutcome> => ({ type: "failed", message: "" });
    expect(await keys(toolOf(never, { version: 2 }))).not.toBe(plain);
    expect(await keys(toolOf(never, { fingerprint: async () => "tool 1.2" }))).not.toBe(plain);
    const place = treeFolder(memoryTree(FILES), tools);
    expect(plain).not.toContain(place);
    expect(await keys(toolOf(never, { pathBound: true }))).toContain(JSON.stringify(place).slice(1, -1));
  });

  test("a digest of the tool's own stands for the index; one is needed where nothing is kept", async () => {
    const digest = digestBytes("tool and tree");
    const own = await build(
      { tool: { kind: "puppet" } },
      toolOf(async () => ({ type: "built", keep: [], digest, facts: {} })),
    );
    expect(indexSchema.parse(own.items[0]?.value)).toMatchObject({ digest, files: [] });
    const none = await build(
      { tool: { kind: "puppet" } },
      toolOf(async () => ({ type: "built", keep: [], facts: {} })),
    );
    expect(none.outcomes.get("all")).toMatchObject({ type: "failed", message: expect.stringMatching(/wrote no index/) });
  });

  test("the work folder outlives a failure and goes with success", async () => {
    const seen: string[][] = [];
    const kinds = toolOf(async ({ folder: work }) => {
      seen.push(readdirSync(work));
      writeFileSync(join(work, "half"), "");
      if (seen.length < 3) return { type: "failed", message: "not yet", retry: { after: 1 } };
      return { type: "built", keep: ["half"], facts: {} };
    });
    expect((await build({ tool: { kind: "puppet" } }, kinds)).outcomes.get("all")).toMatchObject({
      type: "failed",
      message: "puppet: not yet",
      retry: { after: 1 },
    });
    await build({ tool: { kind: "puppet" } }, kinds);
    await build({ tool: { kind: "puppet" } }, kinds);
    expect(seen).toEqual([[], ["half"], ["half"]]);
    expect(readdirSync(join(folder, "cache", "indexing"))).toEqual([]);
  });

  test("time is up: told, and what it had is kept", async () => {
    Object.assign(tools, { clock: { now: () => 0, sleep: async () => {} } });
    const kinds = toolOf(async ({ folder: work }) => {
      writeFileSync(join(work, "half"), "");
      return new Promise(() => {});
    });
    const { outcomes } = await build({ tool: { kind: "puppet" }, timeout: 5 }, kinds);
    expect(outcomes.get("all")).toMatchObject({ type: "failed", message: expect.stringMatching(/no index within 5 s/) });
    const [work] = readdirSync(join(folder, "cache", "indexing"));
    expect(existsSync(join(folder, "cache", "indexing", work ?? "", "half"))).toBe(true);
  });

  test("a run that stops records no failure", async () => {
    const stop = new AbortController();
    const kinds = toolOf(async () => {
      stop.abort(new Error("interrupted"));
      return { type: "failed", message: "stopped" };
    });
    const trees = tools.output([{ id: "all", value: memoryTree(FILES) }]);
    await expect(driveStage(stageOf(kinds), { tool: { kind: "puppet" } }, tools, trees, stop.signal)).rejects.toThrow(
      "interrupted",
    );
  });

  test("an unknown kind is told, with what is near", () => {
    expect(() => stageOf().config.parse({ tool: { kind: "grafrag" } })).toThrow(/did you mean graphrag\?/);
    expect(() => stageOf().config.parse({ tool: {} })).toThrow(/needs `kind`: one of graphrag, lightrag/);
  });
});

describe("questions", () => {
  const index = (id: string, tool = "puppet", text = id): { id: string; value: Index } => ({
    id,
    value: { id, tool, tree: "t", digest: digestBytes(text), files: [], facts: { id } },
  });
  const searching = (usesIndex: "required" | "optional") => puppet(said, { usesIndex: () => usesIndex });
  const asking = (kind: AnyBackendKind) =>
    queryBackendStage(new Map([[kind.kind, kind]]), (tree) => ({ ...memoryCorpus(FILES), tree })) as ItemStageKind<
      unknown,
      Prepared
    >;
  const config = { backend: { kind: "puppet" } };
  const prepare = async (
    usesIndex: "required" | "optional",
    indexes: readonly StageOutput[],
    more: Record<string, unknown> = {},
  ) => {
    const stage = asking(searching(usesIndex));
    const dataset = tools.output([{ id: "o/r#1", value: issue("o/r#1", { base_commit: "a".repeat(40) }) }]);
    return stage.prepare(stage.config.parse({ ...config, ...more }), stageInputs({ dataset, index: indexes }), tools);
  };
  const indexFor = async (prepared: Awaited<ReturnType<typeof prepare>>, base_commit: string | null) =>
    prepared.indexes?.forCase({ base_commit })?.digest;

  test("an index for all, or one of the case's own commit", async () => {
    const all = await prepare("required", [tools.output([index("all")])]);
    expect(await indexFor(all, null)).toBe(digestBytes("all"));
    const each = await prepare("required", [tools.output([index("c1"), index("c2")])]);
    expect(await indexFor(each, "c2")).toBe(digestBytes("c2"));
    expect(await indexFor(each, "c3")).toBeUndefined();
  });

  test("of the backend's kind; required but missing stops the stage, optional does not", async () => {
    await expect(prepare("required", [])).rejects.toThrow(
      /puppet searches an index.*index-corpus stage with `tool: \{ kind: puppet \}`/,
    );
    await expect(prepare("required", [tools.output([index("all", "other")])])).rejects.toThrow(/searches an index/);
    expect((await prepare("optional", [tools.output([index("all", "other")])])).indexes).toBeUndefined();
  });

  test("which of several is said with `index:`", async () => {
    const two = [tools.output([index("all", "puppet", "x")]), tools.output([index("all", "puppet", "y")])];
    await expect(prepare("required", two)).rejects.toThrow(/more than one puppet index \(0, 1\): say with `index:`/);
    expect(await indexFor(await prepare("required", two, { index: "1" }), null)).toBe(digestBytes("y"));
    await expect(prepare("required", two, { index: "2" })).rejects.toThrow(/`index: 2` is none of the puppet indexes/);
  });

  test("the index is in the key of its answers, given to the backend, and a case without one is skipped", async () => {
    const given: unknown[] = [];
    const kind = puppet(
      async ({ index: built }) => {
        given.push(built?.digest, built?.facts);
        return said();
      },
      { usesIndex: () => "required" },
    );
    const stage = asking(kind);
    const cases = [issue("o/r#1", { base_commit: "c1" }), issue("o/r#2", { base_commit: "c2" })];
    const dataset = tools.output(cases.map((value) => ({ id: value.id, value })));
    const unitsWith = async (text: string) => {
      const inputs = stageInputs({ dataset, index: tools.output([index("c1", "puppet", text)]) });
      const prepared = await stage.prepare(stage.config.parse(config), inputs, tools);
      return {
        prepared,
        units: cases.flatMap((value) => [...(stage.units?.(prepared, { id: value.id, digest: digestBytes("") }, value) ?? [])]),
      };
    };
    const { prepared, units } = await unitsWith("one");
    expect(units[0]?.parts).toContainEqual({ name: "index", value: digestBytes("one") });
    expect((await unitsWith("two")).units[0]?.parts).not.toEqual(units[0]?.parts);
    const [first, second] = units;
    if (first === undefined || second === undefined) throw new Error("two cases have two units");
    expect(await stage.execute(prepared, first, tools, new AbortController().signal)).toMatchObject({ type: "done" });
    expect(given).toEqual([digestBytes("one"), { id: "c1" }]);
    expect(await stage.execute(prepared, second, tools, new AbortController().signal)).toMatchObject({
      type: "failed",
      status: "skipped",
      message: expect.stringMatching(/no index was built for this case's source tree/),
    });
  });

  test("a configuration that can't be used is told by the tool itself", async () => {
    const kinds = toolOf(async () => ({ type: "failed", message: "" }), {
      fingerprint: async () => {
        throw new UnusableConfiguration("puppet: not installed");
      },
    });
    await expect(build({ tool: { kind: "puppet" } }, kinds)).rejects.toThrow("puppet: not installed");
  });
});
