/**
 * What the choice of roles took away, in the audit: how many files of which role, of how many issues, and which issues have no target left
 * by it. One module for data sets that are built and for those that are narrowed, so that both say the same.
 */
import type { DatasetHeader, FileRole, Target } from "./schema.js";

interface WithoutRoles {
  /** The case. */
  readonly id: string;
  /** Changed files that the choice left out. */
  readonly files: readonly Pick<Target, "path" | "role">[];
  /** Targets that are left. */
  readonly left: number;
}

/** Lines `role` (files) and `role-no-target` (issues); none where nothing was left out. */
export function roleAudit(cases: readonly WithoutRoles[], roles: readonly FileRole[] | null): DatasetHeader["audit"] {
  const touched = cases.filter(({ files }) => files.length > 0);
  if (touched.length === 0) return [];
  const counts = new Map<FileRole, number>();
  for (const { role } of touched.flatMap(({ files }) => files)) counts.set(role, (counts.get(role) ?? 0) + 1);
  const perRole = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([role, count]) => `${role} ${count}`);
  const emptied = touched.filter(({ left }) => left === 0).map(({ id }) => id);
  const items = touched.flatMap(({ id, files }) => files.map(({ path }) => `${id}: ${path}`));
  const chosen = roles === null ? "every role" : roles.join(", ");
  const lines = [
    {
      rule: "role",
      removed: items.length,
      what: `changed files of other roles than ${chosen}: ${perRole.join(", ")}; of ${touched.length} issues, ${emptied.length} of which have no target left`,
      items,
    },
  ];
  if (emptied.length === 0) return lines;
  const what = `issues whose changed files all are of other roles than ${chosen}: shown, not scored`;
  return [...lines, { rule: "role-no-target", removed: emptied.length, what, items: emptied }];
}
