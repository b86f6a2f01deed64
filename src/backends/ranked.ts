/** The answer of a built-in backend: the same JSON that is asked of an LLM, so that one parser reads them all. */
import type { RawAnswer } from "./contract.js";

export interface RankedFile {
  readonly path: string;
  readonly score?: number;
}

/** `{"classes":[{"path":...,"score":...}]}`, best first; an empty list is a valid answer (read as `abstained`). */
export function rankedResponse(files: readonly RankedFile[]): string {
  return JSON.stringify({ classes: files.map(({ path, score }) => (score === undefined ? { path } : { path, score })) });
}

export function completed(response: string, details?: Record<string, unknown>): RawAnswer {
  return details === undefined ? { status: "completed", response } : { status: "completed", response, details };
}

/** Paths in the order of their UTF-16 code units: the same on every machine, whatever its locale. */
export function comparePaths(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
