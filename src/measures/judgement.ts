/**
 * From matched predictions to what measures look at: at each rank the target that is hit, each target once.
 *
 * Measures divide by the number of targets and assume that a target can be found once only; answers name files twice, and
 * spellings of one file may reach here as two predictions. So crediting happens here, in one place, and no measure can exceed 1.
 */
import type { CaseJudgement } from "./contract.js";

export interface JudgeOptions {
  /**
   * What a further prediction of a target that has been hit counts as: `wrong` keeps its rank and hits nothing (a list of ten
   * that repeats itself has not shown ten files), `dropped` removes it from the ranking (the `seed` rules' way of counting).
   */
  readonly repeats?: "wrong" | "dropped";
  /**
   * Grades that people gave, by path: 0 = looked at and no target, -1 = was to be looked at and was not. Positive ones are among the
   * targets already; other negative ones say nothing.
   */
  readonly judgements?: ReadonlyMap<string, number>;
}

/**
 * `predictions` in rank order, each with the path of the target that it hit or null. Targets with a grade of 0 or less are judged
 * and not relevant: they count like no target. A path listed twice counts once, with its highest grade.
 */
export function judge(
  predictions: readonly { readonly target: string | null; readonly path?: string | null }[],
  targets: readonly { readonly path: string; readonly grade: number }[],
  options: JudgeOptions = {},
): CaseJudgement {
  const { judgements } = options;
  const ranks: ("judged" | "pooled" | "unpooled")[] = [];
  const grades = new Map<string, number>();
  for (const { path, grade } of targets) {
    if (grade > 0) grades.set(path, Math.max(grade, grades.get(path) ?? 0));
  }
  const indices = new Map([...grades.keys()].map((path, index) => [path, index]));
  const credited = new Set<number>();
  const seen = new Set<string>();
  const ranking: number[] = [];
  for (const { target, path } of predictions) {
    const index = target === null ? undefined : indices.get(target);
    const repeated = index !== undefined && credited.has(index);
    if (repeated && options.repeats === "dropped") continue;
    if (index !== undefined) credited.add(index);
    const hit = index !== undefined && !repeated;
    ranking.push(hit ? index : -1);
    if (judgements === undefined) continue;
    // A repeat, of a target or of a miss, says nothing new: it is neither relevant nor known to be wrong.
    const again = repeated || (path != null && seen.has(path));
    if (path != null) seen.add(path);
    ranks.push(hit ? "judged" : again ? "unpooled" : knowledge(judgements.get(path ?? "")));
  }
  const all = [...grades.values()];
  if (judgements === undefined) return { ranking, targets: all };
  let nonrelevant = 0;
  for (const grade of judgements.values()) if (grade === 0) nonrelevant++;
  return { ranking, targets: all, judged: { ranks, nonrelevant } };
}

function knowledge(grade: number | undefined): "judged" | "pooled" | "unpooled" {
  if (grade === undefined || grade < -1) return "unpooled";
  return grade === -1 ? "pooled" : "judged";
}

/** Distinct targets among the first `k` predictions; all of them without `k`. */
export function hitsWithin({ ranking }: CaseJudgement, k = ranking.length): number {
  let hits = 0;
  const end = Math.min(k, ranking.length);
  for (let rank = 0; rank < end; rank++) if ((ranking[rank] ?? -1) >= 0) hits++;
  return hits;
}
