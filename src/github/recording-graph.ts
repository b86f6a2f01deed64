/**
 * A recording as a graph: objects with the fields of GitHub's GraphQL schema, for whoever executes a query over them.
 *
 * A field is a value or a function of its arguments, and an object of an abstract type names its own in `__typename`: what graphql-js takes
 * as a root value as it is, and what `recording-graphql.ts` executes without a schema. Both routes of mining are so answered from the same
 * facts. Only fields that mining asks for are here.
 */
import { closingReferences } from "./keywords.js";
import { proseOf } from "./prose.js";
import type { RecordedEvent, RecordedPull, Recording } from "./recording.js";
import { numberOf, RecordedThreads, type Thread, updatedAt } from "./recording-objects.js";

type Arguments = Readonly<Record<string, unknown>>;
export type GraphObject = Readonly<Record<string, unknown>>;

/** `path` is added by whoever executes. */
export class GraphNotFound extends Error {
  readonly extensions = { type: "NOT_FOUND" };
}

export interface GraphRecordingOptions {
  /** Web address in its answers; default `https://github.com`. */
  readonly web?: string;
}

/** A recording has no limit; it states the one of a token that was never used. */
const RATE = { cost: 1, limit: 5000, remaining: 5000, used: 0, nodeCount: 0, resetAt: "2100-01-01T00:00:00Z" };
const MOST_FILES = 3000;
const MOST_COMMITS = 250;

/** The query root. */
export function recordingGraph(recording: Recording, options: GraphRecordingOptions = {}): GraphObject {
  return new Graph(recording, options.web ?? "https://github.com").root();
}

type PullThread = Extract<Thread, { kind: "pull" }>;
type IssueThread = Extract<Thread, { kind: "issue" }>;

class Graph {
  readonly #threads: RecordedThreads;
  readonly #web: string;

  constructor(recording: Recording, web: string) {
    this.#threads = new RecordedThreads(recording);
    this.#web = web;
  }

  root(): GraphObject {
    return {
      rateLimit: RATE,
      repository: ({ owner, name }: Arguments) => {
        const asked = `${String(owner)}/${String(name)}`;
        const known = this.#threads.of(asked);
        const isOwn = asked.toLowerCase() === this.#threads.own.toLowerCase();
        if (!isOwn && known.length === 0) throw new GraphNotFound(`Could not resolve to a Repository with the name '${asked}'.`);
        return this.#repository(isOwn ? this.#threads.own : (known[0]?.repository ?? asked));
      },
    };
  }

  #repository(repository: string): GraphObject {
    const find = (number: unknown, kind: Thread["kind"]): Thread => {
      const thread = this.#threads.get(repository, Number(number));
      if (thread?.kind !== kind)
        throw new GraphNotFound(
          `Could not resolve to ${kind === "issue" ? "an Issue" : "a PullRequest"} with the number of ${String(number)}.`,
        );
      return thread;
    };
    return {
      __typename: "Repository",
      nameWithOwner: repository,
      defaultBranchRef: { name: this.#threads.branch },
      issue: ({ number }: Arguments) => this.#issue(find(number, "issue") as IssueThread),
      pullRequest: ({ number }: Arguments) => this.#pull(find(number, "pull") as PullThread),
      object: ({ oid }: Arguments) => this.#commit(repository, String(oid)),
      issues: (given: Arguments) => {
        const issues = this.#threads
          .of(repository)
          .filter((thread) => thread.kind === "issue")
          .filter(({ issue }) => !Array.isArray(given.states) || given.states.includes(issue.state.toUpperCase()))
          .sort((a, b) => millis(updatedAt(b)) - millis(updatedAt(a)) || b.issue.number - a.issue.number);
        return connection(issues, given, (issue) => this.#issue(issue));
      },
    };
  }

  #thread(thread: Thread): GraphObject {
    return thread.kind === "issue" ? this.#issue(thread) : this.#pull(thread);
  }

  #common(thread: Thread): GraphObject {
    const facts = thread.kind === "issue" ? thread.issue : thread.pull;
    const kind = thread.kind === "issue" ? "issues" : "pull";
    return {
      number: facts.number,
      title: facts.title ?? "",
      body: facts.body ?? "",
      url: `${this.#web}/${thread.repository}/${kind}/${facts.number}`,
      createdAt: facts.created_at,
      closedAt: facts.closed_at,
      updatedAt: updatedAt(thread),
      lastEditedAt: facts.edited_at ?? null,
      author: typeof facts.user === "string" ? { __typename: facts.user_type ?? "User", login: facts.user } : null,
      labels: (given: Arguments) => connection(facts.labels, given, (name) => ({ name, description: null })),
      milestone: null,
      comments: { totalCount: facts.comments.length },
      repository: () => this.#repository(thread.repository),
      timelineItems: (given: Arguments) => {
        const types = Array.isArray(given.itemTypes) ? given.itemTypes : null;
        const items = this.#timeline(thread).filter(({ type }) => types === null || types.includes(type));
        return connection(items, given, ({ node }) => node);
      },
    };
  }

  #issue(thread: IssueThread): GraphObject {
    const { issue } = thread;
    const reason = issue.state_reason ?? (issue.state === "closed" ? "completed" : null);
    return {
      __typename: "Issue",
      ...this.#common(thread),
      state: issue.state.toUpperCase(),
      // Without that argument GitHub does not tell duplicates.
      stateReason: ({ enableDuplicate }: Arguments) =>
        reason === "duplicate" && enableDuplicate !== true ? "COMPLETED" : (reason?.toUpperCase() ?? null),
      closedByPullRequestsReferences: (given: Arguments) => {
        const linked =
          given.userLinkedOnly === true ? this.#linkedByHand(thread) : [...this.#closing(thread), ...this.#linkedByHand(thread)];
        return connection([...new Set(linked)], given, (pull) => this.#pull(pull));
      },
    };
  }

  #pull(thread: PullThread): GraphObject {
    const { pull, repository } = thread;
    return {
      __typename: "PullRequest",
      ...this.#common(thread),
      mergedAt: pull.merged_at,
      baseRefName: pull.base?.ref ?? this.#threads.branch,
      baseRefOid: pull.base?.sha ?? null,
      headRefName: pull.head?.ref ?? "",
      changedFiles: pull.changed_files ?? pull.files.length,
      mergeCommit: pull.merge_commit_sha === null ? null : { __typename: "Commit", oid: pull.merge_commit_sha },
      files: (given: Arguments) => connection(pull.files.slice(0, MOST_FILES), given, fileNode),
      commits: (given: Arguments) =>
        connection((pull.commits ?? []).slice(0, MOST_COMMITS), given, ({ sha, message }) => ({
          commit: { __typename: "Commit", oid: sha, message, repository: () => this.#repository(repository) },
        })),
      closingIssuesReferences: (given: Arguments) => {
        const issues = this.#threads.of(repository).filter((other) => other.kind === "issue");
        return connection(
          issues.filter((issue) => this.#closing(issue).includes(thread)),
          given,
          (issue) => this.#issue(issue),
        );
      },
    };
  }

  #commit(repository: string, sha: string): GraphObject | null {
    const pulls = this.#threads.of(repository).filter((thread) => thread.kind === "pull");
    const holding = pulls.filter(
      ({ pull }) => pull.merge_commit_sha === sha || pull.commits?.some((commit) => commit.sha === sha),
    );
    const [first] = holding;
    if (first === undefined) return null;
    const recorded = holding.flatMap(({ pull }) => pull.commits ?? []).find((commit) => commit.sha === sha);
    return {
      __typename: "Commit",
      oid: sha,
      message: recorded?.message ?? first.pull.title ?? "",
      repository: () => this.#repository(repository),
      associatedPullRequests: (given: Arguments) => connection(holding, given, (pull) => this.#pull(pull)),
    };
  }

  /** Pull requests whose merge closes the issue, as GitHub would state it. */
  #closing(thread: IssueThread): PullThread[] {
    return thread.issue.timeline.flatMap((event) => {
      const source = event.event === "cross-referenced" ? this.#source(event) : undefined;
      return source?.kind === "pull" && this.#willClose(event, source, thread) ? source : [];
    });
  }

  #linkedByHand(thread: IssueThread): PullThread[] {
    const linked = new Map<string, PullThread>();
    for (const event of thread.issue.timeline) {
      const source = this.#source(event);
      if (source?.kind !== "pull") continue;
      const id = `${source.repository}#${source.pull.number}`;
      if (event.event === "connected") linked.set(id, source);
      if (event.event === "disconnected") linked.delete(id);
    }
    return [...linked.values()];
  }

  /** Recorded, or by the text: closing words work in pull requests to the default branch. */
  #willClose(event: RecordedEvent, source: PullThread, target: Thread): boolean {
    if (event.will_close_target !== undefined) return event.will_close_target;
    if ((source.pull.base?.ref ?? this.#threads.branch) !== this.#threads.branch) return false;
    const host = new URL(this.#web).host;
    return closingReferences(proseOf(source.pull.body ?? ""), source.repository, host).some(
      ({ repository, number }) => repository === target.repository.toLowerCase() && number === numberOf(target),
    );
  }

  /** The other thread of an event: one of the recording, or what the event tells of it. */
  #source({ source }: RecordedEvent): Thread | undefined {
    if (source === undefined) return undefined;
    const known = this.#threads.get(source.repository, source.number);
    if (known !== undefined) return known;
    const facts = {
      number: source.number,
      title: source.title ?? null,
      body: source.body ?? null,
      state: source.state ?? ("closed" as const),
      labels: [],
      created_at: source.created_at ?? null,
      closed_at: source.merged_at ?? null,
      comments: [],
      timeline: [],
    };
    const { repository } = source;
    if (source.is_pull !== true && source.merged_at === undefined) return { kind: "issue", repository, issue: facts };
    return {
      kind: "pull",
      repository,
      pull: { ...facts, merged_at: source.merged_at ?? null, merge_commit_sha: null, files: [] },
    };
  }

  /** Items in the order of time, equal times in the recorded order, events before comments: as REST tells them. */
  #timeline(thread: Thread): { type: string; at: number; node: GraphObject }[] {
    const { timeline, comments } = thread.kind === "issue" ? thread.issue : thread.pull;
    const events = timeline.flatMap((event) => {
      const item = this.#item(thread, event);
      return item === null ? [] : [{ ...item, at: millis(event.created_at) }];
    });
    const texts = comments.map(({ created_at, body }) => ({
      type: "ISSUE_COMMENT",
      at: millis(created_at),
      node: { __typename: "IssueComment", createdAt: created_at, body },
    }));
    return [...events, ...texts].sort((a, b) => a.at - b.at);
  }

  #item(thread: Thread, event: RecordedEvent): { type: string; node: GraphObject } | null {
    const at = event.created_at;
    const commitRepository = () => this.#repository(event.commit_repository ?? thread.repository);
    const commit =
      typeof event.commit_id === "string" ? { __typename: "Commit", oid: event.commit_id, repository: commitRepository } : null;
    switch (event.event) {
      case "closed": {
        const closer = event.closer === undefined ? undefined : this.#threads.get(event.closer.repository, event.closer.number);
        const reason = event.state_reason?.toUpperCase() ?? null;
        const by = closer === undefined ? commit : this.#thread(closer);
        return { type: "CLOSED_EVENT", node: { __typename: "ClosedEvent", createdAt: at, stateReason: reason, closer: by } };
      }
      case "cross-referenced":
      case "connected":
      case "disconnected": {
        const source = this.#source(event);
        if (source === undefined) return null;
        const names = {
          "cross-referenced": "CrossReferencedEvent",
          connected: "ConnectedEvent",
          disconnected: "DisconnectedEvent",
        };
        const types = {
          "cross-referenced": "CROSS_REFERENCED_EVENT",
          connected: "CONNECTED_EVENT",
          disconnected: "DISCONNECTED_EVENT",
        };
        const node = {
          __typename: names[event.event],
          createdAt: at,
          source: () => this.#thread(source),
          ...(event.event === "cross-referenced"
            ? {
                target: () => this.#thread(thread),
                willCloseTarget: source.kind === "pull" && thread.kind === "issue" && this.#willClose(event, source, thread),
              }
            : { subject: () => this.#thread(thread) }),
        };
        return { type: types[event.event], node };
      }
      case "referenced":
        return { type: "REFERENCED_EVENT", node: { __typename: "ReferencedEvent", createdAt: at, commit, commitRepository } };
      case "transferred":
        return { type: "TRANSFERRED_EVENT", node: { __typename: "TransferredEvent", createdAt: at } };
      default:
        return null;
    }
  }
}

const CHANGE: Readonly<Record<string, string>> = {
  added: "ADDED",
  removed: "DELETED",
  modified: "MODIFIED",
  renamed: "RENAMED",
  copied: "COPIED",
};

function fileNode(file: RecordedPull["files"][number]): GraphObject {
  return {
    path: file.filename,
    additions: file.additions ?? 0,
    deletions: file.deletions ?? 0,
    changeType: CHANGE[file.status] ?? "CHANGED",
  };
}

function connection<T>(all: readonly T[], { first, after }: Arguments, node: (of: T) => unknown): GraphObject {
  const start = typeof after === "string" ? Number(Buffer.from(after, "base64").toString("utf8").replace("cursor:", "")) : 0;
  const end = start + (typeof first === "number" ? first : all.length);
  return {
    totalCount: all.length,
    pageInfo: {
      hasNextPage: end < all.length,
      endCursor: end > start ? Buffer.from(`cursor:${Math.min(end, all.length)}`).toString("base64") : null,
    },
    nodes: all.slice(start, end).map(node),
  };
}

function millis(instant: string | null): number {
  const time = Date.parse(instant ?? "");
  return Number.isNaN(time) ? 0 : time;
}
