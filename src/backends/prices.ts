/**
 * Price tables: what tokens cost, by provider and model, as YAML that people can read and correct.
 *
 * A price has a date, because it changes, and a model without one costs an *unknown* amount: null, never 0. Names match exactly: a dated model
 * may cost otherwise than the alias that led to it last year. What an answer cost is stored with it, so a new table changes no old report.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { LineCounter, parseDocument } from "yaml";
import * as z from "zod";
import { yamlProblem } from "../base/yaml-guard.js";
import { UnusableConfiguration } from "./contract.js";

const amount = z.number().nonnegative();
const priceSchema = z.strictObject({
  provider: z.string().min(1),
  models: z.array(z.string().min(1)).min(1),
  /** US dollars per million tokens. */
  input: amount,
  output: amount,
  /** Of input that the provider had read before; absent = as `input`. */
  cached_input: amount.optional(),
  /** When somebody looked: `2026-03-01`. */
  as_of: z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "must be a date such as 2026-03-01"),
  source: z.string().optional(),
});
const tableSchema = z.strictObject({
  currency: z.literal("USD"),
  /** Tokens that a price is for. */
  per: z.literal(1_000_000),
  prices: z.array(priceSchema),
});

export type Price = Omit<z.infer<typeof priceSchema>, "provider" | "models">;
export type PriceTable = ReadonlyMap<string, Price>;

const PER = 1_000_000;
/** Beside the pipelines, where people look; the same place seen from the sources and from what they compile to. */
const SHIPPED = fileURLToPath(new URL("../../pipelines/prices/models.yaml", import.meta.url));

function nameOf(provider: string, model: string): string {
  return JSON.stringify([provider, model]);
}

/** Throws `UnusableConfiguration` with the file and every mistake in it. The first price of a model counts. */
export function parsePrices(text: string, file: string): PriceTable {
  const unfit = yamlProblem(text);
  if (unfit !== null) throw new UnusableConfiguration(`${file} is no price table: ${unfit.message}`);
  const document = parseDocument(text, { uniqueKeys: true, logLevel: "silent", lineCounter: new LineCounter() });
  const [mistake] = document.errors;
  if (mistake !== undefined) throw new UnusableConfiguration(`${file} is no YAML: ${mistake.message.split("\n")[0] ?? ""}`);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // More aliases than any table has.
    throw new UnusableConfiguration(`${file} can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const table = tableSchema.safeParse(value);
  if (!table.success) throw new UnusableConfiguration(`${file} is no price table:\n${z.prettifyError(table.error)}`);
  const prices = new Map<string, Price>();
  for (const { provider, models, ...price } of table.data.prices) {
    for (const model of models) {
      const name = nameOf(provider, model);
      if (!prices.has(name)) prices.set(name, price);
    }
  }
  return prices;
}

/** The person's own table, where there is one, over the shipped one. */
export async function loadPrices(own: string | undefined, baseFolder: string): Promise<PriceTable> {
  const shipped = parsePrices(await readTable(SHIPPED, "pipelines/prices/models.yaml"), "pipelines/prices/models.yaml");
  if (own === undefined) return shipped;
  const mine = parsePrices(await readTable(resolve(baseFolder, own), own), own);
  return new Map([...shipped, ...mine]);
}

async function readTable(path: string, shown: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new UnusableConfiguration(missing ? `there is no price table ${shown}` : `the price table ${shown} can't be read`);
  }
}

export function priceOf(table: PriceTable, provider: string, model: string): Price | null {
  return table.get(nameOf(provider, model)) ?? null;
}

export interface Tokens {
  readonly input: number | null;
  readonly output: number | null;
  /** Part of `input`. */
  readonly cached?: number | null;
}

/** US dollars; null where the price or a count is unknown. Thinking is output, as the providers bill it. */
export function costOf(price: Price | null, { input, output, cached }: Tokens): number | null {
  if (price === null || input === null || output === null) return null;
  const known = Math.min(cached ?? 0, input);
  return ((input - known) * price.input + known * (price.cached_input ?? price.input) + output * price.output) / PER;
}
