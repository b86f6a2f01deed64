/**
 * Link evidence and grades: what the texts and events of an issue say about each pull request, and what speaks against counting it
 * as closing. Pure; `resolve.ts` brings in what must be asked for.
 */
import { LINK_GRADES, type LinkGrade } from "../dataset/schema.js";
import { closingReferences } from "./keywords.js";
import { proseOf } from "./prose.js";
import { isBackport, isOn, isRelease, isRevert, type LinkRules } from "./rules.js";
import type { IssueItem, LinkCandidate, LinksItem } from "./schema.js";
import { type PullDetails, type PullFacts, pullKey, type TimelineFacts } from "./timeline.js";

/** A pull request while evidence about it is collected. */
export interface Candidate {
  pull: PullFacts;
  details: PullDetails | null;
  readonly grades: Set<LinkGrade>;
  readonly evidence: string[];
  /** The last close names its merge commit or one of its commits. */
  namedByClose: boolean;
  /** The revert that took it back, `owner/repo#n`. */
  revertedBy: string | null;
}

export class Candidates {
  readonly #byKey = new Map<string, Candidate>();

  get(key: string): Candidate | undefined {
    return this.#byKey.get(key);
  }

  all(): Candidate[] {
    return [...this.#byKey.values()];
  }

  /** The candidate, made if need be; what is known of the pull request is completed, never overwritten by less. */
  add(pull: PullFacts, grade: LinkGrade, evidence: string): Candidate {
    const key = pullKey(pull);
    let candidate = this.#byKey.get(key);
    if (candidate === undefined) {
      candidate = { pull, details: null, grades: new Set(), evidence: [], namedByClose: false, revertedBy: null };
      this.#byKey.set(key, candidate);
    } else if (candidate.pull.merged_at === undefined || (candidate.pull.body === undefined && pull.body !== undefined)) {
      candidate.pull = { ...candidate.pull, ...pull };
    }
    candidate.grades.add(grade);
    if (!candidate.evidence.includes(evidence)) candidate.evidence.push(evidence);
    return candidate;
  }
}

export interface LastClose {
  readonly at: string | null;
  readonly commit: string | null;
  readonly reason: string | null;
}

/** A reopened issue counts as closed when it was closed last. */
export function lastCloseOf(
  issue: Pick<IssueItem, "closed_at" | "state_reason">,
  facts: Pick<TimelineFacts, "closes">,
): LastClose {
  let last: TimelineFacts["closes"][number] | undefined;
  for (const close of facts.closes) {
    if (last === undefined || (millis(close.at) ?? 0) >= (millis(last.at) ?? 0)) last = close;
  }
  return {
    at: issue.closed_at ?? last?.at ?? null,
    commit: last?.commit ?? null,
    reason: issue.state_reason ?? last?.reason ?? null,
  };
}

/** The words of a closing reference to this issue in `text`, or null. `prose` where code and comments don't count. */
export function closingWords(
  text: string,
  how: "prose" | "raw",
  home: string,
  issue: { readonly repository: string; readonly number: number },
  webHost: string,
): string | null {
  const read = how === "prose" ? proseOf(text) : text;
  const found = closingReferences(read, home, webHost).find(
    (reference) => reference.repository === issue.repository && reference.number === issue.number,
  );
  return found?.words ?? null;
}

/** issue created <= merged <= last close; one second more where the close names the commit. */
export function isInWindow(
  issue: Pick<IssueItem, "created_at">,
  close: LastClose,
  candidate: Pick<Candidate, "pull" | "namedByClose">,
): boolean {
  return windowObjection(issue, close, candidate) === null;
}

type Objection = LinkCandidate["objections"][number];

function windowObjection(
  issue: Pick<IssueItem, "created_at">,
  close: LastClose,
  candidate: Pick<Candidate, "pull" | "namedByClose">,
): Objection | null {
  const merged = millis(candidate.pull.merged_at ?? null);
  if (merged === null) return { rule: "not-merged", what: `${pullKey(candidate.pull)} was never merged` };
  const created = millis(issue.created_at);
  if (created !== null && merged < created) {
    return {
      rule: "merged-before-issue",
      what: `${pullKey(candidate.pull)} was merged at ${candidate.pull.merged_at}, before the issue was opened at ${issue.created_at}`,
    };
  }
  const closed = millis(close.at);
  if (closed === null) return { rule: "issue-not-closed", what: "the issue has no closing date" };
  const slack = candidate.namedByClose ? 1000 : 0;
  if (merged > closed + slack) {
    return {
      rule: "merged-after-close",
      what: `${pullKey(candidate.pull)} was merged at ${candidate.pull.merged_at}, after the issue was closed at ${close.at}`,
    };
  }
  return null;
}

/** What stands around the candidates of one issue. */
export interface LinkSetting {
  readonly issue: Pick<IssueItem, "created_at" | "state" | "repository">;
  readonly close: LastClose;
  readonly rules: LinkRules;
  /** The issue came here from another repository. */
  readonly transferred: boolean;
}

/** Everything that speaks against counting the link as closing by the rules that are on, most telling first. */
export function objectionsTo(setting: LinkSetting, candidate: Candidate): Objection[] {
  return allObjections(setting, candidate).filter(({ rule }) => isOn(setting.rules, rule));
}

function allObjections({ issue, close, transferred }: LinkSetting, candidate: Candidate): Objection[] {
  const objections: Objection[] = [];
  const key = pullKey(candidate.pull);
  if (candidate.pull.repository !== issue.repository.toLowerCase()) {
    objections.push({ rule: "other-repository", what: `${key} changes another repository` });
  }
  const window = windowObjection(issue, close, candidate);
  if (window?.rule === "not-merged") return [...objections, window];
  if (issue.state !== "closed") objections.push({ rule: "issue-not-closed", what: "the issue is open" });
  else if (close.reason === "not_planned") objections.push({ rule: "not-planned", what: "the issue was closed as not planned" });
  else if (close.reason === "duplicate") objections.push({ rule: "duplicate", what: "the issue was closed as a duplicate" });
  if (window !== null && !objections.some(({ rule }) => rule === window.rule)) objections.push(window);
  if (transferred) objections.push({ rule: "transferred", what: "the issue was transferred here from another repository" });
  if (candidate.revertedBy !== null) {
    objections.push({ rule: "reverted", what: `${key} was reverted by ${candidate.revertedBy}` });
  }
  return [...objections, ...objectionsToKind(candidate)];
}

/** Objections to what the pull request is, whatever it is linked with. */
function objectionsToKind({ pull, details }: Candidate): Objection[] {
  const objections: Objection[] = [];
  const key = pullKey(pull);
  const title = JSON.stringify((pull.title ?? "").slice(0, 100));
  if (isRevert(pull.title)) objections.push({ rule: "revert", what: `${key} takes a change back: ${title}` });
  if (isOtherBranch(details)) {
    objections.push({ rule: "other-branch", what: `${key} was merged into ${JSON.stringify(details?.base_ref)}` });
  }
  if (isRelease(pull.title)) objections.push({ rule: "release", what: `${key} is a release or a version bump: ${title}` });
  if (isBackport(pull, details)) objections.push({ rule: "backport", what: `${key} is a backport: ${title}` });
  if (pull.bot === true || details?.bot === true) objections.push({ rule: "bot", what: `${key} was opened by a bot` });
  return objections;
}

function isOtherBranch(details: PullDetails | null): boolean {
  return details?.base_ref != null && details.default_branch !== null && details.base_ref !== details.default_branch;
}

/** The stored form, but for `wanted`. `withBase`: base and merge commit were asked for. */
export function asLink(setting: LinkSetting, candidate: Candidate, withBase: boolean): LinkCandidate {
  const { issue, close } = setting;
  const { pull, details } = candidate;
  const grades = LINK_GRADES.filter((grade) => candidate.grades.has(grade));
  const evidence = [...candidate.evidence];
  const branch = details?.base_ref ?? null;
  if (withBase && isOtherBranch(details)) {
    evidence.push(
      `merged into ${JSON.stringify(branch)}, not into the default branch ${JSON.stringify(details?.default_branch)}`,
    );
  }
  return {
    pull: pullKey(pull),
    repository: pull.repository,
    number: pull.number,
    title: pull.title,
    url: pull.url,
    created_at: pull.created_at,
    merged_at: pull.merged_at ?? null,
    base_ref: withBase ? branch : null,
    base_sha: withBase ? (details?.base_sha ?? null) : null,
    merge_commit_sha: withBase ? (details?.merge_commit_sha ?? null) : null,
    changed_files: withBase ? (details?.changed_files ?? null) : null,
    grade: grades[0] ?? "mention",
    grades,
    evidence,
    in_window: isInWindow(issue, close, candidate),
    objections: objectionsTo(setting, candidate),
    wanted: false,
  };
}

/** By merge time, repository, number; unmerged ones last. The order of the data set. */
export function inMergeOrder(links: readonly LinkCandidate[]): LinksItem["links"] {
  return [...links].sort(
    (a, b) =>
      (millis(a.merged_at) ?? Number.MAX_SAFE_INTEGER) - (millis(b.merged_at) ?? Number.MAX_SAFE_INTEGER) ||
      (a.repository < b.repository ? -1 : a.repository > b.repository ? 1 : a.number - b.number),
  );
}

function millis(instant: string | null): number | null {
  if (instant === null) return null;
  const time = Date.parse(instant);
  return Number.isNaN(time) ? null : time;
}
