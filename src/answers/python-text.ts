/**
 * The few text functions of Python whose JavaScript namesakes answer differently, for the `seed` rules alone: the original
 * program's counts depend on what *its* language calls white space, a line, a letter and an order.
 *
 * Both languages follow Unicode, so that letters of a younger Unicode version than the original ran on may be told apart
 * differently; nothing else is known to differ.
 */

/** `str.isspace`: unlike JavaScript's `\s` it has U+001C to U+001F and U+0085, and lacks U+FEFF. For character classes. */
export const PYTHON_SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const SPACE = new RegExp(`[${PYTHON_SPACE}]`);
// biome-ignore lint/suspicious/noControlCharactersInRegex: Python breaks lines at some of them
const LINE_BREAK = /\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]/;
const SPACES = new RegExp(`[${PYTHON_SPACE}]+`);
const WORD = /^[\p{L}\p{N}_]$/u;

/** `str.strip()`, and with characters `str.strip(characters)`. */
export function strip(text: string, characters?: string): string {
  // Nothing to take off: the common case, told by the two ends.
  const [first, last] = [text.charCodeAt(0), text.charCodeAt(text.length - 1)];
  if (characters === undefined && first > 32 && first < 128 && last > 32 && last < 128) return text;
  const drop = characters === undefined ? (unit: string) => SPACE.test(unit) : (unit: string) => characters.includes(unit);
  let start = 0;
  let end = text.length;
  while (start < end && drop(text.charAt(start))) start++;
  while (end > start && drop(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** `str.splitlines()`, but for empty lines at the end. */
export function splitLines(text: string): string[] {
  return text.split(LINE_BREAK);
}

/** `str.split()[-1]`, or undefined where there is no word (Python then raises an IndexError). */
export function lastWord(text: string): string | undefined {
  return strip(text).split(SPACES).at(-1) || undefined;
}

/** Whether a `\w` of Python's `re` stands before, and after, position `at` (in UTF-16 units): a `\b` is where they differ. */
export function wordBefore(text: string, at: number): boolean {
  const unit = text.charCodeAt(at - 1);
  if (unit < 128 || Number.isNaN(unit)) return isAsciiWord(unit);
  const isTail = (unit & 0xfc00) === 0xdc00 && at > 1 && (text.charCodeAt(at - 2) & 0xfc00) === 0xd800;
  return WORD.test(text.slice(isTail ? at - 2 : at - 1, at));
}
export function wordAfter(text: string, at: number): boolean {
  const point = text.codePointAt(at);
  if (point === undefined || point < 128) return isAsciiWord(point ?? Number.NaN);
  return WORD.test(String.fromCodePoint(point));
}

function isAsciiWord(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
}

/** The order of Python's `sorted`: by code points, where JavaScript's is by UTF-16 units. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue;
    // After a common high surrogate the points themselves start one unit earlier, unless it stands alone in both.
    const start = i > 0 && (a.charCodeAt(i - 1) & 0xfc00) === 0xd800 ? i - 1 : i;
    return pointAt(a, start) - pointAt(b, start) || pointAt(a, i) - pointAt(b, i);
  }
  return a.length - b.length;
}

function pointAt(text: string, at: number): number {
  return text.codePointAt(at) ?? -1;
}
