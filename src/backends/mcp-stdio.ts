/**
 * A Model Context Protocol server as a child process: messages are JSON, one per line.
 *
 * Not the SDK's own transport, for two reasons: servers are started through wrappers (`npx`, `uvx`, a shell), so the whole process group
 * must end with us; and some print greetings to stdout, which are passed over here and would end the SDK's reading.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { LineSplitter } from "./line-splitter.js";
import { endGroup, type Sleep, watchGroup } from "./process.js";
import { notStarted, SHORT_OF_RESOURCES } from "./tool-process.js";

/** `passing`: the machine was short of something, and another attempt may succeed. */
export class ServerNotStarted extends Error {
  readonly passing: boolean;
  constructor(message: string, passing: boolean) {
    super(message);
    this.passing = passing;
  }
}

const MAX_LINE_BYTES = 64 * 1024 * 1024;
const STDERR_KEPT = 4096;

export interface StdioServer {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #server: StdioServer;
  readonly #sleep: Sleep;
  /** Loaded at the start: the SDK's schemas are many, and most runs speak with no such server. */
  #schema: typeof import("@modelcontextprotocol/sdk/types.js").JSONRPCMessageSchema | undefined;
  #child: ChildProcess | undefined;
  #closed: Promise<void> = Promise.resolve();
  #errorOutput = "";

  constructor(server: StdioServer, sleep: Sleep) {
    this.#server = server;
    this.#sleep = sleep;
  }

  /** The end of what the server wrote to its error output. */
  get errorOutput(): string {
    return this.#errorOutput;
  }

  async start(): Promise<void> {
    const { file, args, cwd, env } = this.#server;
    this.#schema = (await import("@modelcontextprotocol/sdk/types.js")).JSONRPCMessageSchema;
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      child.once("spawn", () => resolve(undefined));
      child.once("error", resolve);
    });
    if (failure !== undefined || child.pid === undefined) {
      const code = failure?.code ?? "UNKNOWN";
      throw new ServerNotStarted(notStarted(code, failure?.message ?? "no process", file), SHORT_OF_RESOURCES.has(code));
    }
    watchGroup(child.pid);
    child.on("error", (error) => this.onerror?.(error));
    this.#child = child;
    this.#closed = new Promise((resolve) => {
      child.once("close", () => {
        resolve();
        this.onclose?.();
      });
    });
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {});
    const lines = new LineSplitter(
      MAX_LINE_BYTES,
      (line) => this.#line(line),
      () => {
        this.onerror?.(new Error(`the server sent a message of more than ${MAX_LINE_BYTES} bytes`));
        void this.close();
      },
    );
    child.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      this.#errorOutput = (this.#errorOutput + chunk.toString("utf8")).slice(-STDERR_KEPT);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || stdin === null || !stdin.writable) throw new Error("the server has closed its input");
    await new Promise<void>((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error === null || error === undefined ? resolve() : reject(error)));
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined) return;
    child.stdin?.end();
    await endGroup(child.pid, this.#closed, this.#sleep);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }

  #line(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // A greeting or a log line: not for us.
      return;
    }
    const message = this.#schema?.safeParse(value);
    if (message?.success) this.onmessage?.(message.data);
  }
}
