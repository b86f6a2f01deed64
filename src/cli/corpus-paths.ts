/**
 * The file list of a folder, for scoring without a pipeline: names only, no file is opened. Symbolic links to folders are not
 * followed, so the walk ends; the order is that of code units, so the same folder always gives the same list.
 */
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { err, ok, type Result } from "../base/result.js";

/** As in `checkout`: history and other people's code are no part of a source tree. */
const SKIPPED = new Set([".git", "node_modules"]);

export interface CorpusPaths {
  /** Relative, `/` separated, sorted by code units. */
  readonly paths: readonly string[];
  /** Absolute prefixes that answers may carry. */
  readonly roots: readonly string[];
}

/**
 * `everything`: also `.git`, `node_modules` and links to files, which the original program's list of the repository holds.
 * Error: what is wrong with the folder.
 */
export async function corpusPaths(folder: string, cwd: string, everything: boolean): Promise<Result<CorpusPaths, string>> {
  const root = resolve(cwd, folder);
  try {
    if (!(await stat(root)).isDirectory()) return err(`${folder} is not a folder`);
    const paths: string[] = [];
    await walk(root, "", everything, paths);
    const roots = new Set([root, await realpath(root)].flatMap((path) => [path, path.split(sep).join("/")]));
    return ok({ paths: paths.sort(), roots: [...roots] });
  } catch (error) {
    return err(`${folder} can't be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
}

async function walk(root: string, relative: string, everything: boolean, into: string[]): Promise<void> {
  for (const entry of await readdir(join(root, relative), { withFileTypes: true })) {
    const path = relative === "" ? entry.name : `${relative}/${entry.name}`;
    if (entry.isDirectory()) {
      if (everything || !SKIPPED.has(entry.name)) await walk(root, path, everything, into);
    } else if (entry.isFile() || (everything && entry.isSymbolicLink() && (await isFile(join(root, path))))) into.push(path);
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
