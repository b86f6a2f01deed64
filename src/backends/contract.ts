/**
 * A backend is a system under test. One file per kind, and `registry.ts`.
 *
 * A backend *declares its identity*: everything that shapes its answers (kind, version, model and revision, endpoint,
 * sampling, seed, index digest, base commit). The identity goes into the key of each answer; what merely steers execution
 * (concurrency, time-outs, retries, paths, tokens) must not. A backend that declares none (`null`) is not cached, and the run says so.
 */
import type * as z from "zod";
import type { Answer, AnswerStatus } from "../answers/schema.js";
import type { Json } from "../base/json.js";
import type { Corpus } from "../corpus/contract.js";
import type { Case, Dataset, Target } from "../dataset/schema.js";

export interface BackendKind<C = unknown> {
  readonly kind: string;
  /** One sentence. */
  readonly summary: string;
  /** Bumped when the same configuration would give other answers. */
  readonly version: number;
  /** Strict object schema of the options beside `kind` and `name`; describes each option (`.describe`). */
  readonly options: z.ZodType<C>;
  /** Options that change the answers, in the form that enters the key. Steering options are left out here. */
  readonly identityOf: (options: C) => Json | null;
  readonly needsCorpus: boolean;
  /** Reads the truth (oracle, random, popularity): the truth's digest is then part of the key, and `Question.truth` is given. */
  readonly readsTruth: boolean;
  /** Also reads the other cases of the data set (popularity): its digest is then part of the key. */
  readonly readsDataset: boolean;
  /** `text`: the title and body alone (retrievers). `text+format`: with the output format (LLMs). `none`: no prompt. */
  readonly prompt: "text" | "text+format" | "none";
  /** Name of the limited resource that its calls use up; default: one per backend cell. */
  readonly resource?: (options: C) => string;
  /** Calls at once unless the stage says otherwise. */
  readonly concurrency: (options: C) => number;
  readonly open: (options: C, environment: BackendEnvironment) => Promise<Backend>;
}

/** The outside world, as arguments. */
export interface BackendEnvironment {
  /** Seconds since the epoch, monotonic where possible. */
  readonly clock: () => number;
  /** The process's environment; a backend passes on only what it needs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the pipeline file: relative paths in options are relative to it. */
  readonly baseFolder: string;
  /** The whole data set (only if `readsDataset`). */
  readonly dataset?: Dataset;
  readonly warn: (message: string) => void;
}

export interface Question {
  readonly id: string;
  readonly repeat: number;
  /** The prompt's exact bytes, rendered by the stage from the kind's template. */
  readonly prompt: string;
  readonly case: Pick<Case, "id" | "repository" | "number" | "title" | "body" | "url" | "base_commit">;
  /** Present if `needsCorpus`. */
  readonly corpus?: Corpus;
  /** Targets that exist in the corpus (all of them without one); present if `readsTruth`. */
  readonly truth?: readonly Target[];
}

/** The backend's part of an answer; the stage adds id, backend, repeat, prompt and seconds. */
export interface RawAnswer {
  readonly status: AnswerStatus;
  readonly response: string;
  readonly finish_reason?: string | null;
  readonly error?: string | null;
  readonly usage?: Answer["usage"];
  readonly details?: Record<string, unknown>;
  /** For statuses that are not final: may the same call succeed soon? Seconds to wait at least, where the server says. */
  readonly retry?: { readonly after?: number };
}

export interface Backend {
  /** Never throws for what the system under test does; a failure is a status. Must stop soon when the signal aborts. */
  readonly ask: (question: Question, signal: AbortSignal) => Promise<RawAnswer>;
  readonly close: () => Promise<void>;
}
