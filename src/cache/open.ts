/**
 * Opening the index database, and what happens when it is not what it should be.
 *
 * A truncated, emptied, foreign or malformed database is moved aside with a warning, and whatever can still be read of it is carried
 * over: everything in it vouches for itself (objects by their digest, rows by their check sum), so what is carried over is right.
 * Nothing is ever deleted here, and nothing is silently a miss.
 */
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Digest } from "../base/json.js";
import { isAlive, processStart } from "./claims.js";
import { CacheBroken, classify } from "./errors.js";
import { makeFolder } from "./make-folder.js";
import { type Salvaged, salvage } from "./salvage.js";
import { BlobTable, openStore, TextTable } from "./tables.js";

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
  /** false = a damaged database is left as it lies, and opening it throws `CacheBroken`. Default true: it is repaired. */
  readonly mend?: boolean;
  readonly now: () => number;
  readonly warn: (message: string) => void;
}

/**
 * Opens the database of a cache folder, repairing it first where it must be. Throws `CacheUnwritable` where the folder can't be used, and
 * `CacheBroken` where the database can't and must not be mended; its message continues the sentence "the cache's index.sqlite ...".
 */
export async function openTables(opening: Opening): Promise<Tables> {
  const { folder, warn } = opening;
  try {
    await makeFolder(folder);
  } catch (error) {
    throw classify(error);
  }
  const problem = await inspect(folder);
  const mend = opening.mend ?? true;
  if (problem !== null) {
    if (!mend) throw new CacheBroken(problem);
    await repair(opening, problem);
  }
  try {
    return await connect(folder, mend);
  } catch (error) {
    if (!(error instanceof CacheBroken) || !mend) throw error;
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

const COLUMNS_SQL = `SELECT tables.name, group_concat(columns.name || ' ' || columns.type || ' ' || columns.pk) AS columns
  FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' GROUP BY tables.name`;
const KEY_VALUE = "key VARCHAR(255) 1,value TEXT 0";
/**
 * Columns of each table: name, type, 1 for the primary key. The schema is a text that SQLite parses at every opening: a flipped bit in the
 * name of a column makes a sound schema that is not ours, and its errors, or empty answers, would say nothing of damage.
 */
const COLUMNS = new Map([
  ["actions", KEY_VALUE],
  ["objects", KEY_VALUE],
  ["memory", KEY_VALUE],
  ["bench_meta", "name TEXT 1,value TEXT 0"],
  ["claims", "key TEXT 1,owner TEXT 0"],
  ["owners", "id TEXT 1,host TEXT 0,pid INTEGER 0,start TEXT 0,beat INTEGER 0"],
]);

/** `mend` false: of the files, only what SQLite itself writes when it opens a sound database may change. */
async function connect(folder: string, mend = true): Promise<Tables> {
  const file = join(folder, DATABASE);
  const fresh = (await stat(file).catch(() => null))?.size ?? 0;
  // One connection first: it switches to WAL before the others come.
  const { store, sql } = openStore(file, "memory");
  try {
    await sql("PRAGMA journal_mode = WAL");
    await sql("PRAGMA synchronous = NORMAL");
    if (fresh > 0) {
      const tables = new Map((await sql(COLUMNS_SQL)).map(({ name, columns }) => [String(name), String(columns)]));
      if (!tables.has("bench_meta") && [...tables.keys()].some((name) => name !== "memory")) {
        throw new CacheBroken("is a database of another program");
      }
      for (const [name, columns] of tables) {
        const ours = COLUMNS.get(name);
        if (ours !== undefined && columns !== ours)
          throw new CacheBroken(`has a table ${name} with other columns than bench makes`);
      }
    }
    await sql("CREATE TABLE IF NOT EXISTS bench_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)");
    await sql("INSERT INTO bench_meta (name, value) VALUES ('format', ?) ON CONFLICT(name) DO NOTHING", String(FORMAT));
    const version = (await sql("SELECT value FROM bench_meta WHERE name = 'format'"))[0]?.value;
    if (version !== String(FORMAT))
      throw new CacheBroken(`was written in format ${String(version)}, this version of bench reads format ${FORMAT}`);
    const format = join(folder, FORMAT_FILE);
    if (mend && (await readFile(format, "utf8").catch(() => null)) !== FORMAT_TEXT) {
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
 * Makes a new database of what the damaged one still holds, moves that aside and puts the new one in its place. One process at a time: the
 * others wait, look again and find a good one. A kill at any moment loses nothing: the damaged database stays where it is until the new one
 * is complete, and a complete one that did not get into its place is a source of the next repair.
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

    const rebuilt = join(folder, "aside", "rebuilt.sqlite");
    const saved = await rebuild([path, rebuilt], rebuilt);
    const stamp = new Date(opening.now())
      .toISOString()
      .replace(/[-:]/g, "")
      .replace(/\.\d+Z$/, "Z");
    const aside = join(folder, "aside", `${stamp}-${process.pid}`);
    await mkdir(aside, { recursive: true });
    await rm(join(folder, "seal.json"), { recursive: true, force: true });
    // The log goes with its database: SQLite would take it for the new one's.
    for (const suffix of ["", "-wal", "-shm"]) await moveIfThere(path + suffix, join(aside, DATABASE + suffix));
    await rename(rebuilt, path);
    warn(
      current === null && saved.objects + saved.rows === 0
        ? `the cache's ${DATABASE} ${problem}. Starting with an empty one: answers that it held are asked again.`
        : `the cache's ${DATABASE} ${problem}. It was moved to ${aside}; ${saved.objects} objects and ${saved.rows} rows could be carried ` +
            "over, whatever else it held is made again.",
    );
  } catch (error) {
    throw classify(error);
  } finally {
    await release();
  }
}

async function moveIfThere(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error) => {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  });
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

/**
 * Writes what vouches for itself in the damaged databases to a new one at `target`, which may be one of them: it appears there when it is
 * complete. Counts what it holds.
 */
async function rebuild(damaged: readonly string[], target: string): Promise<{ objects: number; rows: number }> {
  const folder = join(dirname(target), "rebuilding");
  await rm(folder, { recursive: true, force: true });
  try {
    await makeFolder(folder);
    const tables = await connect(folder);
    const rows = new Set<Digest>();
    let objects = 0;
    try {
      let batch: Salvaged[] = [];
      const store = async () => {
        await Promise.all(batch.map((found) => set(tables, found)));
        batch = [];
      };
      for await (const found of salvage(damaged)) {
        if (found.type === "object") objects += 1;
        else rows.add(found.key);
        if (batch.push(found) >= 400) await store();
      }
      await store();
    } finally {
      await closeTables(tables);
    }
    await rename(join(folder, DATABASE), target);
    return { objects, rows: rows.size };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function set(tables: Tables, found: Salvaged): Promise<undefined> {
  return found.type === "object" ? tables.objects.set(found.key, found.stored) : tables.actions.set(found.key, found.stored);
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
