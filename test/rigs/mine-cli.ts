/** The built command line as a child process in a project folder of its own, as a person would type it. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const ENTRY = join(REPOSITORY, "dist/cli/main.js");

/** Compiles what changed; nothing where `npm test` has done it already. */
export function build(): void {
  const done = spawnSync(process.execPath, [join(REPOSITORY, "scripts/build.mjs")], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`the build failed:\n${done.stdout}${done.stderr}`);
}

export interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class MineProject {
  readonly folder: string;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "bench-mine-"));
    mkdirSync(join(this.folder, "pipelines"));
  }

  /** The environment is made, not inherited: a token of whoever runs the tests must not change what they see. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): { child: ChildProcess; ended: Promise<Ended> } {
    const child = spawn(process.execPath, [ENTRY, ...args], {
      cwd: this.folder,
      env: { HOME: this.folder, PATH: process.env.PATH ?? "", NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    return { child, ended: once(child, "close").then(([exit]) => ({ exit: exit as number | null, stdout, stderr })) };
  }

  bench(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> {
    return this.start(args, env).ended;
  }

  /** Every file below the project with its bytes. */
  files(): { path: string; bytes: Buffer }[] {
    return readdirSync(this.folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path: path.slice(this.folder.length + 1), bytes: readFileSync(path) }));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
