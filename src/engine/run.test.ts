import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type EngineRig, engineRig } from "../../test/rigs/engine-rig.js";
import type { Json } from "../base/json.js";
import { verifyCache } from "../cache/verify.js";

let rig: EngineRig;
beforeEach(async () => {
  rig = await engineRig();
});
afterEach(async () => {
  await rig.close();
  await rm(rig.folder, { recursive: true, force: true });
});

const reportText = async (result: Awaited<ReturnType<EngineRig["run"]>>) => {
  const output = await result.output("report");
  return (output?.meta as { text: string } | undefined)?.text;
};

describe("caching", () => {
  test("a second run executes nothing and gives the same report", async () => {
    const first = await rig.run();
    expect(first.exit).toBe(0);
    expect(rig.executed).toEqual({ source: ["source"], ask: expect.any(Array), grade: expect.any(Array), sum: ["sum"] });
    expect(rig.executed.ask).toHaveLength(5);
    const second = await rig.run();
    expect(rig.executed).toEqual({});
    expect(second.nodes.map(({ state }) => state)).toEqual(["cached", "cached", "cached", "cached"]);
    expect(second.nodes.map(({ executed }) => executed)).toEqual([0, 0, 0, 0]);
    expect(await reportText(second)).toBe(await reportText(first));
    expect((await readdir(join(rig.folder, "runs", "run-2"))).some((name) => name.startsWith("report-"))).toBe(true);
  });

  test("another rule set grades again and asks nothing", async () => {
    await rig.run();
    const result = await rig.run({ config: { scores: { rules: "lenient" } } });
    expect(rig.executed.ask).toBeUndefined();
    expect(rig.executed.grade).toHaveLength(5);
    expect(rig.executed.sum).toEqual(["sum"]);
    expect(result.exit).toBe(0);
  });

  test("one changed item is asked again, alone", async () => {
    await rig.run();
    rig.items = rig.items.map((item, index) => (index === 2 ? { ...item, value: { text: "changed" } } : item));
    await rig.run();
    expect(rig.executed.ask).toEqual(["item-2"]);
    expect(rig.executed.grade).toEqual(["item-2"]);
  });

  test("an upstream that runs again with the same output stops there", async () => {
    await rig.run();
    await rig.run({ forced: new Set(["texts"]), startedAt: Date.now() + 1 });
    expect(rig.executed).toEqual({ source: ["source"] });
  });

  test("the output's order is the input's, whatever finished first", async () => {
    const waiting: (() => void)[] = [];
    rig.onAsk = (unit) =>
      new Promise((resolve) => {
        waiting.push(() => resolve({ type: "done", items: [{ id: unit, value: { answer: unit } }] }));
        if (waiting.length === 5) for (const finish of waiting.reverse()) finish();
      });
    const result = await rig.run();
    expect((await result.output("answers"))?.items.map(({ id }) => id)).toEqual(rig.items.map(({ id }) => id));
  });

  test("where order is asked for, a unit begins when the one before has, and not when it has ended", async () => {
    rig.inOrder = true;
    const begun: string[] = [];
    const finish: (() => void)[] = [];
    rig.onAsk = async (unit, _signal, tell) => {
      // The earlier it stands, the longer it takes to begin: without an order the last would be first.
      const place = rig.items.findIndex(({ id }) => id === unit);
      for (let turn = place; turn < rig.items.length; turn++) await new Promise((resolve) => setImmediate(resolve));
      begun.push(unit);
      tell();
      await new Promise<void>((resolve) => {
        finish.push(resolve);
        if (finish.length === rig.items.length) for (const end of finish.reverse()) end();
      });
      return { type: "done", items: [{ id: unit, value: { answer: unit } }] };
    };
    const result = await rig.run();
    expect(result.exit).toBe(0);
    expect(begun).toEqual(rig.items.map(({ id }) => id));
  });

  test("--items asks about those only, and a later full run about the others", async () => {
    await rig.run({ selection: { items: ["item-1", "item-3"], sample: null } });
    expect(rig.executed.ask?.sort()).toEqual(["item-1", "item-3"]);
    await rig.run();
    expect(rig.executed.ask?.sort()).toEqual(["item-0", "item-2", "item-4"]);
  });

  test("a larger sample contains a smaller one", async () => {
    await rig.run({ selection: { items: null, sample: 2 } });
    expect(rig.executed.ask).toHaveLength(2);
    await rig.run({ selection: { items: null, sample: 4 } });
    expect(rig.executed.ask).toHaveLength(2);
  });
});

describe("failures", () => {
  test("a failure is tried again, and what stays failed is asked by the next run alone", async () => {
    let broken = true;
    rig.onAsk = async (unit) =>
      unit === "item-1" && broken
        ? { type: "failed", status: "failed", message: "boom", retry: {}, items: [{ id: unit, value: { failed: true } }] }
        : { type: "done", items: [{ id: unit, value: { answer: unit } }] };
    const first = await rig.run();
    expect(first.exit).toBe(1);
    expect(rig.executed.ask?.filter((unit) => unit === "item-1")).toHaveLength(3);
    expect(rig.executed.sum).toEqual(["sum"]);
    expect(await reportText(first)).toContain("item-1");
    broken = false;
    const second = await rig.run();
    expect(rig.executed.ask).toEqual(["item-1"]);
    expect(second.exit).toBe(0);
  });

  test("without something to use, the stages behind it are not run", async () => {
    rig.onAsk = async () => ({ type: "failed", status: "failed", message: "no such page" });
    const result = await rig.run();
    expect(result.exit).toBe(1);
    expect(result.nodes.find(({ id }) => id === "answers")?.message).toContain("no such page");
    expect(result.nodes.find(({ id }) => id === "report")?.state).toBe("blocked");
  });

  test("a limit stops the run, resumably", async () => {
    let open = 2;
    rig.onAsk = async (unit) =>
      open-- > 0
        ? { type: "done", items: [{ id: unit, value: unit }] }
        : { type: "stop", message: "limit reached", resumeAt: 1_800_000_000_000 };
    const result = await rig.run();
    expect(result.exit).toBe(75);
    expect(result.resumeAt).toBe(1_800_000_000_000);
    rig.onAsk = null;
    expect((await rig.run()).exit).toBe(0);
    expect(rig.executed.ask).toHaveLength(3);
  });

  test("an interrupt keeps what is finished", async () => {
    const controller = new AbortController();
    let finished = 0;
    rig.onAsk = async (unit, signal) => {
      if (finished++ < 2) return { type: "done", items: [{ id: unit, value: unit }] };
      controller.abort(new Error("interrupted"));
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      return { type: "failed", status: "failed", message: "stopped" };
    };
    const result = await rig.run({ signal: controller.signal });
    expect(result.exit).toBe(130);
    rig.onAsk = null;
    await rig.run();
    expect(rig.executed.ask).toHaveLength(3);
  });

  test("a unit that ignores the interrupt does not hold up the end", async () => {
    const controller = new AbortController();
    rig.onAsk = () => {
      controller.abort(new Error("interrupted"));
      return new Promise(() => {});
    };
    expect((await rig.run({ signal: controller.signal })).exit).toBe(130);
  });
});

describe("damage", () => {
  const objects = async () => {
    const cache = await rig.cache();
    return cache.tables.objects.sql("SELECT key, value FROM objects");
  };

  test("every object damaged in turn: the same report, a warning where it was met", async () => {
    const expected = await reportText(await rig.run());
    for (const { key } of await objects()) {
      const cache = await rig.cache();
      await cache.tables.objects.sql("UPDATE objects SET value = ? WHERE key = ?", Buffer.from([0, 1, 2, 3]), key);
      const seen = rig.warnings.length;
      const verified = await verifyCache(cache, [], false);
      expect(verified.damaged.length).toBeGreaterThan(0);
      const result = await rig.run();
      expect(result.exit).toBe(0);
      expect(await reportText(result)).toBe(expected);
      const metIt = rig.warnings.length > seen;
      const executed = Object.values(rig.executed).flat().length;
      // Whoever executed something because of it has said so.
      if (executed > 0) expect(metIt).toBe(true);
      cache.damaged.clear();
      const forced = await rig.run({ forced: new Set(["scores", "report"]), startedAt: Date.now() + 1 });
      expect(await reportText(forced)).toBe(expected);
      cache.damaged.clear();
    }
    expect((await verifyCache(await rig.cache(), [], false)).damaged).toEqual([]);
  });

  test("every row damaged in turn", async () => {
    const expected = await reportText(await rig.run());
    const cache = await rig.cache();
    for (const { key } of await cache.tables.actions.sql("SELECT key FROM actions")) {
      await cache.tables.actions.sql("UPDATE actions SET value = replace(value, 'item', 'itex') WHERE key = ?", key);
      const result = await rig.run();
      expect(result.exit).toBe(0);
      expect(await reportText(result)).toBe(expected);
      cache.damaged.clear();
    }
  });

  test("a paid answer that is intact is not asked again because another was damaged", async () => {
    const first = await rig.run();
    const answers = (await first.output("answers"))?.items ?? [];
    const cache = await rig.cache();
    await cache.objects.delete([answers[3]?.digest as never]);
    const result = await rig.run({ config: { scores: { rules: "other" } } });
    expect(result.exit).toBe(0);
    expect(rig.executed.ask).toEqual(["item-3"]);
  });

  test.each([
    ["emptied", async (path: string) => truncate(path, 0)],
    ["cut in half", async (path: string) => truncate(path, Math.floor((await readFile(path)).length / 2))],
    [
      "overwritten",
      async (path: string) => writeFile(path, "this is no database, it is a text of more than a hundred bytes".repeat(3)),
    ],
    ["removed", async (path: string) => rm(path)],
  ])("a database that was %s is moved aside with a warning", async (_what, harm) => {
    const expected = await reportText(await rig.run());
    await rig.close();
    await harm(join(rig.folder, "cache", "index.sqlite"));
    const result = await rig.run();
    expect(result.exit).toBe(0);
    expect(rig.warnings.join("\n")).toContain("index.sqlite");
    expect(await reportText(result)).toBe(expected);
    const again = await rig.run();
    expect(again.nodes.every(({ state }) => state === "cached")).toBe(true);
  });

  test("bytes flipped anywhere in the database", async () => {
    const expected = await reportText(await rig.run());
    await rig.close();
    const path = join(rig.folder, "cache", "index.sqlite");
    const good = await readFile(path);
    for (let at = 3; at < good.length; at += Math.floor(good.length / 40)) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ 0x41;
      await writeFile(path, bad);
      const result = await rig.run();
      expect(result.exit).toBe(0);
      expect(await reportText(result)).toBe(expected);
      const forced = await rig.run({ forced: new Set(["scores", "report"]), startedAt: Date.now() + 1 });
      expect(forced.exit).toBe(0);
      expect(await reportText(forced)).toBe(expected);
      await rig.close();
      await rm(join(rig.folder, "cache"), { recursive: true });
      const { mkdir } = await import("node:fs/promises");
      await mkdir(join(rig.folder, "cache"));
      await writeFile(path, good);
      await writeFile(join(rig.folder, "cache", "format.json"), '{"format":1}\n');
    }
  });
});

test("two runs on one cache ask each question once", async () => {
  const asked: string[] = [];
  const other = await engineRig();
  try {
    const { Cache } = await import("../cache/cache.js");
    const shared = await Cache.open({ folder: join(rig.folder, "cache"), now: Date.now, warn: () => {} });
    (other as { cache: EngineRig["cache"] }).cache = async () => shared;
    const answer = async (unit: string) => {
      asked.push(unit);
      await new Promise((resolve) => setImmediate(resolve));
      return { type: "done" as const, items: [{ id: unit, value: { answer: unit } as Json }] };
    };
    rig.onAsk = answer;
    other.onAsk = answer;
    const [one, two] = await Promise.all([rig.run(), other.run()]);
    expect([one.exit, two.exit]).toEqual([0, 0]);
    expect(asked.sort()).toEqual(rig.items.map(({ id }) => id));
    expect(await reportText(one)).toBe(await reportText(two));
    await shared.close();
  } finally {
    await rm(other.folder, { recursive: true, force: true });
  }
});
