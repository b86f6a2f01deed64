/**
 * Which GraphRAG is it: where its program lies, its version, and which of the three command lines it understands.
 *
 * GraphRAG has no `--version` in any release, and starting it takes seconds. The version therefore comes from the package's metadata
 * beside the interpreter, and only where that can't be found does its help decide.
 */
import { open, readdir, readFile, stat } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { err, ok, type Result } from "../base/result.js";

/**
 * `underscore`: `python -m graphrag.query ... --community_level 2 "Q"` (0.1 to 0.3). `query`: `graphrag query --query "Q"` (0.4 to 2.x).
 * `positional`: `graphrag query "Q"` (3.x).
 */
export type Generation = "underscore" | "query" | "positional";
export type Mode = "auto" | "venv" | "uv";

export interface GraphragProgram {
  /** `venv` also stands for a program on the PATH: it belongs to a virtual environment as well. */
  readonly how: "venv" | "path" | "uv";
  /** Its interpreter as a command: `[python]`, or `[uv, run, python]`; null where a program on the PATH does not say. */
  readonly python: readonly string[] | null;
  /** The `graphrag` script, where there is one (not before 0.4). */
  readonly script: readonly string[] | null;
  /** null = unknown. */
  readonly version: string | null;
}

export interface Where {
  /** Absolute; where a `.venv` may lie and `uv run` starts. */
  readonly dir: string;
  /** Absolute folder of a virtual environment, or undefined: `<dir>/.venv`. */
  readonly venv: string | undefined;
  readonly mode: Mode;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The error says where it was looked for and what to do. Starts nothing. */
export async function findGraphrag({ dir, venv, mode, env }: Where): Promise<Result<GraphragProgram, string>> {
  const folder = venv ?? join(dir, ".venv");
  if (mode !== "uv") {
    const found = await inVenv(folder);
    if (found !== null) return ok(found);
    if (mode === "venv" || venv !== undefined) {
      return err(
        `there is no GraphRAG in the virtual environment ${folder}: make one (python3 -m venv ${folder}; ${folder}/bin/pip install graphrag), or name another with \`venv:\``,
      );
    }
    const onPath = await executable("graphrag", env);
    if (onPath !== null) return ok(await fromScript(onPath));
  }
  const uv = await executable("uv", env);
  if (uv !== null) {
    return ok({
      how: "uv",
      python: [uv, "run", "python"],
      script: null,
      version: (await packageVersion(folder)) ?? (await lockedVersion(dir)),
    });
  }
  return err(
    mode === "uv"
      ? "`mode: uv` needs the program uv, and it is not on the PATH: install it, or use `mode: venv`"
      : `no GraphRAG was found: neither in ${folder}, nor on the PATH, nor is there uv. Install it (python3 -m venv ${folder}; ${folder}/bin/pip install graphrag), or name its virtual environment with \`venv:\``,
  );
}

async function inVenv(folder: string): Promise<GraphragProgram | null> {
  for (const [bin, suffix] of [
    ["bin", ""],
    ["Scripts", ".exe"],
  ] as const) {
    const script = join(folder, bin, `graphrag${suffix}`);
    const python = join(folder, bin, `python${suffix}`);
    const version = await packageVersion(folder);
    const hasScript = await isFile(script);
    if (!hasScript && version === null) continue;
    return { how: "venv", python: (await isFile(python)) ? [python] : null, script: hasScript ? [script] : null, version };
  }
  return null;
}

/** pip's scripts name their interpreter in the first line (in the second, as `exec`, where its path is long). */
async function fromScript(script: string): Promise<GraphragProgram> {
  const python =
    /^#!(\/[^\n ]+python[^\n/ ]*)/.exec(await head(script))?.[1] ?? /^'''exec' "?(\/[^"\n]+?)"? /m.exec(await head(script))?.[1];
  return {
    how: "path",
    python: python === undefined ? null : [python],
    script: [script],
    version: python === undefined ? null : await packageVersion(dirname(dirname(python))),
  };
}

async function head(path: string): Promise<string> {
  const file = await open(path).catch(() => null);
  if (file === null) return "";
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1024), 0, 1024, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

const DIST_INFO = /^graphrag-(\d[\w.+!-]{0,40})\.dist-info$/;

/** From the name of the package's metadata folder, or null. */
async function packageVersion(venv: string): Promise<string | null> {
  const lib = join(venv, "lib");
  const pythons = (await names(lib)).filter((name) => name.startsWith("python")).map((name) => join(lib, name));
  for (const folder of [...pythons, join(venv, "Lib")]) {
    for (const name of await names(join(folder, "site-packages"))) {
      const version = DIST_INFO.exec(name)?.[1];
      if (version !== undefined) return version;
    }
  }
  return null;
}

/** What a uv project has locked: `uv run` installs exactly that. */
async function lockedVersion(dir: string): Promise<string | null> {
  const text = await readFile(join(dir, "uv.lock"), "utf8").catch(() => "");
  return /^name = "graphrag"\r?\nversion = "([^"\n]{1,40})"/m.exec(text)?.[1] ?? null;
}

async function names(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [] as string[])).sort();
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

async function executable(name: string, env: Where["env"]): Promise<string | null> {
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    for (const candidate of [resolve(folder, name), resolve(folder, `${name}.exe`)]) {
      if (await isFile(candidate)) return candidate;
    }
  }
  return null;
}

/** null where the version does not look like one. */
export function generationOf(version: string): Generation | null {
  const numbers = /^(\d{1,6})\.(\d{1,6})/.exec(version);
  if (numbers === null) return null;
  const [major, minor] = [Number(numbers[1]), Number(numbers[2])];
  if (major === 0) return minor < 4 ? "underscore" : "query";
  return major < 3 ? "query" : "positional";
}

/** From what `graphrag query --help` printed and whether it ended well; for a program whose version is unknown. */
export function generationFromHelp(help: string, succeeded: boolean): Generation | null {
  if (/--community_level\b/.test(help)) return "underscore";
  if (!succeeded || !/--method\b/.test(help)) return null;
  return /--query\b/.test(help) ? "query" : "positional";
}
