/**
 * Folders that verify themselves. What a program needs as files on disk (a source tree) lies in `cache/<kind>/<digest>/`, and the name
 * is the digest of the sorted list of [path, digest of the file's bytes]: it can be checked without knowing what the files are.
 */
import { lstat, readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { type Digest, digestBytes, digestJson, isDigest } from "../base/json.js";

/** Kept apart: `objects/` has its own check, `aside/` holds what was found damaged. */
const NOT_OURS = new Set(["objects", "aside"]);

/** Every folder below the cache whose name is a digest, with what is wrong with it (null = nothing). */
export async function* selfVerifyingFolders(cache: string): AsyncGenerator<{ path: string; problem: string | null }> {
  for (const kind of await readdir(cache, { withFileTypes: true })) {
    if (!kind.isDirectory() || NOT_OURS.has(kind.name)) continue;
    for (const entry of await readdir(join(cache, kind.name), { withFileTypes: true })) {
      if (!isDigest(entry.name)) continue;
      const path = join(cache, kind.name, entry.name);
      const digest = entry.isDirectory() ? await folderDigest(path) : null;
      yield { path, problem: digest === entry.name ? null : "holds other files than its name says" };
    }
  }
}

/** null where something in it is no regular file, or can't be read. */
async function folderDigest(folder: string): Promise<Digest | null> {
  const files: [string, Digest][] = [];
  try {
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
      if (entry.isDirectory()) continue;
      const path = join(entry.parentPath, entry.name);
      if (!(await lstat(path)).isFile()) return null;
      files.push([
        path
          .slice(folder.length + 1)
          .split(sep)
          .join("/"),
        digestBytes(await readFile(path)),
      ]);
    }
  } catch {
    return null;
  }
  return digestJson(files.sort(([a], [b]) => (a < b ? -1 : 1)));
}
