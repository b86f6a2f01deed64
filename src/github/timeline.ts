/** Reads a timeline: the few facts that decide about links, out of REST events of all versions. */
import { count, type Fields, instant, isFields, object, sha, text } from "./fields.js";
import { repositoryOf } from "./references.js";

/** A pull request as far as someone told of it. undefined = not told; null = told that there is none. */
export interface PullFacts {
  /** `owner/repo`, lower case. */
  readonly repository: string;
  readonly number: number;
  readonly title: string | null;
  readonly url: string | null;
  readonly body?: string | null;
  readonly created_at: string | null;
  readonly merged_at: string | null | undefined;
  /** Opened by a program and not by a person; undefined = not told. */
  readonly bot?: boolean | undefined;
}

/** What only the pull request's own object tells. */
export interface PullDetails extends PullFacts {
  readonly body: string | null;
  readonly merged_at: string | null;
  readonly base_ref: string | null;
  readonly head_ref: string | null;
  readonly base_sha: string | null;
  readonly merge_commit_sha: string | null;
  readonly default_branch: string | null;
  readonly changed_files: number | null;
}

export interface TimelineFacts {
  readonly closes: readonly { readonly at: string | null; readonly commit: string | null; readonly reason: string | null }[];
  /** Pull requests that cross-reference the thread, each once, the last telling kept. */
  readonly pulls: readonly PullFacts[];
  /** `owner/repo#n` of pull requests connected by hand and not disconnected afterwards. */
  readonly connected: readonly PullFacts[];
  /** Connections of which REST does not say the pull request, minus disconnections of the same kind. */
  readonly unnamedConnections: number;
  /** Commits of the same repository whose message names the thread, newest last. */
  readonly commits: readonly string[];
  /** It came here from another repository: numbers in older texts mean that one. */
  readonly transferredIn: boolean;
  /** Pull requests of which GitHub itself states that they close the thread, with its words; only GraphQL tells. */
  readonly stated: readonly { readonly pull: PullFacts; readonly evidence: string }[];
}

export function pullKey(pull: { readonly repository: string; readonly number: number }): string {
  return `${pull.repository}#${pull.number}`;
}

/** @param repository of the thread, lower case */
export function readTimeline(events: readonly unknown[], repository: string): TimelineFacts {
  const closes: TimelineFacts["closes"][number][] = [];
  const pulls = new Map<string, PullFacts>();
  const connected = new Map<string, PullFacts>();
  const commits = new Set<string>();
  const stated: TimelineFacts["stated"][number][] = [];
  let unnamed = 0;
  let transferredIn = false;
  const linked = new Map<string, PullFacts>();
  const state = (pull: PullFacts | null, evidence: string): void => {
    if (pull !== null) stated.push({ pull, evidence });
  };
  for (const event of events) {
    if (!isFields(event)) continue;
    switch (text(event, "event")) {
      case "closed":
        closes.push({
          at: instant(event, "created_at"),
          // A commit of another repository can close an issue too; it belongs to no pull request here.
          commit: commitRepository(event, repository) === repository ? sha(event, "commit_id") : null,
          reason: text(event, "state_reason"),
        });
        state(pullOfIssue(object(event, "closer"), repository), "the event that closed the issue names the pull request");
        break;
      case "cross-referenced": {
        const pull = sourcePull(event, repository);
        if (pull !== null) pulls.set(pullKey(pull), pull);
        if (event.will_close_target === true) state(pull, "GitHub states that merging the pull request closes the issue");
        break;
      }
      case "closed-by":
        state(sourcePull(event, repository), "GitHub lists the pull request among those that close the issue");
        break;
      case "linked-by-hand": {
        const pull = sourcePull(event, repository);
        if (pull !== null) linked.set(pullKey(pull), pull);
        break;
      }
      case "connected":
      case "disconnected": {
        const sign = event.event === "connected" ? 1 : -1;
        const pull = sourcePull(event, repository);
        if (pull === null) unnamed += sign;
        else if (sign > 0) connected.set(pullKey(pull), pull);
        else connected.delete(pullKey(pull));
        break;
      }
      case "referenced": {
        const commit = sha(event, "commit_id");
        if (commit !== null && commitRepository(event, repository) === repository) commits.add(commit);
        break;
      }
      case "transferred":
        transferredIn = true;
        break;
    }
  }
  return {
    closes,
    pulls: [...pulls.values()],
    connected: [...new Map([...linked, ...connected]).values()],
    unnamedConnections: Math.max(0, unnamed),
    commits: [...commits],
    transferredIn,
    stated,
  };
}

function sourcePull(event: Fields, repository: string): PullFacts | null {
  const issue = object(object(event, "source"), "issue");
  return pullOfIssue(issue, repository);
}

/** The pull request that an issue object stands for, or null where it is an issue. `repository` is used where it names none. */
export function pullOfIssue(issue: Fields, repository: string): PullFacts | null {
  const { number } = issue;
  if (!isFields(issue.pull_request) || typeof number !== "number" || !Number.isSafeInteger(number) || number < 1) return null;
  const body = text(issue, "body");
  const pull = issue.pull_request;
  return {
    repository: (repositoryOf(issue) ?? repository).toLowerCase(),
    number,
    title: text(issue, "title"),
    url: text(issue, "html_url"),
    ...(Object.hasOwn(issue, "body") ? { body } : {}),
    created_at: instant(issue, "created_at"),
    merged_at: Object.hasOwn(pull, "merged_at") ? instant(pull, "merged_at") : undefined,
    ...botMember(issue),
  };
}

/** A pull request's own object. */
export function pullDetails(pull: Fields, repository: string, number: number): PullDetails {
  const base = object(pull, "base");
  return {
    repository: (text(object(base, "repo"), "full_name") ?? repository).toLowerCase(),
    number,
    title: text(pull, "title"),
    url: text(pull, "html_url"),
    body: text(pull, "body"),
    created_at: instant(pull, "created_at"),
    merged_at: instant(pull, "merged_at"),
    ...botMember(pull),
    base_ref: text(base, "ref"),
    head_ref: text(object(pull, "head"), "ref"),
    base_sha: sha(base, "sha"),
    merge_commit_sha: sha(pull, "merge_commit_sha"),
    default_branch: text(object(base, "repo"), "default_branch"),
    changed_files: count(pull, "changed_files"),
  };
}

/** An account of type Bot; on old servers only its name shows it. */
function botMember(of: Fields): { bot?: boolean } {
  if (!Object.hasOwn(of, "user")) return {};
  const user = object(of, "user");
  return { bot: text(user, "type") === "Bot" || text(user, "login")?.endsWith("[bot]") === true };
}

export function commitFacts(commit: Fields): { sha: string | null; message: string } {
  return { sha: sha(commit, "sha"), message: text(object(commit, "commit"), "message") ?? "" };
}

/** Repository of the commit, lower case: pushes to a fork show up in the same timeline. */
function commitRepository(event: Fields, repository: string): string {
  const match = /\/repos\/([A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+)\/commits\//.exec((text(event, "commit_url") ?? "").slice(0, 500));
  return (match?.[1] ?? repository).toLowerCase();
}
