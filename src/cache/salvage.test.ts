/**
 * What a damaged database must give back: everything whose own pages are intact, whatever else was hit. Which pages these are is asked of
 * SQLite (its dbstat table) while the database is still sound.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Digest, digestBytes } from "../base/json.js";
import { command } from "../cli/cache.js";
import type { Io } from "../cli/contract.js";
import { type ActionRow, decodeRow, encodeRow } from "./actions.js";
import { Cache } from "./cache.js";
import { CacheBroken } from "./errors.js";
import { removeRows } from "./maintain.js";
import { decodeObject } from "./objects.js";
import { DATABASE } from "./open.js";
import { salvage } from "./salvage.js";

const PAGE = 4096;
const COUNT = 40;

/** Bytes that no compressor shortens. */
function noise(length: number, seed: string): Buffer {
  const block = (round: number) => createHash("sha512").update(`${seed} ${round}`).digest();
  return Buffer.concat(Array.from({ length: Math.ceil(length / 64) }, (_, round) => block(round))).subarray(0, length);
}

const SIZES: Record<number, number> = { 3: 9_000, 17: 65_500, 25: 5_000 };
const OBJECTS = new Map(
  Array.from({ length: COUNT }, (_, index) => {
    const bytes = noise(SIZES[index] ?? 300 + 7 * index, `object ${index}`);
    return [digestBytes(bytes), bytes] as const;
  }),
);
const KEYS = Array.from({ length: COUNT }, (_, index) => digestBytes(`key ${index}`));

function row(index: number, at = 1000): ActionRow {
  return {
    type: "unit",
    kind: "query-backend@1",
    unit: `o/r#${index}`,
    shared: [...OBJECTS.keys()][index % COUNT] as Digest,
    // One row is longer than a page, and has text that is not ASCII.
    parts: [["prompt", `Größe ${noise(index === 11 ? 6_000 : 200, `row ${index}`).toString("base64")}`]],
    out: [],
    status: "completed",
    seconds: 1.5,
    at,
    by: "test",
    precious: true,
  };
}

interface Rig {
  readonly folder: string;
  readonly path: string;
  readonly warnings: string[];
  open(mend?: boolean): Promise<Cache>;
}

const folders: string[] = [];
async function rig(): Promise<Rig> {
  const folder = await mkdtemp(join(tmpdir(), "bench-salvage-"));
  folders.push(folder);
  const warnings: string[] = [];
  return {
    folder,
    path: join(folder, DATABASE),
    warnings,
    open: (mend = true) => Cache.open({ folder, mend, now: () => 1_700_000_000_000, warn: (message) => warnings.push(message) }),
  };
}

/** A closed cache that holds `database`. */
async function rigWith(database: Uint8Array): Promise<Rig> {
  const made = await rig();
  await writeFile(made.path, database);
  await writeFile(join(made.folder, "format.json"), '{"format":1}\n');
  return made;
}

async function fill(cache: Cache, from: number, to: number): Promise<void> {
  const contents = [...OBJECTS.values()];
  for (let index = from; index < to; index++) {
    await cache.putBytes(contents[index] as Buffer);
    await cache.putRow(KEYS[index] as Digest, row(index));
  }
}

/** Numbers of the pages in which each object and row lies: its leaf, and its overflow pages. */
async function pagesByKey(cache: Cache): Promise<Map<string, Set<number>>> {
  const pages = new Map<string, Set<number>>();
  for (const table of ["objects", "actions"]) {
    const { sql } = cache.tables[table as "objects" | "actions"];
    const keys = (await sql(`SELECT key FROM ${table} ORDER BY rowid`)).map(({ key }) => String(key));
    const stat = await sql(`SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = '${table}' ORDER BY path`);
    let next = 0;
    for (const leaf of stat.filter(({ pagetype }) => pagetype === "leaf")) {
      for (let cell = 0; cell < Number(leaf.ncell); cell++) {
        const chain = `${String(leaf.path)}${cell.toString(16).padStart(3, "0")}+`;
        const overflow = stat.filter(({ path }) => String(path).startsWith(chain));
        pages.set(String(keys[next]), new Set([leaf, ...overflow].map(({ pageno }) => Number(pageno))));
        next += 1;
      }
    }
    expect(next).toBe(keys.length);
  }
  return pages;
}

let good: Buffer;
let pages: Map<string, Set<number>>;
let roots: Map<string, number>;
beforeAll(async () => {
  const made = await rig();
  let cache = await made.open();
  await fill(cache, 0, COUNT);
  await cache.close();
  cache = await made.open();
  pages = await pagesByKey(cache);
  const schema = await cache.tables.memory.sql("SELECT name, rootpage FROM sqlite_master");
  roots = new Map(schema.map(({ name, rootpage }) => [String(name), Number(rootpage)]));
  await cache.close();
  good = await readFile(made.path);
});
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** Keys of everything that lies in pages that are in `bad` as they were. */
function intact(bad: Buffer): string[] {
  const same = (page: number) =>
    bad.subarray((page - 1) * PAGE, page * PAGE).equals(good.subarray((page - 1) * PAGE, page * PAGE));
  return [...pages].filter(([, own]) => [...own].every(same)).map(([key]) => key);
}

function flipped(...places: readonly (readonly [at: number, mask: number])[]): Buffer {
  const bad = Buffer.from(good);
  for (const [at, mask] of places) bad[at] = (bad[at] ?? 0) ^ mask;
  return bad;
}

function zeroed(from: number, to: number): Buffer {
  return Buffer.from(good).fill(0, from, to);
}

/** Everything that the raw pass finds, each checked to be what was stored; in order of the keys. */
async function salvaged(path: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const entry of salvage([path])) {
    if (entry.type === "object") expect(decodeObject(entry.stored, entry.key)).toMatchObject({ ok: true });
    else expect(entry.stored).toBe(encodeRow(entry.key, row(KEYS.indexOf(entry.key))));
    found.add(entry.key);
  }
  return [...found].sort();
}

/** What a cache answers for all keys, repaired as the engine does it. */
async function readable(cache: Cache): Promise<Set<string>> {
  const read = async () => {
    const objects = await cache.objects.getMany([...OBJECTS.keys()]);
    const rows = await cache.actions.getMany(KEYS);
    for (const [digest, bytes] of objects) expect(Buffer.from(bytes).equals(OBJECTS.get(digest) ?? Buffer.of())).toBe(true);
    return new Set<string>([...objects.keys(), ...KEYS.filter((_, index) => rows[index] !== undefined)]);
  };
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CacheBroken)) throw error;
    await cache.recover(error);
    return read();
  }
}

async function verify(folder: string, ...more: readonly string[]): Promise<{ exit: number; stdout: string; stderr: string }> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const io: Io = {
    stdout: (text) => void stdout.push(text),
    stderr: (text) => void stderr.push(text),
    env: {},
    cwd: folder,
    terminal: { isTTY: false, columns: 80, colour: false },
    interrupted: new AbortController().signal,
  };
  const options = Object.fromEntries([["cache", folder], ...more.map((name) => [name, true] as const)]);
  const exit = await command.run(["verify"], options, io);
  return { exit, stdout: stdout.join(""), stderr: stderr.join("") };
}

test("the database of these tests has all that matters: branches, values over several pages", () => {
  expect(pages.size).toBe(2 * COUNT);
  for (const table of ["objects", "actions"]) expect(good[((roots.get(table) ?? 0) - 1) * PAGE]).toBe(0x05);
  expect([...pages.values()].map(({ size }) => size)).toContain(17);
});

test("a sound database is found whole", async () => {
  const { path } = await rigWith(good);
  expect(await salvaged(path)).toEqual([...pages.keys()].sort());
});

const schemaByte = () => good.indexOf("CREATE TABLE objects");
const root = (table: string) => ((roots.get(table) ?? 0) - 1) * PAGE;
const DAMAGE: Record<string, () => Buffer> = {
  "byte 0 flipped": () => flipped([0, 0x20]),
  "the page size flipped": () => flipped([16, 0x20]),
  "another page size stated": () => flipped([16, 0x30]),
  "the number of pages flipped": () => flipped([31, 0x01]),
  "a word of the schema's text flipped": () => flipped([schemaByte() + 3, 0x01]),
  "the name of a column flipped": () => flipped([schemaByte() + "CREATE TABLE objects(".length, 0x01]),
  "the header zeroed": () => zeroed(0, 100),
  "the first page zeroed": () => zeroed(0, PAGE),
  "cut to 95 %": () => good.subarray(0, Math.floor((good.length * 0.95) / PAGE) * PAGE),
  "cut in the middle of a page": () => good.subarray(0, good.length - 3 * PAGE - 100),
  "the type of the objects' root flipped": () => flipped([root("objects"), 0x08]),
  "the type of the actions' root flipped": () => flipped([root("actions"), 0x08]),
  "both roots zeroed": () => zeroed(root("objects"), root("objects") + PAGE).fill(0, root("actions"), root("actions") + PAGE),
  "the root of the objects' index zeroed": () =>
    zeroed(root("sqlite_autoindex_objects_1"), root("sqlite_autoindex_objects_1") + PAGE),
  "twenty bits flipped": () =>
    flipped(...Array.from({ length: 20 }, (_, index) => [(index * 7919 + index ** 5) % good.length, 1 << (index % 8)] as const)),
};

describe.each(Object.keys(DAMAGE))("%s", (name) => {
  test("whatever lies in intact pages is carried over, and cache verify leaves the file alone before", async () => {
    const bad = DAMAGE[name]?.() ?? good;
    const made = await rigWith(bad);
    const before = await verify(made.folder);
    expect(before).toMatchObject({ exit: 1, stderr: "" });
    expect(before.stdout).toContain("damaged: index.sqlite");
    expect((await readFile(made.path)).equals(bad)).toBe(true);
    expect(existsSync(join(made.folder, "aside"))).toBe(false);

    const cache = await made.open();
    const found = await readable(cache);
    expect(intact(bad).filter((key) => !found.has(key))).toEqual([]);
    await cache.close();
    await verify(made.folder, "repair");
    expect(await verify(made.folder)).toMatchObject({ exit: 0, stderr: "" });
  });
});

test("--repair carries over and says so", async () => {
  const made = await rigWith(flipped([0, 0x20]));
  const repaired = await verify(made.folder, "repair");
  expect(repaired.exit).toBe(1);
  expect(repaired.stdout).toContain(`${COUNT} objects and ${COUNT} rows could be carried over`);
  expect(await verify(made.folder)).toMatchObject({ exit: 0 });
  expect((await readable(await made.open())).size).toBe(2 * COUNT);
});

test("any flipped byte costs at most what lies in its page", async () => {
  const { path } = await rigWith(good);
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
      const bad = flipped([at, mask]);
      await writeFile(path, bad);
      const found = new Set(await salvaged(path));
      expect(intact(bad).filter((key) => !found.has(key))).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("pages of junk neither stop it nor keep it busy for ever", async () => {
  const { path } = await rigWith(good);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 3 * PAGE }), fc.nat(good.length - 1), async (junk, at) => {
      const bad = Buffer.from(good);
      bad.set(junk.subarray(0, good.length - at), at);
      await writeFile(path, bad);
      const found = new Set(await salvaged(path));
      expect(intact(bad).filter((key) => !found.has(key))).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test("an overflow chain that runs in a circle ends", async () => {
  const leaf = [...pages].find(([, own]) => own.size === 17);
  const [, first, second] = [...(leaf?.[1] ?? [])];
  const bad = Buffer.from(good);
  for (const page of [first, second]) bad.writeUInt32BE(first ?? 0, ((page ?? 0) - 1) * PAGE);
  const { path } = await rigWith(bad);
  expect(await salvaged(path)).toEqual([...pages.keys()].filter((key) => key !== leaf?.[0]).sort());
});

describe("a write-ahead log that was not merged", () => {
  /** A cache whose second half, and a newer version of the first row, are in the log alone; as a kill leaves it. */
  async function killed(): Promise<Rig> {
    const [writing, left] = [await rig(), await rig()];
    const first = await writing.open();
    await fill(first, 0, 12);
    await first.close();
    const cache = await writing.open();
    await fill(cache, 12, COUNT);
    await cache.putRow(KEYS[0] as Digest, row(0, 2000));
    for (const name of [DATABASE, `${DATABASE}-wal`, "format.json"])
      await copyFile(join(writing.folder, name), join(left.folder, name));
    await cache.close();
    return left;
  }
  const change = async (path: string, how: (bytes: Buffer) => void) => {
    const bytes = await readFile(path);
    how(bytes);
    await writeFile(path, bytes);
  };

  test.each<[string, (made: Rig) => Promise<void>]>([
    ["a damaged header", ({ path }) => change(path, (bytes) => void bytes.fill(0, 0, 1))],
    ["the first page zeroed", ({ path }) => change(path, (bytes) => void bytes.fill(0, 0, PAGE))],
    [
      "a damaged header in both",
      async ({ path }) => {
        await change(path, (bytes) => void bytes.fill(0, 0, 100));
        await change(`${path}-wal`, (bytes) => void bytes.fill(0, 0, 32));
      },
    ],
  ])("%s: all of both is carried over, and the newest version of each row", async (_name, harm) => {
    const made = await killed();
    await harm(made);
    const cache = await made.open();
    expect((await readable(cache)).size).toBe(2 * COUNT);
    expect((await cache.actions.get(KEYS[0] as Digest))?.at).toBe(2000);
    await cache.close();
    expect(await verify(made.folder)).toMatchObject({ exit: 0 });
  });

  test("a database that is gone: what its log holds", async () => {
    const made = await killed();
    await rm(made.path);
    const cache = await made.open();
    const found = await readable(cache);
    expect(KEYS.slice(12).filter((key) => !found.has(key))).toEqual([]);
    await cache.close();
  });
});

test("several versions of a row: the newest by its own time, wherever it lies", async () => {
  const [old, recent] = [await rig(), await rig()];
  for (const [made, at] of [
    [old, 1000],
    [recent, 2000],
  ] as const) {
    const cache = await made.open();
    await cache.putRow(KEYS[0] as Digest, row(0, at));
    await cache.close();
  }
  for (const order of [
    [old.path, recent.path],
    [recent.path, old.path],
  ]) {
    let last: string | undefined;
    for await (const { type, stored } of salvage(order)) if (type === "row") last = stored;
    expect(decodeRow(KEYS[0] as string, last ?? "")?.at).toBe(2000);
  }
});

test("other page sizes are read as well, stated or not", async () => {
  for (const size of [1024, 8192, 65_536]) {
    const made = await rigWith(good);
    const cache = await made.open();
    const { sql } = cache.tables.memory;
    await cache.tables.actions.close();
    await cache.tables.objects.close();
    await sql("PRAGMA journal_mode = DELETE");
    await sql(`PRAGMA page_size = ${size}`);
    await sql("VACUUM");
    await cache.tables.memory.close();
    const other = await readFile(made.path);
    expect(other.readUInt16BE(16)).toBe(size % 65_536 || 1);
    expect(await salvaged(made.path)).toEqual([...pages.keys()].sort());
    await writeFile(made.path, other.fill(0, 0, 100));
    expect(await salvaged(made.path)).toEqual([...pages.keys()].sort());
  }
});

test("what was removed on purpose is not found again", async () => {
  const made = await rigWith(good);
  const cache = await made.open();
  const kept = KEYS.slice(0, 2);
  await removeRows(cache, KEYS.slice(2));
  // As a kill leaves it: log and all.
  const killed = await rig();
  for (const suffix of ["", "-wal"]) await copyFile(made.path + suffix, killed.path + suffix);
  await cache.close();
  for (const { path } of [made, killed]) {
    expect((await salvaged(path)).filter((key) => (KEYS as string[]).includes(key))).toEqual([...kept].sort());
  }
});

test("a repair that was killed before the new database was in its place is taken up", async () => {
  const made = await rigWith(good);
  await mkdir(join(made.folder, "aside"));
  await rename(made.path, join(made.folder, "aside", "rebuilt.sqlite"));
  const cache = await made.open();
  expect((await readable(cache)).size).toBe(2 * COUNT);
  await cache.close();
  expect(existsSync(join(made.folder, "aside", "rebuilt.sqlite"))).toBe(false);
  expect(made.warnings.join()).toContain(`${COUNT} objects and ${COUNT} rows could be carried over`);
});

test("no files, empty files, folders: nothing, and no error", async () => {
  const made = await rig();
  expect(await salvaged(join(made.folder, "none"))).toEqual([]);
  expect(await salvaged(made.folder)).toEqual([]);
  await writeFile(made.path, "");
  await writeFile(`${made.path}-wal`, "short");
  expect(await salvaged(made.path)).toEqual([]);
});
