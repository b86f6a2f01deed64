/** Starting GraphRAG: its environment, its process group, and which generation of command line it speaks. */
import { UnusableConfiguration } from "./contract.js";
import { start } from "./graphrag-command.js";
import { dotEnv, settingsOf, variablesOf } from "./graphrag-folder.js";
import { type Generation, type GraphragProgram, generationFromHelp, generationOf } from "./graphrag-program.js";
import { type ProcessEnd, runProcess, type Sleep } from "./process.js";
import { redactor } from "./redact.js";

type Env = Readonly<Record<string, string | undefined>>;

/** Beside what the settings name: what Python, its HTTP clients and the model libraries need to work at all. */
const PASSED_ON = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "TMPDIR",
  "SystemRoot",
  "PATHEXT",
  "USERPROFILE",
  "TEMP",
  "TMP",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "GRAPHRAG_API_KEY",
  "TIKTOKEN_CACHE_DIR",
  "UV_CACHE_DIR",
  "NLTK_DATA",
];

export interface Runner {
  /** Runs the program in the folder; stdout and stderr as the process gave them, secrets still in them. */
  readonly run: (argv: readonly string[], input: string, signal: AbortSignal) => Promise<ProcessEnd>;
  /** Takes secrets (of the environment and of the folder's `.env`) out of text. */
  readonly redact: (text: string) => string;
}

const MOST_OUTPUT = 16 * 1024 * 1024;

export async function graphragRunner(dir: string, env: Env, also: readonly string[], sleep: Sleep): Promise<Runner> {
  const settings = await settingsOf(dir);
  const own = await dotEnv(dir);
  const names = new Set([...PASSED_ON, ...variablesOf(settings?.text ?? ""), ...also]);
  const passed: Record<string, string> = {
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
  for (const name of names) {
    const value = env[name];
    if (value !== undefined) passed[name] = value;
  }
  return {
    run: ([file = "", ...args], input, signal) =>
      runProcess({ file, args, cwd: dir, env: passed, input, maxOutput: MOST_OUTPUT }, sleep, signal),
    redact: redactor({ ...own, ...env }, also),
  };
}

/**
 * The generation: as the person says, else by the package's version, else by the program's help (which takes it some seconds). Throws
 * `UnusableConfiguration` if nothing tells.
 */
export async function detectGeneration(
  program: GraphragProgram,
  cli: Generation | "auto",
  runner: Runner,
  signal: AbortSignal,
): Promise<Generation> {
  if (cli !== "auto") return cli;
  const known = program.version === null ? null : generationOf(program.version);
  if (known !== null) return known;
  const tries: (readonly string[] | null)[] = [
    start(program, "positional", "query"),
    // Releases before 0.4 have no other entry.
    start(program, "underscore", "query"),
  ];
  let said = "";
  for (const [index, first] of tries.entries()) {
    if (first === null) continue;
    const end = await runner.run([...first, ...(index === 0 ? ["query"] : []), "--help"], "", signal);
    if (end.type === "not-started") {
      said = end.message;
      continue;
    }
    const found = generationFromHelp(end.stdout.toString("utf8"), end.type === "exited" && end.exitCode === 0);
    if (found !== null) return found;
    said = end.stderr;
  }
  const why = runner.redact(said).trim().split("\n").at(-1)?.slice(0, 300) ?? "";
  throw new UnusableConfiguration(
    `graphrag: its version could not be found out${why === "" ? "" : ` (${why})`}: say which command line it has with \`cli:\` (underscore up to 0.3, query up to 2.x, positional from 3.0)`,
  );
}
