/**
 * Matching: predictions x targets x file list -> which prediction is which file, and by which rung.
 * Pure; the file list is that of the corpus at the case's base commit.
 */
import type { Entry } from "../answers/schema.js";

export const MATCH_RUNGS = ["path", "suffix", "qualified-name", "simple-name", "letter-case", "seed"] as const;
export type MatchRung = (typeof MATCH_RUNGS)[number];

/** Ways of spelling a path that a rule set undoes before it looks the path up. */
export const NORMALISATIONS = [
  "separators",
  "dot-segments",
  "corpus-roots",
  "leading-slash",
  "git-prefixes",
  "percent-encoding",
] as const;
export type Normalisation = (typeof NORMALISATIONS)[number];

/** Paths that begin with `from` are also looked up as `to` and the rest. Both end in `/`, or are empty, or both are whole files. */
export interface PathMapping {
  readonly from: string;
  readonly to: string;
}

/** Which name of a target that the fix renames counts: the one that the corpus has (`old`), the one after the fix, or either. */
export const RENAME_RULES = ["old", "new", "either"] as const;
export type RenameRule = (typeof RENAME_RULES)[number];

export interface RuleSet {
  /** `strict`, `lenient`, `seed`, or the name that a user's YAML gives. */
  readonly name: string;
  /** Bumped when a built-in rule set's decisions change, so that scores are made anew. */
  readonly version: number;
  /** Tried in this order; the first that resolves the entry wins. */
  readonly rungs: readonly Exclude<MatchRung, "seed">[];
  /** `seed` has a parser, denominators and a matcher of its own (the original program's). */
  readonly engine: "ladder" | "seed";
  readonly normalise: ReadonlySet<Normalisation>;
  /** With the dot, lower case: targets and predictions of other files are left out. null = every file counts. */
  readonly extensions: readonly string[] | null;
  /** Tried after the spelling as it stands, on predictions and on targets; the first that fits. */
  readonly paths: readonly PathMapping[];
  /** An inner class counts as the file of its outer one. */
  readonly innerClasses: boolean;
  readonly renames: RenameRule;
  /** Outcomes (readings and statuses) whose answers are in no denominator; what is not listed and has no prediction counts as zero. */
  readonly leaveOut: readonly string[];
}

/** A target as matching sees it. `names`: all paths that mean it, the canonical one first. */
export interface WantedFile {
  readonly path: string;
  readonly names: readonly string[];
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
