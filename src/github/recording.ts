/**
 * Recordings: what GitHub answered about one repository, in one JSON file, so that mining can be repeated without network or token.
 *
 * A recording holds the *facts* of REST objects in the members that decisions use, not captured responses: paging, links, headers and the
 * nested objects are made when it is served (`recording-server.ts`), exactly as GitHub makes them, so that the code that reads them is
 * the code that runs live. Whatever is not REST lies beside the REST data (`curated_links`, `made_up`) and is never served.
 */
import * as z from "zod";
import { err, ok, type Result } from "../base/result.js";

const RECORDING_FORMAT = "bench-github-recording";
const RECORDING_VERSION = 1;

const slug = z.string().regex(/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/);
const instant = z
  .string()
  .max(40)
  .refine((text) => !Number.isNaN(Date.parse(text)), "not an instant");
const number = z.number().int().positive();

const commentSchema = z.strictObject({
  user: z.string().nullable().default(null),
  created_at: instant,
  body: z.string(),
});

/**
 * A timeline event; comments are not repeated here. `source` of a cross-reference names an issue or pull request of the recording,
 * or carries what is known of one that the recording lacks.
 */
const eventSchema = z.strictObject({
  event: z.string().min(1),
  created_at: instant.nullable().default(null),
  actor: z.string().nullable().optional(),
  commit_id: z.string().nullable().optional(),
  /** Repository of the commit where it is another one (a fork). */
  commit_repository: slug.optional(),
  state_reason: z.string().nullable().optional(),
  /** What only GraphQL tells: the pull request that closed the issue, and whether merging the source closes it (default: as its text says). */
  closer: z.strictObject({ repository: slug, number }).optional(),
  will_close_target: z.boolean().optional(),
  source: z
    .strictObject({
      repository: slug,
      number,
      is_pull: z.boolean().optional(),
      title: z.string().optional(),
      body: z.string().nullable().optional(),
      state: z.enum(["open", "closed"]).optional(),
      created_at: instant.optional(),
      merged_at: instant.nullable().optional(),
    })
    .optional(),
});
export type RecordedEvent = z.infer<typeof eventSchema>;

const threadMembers = {
  number,
  title: z.string().nullable(),
  body: z.string().nullable(),
  state: z.enum(["open", "closed"]),
  user: z.string().nullable().optional(),
  user_type: z.string().optional(),
  labels: z.array(z.string()).default([]),
  created_at: instant.nullable(),
  updated_at: instant.nullable().optional(),
  /** When the text was last edited, which GraphQL alone tells; null or absent = never. */
  edited_at: instant.nullable().optional(),
  closed_at: instant.nullable(),
  comments: z.array(commentSchema).default([]),
  timeline: z.array(eventSchema).default([]),
};

const issueSchema = z.strictObject({ ...threadMembers, state_reason: z.string().nullable().optional() });
export type RecordedIssue = z.infer<typeof issueSchema>;

const fileSchema = z.strictObject({
  filename: z.string().min(1),
  status: z.string().default("modified"),
  previous_filename: z.string().optional(),
  /** null for binary files. */
  additions: z.number().int().nonnegative().nullable().default(null),
  deletions: z.number().int().nonnegative().nullable().default(null),
  /** The hunks, as GitHub gives them; nothing but their line numbers is used. */
  patch: z.string().optional(),
});

const pullSchema = z.strictObject({
  ...threadMembers,
  merged_at: instant.nullable(),
  merge_commit_sha: z.string().nullable().default(null),
  base: z.strictObject({ ref: z.string().nullable().default(null), sha: z.string().nullable().default(null) }).optional(),
  head: z.strictObject({ ref: z.string().nullable().default(null), sha: z.string().nullable().default(null) }).optional(),
  /** Where GitHub states more files than it lists. */
  changed_files: z.number().int().nonnegative().optional(),
  files: z.array(fileSchema).default([]),
  commits: z.array(z.strictObject({ sha: z.string(), message: z.string(), parents: z.array(z.string()).default([]) })).optional(),
});
export type RecordedPull = z.infer<typeof pullSchema>;

export const recordingSchema = z.strictObject({
  format: z.literal(RECORDING_FORMAT),
  version: z.literal(RECORDING_VERSION),
  recorded_at: instant,
  /** What a reader must know, in sentences; they end in the data set's notes. */
  notes: z.array(z.string()).default([]),
  repository: z.strictObject({ full_name: slug, default_branch: z.string().default("main") }),
  made_up: z
    .strictObject({ /** Issues whose number GitHub never gave. */ numbers: z.array(number).default([]) })
    .default({ numbers: [] }),
  issues: z.array(issueSchema),
  pulls: z.array(pullSchema),
  foreign_pulls: z.array(z.strictObject({ repository: slug, ...pullSchema.shape })).default([]),
  /** Links that the makers of the recording state, which GitHub's data does not show. */
  curated_links: z
    .array(
      z.strictObject({
        issue: number,
        pull: z.string().regex(/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+#[0-9]{1,10}$/),
        why: z.string(),
      }),
    )
    .default([]),
});
export type Recording = z.infer<typeof recordingSchema>;

/** Reads a recording's text. The error names the first mistakes by their place in the file. */
export function parseRecording(text: string): Result<Recording, string> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return err(`it is not JSON (${error instanceof Error ? error.message.slice(0, 200) : "unreadable"})`);
  }
  const header = z.object({ format: z.unknown(), version: z.unknown() }).safeParse(json);
  if (!header.success || header.data.format !== RECORDING_FORMAT) {
    return err(`it is no recording: its member "format" should be ${JSON.stringify(RECORDING_FORMAT)}`);
  }
  if (header.data.version !== RECORDING_VERSION) {
    return err(`it has version ${JSON.stringify(header.data.version)}, and this program reads version ${RECORDING_VERSION}`);
  }
  const parsed = recordingSchema.safeParse(json);
  if (parsed.success) return ok(parsed.data);
  const mistakes = parsed.error.issues.slice(0, 3).map(({ path, message }) => `${path.join(".") || "the file"}: ${message}`);
  const more = parsed.error.issues.length - mistakes.length;
  return err(`${mistakes.join("; ")}${more > 0 ? `; and ${more} more` : ""}`);
}
