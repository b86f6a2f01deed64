/**
 * One process at a time on the files of a folder: for the short moment of reading a table, adding to it and writing it back.
 *
 * The lock is a file that appears with its owner in it (a hard link of a finished file, so nobody ever reads half an owner). What a killed
 * process left is taken over: at once where the process can be seen to be gone, after a minute where it was another machine's. A take-over
 * renames the file away first, and looks at what it got: had someone else taken over in between, theirs is put back.
 */
import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isAlive } from "../cache/claims.js";
import { makeFolder } from "../cache/make-folder.js";
import { type RunRecord, thisProcess } from "../engine/record.js";

type Owner = RunRecord["process"] & { readonly id: string };

const SILENT_MS = 60_000;

export interface LockTools {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

const SYSTEM: LockTools = {
  now: () => Date.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** Waits for its turn, however long that takes: who holds the lock is alive, or is found to be gone. */
export async function withFolderLock<T>(folder: string, work: () => Promise<T>, tools: LockTools = SYSTEM): Promise<T> {
  await makeFolder(folder);
  const path = join(folder, ".lock");
  const owner: Owner = { ...thisProcess(), id: randomUUID() };
  const own = `${path}.${owner.id}`;
  await writeFile(own, JSON.stringify(owner));
  try {
    while (!(await linked(own, path))) {
      const holder = await readFile(path, "utf8").catch(() => null);
      if (holder !== null && (await isGone(holder, path, tools.now()))) await takeAway(path, holder, owner.id);
      else await tools.sleep(20);
    }
    try {
      return await work();
    } finally {
      // Only our own: a lock that was taken from us by mistake is another's now.
      if ((await readFile(path, "utf8").catch(() => null)) === JSON.stringify(owner)) await rm(path, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
}

const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** False = the lock is held. Where the file system has no hard links, the next best: a file that only one process can create. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
      if (!NO_LINKS.has(error.code ?? "")) throw error;
      await writeFile(to, await readFile(from), { flag: "wx" });
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function isGone(holder: string, path: string, now: number): Promise<boolean> {
  let owner: Partial<Owner> | null = null;
  try {
    owner = JSON.parse(holder) as Partial<Owner>;
  } catch {
    // Not written by us: judged by its age.
  }
  if (owner?.host === hostname() && typeof owner.pid === "number") {
    return !isAlive({ pid: owner.pid, start: typeof owner.start === "string" ? owner.start : "" });
  }
  const written = await stat(path).catch(() => null);
  return written !== null && now - written.mtimeMs > SILENT_MS;
}

async function takeAway(path: string, expected: string, id: string): Promise<void> {
  const aside = `${path}.${id}.gone`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if ((await readFile(aside, "utf8").catch(() => null)) !== expected) await linked(aside, path);
  await rm(aside, { force: true });
}
