/**
 * Closing words: `close(s|d)`, `fix(es|ed)`, `resolve(s|d)`, an optional colon, blanks, and a reference (`#N`, `GH-N`,
 * `owner/repo#N`, or the address of an issue). What stands between word and reference breaks the tie: `fix for #12` closes
 * nothing, and in `fixes #1, #2` only the first number is closed, as on the platform.
 */
export interface ClosingReference {
  /** `owner/repo`, lower case. */
  readonly repository: string;
  readonly number: number;
  /** The words as written, for the evidence. */
  readonly words: string;
}

const NAMES = "[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}";

/**
 * All closing references of `text` in order. A bare number means `repository` (the one that the text lives in);
 * `webHost` is the server whose addresses count.
 */
export function closingReferences(text: string, repository: string, webHost: string): ClosingReference[] {
  const host = webHost.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}_-])(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?::[ \\t]{0,8}|[ \\t]{1,8}|[ \\t]{0,8}\\n[ \\t]{0,8})` +
      `(?:(?:https?://(?:www\\.)?${host}/(${NAMES})/(?:issues|pull)/([0-9]{1,10}))|(?:(${NAMES})?#([0-9]{1,10}))|(?:gh-([0-9]{1,10})))(?![\\p{L}\\p{N}_])`,
    "giu",
  );
  const found: ClosingReference[] = [];
  for (const match of text.matchAll(pattern)) {
    const number = Number(match[3] ?? match[5] ?? match[6]);
    if (!Number.isSafeInteger(number) || number < 1) continue;
    found.push({
      repository: (match[2] ?? match[4] ?? repository).toLowerCase(),
      number,
      words: match[0].replace(/\s+/g, " "),
    });
  }
  return found;
}
