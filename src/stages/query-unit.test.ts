/** What happens to one question, and what the stage says of the whole. */
import { describe, expect, test } from "vitest";
import { memoryTree } from "../../test/rigs/memory-corpus.js";
import { A, issue, plan, puppet, said, tree } from "../../test/rigs/query-stage.js";
import { stageInputs, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { answerSchema } from "../answers/schema.js";
import type { Question, RawAnswer } from "../backends/contract.js";
import { answersMetaSchema } from "./answer-meta.js";

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
    const trees = [memoryTree({ [A]: "lazy" })];
    const { units, execute, texts } = await plan({ config: bm25, cases: [issue("1")], trees });
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
    const meta = answersMetaSchema.parse(await stage.finish?.(prepared, [], tools, stageInputs({})));
    expect(meta).toEqual({
      kind: "bm25",
      name: "lexical",
      identity: { version: expect.any(Number), options: expect.objectContaining({ k1: 1.2, b: 0.75, top: 15 }), content: null },
      prompt: "text",
      repeats: 2,
      notes: [],
      left_out: [],
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
