/**
 * Issues, their accepted links and the files of those pull requests -> a data set. Pure: which links are accepted was decided before
 * (the links rule belongs to the room that knows GitHub), which files are targets is decided here, and nothing goes without a line in the audit.
 */
import { type Digest, digestJson } from "../base/json.js";
import { roleAudit } from "./role-audit.js";
import { fileRole } from "./roles.js";
import {
  type Case,
  type ChangedFile,
  DATASET_SCHEMA_VERSION,
  type Dataset,
  type DatasetHeader,
  LINK_GRADES,
  type Link,
  type LinkGrade,
} from "./schema.js";
import { byMergeTime, isAddedByFix, type SelectedTargets, selectTargets, type TargetPolicy, withPresence } from "./targets.js";

export interface MinedIssue {
  /** `owner/repo#12`. */
  readonly id: string;
  readonly repository: string;
  readonly number: number;
  readonly number_is_real: boolean;
  readonly title: string;
  /** null = it has no text. */
  readonly body: string | null;
  readonly url: string | null;
  readonly created_at: string | null;
  readonly closed_at: string | null;
  /** When the text was last edited, null = never; absent = not told. */
  readonly edited_at?: string | null | undefined;
  readonly state_reason: string | null;
  readonly labels: readonly string[];
}

interface Dropped {
  /** Stable name of the rule. */
  readonly rule: string;
  /** A sentence; shown once per rule where the rule has none of its own. */
  readonly what: string;
  /** What it concerned: a pull request, or the issue itself. */
  readonly item: string;
}

export interface IssueWithLinks {
  readonly issue: MinedIssue;
  /** Accepted links, with their files. */
  readonly links: readonly Link[];
  readonly dropped: readonly Dropped[];
  /** Why its truth is unknown (its links or files could not be fetched), or null. */
  readonly unknown: string | null;
}

export interface BuildOptions extends TargetPolicy {
  /** `owner/repo`. */
  readonly project: string;
  readonly url: string | null;
  readonly scanned: number | null;
  /** The links rule as text. */
  readonly links: string;
  readonly notes: readonly string[];
}

/** Sentences of the audit: what a rule took away. */
const RULES: Readonly<Record<string, string>> = {
  "other-repository": "links to pull requests of other repositories",
  "not-merged": "links to pull requests that were never merged",
  "merged-before-issue": "links to pull requests that were merged before the issue was opened",
  "merged-after-close": "links to pull requests that were merged after the issue was closed",
  "issue-not-closed": "closing links of issues that are open",
  "not-planned": "closing links of issues that were closed as not planned",
  duplicate: "closing links of issues that were closed as duplicates",
  reverted: "links to pull requests whose change was reverted",
  revert: "links to pull requests that take another change back",
  "other-branch": "links to pull requests that were merged into another branch than the default one",
  release: "links to releases and version bumps",
  backport: "links to backports of a fix that is linked itself",
  bot: "links to pull requests that a bot opened",
  transferred: "closing links of issues that were transferred here from another repository",
  "grade-not-selected": "links of a grade that the rule does not accept",
  "no-close-date": "issues without a closing date: the rule `mentions` compares with it",
  "not-a-pull-request": "names that belong to no pull request that can be read",
  "issue-gone": "issues that were deleted or transferred to another repository",
  "no-accepted-link": "issues without an accepted link: no case is made of them",
  "truth-unknown": "issues whose links or files could not be fetched: no case is made of them, run again",
  "duplicate-issue": "issues that were listed twice",
  extensions: "changed files without a selected extension",
};

export function buildDataset(issues: readonly IssueWithLinks[], options: BuildOptions): Dataset {
  const audit = new Audit();
  const cases: Case[] = [];
  const otherRoles: Parameters<typeof roleAudit>[0][number][] = [];
  const seen = new Set<string>();
  const sorted = [...issues].sort((a, b) => a.issue.number - b.issue.number || (a.issue.id < b.issue.id ? -1 : 1));
  for (const entry of sorted) {
    const id = entry.issue.id.toLowerCase();
    if (seen.has(id)) {
      audit.add("duplicate-issue", id);
      continue;
    }
    seen.add(id);
    for (const { rule, what, item } of entry.dropped) audit.add(rule, item === id ? id : `${id} <- ${item}`, what);
    if (entry.unknown !== null) {
      audit.add("truth-unknown", id, entry.unknown);
    } else if (entry.links.length === 0) {
      audit.add("no-accepted-link", id);
    } else {
      const built = buildCase(id, entry, options);
      for (const path of built.otherExtension) audit.add("extensions", `${id}: ${path}`);
      otherRoles.push({ id, files: built.otherRole, left: built.case.targets.length });
      cases.push(built.case);
    }
  }
  const header: DatasetHeader = {
    schema_version: DATASET_SCHEMA_VERSION,
    project_name: options.project.toLowerCase(),
    url: options.url,
    scanned: options.scanned,
    links: options.links,
    extensions: options.extensions === null ? null : [...options.extensions],
    notes: [...new Set([...options.notes, ...notesOf(cases, options)])],
    audit: [...audit.lines(), ...roleAudit(otherRoles, options.roles)].sort((a, b) => (a.rule < b.rule ? -1 : 1)),
  };
  return { header, cases };
}

function buildCase(
  id: string,
  { issue, links }: IssueWithLinks,
  options: BuildOptions,
): { case: Case; otherExtension: readonly string[]; otherRole: SelectedTargets["otherRole"] } {
  const repository = issue.repository.toLowerCase();
  const inOrder = withPresence(links).sort(byMergeTime);
  const selected = selectTargets(inOrder, options);
  const best = bestGrade(inOrder);
  return {
    otherExtension: selected.otherExtension,
    otherRole: selected.otherRole,
    case: {
      id,
      repository,
      number: issue.number,
      number_is_real: issue.number_is_real,
      title: issue.title,
      // GitHub sends null for an empty text; null is kept for sources that carry none.
      body: issue.body ?? "",
      url: issue.url,
      created_at: issue.created_at,
      closed_at: issue.closed_at,
      ...(issue.edited_at === undefined ? {} : { edited_at: issue.edited_at }),
      state_reason: issue.state_reason,
      labels: [...issue.labels],
      // The earliest change's base, and no later one's: that would already contain part of the fix.
      base_commit: inOrder.find((link) => link.repository === repository)?.base_commit ?? null,
      links: inOrder,
      targets: [...selected.targets],
      best_grade: best,
      strata: best === null ? {} : { links: best },
    },
  };
}

export function bestGrade(links: readonly Pick<Link, "grade">[]): LinkGrade | null {
  return LINK_GRADES.find((grade) => links.some((link) => link.grade === grade)) ?? null;
}

/** A changed file with its role. */
export function changedFile(file: Omit<ChangedFile, "role">): ChangedFile {
  return { ...file, role: fileRole(file.path) };
}

function notesOf(cases: readonly Case[], options: BuildOptions): string[] {
  const notes: string[] = [];
  const madeUp = cases.filter((one) => !one.number_is_real).length;
  // The source may have said so of all its issues.
  if (madeUp > 0 && !options.notes.some((note) => note.includes("no real number")))
    notes.push(`${madeUp} of ${cases.length} cases have no real number; theirs are made up (100001 and up)`);
  const without = cases.filter((one) => one.targets.length === 0).length;
  if (without > 0) {
    const which = [options.extensions?.join(", "), options.roles?.join(", ")].filter((text) => text !== undefined).join("; ");
    notes.push(
      `${without} of ${cases.length} cases have no target${which === "" ? "" : ` (${which})`}: they are shown, not scored`,
    );
  }
  const added = cases.reduce((sum, one) => sum + one.targets.filter(isAddedByFix).length, 0);
  if (added > 0)
    notes.push(
      `${added} targets are files that the fix added: they are not locatable, no answer can find them in the tree before it`,
    );
  const cut = new Set(
    cases.flatMap((one) => one.links.filter((link) => link.files_truncated).map((link) => `${link.repository}#${link.number}`)),
  );
  if (cut.size > 0) notes.push(`the file lists of ${cut.size} pull requests are cut: ${[...cut].sort().join(", ")}`);
  return notes;
}

class Audit {
  readonly #rules = new Map<string, { what: string; items: string[] }>();

  add(rule: string, item: string, what?: string): void {
    const line = this.#rules.get(rule);
    if (line === undefined) this.#rules.set(rule, { what: sentence(rule, what), items: [item] });
    else line.items.push(item);
  }

  lines(): DatasetHeader["audit"] {
    return [...this.#rules]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([rule, { what, items }]) => ({ rule, removed: items.length, what, items }));
  }
}

function sentence(rule: string, what: string | undefined): string {
  return (Object.hasOwn(RULES, rule) ? RULES[rule] : undefined) ?? what ?? `left out by the rule ${rule}`;
}

/** Names the cases: equal data sets have equal digests, whatever is noted about them. */
export function datasetDigest(dataset: Pick<Dataset, "cases">): Digest {
  return digestJson(dataset.cases);
}
