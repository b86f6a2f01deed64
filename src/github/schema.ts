/**
 * The records that the three fetch stages hand on: an issue, its links, a pull request's files.
 *
 * They are projections of GitHub's REST objects: what a data set or a decision needs and nothing else, so that an item's
 * digest changes exactly when something relevant changed, and so that no third person's profile ends up in a cache.
 *
 * Item ids: issues and links `owner/repo#12`, files `owner/repo#34` (the pull request), all in lower case. A `LinksItem`
 * has the same id as the issue that it belongs to.
 */
import * as z from "zod";
import { FILE_STATUSES, LINK_GRADES } from "../dataset/schema.js";

/** Where a text named a pull request: the three patterns of the `mentions` rule, and an object with a `pull_request` member. */
const referenceSchema = z.object({
  /** `owner/repo`, lower case. */
  repository: z.string(),
  number: z.number().int().positive(),
  how: z.enum(["web-url", "api-url", "shorthand", "object"]),
});
export type Reference = z.infer<typeof referenceSchema>;

export const issueItemSchema = z.object({
  /** `owner/repo#12`, lower case. */
  id: z.string(),
  /** `owner/repo` as GitHub spells it now (a renamed repository has its new name). */
  repository: z.string(),
  number: z.number().int().positive(),
  /** False where a recording made the number up (100001 and up). */
  number_is_real: z.boolean(),
  title: z.string(),
  /** null = GitHub sent null, which it does for an empty body. */
  body: z.string().nullable(),
  /** Web address. */
  url: z.string().nullable(),
  state: z.enum(["open", "closed"]),
  /** `completed`, `not_planned`, `duplicate`, `reopened` or null. */
  state_reason: z.string().nullable(),
  created_at: z.string().nullable(),
  closed_at: z.string().nullable(),
  /** Changes with every comment and cross-reference, so that a refreshed list makes exactly the changed timelines stale. */
  updated_at: z.string().nullable(),
  /** When its text was last edited, null = never; absent = not told, which is REST's way. */
  edited_at: z.string().nullable().optional(),
  labels: z.array(z.string()),
  /** `User`, `Bot`, ... */
  author_type: z.string().nullable(),
  /** Comment count as the list gives it. */
  comments: z.number().int().nonnegative().nullable(),
  /** References by the `mentions` rule inside the issue object itself (its comments and events are the timeline's). */
  references: z.array(referenceSchema),
  /** Base address of the REST API that it came from: `https://api.github.com`. */
  api_url: z.string(),
  /** True where a recording answered. */
  recorded: z.boolean(),
});
export type IssueItem = z.infer<typeof issueItemSchema>;

/** Why a link can't count as closing although its evidence says so. One rule each. */
const OBJECTIONS = [
  "other-repository",
  "not-merged",
  "merged-before-issue",
  "merged-after-close",
  "issue-not-closed",
  "not-planned",
  "duplicate",
  "transferred",
  "reverted",
  "revert",
  "other-branch",
  "release",
  "backport",
  "bot",
] as const;

const linkCandidateSchema = z.object({
  /** `owner/repo#34`, lower case: the id of its `FilesItem`. */
  pull: z.string(),
  /** `owner/repo`, lower case. */
  repository: z.string(),
  number: z.number().int().positive(),
  title: z.string().nullable(),
  /** Web address. */
  url: z.string().nullable(),
  created_at: z.string().nullable(),
  merged_at: z.string().nullable(),
  /** Branch that it was merged into; null where nothing needed asking for it. */
  base_ref: z.string().nullable(),
  /** Tip of that branch as the pull request knows it. */
  base_sha: z.string().nullable(),
  merge_commit_sha: z.string().nullable(),
  /** Number of changed files that the pull request itself states. */
  changed_files: z.number().int().nonnegative().nullable(),
  /** Best of `grades`. */
  grade: z.enum(LINK_GRADES),
  /** Every grade that some evidence supports, best first; `mention` is always among them unless the link is only curated. */
  grades: z.array(z.enum(LINK_GRADES)),
  /** One sentence per piece of evidence. */
  evidence: z.array(z.string()),
  /** issue created <= merged <= last close (one second more where the close event names its commit). */
  in_window: z.boolean(),
  /** Of the rules that were on; empty = a link of grade platform, keyword or commit counts as closing. */
  objections: z.array(z.object({ rule: z.enum(OBJECTIONS), what: z.string() })),
  /** True where the links rule of the resolving stage selects it: exactly these have a `FilesItem` (once merged). */
  wanted: z.boolean(),
});
export type LinkCandidate = z.infer<typeof linkCandidateSchema>;

/**
 * What was asked for. `closing`: what decides about closing; pull requests that are only named in texts stay unresolved. `mentions`:
 * every reference, and nothing that decides about closing (grades other than mention may be missing, base commits are null). `both`.
 */
const LINK_SCOPES = ["closing", "mentions", "both"] as const;

export const linksItemSchema = z.object({
  /** The issue's id. */
  id: z.string(),
  issue: z.object({ repository: z.string(), number: z.number().int().positive() }),
  api_url: z.string(),
  recorded: z.boolean(),
  scope: z.enum(LINK_SCOPES),
  /** The last close, from the timeline, else from the issue. */
  last_close: z.object({ at: z.string().nullable(), commit: z.string().nullable() }),
  /** Every pull request that was linked, sorted by merge time, repository, number; unmerged ones last. */
  links: z.array(linkCandidateSchema),
  /** What was left out of `links` and why. */
  dropped: z.array(z.object({ rule: z.string(), what: z.string(), item: z.string() })),
  /** What a reader must know ("a connected event names no pull request in REST"). */
  notes: z.array(z.string()),
});
export type LinksItem = z.infer<typeof linksItemSchema>;

const pullFileSchema = z.object({
  /** Path after the change. */
  path: z.string().min(1),
  status: z.enum(FILE_STATUSES).nullable(),
  /** Path before it, for a rename or a copy. */
  previous_path: z.string().nullable(),
  additions: z.number().int().nonnegative().nullable(),
  deletions: z.number().int().nonnegative().nullable(),
  /** Old sides of its changes, from the patch that GitHub gives with a file that is not too large; absent = none was given. */
  hunks: z.array(z.tuple([z.number().int().nonnegative(), z.number().int().nonnegative()])).optional(),
});
export type PullFile = z.infer<typeof pullFileSchema>;

export const filesItemSchema = z.object({
  /** `owner/repo#34`, lower case. */
  id: z.string(),
  pull: z.string(),
  repository: z.string(),
  number: z.number().int().positive(),
  /** In GitHub's order, first occurrence of a path kept. */
  files: z.array(pullFileSchema),
  /** True where the list is not complete: GitHub cut it (3,000 files), listed fewer than it says were changed, or no longer has it. */
  truncated: z.boolean(),
  /** Number of changed files that the pull request itself states; null where nothing needed asking for it. */
  changed_files: z.number().int().nonnegative().nullable(),
  /** The base branch's commit that the pull request names (a recording may know the merge's first parent); null = not asked for. */
  base_commit: z.string().nullable(),
  merge_commit: z.string().nullable(),
});
export type FilesItem = z.infer<typeof filesItemSchema>;

/** `meta` of the output of `fetch-issues`: facts for the data set's header. */
export const issuesMetaSchema = z.object({
  /** As GitHub spells it. */
  repository: z.string(),
  /** Web address of the repository. */
  url: z.string(),
  /** Closed issues listed (`scanned` of the data set). */
  listed: z.number().int().nonnegative(),
  /** 0 = all. */
  limit: z.number().int().nonnegative(),
  recorded: z.boolean(),
  /** When the recording was made, where one answered. */
  recorded_at: z.string().nullable(),
  /** Ids of listed issues whose number is made up. */
  made_up_numbers: z.array(z.string()),
  /** Sentences for the data set's notes. */
  notes: z.array(z.string()),
});
export type IssuesMeta = z.infer<typeof issuesMetaSchema>;

/** `closing`, `mentions`, or a list of grades and the set name `closing`. */
export const linkRuleSchema = z.union([z.enum(["closing", "mentions"]), z.array(z.enum(["closing", ...LINK_GRADES])).min(1)]);
export type LinkRule = z.infer<typeof linkRuleSchema>;

/** `meta` of the output of `resolve-timeline-prs`. */
export const linksMetaSchema = z.object({
  /** The rule that `wanted` follows. */
  links: linkRuleSchema,
  scope: z.enum(LINK_SCOPES),
  /** Rules that were not as by default: `bots=off`. */
  rules: z.array(z.string()),
});
export type LinksMeta = z.infer<typeof linksMetaSchema>;
