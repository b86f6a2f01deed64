/** Scored cases and their meta made by hand, for tests of what comes after scoring. */
import type { ScoredCase, ScoreMeta, ViewScores } from "../../src/scoring/contract.js";
import { ratios } from "../../src/scoring/view-scores.js";

/** P, R and F1 from counts; P is undefined where nothing was predicted. */
export function viewScores(tp: number, fp: number, fn: number, more: Record<string, number | null> = {}): ViewScores {
  const { precision, recall, f1 } = ratios(tp, fp, fn);
  return {
    counts: { true_positives: tp, false_positives: fp, false_negatives: fn, ambiguous: 0, duplicates: 0 },
    precision,
    recall,
    f1,
    measures: { P: tp + fp > 0 ? precision : null, R: recall, F1: f1, ...more },
  };
}

/** A completed answer to a case with `tp + fn` targets unless `changes` say otherwise. */
export function scoredCase(id: string, scores: ViewScores, changes: Partial<ScoredCase> = {}): ScoredCase {
  const targets = Array.from(
    { length: scores.counts.true_positives + scores.counts.false_negatives },
    (_, i) => `src/T${i}.java`,
  );
  const base: ScoredCase = {
    ...scores,
    id,
    repeat: 0,
    backend: "puppet",
    number: 1,
    title: `Title of ${id}`,
    url: null,
    strata: {},
    best_grade: null,
    status: "completed",
    outcome: "answered",
    why: null,
    error: null,
    finish_reason: null,
    targets,
    absent_targets: [],
    scored: targets.length > 0,
    excluded: null,
    predictions: [],
    draws: null,
    all_targets: scores,
    in_repo_only: null,
    expectation: null,
    prompt: null,
    raw_response: "",
    seconds: null,
    usage: null,
    details: {},
  };
  return { ...base, ...changes };
}

export function scoreMeta(cases: readonly ScoredCase[], changes: Partial<ScoreMeta> = {}): ScoreMeta {
  const order = [...new Set(cases.map(({ id }) => id))];
  return {
    backend: "puppet",
    kind: null,
    identity: null,
    rules: { name: "strict", digest: "0".repeat(64), engine: "ladder" },
    measures: ["P", "R", "F1"],
    dataset: {
      digest: "1".repeat(64),
      project_name: "acme/tool",
      url: null,
      cases: order.length,
      selected: order.length,
      notes: [],
      links: null,
      extensions: null,
      scanned: null,
      audit: [],
    },
    corpus: null,
    order,
    unasked: [],
    only_answered: false,
    left_out: [],
    warnings: [],
    ...changes,
  };
}
