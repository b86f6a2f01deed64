/** What a program printed, turned into an answer's text by the declared form of its output. Pure. */
import { usageIn } from "./command-reply.js";
import type { RawAnswer } from "./contract.js";
import { rankedResponse } from "./ranked.js";

export interface CommandOutput {
  readonly response: string;
  /** Why it is no answer, as the rest of a sentence that begins with the program's name. */
  readonly error?: string;
  readonly details: Record<string, unknown>;
  /** What it cost, as it says itself. */
  readonly usage?: NonNullable<RawAnswer["usage"]>;
}

/**
 * `auto`, `text`: the output as it is. `json`: the same, but it must be one JSON value or one per line. `lines`: one path per line becomes
 * the JSON that other backends answer with, so that a path with blanks can't be read as prose. Silence is a failure unless
 * `emptyIsAnswer`: programs that lost their index or their key are silent, too. So are `lines` of which none is a path (`isFile`: of the source
 * tree, or looking like one): an error message that a program prints to the wrong place must not read as "nothing found".
 */
export function readOutput(
  stdout: Uint8Array,
  form: "auto" | "json" | "lines" | "text",
  emptyIsAnswer: boolean,
  isFile: (path: string) => boolean = () => false,
): CommandOutput {
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
      return withUsage({ response: text, details });
    case "json":
      return isJson(text) || lines(text).every(isJson)
        ? withUsage({ response: text, details })
        : { response: text, error: "printed something that is not JSON", details };
    case "lines":
      if (!lines(text).some((line) => isFile(line) || looksLikePath(line))) {
        const first = lines(text)[0] ?? "";
        return {
          response: text,
          error: `printed lines of which none is a path, the first: ${first.slice(0, SHOWN_LINE)}`,
          details,
        };
      }
      return { response: rankedResponse(lines(text).map((path) => ({ path }))), details };
  }
}

const SHOWN_LINE = 200;

/** `src/a`, `a.py`; no sentence, which has blanks and no extension at its end, or a colon that a drive letter does not explain. */
function looksLikePath(line: string): boolean {
  if (/^[^/\\]{2,}:\s/.test(line)) return false;
  return /\.[A-Za-z0-9_+-]{1,15}$/.test(line) || (/[/\\]/.test(line) && !/\s/.test(line));
}

/** Where the whole output is one JSON object that says what it cost. */
function withUsage(output: CommandOutput): CommandOutput {
  if (!/"usage"/.test(output.response)) return output;
  try {
    const usage = usageIn(JSON.parse(output.response));
    return usage === undefined || usage === null ? output : { ...output, usage };
  } catch {
    return output;
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
