/** Where things are: the project root, the cache, the runs. */
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Cache } from "../cache/cache.js";
import type { OptionValue } from "./contract.js";
import { type Io, UsageError } from "./contract.js";
import { text } from "./options.js";

/** The nearest parent folder with `pipelines/` or `.git`, else the folder itself. */
export function findProjectRoot(from: string): string {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "pipelines")) || existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return resolve(from);
  }
}

export async function benchVersion(): Promise<string> {
  const path = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "package.json");
  return String(JSON.parse(await readFile(path, "utf8")).version);
}

/** `--cache DIR|URI`, default `cache/` of the project. */
export function cacheFolder(options: Readonly<Record<string, OptionValue>>, root: string, cwd: string): string {
  const given = text(options, "cache");
  if (given === undefined) return join(root, "cache");
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(given)?.[1];
  if (scheme === "file") return fileURLToPath(given);
  if (scheme !== undefined) {
    throw new UsageError(
      `--cache ${scheme}://... is not supported by this version; give a folder (several processes of one machine may share it)`,
    );
  }
  return resolve(cwd, given);
}

/** `mend` false: a damaged database is left as it lies, and `CacheBroken` thrown. */
export async function openCache(folder: string, io: Io, mend = true): Promise<Cache> {
  const { Cache } = await import("../cache/cache.js");
  return Cache.open({ folder, mend, now: Date.now, warn: (message) => io.stderr(`warning: ${message}\n`) });
}

export function outFolder(options: Readonly<Record<string, OptionValue>>, root: string, cwd: string): string {
  const given = text(options, "out");
  return given === undefined ? join(root, "evaluation_results") : resolve(cwd, given);
}

/** RUN = a run's id, its folder, a report file in it, or `latest`. Returns the run's folder. */
export async function findRun(run: string | undefined, out: string, cwd: string): Promise<string> {
  const wanted = run ?? "latest";
  if (wanted === "latest") {
    const names = (await readdir(out).catch(() => [])).filter((name) => existsSync(join(out, name, "run.json"))).sort();
    const last = names.at(-1);
    if (last === undefined) throw new UsageError(`there is no run in ${out} yet`);
    return join(out, last);
  }
  for (const candidate of [join(out, wanted), isAbsolute(wanted) ? wanted : resolve(cwd, wanted)]) {
    const entry = await stat(candidate).catch(() => null);
    if (entry?.isDirectory() && existsSync(join(candidate, "run.json"))) return candidate;
    if (entry?.isFile() && existsSync(join(dirname(candidate), "run.json"))) return dirname(candidate);
  }
  throw new UsageError(
    `no run ${JSON.stringify(wanted)}: give a run's id (a folder name in ${out}), its folder, a file in it, or "latest"`,
  );
}
