/**
 * One pasted answer: where it ends, and the words with which a person says something else instead.
 *
 * An answer ends at the end token on a line of its own, at an empty line that nothing follows for a moment (empty lines inside a paste are
 * followed at once), or at the end of the input.
 */
import type { LineReader } from "./line-reader.js";

export type Given =
  | { readonly type: "answer"; readonly text: string /** STOP, or the end of the input, came with it. */; readonly last: boolean }
  | { readonly type: "skip" | "back" | "stop" | "end" | "aborted" };

export interface AnswerRules {
  readonly endToken: string;
  readonly pauseMilliseconds: number;
  /** Called when an empty line came before anything was typed; the second one in a row is an empty answer. On a pipe the first is. */
  readonly doubt: (() => void) | null;
}

export async function readGiven(reader: LineReader, rules: AnswerRules, signal: AbortSignal): Promise<Given> {
  const lines: string[] = [];
  const text = () => lines.join("\n").trim();
  let doubted = rules.doubt === null;
  for (;;) {
    const line = await reader.next(signal);
    if (line === null) {
      if (signal.aborted) return { type: "aborted" };
      return text() === "" ? { type: "end" } : { type: "answer", text: text(), last: true };
    }
    const word = line.trim();
    if (word === rules.endToken) return { type: "answer", text: text(), last: false };
    const command = word.toUpperCase();
    if (command === "STOP") return text() === "" ? { type: "stop" } : { type: "answer", text: text(), last: true };
    // Only as the first word: later they are part of what was pasted.
    if (command === "SKIP" && text() === "") return { type: "skip" };
    if (command === "BACK" && text() === "") return { type: "back" };
    if (word !== "") {
      lines.push(line);
      continue;
    }
    const more = await reader.readyWithin(rules.pauseMilliseconds);
    // The end of the input is no company: the answer was complete.
    if (more && !reader.ended()) {
      lines.push("");
      continue;
    }
    if (text() !== "") return { type: "answer", text: text(), last: false };
    if (doubted) return reader.ended() ? { type: "end" } : { type: "answer", text: "", last: false };
    doubted = true;
    rules.doubt?.();
  }
}
