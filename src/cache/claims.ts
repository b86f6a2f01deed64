/**
 * Claims: who is doing a unit right now, so that two processes on one cache ask each question once.
 *
 * A claim names an owner; an owner is a process: host, pid, the pid's start time, and a heartbeat. A claim whose owner is dead is
 * taken over at once on the same host (a dead pid is known for certain, also when the number was given to another process
 * since), and after a minute without heartbeat from another host. Nobody ever has to remove a lock by hand.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { Batcher } from "./batcher.js";
import { openStore } from "./tables.js";

const HEARTBEAT_MS = 5_000;
const SILENT_MS = 60_000;

export interface Owner {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Kernel's start time of the process, or "" where the system does not tell. */
  readonly start: string;
}

/** Start time of a process in clock ticks since boot (field 22 of /proc/PID/stat); "" where there is no /proc, null if no such process. */
export function processStart(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command in parentheses may hold blanks and parentheses itself: fields are counted from the last one.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    // A zombie has ended: it only waits for its parent to notice.
    if (fields[0] === "Z" || fields[0] === "X") return null;
    return fields[19] ?? "";
  } catch {
    try {
      process.kill(pid, 0);
      return "";
    } catch (error) {
      return error instanceof Error && "code" in error && error.code === "EPERM" ? "" : null;
    }
  }
}

export function isAlive(owner: Pick<Owner, "pid" | "start">): boolean {
  const start = processStart(owner.pid);
  if (start === null) return false;
  return start === "" || owner.start === "" || start === owner.start;
}

export type ClaimState = "mine" | "taken-over" | { readonly heldBy: Owner };

export class Claims {
  readonly owner: Owner;
  readonly #now: () => number;
  readonly #sql: ReturnType<typeof openStore>["sql"];
  readonly #close: () => Promise<void>;
  readonly #ready: Promise<void>;
  readonly #acquire: Batcher<string, ClaimState>;
  readonly #release: Batcher<string, undefined>;
  #timer: NodeJS.Timeout | undefined;

  constructor(file: string, now: () => number) {
    const { store, sql } = openStore(file, "memory");
    this.#sql = sql;
    this.#close = () => store.close();
    this.#now = now;
    this.owner = {
      id: randomBytes(8).toString("hex"),
      host: hostname(),
      pid: process.pid,
      start: processStart(process.pid) ?? "",
    };
    this.#ready = this.#prepare();
    // Its failure is seen by whoever claims first.
    this.#ready.catch(() => {});
    this.#acquire = new Batcher((keys) => this.#acquireMany(keys), 400);
    this.#release = new Batcher(async (keys) => {
      await this.#sql(
        "DELETE FROM claims WHERE owner = ? AND key IN (SELECT value FROM json_each(?))",
        this.owner.id,
        JSON.stringify(keys),
      );
      return keys.map(() => undefined);
    }, 400);
  }

  async #prepare(): Promise<void> {
    await this.#sql("PRAGMA synchronous = NORMAL");
    await this.#sql("CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL)");
    await this.#sql(
      "CREATE TABLE IF NOT EXISTS owners (id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, start TEXT NOT NULL, beat INTEGER NOT NULL)",
    );
  }

  async #announce(): Promise<void> {
    await this.#ready;
    if (this.#timer !== undefined) return;
    const { id, host, pid, start } = this.owner;
    const beat = () =>
      this.#sql(
        "INSERT INTO owners (id, host, pid, start, beat) VALUES (?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET beat = excluded.beat",
        id,
        host,
        pid,
        start,
        this.#now(),
      );
    this.#timer = setInterval(() => void beat().catch(() => {}), HEARTBEAT_MS);
    this.#timer.unref();
    await beat();
  }

  /** One attempt, without waiting. */
  acquire(key: string): Promise<ClaimState> {
    return this.#acquire.add(key);
  }

  async release(key: string): Promise<void> {
    await this.#release.add(key);
  }

  async #acquireMany(keys: readonly string[]): Promise<ClaimState[]> {
    await this.#announce();
    const wanted = JSON.stringify(keys);
    const rows = await this.#sql(
      "INSERT INTO claims (key, owner) SELECT value, ? FROM json_each(?) WHERE true ON CONFLICT(key) DO NOTHING RETURNING key",
      this.owner.id,
      wanted,
    );
    const mine = new Set(rows.map(({ key }) => String(key)));
    if (mine.size === keys.length) return keys.map(() => "mine");

    const held = await this.#sql(
      `SELECT c.key, c.owner AS id, o.host, o.pid, o.start, o.beat FROM claims c LEFT JOIN owners o ON o.id = c.owner
       WHERE c.key IN (SELECT value FROM json_each(?))`,
      wanted,
    );
    const states = new Map<string, ClaimState>();
    for (const row of held) {
      const key = String(row.key);
      if (mine.has(key) || row.id === this.owner.id) continue;
      const owner: Owner = { id: String(row.id), host: String(row.host), pid: Number(row.pid), start: String(row.start) };
      const dead =
        row.host === null || (owner.host === this.owner.host ? !isAlive(owner) : this.#now() - Number(row.beat) > SILENT_MS);
      if (!dead) {
        states.set(key, { heldBy: owner });
        continue;
      }
      const taken = await this.#sql(
        "UPDATE claims SET owner = ? WHERE key = ? AND owner = ? RETURNING key",
        this.owner.id,
        key,
        owner.id,
      );
      states.set(key, taken.length > 0 ? "taken-over" : { heldBy: owner });
    }
    return keys.map((key) => states.get(key) ?? "mine");
  }

  /** Other live processes that have announced themselves on this cache. */
  async others(): Promise<Owner[]> {
    await this.#ready;
    const rows = await this.#sql("SELECT id, host, pid, start, beat FROM owners WHERE id <> ?", this.owner.id);
    return rows
      .filter((row) =>
        row.host === this.owner.host
          ? isAlive({ pid: Number(row.pid), start: String(row.start) })
          : this.#now() - Number(row.beat) <= SILENT_MS,
      )
      .map((row) => ({ id: String(row.id), host: String(row.host), pid: Number(row.pid), start: String(row.start) }));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    try {
      if (this.#timer !== undefined) {
        await this.#sql("DELETE FROM claims WHERE owner = ?", this.owner.id);
        await this.#sql("DELETE FROM owners WHERE id = ?", this.owner.id);
      }
    } finally {
      await this.#close();
    }
  }
}
