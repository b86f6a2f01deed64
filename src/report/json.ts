/**
 * The report of one cell as JSON: a superset of the original's report. Its members keep their names and meanings (also the
 * Java in `expected_java_files`, whatever the language), so that scripts written for old reports read new ones; ours stand
 * beside them. Numbers are in full precision: a report is data, and rounding is for people.
 */
import { compareCodePoints } from "../answers/python-text.js";
import { FINAL_STATUSES } from "../answers/schema.js";
import type { ScoredCase, ScoreMeta, ViewScores } from "../scoring/contract.js";
import type { Summary } from "../scoring/summary-schema.js";
import { effortOf } from "./effort.js";

const REPORT_SCHEMA_VERSION = 1;

export interface Cell {
  /** Unique among the cells of a report; safe as a file name. */
  readonly label: string;
  readonly meta: ScoreMeta;
  /** In data-set order, cases without an answer included. */
  readonly cases: readonly ScoredCase[];
  readonly summary: Summary;
}

export interface ReportFacts {
  /** ISO 8601; null where the time is no part of the report (`bench score`, whose output is a function of its input). */
  readonly generatedAt: string | null;
  /** The data set as the user named it; null in a pipeline. */
  readonly datasetFile: string | null;
  /** Of the programs that made it (`bench`, `node`); absent where they are no part of it. */
  readonly versions?: Readonly<Record<string, string>>;
}

export function reportJson({ label, meta, cases, summary }: Cell, facts: ReportFacts) {
  return {
    schema_version: REPORT_SCHEMA_VERSION,
    generated_at: facts.generatedAt,
    versions: facts.versions ?? null,
    benchmark_source_file: facts.datasetFile,
    project_name: meta.dataset.project_name,
    github_url: meta.dataset.url,
    label,
    backend: { name: meta.backend, kind: meta.kind, identity: meta.identity ?? null },
    rules: meta.rules,
    dataset: meta.dataset,
    corpus: meta.corpus,
    left_out: meta.left_out,
    warnings: meta.warnings,
    settings: {
      bootstrap_samples: summary.bootstrap?.samples ?? null,
      bootstrap_seed: summary.bootstrap?.seed ?? null,
      in_repo_only_enabled: summary.in_repo_only.enabled,
      in_repo_only_reference_pool_size: meta.corpus?.files ?? null,
      measures: meta.measures,
      only_answered: meta.only_answered,
    },
    summary,
    cost_and_latency: effortOf(cases),
    issues: cases.map(issueJson),
  };
}

function issueJson(scored: ScoredCase) {
  const { details } = scored;
  const expected = [...scored.targets];
  const predicted = predictedIds(scored);
  return {
    issue_number: scored.number,
    issue_title: scored.title,
    issue_url: scored.url,
    status: originalStatus(scored),
    error: scored.error ?? (scored.status === "unasked" ? "there is no answer for this case" : null),
    query: scored.prompt,
    expected_java_files: expected,
    expected_java_files_count: expected.length,
    predicted_classes: predicted,
    predicted_classes_count: predicted.length,
    ...originalCounts(scored),
    command: details.command ?? null,
    request_url: details.request_url ?? null,
    request_payload: details.request_payload ?? null,
    llm_content: details.llm_content ?? (details.provider === undefined ? null : scored.raw_response),
    raw_response: scored.raw_response,
    in_repo_only: inRepoJson(scored),

    id: scored.id,
    repeat: scored.repeat,
    backend: scored.backend,
    /** The stored status; `status` above is the original's word for it. */
    answer_status: scored.status,
    outcome: scored.outcome,
    why: scored.why,
    scored: scored.scored,
    excluded: scored.excluded,
    best_grade: scored.best_grade,
    repository: scored.repository ?? null,
    changes: scored.changes ?? [],
    strata: scored.strata,
    targets: scored.targets,
    ...(scored.grades === undefined ? {} : { grades: scored.grades }),
    absent_targets: scored.absent_targets,
    predictions: scored.predictions,
    draws: scored.draws,
    measures: scored.measures,
    counts: scored.counts,
    all_targets: scored.all_targets,
    expectation: scored.expectation,
    finish_reason: scored.finish_reason,
    seconds: scored.seconds,
    usage: scored.usage,
    details: scored.details,
  };
}

function originalStatus({ status }: ScoredCase): "ok" | "error" | "dry_run" {
  if (status === "skipped") return "dry_run";
  return status !== "unasked" && FINAL_STATUSES.has(status) ? "ok" : "error";
}

function originalCounts({ counts, precision, recall, f1 }: ViewScores) {
  const { true_positives, false_positives, false_negatives } = counts;
  return { true_positives, false_positives, false_negatives, precision, recall, f1 };
}

function inRepoJson({ in_repo_only: view }: ScoredCase) {
  if (view === null) return null;
  const { retained, discarded } = view;
  const all = retained.length + discarded.length;
  return {
    original_expected_java_files_count: all,
    retained_expected_java_files: retained,
    retained_expected_java_files_count: retained.length,
    expected_java_files: retained,
    expected_java_files_count: retained.length,
    discarded_expected_java_files: discarded,
    discarded_expected_java_files_count: discarded.length,
    discarded_expected_java_files_ratio: all > 0 ? discarded.length / all : 0,
    ...originalCounts(view),
    measures: view.measures,
  };
}

/**
 * The original's ids, sorted as it sorts them. The `seed` rules give them; else the resolved path, or what the answer said by
 * its shape: a path, a qualified name, a simple name. Rank and spelling are in `predictions`.
 */
function predictedIds({ predictions }: ScoredCase): string[] {
  const ids = predictions.map(({ id, path, raw }) => {
    if (id !== null) return id;
    if (path !== null) return `path:${path.toLowerCase()}`;
    const name = raw.trim().toLowerCase();
    if (/[\\/]/.test(name)) return `path:${name.replaceAll("\\", "/")}`;
    return name.includes(".") ? `fqcn:${name}` : `simple:${name}`;
  });
  return [...new Set(ids)].sort(compareCodePoints);
}

/** All cells of a run in one file, without the cases: for a program that wants figures and not forty reports. */
export function resultsJson(cells: readonly Cell[], reports: ReadonlyMap<string, string>, facts: ReportFacts) {
  return {
    schema_version: REPORT_SCHEMA_VERSION,
    generated_at: facts.generatedAt,
    versions: facts.versions ?? null,
    cells: cells.map(({ label, meta, summary, cases }) => ({
      label,
      report: reports.get(label) ?? null,
      backend: { name: meta.backend, kind: meta.kind, identity: meta.identity ?? null },
      rules: meta.rules,
      dataset: meta.dataset,
      corpus: meta.corpus,
      left_out: meta.left_out,
      warnings: meta.warnings,
      summary,
      cost_and_latency: effortOf(cases),
    })),
  };
}
