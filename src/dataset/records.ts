/** What all readers of data sets share: untrusted objects, and what is wrong with one of them in a sentence. */
import { visible } from "../base/diagnostics.js";
import { type RecordPlace, recordPlace } from "../base/plain-words.js";
import type { BadRecord, Case, Dataset } from "./schema.js";

/** A parsed object of unknown content. */
export type Raw = { readonly [name: string]: unknown };

export function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A path as a data set's target may have it: `./` and leading slashes are spelling, the rest is the path. */
export function plainPath(path: string): string {
  return path.trim().replace(/^(?:\.?\/)+/, "");
}

export interface ReadResult {
  readonly dataset: Dataset;
  /** By position. */
  readonly bad: readonly BadRecord[];
  /** Sentences about the file that a reader must know; also in the header. */
  readonly notes: readonly string[];
}

/** The good and the bad records of a file, in order. A second record with an id that was there before is a bad one. */
export class Collected {
  readonly cases: Case[] = [];
  readonly bad: BadRecord[] = [];
  readonly #firstWith = new Map<string, RecordPlace>();

  /** `read`: the case, or what is wrong. */
  add(place: RecordPlace, read: Case | string): void {
    if (typeof read === "string") {
      this.bad.push({ ...place, what: read });
      return;
    }
    const first = this.#firstWith.get(read.id);
    if (first !== undefined) {
      const id = visible(read.id).slice(0, 100);
      this.bad.push({ ...place, what: `its \`id\` ${id} is that of ${recordPlace(first)}, which counts`, duplicate_of: read.id });
      return;
    }
    this.#firstWith.set(read.id, place);
    this.cases.push(read);
  }
}
