/**
 * Facts about a whole set of answers, the `meta` of a stage that produces `answers`: what a score and a report must say of the system
 * that gave them.
 *
 * The name stands here and not in the stored answers (their `backend` is the kind): a cell that gets another name keeps its answers, and
 * they must not go on bearing the old one.
 */
import * as z from "zod";

export const answersMetaSchema = z.object({
  /** Backend kind, or `import`. */
  kind: z.string(),
  /** The `name:` that a person gave the backend, else its kind. A matrix cell's label, where there is one, is better. */
  name: z.string(),
  /** Declared identity; null = none declared (never cached), or unknown (an answers file). */
  identity: z.unknown(),
  /** Template of the prompt: `text`, `text+format`, `none`; null = unknown. */
  prompt: z.enum(["text", "text+format", "none"]).nullable(),
  repeats: z.number().int().positive(),
  /** What a reader must know (records that could not be used). */
  notes: z.array(z.string()).default([]),
  /** Records that could not be used, by what is wrong with them. */
  left_out: z.array(z.object({ what: z.string(), count: z.number().int(), examples: z.array(z.string()) })).default([]),
});
export type AnswersMeta = z.infer<typeof answersMetaSchema>;

/** The id of an answer as an item: the case's id, with `~repeat` after the first. */
export function answerItemId(caseId: string, repeat: number): string {
  return repeat === 0 ? caseId : `${caseId}~${repeat}`;
}
