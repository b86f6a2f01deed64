/**
 * Python packages in virtual environments of their own, made once and kept (`BENCH_REAL_VENVS`, else the system's temporary folder), because
 * an installation takes minutes. What can't be installed here gives the reason instead.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Venv {
  readonly folder: string;
  /** null: ready. */
  readonly problem: string | null;
}

export interface Wanted {
  readonly name: string;
  /** Arguments of `pip install`, one call each. */
  readonly install: readonly (readonly string[])[];
  /** For an old release whose pins nobody can meet any more: it alone is installed, then what it requires, with these in the place of some. */
  readonly relaxed?: { readonly package: string; readonly instead: Readonly<Record<string, string>> };
}

export function venv({ name, install, relaxed }: Wanted): Venv {
  const folder = join(process.env.BENCH_REAL_VENVS ?? join(tmpdir(), "bench-real-venvs"), name);
  const done = join(folder, "installed.json");
  const asked = JSON.stringify([install, relaxed ?? null]);
  if (existsSync(done) && readFileSync(done, "utf8") === asked) return { folder, problem: null };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, ".."), { recursive: true });
  const problem = run(process.env.BENCH_REAL_PYTHON ?? "python3", ["-m", "venv", folder]);
  if (problem !== null) return { folder, problem };
  for (const args of install) {
    const failed = run(join(folder, "bin", "pip"), ["install", "--no-input", "--quiet", "--disable-pip-version-check", ...args]);
    if (failed !== null) return { folder, problem: failed };
  }
  if (relaxed !== undefined) {
    const requirements = python(
      folder,
      `from importlib.metadata import requires\nprint("\\n".join(r for r in requires("${relaxed.package}") if "extra ==" not in r))`,
    );
    const list = requirements
      .split("\n")
      .map((line) => relaxed.instead[(/^[A-Za-z0-9._-]+/.exec(line)?.[0] ?? "").toLowerCase()] ?? line);
    const failed = run(join(folder, "bin", "pip"), ["install", "--no-input", "--quiet", "--disable-pip-version-check", ...list]);
    if (failed !== null) return { folder, problem: failed };
  }
  writeFileSync(done, asked);
  return { folder, problem: null };
}

function run(file: string, args: readonly string[]): string | null {
  const { status, error, stderr } = spawnSync(file, args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  if (status === 0) return null;
  const said = (error?.message ?? stderr ?? "").trim().split("\n").at(-1) ?? "";
  return `${file} ${args.join(" ")}: ${said}`;
}

/** Runs code in it and gives what it printed. */
function python(folder: string, code: string): string {
  const { stdout, stderr, status } = spawnSync(join(folder, "bin", "python"), ["-c", code], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

/** Encodings that would otherwise be downloaded come with the package litellm, which GraphRAG's environment has. */
export function encodings(): Record<string, string> {
  const { folder } = venv({ name: "graphrag-3.3.0", install: [["graphrag==3.3.0"]] });
  const lib = join(folder, "lib");
  for (const name of existsSync(lib) ? readdirSync(lib) : []) {
    const cache = join(lib, name, "site-packages", "litellm", "litellm_core_utils", "tokenizers");
    if (existsSync(cache)) return { TIKTOKEN_CACHE_DIR: cache };
  }
  return {};
}

/** Prints what the real tool did: the material of docs/backends. */
export function seen(what: string, value: unknown): void {
  console.info(`${what}: ${JSON.stringify(value)?.slice(0, 600)}`);
}
