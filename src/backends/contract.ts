/**
 * A backend is a system under test. One file per kind, and `registry.ts`.
 *
 * A backend *declares its identity*: everything that shapes its answers (kind, version, model and revision, endpoint,
 * sampling, seed, index digest, base commit). The identity goes into the key of each answer; what merely steers execution
 * (concurrency, time-outs, retries, paths, tokens) must not. A backend that declares none (`null`) is not cached, and the run says so.
 */
import type * as z from "zod";
import type { Answer, AnswerStatus } from "../answers/schema.js";
import type { Finding } from "../base/finding.js";
import type { Json } from "../base/json.js";
import type { Corpus } from "../corpus/contract.js";
import type { Case, Link, Target } from "../dataset/schema.js";
import type { BuiltIndex } from "./index-tool.js";

/**
 * `text`: the title and body alone (retrievers). `text+format`: with the output format (LLMs). `none`: no prompt.
 */
export type PromptTemplate = "text" | "text+format" | "none";

/** Facts of a case beside its id and prompt that a backend may read; those that it reads are part of the key. */
export type CaseField = "repository" | "number" | "title" | "body" | "url" | "base_commit";

/** What a backend that `readsDataset` sees of the other cases: nothing that their texts could change. */
export interface CaseTruth extends Pick<Case, "id" | "repository"> {
  readonly targets: readonly Pick<Target, "path">[];
  readonly links: readonly Pick<Link, "repository" | "number">[];
}

export type { Finding } from "../base/finding.js";

/** Thrown by `fingerprint` and `open` for what a person can mend: its message is shown, without a stack trace. */
export class UnusableConfiguration extends Error {}

/** What the configuration names is not on this machine: its questions fail, and those to other systems go on. */
export class MissingTool extends UnusableConfiguration {}

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
  /**
   * Content that the options only name (a script, a model file), by digest; part of the key beside `identityOf`. Cheap. Throws, with
   * a message for people, when something named does not exist.
   */
  readonly fingerprint?: (
    options: C,
    environment: Pick<BackendEnvironment, "baseFolder"> & Partial<Surroundings>,
  ) => Promise<Json>;
  /** `optional`: gets the tree if the stage has one; its digest is then part of the key. May depend on the options (`needsCorpusOf`). */
  readonly needsCorpus: boolean | "optional" | ((options: C) => boolean | "optional");
  /**
   * Searches an index that an `index-corpus` stage built with the index tool of the same kind. `required`: the stage must have one;
   * `optional`: gets it if the stage has one. Its digest is then part of the key, and `Question.index` is given. Default: no.
   */
  readonly usesIndex?: (options: C) => "required" | "optional" | "no";
  /** Reads the truth (oracle, random, popularity): the truth's digest is then part of the key, and `Question.truth` is given. */
  readonly readsTruth: boolean;
  /** Also reads the truth of the other cases (popularity): the digest of what it sees is then part of the key. */
  readonly readsDataset: boolean | ((options: C) => boolean);
  /** Case fields that it reads beside the prompt; others are not given to it. Default: none. */
  readonly reads?: (options: C) => readonly CaseField[];
  readonly prompt: PromptTemplate | ((options: C) => PromptTemplate);
  /** Name of the limited resource that its calls use up; default: one per backend cell. */
  readonly resource?: (options: C) => string;
  /** Calls at once unless the stage says otherwise. */
  readonly concurrency: (options: C) => number;
  /** Its server limits rates: calls at once start at one and follow what the server takes, up to `concurrency`. */
  readonly adaptive?: boolean;
  /** A person sees its questions: they are put in the order of the data set, however many are under way. */
  readonly inOrder?: boolean;
  /** So many failed calls in a row, and the stage pauses and at last stops asking, unless it says otherwise; absent = never. */
  readonly breaker?: number;
  /**
   * Makes what says, without asking, about how much a question will use. Only for what costs money or tokens: a kind without it is
   * held to cost nothing but what its answers report. Needs no key and no network. Throws `UnusableConfiguration`.
   */
  readonly estimator?: (options: C, environment: Pick<BackendEnvironment, "baseFolder">) => Promise<Estimator>;
  /** Seconds after which a question is given up; null or absent = none of its own. The stage's `timeout` wins. */
  readonly timeout?: (options: C) => number | null;
  readonly open: (options: C, environment: BackendEnvironment) => Promise<Backend>;
  /**
   * What readers of a report must know of an answer (its query was cut), or null; the report counts the answers that have the same note.
   */
  readonly noteOf?: (answer: Pick<Answer, "status" | "details">) => string | null;
  /**
   * What `bench doctor` says about it: is it installed, which version, is the index there and of which commit, is a key set, does a
   * probe answer. Sends nothing that costs money. Throws for nothing but bugs: what is missing is a finding.
   */
  readonly doctor?: (options: C, environment: DoctorEnvironment) => Promise<readonly Finding[]>;
}

// biome-ignore lint/suspicious/noExplicitAny: a kind of whatever type of options; its own schema checks them
export type AnyKind = BackendKind<any>;

/** About what a question will use; null = unknown, never 0. */
export interface Estimate {
  readonly tokens: number | null;
  readonly usd: number | null;
}
export type Estimator = (question: Omit<Question, "truth">) => Estimate;

/** Whether a kind with these options gets the source tree. */
export function needsCorpusOf<C>(kind: Pick<BackendKind<C>, "needsCorpus">, options: C): boolean | "optional" {
  return typeof kind.needsCorpus === "function" ? kind.needsCorpus(options) : kind.needsCorpus;
}

/** Whether a kind with these options reads the truth of the other cases. */
export function readsDatasetOf<C>(kind: Pick<BackendKind<C>, "readsDataset">, options: C): boolean {
  return typeof kind.readsDataset === "function" ? kind.readsDataset(options) : kind.readsDataset;
}

/** What a look around needs, before any question is asked. */
export interface Surroundings {
  /** Folder of the pipeline file: relative paths in options are relative to it. */
  readonly baseFolder: string;
  /** The process's environment; a backend passes on only what it needs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Resolves after so many milliseconds; rejects with the signal's reason when it aborts. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

export interface DoctorEnvironment extends Surroundings {
  /** Aborts when the person gives up or the check has taken too long. */
  readonly signal: AbortSignal;
  /** A folder below the cache, where indexes lie. */
  readonly cacheFolder: (name: string) => string;
  /** No network: say that the probe was left out. */
  readonly offline: boolean;
}

/** A person, or a pipe in their place. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: (text: string) => void;
  /** Keys are echoed and lines edited by a person. */
  readonly isTTY: boolean;
  /** Nothing else is drawn on the terminal until the returned function is called. */
  readonly hold: () => () => void;
}

/** The outside world, as arguments. */
export interface BackendEnvironment extends Surroundings {
  /** Seconds since the epoch, monotonic where possible. */
  readonly clock: () => number;
  /** A folder below the cache for what a backend keeps (indexes, answers not handed over yet); absent in tests that keep nothing. */
  readonly cacheFolder?: (name: string) => string;
  /** Where a person answers; absent where nobody is there. */
  readonly terminal?: Terminal;
  /** Every case of the data set, selected or not (only if `readsDataset`). */
  readonly truths?: readonly CaseTruth[];
  readonly warn: (message: string) => void;
  /** No network: a question that would need it fails. */
  readonly offline?: boolean;
}

/** The blocks of a `text+format` prompt apart, for backends that put them together in their own way. */
export interface PromptBlocks {
  readonly title: string;
  /** Empty where the issue has no description. */
  readonly description: string;
  readonly format: string;
  readonly task: string;
}

export interface Question {
  readonly id: string;
  readonly repeat: number;
  /** The prompt's exact bytes, rendered by the stage from the kind's template. */
  readonly prompt: string;
  /** What the prompt is made of; present with the template `text+format`. */
  readonly blocks?: PromptBlocks;
  /** The id, and the fields that the kind says it `reads`. */
  readonly case: Pick<Case, "id"> & Partial<Pick<Case, CaseField>>;
  /** Present if `needsCorpus` is true; if it is `optional`, where the stage has a tree. */
  readonly corpus?: Corpus;
  /** The index of the case's source tree; present as the kind's `usesIndex` says. */
  readonly index?: BuiltIndex;
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
  /** Where the backend knows better than the stage how long it took (a person who was shown the question later than it was asked). */
  readonly seconds?: number;
  readonly details?: Record<string, unknown>;
  /** For statuses that are not final: may the same call succeed soon? Seconds to wait at least, where the server says. */
  readonly retry?: { readonly after?: number };
  /**
   * The failure is one of every question that could be asked (a refused key, a tool that is not there): `fail` = the others fail by it without
   * being asked; `stop` = they are left for another run, which may go on once it is mended (an empty account).
   */
  readonly ofAll?: "fail" | "stop";
  /** False: the system was not asked (the question can't be put to it), so nothing was spent, and it says nothing of the system. */
  readonly asked?: boolean;
}

export interface Backend {
  /**
   * Never throws for what the system under test does; a failure is a status. Must stop soon when the signal aborts: with status
   * `timed_out` if the reason's name is `TimeoutError`. What the corpus throws (a damaged cache entry) goes through to the engine.
   */
  readonly ask: (question: Question, signal: AbortSignal) => Promise<RawAnswer>;
  readonly close: () => Promise<void>;
}
