/**
 * What every backend that is a program shares: the environment that the program sees, its version, and words for its failures.
 *
 * A search tool is run once per question with arguments that a stranger wrote, so no shell reads them, it sees only the variables that it
 * needs, and whatever goes wrong becomes a failure with the end of its error output, never an answer.
 */
import { execFile } from "node:child_process";
import { visible } from "../base/diagnostics.js";
import { redactor } from "../base/env-secrets.js";
import { MissingTool, type RawAnswer } from "./contract.js";
import { type ProcessRequest, runProcess, type Sleep } from "./process.js";

/** Without them hardly any program starts; on other systems than POSIX they have other names. */
const PASSED_ON = ["PATH", "HOME", "LANG", "TMPDIR", "SystemRoot", "PATHEXT", "USERPROFILE", "TEMP", "TMP"];
/** Reasons for not starting that pass by themselves. */
export const SHORT_OF_RESOURCES: ReadonlySet<string> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM", "ETXTBSY"]);
/** Reasons for not starting that hold for every question: an argument that is too long (E2BIG) is one question's own. */
export const NOT_THERE: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "ENOEXEC"]);
const SHOWN_STDERR = 2000;
const MAX_OUTPUT = 64 * 1024 * 1024;
const VERSION_MS = 20_000;

export type Env = Readonly<Record<string, string | undefined>>;

/** The variables that a program gets: the few that hardly any does without, and those that are named. */
export function passedOn(env: Env, also: readonly string[]): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of [...PASSED_ON, ...also]) {
    const value = env[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

/** Why a program did not start, and what to do. */
export function notStarted(code: string, message: string, program: string): string {
  switch (code) {
    case "ENOENT":
      return `\`${program}\` was not found: install it, or give its path (./ is the pipeline file's folder)`;
    case "EACCES":
      return `\`${program}\` may not be run: make it executable (chmod +x), or name its interpreter first`;
    case "E2BIG":
      return `\`${program}\` was given arguments longer than the system allows: take the query from stdin or {query_file} instead of {query}`;
    case "ERR_INVALID_ARG_VALUE":
      return `\`${program}\` can't be given an argument with a NUL character: take the query from stdin or {query_file} instead of {query}`;
    default:
      return `\`${program}\` could not be started: ${message}`;
  }
}

/** `: last lines of the error output`, safe to print, or nothing. */
export function lastLines(errorOutput: string): string {
  const lines = errorOutput.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  const shown = visible(lines.slice(-3).join(" | ")).slice(-400);
  return shown === "" ? "" : `: ${shown}`;
}

export interface ToolRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What a tool printed, or why there is nothing to read. */
export type ToolEnd =
  | { readonly ok: true; readonly stdout: string; readonly stderr: string }
  | { readonly ok: false; readonly failure: RawAnswer };

/**
 * Runs a tool to its end. `explain` may put a failure that the tool is known for (by its error output) in better words, and say that
 * another attempt helps.
 */
export async function runTool(
  run: ToolRun,
  outside: { readonly env: Env; readonly sleep: Sleep },
  signal: AbortSignal,
  explain: (stderr: string) => { readonly message: string; readonly again?: boolean } | undefined = () => undefined,
): Promise<ToolEnd> {
  const request: ProcessRequest = { ...run, input: "", maxOutput: MAX_OUTPUT };
  const end = await runProcess(request, outside.sleep, signal);
  const redact = redactor(outside.env, Object.keys(run.env));
  if (end.type === "not-started") {
    const message = notStarted(end.code, redact(end.message), run.file);
    return failed("failed", message, {}, SHORT_OF_RESOURCES.has(end.code));
  }
  const stderr = redact(end.stderr).slice(-SHOWN_STDERR);
  const details: Record<string, unknown> = { exit_code: end.exitCode, signal: end.signal };
  if (stderr.trim() !== "") details.stderr = stderr;
  const said = lastLines(stderr);
  switch (end.type) {
    case "overflow":
      return failed("failed", `\`${run.file}\` printed more than ${MAX_OUTPUT} bytes`, details);
    case "stopped": {
      const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
      return timedOut
        ? failed("timed_out", `\`${run.file}\` was not done in time${said}`, details)
        : failed("failed", `\`${run.file}\` was stopped before it was done`, details);
    }
    case "exited": {
      if (end.signal !== null) return failed("failed", `\`${run.file}\` was ended by ${end.signal}${said}`, details, true);
      if (end.exitCode === 0) return { ok: true, stdout: new TextDecoder().decode(end.stdout), stderr };
      // Some tools put their complaint on stdout.
      const complaint = stderr.trim() === "" ? redact(new TextDecoder().decode(end.stdout)).slice(-SHOWN_STDERR) : stderr;
      const known = explain(complaint);
      if (known !== undefined) return failed("failed", known.message, details, known.again === true);
      return failed("failed", `\`${run.file}\` ended with exit code ${end.exitCode}${lastLines(complaint)}`, details);
    }
  }
}

function failed(status: "failed" | "timed_out", error: string, details: Record<string, unknown>, again = false): ToolEnd {
  return { ok: false, failure: { status, response: "", error, details, ...(again ? { retry: {} } : {}) } };
}

/** What `FILE --version` prints: its first number with a dot (`1.6.1`), else the first line; or why there is none. */
export async function toolVersion(
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly ok: true; readonly version: string } | { readonly ok: false; readonly message: string }> {
  return new Promise((resolve) => {
    execFile(
      file,
      ["--version"],
      { env, timeout: VERSION_MS, killSignal: "SIGKILL", maxBuffer: 64 * 1024, windowsHide: true },
      (error, stdout, stderr) => {
        if (error !== null) {
          const code = typeof error.code === "string" ? error.code : "";
          const message =
            error.killed === true
              ? `\`${file} --version\` did not answer within ${VERSION_MS / 1000} s`
              : code === ""
                ? `\`${file} --version\` failed${lastLines(stderr)}`
                : code === "ENOENT"
                  ? `\`${file}\` was not found`
                  : notStarted(code, error.message, file);
          resolve({ ok: false, message });
          return;
        }
        const first = stdout.trim().split(/\r?\n/)[0] ?? "";
        const version = /\d{1,9}(?:\.\d{1,9}){1,3}(?:[-+][0-9A-Za-z.-]{1,40})?/.exec(first)?.[0] ?? first.slice(0, 60);
        if (version === "") resolve({ ok: false, message: `\`${file} --version\` printed nothing` });
        else resolve({ ok: true, version });
      },
    );
  });
}

/** The version for the key: as configured, else asked for. Throws, in words for people, where the tool is not there. */
export async function versionForKey(
  options: { readonly bin: string; readonly version?: string | undefined },
  file: string,
  env: Readonly<Record<string, string>>,
  howToInstall: string,
): Promise<string> {
  if (options.version !== undefined) return options.version;
  const found = await toolVersion(file, env);
  if (found.ok) return found.version;
  throw new MissingTool(
    `${found.message}. ${howToInstall}, or set \`version:\` to use answers that were stored with that version`,
  );
}

/** The version as configured, else as the tool says; null where it does not. */
export async function knownVersion(
  declared: string | undefined,
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  if (declared !== undefined) return declared;
  const found = await toolVersion(file, env);
  return found.ok ? found.version : null;
}

/** Is the version known and at least this one? Parts that are no numbers count as 0. */
export function atLeast(version: string, wanted: readonly [number, number]): boolean {
  const [major = Number.NaN, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  if (Number.isNaN(major)) return false;
  return major > wanted[0] || (major === wanted[0] && minor >= wanted[1]);
}

export interface FittedQuery {
  readonly query: string;
  /** Bytes before the cut; absent where nothing was cut. */
  readonly cutFrom?: number;
}

/**
 * A question as one argument: control characters become blanks (NUL can't be an argument at all), runs of blanks one, and what is longer
 * than so many UTF-8 bytes is cut at a border of words.
 */
export function fitQuery(text: string, maxBytes: number): FittedQuery {
  const plain = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    .replace(/[\u0000-\u0020\u007f]+/g, " ")
    .trim();
  const bytes = Buffer.byteLength(plain);
  if (bytes <= maxBytes) return { query: plain };
  // A cut inside a character gives U+FFFD at the end, and a word that is longer than everything allowed is cut in itself.
  const cut = Buffer.from(plain)
    .subarray(0, maxBytes + 1)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
  const border = cut.lastIndexOf(" ");
  let query = border > 0 ? cut.slice(0, border) : cut;
  while (Buffer.byteLength(query) > maxBytes) query = query.slice(0, -1);
  // A slice may leave half of a surrogate pair.
  return { query: query.replace(/[\ud800-\udbff]$/, "").trimEnd(), cutFrom: bytes };
}
