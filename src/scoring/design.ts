/**
 * What is drawn when the cases of a view are resampled: cases, or clusters of cases that are no independent draws, and answers within
 * cases where there are several.
 */
import type { Design } from "../statistics/resampling.js";
import type { ViewRow } from "./views.js";

export const CLUSTERS = ["none", "repository", "change"] as const;
/** `change`: issues that share a linked pull request, also through others, are one cluster. */
export type ClusterBy = (typeof CLUSTERS)[number];

/** Below it, intervals from clusters are too narrow whatever the method, and a report says so. */
export const FEW_CLUSTERS = 20;

type Row = Pick<ViewRow, "id" | "repository" | "changes">;

/** Clusters as lists of indices of rows, in order of first appearance; a row that says nothing is a cluster by itself. */
export function clustersOf(rows: readonly Row[], by: Exclude<ClusterBy, "none">): number[][] {
  const parent = rows.map((_, index) => index);
  const root = (index: number): number => {
    let at = index;
    while (parent[at] !== at) {
      // Halving the path keeps long chains of shared changes cheap.
      parent[at] = parent[parent[at] ?? at] ?? at;
      at = parent[at] ?? at;
    }
    return at;
  };
  const firstWith = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const keys = by === "change" ? row.changes : row.repository === null ? [] : [row.repository];
    for (const key of keys) {
      const first = firstWith.get(key);
      if (first === undefined) firstWith.set(key, index);
      else {
        const [a, b] = [root(first), root(index)];
        parent[Math.max(a, b)] = Math.min(a, b);
      }
    }
  }
  const clusters = new Map<number, number[]>();
  for (const index of rows.keys()) {
    const at = root(index);
    const members = clusters.get(at);
    if (members === undefined) clusters.set(at, [index]);
    else members.push(index);
  }
  return [...clusters.values()];
}

/** `answers`: how many rows of the columns each case has (1 = its values are averaged already). */
export function designOf(rows: readonly Row[], answers: readonly number[], by: ClusterBy, drawAnswers: boolean): Design {
  let next = 0;
  const cases = answers.map((count) => Array.from({ length: count }, () => next++));
  return {
    cases,
    ...(by === "none" ? {} : { clusters: clustersOf(rows, by) }),
    ...(drawAnswers ? { drawAnswers: true } : {}),
  };
}
