/**
 * Which paths a tree may hold, and what was left out of it.
 *
 * Names in archives and repositories are hostile input: a tree is later written to disk for backends, so a path that leads out
 * of its root, hides a `.git` folder (whose configuration runs programs) or means something else on another system never gets in.
 */
import { visible } from "../base/diagnostics.js";
import { err, ok, type Result } from "../base/result.js";

/** Longest path accepted, in UTF-16 code units: beyond it no common file system can hold the copy. */
const MAX_PATH = 4096;

/**
 * The path in the form of a tree (`/` separated, no `.` or empty segments), or why it can't be in one. Letter case and Unicode form stay
 * as the source gave them: data sets name files by exactly these code units.
 */
export function treePath(raw: string): Result<string, string> {
  if (raw.length > MAX_PATH) return err("the path is too long");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(raw)) return err("the path has control characters");
  if (raw.includes("\\")) return err("the path has a backslash, which is a separator on some systems");
  if (raw.includes("\ufffd")) return err("the path is not UTF-8");
  const segments = raw.split("/").filter((segment) => segment !== "" && segment !== ".");
  // Looked for after `./` is gone: what is left of `./C:/x` names a drive.
  if (raw.startsWith("/") || /^[A-Za-z]:/.test(segments[0] ?? "")) return err("the path is absolute");
  if (segments.length === 0) return err("the path is empty");
  if (segments.includes("..")) return err("the path leads out of its folder");
  if (segments.some(isGitFolder)) return err("it lies in a .git folder");
  return ok(segments.join("/"));
}

/** `.git` in every spelling that some file system takes for it: other letter case, trailing dots or blanks, ignored characters, NTFS's short name. */
function isGitFolder(segment: string): boolean {
  const folded = segment.replace(/[\u200c-\u200f\u202a-\u202e\u2060\u206a-\u206f\ufeff]/g, "").toLowerCase();
  const trimmed = folded.replace(/[. ]{1,64}$/, "");
  return trimmed === ".git" || trimmed === "git~1" || trimmed.startsWith(".git:");
}

/** Two paths with the same key are one file on systems that ignore letter case or Unicode form. */
export function collisionKey(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/** A sentence where paths of a tree are one file on such systems; none where all differ. */
export function collisionNotes(paths: readonly string[]): string[] {
  const byKey = new Map<string, string[]>();
  for (const path of paths) {
    const key = collisionKey(path);
    byKey.set(key, [...(byKey.get(key) ?? []), path]);
  }
  const alike = [...byKey.values()].filter((group) => group.length > 1).flat();
  if (alike.length === 0) return [];
  return [
    `${alike.length} files have names that differ only in letter case or Unicode form (${firstPaths(alike)}): a system under test that needs a folder can't be given one on a file system that takes them for the same`,
  ];
}

export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const NAMES_SHOWN = 5;

/** Collects what is left out of a tree, by reason; the notes name the first few of each and count the rest. */
export class LeftOut {
  readonly #byReason = new Map<string, string[]>();

  add(reason: string, path: string): void {
    const paths = this.#byReason.get(reason);
    if (paths === undefined) this.#byReason.set(reason, [path]);
    else paths.push(path);
  }

  /** Sentences in a fixed order, whatever the order of discovery. */
  notes(): string[] {
    return [...this.#byReason]
      .sort(([a], [b]) => byCodeUnits(a, b))
      .map(([reason, paths]) => {
        return `${paths.length} left out (${reason}): ${firstPaths(paths)}`;
      });
  }
}

/** The first few in order of name, and how many more there are. */
export function firstPaths(paths: readonly string[]): string {
  const shown = [...paths].sort(byCodeUnits).slice(0, NAMES_SHOWN).map(shownPath);
  const rest = paths.length - shown.length;
  return `${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** For messages: control characters made visible, very long names cut. */
export function shownPath(path: string): string {
  const text = visible(path);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
