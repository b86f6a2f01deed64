/**
 * Opening the index database, and what happens when it is not what it should be.
 *
 * A truncated, emptied, foreign or malformed database is moved aside with a warning, and whatever can still be read of it is carried
 * over: everything in it vouches for itself (objects by their digest, rows by their check sum), so what is carried over is right.
 * Nothing is ever deleted here, and nothing is silently a miss.
 */
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Digest } from "../base/json.js";
import { decodeForeignRow } from "./actions.js";
import { isAlive, processStart } from "./claims.js";
import { CacheBroken, classify } from "./errors.js";
import { makeFolder } from "./make-folder.js";
import { decodeObject } from "./objects.js";
import { BlobTable, openStore, salvageTable, TextTable } from "./tables.js";

export const DATABASE = "index.sqlite";
export const FORMAT_FILE = "format.json";
export const FORMAT = 1;
export const FORMAT_TEXT = `${JSON.stringify({ format: FORMAT })}\n`;

export interface Tables {
  readonly actions: TextTable;
  readonly objects: BlobTable;
  readonly memory: TextTable;
}

export interface Opening {
  readonly folder: string;
  readonly now: () => number;
  readonly warn: (message: string) => void;
}

/** Opens the database of a cache folder, repairing it first where it must be. Throws `CacheUnwritable` where the folder can't be used. */
export async function openTables(opening: Opening): Promise<Tables> {
  const { folder, warn } = opening;
  try {
    await makeFolder(folder);
  } catch (error) {
    throw classify(error);
  }
  const problem = await inspect(folder);
  if (problem !== null) await repair(opening, problem);
  try {
    return await connect(folder);
  } catch (error) {
    if (!(error instanceof CacheBroken)) throw error;
    await repair(opening, error.message);
    return connect(folder).catch((again) => {
      warn(`the cache in ${folder} can't be opened even after its database was moved aside`);
      throw again;
    });
  }
}

/** What is wrong with the file as it lies there, from its header alone; null = nothing to be seen. */
async function inspect(folder: string): Promise<string | null> {
  // Whatever stands there, in whatever state, says that the cache was in use.
  const known = await stat(join(folder, FORMAT_FILE)).catch(() => null);
  const path = join(folder, DATABASE);
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return known === null ? null : "is gone although the cache was in use";
    }
    return `can't be read (${error instanceof Error ? error.message : String(error)})`;
  }
  try {
    const entry = await handle.stat();
    if (!entry.isFile()) return "is no file";
    const { size } = entry;
    const header = Buffer.alloc(100);
    const { bytesRead } = await handle.read(header, 0, 100, 0);
    if (bytesRead === 0) return known === null ? null : "is empty";
    if (bytesRead < 100) return "is cut short";
    if (header.toString("latin1", 0, 16) !== "SQLite format 3\u0000") return "is no SQLite database";
    // Other values here would make SQLite refuse to write, or to read at all, with errors that say nothing of damage.
    const versions = [header[18], header[19]].every((version) => version === 1 || version === 2);
    if (!versions || header.readUInt32BE(44) > 4) return "has a damaged header";
    const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
    const pages = header.readUInt32BE(28);
    // The page count in the header holds only if SQLite itself vouches for it (same change counter).
    if (header.readUInt32BE(24) === header.readUInt32BE(92) && size < pages * pageSize) {
      return `is cut short (${size} of ${pages * pageSize} bytes)`;
    }
    return null;
  } finally {
    await handle.close();
  }
}

async function connect(folder: string): Promise<Tables> {
  const file = join(folder, DATABASE);
  const fresh = (await stat(file).catch(() => null))?.size ?? 0;
  // One connection first: it switches to WAL before the others come.
  const { store, sql } = openStore(file, "memory");
  try {
    await sql("PRAGMA journal_mode = WAL");
    await sql("PRAGMA synchronous = NORMAL");
    if (fresh > 0) {
      const tables = (await sql("SELECT name FROM sqlite_master WHERE type = 'table'")).map(({ name }) => String(name));
      if (!tables.includes("bench_meta") && tables.some((name) => name !== "memory")) {
        throw new CacheBroken("is a database of another program");
      }
    }
    await sql("CREATE TABLE IF NOT EXISTS bench_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)");
    await sql("INSERT INTO bench_meta (name, value) VALUES ('format', ?) ON CONFLICT(name) DO NOTHING", String(FORMAT));
    const version = (await sql("SELECT value FROM bench_meta WHERE name = 'format'"))[0]?.value;
    if (version !== String(FORMAT))
      throw new CacheBroken(`was written in format ${String(version)}, this version of bench reads format ${FORMAT}`);
    const format = join(folder, FORMAT_FILE);
    if ((await readFile(format, "utf8").catch(() => null)) !== FORMAT_TEXT) {
      if ((await stat(format).catch(() => null))?.isFile() === false) await rm(format, { recursive: true });
      await writeFile(format, FORMAT_TEXT);
    }
  } catch (error) {
    throw classify(error);
  } finally {
    await store.close().catch(() => {});
  }
  const actions = new TextTable(file, "actions");
  const objects = new BlobTable(file, "objects");
  const memory = new TextTable(file, "memory");
  for (const table of [actions, objects, memory]) {
    await table.sql("PRAGMA synchronous = NORMAL");
    // Damage inside a page is noticed when the page is read, not when something has been made of it.
    await table.sql("PRAGMA cell_size_check = ON");
  }
  return { actions, objects, memory };
}

/**
 * Moves the database aside and carries over what can be read. One process at a time: the others wait, look again and find a good one.
 * `problem` continues the sentence "the cache's index.sqlite ...".
 */
export async function repair(opening: Opening, problem: string, brokenFile?: number): Promise<void> {
  const { folder, warn } = opening;
  const release = await repairLock(folder, opening.now);
  try {
    const path = join(folder, DATABASE);
    const current = await stat(path).catch(() => null);
    // Somebody else repaired it while this process waited for the lock.
    if (brokenFile !== undefined && current !== null && current.ino !== brokenFile) return;
    if (brokenFile === undefined && current !== null && (await inspect(folder)) === null && (await opens(folder))) return;

    const stamp = new Date(opening.now())
      .toISOString()
      .replace(/[-:]/g, "")
      .replace(/\.\d+Z$/, "Z");
    const aside = join(folder, "aside", `${stamp}-${process.pid}`);
    await mkdir(aside, { recursive: true });
    for (const suffix of ["", "-wal", "-shm"]) {
      await rename(path + suffix, join(aside, DATABASE + suffix)).catch((error) => {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw classify(error);
      });
    }
    await rm(join(folder, "seal.json"), { recursive: true, force: true });
    await rm(join(folder, FORMAT_FILE), { recursive: true, force: true });
    if (current === null) {
      warn(`the cache's ${DATABASE} ${problem}. Starting with an empty one: answers that it held are asked again.`);
      return;
    }
    const saved = await carryOver(join(aside, DATABASE), folder).catch(() => ({ objects: 0, rows: 0 }));
    warn(
      `the cache's ${DATABASE} ${problem}. It was moved to ${aside}; ${saved.objects} objects and ${saved.rows} rows could be carried ` +
        "over, whatever else it held is made again.",
    );
  } finally {
    await release();
  }
}

async function opens(folder: string): Promise<boolean> {
  try {
    const tables = await connect(folder);
    await closeTables(tables);
    return true;
  } catch {
    return false;
  }
}

/**
 * One after the other: the last connection to close brings the write-ahead log into the database and removes it, and two that close at the
 * same time each take the other for the last.
 */
export async function closeTables(tables: Tables): Promise<void> {
  await tables.actions.close();
  await tables.objects.close();
  await tables.memory.close();
}

/** Copies what vouches for itself from a damaged database into a new one. */
async function carryOver(damaged: string, folder: string): Promise<{ objects: number; rows: number }> {
  const { size } = await stat(damaged);
  if (size === 0) return { objects: 0, rows: 0 };
  const tables = await connect(folder);
  const saved = { objects: 0, rows: 0 };
  try {
    const old = openStore(damaged, "memory");
    try {
      let pending: Promise<undefined>[] = [];
      const settle = async (force: boolean) => {
        if (!force && pending.length < 400) return;
        await Promise.all(pending);
        pending = [];
      };
      for await (const row of salvageTable(old.sql, "objects")) {
        const key = String(row.key) as Digest;
        if (!(row.value instanceof Uint8Array) || !decodeObject(row.value, key).ok) continue;
        pending.push(tables.objects.set(key, row.value));
        saved.objects += 1;
        await settle(false);
      }
      await settle(true);
      for await (const row of salvageTable(old.sql, "actions")) {
        const text = textOf(row.value);
        if (text === null || decodeForeignRow(String(row.key), text) === undefined) continue;
        pending.push(tables.actions.set(String(row.key), text));
        saved.rows += 1;
        await settle(false);
      }
      await settle(true);
    } finally {
      await old.store.close().catch(() => {});
    }
  } finally {
    await closeTables(tables);
  }
  return saved;
}

function textOf(value: unknown): string | null {
  try {
    const parsed: unknown = JSON.parse(String(value));
    return typeof parsed === "object" && parsed !== null && "value" in parsed && typeof parsed.value === "string"
      ? parsed.value
      : null;
  } catch {
    return null;
  }
}

/** A lock that only repairs take; a dead holder's lock is taken over. */
async function repairLock(folder: string, now: () => number): Promise<() => Promise<void>> {
  const path = join(folder, "repair.lock");
  const mine = JSON.stringify({ pid: process.pid, start: processStart(process.pid) ?? "" });
  const deadline = now() + 120_000;
  for (;;) {
    try {
      await writeFile(path, mine, { flag: "wx" });
      return () => rm(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw classify(error);
    }
    const holder = await readFile(path, "utf8").catch(() => null);
    let dead = false;
    try {
      dead = holder !== null && !isAlive(JSON.parse(holder));
    } catch {
      dead = now() > deadline;
    }
    if (dead) await rm(path, { force: true });
    else await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
