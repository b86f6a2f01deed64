/**
 * A source tree by content: its digest, its files as text, and a copy on disk where a system under test needs one.
 *
 * A tree is a list of paths and digests; the bytes lie in the cache's store. The copy on disk is only a view of it: it is compared
 * with the digests before it is used, and made anew when anything differs, so that a backend never searches a tree that was changed.
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { type Digest, digestBytes, digestJson, isDigest } from "../base/json.js";
import type { Corpus, Tree, TreeFile } from "./contract.js";
import { byCodeUnits, shownPath, treePath } from "./paths.js";
import type { TreeStore } from "./tools.js";

/** Digest of the sorted list of (path, digest): equal trees have equal digests, whatever they were made from. */
export function treeDigest(tree: Pick<Tree, "files">): Digest {
  return digestJson(tree.files.map(({ path, digest }) => [path, digest] as const).sort(([a], [b]) => byCodeUnits(a, b)));
}

/** Where `Corpus.folder()` puts the copy; answers of systems that saw it may carry this prefix (a `FileList`'s `roots`). */
export function treeFolder(tree: Pick<Tree, "files">, store: Pick<TreeStore, "cacheFolder">): string {
  return join(store.cacheFolder("trees"), treeDigest(tree));
}

/** Stores the files of a tree, a few at a time, and gives their entries in the same order. */
export async function storeFiles(
  files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
  store: { readonly putBytes: (bytes: Uint8Array) => Promise<Digest> },
): Promise<TreeFile[]> {
  const stored: TreeFile[] = [];
  for (let start = 0; start < files.length; start += AT_ONCE) {
    const batch = files.slice(start, start + AT_ONCE);
    stored.push(
      ...(await Promise.all(
        batch.map(async ({ path, bytes }) => ({ path, digest: await store.putBytes(bytes), size: bytes.byteLength })),
      )),
    );
  }
  return stored;
}

const AT_ONCE = 16;

/**
 * Opens a stored tree. `text` and `folder` reject with the store's own error where an object is damaged (the engine repairs it),
 * and with an explanation where a path is not in the tree or the file system can't hold it.
 */
export function openCorpus(tree: Tree, store: TreeStore): Corpus {
  const digest = treeDigest(tree);
  const byPath = new Map(tree.files.map((file) => [file.path, file]));
  let copy: Promise<string> | undefined;
  return {
    tree,
    digest,
    async text(path) {
      const file = byPath.get(path);
      if (file === undefined) throw new Error(`${shownPath(path)} is not a file of the tree ${tree.source}`);
      return new TextDecoder().decode(await bytesOf(file, store));
    },
    folder() {
      copy ??= materialise(tree, digest, store).catch((error: unknown) => {
        copy = undefined;
        throw error;
      });
      return copy;
    },
  };
}

function bytesOf(file: TreeFile, store: TreeStore): Promise<Uint8Array> {
  if (!isDigest(file.digest)) throw new Error(`${shownPath(file.path)} has no digest`);
  return store.getBytes(file.digest);
}

async function materialise(tree: Tree, digest: Digest, store: TreeStore): Promise<string> {
  const parent = store.cacheFolder("trees");
  const folder = join(parent, digest);
  if ((await difference(folder, tree)) === null) return folder;
  await mkdir(parent, { recursive: true });
  const making = join(parent, `${digest}.${randomUUID()}.tmp`);
  try {
    for (let start = 0; start < tree.files.length; start += AT_ONCE) {
      await Promise.all(tree.files.slice(start, start + AT_ONCE).map((file) => writeTreeFile(making, file, store)));
    }
    await mkdir(making, { recursive: true });
    const wrong = await difference(making, tree);
    if (wrong !== null) {
      throw new Error(
        `this file system can't hold the tree ${tree.source}: ${wrong} (paths may differ in letter case only, or hold characters that it does not allow). Use include and exclude to leave such files out`,
      );
    }
    await replaceFolder(making, folder, tree);
    return folder;
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function writeTreeFile(root: string, file: TreeFile, store: TreeStore): Promise<void> {
  // Trees come from the cache or from a user's own stage, so the path is checked again where it is used.
  const safe = treePath(file.path);
  if (!safe.ok || safe.value !== file.path) {
    throw new Error(
      `the tree has an unusable path (${shownPath(file.path)}): ${safe.ok ? "it is not in its plain form" : safe.error}`,
    );
  }
  const path = join(root, ...file.path.split("/"));
  const bytes = await bytesOf(file, store);
  await mkdir(dirname(path), { recursive: true });
  // Never over an existing file; a collision is then found by the comparison that follows.
  await writeFile(path, bytes, { flag: "wx", mode: 0o444 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/** Puts a finished copy in place. Another process may have done the same meanwhile: its copy is as good as ours if it is right. */
async function replaceFolder(making: string, folder: string, tree: Tree): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      await rename(making, folder);
      return;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "EPERM" && code !== "ENOTDIR") throw error;
      if ((await difference(folder, tree)) === null) return;
      const wrong = `${making}.old`;
      await rename(folder, wrong).catch((problem: NodeJS.ErrnoException) => {
        if (problem.code !== "ENOENT") throw problem;
      });
      await rm(wrong, { recursive: true, force: true });
    }
  }
  throw new Error(`${folder} could not be put in place: another process keeps replacing it`);
}

/** The first thing in which the folder differs from the tree, or null. Names, kinds and contents are compared, nothing else. */
async function difference(folder: string, tree: Tree): Promise<string | null> {
  const expected = new Map(tree.files.map((file) => [file.path, file]));
  let seen = 0;
  const pending = [""];
  for (let relative = pending.pop(); relative !== undefined; relative = pending.pop()) {
    let entries: import("node:fs").Dirent[];
    try {
      entries = await readdir(join(folder, relative), { withFileTypes: true });
    } catch (error) {
      return `${relative === "" ? "the folder" : shownPath(relative)} can't be read (${(error as NodeJS.ErrnoException).code})`;
    }
    const files: TreeFile[] = [];
    for (const entry of entries) {
      const path = relative === "" ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory()) {
        pending.push(path);
        continue;
      }
      const file = expected.get(path);
      if (file === undefined || !entry.isFile()) return `${shownPath(path)} does not belong to it`;
      files.push(file);
    }
    for (let start = 0; start < files.length; start += AT_ONCE) {
      const right = await Promise.all(files.slice(start, start + AT_ONCE).map((file) => holds(folder, file)));
      const wrong = right.indexOf(false);
      if (wrong !== -1) return `${shownPath(files[start + wrong]?.path ?? "")} has other contents`;
    }
    seen += files.length;
  }
  return seen === expected.size && seen === tree.files.length ? null : `${tree.files.length - seen} files are missing`;
}

async function holds(folder: string, file: TreeFile): Promise<boolean> {
  const bytes = await readRegularFile(join(folder, ...file.path.split("/")));
  return bytes !== null && bytes.byteLength === file.size && digestBytes(bytes) === file.digest;
}

/** The bytes of a regular file, or null if it is none or can't be read. A symbolic link in its place is not followed. */
export async function readRegularFile(path: string): Promise<Uint8Array | null> {
  try {
    // O_NONBLOCK: opening a pipe without a writer must not hang. Both flags are undefined on Windows.
    const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      return (await handle.stat()).isFile() ? await handle.readFile() : null;
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}

/**
 * The prefixes under which an answer may name files of the tree: the copy's folder here, in the system's spelling and with `/`, and the end of
 * it that is the same in every cache, so that an answer that was given on another machine scores the same.
 */
export function treeRoots(tree: Pick<Tree, "files">, store: Pick<TreeStore, "cacheFolder">): string[] {
  const folder = treeFolder(tree, store);
  const posix = folder.split(sep).join("/");
  const anywhere = `trees/${treeDigest(tree)}`;
  return folder === posix ? [folder, anywhere] : [folder, posix, anywhere];
}
