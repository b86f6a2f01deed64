/** What every use of `bench` needs, whatever the pipeline: Node, Git, npm, a cache that can be written, a GitHub token. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, statfs } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Finding } from "../base/finding.js";
import { findToken, TOKEN_FILE } from "../github/token.js";
import type { Io } from "./contract.js";
import { openCache } from "./project.js";

/** Oldest Node that is tested. */
const NODE = [20, 19] as const;
const LITTLE_SPACE = 1024 ** 3;
const PROGRAM_MS = 20_000;

export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const enough = major > NODE[0] || (major === NODE[0] && minor >= NODE[1]);
  return enough
    ? { check: "node", status: "ok", found: version }
    : { check: "node", status: "problem", found: `${version} is too old`, fix: `install Node ${NODE.join(".")} or newer` };
}

/** `use`: what can't be done without the program. */
export async function programFinding(program: string, use: string, io: Pick<Io, "env">): Promise<Finding> {
  const said = await new Promise<string | null>((resolve) => {
    const options = { env: { ...io.env }, timeout: PROGRAM_MS, killSignal: "SIGKILL", windowsHide: true } as const;
    execFile(program, ["--version"], options, (error, stdout) => resolve(error === null ? stdout : null));
  });
  if (said === null) {
    return {
      check: program,
      status: "warning",
      found: `not found, or it does not run: ${use} will fail`,
      fix: `install ${program}`,
    };
  }
  return { check: program, status: "ok", found: /\d+(?:\.\d+){1,3}/.exec(said.slice(0, 200))?.[0] ?? said.trim().slice(0, 60) };
}

/** Writes to a cache of its own inside the folder and reads back: the disk, the permissions, and SQLite as it was installed. */
export async function cacheFinding(folder: string, io: Io): Promise<Finding> {
  let probe: string | undefined;
  try {
    await mkdir(folder, { recursive: true });
    probe = await mkdtemp(join(folder, "doctor-"));
    const cache = await openCache(probe, io);
    try {
      const written = Buffer.from("written by bench doctor");
      const [read] = await cache.getBytes([await cache.putBytes(written)]);
      if (read === undefined || !written.equals(read)) throw new Error("what was written came back as something else");
    } finally {
      await cache.close();
    }
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const shown = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
    return free < LITTLE_SPACE
      ? {
          check: "cache",
          status: "warning",
          found: `${folder} can be written, but there is little room: ${shown}`,
          fix: "make room, or set --cache",
        }
      : { check: "cache", status: "ok", found: `${folder} can be written and read (SQLite works), ${shown}` };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const addon = /bindings|\.node\b|sqlite3/i.test(why);
    return {
      check: "cache",
      status: "problem",
      found: `${folder} can't be used: ${why}`,
      fix: addon
        ? "install the packages again: npm run setup"
        : "check the permissions and the disk, or give another folder with --cache",
    };
  } finally {
    if (probe !== undefined) await rm(probe, { recursive: true, force: true }).catch(() => {});
  }
}

/** Where a token is, never what it is. */
export async function tokenFinding(folders: readonly string[], io: Pick<Io, "env" | "cwd">): Promise<Finding> {
  const files = await Promise.all(
    [...new Set(folders)].map(async (folder) => {
      const path = join(folder, TOKEN_FILE);
      return { path, text: await readFile(path, "utf8").catch(() => null) };
    }),
  );
  const found = findToken({ env: io.env, files });
  if (found === null) {
    return {
      check: "github token",
      status: "warning",
      found: "none: GitHub answers 60 requests an hour, which is enough for recordings and for nothing else",
      fix: `set GITHUB_TOKEN, or write GITHUB_TOKEN=... into ${TOKEN_FILE} (any token; public repositories need no scope)`,
    };
  }
  const where = found.source.endsWith(TOKEN_FILE) ? relative(io.cwd, found.source) || found.source : found.source;
  return { check: "github token", status: "ok", found: `found in ${where}` };
}
