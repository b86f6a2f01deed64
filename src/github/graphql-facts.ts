/**
 * GraphQL's answers in the shape of REST's: events, pull requests, files. What decides about links then reads one shape, and two routes
 * to the same fact can't decide differently.
 *
 * What only GraphQL knows stands in members that REST does not have (`will_close_target`, `closer`, the event `closed-by`).
 */
import { type Fields, isFields, object, text } from "./fields.js";
import { type PullDetails, pullDetails } from "./timeline.js";

/** Nodes of a connection, the unreadable ones (null) left out. */
export function nodesOf(from: Fields, name: string): Fields[] {
  const { nodes } = object(from, name);
  return Array.isArray(nodes) ? nodes.filter(isFields) : [];
}

/** Cursor of the next page, or null. */
export function nextCursor(from: Fields, name: string): string | null {
  const info = object(object(from, name), "pageInfo");
  return info.hasNextPage === true ? text(info, "endCursor") : null;
}

function repositoryName(node: Fields, name = "repository"): string | null {
  return text(object(node, name), "nameWithOwner");
}

function userOf(node: Fields): object | null {
  const { author } = node;
  return isFields(author) ? { login: text(author, "login"), type: text(author, "__typename") } : null;
}

/** REST sends null for an empty text. */
function bodyOf(node: Fields): string | null {
  return text(node, "body") || null;
}

/** The issue object that REST puts into a cross-reference. */
function sourceObject(node: Fields): Fields {
  const isPull = node.__typename === "PullRequest";
  return {
    number: node.number,
    title: text(node, "title"),
    body: bodyOf(node),
    html_url: text(node, "url"),
    created_at: text(node, "createdAt"),
    user: userOf(node),
    repository: { full_name: repositoryName(node) },
    ...(isPull ? { pull_request: { merged_at: text(node, "mergedAt") } } : {}),
  };
}

/** A pull request's own REST object, as far as `pullDetails` reads it. */
function pullObject(node: Fields): Fields {
  return {
    number: node.number,
    title: text(node, "title"),
    body: bodyOf(node),
    html_url: text(node, "url"),
    created_at: text(node, "createdAt"),
    merged_at: text(node, "mergedAt"),
    merge_commit_sha: text(object(node, "mergeCommit"), "oid"),
    changed_files: node.changedFiles,
    user: userOf(node),
    base: {
      ref: text(node, "baseRefName"),
      sha: text(node, "baseRefOid"),
      repo: {
        full_name: repositoryName(node),
        default_branch: text(object(object(node, "repository"), "defaultBranchRef"), "name"),
      },
    },
    head: { ref: text(node, "headRefName") },
  };
}

export function pullOfNode(node: Fields): PullDetails | null {
  const repository = repositoryName(node);
  const { number } = node;
  if (node.__typename !== "PullRequest" || repository === null || typeof number !== "number") return null;
  return pullDetails(pullObject(node), repository, number);
}

/** Every pull request that the answer carries whole, wherever it stands in it. */
export function pullsWithin(value: unknown): PullDetails[] {
  const found: PullDetails[] = [];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (Array.isArray(next)) for (const element of next) open.push(element);
    else if (isFields(next)) {
      const pull = pullOfNode(next);
      if (pull !== null && Object.hasOwn(next, "baseRefOid")) found.push(pull);
      for (const member of Object.values(next)) if (typeof member === "object") open.push(member);
    }
  }
  return found;
}

/** One timeline item as a REST event; null where REST would have none, or nothing of it can be read. */
export function eventOf(node: Fields): Fields | null {
  const at = text(node, "createdAt");
  const sourced = (event: string, member = "source"): Fields | null => {
    const { [member]: source } = node;
    return isFields(source) ? { event, created_at: at, source: { type: "issue", issue: sourceObject(source) } } : null;
  };
  switch (node.__typename) {
    case "ClosedEvent": {
      const { closer } = node;
      const by = isFields(closer) ? closer : {};
      const isCommit = by.__typename === "Commit";
      return {
        event: "closed",
        created_at: at,
        ...(isCommit ? commitMembers(text(by, "oid"), repositoryName(by)) : { commit_id: null, commit_url: null }),
        state_reason: text(node, "stateReason")?.toLowerCase() ?? null,
        ...(by.__typename === "PullRequest" ? { closer: sourceObject(by) } : {}),
      };
    }
    case "CrossReferencedEvent": {
      const event = sourced("cross-referenced");
      return event === null ? null : { ...event, will_close_target: node.willCloseTarget === true };
    }
    // Which end is the pull request depends on where the link was made.
    case "ConnectedEvent":
      return sourced("connected", pullEnd(node));
    case "DisconnectedEvent":
      return sourced("disconnected", pullEnd(node));
    case "ReferencedEvent":
      return {
        event: "referenced",
        created_at: at,
        ...commitMembers(text(object(node, "commit"), "oid"), repositoryName(node, "commitRepository")),
      };
    case "TransferredEvent":
      return { event: "transferred", created_at: at };
    case "IssueComment":
      return { event: "commented", created_at: at, body: text(node, "body") };
    case "RenamedTitleEvent":
      return { event: "renamed", created_at: at, rename: { from: text(node, "previousTitle"), to: text(node, "currentTitle") } };
    default:
      return null;
  }
}

function pullEnd(node: Fields): string {
  return object(node, "source").__typename === "PullRequest" ? "source" : "subject";
}

function commitMembers(oid: string | null, repository: string | null): Fields {
  return {
    commit_id: oid,
    commit_url: oid === null || repository === null ? null : `https://api.github.com/repos/${repository}/commits/${oid}`,
  };
}

/** What GitHub itself states, as events that REST does not have. */
export function statedEvents(issue: Fields): Fields[] {
  const byHand = new Set(nodesOf(issue, "linkedByHand").map(identity));
  return nodesOf(issue, "closedByPullRequestsReferences").map((pull) => ({
    event: byHand.has(identity(pull)) ? "linked-by-hand" : "closed-by",
    created_at: null,
    source: { type: "issue", issue: sourceObject(pull) },
  }));
}

function identity(pull: Fields): string {
  return `${repositoryName(pull)?.toLowerCase()}#${String(pull.number)}`;
}

const CHANGE: Readonly<Record<string, string>> = {
  ADDED: "added",
  DELETED: "removed",
  MODIFIED: "modified",
  RENAMED: "renamed",
  COPIED: "copied",
  CHANGED: "changed",
};

export function fileObject(node: Fields): Fields {
  const type = text(node, "changeType");
  return {
    filename: text(node, "path"),
    status: type === null ? null : (CHANGE[type] ?? null),
    additions: node.additions,
    deletions: node.deletions,
  };
}

/** GraphQL names no former path: a list with such a change must be had from REST. */
export function hasFormerPath(file: Fields): boolean {
  return file.status === "renamed" || file.status === "copied";
}

/** An issue of a list, as REST lists it. */
export function listedIssue(node: Fields, api: string): Fields {
  const milestone = object(node, "milestone");
  return {
    number: node.number,
    title: text(node, "title"),
    body: bodyOf(node),
    html_url: text(node, "url"),
    repository_url: `${api}/repos/${repositoryName(node)}`,
    state: text(node, "state")?.toLowerCase() ?? null,
    state_reason: text(node, "stateReason")?.toLowerCase() ?? null,
    created_at: text(node, "createdAt"),
    closed_at: text(node, "closedAt"),
    updated_at: text(node, "updatedAt"),
    last_edited_at: text(node, "lastEditedAt"),
    user: userOf(node),
    labels: nodesOf(node, "labels").map((label) => ({ name: text(label, "name"), description: text(label, "description") })),
    milestone: { title: text(milestone, "title"), description: text(milestone, "description") },
    comments: object(node, "comments").totalCount,
  };
}
