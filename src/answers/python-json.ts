/**
 * `json.loads` of Python, for the `seed` rules alone. It takes what `JSON.parse` takes and, beyond it, `NaN`, `Infinity` and
 * `-Infinity`; of a member named twice both keep the last.
 *
 * Two limits of Python are left out because they depend on its version: it gives up on nesting about a thousand deep, and (from
 * 3.10.7 on) on whole numbers of more than 4,300 digits. The original program counts such an answer as a failed call.
 */
import { err, ok, type Result } from "../base/result.js";

/** The constants come as null: nothing that reads the value can tell the difference, as neither is text, list or object. */
export function parsePythonJson(text: string): Result<unknown, "not JSON"> {
  const parsed = tryJson(text);
  if (parsed.ok || !/NaN|Infinity/.test(text)) return parsed;
  return tryJson(withoutConstants(text));
}

function tryJson(text: string): Result<unknown, "not JSON"> {
  try {
    return ok(JSON.parse(text));
  } catch {
    return err("not JSON");
  }
}

/** Replaces the constants outside of strings. Each is a whole token for Python too, so what it touches stays just as wrong. */
function withoutConstants(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  let at = 0;
  while (at < text.length) {
    if (text.startsWith('"', at)) {
      at = endOfString(text, at);
      continue;
    }
    const constant = ["NaN", "Infinity", "-Infinity"].find((name) => text.startsWith(name, at));
    if (constant === undefined) {
      at++;
      continue;
    }
    parts.push(text.slice(copied, at), "null");
    at += constant.length;
    copied = at;
  }
  parts.push(text.slice(copied));
  return parts.join("");
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}
