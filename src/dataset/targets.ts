/**
 * From linked changes to targets: which files of the tree *before* the fix an answer should name.
 *
 * The question is asked about the tree before the earliest linked change, so a renamed file counts by the name that it has there, also
 * when a later linked change knows it by its new name only.
 */
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

function changedAtBase(links: readonly Link[]): Target[] {
  const targets = new Map<string, Target>();
  // What a file that an earlier linked change renamed was called before all of them, per repository.
  const earlierNames = new Map<string, string>();
  for (const link of [...links].sort(byMergeTime)) {
    const renames: [string, string][] = [];
    for (const file of link.files) {
      if (file.status === "unchanged") continue;
      const before = nameBefore(file);
      const path = earlierNames.get(`${link.repository} ${before}`) ?? before;
      if (before !== file.path) renames.push([file.path, path]);
      const known = targets.get(path);
      // The first change decides the status: a file that a linked change added and another edited was not there before.
      if (known === undefined) {
        targets.set(path, {
          path,
          role: file.role,
          status: file.status,
          renamed_to: path === file.path ? null : file.path,
          grade: 1,
          ranges: null,
        });
      } else if (known.path !== file.path) {
        targets.set(path, { ...known, renamed_to: file.path });
      }
    }
    // Only now: within one change, two files may swap names.
    for (const [path, original] of renames) earlierNames.set(`${link.repository} ${path}`, original);
  }
  return [...targets.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** A copy leaves its origin as it was, so it is a new file under its own name; only a rename takes the old name away. */
function nameBefore(file: ChangedFile): string {
  return file.status === "renamed" && file.previous_path !== null && file.previous_path !== "" ? file.previous_path : file.path;
}
