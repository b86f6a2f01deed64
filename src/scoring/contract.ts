/**
 * Scoring: answers x data set x rules x measures -> scored cases. Pure: needs no backend, no network, no clock.
 * This room joins the pure rooms `answers`, `matching` and `measures`; the `score` stage and `bench score` both call it.
 */
import * as z from "zod";
import { ANSWER_STATUSES, READ_BY } from "../answers/schema.js";
import type { DatasetCard } from "../dataset/card.js";
import { SEVERITIES } from "../dataset/lint/contract.js";
import { LINK_GRADES } from "../dataset/schema.js";
import { MATCH_RUNGS } from "../matching/contract.js";

const measureValues = z.record(z.string(), z.number().nullable());

/** Counts of one answer; means over the draws where a baseline drew several times. */
const countsSchema = z.object({
  true_positives: z.number(),
  false_positives: z.number(),
  false_negatives: z.number(),
  ambiguous: z.number(),
  duplicates: z.number(),
});
export type Counts = z.infer<typeof countsSchema>;

/** One answer against one set of targets. */
const viewScoresSchema = z.object({
  counts: countsSchema,
  /** The original's members, always there whatever measures were asked for: 0 where undefined. */
  precision: z.number(),
  recall: z.number(),
  f1: z.number(),
  /** The measures that were asked for, by canonical name; null = undefined. */
  measures: measureValues,
});
export type ViewScores = z.infer<typeof viewScoresSchema>;

const scoredPredictionSchema = z.object({
  /** The identity that the `seed` rules give a prediction (`path:src/a.java`); null with other rules. */
  id: z.string().nullable(),
  raw: z.string(),
  path: z.string().nullable(),
  read_by: z.enum(READ_BY),
  rung: z.enum(MATCH_RUNGS).nullable(),
  target: z.string().nullable(),
  ambiguous: z.boolean(),
});
export type ScoredPrediction = z.infer<typeof scoredPredictionSchema>;

/** One answer, scored: the item that `score` gives. Everything a report shows of a case, so that a report needs nothing else. */
export const scoredCaseSchema = viewScoresSchema.extend({
  /** Case id; with repeats, `<id>~<repeat>` is the item's id and this stays the case's. */
  id: z.string(),
  repeat: z.number().int(),
  backend: z.string(),
  number: z.number().nullable(),
  title: z.string(),
  url: z.string().nullable(),
  /** `owner/repo`, and the linked pull requests (`owner/repo#12`): which cases are no independent draws. Absent = unknown. */
  repository: z.string().nullable().optional(),
  changes: z.array(z.string()).optional(),
  /** Strata: `links` (best grade, where known), `leak` (what the text gives away), and the data set's own. */
  strata: z.record(z.string(), z.string()),
  best_grade: z.enum(LINK_GRADES).nullable(),
  /** `unasked`: there is no answer at all. */
  status: z.enum([...ANSWER_STATUSES, "unasked"]),
  /** Reading, or the status where there is nothing to read. */
  outcome: z.string(),
  /** Why the reading is `abstained`, `refused` or `unparsable`. */
  why: z.string().nullable(),
  error: z.string().nullable(),
  finish_reason: z.string().nullable(),
  /** Targets that count: those that exist in the corpus (all without one; `seed`: all). */
  targets: z.array(z.string()),
  /** Relevance of each of them; absent where all are 1. */
  grades: z.array(z.number()).optional(),
  /** Targets that the corpus lacks. */
  absent_targets: z.array(z.string()),
  /** False when no target is left: shown, not scored. */
  scored: z.boolean(),
  /** Why the rules leave this answer out of every denominator (`seed`: failed, unasked); null = it counts. */
  excluded: z.string().nullable(),
  predictions: z.array(scoredPredictionSchema),
  /** A baseline's many draws: the figures are means over them, and `predictions` is empty. */
  draws: z.object({ count: z.number(), pool: z.number(), sizes: z.array(z.number()) }).nullable(),
  /** The same against all targets, absent ones included. */
  all_targets: viewScoresSchema,
  /** The original's second view: targets cut to the corpus, predictions not; null without a corpus. */
  in_repo_only: viewScoresSchema.extend({ retained: z.array(z.string()), discarded: z.array(z.string()) }).nullable(),
  /** Closed-form expectation of each measure for this case, where the backend draws at random. */
  expectation: measureValues.nullable(),
  prompt: z.string().nullable(),
  raw_response: z.string(),
  seconds: z.number().nullable(),
  usage: z.record(z.string(), z.number().nullable()).nullable(),
  details: z.record(z.string(), z.unknown()),
});
export type ScoredCase = z.infer<typeof scoredCaseSchema>;

/** Records that could not be used: what they were, how many, and some of them by name. */
const leftOutSchema = z.object({ what: z.string(), count: z.number(), examples: z.array(z.string()) });
export type LeftOut = z.infer<typeof leftOutSchema>;

/** Made by our own score stage and read back by digest: its version is enough. */
function isCard(value: unknown): boolean {
  return typeof value === "object" && value !== null && "card_version" in value && value.card_version === 1;
}

/** A finding of the data set's lint, as far as reports need it. */
const findingSchema = z.object({
  name: z.string(),
  severity: z.enum(SEVERITIES),
  count: z.number(),
  of: z.number(),
  unit: z.string(),
  what: z.string(),
  /** What the data set would be without it, in words; null where nothing can be taken away. */
  effect: z.string().nullable(),
  /** Ids of the cases concerned: the figures without them are made of the others. */
  cases: z.array(z.string()),
});
export type DatasetFinding = z.infer<typeof findingSchema>;

/** Meta of a `score` stage's output: what is true of all its cases. */
export const scoreMetaSchema = z.object({
  backend: z.string(),
  /** The backend's kind (`bm25`); null where unknown (an answers file). */
  kind: z.string().nullable(),
  /** The backend's declared identity; null = none declared or unknown (an answers file). */
  identity: z.unknown(),
  rules: z.object({
    name: z.string(),
    digest: z.string(),
    engine: z.enum(["ladder", "seed"]),
    /** The rule set in full (`rulesDigestParts`): a file of rules may change, and what was decided by it must not become a riddle. */
    definition: z.unknown().optional(),
  }),
  /** Canonical names, in the order in which they were asked for. */
  measures: z.array(z.string()),
  dataset: z.object({
    digest: z.string(),
    project_name: z.string(),
    url: z.string().nullable(),
    /** All cases, and the ones that `--items` and `--sample` left. */
    cases: z.number(),
    selected: z.number(),
    notes: z.array(z.string()),
    links: z.string().nullable(),
    extensions: z.array(z.string()).nullable(),
    scanned: z.number().nullable(),
    audit: z.array(z.object({ rule: z.string(), removed: z.number(), what: z.string() })),
    /** What is wrong with the selected cases, worst first; absent = unknown (a report of an earlier version, or of another program). */
    findings: z.array(findingSchema).optional(),
  }),
  /** The card of the selected cases (`datasetCard`), which a run's report is written with; absent = scored without a pipeline. */
  card: z.custom<DatasetCard>(isCard).optional(),
  /** `trees`: one per base commit, or a single one; the other members then are those of the first. */
  corpus: z
    .object({ digest: z.string(), source: z.string(), revision: z.string().nullable(), files: z.number(), trees: z.number() })
    .nullable(),
  /** Ids of the selected cases in data-set order: the order in which cases are resampled and listed. */
  order: z.array(z.string()),
  /** The selected cases that have no answer at all: they count as zero like any other failure. */
  unasked: z.array(scoredCaseSchema),
  /** True when cases without an answer are left out of the headline because the user asked for that. */
  only_answered: z.boolean(),
  /** Strata that were asked for beside the data set's own; absent = none. */
  strata: z.array(z.string()).optional(),
  /** Judgements beside the data set's truth; absent = none were given. */
  judgements: z.object({ relevant: z.number(), nonrelevant: z.number(), open: z.number() }).optional(),
  left_out: z.array(leftOutSchema),
  /** Other things a reader must know, in sentences. */
  warnings: z.array(z.string()),
});
export type ScoreMeta = z.infer<typeof scoreMetaSchema>;

/** Item `interval` of a `bootstrap` stage's output. */
export const intervalSchema = z.object({
  /** Measure name, or `micro.precision` ... of the original's members. */
  name: z.string(),
  /** Which view: `headline`, `without_failed`, `all_targets`, `in_repo_only`, or `stratum:links=keyword`. */
  view: z.string(),
  value: z.number().nullable(),
  lower: z.number().nullable(),
  upper: z.number().nullable(),
  n: z.number(),
  undefined: z.number(),
  wilson: z.object({ lower: z.number(), upper: z.number() }).nullable(),
  /** Why the bounds are percentile ones although another method was asked for. */
  instead: z.string().optional(),
});
export type IntervalRow = z.infer<typeof intervalSchema>;
