/** REST objects made of recorded facts: the members that GitHub sends and that someone might read, nested as GitHub nests them. */
import type { RecordedEvent, RecordedIssue, RecordedPull, Recording } from "./recording.js";

export interface Addresses {
  /** `https://api.github.com`, without a slash at the end. */
  readonly api: string;
  /** `https://github.com`. */
  readonly web: string;
}

/** Recorded threads by `owner/repo#number` in lower case. */
export type Thread =
  | { readonly kind: "issue"; readonly repository: string; readonly issue: RecordedIssue }
  | { readonly kind: "pull"; readonly repository: string; readonly pull: RecordedPull };

export class RecordedThreads {
  readonly own: string;
  readonly branch: string;
  readonly #byId = new Map<string, Thread>();

  constructor(recording: Recording) {
    this.own = recording.repository.full_name;
    this.branch = recording.repository.default_branch;
    for (const pull of recording.pulls) this.#add({ kind: "pull", repository: this.own, pull });
    for (const issue of recording.issues) this.#add({ kind: "issue", repository: this.own, issue });
    for (const pull of recording.foreign_pulls) this.#add({ kind: "pull", repository: pull.repository, pull });
  }

  #add(thread: Thread): void {
    this.#byId.set(`${thread.repository.toLowerCase()}#${numberOf(thread)}`, thread);
  }

  get(repository: string, number: number): Thread | undefined {
    return this.#byId.get(`${repository.toLowerCase()}#${number}`);
  }

  /** Threads of one repository; empty = the recording knows nothing of it. */
  of(repository: string): Thread[] {
    const name = repository.toLowerCase();
    return [...this.#byId.values()].filter((thread) => thread.repository.toLowerCase() === name);
  }
}

export function numberOf(thread: Thread): number {
  return thread.kind === "issue" ? thread.issue.number : thread.pull.number;
}

function factsOf(thread: Thread): RecordedIssue | RecordedPull {
  return thread.kind === "issue" ? thread.issue : thread.pull;
}

/** Time of the last change as the list sorts by it. */
export function updatedAt(thread: Thread): string | null {
  const facts = factsOf(thread);
  const last = facts.comments.at(-1)?.created_at ?? null;
  return facts.updated_at ?? latest(facts.closed_at, last, facts.created_at);
}

function latest(...instants: (string | null)[]): string | null {
  return instants.reduce(
    (best, next) => (best === null || (next !== null && Date.parse(next) > Date.parse(best)) ? next : best),
    null,
  );
}

function user(login: string | null | undefined, type = "User"): object | null {
  return typeof login === "string" ? { login, type } : null;
}

/** Where GitHub always names somebody, it names the ghost for an account that is gone. */
function userOrGhost(login: string | null | undefined, type?: string): object {
  return user(login, type) ?? { login: "ghost", type: "User" };
}

/** The issue object of a thread; a pull request has a `pull_request` member, also inside an issue list. */
export function issueObject(thread: Thread, at: Addresses): Record<string, unknown> {
  const facts = factsOf(thread);
  const { repository } = thread;
  const url = `${at.api}/repos/${repository}/issues/${facts.number}`;
  const isPull = thread.kind === "pull";
  const pullUrl = `${at.web}/${repository}/pull/${facts.number}`;
  return {
    url,
    repository_url: `${at.api}/repos/${repository}`,
    comments_url: `${url}/comments`,
    timeline_url: `${url}/timeline`,
    html_url: isPull ? pullUrl : `${at.web}/${repository}/issues/${facts.number}`,
    id: facts.number,
    number: facts.number,
    title: facts.title ?? "",
    body: facts.body,
    user: user(facts.user, facts.user_type),
    labels: facts.labels.map((name) => ({ name })),
    state: facts.state,
    state_reason: thread.kind === "issue" ? (thread.issue.state_reason ?? (facts.state === "closed" ? "completed" : null)) : null,
    locked: false,
    comments: facts.comments.length,
    created_at: facts.created_at,
    updated_at: updatedAt(thread),
    closed_at: facts.closed_at,
    ...(thread.kind === "pull"
      ? {
          draft: false,
          pull_request: {
            url: `${at.api}/repos/${repository}/pulls/${facts.number}`,
            html_url: pullUrl,
            diff_url: `${pullUrl}.diff`,
            patch_url: `${pullUrl}.patch`,
            merged_at: thread.pull.merged_at,
          },
        }
      : {}),
  };
}

export function pullObject(thread: Extract<Thread, { kind: "pull" }>, branch: string, at: Addresses): Record<string, unknown> {
  const { repository, pull } = thread;
  const repo = { full_name: repository, default_branch: branch, html_url: `${at.web}/${repository}` };
  return {
    url: `${at.api}/repos/${repository}/pulls/${pull.number}`,
    html_url: `${at.web}/${repository}/pull/${pull.number}`,
    issue_url: `${at.api}/repos/${repository}/issues/${pull.number}`,
    id: pull.number,
    number: pull.number,
    title: pull.title ?? "",
    body: pull.body,
    user: userOrGhost(pull.user, pull.user_type),
    labels: pull.labels.map((name) => ({ name })),
    state: pull.state,
    draft: false,
    created_at: pull.created_at,
    updated_at: updatedAt(thread),
    closed_at: pull.closed_at ?? pull.merged_at,
    merged_at: pull.merged_at,
    merged: pull.merged_at !== null,
    merge_commit_sha: pull.merge_commit_sha,
    // What is not known is left out: GitHub never sends null for it.
    base: { ref: pull.base?.ref ?? branch, ...known("sha", pull.base?.sha), repo },
    head: { ...known("ref", pull.head?.ref), ...known("sha", pull.head?.sha) },
    changed_files: pull.changed_files ?? pull.files.length,
    commits: pull.commits?.length ?? 1,
  };
}

function known(name: string, value: string | null | undefined): Record<string, string> {
  return typeof value === "string" ? { [name]: value } : {};
}

/** A pull request as a list gives it: without what only its own address tells. */
export function listedPullObject(...given: Parameters<typeof pullObject>): Record<string, unknown> {
  const { merged: _, changed_files: __, commits: ___, ...listed } = pullObject(...given);
  return listed;
}

export function fileObjects(pull: RecordedPull): Record<string, unknown>[] {
  return pull.files.map((file) => ({
    sha: null,
    filename: file.filename,
    status: file.status,
    additions: file.additions ?? 0,
    deletions: file.deletions ?? 0,
    changes: (file.additions ?? 0) + (file.deletions ?? 0),
    ...(file.previous_filename === undefined ? {} : { previous_filename: file.previous_filename }),
    ...(file.patch === undefined ? {} : { patch: file.patch }),
  }));
}

export function commitObject(
  repository: string,
  commit: { sha: string; message: string; parents: readonly string[] },
  at: Addresses,
): object {
  return {
    sha: commit.sha,
    url: `${at.api}/repos/${repository}/commits/${commit.sha}`,
    commit: { message: commit.message },
    parents: commit.parents.map((sha) => ({ sha })),
  };
}

export function commentObjects(thread: Thread, at: Addresses): Record<string, unknown>[] {
  const { number, comments } = factsOf(thread);
  const issue = `${at.api}/repos/${thread.repository}/issues/${number}`;
  return comments.map((comment, index) => ({
    id: number * 10_000 + index,
    issue_url: issue,
    html_url: `${at.web}/${thread.repository}/${thread.kind === "pull" ? "pull" : "issues"}/${number}#issuecomment-${number * 10_000 + index}`,
    user: userOrGhost(comment.user),
    created_at: comment.created_at,
    updated_at: comment.created_at,
    body: comment.body,
  }));
}

/** Events and comments of a thread in the order of time, equal times in the recorded order, events first. */
export function timelineObjects(thread: Thread, threads: RecordedThreads, at: Addresses): Record<string, unknown>[] {
  const { number, timeline } = factsOf(thread);
  const events = timeline.map((event, index) => eventObject(thread, event, number * 10_000 + 5_000 + index, threads, at));
  const comments = commentObjects(thread, at).map((comment) => ({ event: "commented", ...comment, actor: comment.user }));
  return [...events, ...comments].sort((a, b) => timeOf(a) - timeOf(b));
}

function timeOf(event: Record<string, unknown>): number {
  return typeof event.created_at === "string" ? Date.parse(event.created_at) : 0;
}

function eventObject(
  thread: Thread,
  event: RecordedEvent,
  id: number,
  threads: RecordedThreads,
  at: Addresses,
): Record<string, unknown> {
  const common = { event: event.event, created_at: event.created_at, actor: userOrGhost(event.actor) };
  if (event.event === "cross-referenced" && event.source !== undefined) {
    return { ...common, updated_at: event.created_at, source: { type: "issue", issue: sourceObject(event.source, threads, at) } };
  }
  const commit = event.commit_id ?? null;
  return {
    id,
    ...common,
    commit_id: commit,
    commit_url: commit === null ? null : `${at.api}/repos/${event.commit_repository ?? thread.repository}/commits/${commit}`,
    ...(event.state_reason === undefined ? {} : { state_reason: event.state_reason }),
    // REST sends no pull request with a connected event; a recording that knows it (from GraphQL) says so.
    ...(event.source === undefined ? {} : { source: { type: "issue", issue: sourceObject(event.source, threads, at) } }),
  };
}

function sourceObject(
  source: NonNullable<RecordedEvent["source"]>,
  threads: RecordedThreads,
  at: Addresses,
): Record<string, unknown> {
  const known = threads.get(source.repository, source.number);
  const repository = { full_name: known?.repository ?? source.repository };
  if (known !== undefined) return { ...issueObject(known, at), repository };
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
  const thread: Thread =
    source.is_pull === true || source.merged_at !== undefined
      ? {
          kind: "pull",
          repository: source.repository,
          pull: { ...facts, merged_at: source.merged_at ?? null, merge_commit_sha: null, files: [] },
        }
      : { kind: "issue", repository: source.repository, issue: facts };
  return { ...issueObject(thread, at), repository };
}
