/**
 * Starting `npm` and `git`: an argument array (never a shell), an environment made for the child (never ours as it is), bounded output.
 * execa is loaded on the first start, because loading it takes longer than a run that finds everything in the cache.
 */
export interface ChildOptions {
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  /** Bytes of stdout kept; more is a failure. */
  readonly maxOutput?: number;
}

export interface ChildResult {
  readonly ok: boolean;
  /** Why it is not `ok`; `exit`: it ran and said so itself. */
  readonly failure: "exit" | "not-found" | "timed-out" | "cancelled" | "too-much-output" | null;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

export async function runChild(command: string, args: readonly string[], options: ChildOptions): Promise<ChildResult> {
  const { execa } = await import("execa");
  const result = await execa(command, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.input === undefined ? { stdin: "ignore" as const } : { input: options.input }),
    env: { ...options.env },
    extendEnv: false,
    encoding: "buffer",
    stripFinalNewline: false,
    reject: false,
    timeout: options.timeoutSeconds * 1000,
    cancelSignal: options.signal,
    forceKillAfterDelay: 2000,
    maxBuffer: options.maxOutput ?? 256 * 1024 * 1024,
    windowsHide: true,
  });
  return {
    ok: !result.failed,
    failure: failureOf(result),
    stdout: result.stdout ?? new Uint8Array(),
    stderr: new TextDecoder().decode(result.stderr ?? new Uint8Array()).slice(-20_000),
  };
}

function failureOf(result: {
  failed: boolean;
  code?: string | undefined;
  timedOut: boolean;
  isCanceled: boolean;
  isMaxBuffer: boolean;
}): ChildResult["failure"] {
  if (!result.failed) return null;
  if (result.isCanceled) return "cancelled";
  if (result.timedOut) return "timed-out";
  if (result.isMaxBuffer) return "too-much-output";
  // EACCES: a file of that name that can't be run, which for a person is the same as none.
  if (result.code === "ENOENT" || result.code === "EACCES") return "not-found";
  return "exit";
}

/** What any program needs to start, find its temporary folder and reach the network through a proxy. */
const BASIC = new Set([
  "PATH",
  "SYSTEMROOT",
  "WINDIR",
  "COMSPEC",
  "PATHEXT",
  "TMPDIR",
  "TEMP",
  "TMP",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
]);

/** The members of `env` that are basic or that `also` accepts (it gets the name in upper case), with their own spelling. */
export function childEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  also: (upperCaseName: string) => boolean,
): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const upper = name.toUpperCase();
    if (value !== undefined && (BASIC.has(upper) || also(upper))) chosen[name] = value;
  }
  return chosen;
}
