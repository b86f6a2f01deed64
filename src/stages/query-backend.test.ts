/** Which answers a key stands for. */
import { describe, expect, test } from "vitest";
import { memoryTree } from "../../test/rigs/memory-corpus.js";
import { A, B, issue, plan, puppet, type Setup, said, tree } from "../../test/rigs/query-stage.js";
import { stageToolsRig } from "../../test/rigs/stage-tools.js";
import type { Question } from "../backends/contract.js";

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
