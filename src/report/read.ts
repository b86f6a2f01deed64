/**
 * Reads a report back: ours whole, so that it can be compared and reported again in another format without the cache; the original's as
 * far as it goes. The original kept neither ranks nor a digest of its data set, and leaves failed issues out of its figures: what is
 * read from it says so.
 */
import * as z from "zod";
import { visible } from "../base/diagnostics.js";
import { err, ok, type Result } from "../base/result.js";
import { type ScoredCase, type ScoreMeta, scoredCaseSchema, scoreMetaSchema } from "../scoring/contract.js";
import { type Summary, summarySchema } from "../scoring/summary-schema.js";

export interface ReadReport {
  readonly label: string;
  readonly meta: ScoreMeta;
  /** In the order of the report, which is that of the data set. */
  readonly cases: readonly ScoredCase[];
  /** Null for the original's. */
  readonly summary: Summary | null;
  readonly generatedAt: string | null;
  readonly datasetFile: string | null;
}

/** Measures that the original's counts suffice for. */
const ORIGINAL_MEASURES = ["P", "R", "F1", "P(micro)", "R(micro)", "F1(micro)"];

type Raw = Readonly<Record<string, unknown>>;

/** `file`: for messages. Error: a sentence. */
export function readReport(text: string, file: string): Result<ReadReport, string> {
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch (error) {
    return err(`${file} is not valid JSON: ${visible(error instanceof Error ? error.message : String(error)).slice(0, 200)}`);
  }
  if (!isRaw(value) || !Array.isArray(value.issues)) {
    const results = isRaw(value) && Array.isArray(value.cells);
    return err(
      results
        ? `${file} holds the figures of all cells without their cases: give the report of a cell, which it names, or the run's folder`
        : `${file} is no report: expected an object with \`issues\``,
    );
  }
  if (!isRaw(value.summary)) return err(`${file} is no report: it has no \`summary\``);
  return value.schema_version === undefined ? originalReport(value, value.issues, file) : ourReport(value, value.issues, file);
}

function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function ourReport(report: Raw, issues: readonly unknown[], file: string): Result<ReadReport, string> {
  const settings = isRaw(report.settings) ? report.settings : {};
  const backend = isRaw(report.backend) ? report.backend : {};
  const cases: ScoredCase[] = [];
  for (const [index, issue] of issues.entries()) {
    const read = scoredCaseSchema.safeParse(isRaw(issue) ? scoredCaseOf(issue) : issue);
    if (!read.success) return err(`${file}: issues[${index}]${problemOf(read.error)}`);
    cases.push(read.data);
  }
  const meta = scoreMetaSchema.safeParse({
    backend: backend.name,
    kind: backend.kind ?? null,
    identity: backend.identity ?? null,
    rules: report.rules,
    measures: settings.measures,
    dataset: report.dataset,
    corpus: report.corpus,
    order: [...new Set(cases.map(({ id }) => id))],
    unasked: [],
    only_answered: settings.only_answered,
    left_out: report.left_out,
    warnings: report.warnings,
  });
  if (!meta.success) return err(`${file} can't be read as a report of this version${problemOf(meta.error)}`);
  const summary = summarySchema.safeParse(report.summary);
  if (!summary.success) return err(`${file}: summary${problemOf(summary.error)}`);
  return ok({
    label: typeof report.label === "string" ? report.label : meta.data.backend,
    meta: meta.data,
    cases,
    summary: summary.data,
    generatedAt: textOf(report.generated_at),
    datasetFile: textOf(report.benchmark_source_file),
  });
}

function scoredCaseOf(issue: Raw): Raw {
  const inRepo = isRaw(issue.in_repo_only) ? issue.in_repo_only : null;
  return {
    ...issue,
    number: issue.issue_number,
    title: issue.issue_title,
    url: issue.issue_url,
    status: issue.answer_status,
    best_grade: issue.best_grade ?? null,
    excluded: issue.excluded ?? null,
    prompt: issue.query,
    in_repo_only:
      inRepo === null
        ? null
        : {
            ...inRepo,
            counts: { ...countsOf(inRepo), ambiguous: 0, duplicates: 0 },
            retained: inRepo.retained_expected_java_files,
            discarded: inRepo.discarded_expected_java_files,
          },
  };
}

function countsOf({ true_positives, false_positives, false_negatives }: Raw) {
  return { true_positives, false_positives, false_negatives };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function problemOf(error: z.ZodError): string {
  const first = error.issues[0];
  const path = (first?.path ?? []).map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  return visible(`${path}: ${first?.message ?? "it can't be used"}`).slice(0, 300);
}

const originalIssueSchema = z.object({
  issue_number: z.number().int(),
  issue_title: z.string().nullish(),
  issue_url: z.string().nullish(),
  status: z.enum(["ok", "error", "dry_run"]),
  error: z.string().nullish(),
  query: z.string().nullish(),
  expected_java_files: z.array(z.string()),
  predicted_classes: z.array(z.string()).nullish(),
  true_positives: z.number(),
  false_positives: z.number(),
  false_negatives: z.number(),
  precision: z.number(),
  recall: z.number(),
  f1: z.number(),
  raw_response: z.string().nullish(),
});

function originalReport(report: Raw, issues: readonly unknown[], file: string): Result<ReadReport, string> {
  const project = (textOf(report.project_name) ?? "").toLowerCase();
  const label = backendOf(file);
  const cases: ScoredCase[] = [];
  for (const [index, issue] of issues.entries()) {
    const read = originalIssueSchema.safeParse(issue);
    if (!read.success) return err(`${file}: issues[${index}]${problemOf(read.error)}`);
    cases.push(originalCase(read.data, project, label));
  }
  const sourceFile = textOf(report.benchmark_source_file);
  const meta: ScoreMeta = {
    backend: label,
    kind: null,
    identity: null,
    // No digest: nobody knows which version of the original made it.
    rules: { name: "seed", digest: "original", engine: "seed" },
    measures: ORIGINAL_MEASURES,
    dataset: {
      digest: "",
      project_name: project || "unknown",
      url: textOf(report.github_url),
      cases: cases.length,
      selected: cases.length,
      notes: [],
      links: null,
      extensions: null,
      scanned: null,
      audit: [],
    },
    corpus: null,
    order: [...new Set(cases.map(({ id }) => id))],
    unasked: [],
    only_answered: false,
    left_out: [],
    warnings: ["A report of the original program: it kept no ranks, so measures of rankings can't be made from it."],
  };
  return ok({ label, meta, cases, summary: null, generatedAt: null, datasetFile: sourceFile });
}

function originalCase(issue: z.infer<typeof originalIssueSchema>, project: string, backend: string): ScoredCase {
  const { true_positives: tp, false_positives: fp, false_negatives: fn, precision, recall, f1 } = issue;
  const failed = issue.status !== "ok";
  const predicted = issue.predicted_classes ?? [];
  const scores = {
    counts: { true_positives: tp, false_positives: fp, false_negatives: fn, ambiguous: 0, duplicates: 0 },
    precision,
    recall,
    f1,
    measures: { P: tp + fp > 0 ? precision : null, R: tp + fn > 0 ? recall : null, F1: f1 },
  };
  return {
    ...scores,
    id: `${project === "" ? "" : project}#${issue.issue_number}`,
    repeat: 0,
    backend,
    number: issue.issue_number,
    title: issue.issue_title ?? "",
    url: issue.issue_url ?? null,
    repository: project || null,
    changes: [],
    strata: {},
    best_grade: null,
    status: issue.status === "ok" ? "completed" : issue.status === "error" ? "failed" : "skipped",
    outcome: failed ? (issue.status === "error" ? "failed" : "skipped") : predicted.length > 0 ? "answered" : "unparsable",
    why: null,
    error: issue.error ?? null,
    finish_reason: null,
    targets: issue.expected_java_files,
    absent_targets: [],
    scored: issue.expected_java_files.length > 0,
    // The original leaves errors out of its figures and averages dry runs in as zeros.
    excluded: issue.status === "error" ? "failed" : null,
    predictions: [],
    draws: null,
    all_targets: scores,
    in_repo_only: null,
    expectation: null,
    prompt: issue.query ?? null,
    raw_response: issue.raw_response ?? "",
    seconds: null,
    usage: null,
    details: { ranking: "lost", predicted },
  };
}

/** `<dataset>__<backend>_eval__<time>.json`, as the original names its reports; else the file's own name. */
function backendOf(file: string): string {
  const name = file.split(/[\\/]/).at(-1) ?? file;
  const stem = name.replace(/\.json$/i, "");
  const end = stem.indexOf("_eval__");
  if (end === -1) return stem;
  return stem.slice(0, end).split("__").at(-1) ?? stem;
}
