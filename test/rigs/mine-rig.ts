/** `bench mine` in this process: a project folder, a clock that sleeps move, and everything that went out or was written. */
import { setMaxListeners } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io, OptionValue } from "../../src/cli/contract.js";
import { main } from "../../src/cli/main.js";
import { mine } from "../../src/cli/mine.js";
import { everythingIn } from "./everything.js";

export interface Typed {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As far as tests look at `--json`. */
export interface MineJson {
  exit: number;
  repositories: {
    repository: string;
    state: string;
    message?: string;
    resume_at?: string;
    kept?: number;
    scanned?: number;
    dropped?: { rule: string; removed: number; what: string }[];
    file: string | null;
    audit_file: string | null;
  }[];
  counts: { requests: number; requests_saved: number };
  limits: Record<string, { left: number; of: number | null; reset_at: string | null }>;
  resume_at?: string;
}

export class MineRig {
  readonly folder: string;
  readonly token: string | undefined;
  /** Options of each mining that names none of its own. */
  defaults: Readonly<Record<string, OptionValue>> = {};
  /** Milliseconds slept. */
  slept = 0;
  /** Called on each sleep. */
  onSleep: (() => void) | null = null;

  constructor(token?: string) {
    this.folder = mkdtempSync(join(tmpdir(), "bench-mine-"));
    mkdirSync(join(this.folder, "pipelines"));
    this.token = token;
  }

  #io(out: string[], err: string[], signal: AbortSignal): Io {
    return {
      stdout: (text) => void out.push(text),
      stderr: (text) => void err.push(text),
      env: this.token === undefined ? {} : { GITHUB_TOKEN: this.token },
      cwd: this.folder,
      terminal: { isTTY: false, columns: 80, colour: false },
      interrupted: signal,
    };
  }

  async #typed(run: (io: Io) => Promise<number>, signal = new AbortController().signal): Promise<Typed> {
    setMaxListeners(0, signal);
    const out: string[] = [];
    const err: string[] = [];
    const exit = await run(this.#io(out, err, signal));
    return { exit, stdout: out.join(""), stderr: err.join("") };
  }

  /** Any command, as typed; waits are real. */
  bench(...argv: string[]): Promise<Typed> {
    return this.#typed((io) => main(argv, io));
  }

  /** `bench mine` with a clock whose sleeps take no time. */
  mine(repos: readonly string[], options: Readonly<Record<string, OptionValue>> = {}, signal?: AbortSignal): Promise<Typed> {
    return this.#typed(
      (io) =>
        mine(repos, { ...this.defaults, ...options }, io, {
          clock: {
            now: () => Date.now() + this.slept,
            sleep: async (milliseconds, aborted) => {
              aborted?.throwIfAborted();
              this.slept += milliseconds;
              this.onSleep?.();
              // What is asked for together is gathered within milliseconds: those pass.
              if (milliseconds < 100) await new Promise((resolve) => setTimeout(resolve, milliseconds));
              else await new Promise((resolve) => setImmediate(resolve));
              aborted?.throwIfAborted();
            },
          },
          random: () => 0.5,
          env: io.env,
        }),
      signal,
    );
  }

  async json(
    repos: readonly string[],
    options: Readonly<Record<string, OptionValue>> = {},
  ): Promise<MineJson & { stderr: string }> {
    const { stdout, stderr } = await this.mine(repos, { ...options, json: true });
    return { ...(JSON.parse(stdout) as MineJson), stderr };
  }

  minedFiles(): string[] {
    return readdirSync(join(this.folder, "mined_projects")).sort();
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  /** Everything below the project that a search for a text should see: files, and what the cache holds, decompressed. */
  everything(): Promise<{ where: string; text: string }[]> {
    return everythingIn(this.folder);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A mined file without what differs between two minings of the same facts: its time, and the port of a test's server. */
export function withoutTime(text: string): string {
  return text.replace(/"mined_at": "[^"]*"/, '"mined_at": ""').replaceAll(/127\.0\.0\.1:\d+/g, "SERVER");
}

export interface MinedFile {
  dataset_digest: string;
  notes: string[];
  audit: { rule: string; removed: number; items: string[] }[];
  issues: {
    number: number;
    edited_at?: string | null;
    best_grade: string;
    strata: object;
    linked_merged_pull_requests: { repository: string; number: number; link: { grade: string; evidence: string[] } }[];
  }[];
}

/**
 * What is the same by both APIs. What may differ: how sure a link is and why (`link`), and what is made of that (`best_grade`, `strata`, the
 * digest); and what the audit says of a link by its grade.
 */
export function commonToApis(file: MinedFile): unknown {
  return {
    ...file,
    dataset_digest: "",
    issues: file.issues.map((issue) => ({
      ...issue,
      edited_at: null,
      best_grade: "",
      strata: {},
      linked_merged_pull_requests: issue.linked_merged_pull_requests.map((pull) => ({ ...pull, link: {} })),
    })),
  };
}
