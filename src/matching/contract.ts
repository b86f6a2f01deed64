/**
 * Matching: predictions x targets x file list -> which prediction is which file, and by which rung.
 * Pure; the file list is that of the corpus at the case's base commit.
 */
import type { Entry } from "../answers/schema.js";

export const MATCH_RUNGS = ["path", "suffix", "qualified-name", "simple-name", "letter-case", "seed"] as const;
export type MatchRung = (typeof MATCH_RUNGS)[number];

export interface RuleSet {
  /** `strict`, `lenient`, `seed`, or the name that a user's YAML gives. */
  readonly name: string;
  /** Bumped when a built-in rule set's decisions change, so that scores are made anew. */
  readonly version: number;
  /** Tried in this order; the first that resolves the entry wins. */
  readonly rungs: readonly Exclude<MatchRung, "seed">[];
  /** `seed` has a parser, denominators and a matcher of its own (the original program's). */
  readonly engine: "ladder" | "seed";
}

/** The files that a prediction may resolve to. Built once per tree (`matching/file-index.ts`), shared by its cases. */
export interface FileList {
  readonly paths: readonly string[];
  /** Absolute prefixes of the corpus that answers may carry. */
  readonly roots: readonly string[];
}

export interface Prediction {
  readonly raw: string;
  /** The file it resolved to, or null. */
  readonly path: string | null;
  readonly readBy: Entry["readBy"];
  /** null = no rung resolved it. */
  readonly rung: MatchRung | null;
  /** The target that it hit (its path), or null. */
  readonly target: string | null;
  /** True when several files bear the name: a false positive, counted apart. */
  readonly ambiguous: boolean;
  /** Later entries that resolved to the same file: counted here, dropped from the ranking. */
  readonly duplicates: number;
  readonly lines?: readonly [number, number];
}

export interface MatchResult {
  /** Ranked, duplicates removed (first kept). */
  readonly predictions: readonly Prediction[];
  /** Distinct targets hit / predictions that hit none / targets missed. */
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly falseNegatives: number;
  readonly ambiguous: number;
  readonly duplicates: number;
}
