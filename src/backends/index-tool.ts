/**
 * What builds a backend's own index of a source tree (the `index-corpus` stage), and what the backend then gets to see of it.
 *
 * An index costs hours or money, so it is kept like an answer: by the content of the tree and the identity of the tool. What the tool
 * wrote is stored by content, too, and laid out as files again where it is needed; a cache that moved, or an index folder that somebody
 * deleted or changed, therefore costs a copy and not a second indexing. An index that lives in a server has no files; only its facts are kept.
 */
import type * as z from "zod";
import type { Digest, Json } from "../base/json.js";
import type { Corpus } from "../corpus/contract.js";
import type { BackendEnvironment, DoctorEnvironment, Finding } from "./contract.js";

export interface IndexTool<C = unknown> {
  /** The kind of the backend that searches the index: `graphrag`, `colgrep`. */
  readonly kind: string;
  /** One sentence. */
  readonly summary: string;
  /** Bumped when the same tree and options would give another index. */
  readonly version: number;
  /** Strict object schema of the options beside `kind` and `name`; describes each option. */
  readonly options: z.ZodType<C>;
  /** Options that change the index, in the form that enters the key. Steering options (paths, time-outs) are left out here. */
  readonly identityOf: (options: C) => Json;
  /**
   * What the options only name (the tool's version, a settings file by digest); part of the key. Cheap: read a file or run `--version`,
   * nothing more. Throws `UnusableConfiguration` where something named does not exist.
   */
  readonly fingerprint?: (
    options: C,
    environment: Pick<BackendEnvironment, "baseFolder"> & Partial<Pick<BackendEnvironment, "env">>,
  ) => Promise<Json>;
  /**
   * True where the index holds the absolute path of the tree's folder (`Corpus.folder()`): the path is then part of the index's key. Such
   * a tool should give a `digest` of its own (tool, model, tree), so that the answers' keys do not depend on the path.
   */
  readonly pathBound: boolean;
  /** Indexes built at once. */
  readonly concurrency: (options: C) => number;
  /** Seconds after which an attempt is given up; null = none. The stage's `timeout` wins. */
  readonly timeout: (options: C) => number | null;
  /** What `bench doctor` says before an index is built; see `BackendKind.doctor`. */
  readonly doctor?: (options: C, environment: DoctorEnvironment) => Promise<readonly Finding[]>;
  /**
   * One attempt. Never throws for what the tool does; stops soon when the signal aborts. What the corpus throws (a damaged cache entry)
   * goes through to the engine.
   */
  readonly build: (
    options: C,
    request: IndexRequest,
    environment: BackendEnvironment,
    signal: AbortSignal,
  ) => Promise<IndexOutcome>;
}

export interface IndexRequest {
  readonly corpus: Corpus;
  /**
   * Absolute path of an existing folder of this index alone, the same at every attempt and in every run until the index is built: what
   * a failed attempt left is there, so that a tool that can resume does. Removed after success.
   */
  readonly folder: string;
}

export type IndexOutcome =
  | {
      readonly type: "built";
      /** Files and folders of `request.folder` that are the index, relative to it; everything below them is stored. Empty: a server has it. */
      readonly keep: readonly string[];
      /** What stands for this index in the keys of answers. Default: digest of the kept files. Needed where nothing is kept. */
      readonly digest?: Digest;
      /** What the backend or a reader of reports must know: versions, counts. No absolute paths beyond what the tool needs, no secrets. */
      readonly facts: Readonly<Record<string, Json>>;
    }
  | {
      readonly type: "failed";
      /** What happened, where, what to do. No secrets. */
      readonly message: string;
      /** Worth another attempt (the engine makes three). */
      readonly retry?: { readonly after?: number };
    };

/** An index as a backend sees it in `Question.index`. */
export interface BuiltIndex {
  readonly digest: Digest;
  readonly facts: Readonly<Record<string, Json>>;
  /**
   * Absolute path of a folder with the kept files, checked against their digests when this process first asks for it. The tool may write
   * beside the kept files and folders (logs); what it changes in them is undone by the next process. Rejects where nothing was kept.
   */
  readonly folder: () => Promise<string>;
}
