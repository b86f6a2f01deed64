/**
 * `folder: path`: the files of a folder, as they are now.
 *
 * The walk is deterministic and follows no symbolic link, so that it can't leave the folder or turn in circles. Digests are remembered by
 * the file's inode, size and times: an unchanged folder of ten thousand files is looked at, not read, by the next run. What could have been
 * chosen and can't be read is a failure: a tree without it would look complete, and its targets would leave the denominator.
 */
import type { Dirent } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, digestBytes, digestJson, type Json } from "../base/json.js";
import { err, ok, type Result } from "../base/result.js";
import type { Tree, TreeFile } from "./contract.js";
import { TREE_LIMITS, type TreeLimits } from "./limits.js";
import { byCodeUnits, firstPaths, LeftOut, shownPath, treePath } from "./paths.js";
import { folderSelector, type Globs, nothingSelected, selector } from "./select.js";
import type { CheckoutTools, SourceFailure } from "./tools.js";
import { readRegularFile } from "./tree.js";

/** Never part of a source tree: history, which may hold the fix, and other people's code. */
const SKIPPED: ReadonlyMap<string, string> = new Map([
  [".git", "history is no part of a tree"],
  ["node_modules", "installed packages are no part of a tree"],
]);

interface Seen {
  readonly path: string;
  readonly absolute: string;
  /** Changes whenever the content may have. */
  readonly stamp: string;
  /** Latest of modification and status change, milliseconds. */
  readonly changedAt: number;
}

interface Walk {
  readonly selected: Seen[];
  readonly total: number;
  readonly leftOut: LeftOut;
  /** Chosen, or folders that may hold what is: filled while walking and while reading. */
  readonly unreadable: string[];
}

/**
 * What the tree of a folder would be, without storing anything: for keys. Its digest (`folderDigest`) covers what is in the tree
 * item, and neither the folder's path nor any time.
 */
export async function folderTree(
  folder: string,
  globs: Globs,
  tools: Pick<CheckoutTools, "memory" | "clock">,
): Promise<Result<Tree, SourceFailure>> {
  return readFolder(folder, globs, tools, async (bytes) => digestBytes(bytes), true);
}

/** The tree, its files stored. Every file is read: what goes into the store is what the digests say. */
export async function storeFolder(
  folder: string,
  globs: Globs,
  tools: Pick<CheckoutTools, "memory" | "clock" | "putBytes">,
): Promise<Result<Tree, SourceFailure>> {
  return readFolder(folder, globs, tools, tools.putBytes, false);
}

/** Names a folder's content in keys. */
export function folderDigest(tree: Tree): Digest {
  return digestJson([tree.files, tree.notes]);
}

async function readFolder(
  folder: string,
  globs: Globs,
  tools: Pick<CheckoutTools, "memory" | "clock">,
  digestOf: (bytes: Uint8Array) => Promise<Digest>,
  mayRemember: boolean,
): Promise<Result<Tree, SourceFailure>> {
  const failure = (message: string) => err({ message, transient: false });
  const walked = await walk(folder, globs, TREE_LIMITS);
  if (!walked.ok) return failure(walked.error);
  const { selected, total, leftOut, unreadable } = walked.value;
  const memory = tools.memory("folders");
  const memoryKey = digestJson([walked.value.root, globs]);
  const remembered = mayRemember ? readMemory(await memory.get(memoryKey)) : new Map<string, Remembered>();
  const files: TreeFile[] = [];
  const toRemember: Record<string, Json> = Object.create(null);
  let totalBytes = 0;
  for (let start = 0; start < selected.length; start += 16) {
    const batch = await Promise.all(
      selected.slice(start, start + 16).map(async (seen) => {
        const known = remembered.get(seen.path);
        if (known?.stamp === seen.stamp) return { seen, file: { path: seen.path, digest: known.digest, size: known.size } };
        const bytes = await readRegularFile(seen.absolute);
        return { seen, file: bytes && { path: seen.path, digest: await digestOf(bytes), size: bytes.byteLength } };
      }),
    );
    for (const { seen, file } of batch) {
      if (file === null) {
        unreadable.push(seen.path);
        continue;
      }
      files.push(file);
      totalBytes += file.size;
      // A file that changed just now may change again within the clock's grain and keep its times: only older ones are remembered.
      if (seen.changedAt < tools.clock.now() - SETTLED_AFTER) toRemember[seen.path] = [seen.stamp, file.digest, file.size];
    }
    if (totalBytes > TREE_LIMITS.totalBytes) {
      return failure(
        `${shownPath(folder)} holds more than ${TREE_LIMITS.totalBytes} bytes: choose files with include and exclude`,
      );
    }
  }
  if (unreadable.length > 0) return failure(unreadableMessage(folder, unreadable));
  if (files.length === 0) return failure(nothingSelected(`the folder ${shownPath(folder)}`, total, globs));
  if (mayRemember) await memory.set(memoryKey, { ...toRemember });
  // Neither name nor place of the folder: the same content elsewhere is the same tree, and answers about it stay valid.
  return ok({
    id: "all",
    source: "folder",
    revision: null,
    files,
    notes: leftOut.notes(),
  });
}

function unreadableMessage(folder: string, paths: readonly string[]): string {
  const what = paths.length === 1 ? "1 path" : `${paths.length} paths`;
  return `${what} of the folder ${shownPath(folder)} can't be read: ${firstPaths(paths)}. Give yourself the right to read, or leave them out with \`exclude\` (a folder as \`name/**\`)`;
}

/** Milliseconds; file systems that keep times in steps of two seconds are the coarsest in use. */
const SETTLED_AFTER = 2500;

interface Remembered {
  readonly stamp: string;
  readonly digest: Digest;
  readonly size: number;
}

function readMemory(value: Json | undefined): Map<string, Remembered> {
  const remembered = new Map<string, Remembered>();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return remembered;
  for (const [path, entry] of Object.entries(value)) {
    if (!Array.isArray(entry)) continue;
    const [stamp, digest, size] = entry as readonly Json[];
    if (typeof stamp === "string" && typeof digest === "string" && typeof size === "number") {
      remembered.set(path, { stamp, digest: digest as Digest, size });
    }
  }
  return remembered;
}

async function walk(folder: string, globs: Globs, limits: TreeLimits): Promise<Result<Walk & { root: string }, string>> {
  const isSelected = selector(globs);
  const mayHold = folderSelector(globs);
  const leftOut = new LeftOut();
  const unreadable: string[] = [];
  const selected: Seen[] = [];
  let total = 0;
  let root: string;
  let first: Dirent[];
  try {
    root = await realpath(folder);
    first = await readdir(root, { withFileTypes: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === "ENOENT" ? "does not exist" : code === "ENOTDIR" ? "is not a folder" : `can't be read (${code})`;
    return err(`the folder ${shownPath(folder)} ${why}: \`folder\` is relative to the pipeline file`);
  }
  const pending: { path: string; entries: Dirent[] | null }[] = [{ path: "", entries: first }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const entries = next.entries ?? (await readdir(join(root, next.path), { withFileTypes: true }).catch(() => null));
    if (entries === null) {
      if (mayHold(next.path)) unreadable.push(`${next.path}/`);
      continue;
    }
    for (const entry of entries) {
      const raw = next.path === "" ? entry.name : `${next.path}/${entry.name}`;
      const skipped = SKIPPED.get(entry.name);
      if (skipped !== undefined) {
        if (mayHold(raw)) leftOut.add(skipped, shownPath(raw));
        continue;
      }
      const path = treePath(raw);
      if (!path.ok) {
        leftOut.add(path.error, shownPath(raw));
        continue;
      }
      if (entry.isDirectory()) pending.push({ path: path.value, entries: null });
      else if (!entry.isFile()) {
        // Only what could have been chosen is noted: a change outside of the globs must not change the tree.
        const isChosen = (await leadsToFolder(root, path.value, entry)) ? mayHold : isSelected;
        if (isChosen(path.value)) {
          leftOut.add(entry.isSymbolicLink() ? "links are not followed" : "not a regular file", path.value);
        }
      } else {
        total += 1;
        if (total > limits.files)
          return err(`the folder ${shownPath(folder)} has more than ${limits.files} files: name the one with the sources`);
        if (isSelected(path.value)) await look(root, path.value, limits, { selected, leftOut, unreadable });
      }
    }
  }
  selected.sort((a, b) => byCodeUnits(a.path, b.path));
  return ok({ root, selected, total, leftOut, unreadable });
}

async function leadsToFolder(root: string, path: string, entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return false;
  const target = await stat(join(root, ...path.split("/"))).catch(() => null);
  return target?.isDirectory() === true;
}

async function look(
  root: string,
  path: string,
  limits: TreeLimits,
  { selected, leftOut, unreadable }: Omit<Walk, "total">,
): Promise<void> {
  const absolute = join(root, ...path.split("/"));
  const facts = await lstat(absolute, { bigint: true }).catch(() => null);
  if (facts === null) {
    unreadable.push(path);
  } else if (facts.size > limits.fileBytes) {
    leftOut.add(`larger than ${limits.fileBytes} bytes`, path);
  } else {
    selected.push({
      path,
      absolute,
      stamp: `${facts.ino}:${facts.size}:${facts.mtimeNs}:${facts.ctimeNs}`,
      changedAt: Math.max(Number(facts.mtimeNs), Number(facts.ctimeNs)) / 1e6,
    });
  }
}
