/**
 * One child process in a process group of its own.
 *
 * A system under test is often a wrapper that starts other processes (`uv run`, a shell script). Those outlive a killed wrapper and keep
 * its output pipe open, so that waiting for the end of the output would hang. So: the child leads its own group; on a stop the whole
 * group gets TERM, then KILL; what the child leaves behind in its group when it ends is ended too; and a process that has left the
 * group but still holds the pipe is waited for only a moment.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { tellWatcher } from "./group-watcher.js";

export interface ProcessRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment; nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to stdin, which is then closed. */
  readonly input: string;
  /** Bytes of stdout after which the process is ended. */
  readonly maxOutput: number;
}

export type ProcessEnd =
  | { readonly type: "not-started"; readonly code: string; readonly message: string }
  | {
      /** `exited`: by itself. `stopped`: the signal aborted. `overflow`: more than `maxOutput` on stdout. */
      readonly type: "exited" | "stopped" | "overflow";
      readonly exitCode: number | null;
      readonly signal: string | null;
      /** At most `maxOutput` bytes. */
      readonly stdout: Buffer;
      /** The last bytes of stderr, as text. */
      readonly stderr: string;
    };

export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** From TERM to KILL. */
const GRACE_MS = 2000;
/** After KILL, until what holds the pipes is no longer waited for. */
const LAST_WAIT_MS = 1000;
const STDERR_KEPT = 16 * 1024;

export async function runProcess(request: ProcessRequest, sleep: Sleep, signal: AbortSignal): Promise<ProcessEnd> {
  if (signal.aborted) {
    return { type: "stopped", exitCode: null, signal: null, stdout: Buffer.alloc(0), stderr: "" };
  }
  let child: ChildProcess;
  try {
    child = spawn(request.file, request.args, {
      cwd: request.cwd,
      env: request.env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
  } catch (error) {
    return notStarted(error);
  }
  // Errors come as an event on some platforms and systems (ENOENT) and are thrown on others (an argument with a NUL).
  const startError = await new Promise<unknown>((resolve) => {
    child.once("spawn", () => resolve(undefined));
    child.once("error", (error) => resolve(error));
  });
  const { pid, stdin, stdout, stderr } = child;
  if (startError !== undefined || pid === undefined || stdin === null || stdout === null || stderr === null) {
    return notStarted(startError);
  }
  watchGroup(pid);
  child.on("error", () => {});

  const chunks: Buffer[] = [];
  let received = 0;
  let tail = Buffer.alloc(0);
  const overflow = deferred<"overflow">();
  stdout.on("data", (chunk: Buffer) => {
    if (received < request.maxOutput) chunks.push(chunk.subarray(0, request.maxOutput - received));
    received += chunk.length;
    if (received > request.maxOutput) overflow.resolve("overflow");
  });
  stderr.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-STDERR_KEPT);
  });
  // A child that ends without reading its input closes the pipe: that is its right.
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => {});
  stdin.end(request.input);

  const exited = new Promise<"exited">((resolve) => child.once("exit", () => resolve("exited")));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stopped = deferred<"stopped">();
  const onAbort = () => stopped.resolve("stopped");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();

  const type = await Promise.race([exited, overflow.promise, stopped.promise]);
  signal.removeEventListener("abort", onAbort);
  await endGroup(pid, closed, sleep);
  for (const stream of [stdin, stdout, stderr]) stream.destroy();
  return {
    // The limit also holds for output that was still in the pipe when the process ended.
    type: type === "exited" && received > request.maxOutput ? "overflow" : type,
    exitCode: child.exitCode,
    signal: child.signalCode,
    stdout: Buffer.concat(chunks),
    stderr: tail.toString("utf8"),
  };
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function notStarted(error: unknown): ProcessEnd {
  const { code = "UNKNOWN", message = String(error) } = (error ?? {}) as { code?: string; message?: string };
  return { type: "not-started", code, message };
}

/** Until `promise` settles, but no longer than so many milliseconds. */
async function within(promise: Promise<void>, milliseconds: number, sleep: Sleep): Promise<void> {
  const timer = new AbortController();
  await Promise.race([promise, sleep(milliseconds, timer.signal).catch(() => {})]);
  timer.abort();
}

/** A group that is ended when this process exits; for children that live longer than one question. */
export function watchGroup(pid: number): void {
  liveGroups.add(pid);
  tellWatcher("+", pid);
  endGroupsAtExit();
}

/** TERM, and KILL after a moment, to everything in the group. `closed`: when its pipes are closed. */
export async function endGroup(pid: number, closed: Promise<void>, sleep: Sleep): Promise<void> {
  signalGroup(pid, "SIGTERM");
  await within(closed, GRACE_MS, sleep);
  // Always, since a member of the group may have closed its output and ignored TERM.
  signalGroup(pid, "SIGKILL");
  await within(closed, LAST_WAIT_MS, sleep);
  liveGroups.delete(pid);
  tellWatcher("-", pid);
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: nobody is left in the group.
  }
}

/** A group of its own also means that nothing ends it when this process exits, unless we do. */
const liveGroups = new Set<number>();
let atExit = false;
function endGroupsAtExit(): void {
  if (atExit) return;
  atExit = true;
  process.once("exit", () => {
    for (const pid of liveGroups) signalGroup(pid, "SIGKILL");
  });
}
