/** What all readers of data sets share: untrusted objects, and what is wrong with one of them in a sentence. */
import type * as z from "zod";
import { visible } from "../base/diagnostics.js";
import type { BadRecord, Case, Dataset } from "./schema.js";

/** A parsed object of unknown content. */
export type Raw = { readonly [name: string]: unknown };

export function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first problem, with the place inside of the record: `linked_merged_pull_requests[2].number: expected a number`. */
export function describeProblem(error: z.ZodError): string {
  const first = error.issues[0];
  if (first === undefined) return "it can't be used";
  const place = first.path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${String(step)}`))
    .join("");
  const more = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : "";
  return visible(`${place === "" ? "" : `${place}: `}${first.message}${more}`).slice(0, 300);
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
  readonly #firstWith = new Map<string, number>();

  /** `record`: 1-based position; `read`: the case, or what is wrong. */
  add(record: number, read: Case | string): void {
    if (typeof read === "string") {
      this.bad.push({ record, what: read });
      return;
    }
    const first = this.#firstWith.get(read.id);
    if (first !== undefined) {
      this.bad.push({ record, what: `its id ${visible(read.id).slice(0, 100)} is that of record ${first}, which counts` });
      return;
    }
    this.#firstWith.set(read.id, record);
    this.cases.push(read);
  }
}
