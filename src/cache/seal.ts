/**
 * The seal: what the last writer left, so that `verify` sees damage even in bytes that nobody reads, and objects that are simply gone.
 *
 * `seal.json` holds size and digest of the database, and which object files there are. It is broken (removed) by the first write and
 * put back when the cache is closed; a killed run leaves none, and then only what vouches for itself can be checked.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestJson } from "../base/json.js";
import { DATABASE, FORMAT_FILE, FORMAT_TEXT } from "./open.js";

const SEAL = "seal.json";

/** Something that is not as it should be: what, in which file, and how. */
export interface Damage {
  /** Digest of an object, key of a row, or name of a file. */
  readonly what: string;
  readonly where: string;
  readonly problem: string;
}

interface Sealed {
  readonly size: number;
  readonly sha256: string;
  /** Files below `objects/`: how many, and the digest of their names. */
  readonly objects: { readonly count: number; readonly names: string };
}

export async function breakSeal(folder: string): Promise<void> {
  await rm(join(folder, SEAL), { recursive: true, force: true });
}

export async function seal(folder: string): Promise<void> {
  const sealed = await sealOf(folder);
  // Another process has it open and is writing: its own closing seals.
  if (sealed === null) return;
  await mkdir(folder, { recursive: true });
  const temporary = join(folder, `${SEAL}.${process.pid}.tmp`);
  await writeFile(temporary, JSON.stringify(sealed));
  await rename(temporary, join(folder, SEAL));
}

async function sealOf(folder: string): Promise<Sealed | null> {
  const path = join(folder, DATABASE);
  const { size } = await stat(path);
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  const wal = await stat(`${path}-wal`).catch(() => null);
  if (wal !== null && wal.size > 0) return null;
  return { size, sha256: hash.digest("hex"), objects: await objectNames(join(folder, "objects")) };
}

async function objectNames(folder: string): Promise<Sealed["objects"]> {
  const names: string[] = [];
  for (const shard of await readdir(folder).catch(() => [])) {
    for (const name of await readdir(join(folder, shard)).catch(() => [])) {
      // What a killed writer left is no object.
      if (!name.endsWith(".tmp")) names.push(`${shard}${name}`);
    }
  }
  return { count: names.length, names: digestJson(names.sort()) };
}

/**
 * What can be seen of the files as they lie there, before anything opens (and so may mend) them: the seal and what it says, and the
 * format's file. Nothing where there is no seal, or somebody is writing now.
 */
export async function lookFromOutside(folder: string): Promise<Damage[]> {
  const damaged: Damage[] = [];
  const format = await readFile(join(folder, FORMAT_FILE), "utf8").catch(ifAbsent);
  if (format !== null && format !== FORMAT_TEXT) {
    damaged.push({ what: FORMAT_FILE, where: FORMAT_FILE, problem: "has other content than bench writes" });
  }
  const text = await readFile(join(folder, SEAL), "utf8").catch(ifAbsent);
  if (text === null) return damaged;
  const sealed = parseSeal(text);
  if (sealed === null) return [...damaged, { what: SEAL, where: SEAL, problem: "can't be read as a seal" }];
  const now = await sealOf(folder).catch(() => null);
  if (now === null) return damaged;
  const database = (problem: string) => damaged.push({ what: DATABASE, where: DATABASE, problem });
  if (now.size !== sealed.size) database(`is ${now.size} bytes long, its last writer left ${sealed.size}`);
  else if (now.sha256 !== sealed.sha256) database("has other bytes than its last writer left");
  if (now.objects.names !== sealed.objects.names || now.objects.count !== sealed.objects.count) {
    const problem = `holds ${now.objects.count} objects, its last writer left ${sealed.objects.count}${now.objects.count === sealed.objects.count ? " others" : ""}`;
    damaged.push({ what: "objects", where: "objects", problem });
  }
  return damaged;
}

/** null = there is no such file; anything else that stands in its place is no seal and no format. */
function ifAbsent(error: NodeJS.ErrnoException): string | null {
  return error.code === "ENOENT" ? null : "";
}

function parseSeal(text: string): Sealed | null {
  try {
    const { size, sha256, objects } = JSON.parse(text) as Sealed;
    const sound =
      typeof size === "number" &&
      typeof sha256 === "string" &&
      typeof objects.count === "number" &&
      typeof objects.names === "string";
    return sound ? { size, sha256, objects } : null;
  } catch {
    return null;
  }
}
