/** One line that a program with the `json-lines` protocol prints, read as an answer. Pure. */
import * as z from "zod";
import type { RawAnswer } from "./contract.js";

const count = z.number().int().nonnegative().nullish();
const usageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  cost_usd: z.number().nonnegative().nullish(),
});

/** What a program says that an answer cost; undefined = it says nothing that can be read. */
export function usageIn(value: unknown): RawAnswer["usage"] {
  if (typeof value !== "object" || value === null || !("usage" in value)) return undefined;
  const read = usageSchema.safeParse(value.usage);
  if (!read.success) return undefined;
  const { input_tokens, output_tokens, reasoning_tokens, cost_usd } = read.data;
  return {
    input_tokens: input_tokens ?? null,
    output_tokens: output_tokens ?? null,
    reasoning_tokens: reasoning_tokens ?? null,
    cost_usd: cost_usd ?? null,
  };
}

const replySchema = z.looseObject({
  id: z.string(),
  repeat: z.number().optional(),
  response: z.string().optional(),
  error: z.string().min(1).optional(),
  /** With `error`: the same question may succeed soon; a number = not before so many seconds. */
  retry: z.union([z.boolean(), z.number().nonnegative()]).optional(),
});

/**
 * null = no answer to this question (a log line, a late answer to another one). `{id, response}`: a text, read as any model's is.
 * `{id, error, retry?}`: a failure. Else the object itself, without its envelope, is the answer: `{id, files: [{path, score, start_line}]}`.
 */
export function readReply(line: string, question: { readonly id: string; readonly repeat: number }): RawAnswer | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const read = replySchema.safeParse(value);
  if (!read.success || read.data.id !== question.id || (read.data.repeat ?? question.repeat) !== question.repeat) return null;
  const { id: _, repeat: __, response, error, retry, usage: ___, ...rest } = read.data;
  const usage = usageIn(value);
  const spent = usage === undefined || usage === null ? {} : { usage };
  if (error !== undefined) {
    const again = retry === undefined || retry === false ? {} : { retry: typeof retry === "number" ? { after: retry } : {} };
    return { status: "failed", response: response ?? "", error, ...spent, ...again };
  }
  return { status: "completed", response: response ?? JSON.stringify(rest), ...spent };
}
