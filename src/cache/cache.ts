/** The cache as the engine sees it: objects, the action index, claims, small memories, and folders for things that verify themselves. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson, type Digest, digestBytes, type Json } from "../base/json.js";
import { type ActionRow, Actions } from "./actions.js";
import { Claims } from "./claims.js";
import { type CacheBroken, classify, DamagedEntry } from "./errors.js";
import { Objects } from "./objects.js";
import { closeTables, DATABASE, type Opening, openTables, repair, type Tables } from "./open.js";
import { breakSeal, seal } from "./seal.js";

export interface CacheOptions extends Opening {}

const MEMORY_CHECK = 16;
/** Values that are encoded and stored together. */
const PORTION = 2_000;

function memoryCheck(key: string, body: string): string {
  return digestBytes(key + body).slice(0, MEMORY_CHECK);
}

export class Cache {
  readonly folder: string;
  readonly #options: CacheOptions;
  #tables: Tables;
  #inode: number | undefined;
  #claims: Claims | undefined;
  #objects: Objects;
  #actions: Actions;
  #dirty: Promise<void> | undefined;
  /** Damage met since the cache was opened: reported once each. */
  readonly damaged = new Set<string>();

  private constructor(options: CacheOptions, tables: Tables, inode: number | undefined) {
    this.folder = options.folder;
    this.#options = options;
    this.#tables = tables;
    this.#inode = inode;
    [this.#objects, this.#actions] = this.#rooms();
  }

  static async open(options: CacheOptions): Promise<Cache> {
    const tables = await openTables(options);
    const inode = (await stat(join(options.folder, DATABASE)).catch(() => undefined))?.ino;
    return new Cache(options, tables, inode);
  }

  #rooms(): [Objects, Actions] {
    const objects = new Objects(this.#tables.objects, join(this.folder, "objects"), ({ digest, where, what }) => {
      // What is damaged is removed, which is a write as well; its failure is seen by the removal itself.
      this.touch().catch(() => {});
      if (this.damaged.has(digest)) return;
      this.damaged.add(digest);
      this.#options.warn(`cache: object ${digest.slice(0, 12)} in ${where} ${what}; it is made again where it can be`);
    });
    const actions = new Actions(this.#tables.actions, (key) => {
      this.touch().catch(() => {});
      if (this.damaged.has(key)) return;
      this.damaged.add(key);
      this.#options.warn(`cache: the row of key ${key.slice(0, 12)} is damaged; it counts as a miss`);
    });
    return [objects, actions];
  }

  /** The database is unreadable: moves it aside, carries over what it can, and opens the new one. */
  async recover(error: CacheBroken): Promise<void> {
    await this.#closeTables().catch(() => {});
    await repair(this.#options, `can't be read any further (${error.message})`, this.#inode);
    this.#tables = await openTables(this.#options);
    this.#inode = (await stat(join(this.folder, DATABASE)).catch(() => undefined))?.ino;
    [this.#objects, this.#actions] = this.#rooms();
    this.#dirty = undefined;
  }

  get objects(): Objects {
    return this.#objects;
  }
  get actions(): Actions {
    return this.#actions;
  }
  /** The tables themselves, for maintenance. */
  get tables(): Tables {
    return this.#tables;
  }

  /** Before the first write: it breaks the seal, which is put back when the cache is closed. */
  touch(): Promise<void> {
    this.#dirty ??= breakSeal(this.folder).catch((error) => {
      throw classify(error);
    });
    return this.#dirty;
  }

  async putBytes(bytes: Uint8Array): Promise<Digest> {
    await this.touch();
    return this.#objects.put(bytes);
  }

  /** Many JSON values; see `Objects.putMany`. */
  async putJsonMany(values: readonly unknown[], trust: boolean): Promise<Digest[]> {
    await this.touch();
    const digests: Digest[] = [];
    // In portions: the texts of a whole data set at once would take as much memory as the data set again.
    for (let start = 0; start < values.length; start += PORTION) {
      const portion = values.slice(start, start + PORTION).map((value) => Buffer.from(canonicalJson(value)));
      digests.push(...(await this.#objects.putMany(portion, trust)));
    }
    return digests;
  }

  async putJson(value: unknown): Promise<Digest> {
    return this.putBytes(Buffer.from(canonicalJson(value)));
  }

  /** Throws `DamagedEntry` naming every one that is missing or wrong. */
  async getBytes(digests: readonly Digest[]): Promise<Uint8Array[]> {
    const found = await this.#objects.getMany(digests);
    const missing = digests.filter((digest) => !found.has(digest));
    if (missing.length > 0) {
      for (const digest of missing) {
        if (this.damaged.has(digest)) continue;
        this.damaged.add(digest);
        this.#options.warn(`cache: object ${digest.slice(0, 12)} is missing; it is made again where it can be`);
      }
      throw new DamagedEntry(missing);
    }
    return digests.map((digest) => found.get(digest) as Uint8Array);
  }

  async getJson(digest: Digest): Promise<Json> {
    const [bytes] = await this.getBytes([digest]);
    return JSON.parse(Buffer.from(bytes ?? []).toString("utf8")) as Json;
  }

  async putRow(key: Digest, row: ActionRow): Promise<void> {
    await this.touch();
    await this.#actions.put(key, row);
  }

  async claims(): Promise<Claims> {
    await this.touch();
    this.#claims ??= new Claims(join(this.folder, DATABASE), this.#options.now);
    return this.#claims;
  }

  /** Small values that may be lost without harm: each carries its own check, and a damaged one is forgotten. */
  memory(name: string): { get(key: string): Promise<Json | undefined>; set(key: string, value: Json): Promise<void> } {
    const full = (key: string) => `${name}:${digestBytes(key)}`;
    return {
      get: async (key) => {
        const [text] = await this.#tables.memory.getMany([full(key)]);
        if (text === undefined || !this.isSoundMemory(full(key), text)) return undefined;
        return JSON.parse(text.slice(MEMORY_CHECK)) as Json;
      },
      set: async (key, value) => {
        const body = canonicalJson(value);
        const text = memoryCheck(full(key), body) + body;
        // What is known already is not written: the write would break the seal, and putting that back reads the whole database.
        if ((await this.#tables.memory.getMany([full(key)]))[0] === text) return;
        await this.touch();
        await this.#tables.memory.set(full(key), text);
      },
    };
  }

  /** Does a value of the memory table match its check? */
  isSoundMemory(key: string, text: string): boolean {
    return memoryCheck(key, text.slice(MEMORY_CHECK)) === text.slice(0, MEMORY_CHECK);
  }

  async #closeTables(): Promise<void> {
    const claims = this.#claims;
    this.#claims = undefined;
    await claims?.close().catch(() => {});
    await closeTables(this.#tables);
  }

  async close(): Promise<void> {
    const wrote = this.#dirty !== undefined;
    let alone = true;
    if (wrote && this.#claims !== undefined) alone = (await this.#claims.others().catch(() => [{}])).length === 0;
    await this.#closeTables();
    if (wrote && alone) await seal(this.folder).catch(() => {});
  }
}
