/** The answer of a built-in backend: the same JSON that is asked of an LLM, so that one parser reads them all. */
import type { RawAnswer } from "./contract.js";

export interface RankedFile {
  readonly path: string;
  readonly score?: number;
  /** 1-based inclusive; both or neither. */
  readonly start_line?: number;
  readonly end_line?: number;
}

/** `{"classes":[{"path":...,"score":...}]}`, best first; an empty list is a valid answer (read as `abstained`). */
export function rankedResponse(files: readonly RankedFile[]): string {
  return JSON.stringify({
    // Named one by one: the order of the members is part of the answer's bytes.
    classes: files.map(({ path, score, start_line, end_line }) => ({ path, score, start_line, end_line })),
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
