/**
 * Recall and precision at each depth, as means over the headline's cases: R@k and P@k as the measures of these names define them, for all k of
 * a picture at once. Answers of a case are averaged first. A baseline that draws at random has no one ranking, and the original's reports kept none.
 */
import type { ScoredCase, ScoreMeta } from "../../scoring/contract.js";
import { viewsOf } from "../../scoring/views.js";
import type { PageCell } from "./page-data.js";

const DEPTH = 20;

export function curveOf(cases: readonly ScoredCase[], meta: Pick<ScoreMeta, "rules" | "only_answered">): PageCell["curve"] {
  // The original's rules count ids, and not files in an order.
  if (meta.rules.engine === "seed" || cases.some(({ draws, details }) => draws !== null || details.ranking === "lost"))
    return null;
  const headline = new Set((viewsOf(cases, meta)[0]?.rows ?? []).map(({ id }) => id));
  const byId = new Map<string, ScoredCase[]>();
  for (const one of cases) {
    if (!headline.has(one.id) || !one.scored || one.excluded !== null) continue;
    byId.set(one.id, [...(byId.get(one.id) ?? []), one]);
  }
  if (byId.size === 0) return null;
  const recall = new Array<number>(DEPTH).fill(0);
  const precision = new Array<number>(DEPTH).fill(0);
  for (const answers of byId.values()) {
    for (const { predictions, targets } of answers) {
      let hits = 0;
      for (let k = 0; k < DEPTH; k++) {
        if (predictions[k]?.target != null) hits += 1;
        const weight = 1 / answers.length / byId.size;
        recall[k] = (recall[k] ?? 0) + (targets.length === 0 ? 0 : hits / targets.length) * weight;
        precision[k] = (precision[k] ?? 0) + (hits / (k + 1)) * weight;
      }
    }
  }
  const rounded = (values: readonly number[]) => values.map((value) => Number(value.toFixed(4)));
  return { recall: rounded(recall), precision: rounded(precision) };
}
