/**
 * A program that is started once and asked many times: a line of JSON in, a line of JSON out (`protocol: json-lines`).
 *
 * For tools that take seconds to load a model or an index. Each process answers one question at a time; as many as may be asked at once are
 * kept. One that was interrupted is in nobody knows which state, so it is ended and the next question starts another.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readReply } from "./command-reply.js";
import type { Question, RawAnswer } from "./contract.js";
import { LineSplitter } from "./line-splitter.js";
import { endGroup, type Sleep, watchGroup } from "./process.js";
import { lastLines, NOT_THERE, notStarted, SHORT_OF_RESOURCES } from "./tool-process.js";

export interface SessionProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Bytes of one line beyond which the program is ended. */
  readonly maxLine: number;
}

const STDERR_KEPT = 16 * 1024;
const SHOWN_STDERR = 2000;

export class Sessions {
  readonly #program: SessionProgram;
  readonly #sleep: Sleep;
  readonly #redact: (text: string) => string;
  readonly #idle: Session[] = [];
  readonly #all = new Set<Session>();

  constructor(program: SessionProgram, sleep: Sleep, redact: (text: string) => string) {
    this.#program = program;
    this.#sleep = sleep;
    this.#redact = redact;
  }

  /** `line`: the question as JSON, without a line break. */
  async ask(question: Pick<Question, "id" | "repeat">, line: string, signal: AbortSignal): Promise<RawAnswer> {
    const { file } = this.#program;
    let session = this.#idle.pop();
    while (session?.over) session = this.#idle.pop();
    if (session === undefined) {
      session = new Session(this.#program, this.#sleep);
      const problem = await session.start();
      if (problem !== null) {
        const error = notStarted(problem.code, this.#redact(problem.message), file);
        const failed: RawAnswer = { status: "failed", response: "", error, details: {} };
        if (NOT_THERE.has(problem.code)) return { ...failed, ofAll: "fail", asked: false };
        return SHORT_OF_RESOURCES.has(problem.code) ? { ...failed, retry: {} } : failed;
      }
      this.#all.add(session);
    }
    const end = await session.ask(question, line, signal);
    if (end.type === "answer") {
      this.#idle.push(session);
      return this.#told(end.answer);
    }
    const stderr = this.#redact(session.stderr).slice(-SHOWN_STDERR);
    this.#all.delete(session);
    await session.end();
    const said = lastLines(stderr);
    const details = stderr.trim() === "" ? {} : { stderr };
    const other =
      end.passedOver.count === 0
        ? ""
        : `. It printed ${end.passedOver.count === 1 ? "a line that is" : `${end.passedOver.count} lines that are`} no answer to it: ${this.#redact(end.passedOver.first)}`;
    const failed = (error: string, status: "failed" | "timed_out" = "failed"): RawAnswer => ({
      status,
      response: "",
      error: `\`${file}\` ${error}${other}${said}`,
      details,
    });
    switch (end.type) {
      case "stopped": {
        const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
        return timedOut ? failed("gave no answer in time", "timed_out") : failed("was stopped before it answered");
      }
      case "overflow":
        return failed(`printed a line of more than ${this.#program.maxLine} bytes: raise max_output`);
      case "exited":
        return { ...failed(`ended (${session.how}) before it answered`), retry: {} };
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((session) => session.end()));
    this.#all.clear();
  }

  #told(answer: RawAnswer): RawAnswer {
    return answer.error === undefined || answer.error === null ? answer : { ...answer, error: this.#redact(answer.error) };
  }
}

type SessionEnd =
  | { readonly type: "answer"; readonly answer: RawAnswer }
  | {
      readonly type: "stopped" | "overflow" | "exited";
      /** What it printed in the meantime that was no answer. */
      readonly passedOver: { readonly count: number; readonly first: string };
    };

const SHOWN_LINE = 200;

class Session {
  readonly #program: SessionProgram;
  readonly #sleep: Sleep;
  #child: ChildProcess | undefined;
  #closed: Promise<void> = Promise.resolve();
  #onLine: (line: string) => void = () => {};
  #onEnd: (type: "overflow" | "exited") => void = () => {};
  stderr = "";
  over = false;
  /** How it ended. */
  how = "";

  constructor(program: SessionProgram, sleep: Sleep) {
    this.#program = program;
    this.#sleep = sleep;
  }

  async start(): Promise<{ readonly code: string; readonly message: string } | null> {
    const { file, args, cwd, env } = this.#program;
    let child: ChildProcess;
    try {
      child = spawn(file, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    } catch (error) {
      return { code: (error as NodeJS.ErrnoException).code ?? "UNKNOWN", message: String(error) };
    }
    const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      child.once("spawn", () => resolve(undefined));
      child.once("error", resolve);
    });
    if (failure !== undefined || child.pid === undefined)
      return { code: failure?.code ?? "UNKNOWN", message: failure?.message ?? "no process" };
    watchGroup(child.pid);
    this.#child = child;
    child.on("error", () => {});
    child.once("exit", (code, signal) => {
      this.how = signal ?? `exit code ${code}`;
    });
    this.#closed = new Promise((resolve) => {
      child.once("close", () => {
        this.over = true;
        resolve();
        this.#onEnd("exited");
      });
    });
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {});
    const lines = new LineSplitter(
      this.#program.maxLine,
      (line) => {
        if (line.trim() !== "") this.#onLine(line);
      },
      () => this.#onEnd("overflow"),
    );
    child.stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => {
      this.stderr = (this.stderr + chunk.toString("utf8")).slice(-STDERR_KEPT);
    });
    return null;
  }

  ask(question: Pick<Question, "id" | "repeat">, line: string, signal: AbortSignal): Promise<SessionEnd> {
    const passedOver = { count: 0, first: "" };
    return new Promise((resolve) => {
      const stop = () => finish({ type: "stopped", passedOver });
      const finish = (end: SessionEnd) => {
        signal.removeEventListener("abort", stop);
        this.#onLine = () => {};
        this.#onEnd = () => {};
        resolve(end);
      };
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#onEnd = (type) => finish({ type, passedOver });
      if (this.over) return this.#onEnd("exited");
      this.#onLine = (text) => {
        const answer = readReply(text, question);
        if (answer !== null) return finish({ type: "answer", answer });
        passedOver.count += 1;
        if (passedOver.count === 1) passedOver.first = text.slice(0, SHOWN_LINE);
      };
      this.#child?.stdin?.write(`${line}\n`);
    });
  }

  /** With the end of its input, which is the sign for programs that handle no signals, and the whole group. */
  async end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.over = true;
    if (child?.pid === undefined) return;
    child.stdin?.end();
    await endGroup(child.pid, this.#closed, this.#sleep);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }
}
