/**
 * The summary of one cell (one backend, one rule set): a superset of the original's `summary`, whose member names and
 * meanings are kept so that scripts written for its reports still read ours. Ratios are in [0, 1], in full precision.
 */
import * as z from "zod";

const boundsSchema = z.object({ lower: z.number(), upper: z.number() });
const ratiosSchema = z.object({ precision: z.number(), recall: z.number(), f1: z.number() });
const ratioBoundsSchema = z.object({ precision: boundsSchema, recall: boundsSchema, f1: boundsSchema });

const microSchema = ratiosSchema.extend({
  true_positives: z.number(),
  false_positives: z.number(),
  false_negatives: z.number(),
});
export type Micro = z.infer<typeof microSchema>;

const confidenceSchema = z.object({
  bootstrap_samples: z.number(),
  bootstrap_seed: z.number(),
  micro: ratioBoundsSchema,
  macro: ratioBoundsSchema,
});
export type Confidence95 = z.infer<typeof confidenceSchema>;

const measureSummarySchema = z.object({
  /** null when no case counts. */
  value: z.number().nullable(),
  /** null without a bootstrap, or when no case counts. */
  lower: z.number().nullable(),
  upper: z.number().nullable(),
  n: z.number(),
  /** Cases where the measure is undefined; they count as 0. */
  undefined: z.number(),
  /** For proportions of yes-or-no values. */
  wilson: boundsSchema.optional(),
  /** Why the bounds are percentile ones although another method was asked for. */
  instead: z.string().optional(),
});
export type MeasureSummary = z.infer<typeof measureSummarySchema>;

const measuresSchema = z.record(z.string(), measureSummarySchema);
const viewSchema = z.object({ n: z.number(), micro: microSchema, macro: ratiosSchema, measures: measuresSchema });
export type ViewSummary = z.infer<typeof viewSchema>;

const bootstrapSchema = z.object({
  samples: z.number(),
  seed: z.number(),
  level: z.number(),
  method: z.string(),
  /** What was drawn where it was not cases: `repository`, `change`. */
  cluster: z.string().optional(),
  /** True where answers were drawn within cases. */
  answers: z.boolean().optional(),
});

export const summarySchema = z.object({
  issues_in_source: z.number(),
  issues_considered: z.number(),
  /** Cases without a target (the original knows only Java ones): shown, not scored. */
  issues_skipped_no_java_targets: z.number(),
  stopped_early_by_user: z.boolean(),
  stop_reason: z.string().nullable(),
  /** Cases in the headline. */
  issues_evaluated: z.number(),
  /** Cases with a target for which nothing final came back. */
  issues_with_errors: z.number(),
  micro: microSchema,
  macro: ratiosSchema,
  confidence_interval_95: confidenceSchema.nullable(),
  in_repo_only: z.object({
    enabled: z.boolean(),
    issues_with_in_repo_metrics: z.number(),
    issues_with_in_repo_targets: z.number(),
    issues_without_in_repo_targets: z.number(),
    issues_evaluated: z.number(),
    original_expected_java_files_total: z.number(),
    retained_expected_java_files_total: z.number(),
    expected_java_files_total: z.number(),
    expected_java_files_in_repo_total: z.number(),
    discarded_expected_java_files_total: z.number(),
    discarded_expected_java_files_ratio: z.number(),
    issues_with_discarded_expected_java_files: z.number(),
    micro: microSchema.nullable(),
    macro: ratiosSchema.nullable(),
    confidence_interval_95: confidenceSchema.nullable(),
  }),

  backend: z.string(),
  kind: z.string().nullable(),
  rules: z.string(),
  /** Cases in the headline. */
  n: z.number(),
  /** Cases with a target and at least one answer that failed or was never given; whether they count is the rules' choice. */
  failed: z.number(),
  /** Cases with a target that the rules leave out of every denominator, by outcome (`seed`: what failed and was never asked). */
  left_out_by_rules: z.record(z.string(), z.number()).default({}),
  /** Cases with a target where every answer abstained. */
  abstained: z.number(),
  without_target: z.number(),
  /** Cases that have targets of which the corpus lacks at least one. */
  with_absent_targets: z.number(),
  absent_targets: z.number(),
  /** Answers per case, at most. */
  repeats: z.number(),
  /** Records of answers and data set that could not be used. */
  left_out: z.number(),
  measures: measuresSchema,
  /** Names of the measures in the order in which they were asked for: stored objects are sorted and lose it. */
  measure_order: z.array(z.string()),
  /** Answers (cases without any included) whose case has a target, by outcome. */
  outcomes: z.record(z.string(), z.number()),
  /** The same for cases without a target. */
  outcomes_without_target: z.record(z.string(), z.number()),
  /** null where nothing failed: it would be the headline again. */
  without_failed: viewSchema.nullable(),
  all_targets: viewSchema,
  /** By name of the stratum, then by its value. */
  strata: z.record(z.string(), z.record(z.string(), viewSchema)),
  /** Names that several files bear, and repetitions of a file, over the headline's cases (means over draws and repeats). */
  ambiguous: z.number(),
  duplicates: z.number(),
  /** Predictions of all answers to cases with a target, by the parser rung that read them and by the rung that matched them. */
  read_by: z.record(z.string(), z.number()),
  /** `none`: resolved to no file. */
  matched_by: z.record(z.string(), z.number()),
  /** Closed-form expectation of each measure, where the backend draws at random; null where no formula is known. */
  expectation: z.record(z.string(), z.number().nullable()).nullable(),
  /** How the intervals were made; null = there are none. */
  bootstrap: bootstrapSchema.nullable(),
  /** Totals of what answering took, over the answers that say so; null = none does. */
  seconds: z.object({ total: z.number(), answers: z.number() }).nullable(),
  cost_usd: z.object({ total: z.number(), answers: z.number() }).nullable(),
});
export type Summary = z.infer<typeof summarySchema>;
