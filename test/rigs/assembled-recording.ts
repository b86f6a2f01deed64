/**
 * Reads a recording that others assembled (format `recording/1`) into ours, for tests that run where such a file lies beside the project.
 *
 * Its notes (what was derived, which links a rule would keep) are no part of GitHub's data and are left behind. Derived dates count as dates;
 * an issue of unknown state, of which no date is known, is not listed.
 */
import type { RecordedIssue, RecordedPull, Recording } from "../../src/github/recording.js";
import { recordingSchema } from "../../src/github/recording.js";

interface Assembled {
  repository: { full_name: string; default_branch: string };
  issues: AssembledIssue[];
  pulls: AssembledPull[];
  foreign_pulls: (AssembledPull & { repository: string })[];
}
interface AssembledThread {
  number: number;
  title: string | null;
  body?: string | null;
  state: string | null;
  created_at?: string | null;
  closed_at?: string | null;
  labels?: string[] | null;
  comments?: { user: string | null; created_at: string; body: string }[] | null;
  user?: string | null;
}
interface AssembledIssue extends AssembledThread {
  timeline: {
    event: string;
    created_at: string | null;
    commit_id?: string | null;
    source_issue_number?: number;
    source_repository?: string;
    is_pr?: boolean;
  }[];
}
interface AssembledPull extends AssembledThread {
  merged_at: string | null;
  merge_commit_sha?: string | null;
  base?: { ref?: string | null; sha?: string | null } | null;
  head?: { ref?: string | null; sha?: string | null } | null;
  files:
    | { filename: string; status?: string; additions?: number | null; deletions?: number | null; previous_filename?: string }[]
    | null;
}

export function fromAssembled(json: unknown): Recording {
  const from = json as Assembled;
  return recordingSchema.parse({
    format: "bench-github-recording",
    version: 1,
    recorded_at: "2026-04-20T09:08:43Z",
    repository: { full_name: from.repository.full_name, default_branch: from.repository.default_branch },
    issues: from.issues.filter(({ state }) => state === "open" || state === "closed").map(issue),
    pulls: from.pulls.filter(({ state }) => state === "open" || state === "closed").map(pull),
    foreign_pulls: from.foreign_pulls.map((foreign) => ({ repository: foreign.repository, ...pull(foreign) })),
  } satisfies Record<keyof Omit<Recording, "notes" | "made_up" | "curated_links">, unknown>);
}

function thread(from: AssembledThread) {
  return {
    number: from.number,
    title: from.title,
    body: from.body ?? null,
    state: from.state === "open" ? ("open" as const) : ("closed" as const),
    user: from.user ?? null,
    labels: from.labels ?? [],
    created_at: from.created_at ?? null,
    closed_at: from.closed_at ?? null,
    comments: (from.comments ?? []).map(({ user, created_at, body }) => ({ user, created_at, body })),
  };
}

function issue(from: AssembledIssue): RecordedIssue {
  return {
    ...thread(from),
    timeline: from.timeline.map((event) => ({
      event: event.event,
      created_at: event.created_at,
      ...(event.commit_id === undefined ? {} : { commit_id: event.commit_id }),
      ...(event.source_issue_number === undefined || event.source_repository === undefined
        ? {}
        : { source: { repository: event.source_repository, number: event.source_issue_number, is_pull: event.is_pr === true } }),
    })),
  };
}

function pull(from: AssembledPull): RecordedPull {
  return {
    ...thread(from),
    timeline: [],
    merged_at: from.merged_at,
    merge_commit_sha: from.merge_commit_sha ?? null,
    base: { ref: from.base?.ref ?? null, sha: from.base?.sha ?? null },
    head: { ref: from.head?.ref ?? null, sha: from.head?.sha ?? null },
    files: (from.files ?? []).map((file) => ({
      filename: file.filename,
      status: file.status ?? "modified",
      additions: file.additions ?? null,
      deletions: file.deletions ?? null,
      ...(file.previous_filename === undefined ? {} : { previous_filename: file.previous_filename }),
    })),
  };
}
