/** Where in a file the words of a question stand closest together. Pure. */
import type { LineRange } from "./ranked.js";
import { tokenize } from "./tokenize.js";

/** How soon repetition of a term within the lines stops counting, as in BM25. */
const K1 = 1.2;

/**
 * The best stretch of at most `size` lines: the sum over its terms of weight * tf * (k1 + 1) / (tf + k1), cut to the first and last line that
 * has any term. Stretches overlap by half; the first of equal ones is taken. null where no line has a term (the path alone matched).
 */
export function bestLines(text: string, weights: ReadonlyMap<string, number>, size: number): LineRange | null {
  const found = text.split("\n").map((line) => tokenize(line).filter((term) => weights.has(term)));
  const step = Math.max(1, Math.floor(size / 2));
  let best: { readonly score: number; readonly from: number } | null = null;
  // Until a stretch reaches the end: also where stretches of one line don't overlap.
  for (let from = 0; from === 0 || from - step + size < found.length; from += step) {
    const score = scoreOf(found.slice(from, from + size), weights);
    if (score > (best?.score ?? 0)) best = { score, from };
  }
  if (best === null) return null;
  const inside = found.slice(best.from, best.from + size);
  const first = inside.findIndex((terms) => terms.length > 0);
  const last = inside.findLastIndex((terms) => terms.length > 0);
  return [best.from + first + 1, best.from + last + 1];
}

function scoreOf(lines: readonly (readonly string[])[], weights: ReadonlyMap<string, number>): number {
  const counts = new Map<string, number>();
  for (const terms of lines) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  let score = 0;
  for (const [term, tf] of counts) score += ((weights.get(term) ?? 0) * tf * (K1 + 1)) / (tf + K1);
  // Rounded, so that equal stretches are equal whatever the order of the sum.
  return Math.round(score * 1e6) / 1e6;
}
