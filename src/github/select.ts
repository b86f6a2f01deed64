/**
 * Which links of an issue a data set takes: the links rule applied to what `resolve-timeline-prs` found.
 *
 * Pure and separate from the finding, so that another rule needs no request as long as the stage that asked looked for enough.
 */

import { err, ok, type Result } from "../base/result.js";
import { LINK_GRADES, type LinkGrade } from "../dataset/schema.js";
import { type LinkCandidate, type LinkRule, type LinksItem, linkRuleSchema } from "./schema.js";

/** Grades whose evidence speaks of *closing*; a link of these counts only without objections. */
export const CLOSING_GRADES: readonly LinkGrade[] = ["platform", "keyword", "commit"];

/** One link that a rule left out: `rule` is stable and countable, `what` a sentence. */
interface DroppedLink {
  readonly rule: string;
  readonly what: string;
  /** The pull request, `owner/repo#34`; or the issue where the issue as a whole is dropped. */
  readonly item: string;
}

export interface SelectedLinks {
  /** Kept links with the grade that the rule accepted. Empty = the issue has no link under this rule. */
  readonly links: readonly (LinkCandidate & { readonly selected_as: LinkGrade })[];
  readonly dropped: readonly DroppedLink[];
}

/** The rule as text, for a data set's header: `closing`, `mentions`, `closing, curated`. */
export function linkRuleText(rule: LinkRule): string {
  return typeof rule === "string" ? rule : rule.join(", ");
}

/** Reads a rule as it is typed: `closing`, `mentions`, or grades with commas between them (`closing,curated`). */
export function parseLinkRule(text: string): Result<LinkRule, string> {
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  const [only] = names;
  const rule = linkRuleSchema.safeParse(names.length === 1 && (only === "closing" || only === "mentions") ? only : names);
  if (rule.success) return ok(rule.data);
  return err(
    `${JSON.stringify(text.slice(0, 100))} is no links rule: give closing, mentions, or a list of closing, ${LINK_GRADES.join(", ")}`,
  );
}

export type LinkScope = LinksItem["scope"];

/** What must be asked for so that `rule` can be applied. */
export function scopeOf(rule: LinkRule): LinkScope {
  if (typeof rule === "string") return rule;
  return rule.includes("mention") ? "both" : "closing";
}

/** Can `rule` be applied to what was found under `scope`? `both` serves every rule. */
export function scopeCovers(scope: LinkScope, rule: LinkRule): boolean {
  return scope === "both" || scope === scopeOf(rule);
}

/** The widest rule that a scope serves: what it selects is worth the requests for its files. */
export function widestRule(scope: LinkScope): LinkRule {
  if (scope === "mentions") return "mentions";
  return LINK_GRADES.filter((grade) => scope === "both" || grade !== "mention");
}

/** Applies `rule`. `closedAt` is the issue's closing time, which the `mentions` rule compares. */
export function selectLinks(
  item: Pick<LinksItem, "id" | "links">,
  issue: { readonly closed_at: string | null },
  rule: LinkRule,
): SelectedLinks {
  return rule === "mentions" ? selectMentions(item, issue.closed_at) : selectByGrade(item, gradesOf(rule));
}

function gradesOf(rule: Exclude<LinkRule, "mentions">): ReadonlySet<LinkGrade> {
  if (rule === "closing") return new Set(CLOSING_GRADES);
  return new Set(rule.flatMap((name) => (name === "closing" ? CLOSING_GRADES : [name])));
}

/** The original's rule: some merged pull request was merged by the time of closing; then every merged one is kept. */
function selectMentions(item: Pick<LinksItem, "id" | "links">, closedAt: string | null): SelectedLinks {
  const dropped: DroppedLink[] = [];
  const merged: LinkCandidate[] = [];
  for (const link of item.links) {
    if (link.grades.length === 1 && link.grade === "curated") continue;
    if (link.merged_at === null) dropped.push(drop("not-merged", `${link.pull} was never merged`, link.pull));
    else merged.push(link);
  }
  const close = instant(closedAt);
  if (close === null)
    return { links: [], dropped: [...dropped, drop("no-close-date", `${item.id} has no closing date`, item.id)] };
  const inTime = merged.some((link) => (instant(link.merged_at) ?? Number.POSITIVE_INFINITY) <= close);
  if (merged.length > 0 && !inTime) {
    dropped.push(drop("merged-after-close", `every pull request that ${item.id} names was merged after it was closed`, item.id));
    return { links: [], dropped };
  }
  return { links: merged.map((link) => ({ ...link, selected_as: link.grade })), dropped };
}

function selectByGrade(item: Pick<LinksItem, "links">, accepted: ReadonlySet<LinkGrade>): SelectedLinks {
  const links: (LinkCandidate & { selected_as: LinkGrade })[] = [];
  const dropped: DroppedLink[] = [];
  const backports: typeof links = [];
  for (const link of item.links) {
    const blocked: DroppedLink[] = [];
    let kept: LinkGrade | undefined;
    for (const grade of LINK_GRADES) {
      if (!accepted.has(grade) || !link.grades.includes(grade)) continue;
      const objection = objectionTo(link, grade);
      if (objection === undefined) {
        kept = grade;
        break;
      }
      if (objection.rule === "backport") backports.push({ ...link, selected_as: grade });
      if (!blocked.some(({ rule }) => rule === objection.rule)) blocked.push(drop(objection.rule, objection.what, link.pull));
    }
    if (kept !== undefined) links.push({ ...link, selected_as: kept });
    else if (blocked.length > 0) dropped.push(...blocked);
    else dropped.push(drop("grade-not-selected", `${link.pull} is linked as ${link.grades.join(", ")} only`, link.pull));
  }
  // A backport repeats a fix. Where the fix itself is not linked, it is all that there is, and it names the same files.
  const [only] = backports;
  if (links.length > 0 || only === undefined) return { links, dropped };
  return {
    links: [{ ...only, evidence: [...only.evidence, "a backport; the fix that it repeats is not linked"] }],
    dropped: dropped.filter(({ item: pull, rule }) => pull !== only.pull || rule !== "backport"),
  };
}

/**
 * Evidence of closing must survive every check. What people stated (curated) or merely named (mention) says nothing about
 * closing, so only that the change exists is checked: there must have been a merge.
 */
function objectionTo(link: LinkCandidate, grade: LinkGrade): { rule: string; what: string } | undefined {
  if (grade === "curated" || grade === "mention") return link.objections.find(({ rule }) => rule === "not-merged");
  // Being a backport is the least of all objections: it counts only where nothing else speaks against the link.
  return link.objections.find(({ rule }) => rule !== "backport") ?? link.objections[0];
}

function drop(rule: string, what: string, item: string): DroppedLink {
  return { rule, what, item };
}

function instant(text: string | null): number | null {
  if (text === null) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
