/** The answer of a built-in backend: the same JSON that is asked of an LLM, so that one parser reads them all. */
import type { RawAnswer } from "./contract.js";

/** 1-based, inclusive. */
export type LineRange = readonly [number, number];

export interface RankedFile {
  readonly path: string;
  readonly score?: number;
  /** Where in the file, if the backend can say: a range, or its two ends (1-based, inclusive; both or neither). */
  readonly lines?: LineRange;
  readonly start_line?: number;
  readonly end_line?: number;
}

/**
 * `{"classes":[{"path":...,"score":...,"start_line":...,"end_line":...}]}`, best first; an empty list is a valid answer (read as
 * `abstained`).
 */
export function rankedResponse(files: readonly RankedFile[]): string {
  return JSON.stringify({
    // Named one by one: the order of the members is part of the answer's bytes.
    classes: files.map(({ path, score, lines, start_line, end_line }) => ({
      path,
      score,
      start_line: start_line ?? lines?.[0],
      end_line: end_line ?? lines?.[1],
    })),
  });
}

/** The best (first) chunk of each file, in the order of the chunks, at most so many files. */
export function bestChunks(chunks: readonly RankedFile[], top = Number.POSITIVE_INFINITY): RankedFile[] {
  const best = new Map<string, RankedFile>();
  for (const chunk of chunks) {
    if (best.has(chunk.path)) continue;
    if (best.size >= top) break;
    best.set(chunk.path, chunk);
  }
  return [...best.values()];
}

export function completed(response: string, details?: Record<string, unknown>): RawAnswer {
  return details === undefined ? { status: "completed", response } : { status: "completed", response, details };
}

/** Paths in the order of their UTF-16 code units: the same on every machine, whatever its locale. */
export function comparePaths(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Scores are rounded before they are compared, and equal ones stand in path order: a ranking must not hang on the last bit of a sum. */
export function byScore(a: { readonly path: string; readonly score: number }, b: typeof a): number {
  return b.score - a.score || comparePaths(a.path, b.path);
}

export function rounded(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}

/** A NUL early on, as Git decides it: no text, found by its path alone. */
export function isBinary(text: string): boolean {
  return text.slice(0, 8000).includes("\0");
}
