/** Looking after a cache: figures, garbage collection, removal of single entries. Verification is in `verify.ts`. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Digest } from "../base/json.js";
import type { ActionRow } from "./actions.js";
import type { Cache } from "./cache.js";
import { DATABASE } from "./open.js";
import { promised } from "./verify.js";

export interface CacheStats {
  readonly folder: string;
  readonly database_bytes: number;
  readonly objects: number;
  readonly object_bytes: number;
  readonly large_objects: number;
  readonly large_object_bytes: number;
  readonly rows: Readonly<Record<string, number>>;
  readonly folders: Readonly<Record<string, number>>;
}

export async function cacheStats(cache: Cache): Promise<CacheStats> {
  const size = async (path: string) => (await stat(path).catch(() => ({ size: 0 }))).size;
  const [inline] = await cache.tables.objects.sql("SELECT count(*) AS n, coalesce(sum(length(value)), 0) AS bytes FROM objects");
  let large = 0;
  let largeBytes = 0;
  for await (const file of cache.objects.files()) {
    large += 1;
    largeBytes += file.size;
  }
  const rows: Record<string, number> = {};
  for await (const { row } of cache.actions.scan()) {
    const name = row === undefined ? "damaged" : `${row.kind} ${row.type}`;
    rows[name] = (rows[name] ?? 0) + 1;
  }
  const folders: Record<string, number> = {};
  for (const entry of await readdir(cache.folder, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== "objects") folders[entry.name] = await folderBytes(join(cache.folder, entry.name));
  }
  return {
    folder: cache.folder,
    database_bytes: (await size(join(cache.folder, DATABASE))) + (await size(join(cache.folder, `${DATABASE}-wal`))),
    objects: Number(inline?.n ?? 0) + large,
    object_bytes: Number(inline?.bytes ?? 0) + largeBytes,
    large_objects: large,
    large_object_bytes: largeBytes,
    rows,
    folders,
  };
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => [])) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 }))).size;
  }
  return bytes;
}

export interface GcResult {
  readonly kept_rows: number;
  readonly dropped_rows: number;
  readonly dropped_objects: number;
  readonly freed_bytes: number;
}

/**
 * Mark and sweep over the disk. Kept: everything that the given roots reach (keys of stages, and digests of outputs that no row promises:
 * of stages with failed units, and of imported runs), and every precious row (raw answers, fetched pages) with its objects unless
 * `dropPrecious`. References inside objects are found by their look, a digest in quotes: that
 * can keep too much, never too little.
 */
export async function collectGarbage(
  cache: Cache,
  roots: readonly Digest[],
  options: { readonly dropPrecious: boolean; readonly dryRun: boolean },
): Promise<GcResult> {
  const rows = new Map<Digest, ActionRow>();
  for await (const { key, row } of cache.actions.scan()) if (row !== undefined) rows.set(key, row);

  const keptRows = new Set<Digest>();
  const keptObjects = new Set<Digest>();
  const queue: Digest[] = [];
  const keepObject = (digest: Digest) => {
    if (keptObjects.has(digest)) return;
    keptObjects.add(digest);
    queue.push(digest);
  };
  const keepRow = (key: Digest) => {
    const row = rows.get(key);
    if (row === undefined || keptRows.has(key)) return;
    keptRows.add(key);
    for (const digest of promised(row)) keepObject(digest);
  };
  for (const root of roots) {
    if (rows.has(root)) keepRow(root);
    else keepObject(root);
  }
  if (!options.dropPrecious) for (const [key, row] of rows) if (row.type === "unit" && row.precious) keepRow(key);
  // What small memories point at (a package's archive) is cheap to keep and dear to fetch again.
  for await (const [, text] of cache.tables.memory.scan()) for (const digest of digestsIn(text)) keepObject(digest);
  while (queue.length > 0) {
    const batch = queue.splice(0, 400);
    const found = await cache.objects.getMany(batch);
    for (const bytes of found.values()) {
      for (const digest of digestsIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"))) {
        // A trace names keys of rows, everything else names objects: a digest can only be one of them.
        if (rows.has(digest)) keepRow(digest);
        else keepObject(digest);
      }
    }
  }

  const dropRows = [...rows.keys()].filter((key) => !keptRows.has(key));
  const dropObjects: Digest[] = [];
  let freed = 0;
  for (const row of await cache.tables.objects.sql("SELECT key, length(value) AS bytes FROM objects")) {
    const digest = String(row.key) as Digest;
    if (keptObjects.has(digest)) continue;
    dropObjects.push(digest);
    freed += Number(row.bytes);
  }
  const files: string[] = [];
  for await (const { digest, path, size } of cache.objects.files()) {
    if (digest !== null && keptObjects.has(digest)) continue;
    files.push(path);
    freed += size;
  }
  if (!options.dryRun) {
    await cache.touch();
    await cache.actions.delete(dropRows);
    await cache.tables.objects.deleteMany(dropObjects);
    for (const path of files) await rm(path, { recursive: true, force: true });
    await cache.tables.memory.sql("VACUUM");
    await cache.tables.memory.sql("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  return {
    kept_rows: keptRows.size,
    dropped_rows: dropRows.length,
    dropped_objects: dropObjects.length + files.length,
    freed_bytes: freed,
  };
}

function digestsIn(text: string): Digest[] {
  return [...text.matchAll(/"([0-9a-f]{64})"/g)].map((match) => match[1] as Digest);
}

export interface RemovedRows {
  /** Keys of the units (and of damaged rows) that were named. */
  readonly units: readonly Digest[];
  /** Keys of stages as a whole: those that were named, and those that would answer for a unit that is gone. */
  readonly stages: readonly Digest[];
}

/**
 * Rows whose key starts with one of `wanted` (8 characters at least), or whose unit is one of them; their objects are gc's business. A stage row
 * is a shortcut past its units: it goes too if its trace lists a removed one, and is made again from the units that are left.
 */
export async function removeRows(cache: Cache, wanted: readonly string[]): Promise<RemovedRows> {
  const units = new Set<Digest>();
  const stages = new Set<Digest>();
  const traces = new Map<Digest, Digest>();
  for await (const { key, row } of cache.actions.scan()) {
    const unit = row?.type === "unit" ? row.unit : undefined;
    const isNamed = wanted.some((text) => (text.length >= 8 && key.startsWith(text)) || unit === text);
    if (isNamed) (row?.type === "stage" ? stages : units).add(key);
    else if (row?.type === "stage" && row.trace !== null) traces.set(key, row.trace);
  }
  if (units.size > 0) for await (const key of stagesOver(cache, traces, units)) stages.add(key);
  if (units.size + stages.size > 0) {
    await cache.touch();
    // What is forgotten is overwritten, not only marked as free: a repair reads every page there is, and must not find it again.
    await cache.tables.actions.sql("PRAGMA secure_delete = ON");
    // Stages first: a kill between the two must not leave one that answers for units that are gone.
    await cache.actions.delete([...stages]);
    await cache.actions.delete([...units]);
    await cache.tables.actions.sql("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  return { units: [...units], stages: [...stages] };
}

/** Stages whose trace lists one of the units. One whose trace is lost can't tell, and is not worth keeping. */
async function* stagesOver(
  cache: Cache,
  traces: ReadonlyMap<Digest, Digest>,
  units: ReadonlySet<Digest>,
): AsyncGenerator<Digest> {
  for (const [stage, trace] of traces) {
    const bytes = (await cache.objects.getMany([trace])).get(trace);
    const keys = bytes === undefined ? null : digestsIn(Buffer.from(bytes).toString("latin1"));
    if (keys === null || keys.some((key) => units.has(key))) yield stage;
  }
}
