/** How large a data set is, how many independent draws that makes, and what answering the same file every time scores on it. */
import type { Case } from "../schema.js";
import type { Size } from "./contract.js";

export type Sized = Pick<Case, "id" | "targets" | "links">;

export function sizeOf(cases: readonly Sized[]): Size {
  const withTargets = cases.filter(({ targets }) => targets.length > 0);
  return {
    cases: cases.length,
    cases_with_targets: withTargets.length,
    targets: cases.reduce((sum, { targets }) => sum + distinct(targets).size, 0),
    test_only: withTargets.filter(({ targets }) => targets.every(({ role }) => role === "test")).length,
    clusters: clustersOfChanges(withTargets).length,
    constant: constantAnswer(withTargets),
  };
}

/** A data set may list the places of one file as several targets. */
function distinct(targets: Case["targets"]): Set<string> {
  return new Set(targets.map(({ path }) => path));
}

function constantAnswer(cases: readonly Sized[]): Size["constant"] {
  const hits = new Map<string, number>();
  for (const { targets } of cases) for (const path of distinct(targets)) hits.set(path, (hits.get(path) ?? 0) + 1);
  let best: { path: string; hits: number } | null = null;
  for (const [path, count] of hits) {
    if (best === null || count > best.hits || (count === best.hits && path < best.path)) best = { path, hits: count };
  }
  return best === null ? null : { ...best, share: best.hits / cases.length };
}

/** Cases that share a linked pull request, also through others: connected components, in order of first appearance. */
export function clustersOfChanges(cases: readonly Sized[]): string[][] {
  const parent = cases.map((_, index) => index);
  const root = (index: number): number => {
    let at = index;
    while (parent[at] !== at) {
      parent[at] = parent[parent[at] ?? at] ?? at;
      at = parent[at] ?? at;
    }
    return at;
  };
  const first = new Map<string, number>();
  for (const [index, { links }] of cases.entries()) {
    for (const { repository, number } of links) {
      const key = `${repository}#${number}`;
      const other = first.get(key);
      if (other === undefined) first.set(key, index);
      else {
        const [a, b] = [root(other), root(index)];
        parent[Math.max(a, b)] = Math.min(a, b);
      }
    }
  }
  const clusters = new Map<number, string[]>();
  for (const [index, { id }] of cases.entries()) {
    const at = root(index);
    const members = clusters.get(at);
    if (members === undefined) clusters.set(at, [id]);
    else members.push(id);
  }
  return [...clusters.values()];
}

/** 97.5 % point of the normal distribution. */
const Z = 1.959963984540054;

/** Half of the width of Wilson's 95 % interval at a share of one half: 0.13 for 50 cases, 0.097 for 100, 0.069 for 200. */
export function halfWidth(n: number): number | null {
  if (n === 0) return null;
  return (Z * Math.sqrt(1 / (4 * n) + (Z * Z) / (4 * n * n))) / (1 + (Z * Z) / n);
}
