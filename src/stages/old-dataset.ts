/**
 * An older mined file as a source of the fetch stages: its issues are looked at and no others, and what it holds already and can't have
 * changed is not asked for again. What serves a stage is told to its units' keys; everything else keeps the key that it has anyway, so that
 * what was fetched without such a file serves here, and the other way round.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { readDataset } from "../dataset/read.js";
import type { Case, Dataset, Link } from "../dataset/schema.js";
import { StageProblem, type StageTools } from "../engine/contract.js";
import { changedRules, type LinkRules } from "../github/rules.js";
import type { IssueItem, LinkCandidate, LinkRule, LinksItem, PullFile } from "../github/schema.js";
import { type LinkScope, linkRuleText } from "../github/select.js";

export interface OldDataset {
  readonly header: Dataset["header"];
  /** Cases with a number, in the file's order. */
  readonly cases: readonly Case[];
  readonly byId: ReadonlyMap<string, Case>;
  readonly pulls: ReadonlyMap<string, Link>;
  /** Written by this program, so that every member of a case is what GitHub said. */
  readonly isOurs: boolean;
  /** Made with which lines changed. */
  readonly hasLines: boolean;
}

/** Throws `StageProblem` where it can't be read. */
export async function readOldDataset(path: string, tools: Pick<StageTools, "baseFolder">): Promise<OldDataset> {
  let text: string;
  try {
    text = await readFile(resolve(tools.baseFolder, path), "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new StageProblem(`the data set ${path} can't be read (${code}): check the path`);
  }
  const read = readDataset(text, path, "mined");
  if (!read.ok) throw new StageProblem(`the data set ${path} can't be used: ${read.error.message}`);
  const { header } = read.value.dataset;
  const cases = read.value.dataset.cases.filter(({ number }) => number !== null);
  const pulls = new Map<string, Link>();
  for (const link of cases.flatMap(({ links }) => links)) pulls.set(pullOf(link), link);
  return {
    header,
    cases,
    byId: new Map(cases.map((one) => [one.id, one])),
    pulls,
    hasLines: cases.some(({ links }) => links.some(({ files }) => files.some(({ hunks }) => hunks !== undefined))),
    isOurs: /"schema_version"\s{0,10}:/.test(text.slice(0, 10_000)),
  };
}

function pullOf({ repository, number }: Link): string {
  return `${repository.toLowerCase()}#${number}`;
}

/** Does the file hold all that a list would tell of the issue? The original's files lack labels and why it was closed. */
export function knowsIssue({ isOurs }: OldDataset, one: Case): boolean {
  return isOurs && one.body !== null && one.created_at !== null && one.closed_at !== null && one.url !== null;
}

/** The issue as the file tells of it. `references`: found in its texts by the caller, who knows the server's addresses. */
export function issueFromOld(one: Case, where: Pick<IssueItem, "repository" | "api_url" | "references" | "recorded">): IssueItem {
  return {
    ...where,
    id: one.id,
    number: one.number ?? 0,
    number_is_real: one.number_is_real,
    title: one.title,
    body: one.body || null,
    url: one.url,
    state: "closed",
    state_reason: one.state_reason,
    created_at: one.created_at,
    closed_at: one.closed_at,
    updated_at: null,
    ...(one.edited_at === undefined ? {} : { edited_at: one.edited_at }),
    labels: [...one.labels],
    author_type: null,
    comments: null,
  };
}

/**
 * The issue's links, where the file was made by the same rules and lacks nothing of them; else undefined. Links that its rules left out are
 * in its audit and not here.
 */
export function knownLinks(old: OldDataset, id: string, rule: LinkRule, rules: LinkRules): readonly Link[] | undefined {
  const links = old.byId.get(id)?.links ?? [];
  if (!old.isOurs || old.header.links !== linkRuleText(rule) || rule === "mentions") return undefined;
  if (changedRules(rules).length > 0 || old.header.notes.some((note) => note.startsWith(OTHER_RULES))) return undefined;
  const whole = links.every(
    (link) =>
      link.grade !== null &&
      link.evidence.length > 0 &&
      link.base_commit !== null &&
      link.merge_commit !== null &&
      knownFiles(old, pullOf(link), false) !== undefined,
  );
  return whole && links.length > 0 ? links : undefined;
}

/** How a data set's notes say that it was not made by the default rules. */
export const OTHER_RULES = "link rules other than the default: ";

export function linksFromOld(issue: IssueItem, links: readonly Link[], scope: LinkScope): LinksItem {
  return {
    id: issue.id,
    issue: { repository: issue.repository.toLowerCase(), number: issue.number },
    api_url: issue.api_url,
    recorded: issue.recorded,
    scope,
    last_close: { at: issue.closed_at, commit: null },
    links: links.map((link): LinkCandidate => {
      const grade = link.grade ?? "mention";
      return {
        pull: pullOf(link),
        repository: link.repository.toLowerCase(),
        number: link.number,
        title: link.title,
        url: link.url,
        created_at: null,
        merged_at: link.merged_at,
        base_ref: null,
        base_sha: link.base_commit,
        merge_commit_sha: link.merge_commit,
        changed_files: link.files.length,
        grade,
        grades: [grade],
        evidence: [...link.evidence],
        in_window: true,
        objections: [],
        wanted: true,
      };
    }),
    dropped: [],
    notes: [],
  };
}

/**
 * The files of a pull request, where the file tells of each what happened to it; a list that was cut is asked for again. `lines`: with
 * which lines changed, where the file was made with them; a file that is added, copied, binary or large has none.
 */
export function knownFiles(old: OldDataset, pull: string, lines: boolean): readonly PullFile[] | undefined {
  const link = old.pulls.get(pull);
  if (!old.isOurs || link === undefined || link.files_truncated || link.files.length === 0) return undefined;
  const isWhole = link.files.every(
    ({ status, previous_path }) => status !== null && ((status !== "renamed" && status !== "copied") || previous_path !== null),
  );
  if (!isWhole || (lines && !old.hasLines)) return undefined;
  return link.files.map(({ role: _, exists_at_base: __, hunks, ...file }) =>
    lines && hunks !== undefined ? { ...file, hunks } : file,
  );
}
