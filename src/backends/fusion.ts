/**
 * Reciprocal rank fusion (Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
 * methods", SIGIR 2009): score(d) = sum over the rankings that have d of 1 / (k + rank of d). Only ranks are read, so scores of different
 * kinds need no common scale. Pure.
 */
import type { Entry } from "../answers/schema.js";
import { byScore, type LineRange, type RankedFile, rounded } from "./ranked.js";

/** The paper's. */
export const USUAL_K = 60;

/** Best first; equal scores in path order. A file that one ranking names twice counts at its first rank. */
export function fuse(rankings: readonly (readonly RankedFile[])[], k: number, top: number): RankedFile[] {
  const fused = new Map<string, { score: number; lines: LineRange | undefined; rank: number }>();
  for (const ranking of rankings) {
    const seen = new Set<string>();
    for (const { path, lines } of ranking) {
      if (seen.has(path)) continue;
      seen.add(path);
      const rank = seen.size;
      const known = fused.get(path) ?? { score: 0, lines: undefined, rank: Number.POSITIVE_INFINITY };
      fused.set(path, known);
      known.score += 1 / (k + rank);
      // The lines of whoever ranks the file best and gives any.
      if (lines !== undefined && rank < known.rank) Object.assign(known, { lines, rank });
    }
  }
  return [...fused]
    .map(([path, { score, lines }]) => ({ path, score: rounded(score), ...(lines === undefined ? {} : { lines }) }))
    .sort(byScore)
    .slice(0, top);
}

/**
 * Entries of an answer as files of the tree: two systems must mean the same file by the same path before their ranks can be added. A path
 * of the tree, or what is the end of exactly one; what is neither stays as it is spelt.
 */
export function filesOf(entries: readonly Entry[], paths: readonly string[]): RankedFile[] {
  const all = new Set(paths);
  const byName = new Map<string, string[]>();
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const list = byName.get(name);
    if (list === undefined) byName.set(name, [path]);
    else list.push(path);
  }
  return entries.map(({ raw, spellings, lines }) => {
    const found = spellings.map((spelling) => fileNamed(spelling, all, byName)).find((path) => path !== null);
    return { path: found ?? raw, ...(lines === undefined ? {} : { lines }) };
  });
}

function fileNamed(spelling: string, all: ReadonlySet<string>, byName: ReadonlyMap<string, readonly string[]>): string | null {
  const path = spelling
    .trim()
    .replaceAll("\\", "/")
    .replace(/^(?:\.\/)+/, "");
  if (all.has(path)) return path;
  const namesakes = byName.get(path.slice(path.lastIndexOf("/") + 1)) ?? [];
  // Below an absolute prefix, or the end of a path.
  const inside = namesakes.filter((one) => path.endsWith(`/${one}`));
  if (inside.length > 0) return longest(inside);
  const ends = namesakes.filter((one) => one.endsWith(`/${path}`));
  return ends.length === 1 ? (ends[0] ?? null) : null;
}

function longest(paths: readonly string[]): string | null {
  return paths.reduce<string | null>((best, path) => (best === null || path.length > best.length ? path : best), null);
}
