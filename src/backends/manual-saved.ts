/**
 * Answers that a person gave and that the run has not stored yet.
 *
 * An answer is handed over one question late, so that BACK can mend it; until then it is in this file, written through to the disk the moment
 * it is given. After a kill the next run finds it here instead of asking again. Only the last few are kept: what was handed over before
 * those is in the cache.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";

const savedSchema = z.object({ key: z.string(), id: z.string(), response: z.string(), seconds: z.number() });
export type SavedAnswer = z.infer<typeof savedSchema>;

/** Handed over, but perhaps not on disk elsewhere yet. */
const KEPT_AFTER = 2;

export class SavedAnswers {
  readonly #file: string | null;
  #waiting: SavedAnswer[];
  #handedOver: SavedAnswer[] = [];

  /** null: nothing is kept. */
  constructor(file: string | null) {
    this.#file = file;
    this.#waiting = file === null ? [] : readSaved(file);
  }

  find(key: string): SavedAnswer | undefined {
    return this.#waiting.find((saved) => saved.key === key);
  }

  /** On disk when it returns. */
  save(answer: SavedAnswer): void {
    this.#waiting = [...this.#waiting.filter(({ key }) => key !== answer.key), answer];
    this.#write();
  }

  handedOver(key: string): void {
    const saved = this.find(key);
    if (saved === undefined) return;
    this.#waiting = this.#waiting.filter((other) => other !== saved);
    this.#handedOver = [...this.#handedOver, saved].slice(-KEPT_AFTER);
    this.#write();
  }

  forget(key: string): void {
    if (this.find(key) === undefined) return;
    this.#waiting = this.#waiting.filter((other) => other.key !== key);
    this.#write();
  }

  /** Everything that was handed over is stored elsewhere now. */
  settle(): void {
    this.#handedOver = [];
    this.#write();
  }

  #write(): void {
    if (this.#file === null) return;
    const all = [...this.#handedOver, ...this.#waiting];
    if (all.length === 0) {
      rmSync(this.#file, { force: true });
      return;
    }
    mkdirSync(dirname(this.#file), { recursive: true });
    const making = `${this.#file}.tmp`;
    const handle = openSync(making, "w", 0o600);
    try {
      writeSync(handle, all.map((saved) => `${JSON.stringify(saved)}\n`).join(""));
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(making, this.#file);
  }
}

function readSaved(file: string): SavedAnswer[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const parsed = savedSchema.safeParse(JSON.parse(line));
      return parsed.success ? [parsed.data] : [];
    } catch {
      return [];
    }
  });
}
