/**
 * The data set: cases (questions with their truth) and the header that says where they come from.
 * Everything downstream of mining or importing speaks this shape, whatever format it came from.
 */
import * as z from "zod";
import type { RecordPlace } from "../base/plain-words.js";

export const DATASET_SCHEMA_VERSION = 3;

/** Best first. `curated` = stated by the makers of a recording or an imported data set; `mention` = named only. */
export const LINK_GRADES = ["platform", "keyword", "commit", "manual", "curated", "mention"] as const;
export type LinkGrade = (typeof LINK_GRADES)[number];

export const FILE_STATUSES = ["added", "removed", "modified", "renamed", "copied", "changed", "unchanged"] as const;
export const FILE_ROLES = ["source", "test", "docs", "build", "generated", "vendored"] as const;
export type FileRole = (typeof FILE_ROLES)[number];

/** Old side of a change: first line and count; a count of 0 means that lines were inserted after that line. */
const hunksSchema = z.array(z.tuple([z.number().int().nonnegative(), z.number().int().nonnegative()]));
const rangesSchema = z.array(z.tuple([z.number().int().positive(), z.number().int().positive()]));

/** One file of a pull request. `path` is its name after the change; `previous_path` before it, for a rename. */
export const changedFileSchema = z.object({
  path: z.string().min(1),
  /** null where the source does not say (the original's data sets). */
  status: z.enum(FILE_STATUSES).nullable(),
  previous_path: z.string().nullable().default(null),
  additions: z.number().int().nonnegative().nullable().default(null),
  deletions: z.number().int().nonnegative().nullable().default(null),
  role: z.enum(FILE_ROLES),
  /**
   * Was the file (under its name of then) in the tree before the case's first linked change, as what happened to it tells? null = the source
   * does not say what happened; absent = not told. A look into the tree itself is the target's `in_tree`.
   */
  exists_at_base: z.boolean().nullable().optional(),
  /** What changed, in lines of the file before this pull request; absent = not told (or a file that was not there). */
  hunks: hunksSchema.optional(),
});
export type ChangedFile = z.infer<typeof changedFileSchema>;

/** One pull request that is linked to the issue, with why we think so. */
export const linkSchema = z.object({
  /** `owner/repo`, lower case. */
  repository: z.string(),
  number: z.number().int(),
  title: z.string().nullable(),
  url: z.string().nullable(),
  merged_at: z.string().nullable(),
  /** null where the source does not say. */
  grade: z.enum(LINK_GRADES).nullable(),
  /** One human-readable sentence per piece of evidence. */
  evidence: z.array(z.string()).default([]),
  /** First parent of the merge, or the pull request's base; null where unknown. */
  base_commit: z.string().nullable().default(null),
  merge_commit: z.string().nullable().default(null),
  /** True when the source cut the file list (GitHub: 3,000 files). */
  files_truncated: z.boolean().default(false),
  files: z.array(changedFileSchema),
});
export type Link = z.infer<typeof linkSchema>;

/** A class or function that the fix changed. `ranges`: its own lines in the old file (several for overloads); null = not known. */
const namedPlaceSchema = z.object({ name: z.string().min(1), ranges: rangesSchema.nullable() });

/** A file that the fix changed and that an answer should name. */
export const targetSchema = z.object({
  /** Path in the tree that the question is asked about: the *old* path of a renamed file. */
  path: z.string().min(1),
  role: z.enum(FILE_ROLES),
  status: z.enum(FILE_STATUSES).nullable().default(null),
  /** Path after the fix where it differs. */
  renamed_to: z.string().nullable().default(null),
  /** Relevance, 1 unless the data set grades its truth. */
  grade: z.number().int().positive().default(1),
  /** 1-based inclusive line ranges in the old file; null = the whole file. */
  ranges: rangesSchema.nullable().default(null),
  /** The path lacks its beginning (a source root): the one file of the tree that ends with it is meant. */
  partial: z.boolean().optional(),
  /** Is it a file of the tree that the case is asked about? Absent = no tree was looked at. */
  in_tree: z.boolean().optional(),
  /** What `ranges` were made of. */
  hunks: hunksSchema.optional(),
  /** Classes and functions that the change concerns, by their names inside the file (`Outer.method`); absent = not known. */
  classes: z.array(namedPlaceSchema).optional(),
  functions: z.array(namedPlaceSchema).optional(),
});
export type Target = z.infer<typeof targetSchema>;

export const caseSchema = z.object({
  /** `owner/repo#number` in lower case; imports: `instance_id`, `<file>#<row>` or the bug's id. */
  id: z.string().min(1),
  repository: z.string().nullable().default(null),
  number: z.number().int().nullable().default(null),
  /** False where the number was made up because the source gives none (100001 and up). */
  number_is_real: z.boolean().default(true),
  title: z.string(),
  /** null = the source carries no text; "" = the issue has an empty one. */
  body: z.string().nullable().default(null),
  url: z.string().nullable().default(null),
  created_at: z.string().nullable().default(null),
  closed_at: z.string().nullable().default(null),
  /** When the text was last edited, null = never; absent = not told. */
  edited_at: z.string().nullable().optional(),
  state_reason: z.string().nullable().default(null),
  labels: z.array(z.string()).default([]),
  /** Commit whose tree the question is asked about; null = unknown (the corpus decides). */
  base_commit: z.string().nullable().default(null),
  links: z.array(linkSchema).default([]),
  /** All targets that the data set's policy selects, sorted by path, also those that a corpus may lack. */
  targets: z.array(targetSchema),
  /** Best grade among the links: the stratum that the case belongs to. */
  best_grade: z.enum(LINK_GRADES).nullable().default(null),
  /** Free strata for reports: { difficulty: "hard" }. */
  strata: z.record(z.string(), z.string()).default({}),
});
export type Case = z.infer<typeof caseSchema>;

/** What is true of the whole data set. */
export const datasetHeaderSchema = z.object({
  schema_version: z.literal(DATASET_SCHEMA_VERSION),
  /** `owner/repo`, or the name of an imported set. */
  project_name: z.string(),
  url: z.string().nullable(),
  /** Issues looked at before any rule dropped some; null where unknown. */
  scanned: z.number().int().nullable(),
  /** The link rule that was applied: `closing`, `mentions`, or a list of grades. */
  links: z.string().nullable(),
  /** File extensions that select targets, with the dot; null = every file. */
  extensions: z.array(z.string()).nullable(),
  /** Things a reader must know, in sentences ("29 issues have no real number ..."). */
  notes: z.array(z.string()).default([]),
  /** What each rule removed: name, count, and the items it concerned. Nothing is dropped without a line here. */
  audit: z
    .array(z.object({ rule: z.string(), removed: z.number().int(), what: z.string(), items: z.array(z.string()) }))
    .default([]),
});
export type DatasetHeader = z.infer<typeof datasetHeaderSchema>;

export interface Dataset {
  readonly header: DatasetHeader;
  readonly cases: readonly Case[];
}

/** A record that could not be used: where it is and what is wrong with it. The others still count. */
export interface BadRecord extends RecordPlace {
  readonly what: string;
  /** The id that an earlier record has already, where that is what is wrong. */
  readonly duplicate_of?: string;
}
