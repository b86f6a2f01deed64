/**
 * An answer: what a backend gave for one case, raw. Readings are derived from it by a parser and a rule set and are never
 * stored in its place, so that a better parser changes readings without asking anything again.
 */
import * as z from "zod";

/** `completed` and `truncated` are final, hence cached; the others are asked again by the next run. */
export const ANSWER_STATUSES = ["completed", "truncated", "timed_out", "rate_limited", "failed", "skipped"] as const;
export type AnswerStatus = (typeof ANSWER_STATUSES)[number];
export const FINAL_STATUSES: ReadonlySet<AnswerStatus> = new Set(["completed", "truncated"]);

export const usageSchema = z.object({
  input_tokens: z.number().nonnegative().nullish(),
  output_tokens: z.number().nonnegative().nullish(),
  reasoning_tokens: z.number().nonnegative().nullish(),
  /** null or absent = unknown, never 0. */
  cost_usd: z.number().nonnegative().nullish(),
});

/**
 * One line of an answers file; `id` and `response` suffice. The original's `issue_number` and `raw_response` are accepted
 * by the reader (`answers/file.ts`) and turned into these names.
 */
export const answerSchema = z.object({
  id: z.string().min(1),
  backend: z.string().default("unnamed"),
  repeat: z.number().int().nonnegative().default(0),
  status: z.enum(ANSWER_STATUSES).default("completed"),
  finish_reason: z.string().nullable().default(null),
  /** The bytes that came, as text. Empty when nothing came. */
  response: z.string(),
  /** Why it failed, in a sentence, for statuses that are not final. */
  error: z.string().nullable().default(null),
  usage: usageSchema.nullable().default(null),
  /** Wall seconds of the real execution; null where unknown. Never the time of a cache hit. */
  seconds: z.number().nonnegative().nullable().default(null),
  /** The prompt that was sent, exactly; null where unknown. */
  prompt: z.string().nullable().default(null),
  /** Anything else the backend said that is worth keeping (command line, HTTP status, stderr tail, citations). */
  details: z.record(z.string(), z.unknown()).default({}),
});
export type Answer = z.infer<typeof answerSchema>;

/** How a prediction was found in the text: the rungs of the parser ladder, most structured first. */
export const READ_BY = [
  "json",
  "json-fenced",
  "json-embedded",
  "ndjson",
  "diff",
  "list",
  "table",
  "code-span",
  "lines",
  "prose",
  "seed",
] as const;
export type ReadBy = (typeof READ_BY)[number];

/** One entry of an answer: one prediction, however many fields it has. */
export interface Entry {
  /** As the answer spelt it: the most specific field (path before name). */
  readonly raw: string;
  readonly readBy: ReadBy;
  /** All spellings that the entry offers, most specific first; `raw` is the first of them. */
  readonly spellings: readonly string[];
  /** 1-based inclusive lines, where the answer gives them. */
  readonly lines?: readonly [number, number];
  readonly score?: number;
  /** Functions (`Class.method`, `function`) that it names inside its file. */
  readonly symbols?: readonly string[];
}

export type Reading =
  /** `note`: what a reader must know of the reading (entries beyond the cap were dropped). */
  | { readonly kind: "answered"; readonly entries: readonly Entry[]; readonly note?: string }
  /** A baseline's many draws: a measure of the case is the mean over the draws. `pool` files were drawn from. */
  | {
      readonly kind: "drawn";
      readonly draws: readonly (readonly Entry[])[];
      readonly pool: number;
      readonly sizes: readonly number[];
    }
  | { readonly kind: "abstained"; readonly why: string }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "unparsable"; readonly why: string };

/** A parser: raw text in, reading out. Pure, linear in the length of the text, never throws. */
export type AnswerParser = (response: string, context: ParseContext) => Reading;

export interface ParseContext {
  /** The answer was cut (`status: truncated`): whole entries before the cut count, the cut one does not. */
  readonly truncated: boolean;
  /** The question, so that echoes of it are not read as predictions; null where unknown. */
  readonly prompt: string | null;
}
