/** What a run that finds everything in the cache reads of it: counted, so that it can't grow with the items unnoticed. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { type EngineRig, engineRig } from "../../test/rigs/engine-rig.js";

const rigs: EngineRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) {
    await rig.close();
    await rm(rig.folder, { recursive: true, force: true });
  }
});

async function rigOf(items: number): Promise<EngineRig> {
  const rig = await engineRig();
  rigs.push(rig);
  rig.items = Array.from({ length: items }, (_, index) => ({ id: `item-${index}`, value: { text: `text ${index}` } }));
  return rig;
}

/** Keys and digests that a run asks the cache for. */
async function reads(rig: EngineRig): Promise<{ rows: number; objects: number; exit: number }> {
  const cache = await rig.cache();
  const rows = vi.spyOn(cache.actions, "getMany");
  const objects = vi.spyOn(cache.objects, "getMany");
  const { exit } = await rig.run();
  const asked = (calls: readonly (readonly [readonly unknown[]])[]) => calls.reduce((sum, [keys]) => sum + keys.length, 0);
  const result = { rows: asked(rows.mock.calls), objects: asked(objects.mock.calls), exit };
  rows.mockRestore();
  objects.mockRestore();
  return result;
}

test("an unchanged stage is one row, however many items it has", async () => {
  const [few, many] = [await rigOf(5), await rigOf(150)];
  await few.run();
  await many.run();
  const [a, b] = [await reads(few), await reads(many)];
  expect(few.executed).toEqual({});
  expect(many.executed).toEqual({});
  expect(a.rows).toBe(4);
  expect(b).toEqual(a);
});

test("one changed item among many: rows are read in batches, one is written anew", async () => {
  const rig = await rigOf(150);
  await rig.run();
  rig.items = rig.items.with(7, { id: "item-7", value: { text: "changed" } });
  const cache = await rig.cache();
  const rows = vi.spyOn(cache.actions, "getMany");
  await rig.run();
  expect(rig.executed.ask).toEqual(["item-7"]);
  // Four stages; two of them look 150 units up together, and the changed one again when it is its turn.
  expect(rows.mock.calls.length).toBeLessThan(30);
});

test("a small value that is known already is not written again: the seal stays", async () => {
  const rig = await rigOf(5);
  await (await rig.cache()).memory("m").set("a", { n: 1 });
  await rig.close();
  const path = join(rig.folder, "cache", "seal.json");
  const sealed = await readFile(path, "utf8");
  const cache = await rig.cache();
  await cache.memory("m").set("a", { n: 1 });
  expect(await readFile(path, "utf8")).toBe(sealed);
  await cache.memory("m").set("a", { n: 2 });
  await expect(readFile(path, "utf8")).rejects.toThrow("ENOENT");
  expect(await cache.memory("m").get("a")).toEqual({ n: 2 });
});
