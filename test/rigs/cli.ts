/**
 * The built command line as a child process, and a project folder outside the repository to run it in.
 *
 * The environment is made, not inherited: a token or an npm configuration of whoever runs the tests must not change what they see.
 * `node` comes first on the PATH as the Node that runs the tests.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";

export const REPOSITORY = resolve(import.meta.dirname, "../..");
const ENTRY = join(REPOSITORY, "dist/cli/main.js");

/** What `run --json` prints, as far as tests look at it. */
export interface RunJson {
  run_id: string;
  exit: number;
  state: string;
  counts: { requests: number; queries: number; executed: number; cached: number; failed: number };
  stages: {
    name: string;
    uses: string;
    label?: string;
    state: string;
    items: number;
    executed: number;
    cached: number;
    failed: number;
    seconds: number;
    statuses: Record<string, number>;
    message?: string;
  }[];
  reports: string[];
  // biome-ignore lint/suspicious/noExplicitAny: figures are looked up by name, in shapes that each test states
  summary: Record<string, any>;
  warnings: string[];
}

export interface Finished {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Running {
  readonly pid: number;
  readonly finished: Promise<Finished>;
  readonly #child: ChildProcess;
  #stderr = "";
  #listeners: (() => void)[] = [];

  constructor(child: ChildProcess) {
    this.#child = child;
    this.pid = child.pid ?? -1;
    let stdout = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
      for (const listener of this.#listeners.splice(0)) listener();
    });
    this.finished = once(child, "close").then(([exit, signal]) => ({
      exit: exit as number | null,
      signal: signal as NodeJS.Signals | null,
      stdout,
      stderr: this.#stderr,
    }));
  }

  /** Resolves when stderr holds that text. */
  async whenSaid(text: string): Promise<void> {
    while (!this.#stderr.includes(text)) await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

export interface Project {
  readonly folder: string;
  /** Extra environment of every command. */
  readonly env: Record<string, string>;
  write(path: string, text: string | Uint8Array): void;
  read(path: string): string;
  /** Starts `bench ARGS` in the project folder. */
  start(args: readonly string[], env?: Record<string, string>): Running;
  bench(args: readonly string[], env?: Record<string, string>): Promise<Finished>;
  /** `bench run ... --json`, which must exit as expected (0 unless said otherwise). */
  run(args: readonly string[], expected?: number): Promise<RunJson & { stderr: string }>;
  /** A copy of everything, in a folder of its own. */
  copy(): Project;
  remove(): void;
}

/** An empty project: a temporary folder with `pipelines/` in it. */
export function project(env: Record<string, string> = {}): Project {
  const folder = mkdtempSync(join(tmpdir(), "bench-e2e-"));
  mkdirSync(join(folder, "pipelines"));
  return projectIn(folder, env);
}

function projectIn(folder: string, env: Record<string, string>): Project {
  const self: Project = {
    folder,
    env,
    write: (path, text) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    read: (path) => readFileSync(join(folder, path), "utf8"),
    start: (args, more = {}) => startBench(args, folder, { ...env, ...more }),
    bench: (args, more) => self.start(args, more).finished,
    run: async (args, expected = 0) => {
      const done = await self.bench(["run", ...args, "--json"]);
      if (done.exit !== expected) throw new Error(`bench run ended with ${done.exit ?? done.signal}:\n${done.stderr}`);
      return { ...(JSON.parse(done.stdout) as RunJson), stderr: done.stderr };
    },
    copy: () => {
      const to = mkdtempSync(join(tmpdir(), "bench-e2e-"));
      cpSync(folder, to, { recursive: true });
      return projectIn(to, env);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  return self;
}

let built = false;

function startBench(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Running {
  checkBuilt();
  const { PATH: first, ...rest } = env;
  const path = [first, dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].filter((part) => part !== undefined);
  const child = spawn(process.execPath, [ENTRY, ...args], {
    cwd,
    env: { HOME: cwd, TMPDIR: tmpdir(), NO_COLOR: "1", ...rest, PATH: path.join(delimiter) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Running(child);
}

/** Tests of yesterday's build would prove nothing. */
function checkBuilt(): void {
  if (built) return;
  const checked = spawnSync(process.execPath, [join(REPOSITORY, "scripts/build.mjs"), "--check"], { encoding: "utf8" });
  if (checked.status !== 0) throw new Error(checked.stderr.trim());
  built = true;
}

/** Executed units by stage, those that executed nothing left out. */
export function executed(run: RunJson): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { name, executed: units } of run.stages) if (units > 0) counts[name] = (counts[name] ?? 0) + units;
  return counts;
}

/** Every file below a folder, relative to it, sorted. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** The figures of a run, without how long the systems took to answer: the one thing in them that was measured and not computed. */
export function figures(run: Pick<RunJson, "summary">): unknown {
  return Object.fromEntries(
    Object.entries(run.summary).map(([label, { seconds: _, ...summary }]) => [label, summary as Record<string, unknown>]),
  );
}
