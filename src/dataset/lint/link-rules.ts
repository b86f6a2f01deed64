/**
 * The two rules that a link can be held to with nothing but the data set: the change belongs to the issue's own repository, and it was merged
 * while the issue was open. What the data does not say (no date, no repository) breaks no rule.
 */
import { bestGrade, datasetDigest } from "../build.js";
import type { Case, Dataset, DatasetHeader, Link } from "../schema.js";
import { selectTargets } from "../targets.js";

export const LINK_RULES = ["other-repository", "merged-before-issue", "merged-after-close"] as const;
export type LinkRuleName = (typeof LINK_RULES)[number];

const WHAT: Readonly<Record<LinkRuleName, string>> = {
  "other-repository": "links to pull requests of other repositories",
  "merged-before-issue": "links to pull requests that were merged before the issue was opened",
  "merged-after-close": "links to pull requests that were merged after the issue was closed",
};

const SECOND = 1000;

/** Every rule that the link breaks, in the order of `LINK_RULES`. */
export function brokenRules(
  one: Pick<Case, "repository" | "created_at" | "closed_at">,
  link: Pick<Link, "repository" | "merged_at" | "grade">,
): LinkRuleName[] {
  const broken: LinkRuleName[] = [];
  if (one.repository !== null && link.repository.toLowerCase() !== one.repository.toLowerCase()) broken.push("other-repository");
  const [created, merged, closed] = [one.created_at, link.merged_at, one.closed_at].map(instant);
  if (created != null && merged != null && merged < created) broken.push("merged-before-issue");
  // Where the platform closed the issue with the merge, the two are written down in either order.
  const slack = link.grade === "platform" || link.grade === "keyword" || link.grade === "commit" ? SECOND : 0;
  if (closed != null && merged != null && merged > closed + slack) broken.push("merged-after-close");
  return broken;
}

function instant(text: string | null | undefined): number | null {
  const time = text == null ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

/** The case with fewer links: targets that only the others explain go as well. A case whose truth is stated, not linked, stays as it is. */
export function keepLinks(one: Case, keep: (link: Link) => boolean): Case {
  const links = one.links.filter(keep);
  if (links.length === one.links.length) return one;
  const explained = new Set(selectTargets(links, { extensions: null, roles: null }).targets.map(({ path }) => path));
  const best = bestGrade(links);
  return {
    ...one,
    links,
    targets: one.targets.filter(({ path }) => explained.has(path)),
    best_grade: best,
    strata: best === null ? one.strata : { ...one.strata, links: best },
    base_commit: links.find(({ repository }) => repository === one.repository)?.base_commit ?? one.base_commit,
  };
}

/** Cases by both rules; those without a link left have no targets. */
export function withLinkRules(cases: readonly Case[]): Case[] {
  return cases.map((one) => keepLinks(one, (link) => brokenRules(one, link).length === 0));
}

/** The data set repaired: rules applied, cases without a link left out, all of it in the audit. */
export function fixDataset(dataset: Dataset): Dataset {
  const removed = new Map<string, string[]>();
  const note = (rule: string, item: string) => {
    const items = removed.get(rule);
    if (items === undefined) removed.set(rule, [item]);
    else items.push(item);
  };
  const cases: Case[] = [];
  for (const one of dataset.cases) {
    for (const link of one.links) {
      // By the first rule that it breaks, so that the counts add up to the links that went.
      const [rule] = brokenRules(one, link);
      if (rule !== undefined) note(rule, `${one.id} <- ${link.repository}#${link.number}`);
    }
    const kept = keepLinks(one, (link) => brokenRules(one, link).length === 0);
    for (const { path } of one.targets) {
      if (!kept.targets.some((target) => target.path === path)) note("unexplained-target", `${one.id}: ${path}`);
    }
    if (one.links.length > 0 && kept.links.length === 0) note("no-accepted-link", one.id);
    else cases.push(kept);
  }
  const audit: DatasetHeader["audit"] = [...removed].map(([rule, items]) => ({
    rule,
    removed: items.length,
    what: WHAT[rule as LinkRuleName] ?? OTHERS[rule] ?? rule,
    items,
  }));
  const before = `${dataset.cases.length} cases, digest ${datasetDigest(dataset).slice(0, 12)}`;
  const line = `repaired by bench lint --fix from ${before}: links of the same repository only, merged between the opening and the closing of the issue`;
  return {
    header: { ...dataset.header, notes: [...dataset.header.notes, line], audit: [...dataset.header.audit, ...audit] },
    cases,
  };
}

const OTHERS: Readonly<Record<string, string>> = {
  "unexplained-target": "targets that only removed links explain",
  "no-accepted-link": "issues without an accepted link: no case is made of them",
};
