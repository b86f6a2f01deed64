/**
 * From matched predictions to the figures of one case in one view. A baseline that draws many times has one list per draw;
 * its figures are the means over the draws, so that they can be set beside a closed-form expectation.
 */
import type { MatchResult } from "../matching/contract.js";
import type { CaseJudgement, Measure } from "../measures/contract.js";
import { type JudgeOptions, judge } from "../measures/judgement.js";
import { parseMeasure } from "../measures/registry.js";
import type { Counts, ViewScores } from "./contract.js";
import type { TrueFile } from "./truth.js";

/** Precision, recall and F1 as the original defines them: 0 wherever the denominator is 0. */
export function ratios(tp: number, fp: number, fn: number): { precision: number; recall: number; f1: number } {
  const precision = tp + fp > 0 ? tp / (tp + fp) : 0;
  const recall = tp + fn > 0 ? tp / (tp + fn) : 0;
  return { precision, recall, f1: precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0 };
}

/** Figures of one ranked list against `targets`. */
export function scoreList(
  match: Pick<MatchResult, "truePositives" | "falsePositives" | "falseNegatives" | "ambiguous" | "duplicates"> & {
    readonly predictions: readonly { readonly target: string | null; readonly path?: string | null }[];
  },
  targets: readonly Pick<TrueFile, "path" | "grade">[],
  measures: readonly Measure[],
  options?: JudgeOptions,
  atLevel: (measure: Measure) => CaseJudgement | null = () => null,
): ViewScores {
  const valueAt = (measure: Measure): number | null => {
    if (measure.level === undefined) return measure.ofCase(judgement);
    const judged = atLevel(measure);
    // The case has truth at this level: who predicts nothing there is not left out, but wrong.
    return judged === null ? null : (measure.ofCase(judged) ?? 0);
  };
  const judgement = judge(match.predictions, targets, options);
  return {
    counts: {
      true_positives: match.truePositives,
      false_positives: match.falsePositives,
      false_negatives: match.falseNegatives,
      ambiguous: match.ambiguous,
      duplicates: match.duplicates,
    },
    ...ratios(match.truePositives, match.falsePositives, match.falseNegatives),
    measures: Object.fromEntries(measures.map((measure) => [measure.name, valueAt(measure)])),
  };
}

/**
 * Mean of several lists' figures, member by member. An undefined measure counts as 0 in the mean (the `zero` policy that the
 * summary uses too) unless it is undefined in all of them.
 */
export function meanScores(lists: readonly ViewScores[]): ViewScores {
  const [first, ...others] = lists;
  if (first === undefined) throw new Error("no list to average");
  if (others.length === 0) return first;
  const mean = (of: (scores: ViewScores) => number): number => lists.reduce((sum, scores) => sum + of(scores), 0) / lists.length;
  const count = (name: keyof Counts) => mean((scores) => scores.counts[name]);
  return {
    counts: {
      true_positives: count("true_positives"),
      false_positives: count("false_positives"),
      false_negatives: count("false_negatives"),
      ambiguous: count("ambiguous"),
      duplicates: count("duplicates"),
    },
    precision: mean((scores) => scores.precision),
    recall: mean((scores) => scores.recall),
    f1: mean((scores) => scores.f1),
    measures: Object.fromEntries(
      Object.keys(first.measures).map((name) => [name, meanOrNull(lists.map((scores) => scores.measures[name] ?? null))]),
    ),
  };
}

/** Figures of a case from those of its answers: their mean, but for measures that make something else of several answers (`pass@k`). */
export function scoresOfRepeats(answers: readonly ViewScores[]): ViewScores {
  const mean = meanScores(answers);
  const others = Object.keys(mean.measures).flatMap((name) => {
    const combine = /^pass\b/.test(name) ? parsedMeasure(name)?.ofRepeats : undefined;
    if (combine === undefined) return [];
    const values = answers.map((scores) => scores.measures[name] ?? null);
    // Undefined for one answer is undefined for all: there is no target.
    return [[name, values.some((value) => value === null) ? null : combine(values.map((value) => value ?? 0))] as const];
  });
  return others.length === 0 ? mean : { ...mean, measures: { ...mean.measures, ...Object.fromEntries(others) } };
}

function parsedMeasure(name: string): Measure | null {
  const parsed = parseMeasure(name);
  return parsed.ok ? parsed.value : null;
}

function meanOrNull(values: readonly (number | null)[]): number | null {
  if (values.every((value) => value === null)) return null;
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / values.length;
}
