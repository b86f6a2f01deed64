/** Starting GraphRAG: its environment, its process group, and which generation of command line it speaks. */

import { redactor } from "../base/env-secrets.js";
import { start } from "./graphrag-command.js";
import { dotEnv } from "./graphrag-folder.js";
import { type Generation, type GraphragProgram, generationFromHelp, generationOf } from "./graphrag-program.js";
import { type ProcessEnd, runProcess, type Sleep } from "./process.js";

type Env = Readonly<Record<string, string | undefined>>;

/** Tokens that are no business of GraphRAG's. The rest is inherited: its model libraries read dozens of variables, of every provider. */
const WITHHELD = new Set(["GITHUB_TOKEN", "GH_TOKEN"]);

export interface Runner {
  /** Runs the program in the folder; stdout and stderr as the process gave them, secrets still in them. */
  readonly run: (argv: readonly string[], input: string, signal: AbortSignal) => Promise<ProcessEnd>;
  /** Takes secrets (of the environment and of the folder's `.env`) out of text. */
  readonly redact: (text: string) => string;
}

const MOST_OUTPUT = 16 * 1024 * 1024;

export async function graphragRunner(dir: string, env: Env, sleep: Sleep): Promise<Runner> {
  const own = await dotEnv(dir);
  const inherited = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || WITHHELD.has(name) ? [] : [[name, value]],
  );
  const passed: Record<string, string> = {
    ...Object.fromEntries(inherited),
    // Wide and plain, or messages are folded at 80 columns and framed; and local variables, keys among them, shown in tracebacks.
    COLUMNS: "1000",
    NO_COLOR: "1",
    TERM: "dumb",
    TYPER_STANDARD_TRACEBACK: "1",
    _TYPER_STANDARD_TRACEBACK: "1",
    PYTHONIOENCODING: "utf-8",
    PYTHONUTF8: "1",
    PYTHONUNBUFFERED: "1",
    // Nothing phones home from a benchmark, and a price list need not be fetched to answer.
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
  };
  return {
    run: ([file = "", ...args], input, signal) =>
      runProcess({ file, args, cwd: dir, env: passed, input, maxOutput: MOST_OUTPUT }, sleep, signal),
    redact: redactor({ ...own, ...env }, []),
  };
}

/**
 * The generation: as the person says, else by the package's version, else by what the program says of itself (which takes it some seconds),
 * else the newest. `warn` is told of the last. Rejects if it was stopped meanwhile.
 */
export async function detectGeneration(
  program: GraphragProgram,
  cli: Generation | "auto",
  runner: Runner,
  warn: (message: string) => void,
  signal: AbortSignal,
): Promise<Generation> {
  if (cli !== "auto") return cli;
  signal.throwIfAborted();
  const known = program.version === null ? null : generationOf(program.version);
  if (known !== null) return known;
  const say = async (first: readonly string[] | null, ...args: string[]): Promise<{ text: string; succeeded: boolean }> => {
    if (first === null) return { text: "", succeeded: false };
    const end = await runner.run([...first, ...args], "", signal);
    if (end.type === "not-started") return { text: "", succeeded: false };
    return { text: end.stdout.toString("utf8"), succeeded: end.type === "exited" && end.exitCode === 0 };
  };
  const newest = start(program, "positional", "query");
  const version = await say(newest, "--version");
  const told = version.succeeded ? generationOf(/\d{1,6}\.\d{1,6}[\w.]{0,20}/.exec(version.text)?.[0] ?? "") : null;
  if (told !== null) return told;
  const help = await say(newest, "query", "--help");
  const byHelp = generationFromHelp(help.text, help.succeeded);
  if (byHelp !== null) return byHelp;
  // Releases before 0.4 have no other entry.
  const oldest = await say(start(program, "underscore", "query"), "--help");
  const byOldHelp = generationFromHelp(oldest.text, oldest.succeeded);
  if (byOldHelp !== null) return byOldHelp;
  signal.throwIfAborted();
  warn(
    "graphrag: its version could not be found out: taken for 3.x (say with `cli:` which command line it has: underscore up to 0.3, query up to 2.x, positional from 3.0)",
  );
  return "positional";
}
