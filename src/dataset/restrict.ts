/** Narrows a data set that is there already: other extensions or roles, stricter links. What goes is in the header's audit. */
import { err, ok, type Result } from "../base/result.js";
import { bestGrade } from "./build.js";
import { roleAudit } from "./role-audit.js";
import type { Case, Dataset, DatasetHeader, LinkGrade } from "./schema.js";
import { applyPolicy, selectTargets, type TargetPolicy } from "./targets.js";

export interface Restriction extends TargetPolicy {
  /** Accepted grades and their name for the header; null = the links stay as they are. */
  readonly links: { readonly text: string; readonly grades: ReadonlySet<LinkGrade> } | null;
}

/** Fails where the data set does not say the grades that are to decide. */
export function restrictDataset(dataset: Dataset, { links, ...policy }: Restriction): Result<Dataset, string> {
  if (links !== null && dataset.cases.some((one) => one.links.some((link) => link.grade === null))) {
    return err(
      `the data set does not say how its links were found, so \`links: ${links.text}\` can't be applied: leave \`links\` out, or mine the repository again`,
    );
  }
  const audit: DatasetHeader["audit"] = [];
  const note = (rule: string, what: string, items: string[]) => {
    if (items.length > 0) audit.push({ rule, removed: items.length, what, items });
  };
  const [noGrade, noLink, extension]: string[][] = [[], [], []];
  const otherRoles: Parameters<typeof roleAudit>[0][number][] = [];
  const cases: Case[] = [];
  for (const one of dataset.cases) {
    const kept = links === null ? one : withLinks(one, links.grades, noGrade ?? []);
    if (kept === null) {
      noLink?.push(one.id);
      continue;
    }
    const selected = applyPolicy(kept.targets, policy);
    for (const path of selected.otherExtension) extension?.push(`${one.id}: ${path}`);
    otherRoles.push({ id: one.id, files: selected.otherRole, left: selected.targets.length });
    cases.push({ ...kept, targets: [...selected.targets] });
  }
  note("grade-not-selected", "links of a grade that the rule does not accept", noGrade ?? []);
  note("no-accepted-link", "issues without an accepted link: no case is made of them", noLink ?? []);
  note("extensions", "targets without a selected extension", extension ?? []);
  audit.push(...roleAudit(otherRoles, policy.roles));
  const { header } = dataset;
  return ok({
    header: {
      ...header,
      links: links === null ? header.links : links.text,
      extensions: policy.extensions === null ? header.extensions : [...policy.extensions],
      audit: [...header.audit, ...audit],
    },
    cases,
  });
}

/** null = none of its links is left. A case that has no links at all (its truth is stated, not linked) stays as it is. */
function withLinks(one: Case, grades: ReadonlySet<LinkGrade>, dropped: string[]): Case | null {
  if (one.links.length === 0) return one;
  const links = one.links.filter((link) => link.grade !== null && grades.has(link.grade));
  if (links.length === one.links.length) return one;
  for (const link of one.links) if (!links.includes(link)) dropped.push(`${one.id} <- ${link.repository}#${link.number}`);
  if (links.length === 0) return null;
  const best = bestGrade(links);
  // The data set's own policy chose among the targets; of those, the ones that a remaining link explains are kept.
  const explained = new Set(selectTargets(links, { extensions: null, roles: null }).targets.map(({ path }) => path));
  return {
    ...one,
    links,
    targets: one.targets.filter(({ path }) => explained.has(path)),
    best_grade: best,
    strata: best === null ? one.strata : { ...one.strata, links: best },
    base_commit: links.find((link) => link.repository === one.repository)?.base_commit ?? one.base_commit,
  };
}
