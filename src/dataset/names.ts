/**
 * Where a text names a target: its path, its file name, its class. What `leakage` counts and `mask` replaces, so that both mean the same.
 *
 * A text is cut into words once and each word is looked up, so the work grows with the text and not with text times targets: texts of a
 * megabyte and issues with thousands of targets both exist. Paths and file names are told in any letter case, classes only in their own.
 */

/** `part`: the name inside a longer one (`JSONObjectTest`); it names another thing, but gives this one away. */
export const NAMING_KINDS = ["path", "link", "diff", "frame", "file", "symbol", "class", "part"] as const;
export type NamingKind = (typeof NAMING_KINDS)[number];

export interface Naming {
  /** The name itself, without folders. */
  readonly start: number;
  readonly end: number;
  /** Where the folders (or packages) before it begin that are the target's own; `start` where there are none. */
  readonly from: number;
  /** The extension is part of the name. */
  readonly isFile: boolean;
  readonly kinds: readonly NamingKind[];
  /** Indices of the targets; several where they share the name and the text says no more. */
  readonly targets: readonly number[];
  /** False for what may be plain English (`Config` at the beginning of a sentence, `utils` in prose) and for parts of longer names. */
  readonly counts: boolean;
}

interface Names {
  readonly folders: readonly string[];
  /** File name without what no word begins or ends with. */
  readonly file: string;
  /** File name without its last extension; null where it has no word. */
  readonly stem: string | null;
  /** `.gitignore`: the dot tells it from a word. */
  readonly isDotFile: boolean;
}

interface Word {
  readonly start: number;
  readonly end: number;
}

// Without `$`: `Foo$Bar` is a class inside of `Foo`.
const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;
const HUMP = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+/gu;
const SHORTEST_STEM = 3;
/** A file name of more words is not looked for: no text spells it. */
const MOST_WORDS = 40;
const MOST_HUMPS = 12;

/**
 * Names of the targets of one case. `paths` in the case's own order; the indices of the results are theirs. `definitions`: of the same indices,
 * names of classes and functions in the file that its own name does not tell (`Cart` of `shop.py`).
 */
export class TargetNames {
  readonly #names: readonly Names[];
  readonly #files = new Map<string, number[]>();
  readonly #stems = new Map<string, number[]>();
  /** First word of a name -> how many words such names have, most first. */
  readonly #counts = new Map<string, number[]>();
  /** First hump of a class-like stem. */
  readonly #humps = new Set<string>();

  constructor(paths: readonly string[], definitions: readonly (readonly string[])[] = []) {
    this.#names = paths.map(namesOf);
    for (const [index, { file, stem }] of this.#names.entries()) {
      // A name without extension (`configure`) is looked for like a class: in prose it may be a word.
      if (file.includes(".")) this.#add(this.#files, folded(file), index);
      for (const name of new Set([stem ?? "", ...(definitions[index] ?? [])].map((one) => one.normalize("NFC")))) {
        if (name === "") continue;
        this.#add(this.#stems, name, index);
        if (isClassLike(name)) {
          const hump = name.match(HUMP)?.[0];
          if (hump !== undefined) this.#humps.add(hump);
        }
      }
    }
    for (const counts of this.#counts.values()) counts.sort((a, b) => b - a);
  }

  #add(into: Map<string, number[]>, name: string, index: number): void {
    const words = name.match(WORD) ?? [];
    const [first] = words;
    if (first === undefined || words.length > MOST_WORDS) return;
    append(into, name, index);
    const key = folded(first);
    const counts = this.#counts.get(key) ?? [];
    this.#counts.set(key, counts);
    if (!counts.includes(words.length)) counts.push(words.length);
  }

  /** Every place that names a target, in the order of the text; they do not overlap. `parts`: also names inside longer ones. */
  namings(text: string, { parts = false } = {}): Naming[] {
    const words = wordsOf(text);
    const lines = new LineStarts(text);
    const found: Naming[] = [];
    for (let at = 0; at < words.length; ) {
      const hit = this.#at(text, words, at);
      if (hit !== null) {
        found.push(this.#naming(text, hit, lines));
        at += hit.words;
      } else {
        const word = words[at];
        if (parts && word !== undefined) found.push(...this.#parts(text, word));
        at++;
      }
    }
    return found;
  }

  /** The longest file name that begins at a word, else the longest stem. */
  #at(text: string, words: readonly Word[], at: number): Hit | null {
    const first = words[at];
    if (first === undefined) return null;
    const counts = this.#counts.get(folded(text.slice(first.start, first.end)));
    if (counts === undefined) return null;
    for (const isFile of [true, false]) {
      for (const count of counts) {
        const last = words[at + count - 1];
        if (last === undefined) continue;
        const name = text.slice(first.start, last.end).normalize("NFC");
        const targets = isFile ? this.#files.get(name.toLowerCase()) : this.#stems.get(name);
        if (targets !== undefined) return { start: first.start, end: last.end, words: count, isFile, targets };
      }
    }
    return null;
  }

  #naming(text: string, { start, end, isFile, targets }: Hit, lines: LineStarts): Naming {
    let most = 0;
    let from = start;
    let named: number[] = [];
    let whole = false;
    for (const target of targets) {
      const folders = this.#names[target]?.folders ?? [];
      const before = foldersBefore(text, start, folders, isFile);
      if (before.count > most) {
        most = before.count;
        from = before.from;
        named = [];
      }
      if (before.count === most) {
        named.push(target);
        whole ||= most > 0 && most === folders.length;
      }
    }
    const line = text.slice(lines.before(start), Math.min(start, lines.before(start) + 40)).trimStart();
    const kinds = isFile ? fileKinds(text, start, end, line, whole) : classKinds(text, end, line);
    const isDotFile = text.charAt(start - 1) === "." && named.some((target) => this.#names[target]?.isDotFile === true);
    const counts = isFile || most > 0 || isDotFile || countsAsClass(text, start, end);
    return { start, end, from, isFile, kinds, targets: named, counts };
  }

  #parts(text: string, { start, end }: Word): Naming[] {
    if (this.#humps.size === 0 || end - start < SHORTEST_STEM) return [];
    const word = text.slice(start, end);
    const humps = [...word.matchAll(HUMP)].map((match) => ({ from: match.index, to: match.index + match[0].length }));
    const found: Naming[] = [];
    for (let i = 0; i < humps.length; i++) {
      const first = humps[i];
      if (first === undefined || !this.#humps.has(word.slice(first.from, first.to))) continue;
      for (let j = Math.min(humps.length, i + MOST_HUMPS) - 1; j >= i; j--) {
        const last = humps[j];
        const part = last === undefined ? undefined : this.#partAt(word, first.from, last.to);
        if (part === undefined) continue;
        const place = { start: start + part.from, end: start + part.to };
        found.push({ ...place, from: place.start, isFile: false, kinds: ["part"], targets: part.targets, counts: false });
        i = j;
        break;
      }
    }
    return found;
  }

  /** Also the plural: `JSONObjects`. */
  #partAt(word: string, from: number, to: number): { from: number; to: number; targets: readonly number[] } | undefined {
    for (const end of word.charAt(to - 1) === "s" ? [to, to - 1] : [to]) {
      const name = word.slice(from, end);
      const targets = isClassLike(name) ? this.#stems.get(name) : undefined;
      if (targets !== undefined) return { from, to: end, targets };
    }
    return undefined;
  }
}

interface Hit extends Word {
  readonly words: number;
  readonly isFile: boolean;
  readonly targets: readonly number[];
}

function namesOf(path: string): Names {
  const folders = path.split(/[/\\]+/).filter((folder) => folder !== "");
  const name = folders.pop() ?? path;
  const dot = name.lastIndexOf(".");
  const stem = bare(dot > 0 ? name.slice(0, dot) : name);
  return { folders: folders.map(folded), file: bare(name), stem: stem === "" ? null : stem, isDotFile: /^\.[^.]/.test(name) };
}

/** From the first character of a word to the last one: `.travis.yml` is looked for as `travis.yml`. */
function bare(name: string): string {
  let start = -1;
  let end = 0;
  for (const match of name.matchAll(WORD)) {
    if (start === -1) start = match.index;
    end = match.index + match[0].length;
  }
  return start === -1 ? "" : name.slice(start, end);
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

function append<K>(map: Map<K, number[]>, key: K, index: number): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [index]);
  else list.push(index);
}

function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(WORD)) {
    const end = match.index + match[0].length;
    // `a%2Fb`: the digits and letters of an encoded separator belong to no name.
    const isEncoded = text.charAt(match.index - 1) === "%" && /^(?:2f|5c)./i.test(match[0]);
    words.push({ start: isEncoded ? match.index + 2 : match.index, end });
  }
  return words;
}

/** Begins of lines, asked for in ascending order: looking back from each place would read one long line over and over. */
class LineStarts {
  readonly #text: string;
  #start = 0;
  #next: number;

  constructor(text: string) {
    this.#text = text;
    this.#next = text.indexOf("\n");
  }

  before(offset: number): number {
    while (this.#next !== -1 && this.#next < offset) {
      this.#start = this.#next + 1;
      this.#next = this.#text.indexOf("\n", this.#start);
    }
    return this.#start;
  }
}

const SEPARATOR_BEFORE = /(?:[/\\]{1,4}|%2f|%5c)$/i;

/** How many of the target's folders stand before the name, innermost first, and where they begin. A class may be qualified with dots. */
function foldersBefore(
  text: string,
  start: number,
  folders: readonly string[],
  isFile: boolean,
): { readonly count: number; readonly from: number } {
  let from = start;
  let count = 0;
  for (let at = folders.length - 1; at >= 0; at--) {
    const folder = folders[at] ?? "";
    const window = text.slice(Math.max(0, from - 4), from);
    const separator = SEPARATOR_BEFORE.exec(window)?.[0] ?? (!isFile && window.endsWith(".") ? "." : undefined);
    if (separator === undefined) break;
    const end = from - separator.length;
    const begin = end - folder.length;
    if (begin < 0 || folded(text.slice(begin, end)) !== folder) break;
    if (begin > 0 && WORD_CHARACTER.test(text.charAt(begin - 1)) && !/%2f$|%5c$/i.test(text.slice(Math.max(0, begin - 3), begin)))
      break;
    from = begin;
    count++;
  }
  return { count, from };
}

const LOOK_BACK = 500;

function fileKinds(text: string, start: number, end: number, line: string, whole: boolean): NamingKind[] {
  const kinds: NamingKind[] = [];
  if (isLink(text, start)) kinds.push("link");
  if (/^(?:diff --git |--- |\+\+\+ |Index: |rename (?:from|to) )/.test(line)) kinds.push("diff");
  const after = text.slice(end, end + 20);
  if (/^(?:at |File ")/.test(line) || /^(?::\d|\(\d|["']?, line \d)/.test(after)) kinds.push("frame");
  kinds.push(whole ? "path" : "file");
  return kinds;
}

/** A link to the file on a forge. */
function isLink(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - LOOK_BACK), start);
  const scheme = before.lastIndexOf("://");
  if (scheme === -1) return false;
  const address = before.slice(scheme + 3);
  return !/[\s<>"'`]/.test(address) && /\/(?:blob|raw|blame|edit|tree|src)\/|^raw\./.test(address);
}

function classKinds(text: string, end: number, line: string): NamingKind[] {
  if (/^at /.test(line)) return ["frame", "class"];
  return isMember(text, end) ? ["symbol", "class"] : ["class"];
}

/** `.get`, `#get`, `::get`, `->get` after a class. */
function isMember(text: string, end: number): boolean {
  return /^(?:[.#$]|::|->)[\p{L}_$]/u.test(text.slice(end, end + 4));
}

/** Has it the look of a class or constant, so that it is no word of prose in lower case? */
function isClassLike(stem: string): boolean {
  return stem.length >= SHORTEST_STEM && /\p{Lu}/u.test(stem);
}

function countsAsClass(text: string, start: number, end: number): boolean {
  const name = text.slice(start, end);
  if (text.charAt(start - 1) === "`" || text.charAt(end) === "`" || text.charAt(end) === "(" || isMember(text, end)) return true;
  if (name.length < SHORTEST_STEM) return false;
  // Two humps, capitals, digits or an underscore: not how a word of prose is written.
  if (/[\p{Ll}\p{N}]\p{Lu}|\p{Lu}{2}|_|\p{L}\p{N}/u.test(name)) return true;
  return /\p{Lu}/u.test(name) && !beginsSentence(text, start);
}

function beginsSentence(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 20), start).trimEnd();
  if (before === "") return true;
  return /[.!?:*>#|-]$/.test(before) || /\n\s*$/.test(text.slice(Math.max(0, start - 20), start));
}

/** Whether a name may be replaced without harm to prose: plain words in lower case stay, unless the text marks them as code. */
export function isReplaceable({ counts, isFile }: Naming, name: string): boolean {
  return counts || isFile || isClassLike(name);
}
