/** Which files a unified diff changes, for data sets that state their truth as a patch. Linear in its length, never throws. */
import { HUNK_HEADER, HunkReader } from "../base/line-changes.js";
import { changedFile } from "./build.js";
import type { ChangedFile } from "./schema.js";

interface Draft {
  before: string | null;
  after: string | null;
  status: "added" | "removed" | "modified" | "renamed" | "copied";
  additions: number;
  deletions: number;
  readonly reader: HunkReader;
  /** Its changes are not told as lines. */
  binary: boolean;
}

export function filesOfPatch(patch: string): ChangedFile[] {
  const files: ChangedFile[] = [];
  let draft: Draft | null = null;
  const finish = () => {
    const path = draft?.after ?? draft?.before ?? null;
    if (draft !== null && path !== null && path !== "") {
      files.push(
        changedFile({
          path,
          status: draft.status,
          previous_path: draft.before !== null && draft.before !== path ? draft.before : null,
          additions: draft.additions,
          deletions: draft.deletions,
          ...hunksOf(draft),
        }),
      );
    }
    draft = null;
  };
  const open = (): Draft => {
    draft ??= {
      before: null,
      after: null,
      status: "modified",
      additions: 0,
      deletions: 0,
      reader: new HunkReader(),
      binary: false,
    };
    return draft;
  };
  for (const line of patch.split(/\r?\n/)) {
    // What looks like a header inside a hunk is content.
    if (draft !== null && (draft as Draft).reader.inside) {
      const inside: Draft = draft;
      inside.reader.line(line);
      if (line.startsWith("+")) inside.additions += 1;
      else if (line.startsWith("-")) inside.deletions += 1;
      continue;
    }
    const hunk = HUNK_HEADER.exec(line);
    if (hunk !== null) {
      open().reader.open(hunk);
    } else if (line.startsWith("diff --git ")) {
      finish();
      const names = gitNames(line.slice("diff --git ".length));
      if (names !== null) Object.assign(open(), names);
      else open();
    } else if (line.startsWith("--- ")) {
      // Without a `diff --git` line this begins the next file.
      const before = nameOf(line.slice(4));
      if (draft !== null && (draft as Draft).additions + (draft as Draft).deletions > 0) finish();
      if (before === null) open().status = "added";
      else open().before = before;
    } else if (line.startsWith("+++ ")) {
      const after = nameOf(line.slice(4));
      if (after === null) open().status = "removed";
      else open().after = after;
    } else if (draft !== null) {
      readExtendedHeader(draft, line);
    }
  }
  finish();
  return files;
}

/** Old sides of its changes. A new file has no old lines, and a binary one none that are told. */
function hunksOf({ reader, status, binary }: Draft): Pick<ChangedFile, "hunks"> {
  reader.close();
  if (binary || status === "added" || status === "copied") return {};
  return { hunks: reader.hunks.map(({ old: [start, count] }) => [start, count]) };
}

function readExtendedHeader(draft: Draft, line: string): void {
  if (line.startsWith("Binary files ") || line.startsWith("GIT binary patch")) draft.binary = true;
  if (line.startsWith("new file mode")) draft.status = "added";
  else if (line.startsWith("deleted file mode")) draft.status = "removed";
  else if (line.startsWith("rename from ")) Object.assign(draft, { status: "renamed", before: unquote(line.slice(12)) });
  else if (line.startsWith("rename to ")) draft.after = unquote(line.slice(10));
  else if (line.startsWith("copy from ")) Object.assign(draft, { status: "copied", before: unquote(line.slice(10)) });
  else if (line.startsWith("copy to ")) draft.after = unquote(line.slice(8));
}

/** `a/x b/x`, where both names are the same (other forms are told apart by the lines that follow). */
function gitNames(text: string): { before: string; after: string } | null {
  const half = (text.length - 1) / 2;
  const [left, right] = [text.slice(0, half), text.slice(half + 1)];
  if (!Number.isInteger(half) || text[half] !== " ") return null;
  const [before, after] = [nameOf(left), nameOf(right)];
  return before !== null && before === after ? { before, after } : null;
}

/** null = `/dev/null`. A time after a tab is no part of the name. */
function nameOf(text: string): string | null {
  const name = unquote(text.split("\t", 1)[0]?.trimEnd() ?? "");
  return name === "/dev/null" ? null : name.replace(/^[ab]\//, "");
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/** Git quotes names with unusual bytes as C does: `"a/\303\251.txt"`. */
function unquote(text: string): string {
  if (!text.startsWith('"') || !text.endsWith('"') || text.length < 2) return text;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  const inner = text.slice(1, -1);
  for (let index = 0; index < inner.length; index++) {
    const character = String.fromCodePoint(inner.codePointAt(index) ?? 0);
    if (character !== "\\") {
      bytes.push(...encoder.encode(character));
      index += character.length - 1;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(inner.slice(index + 1, index + 4))?.[0];
    if (octal !== undefined) {
      bytes.push(Number.parseInt(octal, 8));
      index += 3;
    } else {
      index += 1;
      bytes.push(ESCAPES[inner[index] ?? ""] ?? 92);
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
