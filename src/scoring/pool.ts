/**
 * The judging pool: what runs predicted and nobody has judged. Depth-k pooling (Sparck Jones and van Rijsbergen, 1975; Voorhees, "The
 * Philosophy of Information Retrieval Evaluation", CLEF 2001): the first k predictions of every run, each file once per case.
 */
import type { ScoredCase } from "./contract.js";
import type { Judgements } from "./judgements.js";

export interface PoolEntry {
  readonly id: string;
  readonly path: string;
  /** null = to be judged: 2 or 1 = a right answer, 0 = none, -1 = can't tell. */
  readonly grade: null;
  /** The title, for whoever judges. */
  readonly title: string;
  /** Runs that predicted it, with the best rank. */
  readonly found_by: Readonly<Record<string, number>>;
}

/**
 * In data-set order; within a case, what most runs found comes first, so that a judge who stops early has judged what matters most. Targets
 * and what has a judgement already are left out.
 */
export function poolOf(
  runs: readonly { readonly label: string; readonly cases: readonly ScoredCase[] }[],
  depth: number,
  judgements: Judgements,
): PoolEntry[] {
  const byCase = new Map<string, { title: string; found: Map<string, Map<string, number>> }>();
  for (const { label, cases } of runs) {
    for (const { id, title, predictions, targets, absent_targets } of cases) {
      const entry = byCase.get(id) ?? { title, found: new Map() };
      byCase.set(id, entry);
      const right = new Set([...targets, ...absent_targets]);
      for (const [index, { target, path, raw }] of predictions.slice(0, depth).entries()) {
        const file = path ?? raw;
        const judged = judgements.get(id)?.get(file);
        if (target !== null || right.has(file) || (judged !== undefined && judged !== -1)) continue;
        const ranks = entry.found.get(file) ?? new Map<string, number>();
        entry.found.set(file, ranks);
        ranks.set(label, Math.min(index + 1, ranks.get(label) ?? Number.POSITIVE_INFINITY));
      }
    }
  }
  return [...byCase].flatMap(([id, { title, found }]) =>
    [...found]
      .map(([path, ranks]) => ({ path, ranks, best: Math.min(...ranks.values()) }))
      .sort((a, b) => b.ranks.size - a.ranks.size || a.best - b.best || (a.path < b.path ? -1 : 1))
      .map(({ path, ranks }) => ({ id, path, grade: null, title, found_by: Object.fromEntries(ranks) })),
  );
}
