/** What a program printed, turned into an answer's text by the declared form of its output. Pure. */
import { rankedResponse } from "./ranked.js";

export interface CommandOutput {
  readonly response: string;
  /** Why it is no answer, as the rest of a sentence that begins with the program's name. */
  readonly error?: string;
  readonly details: Record<string, unknown>;
}

/**
 * `auto`, `text`: the output as it is. `json`: the same, but it must be one JSON value or one per line. `lines`: one path per line becomes
 * the JSON that other backends answer with, so that a path with blanks can't be read as prose. Silence is a failure unless
 * `emptyIsAnswer`: programs that lost their index or their key are silent, too.
 */
export function readOutput(stdout: Uint8Array, form: "auto" | "json" | "lines" | "text", emptyIsAnswer: boolean): CommandOutput {
  const text = new TextDecoder("utf-8", { ignoreBOM: false }).decode(stdout);
  // Bytes that are no UTF-8 become U+FFFD; said beside the answer, since it can make a path unreadable.
  const details: Record<string, unknown> = isUtf8(stdout) ? {} : { invalid_utf8: true };
  if (text.trim() === "") {
    return emptyIsAnswer
      ? { response: rankedResponse([]), details: { ...details, empty_output: true } }
      : { response: text, error: "printed nothing (if that means `nothing found`, set empty_is_answer: true)", details };
  }
  switch (form) {
    case "auto":
    case "text":
      return { response: text, details };
    case "json":
      return isJson(text) || lines(text).every(isJson)
        ? { response: text, details }
        : { response: text, error: "printed something that is not JSON", details };
    case "lines":
      return { response: rankedResponse(lines(text).map((path) => ({ path }))), details };
  }
}

function lines(text: string): string[] {
  return text
    .split(/\r?\n|\r/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
