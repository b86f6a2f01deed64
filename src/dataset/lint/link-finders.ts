/** What is wrong with the links between issues and changes. */
import type { Case, Link } from "../schema.js";
import { counted, percentOf } from "./contract.js";
import { caseFinding, type Finder, finding, linkFinding, shortly } from "./finder.js";
import { brokenRules } from "./link-rules.js";

export const foreignRepository: Finder = (context) =>
  linkFinding(
    context,
    (one, link) => (brokenRules(one, link).includes("other-repository") ? counted(link.files.length, "file") : null),
    {
      name: "foreign-repository",
      severity: "error",
      what: (links, cases) =>
        `${counted(links, "link")} (${counted(cases, "case")}) to pull requests of other repositories, whose files are in no tree that is asked about`,
    },
  );

export const mergedBeforeIssue: Finder = (context) =>
  linkFinding(
    context,
    (one, link) =>
      brokenRules(one, link).includes("merged-before-issue") ? dates("opened", one.created_at, link.merged_at) : null,
    {
      name: "merged-before-issue",
      severity: "error",
      what: (links, cases) =>
        `${counted(links, "link")} (${counted(cases, "case")}) to changes merged before the issue was opened, which did not fix it`,
    },
  );

export const mergedAfterClose: Finder = (context) =>
  linkFinding(
    context,
    (one, link) =>
      brokenRules(one, link).includes("merged-after-close") ? dates("closed", one.closed_at, link.merged_at) : null,
    {
      name: "merged-after-close",
      severity: "error",
      what: (links, cases) =>
        `${counted(links, "link")} (${counted(cases, "case")}) to changes merged after the issue was closed`,
    },
  );

/** Days, or minutes where the day is the same. */
function dates(what: string, time: string | null, merged: string | null): string {
  const [a = "?", b = "?"] = [time, merged].map((one) => one?.slice(0, 10));
  const length = a === b ? 16 : 10;
  return `merged ${merged?.slice(0, length) ?? "?"}, ${what} ${time?.slice(0, length) ?? "?"}`;
}

export const mentionLink: Finder = (context) =>
  linkFinding(context, (_, { grade }) => (grade === "mention" || grade === null ? (grade ?? "grade unknown") : null), {
    name: "mention-link",
    severity: "warning",
    what: (links) =>
      `${counted(links, "link")} without a stated reason, or on a mention alone: nothing says that the change closes the issue`,
  });

export const notPlanned: Finder = (context) =>
  caseFinding(
    context,
    ({ id, state_reason }) => {
      const reason = state_reason?.toLowerCase().replaceAll(/[ -]/g, "_");
      return reason === "not_planned" || reason === "duplicate" ? { example: `${id} (${reason.replace("_", " ")})` } : null;
    },
    {
      name: "not-planned",
      severity: "warning",
      what: (cases) =>
        `${counted(cases, "case")} ${cases === 1 ? "was" : "were"} closed as not planned or as duplicates: whatever is linked did not fix them`,
    },
  );

/** The change is undone by another one of the data set, or undoes one. */
export const revert: Finder = (context) => {
  const undone = new Set<string>();
  for (const { links } of context.cases) {
    for (const { title, repository } of links) {
      const of = /^Revert "(.{1,300})"$/.exec(title?.trim() ?? "")?.[1];
      if (of !== undefined) undone.add(`${repository} ${of}`);
    }
  }
  const why = (_: Case, { title, repository }: Link) => {
    if (title === null) return null;
    if (/^revert\b/i.test(title.trim())) return "a revert";
    return undone.has(`${repository} ${title.trim()}`) ? "reverted" : null;
  };
  return linkFinding(context, why, {
    name: "revert",
    severity: "warning",
    what: (links) => `${counted(links, "link")} to reverts or to changes that another link reverts`,
  });
};

const BOT_LABELS = new Set(["dependencies", "dependabot", "renovate", "greenkeeper", "automated", "bot"]);
const BOT_TITLES = [
  /^(?:build|chore|fix|ci)\(deps(?:-dev)?\)/i,
  /^bump \S{1,100}(?: \S{1,20}){0,2} from [`v]{0,2}\d\S{0,60} to [`v]{0,2}\d/i,
  /^update (?:dependency|dependencies)\b/i,
  /\[(?:bot|dependabot|renovate)\]/i,
  /^\[?(?:snyk|greenkeeper|dependabot|renovate)\b/i,
];

export const bot: Finder = (context) =>
  caseFinding(
    context,
    (one) => {
      const label = one.labels.find((name) => BOT_LABELS.has(name.toLowerCase()));
      if (label !== undefined) return { example: `${one.id} (label ${shortly(label, 30)})` };
      const title = [one.title, ...one.links.map((link) => link.title ?? "")].find((text) =>
        BOT_TITLES.some((bots) => bots.test(text.trim())),
      );
      return title === undefined ? null : { example: `${one.id} (${shortly(title)})` };
    },
    {
      name: "bot",
      severity: "warning",
      what: (cases) =>
        `${counted(cases, "case")} ${cases === 1 ? "looks" : "look"} like the work of a bot, by title or label: nobody reported anything`,
    },
  );

/** More targets than this in one case, or more than a fifth of all (where there are five cases to share them), and nobody fixed one thing. */
const BULK_TARGETS = 50;
const BULK_SHARE = 0.2;
const FEWEST_CASES = 5;
const FEWEST_TARGETS = 20;

export const bulkChange: Finder = ({ cases, withTargets, targets }) => {
  const bulks = withTargets.filter(({ targets: own }) => {
    const large = own.length >= FEWEST_TARGETS && withTargets.length >= FEWEST_CASES && own.length > BULK_SHARE * targets;
    return own.length > BULK_TARGETS || large;
  });
  const largest = bulks.reduce((most, one) => Math.max(most, one.targets.length), 0);
  const sum = bulks.reduce((total, one) => total + one.targets.length, 0);
  const ids = new Set(bulks.map(({ id }) => id));
  return finding({
    name: "bulk-change",
    severity: largest > BULK_SHARE * targets ? "error" : "warning",
    unit: "cases",
    of: withTargets.length,
    hits: bulks.map(({ id, title, targets: own }) => ({
      id,
      example: `${id}: ${own.length} targets, ${percentOf(own.length, targets)} of all (${shortly(title)})`,
      weight: own.length,
    })),
    what: `${counted(bulks.length, "case")} own${bulks.length === 1 ? "s" : ""} ${sum} of ${targets} targets (${percentOf(sum, targets)}): pooled figures are about ${bulks.length === 1 ? "it" : "them"}`,
    without: cases.filter(({ id }) => !ids.has(id)),
  });
};

export const filesCut: Finder = (context) =>
  linkFinding(context, (_, { files_truncated, files }) => (files_truncated ? counted(files.length, "file") : null), {
    name: "files-cut",
    severity: "warning",
    what: (links) => `the file lists of ${counted(links, "link")} are cut: more files were changed than are known`,
  });

/** The text links to its own fix, or names its number: whoever may look it up has the answer. */
export const fixNamed: Finder = (context) =>
  caseFinding(
    context,
    (one) => {
      if (one.links.length === 0) return null;
      const text = `${one.title}\n${one.body ?? ""}`;
      const named = new Set<string>();
      for (const match of text.matchAll(/\/(?:pull|issues|merge_requests)\/(\d{1,9})\b|(?<![\w/&])#(\d{1,9})\b/g))
        named.add(match[1] ?? match[2] ?? "");
      const link = one.links.find(
        ({ number, repository }) => repository === one.repository && number !== one.number && named.has(String(number)),
      );
      return link === undefined ? null : { example: `${one.id} names #${link.number}` };
    },
    {
      name: "fix-named",
      severity: "info",
      what: (cases) =>
        `${counted(cases, "text")} ${cases === 1 ? "names" : "name"} the linked pull request: a system that may look it up is given the fix`,
    },
  );
