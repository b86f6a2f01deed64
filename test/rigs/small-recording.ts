/** Small recordings of our own making, for tests. */
import { type Recording, recordingSchema } from "../../src/github/recording.js";

type Input = Record<string, unknown>;

export const T = (day: number, hour = 0) => new Date(Date.UTC(2024, 0, day, hour)).toISOString().replace(".000", "");

export function sha(n: number): string {
  return n.toString(16).padStart(40, "0");
}

/** `o/r`: defaults for everything that a test doesn't speak of. */
export function smallRecording(
  parts: { issues?: Input[]; pulls?: Input[]; foreign_pulls?: Input[]; curated_links?: Input[] } = {},
): Recording {
  return recordingSchema.parse({
    format: "bench-github-recording",
    version: 1,
    recorded_at: T(31),
    repository: { full_name: "O/R", default_branch: "main" },
    issues: (parts.issues ?? []).map((issue) => ({ ...issueDefaults(issue), ...issue })),
    pulls: (parts.pulls ?? []).map((pull) => ({ ...pullDefaults(pull), ...pull })),
    foreign_pulls: (parts.foreign_pulls ?? []).map((pull) => ({ ...pullDefaults(pull), ...pull })),
    curated_links: parts.curated_links ?? [],
  });
}

function issueDefaults(issue: Input): Input {
  const closed = issue.closed_at === undefined ? T(20) : issue.closed_at;
  return {
    title: `issue ${issue.number}`,
    body: null,
    state: "closed",
    state_reason: "completed",
    created_at: T(1),
    closed_at: closed,
    timeline: [{ event: "closed", created_at: closed }],
  };
}

function pullDefaults(pull: Input): Input {
  const number = Number(pull.number);
  return {
    title: `change ${number}`,
    body: null,
    state: "closed",
    created_at: T(2),
    closed_at: T(10),
    merged_at: T(10),
    merge_commit_sha: sha(1000 + number),
    base: { ref: "main", sha: sha(number) },
    files: [{ filename: `src/File${number}.java`, status: "modified", additions: 1, deletions: 1 }],
  };
}

export const named = (number: number, at = T(10), repository = "O/R") => ({
  event: "cross-referenced",
  created_at: at,
  source: { repository, number },
});
export const closedEvent = (at = T(20), more: Input = {}) => ({ event: "closed", created_at: at, ...more });
