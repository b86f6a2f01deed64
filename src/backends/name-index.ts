/**
 * Which files of a tree does a text name? Pure. Meant to be right where it speaks and silent elsewhere, since it is a baseline for "the
 * issue already says where": see `mentions` for what counts.
 */
import { comparePaths, type LineRange } from "./ranked.js";

/** How a file was named, most specific first. */
const MENTION_KINDS = ["path", "path-suffix", "qualified-name", "file-name", "class-name"] as const;
export type MentionKind = (typeof MENTION_KINDS)[number];

export interface Mention {
  readonly path: string;
  readonly kind: MentionKind;
  /** Offset in the text of the first place that names the file. */
  readonly at: number;
  /** The line that the text names with the file, as stack traces and compilers do (`Foo.java:12`); the first one. */
  readonly lines?: LineRange;
}

/** A bare name that more files than this bear (`index`, `__init__`) points at none of them. */
const MOST_NAMESAKES = 5;
const SHORTEST_NAME = 3;

const TOKEN = /[\p{L}\p{M}\p{N}_$./\\-]+/gu;
/** Two humps, an underscore, or letters with digits: not how a word of prose is written. */
const CODE_LIKE = /[\p{Ll}\p{N}]\p{Lu}|\p{Lu}{2}\p{Ll}|_|\p{L}\p{N}/u;

interface NamedFile {
  readonly path: string;
  /** Folders, outermost first. */
  readonly folders: readonly string[];
}

export class NameIndex {
  readonly #byFileName = new Map<string, NamedFile[]>();
  readonly #byStem = new Map<string, NamedFile[]>();

  constructor(paths: Iterable<string>) {
    for (const path of paths) {
      const folders = path.split("/");
      const name = folders.pop() ?? path;
      const file = { path, folders };
      const dot = name.lastIndexOf(".");
      append(this.#byFileName, name, file);
      append(this.#byStem, dot > 0 ? name.slice(0, dot) : name, file);
    }
  }

  /**
   * Files that `text` names, in the order of their first mention (at one place: the more specific kind, then path order). Letter
   * case must be exact and a name must stand as a whole word. A file is named by
   * - its full path (also after an absolute prefix), or a suffix of it on a `/` border;
   * - its qualified name: all of the folders that the text writes before the class (`org.x.Foo`, `org/x/Foo`, `Foo$Inner`) must be the
   *   file's last ones, so that `java.util.Foo` is not our `Foo`;
   * - its file name with extension;
   * - its class name (file name without extension) alone, if that looks like code (`PluginManager`, `xml_parser`, `utf8`), or
   *   the text marks it as code (back-ticks, or `.member`, `(`, `#`, `::` after it): `Config` alone may be plain English.
   */
  mentions(text: string): Mention[] {
    const found = new Map<string, Mention>();
    const seen = new Set<string>();
    for (const match of text.matchAll(TOKEN)) {
      const [raw] = match;
      const marked = isMarked(text, match.index, match.index + raw.length);
      // The same token again names the same files, only later.
      const line = lineAfter(text, match.index + raw.length);
      const token = `${marked}${raw}${line === null ? "" : ":"}`;
      if (seen.has(token)) continue;
      seen.add(token);
      for (const { path, kind } of this.#namedBy(raw, marked)) {
        const known = found.get(path) ?? { path, kind, at: match.index };
        found.set(path, line === null || known.lines !== undefined ? known : { ...known, lines: [line, line] });
      }
    }
    const rank = (kind: MentionKind) => MENTION_KINDS.indexOf(kind);
    return [...found.values()].sort((a, b) => a.at - b.at || rank(a.kind) - rank(b.kind) || comparePaths(a.path, b.path));
  }

  #namedBy(raw: string, marked: boolean): { path: string; kind: MentionKind }[] {
    const segments = raw
      .replaceAll("\\", "/")
      .split("/")
      .filter((segment) => segment !== "" && segment !== ".");
    const last = withoutTrailingDots(segments.pop() ?? "");
    if (last === "") return [];
    const sameName = this.#byFileName.get(last);
    if (sameName !== undefined) {
      const spelt = [...segments, last].join("/");
      if (segments.length > 0) {
        const whole = sameName.filter(({ path }) => spelt === path || spelt.endsWith(`/${path}`));
        if (whole.length > 0) return whole.map(({ path }) => ({ path, kind: "path" }));
        const suffix = sameName.filter(({ path }) => path.endsWith(`/${spelt}`));
        if (suffix.length > 0) return suffix.map(({ path }) => ({ path, kind: "path-suffix" }));
      }
      // A folder that is not there (the file has moved): the file's name was given all the same.
      if (last.includes(".") || marked || CODE_LIKE.test(last)) {
        return unlessCommon(sameName).map(({ path }) => ({ path, kind: "file-name" }));
      }
    }
    return this.#namedByDots([...segments, ...last.split(".")], marked);
  }

  #namedByDots(parts: readonly string[], marked: boolean): { path: string; kind: MentionKind }[] {
    for (const [i, part] of parts.entries()) {
      const stem = part.split("$", 1)[0] ?? "";
      const namesakes = this.#byStem.get(stem);
      if (stem.length < SHORTEST_NAME || namesakes === undefined) continue;
      if (i > 0) {
        const qualified = namesakes.filter(({ folders }) => endsWith(folders, parts, i));
        if (qualified.length > 0) return qualified.map(({ path }) => ({ path, kind: "qualified-name" }));
      } else if (CODE_LIKE.test(stem) || marked || parts.length > 1 || stem !== part) {
        const named = unlessCommon(namesakes);
        if (named.length > 0) return named.map(({ path }) => ({ path, kind: "class-name" }));
      }
    }
    const [only] = parts;
    if (parts.length === 1 && only?.includes("-")) {
      // "PluginManager-based": a hyphen joins words in prose.
      for (const piece of only.split("-")) {
        const named = CODE_LIKE.test(piece) && piece.length >= SHORTEST_NAME ? unlessCommon(this.#byStem.get(piece) ?? []) : [];
        if (named.length > 0) return named.map(({ path }) => ({ path, kind: "class-name" }));
      }
    }
    return [];
  }
}

/** Are the `length` parts before the class exactly the innermost folders? */
function endsWith(folders: readonly string[], parts: readonly string[], length: number): boolean {
  if (length > folders.length) return false;
  for (let k = 1; k <= length; k++) if (folders[folders.length - k] !== parts[length - k]) return false;
  return true;
}

function unlessCommon(files: readonly NamedFile[]): readonly NamedFile[] {
  return files.length > MOST_NAMESAKES ? [] : files;
}

function withoutTrailingDots(word: string): string {
  let end = word.length;
  while (end > 0 && (word[end - 1] === "." || word[end - 1] === "-")) end--;
  return word.slice(0, end);
}

const LINE = /:([1-9]\d{0,6})(?!\d)/y;

/** `:12` right after a file's name. */
function lineAfter(text: string, end: number): number | null {
  LINE.lastIndex = end;
  const digits = LINE.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Does the text around the token show it as code? */
function isMarked(text: string, start: number, end: number): boolean {
  const before = text[start - 1];
  const after = text[end];
  return (before === "`" && after === "`") || after === "(" || after === "#" || text.startsWith("::", end);
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
