/**
 * What a lint of a data set finds: names that stay stable (people gate on them), counts, and what the figures would be without it.
 * `docs/lint.md` has the meaning of each in full.
 */
import type { LeakClass } from "../leakage.js";

export const SEVERITIES = ["error", "warning", "info"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** In the order of the documentation. */
export const FINDINGS = [
  "foreign-repository",
  "merged-before-issue",
  "merged-after-close",
  "mention-link",
  "not-planned",
  "revert",
  "bot",
  "bulk-change",
  "files-cut",
  "test-only",
  "docs-only",
  "no-source-target",
  "added-target",
  "renamed-target",
  "absent-at-base",
  "no-target",
  "no-base-commit",
  "shared-change",
  "leak-full",
  "leak-partial",
  "fix-named",
  "missing-body",
  "edited-after-fix",
  "duplicate-id",
  "duplicate-text",
  "unusable-record",
  "concentration",
  "tiny-sample",
] as const;
export type FindingName = (typeof FINDINGS)[number];

/** The size of a data set, and what the best answer that never reads a question scores on it. */
export interface Size {
  readonly cases: number;
  readonly cases_with_targets: number;
  /** Summed over the cases. */
  readonly targets: number;
  /** Cases all of whose targets are tests. */
  readonly test_only: number;
  /** Groups of cases with a target that share no pull request. */
  readonly clusters: number;
  /** The one file that most cases with a target have among their targets; `share` of those cases (its Hit@1). null = no target at all. */
  readonly constant: { readonly path: string; readonly hits: number; readonly share: number } | null;
}

export type Unit = "cases" | "links" | "targets" | "records";

export interface LintFinding {
  readonly name: FindingName;
  readonly severity: Severity;
  readonly count: number;
  /** Out of how many of the same unit. */
  readonly of: number;
  readonly unit: Unit;
  /** A sentence about this data set, without a full stop. */
  readonly what: string;
  /** The worst first. */
  readonly examples: readonly string[];
  /** Ids of the cases concerned; empty where the data set as a whole is. */
  readonly cases: readonly string[];
  /** The data set without what was found; null where nothing can be taken away. */
  readonly without: Size | null;
}

export interface LintReport {
  readonly size: Size;
  /** Half of the width of a 95 % interval of a share near one half, with so many cases with a target; null without any. */
  readonly half_width: number | null;
  /** Cases with a target by what their text gives away. */
  readonly leak: Readonly<Record<LeakClass, number>>;
  /** The data set with its link rules applied: same repository, created <= merged <= closed. */
  readonly link_rules: Size;
  /** Worst first. */
  readonly findings: readonly LintFinding[];
}

export const MOST_EXAMPLES = 5;

/** `1 case`, `3 cases`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `45 %`. */
export function percentOf(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.round((100 * part) / whole)} %`;
}
