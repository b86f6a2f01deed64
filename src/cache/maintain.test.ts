import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Digest, digestBytes } from "../base/json.js";
import type { StageRow, UnitRow } from "./actions.js";
import { Cache } from "./cache.js";
import { removeRows } from "./maintain.js";

const key = (name: string): Digest => digestBytes(name);
const facts = { parts: [], seconds: 1, at: 1, by: "test" };
let cache: Cache;
beforeEach(async () => {
  cache = await Cache.open({ folder: mkdtempSync(join(tmpdir(), "bench-cache-")), now: () => 1, warn: () => {} });
});
afterEach(() => cache.close());

async function putUnit(name: string, unit: string): Promise<void> {
  const shared = await cache.putJson([]);
  const row: UnitRow = { type: "unit", kind: "k@1", unit, shared, out: [], status: "completed", precious: true, ...facts };
  await cache.putRow(key(name), row);
}

async function putStage(name: string, units: readonly (readonly [unit: string, name: string])[] | null): Promise<void> {
  const output = await cache.putJson({ items: [], meta: name });
  const trace = units === null ? null : await cache.putJson(units.map(([unit, one]) => [unit, key(one)]));
  const row: StageRow = { type: "stage", kind: "k@1", output, items: 0, units: 0, trace, notes: null, files: [], ...facts };
  await cache.putRow(key(name), row);
}

async function left(): Promise<Set<Digest>> {
  const keys = new Set<Digest>();
  for await (const { key: one } of cache.actions.scan()) keys.add(one);
  return keys;
}

describe("removing rows", () => {
  beforeEach(async () => {
    for (const [name, unit] of [
      ["a1", "o/r#1"],
      ["a2", "o/r#2"],
      ["b1", "o/r#1"],
      ["c9", "o/r#9"],
    ] as const)
      await putUnit(name, unit);
    await putStage("A", [
      ["o/r#1", "a1"],
      ["o/r#2", "a2"],
    ]);
    await putStage("A of others", [["o/r#2", "a2"]]);
    await putStage("B", [["o/r#1", "b1"]]);
    await putStage("C", [["o/r#9", "c9"]]);
    await putStage("whole", null);
  });

  test("by unit: the units, and the stages whose trace lists one of them, no others", async () => {
    const removed = await removeRows(cache, ["o/r#1"]);
    expect(new Set(removed.units)).toEqual(new Set([key("a1"), key("b1")]));
    expect(new Set(removed.stages)).toEqual(new Set([key("A"), key("B")]));
    expect(await left()).toEqual(new Set(["a2", "c9", "A of others", "C", "whole"].map(key)));
  });

  test("by key: a unit, or a stage alone", async () => {
    expect(await removeRows(cache, [key("c9").slice(0, 12)])).toEqual({ units: [key("c9")], stages: [key("C")] });
    expect(await removeRows(cache, [key("whole")])).toEqual({ units: [], stages: [key("whole")] });
    expect(await left()).toEqual(new Set(["a1", "a2", "b1", "A", "A of others", "B"].map(key)));
  });

  test("a short or unknown key removes nothing", async () => {
    const before = await left();
    expect(await removeRows(cache, [key("a1").slice(0, 7), "o/r", ""])).toEqual({ units: [], stages: [] });
    expect(await left()).toEqual(before);
  });

  test("a stage whose trace is lost can't vouch for its units", async () => {
    const row = await cache.actions.get(key("C"));
    if (row?.type !== "stage" || row.trace === null) throw new Error("no trace");
    await cache.tables.objects.deleteMany([row.trace]);
    expect(new Set((await removeRows(cache, ["o/r#2"])).stages)).toEqual(new Set(["A", "A of others", "C"].map(key)));
  });
});
