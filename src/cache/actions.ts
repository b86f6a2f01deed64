/**
 * The action index: what was done, under which key, with which result. A row carries its own check sum, the parts of its key (so that it
 * explains itself), and who wrote it when. Objects are written first and the row last: a row never promises bytes that were not there.
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import type { Digest, Json } from "../base/json.js";
import type { KeyPart } from "./key.js";
import type { TextTable } from "./tables.js";

const digest = z.string().regex(/^[0-9a-f]{64}$/) as unknown as z.ZodType<Digest>;
const json = z.json() as unknown as z.ZodType<Json>;
const namedPart = z.tuple([z.string(), json]);

const unitRow = z.object({
  type: z.literal("unit"),
  /** `query-backend@1`. */
  kind: z.string(),
  unit: z.string(),
  /** Object that holds the parts that all units of the stage share. */
  shared: digest,
  parts: z.array(namedPart),
  out: z.array(z.tuple([z.string(), digest])),
  note: json.optional(),
  status: z.string(),
  seconds: z.number(),
  cost: z.object({ usd: z.number().optional(), tokens: z.number().optional() }).optional(),
  at: z.number(),
  by: z.string(),
  precious: z.boolean(),
});
const stageRow = z.object({
  type: z.literal("stage"),
  kind: z.string(),
  parts: z.array(namedPart),
  /** Manifest object: { items, meta }. */
  output: digest,
  items: z.number(),
  units: z.number(),
  /** Object that lists [unit id, action key]; null for stages that are done as a whole. */
  trace: digest.nullable(),
  notes: json,
  files: z.array(z.object({ root: z.enum(["run", "mined"]), name: z.string(), text: digest, fill: z.boolean().optional() })),
  seconds: z.number(),
  at: z.number(),
  by: z.string(),
});
const rowSchema = z.discriminatedUnion("type", [unitRow, stageRow]);

export type UnitRow = z.infer<typeof unitRow>;
export type StageRow = z.infer<typeof stageRow>;
export type ActionRow = UnitRow | StageRow;

const CHECK_LENGTH = 16;

function checkOf(key: string, text: string): string {
  // The key is part of it: a row that turns up under another key (a flipped bit in the key column) is as wrong as a changed one.
  return createHash("sha256").update(key).update("\n").update(text).digest("hex").slice(0, CHECK_LENGTH);
}

export function encodeRow(key: Digest, row: ActionRow): string {
  const text = JSON.stringify(row);
  return checkOf(key, text) + text;
}

export function decodeRow(key: string, stored: string): ActionRow | undefined {
  const text = stored.slice(CHECK_LENGTH);
  if (stored.length <= CHECK_LENGTH || checkOf(key, text) !== stored.slice(0, CHECK_LENGTH)) return undefined;
  try {
    // The check sum vouches that we wrote it; the version in `kind` and the key scheme vouch for its shape.
    return JSON.parse(text) as ActionRow;
  } catch {
    return undefined;
  }
}

/** For bytes of unknown origin (a bundle, a salvaged database): the shape is checked too. */
export function decodeForeignRow(key: string, stored: string): ActionRow | undefined {
  const row = rowSchema.safeParse(decodeRow(key, stored));
  return row.success ? row.data : undefined;
}

export function keyParts(parts: ActionRow["parts"]): KeyPart[] {
  return parts.map(([name, value]) => ({ name, value }));
}

export class Actions {
  readonly #table: TextTable;
  readonly #onDamage: (key: string) => void;

  constructor(table: TextTable, onDamage: (key: string) => void) {
    this.#table = table;
    this.#onDamage = onDamage;
  }

  /** Rows in the order of the keys; undefined = a miss. A row that fails its check is reported, removed, and a miss. */
  async getMany(keys: readonly Digest[]): Promise<(ActionRow | undefined)[]> {
    const stored = await this.#table.getMany(keys);
    const bad: string[] = [];
    const rows = keys.map((key, index) => {
      const text = stored[index];
      if (text === undefined) return undefined;
      const row = decodeRow(key, text);
      if (row === undefined) {
        bad.push(key);
        this.#onDamage(key);
      }
      return row;
    });
    if (bad.length > 0) await this.#table.deleteMany(bad);
    return rows;
  }

  async get(key: Digest): Promise<ActionRow | undefined> {
    return (await this.getMany([key]))[0];
  }

  async put(key: Digest, row: ActionRow): Promise<void> {
    await this.#table.set(key, encodeRow(key, row));
  }

  async delete(keys: readonly Digest[]): Promise<void> {
    await this.#table.deleteMany(keys);
  }

  /** Every row; undefined for one that fails its check. */
  async *scan(): AsyncGenerator<{ key: Digest; row: ActionRow | undefined }> {
    for await (const [key, value] of this.#table.scan()) yield { key: key as Digest, row: decodeRow(key, value) };
  }
}
