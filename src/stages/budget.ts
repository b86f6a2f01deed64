/** `budget:` of a stage that asks something that costs money: what one run may spend. */
import * as z from "zod";

const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1_000, m: 1_000_000, g: 1_000_000_000 };

/** `5M`, `250k`, `1.5M`; undefined where it is none of that. */
function countOf(text: string): number | undefined {
  const match = /^([0-9]{1,12}(?:\.[0-9]{1,6})?)\s?([kmg]?)$/i.exec(text.trim());
  const unit = UNITS[match?.[2]?.toLowerCase() ?? "?"];
  return match === null || unit === undefined ? undefined : Math.round(Number(match[1]) * unit);
}

const AMOUNT = "must be a whole number of at least 1, or one such as 250k or 5M";
const amount = z.union([z.number().int().min(1), z.string()], { error: AMOUNT }).transform((value, context) => {
  const count = typeof value === "number" ? value : countOf(value);
  if (count !== undefined && count >= 1) return count;
  context.addIssue({ code: "custom", message: AMOUNT });
  return z.NEVER;
});

export const budgetSchema = z
  .strictObject({
    usd: z.number().positive().optional().describe("US dollars, by the price table."),
    tokens: amount.optional().describe("Tokens in and out: 5M, 250k."),
    queries: amount.optional().describe("Calls, further attempts included."),
  })
  .refine((budget) => Object.values(budget).some((value) => value !== undefined), {
    error: "names no bound: give at least one of usd, tokens, queries",
  })
  .transform(({ usd, tokens, queries }) => ({
    ...(usd === undefined ? {} : { usd }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(queries === undefined ? {} : { queries }),
  }));
export type Budget = z.output<typeof budgetSchema>;
