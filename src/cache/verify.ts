/** `bench cache verify`: looks at every byte of a cache, and changes nothing unless asked to remove what is damaged. */
import { readFile, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Digest, isDigest } from "../base/json.js";
import type { ActionRow } from "./actions.js";
import type { Cache } from "./cache.js";
import { CacheBroken } from "./errors.js";
import { selfVerifyingFolders } from "./folders.js";
import { decodeObject, objectFiles } from "./objects.js";
import { DATABASE } from "./open.js";
import type { Damage } from "./seal.js";

export interface Verification {
  /** Objects, rows, files and folders looked at. */
  readonly checked: number;
  readonly damaged: readonly Damage[];
}

/**
 * The database against SQLite's own check, every object against its digest, every row against its check sum, every object that a row
 * promises, and every folder that verifies itself. With `repair` what is damaged is removed, so that it is a miss.
 * `seen`: what `lookFromOutside` saw *before* the cache was opened (opening may write).
 */
export async function verifyCache(cache: Cache, seen: readonly Damage[], repair: boolean): Promise<Verification> {
  const found: Found = { checked: 1, damaged: [...seen], present: new Set(), repair };
  if (repair) await cache.touch();
  let broken: CacheBroken | undefined;
  const whereReadable = async (look: () => Promise<void>) => {
    try {
      await look();
    } catch (error) {
      if (!(error instanceof CacheBroken)) throw error;
      broken ??= error;
    }
  };
  await whereReadable(() => integrity(cache, found));
  await whereReadable(() => inlineObjects(cache, found));
  await largeObjects(cache.folder, found);
  await whereReadable(() => rows(cache, found, broken === undefined));
  await whereReadable(() => memories(cache, found));
  await folders(cache.folder, found);
  if (broken !== undefined) {
    found.damaged.push({ what: DATABASE, where: DATABASE, problem: `can't be read to its end (${broken.message})` });
    // What is still readable is carried over into a new database.
    if (repair) await cache.recover(broken);
  }
  return { checked: found.checked, damaged: found.damaged };
}

/**
 * The same for a cache whose database can't be opened: that is reported as damage (`problem` continues "index.sqlite ...") and left as it
 * lies, and what is no part of it is looked at.
 */
export async function verifyWithoutDatabase(folder: string, seen: readonly Damage[], problem: string): Promise<Verification> {
  const damaged = [...seen, { what: DATABASE, where: DATABASE, problem }];
  const found: Found = { checked: 1, damaged, present: new Set(), repair: false };
  await largeObjects(folder, found);
  await folders(folder, found);
  return { checked: found.checked, damaged: found.damaged };
}

interface Found {
  checked: number;
  readonly damaged: Damage[];
  /** Objects that are there and right. */
  readonly present: Set<Digest>;
  readonly repair: boolean;
}

async function integrity(cache: Cache, { damaged }: Found): Promise<void> {
  for (const { integrity_check: line } of await cache.tables.memory.sql("PRAGMA integrity_check(20)")) {
    if (line !== "ok") damaged.push({ what: DATABASE, where: DATABASE, problem: String(line) });
  }
}

async function inlineObjects(cache: Cache, found: Found): Promise<void> {
  const bad: Digest[] = [];
  for await (const [key, stored] of cache.tables.objects.scan()) {
    found.checked += 1;
    const digest = key as Digest;
    const decoded = isDigest(key) ? decodeObject(stored, digest) : { ok: false as const, what: "has a name that is no digest" };
    if (decoded.ok) found.present.add(digest);
    else {
      bad.push(digest);
      found.damaged.push({ what: key, where: `${DATABASE}, objects`, problem: decoded.what });
    }
  }
  if (found.repair) await cache.tables.objects.deleteMany(bad);
}

async function largeObjects(folder: string, found: Found): Promise<void> {
  for await (const { digest, path } of objectFiles(join(folder, "objects"))) {
    found.checked += 1;
    // A temporary file is what a killed writer left: no damage, and gc's business.
    if (digest === null && path.endsWith(".tmp")) continue;
    const where = relative(folder, path);
    let problem: string | null = "is no object";
    if (digest !== null) {
      const stored = await readFile(path).catch(() => null);
      const decoded = stored === null ? { ok: false as const, what: "can't be read" } : decodeObject(stored, digest);
      problem = decoded.ok ? null : decoded.what;
    }
    if (problem === null) found.present.add(digest as Digest);
    else {
      found.damaged.push({ what: digest ?? where, where, problem });
      if (found.repair) await rm(path, { recursive: true, force: true });
    }
  }
}

/** `complete`: all objects could be looked at, so that one that is not among them is missing. */
async function rows(cache: Cache, found: Found, complete: boolean): Promise<void> {
  const bad: Digest[] = [];
  for await (const { key, row } of cache.actions.scan()) {
    found.checked += 1;
    const where = `${DATABASE}, actions`;
    if (row === undefined) {
      bad.push(key);
      found.damaged.push({ what: key, where, problem: "does not match its check sum" });
      continue;
    }
    const missing = complete ? promised(row).filter((digest) => !found.present.has(digest)) : [];
    if (missing.length === 0) continue;
    bad.push(key);
    const [objects, are] = missing.length === 1 ? ["object", "is"] : ["objects", "are"];
    const problem = `promises ${missing.length} ${objects} that ${are} not there (${missing[0]?.slice(0, 12)})`;
    found.damaged.push({ what: key, where, problem });
  }
  if (found.repair) await cache.actions.delete(bad);
}

async function memories(cache: Cache, found: Found): Promise<void> {
  const bad: string[] = [];
  for await (const [key, text] of cache.tables.memory.scan()) {
    found.checked += 1;
    if (cache.isSoundMemory(key, text)) continue;
    bad.push(key);
    found.damaged.push({ what: key, where: `${DATABASE}, memory`, problem: "does not match its check sum" });
  }
  if (found.repair) await cache.tables.memory.deleteMany(bad);
}

async function folders(folder: string, found: Found): Promise<void> {
  for await (const { path, problem } of selfVerifyingFolders(folder)) {
    found.checked += 1;
    if (problem === null) continue;
    const where = relative(folder, path);
    found.damaged.push({ what: where, where, problem });
    if (found.repair) await rm(path, { recursive: true, force: true });
  }
}

/** Objects that a row names itself (not those that their contents name). */
export function promised(row: ActionRow): Digest[] {
  if (row.type === "unit") return [row.shared, ...row.out.map(([, digest]) => digest)];
  return [row.output, ...(row.trace === null ? [] : [row.trace]), ...row.files.map(({ text }) => text)];
}
