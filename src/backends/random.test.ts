import { describe, expect, test } from "vitest";
import { ask, openBackend, targets } from "../../test/rigs/ask-backend.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import { random } from "./random.js";

const files = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${String(i).padStart(2, "0")}.c`, ""]));
const corpus = memoryCorpus(files);

async function drawn(options: Record<string, unknown>, question: Parameters<typeof ask>[1] = {}) {
  const answer = await ask(await openBackend(random, options), { corpus, truth: targets("f01.c", "f02.c"), ...question });
  expect(answer.status).toBe("completed");
  return JSON.parse(answer.response) as { draws: string[][]; pool: number; sizes: number[] };
}

describe("random", () => {
  test("size-matched: as many as targets, distinct, from the tree", async () => {
    const answer = await drawn({ draws: 50 });
    expect(Object.keys(answer)).toEqual(["draws", "pool", "sizes"]);
    expect(answer).toMatchObject({ pool: 12, sizes: [2] });
    expect(answer.draws).toHaveLength(50);
    for (const draw of answer.draws) {
      expect(new Set(draw).size).toBe(2);
      for (const path of draw) expect(Object.keys(files)).toContain(path);
    }
    expect(new Set(answer.draws.map((draw) => draw.join())).size).toBeGreaterThan(20);
  });

  test("every file is equally likely at every rank", async () => {
    const { draws } = await drawn({ draws: 12_000 });
    for (const rank of [0, 1]) {
      const counts = new Map<string, number>();
      for (const draw of draws) counts.set(draw[rank] ?? "", (counts.get(draw[rank] ?? "") ?? 0) + 1);
      // Standard deviation 30; the seed is fixed.
      for (const path of Object.keys(files)) expect(Math.abs((counts.get(path) ?? 0) - 1000)).toBeLessThan(150);
    }
  });

  test("uniform: all sizes from n_min to n_max, the tree's size at most", async () => {
    const bounded = await drawn({ strategy: "uniform", n_min: 2, n_max: 4 });
    expect(bounded.sizes).toEqual([2, 3, 4]);
    expect(new Set(bounded.draws.map(({ length }) => length))).toEqual(new Set([2, 3, 4]));
    const whole = await drawn({ strategy: "uniform", n_min: 12 });
    expect(whole.sizes).toEqual([12]);
    expect(whole.draws[0]?.toSorted()).toEqual(Object.keys(files));
    expect((await drawn({ strategy: "uniform", n_max: 99 })).sizes).toHaveLength(12);
  });

  test("a case's draws hang on seed, case and repeat alone", async () => {
    const first = await drawn({});
    expect(await drawn({})).toEqual(first);
    const backend = await openBackend(random, {});
    await ask(backend, { id: "another", corpus, truth: targets("f03.c") });
    const after = await ask(backend, { corpus, truth: targets("f01.c", "f02.c") });
    expect(JSON.parse(after.response)).toEqual(first);
    const reversed = { ...corpus, tree: { ...corpus.tree, files: corpus.tree.files.toReversed() } };
    expect(await drawn({}, { corpus: reversed })).toEqual(first);
    for (const other of [drawn({ seed: 43 }), drawn({}, { repeat: 1 }), drawn({}, { id: "other" })]) {
      expect((await other).draws).not.toEqual(first.draws);
    }
  });

  test("a case without targets in the tree gets empty lists", async () => {
    const answer = await drawn({ draws: 3 }, { truth: [] });
    expect(answer).toEqual({ draws: [[], [], []], pool: 12, sizes: [0] });
  });

  test("what can't be drawn is a failure that says what to do", async () => {
    const nothing = await ask(await openBackend(random, {}), { corpus: memoryCorpus({}), truth: targets("a") });
    expect(nothing).toMatchObject({ status: "failed", error: expect.stringContaining("include") });
    const tooMany = await ask(await openBackend(random, { strategy: "uniform", n_min: 13 }), { corpus, truth: [] });
    expect(tooMany).toMatchObject({ status: "failed", error: expect.stringContaining("n_min is 13") });
  });

  test("warns once of answers that get large", async () => {
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const backend = await openBackend(random, { strategy: "uniform", draws: 100_000, n_min: 12 }, { warn });
    await ask(backend, { corpus, truth: [] });
    await ask(backend, { id: "b", corpus, truth: [] });
    expect(warnings).toEqual([expect.stringContaining("n_max")]);
  });

  test("the unused bounds are no part of the size-matched identity", () => {
    const identity = (options: object) => random.identityOf(random.options.parse(options));
    expect(identity({ n_max: 3 })).toEqual(identity({}));
    expect(identity({ strategy: "uniform", n_max: 3 })).not.toEqual(identity({ strategy: "uniform" }));
  });
});
