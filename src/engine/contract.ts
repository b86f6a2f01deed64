/**
 * The contract between the engine and a stage kind.
 *
 * The engine knows keys, items, limits and failures; it knows nothing of issues or answers. A stage kind says what its units
 * of work are, which parts determine each unit's output, and how to do one unit. Everything else (looking up, storing, retrying,
 * streaming, counting, stopping, explaining) is the engine's.
 */
import type { Finding } from "../base/finding.js";
import type { Digest, Json } from "../base/json.js";
import type { KeyPart } from "../cache/key.js";
import type { StageKindInfo } from "../pipeline/model.js";
import type { Budget, Expected } from "./budget.js";

/** A record that flows out of a stage. `value` must be plain JSON (members with value `undefined` are dropped). */
export interface OutItem {
  readonly id: string;
  readonly value: unknown;
}

/** A stored item: its content is read (and its digest checked) only when asked for. */
export interface ItemRef {
  readonly id: string;
  readonly digest: Digest;
}

/** What an upstream stage gave. `items` are the selected ones (`--items`, `--sample`), `all` every one. */
export interface StageOutput {
  readonly digest: Digest;
  readonly items: readonly ItemRef[];
  readonly all: readonly ItemRef[];
  /** Facts about the whole output; part of its digest. */
  readonly meta: Json;
  /** Facts that may differ between equal outputs (times); not part of the digest. */
  readonly notes: Json;
}

export interface LabelledOutput {
  readonly stage: string;
  readonly label: string | null;
  readonly output: StageOutput;
}

/** The complete inputs of a stage, by type. A type that the graph checker did not guarantee is undefined. */
export interface StageInputs {
  /** The single input of that type; throws if there is none (a bug: `consumes` says `one`). */
  one(type: string): StageOutput;
  optional(type: string): StageOutput | undefined;
  many(type: string): readonly LabelledOutput[];
}

/** Time, as an argument. Milliseconds since the epoch. */
export interface Clock {
  now(): number;
  /** Rejects with the signal's reason when it aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** A person at a terminal, or a pipe in their place. */
export interface PersonTerminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: (text: string) => void;
  readonly isTTY: boolean;
  /** Nothing else is drawn on the terminal until the returned function is called. */
  readonly hold: () => () => void;
}

/** The outside world and the cache, handed to every function of a stage kind. */
export interface StageTools {
  readonly clock: Clock;
  /** Uniform in [0, 1); for back-off jitter only, never for results. */
  readonly random: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where a person is asked; absent where nobody is there. */
  readonly terminal?: PersonTerminal;
  /** Of the programs at work (`bench`, `node`): for reports, never for keys. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Absolute folder of the pipeline file: relative paths in `with:` are relative to it. */
  readonly baseFolder: string;
  /** Absolute project root. */
  readonly projectRoot: string;
  /** A folder below the cache that belongs to this kind of thing (`trees`, `git`): content there must be verifiable. */
  readonly cacheFolder: (name: string) => string;
  /** No network: a unit that would need it fails with a message that says so. */
  readonly offline: boolean;
  /** `--refresh`: ask again, conditionally where the source allows (ETag). */
  readonly refresh: boolean;
  /** Longest wait for a limit, in milliseconds; beyond it the run stops and can be resumed. */
  readonly maxWait: number;
  readonly warn: (message: string) => void;
  /** Counts what the outside was asked for: `requests`, `queries`. Shown, reported, and what tests assert. */
  readonly count: (what: "requests" | "queries" | "requests_saved", by?: number) => void;
  /** Shows that everything on `resource` waits until then (epoch milliseconds), or, with null, that it goes on. */
  readonly waiting: (resource: string, until: number | null, why: string) => void;
  /** Facts about a limit (`github`: 4,312 of 5,000 requests left until 14:05). */
  readonly limit: (
    resource: string,
    facts: { readonly left: number; readonly of: number | null; readonly resetAt: number | null },
  ) => void;
  /** Contents of items, in order, read in batches and checked. A damaged one makes the engine repair and start over. */
  readonly load: (refs: readonly ItemRef[]) => Promise<unknown[]>;
  /** Content-addressed bytes, for what is too large for an item (files of a source tree). */
  readonly putBytes: (bytes: Uint8Array) => Promise<Digest>;
  /** Throws `DamagedEntry` (engine repairs) if the object is missing or its bytes are wrong. */
  readonly getBytes: (digest: Digest) => Promise<Uint8Array>;
  /** Small values that outlive a run and may be lost without harm (ETags, limits seen). */
  readonly memory: (name: string) => {
    get(key: string): Promise<Json | undefined>;
    set(key: string, value: Json): Promise<void>;
  };
  /** A unit of a kind that is done `inOrder` is under way, and the next may begin. */
  readonly begun?: () => void;
}

/**
 * Thrown by `identify`, `prepare` and `finish` for what a person can mend (a file that is not there, a stage that lacks an input): the stage
 * fails with this message and without a stack trace. Any other exception is a bug.
 */
export class StageProblem extends Error {}

/** One piece of work with a key of its own. */
export interface Unit {
  /** Shown to people, and what `--items` and `explain` name: a case id, a pull request, a page. Unique in its stage. */
  readonly id: string;
  /** Everything that determines this unit's output beside the stage's shared parts. */
  readonly parts: readonly KeyPart[];
  /** Whatever `execute` needs; never stored. */
  readonly data: unknown;
}

export type UnitOutcome =
  | {
      readonly type: "done";
      readonly items: readonly OutItem[];
      /** Stored with the unit: a source's next cursor, an ETag's fate. */
      readonly note?: Json;
      /** Shown in counts: `completed`, `truncated`. Default `completed`. */
      readonly status?: string;
      readonly cost?: { readonly usd?: number; readonly tokens?: number };
    }
  | {
      /** Not final: recorded, flows on if it has items, never stored as a result, tried again by the next run. */
      readonly type: "failed";
      readonly status: string;
      /** What happened, where, what to do. No secrets. */
      readonly message: string;
      readonly items?: readonly OutItem[];
      /**
       * Worth another attempt in this run; `after` = seconds to wait at least. `limited`: the server says that too much is asked of it at
       * once; a wait beyond `maxWait` then stops the resource.
       */
      readonly retry?: { readonly after?: number; readonly limited?: boolean };
      /** What it cost all the same. */
      readonly cost?: { readonly usd?: number; readonly tokens?: number };
      /** False: the system was not asked at all, so this says nothing of it. */
      readonly asked?: boolean;
    }
  | {
      /** Nothing more can be done now (limit beyond `maxWait`, budget spent): the run keeps what it has and exits 75. */
      readonly type: "stop";
      readonly message: string;
      /** Epoch milliseconds from which the same command goes on; null = unknown. */
      readonly resumeAt: number | null;
    };

/** The outside world of a look around. */
export interface DoctorTools extends Pick<StageTools, "env" | "baseFolder" | "cacheFolder" | "offline"> {
  readonly sleep: Clock["sleep"];
  /** Aborts when the person gives up or the check has taken too long. */
  readonly signal: AbortSignal;
}

interface StageKindCommon<C> extends StageKindInfo {
  /** Raised when the same inputs and configuration would give another output. */
  readonly version: number;
  /**
   * The projection of the configuration that determines the output (paths, concurrency, time-outs left out), of each unit where there
   * are units. Default: all of it.
   */
  readonly keyConfig?: (config: C) => unknown;
  /** Parts that the configuration only names: digest of a file that is read, a tool's version. Runs before anything else; cheap. */
  readonly identify?: (config: C, tools: StageTools) => Promise<readonly KeyPart[]>;
  /**
   * What its units use up; units of all stages with the same resource share its concurrency. `adaptive`: it begins with one at a time and
   * follows what the server takes.
   */
  readonly resource?: (config: C) => { readonly name: string; readonly concurrency: number; readonly adaptive?: boolean } | null;
  /** Its units were paid for (answers) or cost requests: `gc` never drops them unless told, and two processes never do one twice. */
  readonly precious: boolean;
  /** What `bench doctor` says of a stage before it is run: is what it needs there? Sends nothing that costs money. */
  readonly doctor?: (config: C, environment: DoctorTools) => Promise<readonly Finding[]>;
  /** `--items` and `--sample` choose among its output. */
  readonly selectable?: boolean;
}

/** Work item by item, streaming. `P` is whatever `prepare` made. */
export interface ItemStageKind<C = unknown, P = unknown> extends StageKindCommon<C> {
  readonly shape: "items";
  /** The input type whose items stream in; null for a source. */
  readonly over: string | null;
  /**
   * Configuration in the key of the stage as a whole. Default: all of it, which is always right; a projection only saves looking at each
   * unit when a steering option changes. It must keep what chooses among units (`limit`, `repeats`) although their keys leave it out.
   */
  readonly stageConfig?: (config: C) => unknown;
  /** Called once, when all inputs but `over` are complete (`over` is given too where it did not have to be streamed). Must not do paid work. */
  readonly prepare: (config: C, inputs: StageInputs, tools: StageTools) => Promise<P>;
  /** Parts that every unit shares. */
  readonly parts: (prepared: P) => readonly KeyPart[];
  /** Units of one streamed item. A unit id seen before (the same pull request of another issue) is done once. */
  readonly units?: (prepared: P, item: ItemRef, value: unknown) => readonly Unit[];
  /** A source's first units. */
  readonly start?: (prepared: P) => readonly Unit[];
  /** The unit that follows one that is done, from its note (the next page); null = that was the last. */
  readonly follow?: (prepared: P, unit: Unit, note: Json | undefined) => Unit | null;
  /** Chooses among a unit's items on the way out, hit or not (a source's limit). Units of a chain come in order. */
  readonly emit?: (prepared: P, unit: Unit, items: readonly ItemRef[]) => readonly ItemRef[];
  readonly execute: (prepared: P, unit: Unit, tools: StageTools, signal: AbortSignal) => Promise<UnitOutcome>;
  /** What its units may spend in one run, over all cells of a stage; null = no bound. Beyond it the run stops and can be resumed. */
  readonly budget?: (config: C) => Budget | null;
  /** So many failed attempts in a row, and it pauses and at last stops asking; null = never. */
  readonly breaker?: (config: C) => number | null;
  /** Its units begin one after the other in the order of the items (a person is asked): each when the one before called `tools.begun`. */
  readonly inOrder?: (config: C) => boolean;
  /** About what a unit will cost; null = nothing but what its outcome says. Does no paid work. */
  readonly estimate?: (prepared: P, unit: Unit) => Promise<Expected | null>;
  /** Facts about the whole output (part of its digest), from what went out. All inputs are complete now, `over` included. */
  readonly finish?: (prepared: P, items: readonly ItemRef[], tools: StageTools, inputs: StageInputs) => Promise<Json>;
  /** Frees what `prepare` opened. */
  readonly close?: (prepared: P) => Promise<void>;
}

/** A text file that a stage gives to people. Written on execution and on a hit alike, so that it is there after every run. */
export interface OutFile {
  /** `run`: the run's folder. `mined`: `mined_projects/` (or `--out` of `bench mine`). */
  readonly root: "run" | "mined";
  /** `{timestamp}` is replaced (run's time for `run`, time of making for `mined`): `20261130T221500Z`. */
  readonly name: string;
  readonly text: string;
  /** `{timestamp}` is replaced in the text too: for a file that names others. */
  readonly fill?: boolean;
}

export interface WholeResult {
  readonly items: readonly OutItem[];
  readonly meta: Json;
  readonly notes?: Json;
  readonly files?: readonly OutFile[];
}

/** All at once; cached as a whole. */
export interface WholeStageKind<C = unknown> extends StageKindCommon<C> {
  readonly shape: "whole";
  readonly run: (
    config: C,
    inputs: StageInputs,
    tools: StageTools,
    signal: AbortSignal,
  ) => Promise<{ readonly ok: true; readonly value: WholeResult } | { readonly ok: false; readonly message: string }>;
}

// biome-ignore lint/suspicious/noExplicitAny: the registry holds kinds of every configuration type; each is checked by its own schema
export type StageKind = ItemStageKind<any, any> | WholeStageKind<any>;

/** Identity functions that give a kind's definition its types. */
export function itemStage<C, P>(kind: ItemStageKind<C, P>): StageKind {
  return kind;
}
export function wholeStage<C>(kind: WholeStageKind<C>): StageKind {
  return kind;
}
