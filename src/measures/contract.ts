/**
 * A measure is a value with a canonical name; each lives in its own file with definition, edge cases and citation.
 *
 * Per-case measures see one ranked list. Undefined is `null` (nothing predicted: P is 0/0) and is aggregated by a *named*
 * policy; the default `zero` counts it as 0 and the report prints how many there were.
 */
export interface CaseJudgement {
  /** For each rank (0-based), the index of the target that this prediction hits, or -1. Each target at most once. */
  readonly ranking: readonly number[];
  /** Grades of all targets that count (1 = binary). Its length is the number of targets. */
  readonly targets: readonly number[];
  /** What people judged beside the targets; absent = nothing, and then only targets are known. */
  readonly judged?: {
    /** For each rank. `judged`: a target, or known to be none; `pooled`: was to be judged and was not; `unpooled`: nobody looked. */
    readonly ranks: readonly ("judged" | "pooled" | "unpooled")[];
    /** Things that are known to be no targets. */
    readonly nonrelevant: number;
  };
  /** For measures within a budget: what is handed back, in order, in lines or tokens, and how much of them the truth has. */
  readonly handed?: { readonly runs: readonly { readonly size: number; readonly truth: boolean }[]; readonly truth: number };
}

/** What a prediction must name: a file (the default), a class, a function, or lines. */
export const LEVELS = ["file", "class", "function", "lines"] as const;
export type Level = (typeof LEVELS)[number];

export interface Measure {
  /** Canonical: `P`, `R`, `F1`, `Hit@5`, `RR`; parses and prints to itself. */
  readonly name: string;
  readonly definition: string;
  readonly edgeCases: string;
  readonly citation: string;
  /** Proportions of 0/1 values get a Wilson interval beside the bootstrap's. */
  readonly binary: boolean;
  /** What the judgement must be about; absent = files. */
  readonly level?: Exclude<Level, "file">;
  /** For `lines`: how much of both ranges together must be shared; absent = one line suffices. */
  readonly iou?: number;
  /** Counts what is handed back in these units, up to the measure's own bound. */
  readonly budget?: "lines" | "tokens";
  /** In [0, 1], or null where undefined. */
  readonly ofCase: (judgement: CaseJudgement) => number | null;
  /** Pools counts over cases instead of averaging values of cases; `ofCase` is then not used for the summary. */
  readonly pooled?: (counts: { readonly tp: number; readonly fp: number; readonly fn: number }) => number;
  /** A case that was asked several times, from the values of its answers (none of them null); absent = their mean. */
  readonly ofRepeats?: (values: readonly number[]) => number | null;
  /**
   * Expected value for a uniformly random ranking of `size` out of `pool` files of which `relevant` are targets
   * (closed form); absent where none is known.
   */
  readonly expected?: (size: number, pool: number, relevant: number) => number;
}
