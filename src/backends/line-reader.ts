/**
 * Lines of a terminal or a pipe, one after the other, with the one thing that plain reading can't tell: whether another line is there
 * already. A pasted text arrives in one burst, so an empty line inside it has company, and one that a person typed has none.
 */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Terminal } from "./contract.js";

export interface LineReader {
  /** The next line; null at the end of the input, or when the signal aborts. */
  next(signal?: AbortSignal): Promise<string | null>;
  /** A line, or the end of the input, is there already. */
  ready(): boolean;
  /** Resolves to true as soon as `ready`, to false after so many milliseconds without. */
  readyWithin(milliseconds: number): Promise<boolean>;
  /** Nothing more will come. */
  ended(): boolean;
  close(): void;
}

export function lineReader(
  terminal: Terminal,
  sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>,
  interrupt: () => void,
): LineReader {
  const lines: string[] = [];
  let over = false;
  let wake: (() => void) | undefined;
  const rouse = () => {
    wake?.();
    wake = undefined;
  };
  const arrival = () =>
    new Promise<void>((resolve) => {
      const before = wake;
      wake = () => {
        before?.();
        resolve();
      };
    });
  const echo = new Writable({
    write: (chunk, _encoding, done) => {
      terminal.output(String(chunk));
      done();
    },
  });
  // On a terminal readline reads key by key: the system's own line editing cuts lines at 4,096 characters, and pasted JSON is one line.
  const reading = createInterface({
    input: terminal.input,
    crlfDelay: Number.POSITIVE_INFINITY,
    historySize: 0,
    ...(terminal.isTTY ? { output: echo, terminal: true, prompt: "" } : { terminal: false }),
  });
  reading.on("line", (line) => {
    lines.push(line);
    rouse();
  });
  reading.once("close", () => {
    over = true;
    rouse();
  });
  reading.on("SIGINT", interrupt);
  const ready = () => lines.length > 0 || over;
  return {
    next: async (signal) => {
      while (!ready()) {
        if (signal?.aborted) return null;
        const aborted = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
        await Promise.race([arrival(), aborted]);
      }
      return signal?.aborted ? null : (lines.shift() ?? null);
    },
    ready,
    readyWithin: async (milliseconds) => {
      if (ready()) return true;
      const timer = new AbortController();
      await Promise.race([arrival(), sleep(milliseconds, timer.signal).catch(() => {})]);
      timer.abort();
      return ready();
    },
    ended: () => over && lines.length === 0,
    close: () => reading.close(),
  };
}
