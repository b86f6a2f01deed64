import { describe, expect, test } from "vitest";
import * as z from "zod";
import { memoryTree, treeDigest } from "../../test/rigs/memory-corpus.js";
import { type StageToolsRig, stageInputs, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { answerSchema } from "../answers/schema.js";
import type { BackendKind, Question, RawAnswer } from "../backends/contract.js";
import { type AnyBackendKind, builtInBackends } from "../backends/registry.js";
import { keyDigest } from "../cache/key.js";
import type { Corpus, Tree } from "../corpus/contract.js";
import { type Case, caseSchema } from "../dataset/schema.js";
import type { ItemStageKind, StageOutput, StageTools, Unit } from "../engine/contract.js";
import { answersMetaSchema } from "./answer-meta.js";
import { queryBackendStage } from "./query-backend.js";
import type { Prepared } from "./query-unit.js";

const A = "src/A.java";
const B = "src/B.java";

function issue(id: string, more: Partial<z.input<typeof caseSchema>> = {}): Case {
  const targets = [{ path: A, role: "source" as const }];
  return caseSchema.parse({ id, repository: "o/r", number: 1, title: `Title ${id}`, body: "Body", targets, ...more });
}

const openings: string[] = [];
const texts: string[] = [];
function openCorpus(tree: Tree): Corpus {
  openings.push(tree.id);
  return {
    tree,
    digest: treeDigest(tree),
    text: async (path) => {
      texts.push(path);
      return "words";
    },
    folder: async () => "/nowhere",
  };
}

/** A backend that does as the test says. */
function puppet(
  answer: (question: Question, signal: AbortSignal) => Promise<RawAnswer>,
  more: Partial<BackendKind<{ model: string; speed: number }>> = {},
): AnyBackendKind {
  const kind: BackendKind<{ model: string; speed: number }> = {
    kind: "puppet",
    summary: "Does as it is told.",
    version: 1,
    options: z.strictObject({ model: z.string().default("m"), speed: z.number().default(1) }),
    identityOf: ({ model }) => ({ model }),
    needsCorpus: false,
    readsTruth: false,
    readsDataset: false,
    prompt: "text",
    concurrency: ({ speed }) => speed,
    open: async () => ({ ask: answer, close: async () => {} }),
    ...more,
  };
  return kind;
}

interface Setup {
  readonly kinds?: readonly AnyBackendKind[];
  readonly config: Record<string, unknown>;
  readonly cases: readonly Case[];
  readonly trees?: readonly Tree[];
  readonly tools?: StageToolsRig;
  readonly meta?: Record<string, never>;
}

interface Planned {
  readonly stage: ItemStageKind<unknown, Prepared>;
  readonly tools: StageToolsRig;
  readonly prepared: Prepared;
  readonly units: Unit[];
  /** Key of each unit, made of all that the contract calls a part. */
  readonly keys: Record<string, string>;
  execute(unit: Unit | undefined, tools?: StageTools, signal?: AbortSignal): ReturnType<ItemStageKind["execute"]>;
}

async function plan({ kinds = [], config, cases, trees, tools = stageToolsRig() }: Setup): Promise<Planned> {
  const all = new Map([...builtInBackends, ...kinds.map((kind) => [kind.kind, kind] as const)]);
  const stage = queryBackendStage(all, openCorpus) as ItemStageKind<unknown, Prepared>;
  const checked = stage.config.parse(config);
  const dataset: StageOutput = tools.output(cases.map((value) => ({ id: value.id, value })));
  const corpus = trees === undefined ? {} : { corpus: tools.output(trees.map((value) => ({ id: value.id, value }))) };
  const shared = [
    { name: "config", value: JSON.parse(JSON.stringify(stage.keyConfig?.(checked))) },
    ...((await stage.identify?.(checked, tools)) ?? []),
  ];
  const prepared = await stage.prepare(checked, stageInputs({ dataset, ...corpus }), tools);
  const values = await tools.load(dataset.items);
  const units = dataset.items.flatMap((ref, i) => [...(stage.units?.(prepared, ref, values[i]) ?? [])]);
  const keys = Object.fromEntries(units.map(({ id, parts }) => [id, keyDigest([...shared, ...stage.parts(prepared), ...parts])]));
  return {
    stage,
    tools,
    prepared,
    units,
    keys,
    execute: (unit, otherTools = tools, signal = new AbortController().signal) =>
      stage.execute(prepared, unit ?? missing(), otherTools, signal),
  };
}

function missing(): never {
  throw new Error("no such unit");
}

const tree = memoryTree({ [A]: "class A", [B]: "class B" });
const said = async (): Promise<RawAnswer> => ({ status: "completed", response: "said" });

describe("the key of an answer", () => {
  const base = { config: { backend: { kind: "bm25" } }, cases: [issue("1"), issue("2")], trees: [tree] };
  const keysOf = async (change: Partial<Setup>) => (await plan({ ...base, ...change })).keys;
  const puppetBase = { kinds: [puppet(said)], trees: [] };

  test("changes for the one case whose text has changed", async () => {
    const before = await keysOf({});
    const after = await keysOf({ cases: [issue("1", { body: "Other" }), issue("2")] });
    expect(after["1"]).not.toBe(before["1"]);
    expect(after["2"]).toBe(before["2"]);
  });

  test("does not change with what the backend can't see", async () => {
    const before = await keysOf({});
    expect(
      await keysOf({ cases: [issue("1", { url: "u", labels: ["x"], targets: [] }), issue("2", { closed_at: "now" })] }),
    ).toEqual(before);
    expect(await keysOf({ config: { backend: { kind: "bm25", name: "other" }, timeout: 5 } })).toEqual(before);
    const renamed = { ...tree, source: "elsewhere", revision: "9" };
    expect(await keysOf({ trees: [renamed] })).toEqual(before);
  });

  test("changes with options, kind version, tree and repeat", async () => {
    const before = await keysOf({});
    expect((await keysOf({ config: { backend: { kind: "bm25", k1: 1 } } }))["1"]).not.toBe(before["1"]);
    expect((await keysOf({ trees: [memoryTree({ [A]: "class A2" })] }))["1"]).not.toBe(before["1"]);
    const first = (await plan({ ...puppetBase, config: { backend: { kind: "puppet" } }, cases: [issue("1")] })).keys;
    const config = { backend: { kind: "puppet", speed: 3 } };
    expect((await plan({ ...puppetBase, config, cases: [issue("1")] })).keys).toEqual(first);
    const raised = { kinds: [puppet(said, { version: 2 })], config, cases: [issue("1")] };
    expect((await plan(raised)).keys["1"]).not.toBe(first["1"]);
  });

  test("of the first answers stays when more repeats are asked for", async () => {
    const once = await keysOf({});
    const thrice = await keysOf({ config: { backend: { kind: "bm25" }, repeats: 3 } });
    expect(Object.keys(thrice).sort()).toEqual(["1", "1~1", "1~2", "2", "2~1", "2~2"]);
    expect(thrice["1"]).toBe(once["1"]);
    expect(new Set(Object.values(thrice)).size).toBe(6);
  });

  test("differs between cases with the same text", async () => {
    const keys = await keysOf({ cases: [issue("1", { title: "T" }), issue("2", { title: "T" })] });
    expect(keys["1"]).not.toBe(keys["2"]);
  });

  test("has the truth of its own case for what reads it, cut to the tree", async () => {
    const oracle = (change: Partial<Setup>) => keysOf({ config: { backend: { kind: "oracle" } }, ...change });
    const before = await oracle({});
    const targets = [
      { path: A, role: "source" as const },
      { path: B, role: "source" as const },
    ];
    const more = await oracle({ cases: [issue("1", { targets }), issue("2")] });
    expect(more["1"]).not.toBe(before["1"]);
    expect(more["2"]).toBe(before["2"]);
    const absent = [...targets.slice(0, 1), { path: "new/C.java", role: "source" as const }];
    expect(await oracle({ cases: [issue("1", { targets: absent, body: "Other" }), issue("2")] })).toEqual(before);
  });

  test("has the truth of all cases, and no text, for popularity", async () => {
    const popularity = (change: Partial<Setup>) => keysOf({ config: { backend: { kind: "popularity" } }, ...change });
    const before = await popularity({});
    expect(await popularity({ cases: [issue("1", { title: "Other", body: "Other" }), issue("2")] })).toEqual(before);
    const moved = await popularity({ cases: [issue("1", { targets: [{ path: B, role: "source" }] }), issue("2")] });
    expect(moved["2"]).not.toBe(before["2"]);
  });

  test("has the case fields that the kind says it reads, and it is given no others", async () => {
    const seen: Question["case"][] = [];
    const kind = puppet(
      async (question) => {
        seen.push(question.case);
        return said();
      },
      { reads: () => ["url"] },
    );
    const setup = { kinds: [kind], config: { backend: { kind: "puppet" } } };
    const first = await plan({ ...setup, cases: [issue("1", { url: "u" })] });
    const second = await plan({ ...setup, cases: [issue("1", { url: "v" })] });
    expect(second.keys).not.toEqual(first.keys);
    await first.execute(first.units[0]);
    expect(seen).toEqual([{ id: "1", url: "u" }]);
  });

  test("of a backend without identity is never the same again, and the run says so", async () => {
    const setup = {
      kinds: [puppet(said, { identityOf: () => null })],
      config: { backend: { kind: "puppet" } },
      cases: [issue("1")],
    };
    let now = 0;
    const tools = stageToolsRig({ clock: { now: () => now++, sleep: async () => {} } });
    const first = await plan({ ...setup, tools });
    const second = await plan({ ...setup, tools });
    expect(second.keys["1"]).not.toBe(first.keys["1"]);
    expect(tools.warnings[0]).toContain("not cached");
  });

  test("has the content that the options name", async () => {
    let content = "one";
    const kind = puppet(said, { fingerprint: async () => content });
    const setup = { kinds: [kind], config: { backend: { kind: "puppet" } }, cases: [issue("1")] };
    const before = (await plan(setup)).keys;
    expect((await plan(setup)).keys).toEqual(before);
    content = "two";
    expect((await plan(setup)).keys).not.toEqual(before);
  });
});

describe("asking", () => {
  const config = { backend: { kind: "puppet" } };

  test("an answer is an item with prompt, seconds and details", async () => {
    let now = 1000;
    const tools = stageToolsRig({ clock: { now: () => now, sleep: async () => {} } });
    const kind = puppet(async () => {
      now += 1500;
      const usage = { input_tokens: 10, output_tokens: 5, cost_usd: 0.25 };
      return { status: "truncated", response: "half", finish_reason: "length", usage, details: { exit_code: 0 } };
    });
    const { units, execute } = await plan({ kinds: [kind], config: { ...config, repeats: 2 }, cases: [issue("1")], tools });
    const outcome = await execute(units[1]);
    expect(outcome).toMatchObject({ type: "done", status: "truncated", cost: { usd: 0.25, tokens: 15 } });
    const [item] = outcome.type === "done" ? outcome.items : [];
    expect(item?.id).toBe("1~1");
    expect(answerSchema.parse(item?.value)).toEqual({
      id: "1",
      backend: "puppet",
      repeat: 1,
      status: "truncated",
      finish_reason: "length",
      response: "half",
      error: null,
      usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.25 },
      seconds: 1.5,
      prompt: "Title 1\n\nBody",
      details: { exit_code: 0 },
    });
    expect(tools.counts).toEqual({ queries: 1 });
  });

  test("a failure flows on as an item, with its message and the hint to try again", async () => {
    const kind = puppet(async () => ({ status: "rate_limited", response: "", error: "slow down", retry: { after: 7 } }));
    const { units, execute } = await plan({ kinds: [kind], config, cases: [issue("1")] });
    const outcome = await execute(units[0]);
    expect(outcome).toMatchObject({ type: "failed", status: "rate_limited", message: "slow down", retry: { after: 7 } });
    expect(outcome.type === "failed" && outcome.items?.[0]).toMatchObject({
      id: "1",
      value: { status: "rate_limited", error: "slow down" },
    });
  });

  test("what the corpus throws goes through, so that the engine can repair it", async () => {
    const kind = puppet(async () => {
      throw new Error("damaged entry");
    });
    const { units, execute } = await plan({ kinds: [kind], config, cases: [issue("1")] });
    await expect(execute(units[0])).rejects.toThrow("damaged entry");
  });

  test("a backend is opened by the first question, once, and closed if it was opened", async () => {
    const log: string[] = [];
    const kind = puppet(said, {
      open: async () => {
        log.push("open");
        return { ask: said, close: async () => void log.push("close") };
      },
    });
    const idle = await plan({ kinds: [kind], config, cases: [issue("1"), issue("2")] });
    await idle.stage.close?.(idle.prepared);
    expect(log).toEqual([]);
    const busy = await plan({ kinds: [kind], config, cases: [issue("1"), issue("2")] });
    await Promise.all(busy.units.map((unit) => busy.execute(unit)));
    await busy.stage.close?.(busy.prepared);
    expect(log).toEqual(["open", "close"]);
  });

  test("a backend that can't be opened fails each question with the reason", async () => {
    const kind = puppet(said, { open: async () => Promise.reject(new Error("no index")) });
    const { stage, prepared, units, execute, tools } = await plan({ kinds: [kind], config, cases: [issue("1")] });
    expect(await execute(units[0])).toMatchObject({
      type: "failed",
      status: "failed",
      message: "puppet could not be started: no index",
    });
    await stage.close?.(prepared);
    expect(tools.counts).toEqual({});
  });

  test("time is up after the stage's `timeout`, else the backend's own", async () => {
    const slow = (_: Question, signal: AbortSignal) =>
      new Promise<RawAnswer>((resolve) =>
        signal.addEventListener("abort", () => resolve({ status: "timed_out", response: "", error: String(signal.reason) })),
      );
    for (const [timeout, expected] of [
      [{}, 60_000],
      [{ timeout: 5 }, 5000],
    ] as const) {
      const tools = stageToolsRig();
      const kind = puppet(slow, { timeout: () => 60 });
      const { units, execute } = await plan({ kinds: [kind], config: { ...config, ...timeout }, cases: [issue("1")], tools });
      const outcome = await execute(units[0]);
      expect(outcome).toMatchObject({ type: "failed", status: "timed_out", message: expect.stringContaining("TimeoutError") });
      expect(tools.sleeps[0]).toBe(expected);
    }
  });

  test("a backend that does not stop when its time is up holds nothing", async () => {
    const deaf = puppet(() => new Promise<RawAnswer>(() => {}), { timeout: () => 1 });
    const { units, execute } = await plan({ kinds: [deaf], config, cases: [issue("1")] });
    expect(await execute(units[0])).toMatchObject({ status: "timed_out", message: expect.stringContaining("within 1 s") });
  });

  test("a run that stops keeps an answer that has come, and makes no failure of what it stopped", async () => {
    const stop = new AbortController();
    const reason = new Error("interrupted");
    for (const status of ["completed", "failed"] as const) {
      const kind = puppet(async () => {
        stop.abort(reason);
        return { status, response: "x" };
      });
      const { units, execute, tools } = await plan({ kinds: [kind], config, cases: [issue("1")] });
      const outcome = execute(units[0], tools, stop.signal);
      if (status === "completed") expect(await outcome).toMatchObject({ type: "done" });
      else await expect(outcome).rejects.toBe(reason);
    }
  });
});

describe("source trees", () => {
  const bm25 = { backend: { kind: "bm25" } };
  const at = (commit: string) => memoryTree({ [A]: `at ${commit}` }, commit);

  test("contents are read by the first question only", async () => {
    texts.length = 0;
    const { units, execute } = await plan({ config: bm25, cases: [issue("1")], trees: [memoryTree({ [A]: "lazy" })] });
    expect(texts).toEqual([]);
    await execute(units[0]);
    expect(texts).toEqual([A]);
  });

  test("each case is asked about the tree of its base commit", async () => {
    const seen: unknown[] = [];
    const kind = puppet(
      async ({ corpus }) => {
        seen.push(corpus?.tree.id);
        return said();
      },
      { needsCorpus: "optional" },
    );
    const commits = Array.from({ length: 20 }, (_, i) => `c${i}`);
    const cases = commits.map((base_commit) => issue(base_commit, { base_commit }));
    const { units, execute } = await plan({
      kinds: [kind],
      config: { backend: { kind: "puppet" } },
      cases,
      trees: commits.map(at),
    });
    for (const unit of units) await execute(unit);
    expect(seen).toEqual(commits);
  });

  test("a case without a tree is skipped, and says so", async () => {
    const cases = [issue("1", { base_commit: "c9" }), issue("2")];
    const { units, execute, tools } = await plan({ config: bm25, cases, trees: [at("c1"), at("c2")] });
    for (const unit of units) {
      expect(await execute(unit)).toMatchObject({
        type: "failed",
        status: "skipped",
        message: expect.stringContaining("checkout"),
      });
    }
    expect(tools.counts).toEqual({});
  });

  test("a backend that needs trees says so when the stage has none", async () => {
    await expect(plan({ config: bm25, cases: [issue("1")] })).rejects.toThrow("checkout");
  });

  test("oracle answers with the targets that the tree has, all of them without one", async () => {
    const targets = [A, "new/C.java"].map((path) => ({ path, role: "source" as const }));
    for (const [trees, expected] of [
      [[tree], [A]],
      [undefined, ["new/C.java", A]],
    ] as const) {
      const setup = { config: { backend: { kind: "oracle" } }, cases: [issue("1", { targets })], ...(trees ? { trees } : {}) };
      const { units, execute } = await plan(setup);
      const outcome = await execute(units[0]);
      const [item] = outcome.type === "done" ? outcome.items : [];
      const { response } = answerSchema.parse(item?.value);
      expect(JSON.parse(response)).toEqual({ classes: expected.map((path) => ({ path })) });
    }
  });
});

describe("the whole output", () => {
  test("says who answered", async () => {
    const { stage, prepared, tools } = await plan({
      config: { backend: { kind: "bm25", name: "lexical" }, repeats: 2 },
      cases: [],
      trees: [tree],
    });
    const meta = answersMetaSchema.parse(await stage.finish?.(prepared, [], tools));
    expect(meta).toEqual({
      kind: "bm25",
      name: "lexical",
      identity: { version: 1, options: { k1: 1.2, b: 0.75, top: 15 }, content: null },
      prompt: "text",
      repeats: 2,
      notes: [],
    });
  });

  test("language models get the format, our task or the person's", async () => {
    const kind = puppet(said, { prompt: "text+format" });
    const prompts = async (extra: object) =>
      (await plan({ kinds: [kind], config: { backend: { kind: "puppet" }, ...extra }, cases: [issue("1")] })).keys;
    expect(await prompts({ extra_prompt: "List tests." })).not.toEqual(await prompts({}));
    expect(await prompts({ extra_prompt: "" })).toEqual(await prompts({}));
  });
});
