/**
 * Which lines of the tree before a fix the fix changed, read from the repository itself.
 *
 * A pull request's base commit is where its branch stood when it was opened; by the time it is merged the target branch has moved on, so a plain
 * diff of base and merge would blame the fix for other people's work. Hence the fix alone is looked at (merge commit against its first parent)
 * and its lines are carried back to the base by what lies between. Where the merge commit's own change does not cover the pull request's files
 * (its commits were rebased onto the branch one by one), base and merge are compared directly.
 */
import { carryBack, type Hunk, hunksOfDiff, type OldHunk, uniteHunks } from "../base/line-changes.js";
import { err, ok, type Result } from "../base/result.js";
import type { Clone } from "./git.js";
import { git } from "./git-process.js";
import type { SourceFailure } from "./tools.js";

export interface FixFile {
  /** Its name in the tree that the case is asked about. */
  readonly atBase: string;
  /** Its name before and after this fix. */
  readonly before: string;
  readonly after: string;
}

export interface Fix {
  /** The commit that the case is asked about. */
  readonly base: string;
  readonly merge: string;
  /** Names after the fix of all files that it is said to change; the list may be cut. */
  readonly listed: readonly string[];
  readonly files: readonly FixFile[];
}

export interface FileChange {
  /** In lines of the file at the base commit; null = a binary file. */
  readonly hunks: readonly OldHunk[] | null;
  /** Where lines were put in the file after the fix (1-based, inclusive), for insertions at the edge of a definition. */
  readonly inserted: readonly { readonly after: number; readonly lines: readonly [number, number] }[];
  /** Object id of the file after the fix; null = the fix removed it. */
  readonly blobAfter: string | null;
}

/** By the name at the base commit; a file that the base lacks is in no entry. `comparedWithBase`: the second way of the two above. */
export async function changesOfFix(
  clone: Clone,
  fix: Fix,
  about: string,
): Promise<Result<{ readonly files: ReadonlyMap<string, FileChange>; readonly comparedWithBase: boolean }, SourceFailure>> {
  const base = await clone.commit(fix.base, false);
  if (!base.ok) return base;
  const merge = await clone.commit(fix.merge, false);
  if (!merge.ok) return merge;
  const start = await startOf(clone, base.value, merge.value, fix.listed, about);
  if (!start.ok) return start;
  const atBase = await blobsOf(
    clone,
    base.value,
    fix.files.map((file) => file.atBase),
    about,
  );
  if (!atBase.ok) return atBase;
  const before = await blobsOf(
    clone,
    start.value.commit,
    fix.files.flatMap((file) => [file.before, file.atBase]),
    about,
  );
  if (!before.ok) return before;
  const after = await blobsOf(
    clone,
    merge.value,
    fix.files.map((file) => file.after),
    about,
  );
  if (!after.ok) return after;
  const files = new Map<string, FileChange>();
  for (const file of fix.files) {
    const old = atBase.value.get(file.atBase);
    if (old === undefined) continue;
    const now = after.value.get(file.after) ?? null;
    const change = await changeOf(clone, old, before.value.get(file.before) ?? before.value.get(file.atBase) ?? old, now, about);
    if (!change.ok) return change;
    files.set(file.atBase, { ...change.value, blobAfter: now });
  }
  return ok({ files, comparedWithBase: start.value.rebased });
}

/** The tree that the fix alone was put on: the merge's first parent if the fix's files are what changed since, else the base. */
async function startOf(
  clone: Clone,
  base: string,
  merge: string,
  listed: readonly string[],
  about: string,
): Promise<Result<{ readonly commit: string; readonly rebased: boolean }, SourceFailure>> {
  const parents = await run(clone, ["rev-list", "--parents", "--max-count=1", "--end-of-options", merge], about);
  if (!parents.ok) return parents;
  const parent = parents.value.trim().split(" ")[1];
  if (parent === undefined || parent === base) return ok({ commit: base, rebased: false });
  const changed = await run(clone, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", parent, merge, "--"], about);
  if (!changed.ok) return changed;
  const names = new Set(changed.value.split("\0"));
  const rebased = !listed.every((path) => names.has(path));
  return ok({ commit: rebased ? base : parent, rebased });
}

/** Object ids of files at a commit, made available; what is not there, or no regular file, is left out. */
async function blobsOf(
  clone: Clone,
  commit: string,
  paths: readonly string[],
  about: string,
): Promise<Result<ReadonlyMap<string, string>, SourceFailure>> {
  const found = new Map<string, string>();
  const distinct = [...new Set(paths)];
  for (let from = 0; from < distinct.length; from += PATHS_AT_ONCE) {
    const some = distinct.slice(from, from + PATHS_AT_ONCE);
    const listed = await run(clone, ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", ...some], about);
    if (!listed.ok) return listed;
    for (const record of listed.value.split("\0")) {
      const entry = /^100(?:644|755|664) blob ([0-9a-f]{40,64})\t/.exec(record);
      if (entry !== null) found.set(record.slice(entry[0].length), entry[1] ?? "");
    }
  }
  const fetched = await clone.fetchBlobs(commit, [...new Set(found.values())]);
  return fetched.ok ? ok(found) : fetched;
}

const PATHS_AT_ONCE = 200;

async function changeOf(
  clone: Clone,
  old: string,
  before: string,
  after: string | null,
  about: string,
): Promise<Result<Omit<FileChange, "blobAfter">, SourceFailure>> {
  const between = await diff(clone, old, before, about);
  if (!between.ok) return between;
  const fix = after === null ? await wholeFile(clone, before, about) : await diff(clone, before, after, about);
  if (!fix.ok) return fix;
  if (fix.value === null || between.value === null) return ok({ hunks: null, inserted: [] });
  const earlier = between.value;
  const carried = fix.value.map((hunk) => ({ hunk: carryBack(hunk.old, earlier), lines: hunk.new }));
  return ok({
    hunks: uniteHunks(carried.map(({ hunk }) => hunk)),
    inserted: carried.flatMap(({ hunk: [place, count], lines: [first, many] }) =>
      count === 0 && many > 0 ? [{ after: place, lines: [first, first + many - 1] as const }] : [],
    ),
  });
}

/** Every line of a file that the fix removes. */
async function wholeFile(clone: Clone, blob: string, about: string): Promise<Result<Hunk[] | null, SourceFailure>> {
  const content = await run(clone, ["cat-file", "blob", blob], about);
  if (!content.ok) return content;
  if (content.value === "") return ok([]);
  const lines = content.value.split("\n").length - (content.value.endsWith("\n") ? 1 : 0);
  return ok([{ old: [1, lines], new: [0, 0] }]);
}

async function diff(clone: Clone, old: string, now: string, about: string): Promise<Result<Hunk[] | null, SourceFailure>> {
  if (old === now) return ok([]);
  // Everything that configuration or attributes could change is said, so that the same blobs give the same lines everywhere.
  const options = ["--unified=0", "--diff-algorithm=myers", "--indent-heuristic", "--no-color", "--no-ext-diff", "--no-textconv"];
  const text = await run(clone, ["diff", ...options, old, now], about);
  return text.ok ? ok(hunksOfDiff(text.value)) : text;
}

async function run(clone: Clone, args: readonly string[], about: string): Promise<Result<string, SourceFailure>> {
  const output = await git(clone.git, clone.folder, args, { about });
  return output.ok ? ok(new TextDecoder().decode(output.value)) : err(output.error);
}
