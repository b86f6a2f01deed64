/**
 * The index database: one SQLite file, opened through Keyv's adapter, one store per table.
 *
 * Keyv's adapter has no option for WAL, swallows errors unless told not to, and writes row by row; so the pragmas are set through
 * its `query`, rows are written in one statement for many (group commit), and they are read with Keyv's own `getMany`.
 * Values of `actions` and `memory` lie in Keyv's own format: any Keyv can read them. `objects` holds blobs, written past Keyv's JSON
 * (which would cost a third more as base64).
 */
import { KeyvSqlite } from "@keyv/sqlite";
import Keyv from "keyv";
import { Batcher } from "./batcher.js";
import { classify } from "./errors.js";

/** A backup or a virus scanner may hold a database for a while; giving up would lose an answer that was paid for. */
export const BUSY_TIMEOUT_MS = 30_000;
/** Keys per read: one SELECT each, and Keyv joins quadratically. */
const READ_BATCH = 500;
const WRITE_BATCH = 400;

type Sql = (statement: string, ...parameters: unknown[]) => Promise<Record<string, unknown>[]>;

export function openStore(file: string, table: string): { store: KeyvSqlite; sql: Sql } {
  const store = new KeyvSqlite({ uri: `sqlite://${file}`, table, busyTimeout: BUSY_TIMEOUT_MS });
  // Without a listener an 'error' event would end the process; the same error rejects the query, where it is handled.
  store.on("error", () => {});
  const sql: Sql = async (statement, ...parameters) => {
    try {
      return await store.query(statement, ...parameters);
    } catch (error) {
      throw classify(error);
    }
  };
  return { store, sql };
}

/** A table of text values, in Keyv's format. */
export class TextTable {
  readonly sql: Sql;
  readonly #table: string;
  readonly #store: KeyvSqlite;
  readonly #keyv: Keyv<string>;
  readonly #writes: Batcher<readonly [string, string], undefined>;

  constructor(file: string, table: string) {
    const { store, sql } = openStore(file, table);
    this.#store = store;
    this.sql = sql;
    this.#table = table;
    this.#keyv = new Keyv<string>({ store, useKeyPrefix: false, throwOnErrors: true, emitErrors: false });
    this.#keyv.on("error", () => {});
    this.#writes = new Batcher(async (entries) => {
      // Two writes of one key in one statement would conflict with each other: the later one wins.
      const last = new Map(entries);
      await this.sql(
        `INSERT INTO ${table} (key, value) VALUES ${[...last].map(() => "(?, ?)").join(", ")}
         ON CONFLICT(key) DO UPDATE SET value = excluded.value`,
        [...last].flatMap(([key, value]) => [key, JSON.stringify({ value, expires: null })]),
      );
      return entries.map(() => undefined);
    }, WRITE_BATCH);
  }

  async getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    const found: (string | undefined)[] = [];
    for (let start = 0; start < keys.length; start += READ_BATCH) {
      try {
        found.push(...(await this.#keyv.getMany<string>(keys.slice(start, start + READ_BATCH))));
      } catch (error) {
        // A row whose JSON was damaged makes Keyv's parser throw for the whole batch: read this batch one by one.
        if (error instanceof SyntaxError) found.push(...(await this.#oneByOne(keys.slice(start, start + READ_BATCH))));
        else throw classify(error);
      }
    }
    return found;
  }

  async #oneByOne(keys: readonly string[]): Promise<(string | undefined)[]> {
    const found: (string | undefined)[] = [];
    for (const key of keys) {
      try {
        const value: unknown = await this.#keyv.get(key);
        found.push(typeof value === "string" ? value : value === undefined ? undefined : "");
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw classify(error);
        found.push("");
      }
    }
    return found;
  }

  set(key: string, value: string): Promise<undefined> {
    return this.#writes.add([key, value]);
  }

  async deleteMany(keys: readonly string[]): Promise<void> {
    for (let start = 0; start < keys.length; start += READ_BATCH) {
      await this.sql(
        `DELETE FROM ${this.#table} WHERE key IN (SELECT value FROM json_each(?))`,
        JSON.stringify(keys.slice(start, start + READ_BATCH)),
      );
    }
  }

  /** All rows by SQL in order of rowid (Keyv's own iterator is quadratic). A damaged row comes as an empty value. */
  async *scan(): AsyncGenerator<[key: string, value: string]> {
    for await (const row of scanTable(this.sql, this.#table)) {
      const { key, value } = row;
      let text = "";
      try {
        const parsed: unknown = JSON.parse(String(value));
        if (typeof parsed === "object" && parsed !== null && "value" in parsed && typeof parsed.value === "string")
          text = parsed.value;
      } catch {
        // stays empty: the reader's own check reports it
      }
      yield [String(key), text];
    }
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

/** A table of byte strings. */
export class BlobTable {
  readonly sql: Sql;
  readonly #store: KeyvSqlite;
  readonly #table: string;
  readonly #writes: Batcher<readonly [string, Uint8Array], undefined>;

  constructor(file: string, table: string) {
    const { store, sql } = openStore(file, table);
    this.#store = store;
    this.sql = sql;
    this.#table = table;
    this.#writes = new Batcher(async (entries) => {
      const last = [...new Map(entries)];
      const places = last.map(() => "(?, ?)").join(", ");
      await this.sql(
        `INSERT INTO ${table} (key, value) VALUES ${places} ON CONFLICT(key) DO UPDATE SET value = excluded.value`,
        last.flatMap(([key, value]) => [key, Buffer.from(value.buffer, value.byteOffset, value.byteLength)]),
      );
      return entries.map(() => undefined);
    }, WRITE_BATCH);
  }

  async getMany(keys: readonly string[]): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    for (let start = 0; start < keys.length; start += READ_BATCH) {
      const rows = await this.sql(
        `SELECT key, value FROM ${this.#table} WHERE key IN (SELECT value FROM json_each(?))`,
        JSON.stringify(keys.slice(start, start + READ_BATCH)),
      );
      for (const { key, value } of rows) found.set(String(key), asBytes(value));
    }
    return found;
  }

  /** Which of the keys exist; their values are not read. */
  async has(keys: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (let start = 0; start < keys.length; start += READ_BATCH) {
      const rows = await this.sql(
        `SELECT key FROM ${this.#table} WHERE key IN (SELECT value FROM json_each(?))`,
        JSON.stringify(keys.slice(start, start + READ_BATCH)),
      );
      for (const { key } of rows) found.add(String(key));
    }
    return found;
  }

  set(key: string, value: Uint8Array): Promise<undefined> {
    return this.#writes.add([key, value]);
  }

  async deleteMany(keys: readonly string[]): Promise<void> {
    for (let start = 0; start < keys.length; start += READ_BATCH) {
      await this.sql(
        `DELETE FROM ${this.#table} WHERE key IN (SELECT value FROM json_each(?))`,
        JSON.stringify(keys.slice(start, start + READ_BATCH)),
      );
    }
  }

  async *scan(): AsyncGenerator<[key: string, value: Uint8Array]> {
    for await (const { key, value } of scanTable(this.sql, this.#table)) yield [String(key), asBytes(value)];
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

function asBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return Buffer.from(typeof value === "string" ? value : "");
}

async function* scanTable(sql: Sql, table: string): AsyncGenerator<Record<string, unknown>> {
  let after = -1;
  for (;;) {
    const rows = await sql(
      `SELECT rowid AS row_number, key, value FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ?`,
      after,
      READ_BATCH,
    );
    if (rows.length === 0) return;
    yield* rows;
    after = Number(rows.at(-1)?.row_number);
  }
}
