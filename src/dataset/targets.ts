/**
 * From linked changes to targets: which files of the tree *before* the fix an answer should name.
 *
 * The question is asked about the tree before the earliest linked change, so a renamed file counts by the name that it has there, also
 * when a later linked change knows it by its new name only.
 */
import { rangesOf, uniteHunks } from "../base/line-changes.js";
import type { ChangedFile, FileRole, Link, Target } from "./schema.js";

/** Which changed files are targets. */
export interface TargetPolicy {
  /** With the dot, compared without letter case; null = every file. */
  readonly extensions: readonly string[] | null;
  /** null = every role. */
  readonly roles: readonly FileRole[] | null;
}

export interface SelectedTargets {
  /** Sorted by path. */
  readonly targets: readonly Target[];
  /** What the policy left out, sorted by path. */
  readonly otherExtension: readonly string[];
  readonly otherRole: readonly Pick<Target, "path" | "role">[];
}

export function selectTargets(links: readonly Link[], policy: TargetPolicy): SelectedTargets {
  return applyPolicy(changedAtBase(links), policy);
}

/** The policy applied to targets that are there already (an imported data set's). */
export function applyPolicy(all: readonly Target[], policy: TargetPolicy): SelectedTargets {
  const extensions = policy.extensions?.map((extension) => extension.toLowerCase()) ?? null;
  const targets: Target[] = [];
  const otherExtension: string[] = [];
  const otherRole: Pick<Target, "path" | "role">[] = [];
  for (const target of all) {
    const path = target.path.toLowerCase();
    if (extensions !== null && !extensions.some((extension) => path.endsWith(extension))) otherExtension.push(target.path);
    else if (policy.roles !== null && !policy.roles.includes(target.role))
      otherRole.push({ path: target.path, role: target.role });
    else targets.push(target);
  }
  return { targets, otherExtension, otherRole };
}

/** Not locatable: the tree before the fix does not hold it. A copy is a new file too; its origin is not changed by it. */
export function isAddedByFix({ status }: Pick<Target, "status">): boolean {
  return status === "added" || status === "copied";
}

/** Merge order: the earliest first, what has no time last. The order in which the tree went through the changes. */
export function byMergeTime(a: Link, b: Link): number {
  const difference = time(a.merged_at) - time(b.merged_at);
  if (difference !== 0 && !Number.isNaN(difference)) return difference;
  return a.repository < b.repository ? -1 : a.repository > b.repository ? 1 : a.number - b.number;
}

function time(text: string | null): number {
  const milliseconds = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(milliseconds) ? Number.POSITIVE_INFINITY : milliseconds;
}

/** A changed file and its names: in the tree before all linked changes, and before its own. */
export interface TracedFile {
  readonly file: ChangedFile;
  readonly atBase: string;
  readonly before: string;
}

/** The files of linked changes in merge order, each traced back to its name before the first of them. */
export function traceFiles(links: readonly Link[]): { readonly link: Link; readonly files: readonly TracedFile[] }[] {
  // What a file that an earlier linked change renamed was called before all of them, per repository.
  const earlierNames = new Map<string, string>();
  return [...links].sort(byMergeTime).map((link) => {
    const files = link.files
      .filter(({ status }) => status !== "unchanged")
      .map((file) => {
        const before = nameBefore(file);
        return { file, before, atBase: earlierNames.get(`${link.repository} ${before}`) ?? before };
      });
    // Only now: within one change, two files may swap names.
    for (const { file, before, atBase } of files)
      if (before !== file.path) earlierNames.set(`${link.repository} ${file.path}`, atBase);
    return { link, files };
  });
}

/** The links with what each file's history tells: was it there before the first of them? A file that an earlier link added was not. */
export function withPresence(links: readonly Link[]): Link[] {
  const added = new Set<string>();
  const presence = new Map<ChangedFile, boolean | null>();
  for (const { link, files } of traceFiles(links)) {
    for (const { file, atBase } of files) {
      const id = `${link.repository} ${atBase}`;
      if (isAddedByFix(file)) added.add(id);
      presence.set(file, added.has(id) ? false : file.status === null ? null : true);
    }
  }
  return links.map((link) => ({
    ...link,
    files: link.files.map((file) => ({ ...file, exists_at_base: presence.get(file) ?? (file.status === null ? null : true) })),
  }));
}

function changedAtBase(links: readonly Link[]): Target[] {
  const targets = new Map<string, Target>();
  for (const { files } of traceFiles(links)) {
    for (const { file, atBase: path } of files) {
      const known = targets.get(path);
      // The first change decides the status: a file that a linked change added and another edited was not there before.
      if (known === undefined) {
        targets.set(path, {
          path,
          role: file.role,
          status: file.status,
          renamed_to: path === file.path ? null : file.path,
          grade: 1,
          ...linesOf(file.hunks),
        });
      } else {
        // Lines of a later change are those of its own time: near enough where nothing better is known (`locate-lines` reads them from git).
        const lines = linesOf(
          known.hunks === undefined || file.hunks === undefined ? undefined : [...known.hunks, ...file.hunks],
        );
        const { hunks: _, ...rest } = known;
        targets.set(path, { ...rest, ...lines, ...(known.path === file.path ? {} : { renamed_to: file.path }) });
      }
    }
  }
  return [...targets.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Ranges and what they were made of; unknown where a change does not say. */
function linesOf(hunks: ChangedFile["hunks"]): Pick<Target, "ranges" | "hunks"> {
  if (hunks === undefined) return { ranges: null };
  const united = uniteHunks(hunks);
  return { ranges: rangesOf(united).map(([from, to]) => [from, to]), hunks: united.map(([start, count]) => [start, count]) };
}

/** A copy leaves its origin as it was, so it is a new file under its own name; only a rename takes the old name away. */
function nameBefore(file: ChangedFile): string {
  return file.status === "renamed" && file.previous_path !== null && file.previous_path !== "" ? file.previous_path : file.path;
}
