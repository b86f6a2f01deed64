/**
 * Scoring: answers x data set x rules x measures -> scored cases. Pure: needs no backend, no network, no clock.
 * This room joins the pure rooms `answers`, `matching` and `measures`; the `score` stage and `bench score` both call it.
 */
import * as z from "zod";
import { ANSWER_STATUSES, READ_BY } from "../answers/schema.js";
import { LINK_GRADES } from "../dataset/schema.js";
import { MATCH_RUNGS } from "../matching/contract.js";

const measureValues = z.record(z.string(), z.number().nullable());
const counts = z.object({
  true_positives: z.number(),
  false_positives: z.number(),
  false_negatives: z.number(),
  ambiguous: z.number(),
  duplicates: z.number(),
});

/** One answer, scored: the item that `score` gives. Everything a report shows of a case, so that a report needs nothing else. */
export const scoredCaseSchema = z.object({
  /** Case id; with repeats, `<id>~<repeat>` is the item's id and this stays the case's. */
  id: z.string(),
  repeat: z.number().int(),
  backend: z.string(),
  number: z.number().nullable(),
  title: z.string(),
  url: z.string().nullable(),
  /** Strata: `links` (best grade), and the data set's own. */
  strata: z.record(z.string(), z.string()),
  best_grade: z.enum(LINK_GRADES).nullable(),
  status: z.enum([...ANSWER_STATUSES, "unasked"]),
  /** Reading, or the status where there is nothing to read. */
  outcome: z.string(),
  why: z.string().nullable(),
  error: z.string().nullable(),
  /** Targets that count: those that exist in the corpus (all without one; `seed`: all). */
  targets: z.array(z.string()),
  /** Targets that the corpus lacks. */
  absent_targets: z.array(z.string()),
  /** False when no target is left: shown, not scored. */
  scored: z.boolean(),
  predictions: z.array(
    z.object({
      raw: z.string(),
      path: z.string().nullable(),
      read_by: z.enum(READ_BY),
      rung: z.enum(MATCH_RUNGS).nullable(),
      target: z.string().nullable(),
      ambiguous: z.boolean(),
    }),
  ),
  counts,
  measures: measureValues,
  /** The same against all targets, absent ones included. */
  all_targets: z.object({ counts, measures: measureValues }),
  /** The original's second view: targets cut to the corpus, predictions not; null without a corpus. */
  in_repo_only: z
    .object({ counts, measures: measureValues, retained: z.array(z.string()), discarded: z.array(z.string()) })
    .nullable(),
  /** Closed-form expectation of each measure for this case, where the backend draws at random. */
  expectation: measureValues.nullable(),
  prompt: z.string().nullable(),
  raw_response: z.string(),
  seconds: z.number().nullable(),
  usage: z.record(z.string(), z.number().nullable()).nullable(),
  details: z.record(z.string(), z.unknown()),
});
export type ScoredCase = z.infer<typeof scoredCaseSchema>;

/** Meta of a `score` stage's output. */
export const scoreMetaSchema = z.object({
  backend: z.string(),
  /** The backend's declared identity; null = none declared or unknown (an answers file). */
  identity: z.unknown(),
  rules: z.object({ name: z.string(), digest: z.string() }),
  measures: z.array(z.string()),
  dataset: z.object({
    digest: z.string(),
    project_name: z.string(),
    url: z.string().nullable(),
    cases: z.number(),
    selected: z.number(),
    notes: z.array(z.string()),
    links: z.string().nullable(),
    extensions: z.array(z.string()).nullable(),
    scanned: z.number().nullable(),
  }),
  corpus: z.object({ digest: z.string(), source: z.string(), revision: z.string().nullable(), files: z.number() }).nullable(),
  /** Records that could not be used, and other things a reader must know. */
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
});
export type IntervalRow = z.infer<typeof intervalSchema>;
