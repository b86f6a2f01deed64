/**
 * The mined file: the JSON that the original miner writes, and our superset of it.
 *
 * The original's fields keep their names and meaning, so that its scripts read our files; what ours adds lies beside them. Its versions differ
 * in one field (`description_message`, absent from the older ones) and have no version number; ours says `schema_version`.
 */
import * as z from "zod";
import { firstProblem } from "../base/plain-words.js";
import { bestGrade, changedFile, datasetDigest } from "./build.js";
import { Collected, type Raw, type ReadResult } from "./records.js";
import {
  type Case,
  caseSchema,
  DATASET_SCHEMA_VERSION,
  type Dataset,
  type DatasetHeader,
  datasetHeaderSchema,
  type Link,
} from "./schema.js";
import { byMergeTime, selectTargets } from "./targets.js";

/** The file's text: two blanks of indentation and a line break at the end, as people compare such files. `minedAt`: ISO 8601, UTC. */
export function minedFile(dataset: Dataset, minedAt: string): string {
  const { header, cases } = dataset;
  const file = {
    project_name: header.project_name,
    github_url: header.url,
    mined_at: minedAt,
    total_closed_issues_scanned: header.scanned,
    total_relevant_issues: cases.length,
    schema_version: header.schema_version,
    dataset_digest: datasetDigest(dataset),
    links: header.links,
    extensions: header.extensions,
    notes: header.notes,
    audit: header.audit,
    issues: cases.map(issueOf),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function issueOf(one: Case): Raw {
  const { number, title, url, created_at, closed_at, body, links, ...ours } = one;
  return {
    number,
    title,
    url,
    description_message: body,
    created_at,
    closed_at,
    linked_merged_pull_request_urls: links.flatMap(({ url: address }) => (address === null ? [] : [address])),
    linked_merged_pull_requests: links.map((link) => ({
      number: link.number,
      title: link.title,
      url: link.url,
      repository: link.repository,
      merged_at: link.merged_at,
      // Every file once, under its name after the change, whatever happened to it: the original's meaning.
      impacted_files: [...new Set(link.files.map(({ path }) => path))],
      impacted_files_count: new Set(link.files.map(({ path }) => path)).size,
      link: { grade: link.grade, evidence: link.evidence },
      base_commit: link.base_commit,
      merge_commit: link.merge_commit,
      files_truncated: link.files_truncated,
      files: link.files,
    })),
    ...ours,
  };
}

/** `<owner>__<repo>__{timestamp}`, lower case, without characters that some file system refuses. The engine puts the time in. */
export function minedFileStem(projectName: string): string {
  const safe = projectName
    .toLowerCase()
    .replaceAll("/", "__")
    .replace(/[^a-z0-9._-]/g, "_")
    .replace(/^[.-]/, "_");
  return `${safe.slice(0, 150) || "dataset"}__{timestamp}`;
}

export function isMinedFile(value: unknown): value is Raw & { readonly issues: readonly unknown[] } {
  return typeof value === "object" && value !== null && Array.isArray((value as { issues?: unknown }).issues);
}

const minedHeaderSchema = z.object({
  project_name: z.string().min(1),
  github_url: z.string().nullish(),
  total_closed_issues_scanned: z.number().int().nullish(),
  links: z.string().nullish(),
  extensions: z.array(z.string()).nullish(),
  notes: z.array(z.string()).nullish(),
  audit: datasetHeaderSchema.shape.audit.catch([]),
});

const pullSchema = z.object({
  number: z.number().int(),
  title: z.string().nullish(),
  url: z.string().nullish(),
  repository: z.string().nullish(),
  merged_at: z.string().nullish(),
  impacted_files: z.array(z.string().min(1)).nullish(),
  link: z.object({ grade: z.unknown().optional(), evidence: z.unknown().optional() }).nullish(),
  base_commit: z.unknown().optional(),
  merge_commit: z.unknown().optional(),
  files_truncated: z.unknown().optional(),
  files: z.array(z.unknown()).nullish(),
});

const issueSchema = z.looseObject({
  number: z.number().int().nullish(),
  title: z.string(),
  description_message: z.string().nullish(),
  linked_merged_pull_requests: z.array(pullSchema),
});

/** All versions of the original's file and ours. A string = the file as a whole can't be used, and why. */
export function readMinedFile(file: Raw & { readonly issues: readonly unknown[] }): ReadResult | string {
  const parsed = minedHeaderSchema.safeParse(file);
  if (!parsed.success) return `the head of the mined data set can't be used: ${firstProblem(parsed.error, file)}`;
  const version = file.schema_version;
  if (version !== undefined && version !== DATASET_SCHEMA_VERSION) {
    return `the data set has schema_version ${JSON.stringify(version)}; this program reads ${DATASET_SCHEMA_VERSION} and the original's files, which have none`;
  }
  const head = parsed.data;
  const isOurs = version !== undefined;
  const collected = new Collected();
  file.issues.forEach((raw, index) => {
    collected.add({ record: index + 1 }, readIssue(raw, head.project_name.toLowerCase(), isOurs));
  });
  const { cases, bad } = collected;
  const withoutText = cases.filter(({ body }) => body === null).length;
  const notes: string[] = [];
  if (!isOurs)
    notes.push("written by the original miner: links are mentions of any grade, and nothing says what happened to each file");
  if (withoutText > 0) notes.push(`${withoutText} of ${cases.length} issues carry no text (description_message is absent)`);
  const header: DatasetHeader = {
    schema_version: DATASET_SCHEMA_VERSION,
    project_name: head.project_name.toLowerCase(),
    url: head.github_url ?? null,
    scanned: head.total_closed_issues_scanned ?? null,
    links: isOurs ? (head.links ?? null) : "mentions",
    extensions: head.extensions ?? null,
    notes: [...(head.notes ?? [])],
    audit: head.audit,
  };
  if (typeof file.dataset_digest === "string" && file.dataset_digest !== datasetDigest({ cases })) {
    notes.push("the file was changed after it was written: its cases do not have the digest that it states");
  }
  return { dataset: { header: { ...header, notes: [...new Set([...header.notes, ...notes])] }, cases }, bad, notes };
}

function readIssue(raw: unknown, project: string, isOurs: boolean): Case | string {
  const parsed = issueSchema.safeParse(raw);
  if (!parsed.success) return firstProblem(parsed.error, raw);
  const issue = parsed.data;
  const links: unknown[] = issue.linked_merged_pull_requests.map((pull) => ({
    repository: (pull.repository ?? project).toLowerCase(),
    number: pull.number,
    title: pull.title ?? null,
    url: pull.url ?? null,
    merged_at: pull.merged_at ?? null,
    grade: pull.link?.grade ?? null,
    evidence: pull.link?.evidence ?? [],
    base_commit: pull.base_commit ?? null,
    merge_commit: pull.merge_commit ?? null,
    files_truncated: pull.files_truncated ?? false,
    files: pull.files ?? (pull.impacted_files ?? []).map(fileOfUnknownStatus),
  }));
  const { description_message, linked_merged_pull_requests, linked_merged_pull_request_urls, ...rest } = issue;
  if (isOurs) {
    const ours = { ...rest, body: description_message ?? null, links };
    const read = caseSchema.safeParse(ours);
    return read.success ? read.data : firstProblem(read.error, ours);
  }
  if (typeof issue.number !== "number") return "`number` is missing, and it is what names the issue";
  const theirs = {
    id: `${project}#${issue.number}`,
    repository: project,
    number: issue.number,
    title: issue.title,
    // The original writes null for an empty text, and its older versions wrote no text at all.
    body: description_message === undefined ? null : (description_message ?? ""),
    url: rest.url ?? null,
    created_at: rest.created_at ?? null,
    closed_at: rest.closed_at ?? null,
    links,
    targets: [],
  };
  const read = caseSchema.safeParse(theirs);
  if (!read.success) return firstProblem(read.error, theirs);
  const ordered: Link[] = [...read.data.links].sort(byMergeTime);
  const { targets } = selectTargets(ordered, { extensions: null, roles: null });
  return { ...read.data, links: ordered, targets: [...targets], best_grade: bestGrade(ordered) };
}

function fileOfUnknownStatus(path: string) {
  return changedFile({ path, status: null, previous_path: null, additions: null, deletions: null });
}
