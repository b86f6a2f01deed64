/**
 * What an index tool wrote, by content, and a folder on disk where the backend needs one.
 *
 * The folder is a view of the stored files. A process compares it with their digests when it first needs it and makes it anew where
 * anything differs, so that nobody searches an index that was changed, cut short or left by another run. Beside the kept files the tool may
 * write what it likes (logs); within a kept folder a file too many counts as a difference, since vector stores read whatever lies there.
 */
import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { type Digest, digestJson, isDigest } from "../base/json.js";
import { err, ok, type Result } from "../base/result.js";
import { type TreeFile, treeFileSchema } from "../corpus/contract.js";

/** One index, the item that `index-corpus` gives. */
export const indexSchema = z.object({
  /** The tree's id: `all`, or a commit. */
  id: z.string(),
  /** Kind of the tool. */
  tool: z.string(),
  /** Digest of the source tree that it was made of. */
  tree: z.string(),
  /** What stands for it in the keys of answers. */
  digest: z.string().refine(isDigest, "is no digest"),
  files: z.array(treeFileSchema),
  facts: z.record(z.string(), z.unknown()),
});
export type Index = z.infer<typeof indexSchema>;

/** Where stored files come from; the stage's tools are one. */
export interface IndexStore {
  readonly getBytes: (digest: Digest) => Promise<Uint8Array>;
  readonly cacheFolder: (name: string) => string;
}

export function filesDigest(files: readonly TreeFile[]): Digest {
  return digestJson(files.map(({ path, digest }) => [path, digest]));
}

/** Files of this length and more don't fit into one buffer. */
const LONGEST_FILE = 2 ** 31 - 1;

/**
 * Stores everything below `keep` (files and folders of `root`), sorted by path. The error says what can't be kept: something that is
 * missing, a link that leads elsewhere, a file that is too long.
 */
export async function storeIndex(
  root: string,
  keep: readonly string[],
  putBytes: (bytes: Uint8Array) => Promise<Digest>,
): Promise<Result<TreeFile[], string>> {
  const files: TreeFile[] = [];
  for (const path of [...keep].sort()) {
    const problem = await storeBelow(root, path, putBytes, files);
    if (problem !== null) return err(problem);
  }
  return ok(files.sort((a, b) => (a.path < b.path ? -1 : 1)));
}

async function storeBelow(
  root: string,
  path: string,
  putBytes: (bytes: Uint8Array) => Promise<Digest>,
  into: TreeFile[],
): Promise<string | null> {
  const found = await lstat(join(root, path)).catch(() => undefined);
  if (found === undefined) return `the index tool did not write ${path}`;
  if (found.isDirectory()) {
    for (const name of (await readdir(join(root, path))).sort()) {
      const problem = await storeBelow(root, `${path}/${name}`, putBytes, into);
      if (problem !== null) return problem;
    }
    return null;
  }
  if (!found.isFile()) return `the index has something that is no plain file (${path}) and can't be kept`;
  if (found.size > LONGEST_FILE)
    return `the index has a file of ${found.size} bytes (${path}); more than 2 GiB in one file can't be kept`;
  const bytes = await readFile(join(root, path));
  into.push({ path, digest: await putBytes(bytes), size: bytes.byteLength });
  return null;
}

/** Absolute path of a folder with the files. Rejects with the store's own error where one is damaged (the engine repairs it). */
export async function indexFolder(index: Pick<Index, "tool" | "files">, store: IndexStore): Promise<string> {
  if (index.files.length === 0) throw new Error(`the ${index.tool} index has no files: it lives in a server`);
  const folder = join(store.cacheFolder("indexes"), `${index.tool}-${filesDigest(index.files).slice(0, 32)}`);
  if (await holds(folder, index.files)) return folder;
  const making = `${folder}.${randomUUID()}.tmp`;
  try {
    for (const { path, digest } of index.files) {
      if (!isDigest(digest)) throw new Error(`the index's file ${path} has no digest`);
      if (path.split("/").some((part) => part === "" || part === "." || part === "..") || path.includes("\\")) {
        throw new Error(`the index has an unusable path: ${JSON.stringify(path)}`);
      }
      const target = join(making, ...path.split("/"));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, await store.getBytes(digest), { flag: "wx" });
    }
    await putInPlace(making, folder, index.files);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  return folder;
}

/** Another process may do the same at the same time: its copy is as good as ours if it is right. */
async function putInPlace(making: string, folder: string, files: readonly TreeFile[]): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      await rename(making, folder);
      return;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "";
      if (!["ENOTEMPTY", "EEXIST", "EPERM", "ENOTDIR"].includes(code)) throw error;
      if (await holds(folder, files)) return;
      const old = `${making}.old`;
      await rename(folder, old).catch((problem: NodeJS.ErrnoException) => {
        if (problem.code !== "ENOENT") throw problem;
      });
      await rm(old, { recursive: true, force: true });
    }
  }
  throw new Error(`${folder} could not be put in place: another process keeps replacing it`);
}

/** Are exactly these files in the kept part of the folder? What stands beside the first path segments of the files is the tool's. */
async function holds(folder: string, files: readonly TreeFile[]): Promise<boolean> {
  const expected = new Map(files.map((file) => [file.path, file]));
  const pending = [...new Set(files.map(({ path }) => path.split("/")[0] ?? ""))];
  let seen = 0;
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const found = await lstat(join(folder, path)).catch(() => undefined);
    if (found?.isDirectory() === true) {
      for (const name of await readdir(join(folder, path))) pending.push(`${path}/${name}`);
      continue;
    }
    const file = expected.get(path);
    if (file === undefined || found?.isFile() !== true || found.size !== file.size) return false;
    if ((await digestOf(join(folder, path))) !== file.digest) return false;
    seen += 1;
  }
  return seen === expected.size;
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
