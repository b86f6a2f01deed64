/**
 * Patches: which files do their headers name? Unified and git diffs, the `*** Update File:` form, and search/replace blocks.
 *
 * A renamed or deleted file counts by its old name, an added one by its new name. Hunks are skipped by the counts in their
 * headers, so that a removed line `-- a/x` (which then reads `--- a/x`) names nothing; only where the counts prove wrong, as
 * models' often are, three header lines in a row end a hunk.
 */

export interface DiffRead {
  /** One list of spellings per file, in order. */
  readonly files: readonly (readonly string[])[];
  /** The text without the patches. */
  readonly rest: string;
}

/** Reads all patches in `text`. `truncated`: a last line without line break is not whole. */
export function readDiffs(text: string, truncated: boolean): DiffRead {
  const lines = text.split("\n");
  const whole = truncated && lines.at(-1) !== "" ? lines.length - 1 : lines.length;
  const files: (readonly string[])[] = [];
  const rest: string[] = [];
  let at = 0;
  while (at < whole) {
    const read =
      readGit(lines, at, whole) ??
      readUnified(lines, at, whole) ??
      readPatchCommand(lines, at, whole) ??
      readSearch(lines, at, whole);
    if (read === null) {
      rest.push(lines[at] ?? "");
      at++;
      continue;
    }
    if (read.file !== null) files.push([read.file]);
    if (read.takesBefore) dropHeading(rest);
    at = read.next;
  }
  rest.push(...lines.slice(whole));
  return files.length === 0 ? { files, rest: text } : { files, rest: rest.join("\n") };
}

interface Read {
  readonly file: string | null;
  readonly next: number;
  readonly takesBefore?: boolean;
}

/** The path line (and the fence) above a search/replace block belong to it. */
function dropHeading(rest: string[]): void {
  while (rest.length > 0 && /^\s*(?:```\S*)?\s*$/.test(rest.at(-1) ?? "")) rest.pop();
  rest.pop();
}

function readGit(lines: readonly string[], at: number, end: number): Read | null {
  const header = /^diff --(?:git|cc|combined) (.{1,4096})$/.exec(lines[at] ?? "");
  if (header === null) return null;
  let from: string | null = null;
  let to: string | null = null;
  let old: string | null = null;
  let fresh: string | null = null;
  let next = at + 1;
  for (; next < end; next++) {
    const line = lines[next] ?? "";
    const name = /^(rename|copy) (from|to) (.{1,4096})$/.exec(line);
    if (name !== null) {
      if (name[2] === "from") from = unquote(name[3] ?? "");
      else if (name[1] === "copy")
        from = null; // A copy leaves its source as it was.
      else to = unquote(name[3] ?? "");
      if (name[1] === "copy" && name[2] === "to") to = unquote(name[3] ?? "");
    } else if (
      /^(?:index |(?:new|deleted) file mode|old mode|new mode|(?:dis)?similarity index|Binary files |GIT binary patch)/.test(line)
    ) {
      // No names that the header lacks.
    } else break;
  }
  if (/^--- /.test(lines[next] ?? "") && /^\+\+\+ /.test(lines[next + 1] ?? "")) {
    old = headerName(lines[next] ?? "");
    fresh = headerName(lines[next + 1] ?? "");
    next = skipHunks(lines, next + 2, end);
  }
  const file = from ?? (old === null && fresh === null ? null : choose(old, fresh)) ?? to ?? fromGitHeader(header[1] ?? "");
  return { file, next };
}

function readUnified(lines: readonly string[], at: number, end: number): Read | null {
  const old = lines[at] ?? "";
  const fresh = lines[at + 1] ?? "";
  if (at + 1 >= end || !/^--- \S/.test(old) || !/^\+\+\+ \S/.test(fresh)) return null;
  return { file: choose(headerName(old), headerName(fresh)), next: skipHunks(lines, at + 2, end) };
}

const COMMAND = /^\*\*\* (Update|Add|Delete) File: (.{1,4096})$/;

function readPatchCommand(lines: readonly string[], at: number, end: number): Read | null {
  const match = COMMAND.exec(lines[at] ?? "");
  if (match === null) return null;
  let next = at + 1;
  while (next < end && /^(?:[ +\-@]|\*\*\* (?:Move to|End of File)|$)/.test(lines[next] ?? "")) next++;
  return { file: (match[2] ?? "").trim(), next };
}

/** `path` / (fence) / `<<<<<<< SEARCH` ... `>>>>>>> REPLACE`. */
function readSearch(lines: readonly string[], at: number, end: number): Read | null {
  if (!/^<{5,9} ?SEARCH\b/.test(lines[at] ?? "")) return null;
  let next = at + 1;
  while (next < end && !/^>{5,9} ?REPLACE\b/.test(lines[next] ?? "")) next++;
  let above = at - 1;
  for (let tries = 0; tries < 3 && above >= 0 && /^\s*(?:```\S{0,30})?\s*$/.test(lines[above] ?? ""); tries++) above--;
  const name = (lines[above] ?? "").trim().replace(/^[#*`\s]{1,10}|[*`:\s]{1,10}$/g, "");
  const file = /^\S{1,1024}\.[A-Za-z][A-Za-z0-9]{0,9}$/.test(name) ? name : null;
  return { file, next: Math.min(end, next + 1), takesBefore: file !== null };
}

/** Name in a `---` / `+++` line, decoded, without time stamp; null for `/dev/null`. */
function headerName(line: string): string | null {
  const body = line.slice(4);
  const name = body.startsWith('"')
    ? unquote(body)
    : (body.split("\t")[0] ?? "").trimEnd().replace(/\s+\d{4}-\d\d-\d\d \d\d:\d\d.{0,40}$/, "");
  return name === "/dev/null" || name === "" ? null : name;
}

/** The old name without git's prefix; the new one where there is no old. */
function choose(old: string | null, fresh: string | null): string | null {
  if (old !== null && fresh !== null) {
    const bareOld = withoutPrefix(old);
    const bareNew = withoutPrefix(fresh);
    // `a/x` and `b/x` are prefixes; `a/x` twice is a folder.
    return bareOld !== null && bareNew !== null && old.charAt(0) !== fresh.charAt(0) ? bareOld : old;
  }
  const only = old ?? fresh;
  return only === null ? null : (withoutPrefix(only, old === null ? "b" : "a") ?? only);
}

/** `a/x` -> `x` for git's prefixes (also those of `diff.mnemonicPrefix`), else null. */
function withoutPrefix(name: string, only?: string): string | null {
  const match = /^([abciow])\/(.+)$/s.exec(name);
  return match === null || (only !== undefined && match[1] !== only) ? null : (match[2] ?? null);
}

/** `a/x b/x` without the lines that would say it plainly (binary files, modes): both halves are alike. */
function fromGitHeader(header: string): string | null {
  if (header.startsWith('"')) {
    const first = /^"(?:[^"\\]|\\.){1,4096}"/.exec(header)?.[0];
    return first === undefined ? null : choose(unquote(first), "b/");
  }
  const middle = (header.length - 1) / 2;
  if (Number.isInteger(middle) && header.charAt(middle) === " ") {
    const left = header.slice(0, middle);
    const right = header.slice(middle + 1);
    if (left === right) return left;
    if (left.slice(2) === right.slice(2)) return choose(left, right);
  }
  const cut = / b\//.exec(header)?.index;
  if (cut === undefined) return header.includes(" ") ? null : header;
  return choose(header.slice(0, cut), header.slice(cut + 1));
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** First line after the hunks that start at `from`. */
function skipHunks(lines: readonly string[], from: number, end: number): number {
  let at = from;
  while (at < end && (lines[at] ?? "").startsWith("@@")) {
    const exact = bodyByCounts(lines, at, end);
    at = exact ?? bodyByShape(lines, at + 1, end);
  }
  return at;
}

/** The end of a hunk whose counts are right: both reach zero together, and no line within lacks its mark. */
function bodyByCounts(lines: readonly string[], at: number, end: number): number | null {
  const counts = HUNK.exec(lines[at] ?? "");
  if (counts === null) return null;
  let old = Number(counts[1] ?? "1");
  let fresh = Number(counts[2] ?? "1");
  let next = at + 1;
  while (next < end && (old > 0 || fresh > 0)) {
    const mark = (lines[next] ?? "").charAt(0);
    if (mark === "-") old--;
    else if (mark === "+") fresh--;
    else if (mark === " " || mark === "") {
      old--;
      fresh--;
    } else if (mark !== "\\") return null;
    next++;
  }
  if (old !== 0 || fresh !== 0) return null;
  while (next < end && (lines[next] ?? "").startsWith("\\")) next++;
  // Marked lines that go on, and are no header, show that the counts were too small.
  const after = lines[next] ?? "";
  return /^[ +-]./.test(after) && !isHeaderAt(lines, next) ? null : next;
}

function bodyByShape(lines: readonly string[], from: number, end: number): number {
  let at = from;
  while (at < end && /^(?:[ +\-\\]|$)/.test(lines[at] ?? "") && !isHeaderAt(lines, at)) at++;
  return at;
}

function isHeaderAt(lines: readonly string[], at: number): boolean {
  return /^--- \S/.test(lines[at] ?? "") && /^\+\+\+ \S/.test(lines[at + 1] ?? "") && /^@@/.test(lines[at + 2] ?? "");
}

/** C-style quoting of git: octal escapes are bytes of UTF-8. */
function unquote(text: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/s.exec(text);
  if (quoted === null) return text.trimEnd();
  const bytes: number[] = [];
  const inner = quoted[1] ?? "";
  const encoder = new TextEncoder();
  for (let i = 0; i < inner.length; i++) {
    const char = inner.charAt(i);
    if (char !== "\\") {
      const code = inner.codePointAt(i) ?? 0;
      bytes.push(...encoder.encode(String.fromCodePoint(code)));
      if (code > 0xffff) i++;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(inner.slice(i + 1, i + 4))?.[0];
    if (octal !== undefined) {
      bytes.push(Number.parseInt(octal, 8));
      i += 3;
    } else {
      const letter = inner.charAt(++i);
      bytes.push((letter === "t" ? "\t" : letter === "n" ? "\n" : letter).charCodeAt(0));
    }
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}
