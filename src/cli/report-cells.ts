/**
 * The cell that a report is about, from the report alone: for runs whose cache is gone, and for reports of the original program that kept
 * raw responses. A report has the answers and the truth but not the list of the tree's files, so only exact paths can be matched anew
 * unless the tree itself is given.
 */
import * as z from "zod";
import { readAnswers } from "../answers/file.js";
import { ANSWER_STATUSES, type Answer, answerSchema } from "../answers/schema.js";
import { recordPlace } from "../base/plain-words.js";
import { err, ok, type Result } from "../base/result.js";
import { type Case, caseSchema, type DatasetHeader, LINK_GRADES } from "../dataset/schema.js";
import { type ScoredCase, type ScoreMeta, scoredCaseSchema, scoreMetaSchema } from "../scoring/contract.js";
import { DEFAULT_BOOTSTRAP } from "../scoring/intervals.js";
import { datasetFacts, leftOut } from "../scoring/score-answers.js";
import { knownTargets } from "../scoring/truth.js";
import { type CellTrees, NO_TREES, type StoredCell } from "./stored-cell.js";

const { rules, dataset, corpus, left_out, warnings } = scoreMetaSchema.shape;

/** The members of our own reports that scoring needs; everything else is passed by. */
const ownReportSchema = z.object({
  label: z.string(),
  backend: z.object({ name: z.string(), kind: z.string().nullable(), identity: z.unknown() }),
  rules,
  dataset,
  corpus,
  left_out,
  warnings,
  settings: z.object({
    bootstrap_samples: z.number().nullable(),
    bootstrap_seed: z.number().nullable(),
    measures: z.array(z.string()),
    only_answered: z.boolean(),
  }),
  issues: z.array(
    z.looseObject({
      id: z.string(),
      repeat: z.number(),
      issue_number: z.number().nullable(),
      issue_title: z.string(),
      issue_url: z.string().nullable(),
      answer_status: z.enum([...ANSWER_STATUSES, "unasked"]),
      strata: z.record(z.string(), z.string()),
      targets: z.array(z.string()),
      absent_targets: z.array(z.string()),
    }),
  ),
});
type OwnReport = z.infer<typeof ownReportSchema>;
type OwnIssue = OwnReport["issues"][number];

export function isReport(value: unknown): value is { readonly issues: readonly unknown[] } {
  return typeof value === "object" && value !== null && Array.isArray((value as { issues?: unknown }).issues);
}

/** Is it one of ours (and not the original's)? */
export function isOwnReport(value: unknown): boolean {
  return isReport(value) && "schema_version" in value && "label" in value;
}

/** `text`: the report's JSON, `value`: the same, parsed. Error: what a person must read. */
export function reportCell(text: string, value: unknown, file: string): Result<StoredCell, string> {
  if (!isOwnReport(value)) return originalCell(text, value, file);
  const read = ownReportSchema.safeParse(value);
  if (!read.success) return err(`${file} is no report that can be scored again: ${z.prettifyError(read.error)}`);
  const report = read.data;
  const first = new Map<string, OwnIssue>();
  for (const issue of report.issues) if (!first.has(issue.id)) first.set(issue.id, issue);
  const cases = [...first.values()].map(caseOf);
  const answers = report.issues.flatMap((issue) => (issue.answer_status === "unasked" ? [] : [answerOf(issue)]));
  const facts: StoredCell["facts"] = {
    backend: report.backend.name,
    kind: report.backend.kind,
    identity: report.backend.identity ?? null,
    ...{ dataset: report.dataset, corpus: report.corpus, left_out: report.left_out, warnings: report.warnings },
    order: cases.map(({ id }) => id),
    only_answered: report.settings.only_answered,
  };
  const { bootstrap_samples: samples, bootstrap_seed: seed, measures } = report.settings;
  const scored = report.issues.map(scoredOf);
  const meta: ScoreMeta = {
    ...facts,
    rules: report.rules,
    measures,
    unasked: scored.filter(({ status }) => status === "unasked"),
  };
  return ok({
    label: report.label,
    answers,
    cases,
    header: headerOf(report.dataset),
    facts,
    trees: report.corpus === null ? NO_TREES : targetTrees(first, report.corpus),
    fileList: report.corpus === null ? "none" : "lost",
    before: { meta, digests: null, load: async () => ({ meta, cases: scored }) },
    bootstrap: { ...DEFAULT_BOOTSTRAP, ...(samples === null ? {} : { samples }), ...(seed === null ? {} : { seed }) },
  });
}

function caseOf(issue: OwnIssue): Case {
  const { links, ...strata } = issue.strata;
  const repository = /^([^\s/#]+\/[^\s/#]+)#\d+$/.exec(issue.id)?.[1] ?? null;
  return caseSchema.parse({
    id: issue.id,
    repository,
    number: issue.issue_number,
    title: issue.issue_title,
    body: null,
    url: issue.issue_url,
    targets: [...issue.targets, ...issue.absent_targets].map((path) => ({ path, role: "source" })),
    best_grade: LINK_GRADES.find((grade) => grade === links) ?? null,
    // A report has no texts: what they gave away is what it says, or unknown.
    strata: { leak: "unknown", ...(links === undefined || LINK_GRADES.some((grade) => grade === links) ? strata : issue.strata) },
  });
}

function answerOf(issue: OwnIssue): Answer {
  const { id, repeat, backend, answer_status, finish_reason, raw_response, error, usage, seconds, query, details } = issue;
  return answerSchema.parse({
    ...{ id, repeat, backend, finish_reason, error, usage, seconds, details },
    status: answer_status,
    response: typeof raw_response === "string" ? raw_response : "",
    prompt: query,
  });
}

function scoredOf(issue: OwnIssue): ScoredCase {
  const { links } = issue.strata;
  const inRepo = z
    .looseObject({ retained_expected_java_files: z.array(z.string()), discarded_expected_java_files: z.array(z.string()) })
    .nullable()
    .parse(issue.in_repo_only ?? null);
  return scoredCaseSchema.parse({
    ...issue,
    number: issue.issue_number,
    title: issue.issue_title,
    url: issue.issue_url,
    status: issue.answer_status,
    error: issue.answer_status === "unasked" ? null : issue.error,
    best_grade: LINK_GRADES.find((grade) => grade === links) ?? null,
    excluded: issue.excluded ?? null,
    prompt: issue.query,
    in_repo_only:
      inRepo === null
        ? null
        : {
            ...inRepo,
            counts: issue.counts,
            retained: inRepo.retained_expected_java_files,
            discarded: inRepo.discarded_expected_java_files,
          },
  });
}

/** The truth stays what it was in each case's tree. */
function targetTrees(issues: ReadonlyMap<string, OwnIssue>, corpus: NonNullable<ScoreMeta["corpus"]>): CellTrees {
  return {
    keyOf: ({ id }) => id,
    load: async (id) => {
      const targets = new Set(issues.get(id)?.targets);
      // The number of files is that of the first tree; of several trees it would be a guess.
      return knownTargets(targets, corpus.trees === 1 ? corpus.files : targets.size);
    },
  };
}

function headerOf(facts: ScoreMeta["dataset"]): DatasetHeader {
  const { project_name, url, scanned, links, extensions, notes } = facts;
  return { schema_version: 3, project_name, url, scanned, links, extensions, notes, audit: [] };
}

const originalIssueSchema = z.looseObject({
  issue_number: z.number().int(),
  issue_title: z.string().nullish(),
  issue_url: z.string().nullish(),
  expected_java_files: z.array(z.string()),
});

/** The original's report: its truth is the `.java` files that it lists, by their names after the change. */
function originalCell(text: string, value: unknown, file: string): Result<StoredCell, string> {
  const head = z.object({ project_name: z.string().nullish(), github_url: z.string().nullish() }).safeParse(value);
  const project = (head.success ? head.data.project_name : null)?.toLowerCase() ?? "unnamed/project";
  const { answers, bad, notes } = readAnswers(text, { file, project });
  if (answers.length === 0) {
    return err(
      `${file} holds no answer that can be scored: ${notes[0] ?? bad[0]?.what ?? "it has no issue with a raw response"}`,
    );
  }
  const cases = new Map<string, Case>();
  const unusable: string[] = [];
  for (const [index, issue] of (isReport(value) ? value.issues : []).entries()) {
    const read = originalIssueSchema.safeParse(issue);
    if (!read.success) {
      unusable.push(`issue ${index + 1}`);
      continue;
    }
    const { issue_number: number, issue_title, issue_url, expected_java_files: expected } = read.data;
    const id = `${project}#${number}`;
    const targets = expected.map((path) => ({ path, role: "source" }));
    const one = { id, repository: project, number, title: issue_title ?? "", body: null, url: issue_url ?? null, targets };
    if (!cases.has(id)) cases.set(id, caseSchema.parse({ ...one, strata: { leak: "unknown" } }));
  }
  const header: DatasetHeader = {
    ...{ schema_version: 3, project_name: project, url: head.success ? (head.data.github_url ?? null) : null, scanned: null },
    ...{
      links: "mentions",
      extensions: [".java"],
      notes: [`truth as ${file} lists it: the original's, of .java files alone`],
      audit: [],
    },
  };
  const selected = [...cases.values()];
  const backends = [...new Set(answers.map(({ backend }) => backend))];
  return ok({
    label: backends.length === 1 && backends[0] !== "unnamed" ? (backends[0] ?? "report") : "report",
    answers,
    cases: selected,
    header,
    facts: {
      ...{ backend: backends.join(", "), kind: null, identity: null },
      // Without texts and links a lint would find what the report lacks, not the data set.
      dataset: datasetFacts({ header, cases: selected }, { lint: false }),
      ...{ corpus: null, order: selected.map(({ id }) => id), only_answered: false },
      left_out: [
        ...leftOut(
          "records that are no answers",
          bad.map((one) => `${recordPlace(one)}: ${one.what}`),
        ),
        ...leftOut("issues of the report without a number or expected files", unusable),
      ],
      warnings: notes,
    },
    ...{ trees: NO_TREES, fileList: "none", before: null, bootstrap: DEFAULT_BOOTSTRAP },
  });
}
