/**
 * The index that a search tool needs for a question: the one that an `index-corpus` stage built, else one made on first use.
 *
 * An index made on first use lies below the cache under a name that holds all that shaped it, and is used as long as it is there; it is
 * made in a folder of its own and put in place when it is whole, so that two runs, or a kill half-way, leave no half of one. Building it
 * is no part of any question: it goes on when a question's time is up, and its seconds are nobody's latency.
 */
import { randomUUID } from "node:crypto";
import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestJson, type Json } from "../base/json.js";
import type { Corpus } from "../corpus/contract.js";
import type { BackendEnvironment, Question, RawAnswer } from "./contract.js";
import { corpusMemo } from "./corpus-memo.js";
import type { IndexTool } from "./index-tool.js";

/** Stands in the folder of an index that is whole. */
const WHOLE = "index-facts.json";

export interface IndexPlace {
  readonly ok: true;
  /** Absolute. undefined: the tool keeps its index elsewhere. */
  readonly folder: string | undefined;
  /** Seconds that the question waited for it. */
  readonly waited: number;
}

export interface IndexOnDemand {
  readonly placeFor: (
    question: Question,
    corpus: Corpus,
    signal: AbortSignal,
  ) => Promise<IndexPlace | { readonly ok: false; readonly failure: RawAnswer }>;
  readonly close: () => Promise<void>;
}

type Made = { readonly folder: string | undefined } | { readonly failure: RawAnswer };

/** `fingerprint`: what `tool.fingerprint` gave. */
export function indexOnDemand<C>(
  tool: IndexTool<C>,
  options: C,
  fingerprint: Json,
  environment: BackendEnvironment,
): IndexOnDemand {
  const ending = new AbortController();
  const building = new Set<Promise<unknown>>();
  const made = corpusMemo<Made>(async (corpus) => {
    const result = await make(tool, options, fingerprint, corpus, environment, ending.signal);
    // Not remembered: the next question tries again.
    if ("failure" in result) throw new NoIndex(result.failure);
    return result;
  });
  return {
    placeFor: async (question, corpus, signal) => {
      const { index } = question;
      if (index !== undefined) {
        return { ok: true, folder: index.facts.kept === false ? undefined : await index.folder(), waited: 0 };
      }
      const started = environment.clock();
      const making = made(corpus);
      building.add(making);
      const done = making.catch(() => {}).finally(() => building.delete(making));
      await Promise.race([done, aborted(signal)]);
      if (signal.aborted) {
        const late = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
        const error = `${tool.kind} was still indexing ${corpus.tree.source}; add an index-corpus stage, which has a time limit of its own`;
        return { ok: false, failure: { status: late ? "timed_out" : "failed", response: "", error } };
      }
      try {
        const result = await making;
        if ("failure" in result) return { ok: false, failure: result.failure };
        return { ok: true, folder: result.folder, waited: Math.max(0, environment.clock() - started) };
      } catch (error) {
        if (error instanceof NoIndex) return { ok: false, failure: error.failure };
        throw error;
      }
    },
    close: async () => {
      ending.abort(new Error("the backend is closed"));
      await Promise.allSettled(building);
    },
  };
}

class NoIndex extends Error {
  readonly failure: RawAnswer;
  constructor(failure: RawAnswer) {
    super(failure.error ?? "no index");
    this.failure = failure;
  }
}

async function make<C>(
  tool: IndexTool<C>,
  options: C,
  fingerprint: Json,
  corpus: Corpus,
  environment: BackendEnvironment,
  signal: AbortSignal,
): Promise<Made> {
  if (environment.cacheFolder === undefined) throw new Error("an index can't be kept without a cache");
  const parts = [tool.kind, tool.version, tool.identityOf(options), fingerprint, corpus.digest];
  const place = tool.pathBound ? [...parts, await corpus.folder()] : parts;
  const folder = join(environment.cacheFolder("indexes"), `${tool.kind}-${digestJson(place).slice(0, 32)}`);
  if (await exists(join(folder, WHOLE))) return { folder };
  const making = `${folder}.${randomUUID()}.tmp`;
  await mkdir(making, { recursive: true });
  try {
    const outcome = await tool.build(options, { corpus, folder: making }, environment, signal);
    if (outcome.type === "failed") {
      return {
        failure: { status: "failed", response: "", error: outcome.message, ...(outcome.retry ? { retry: outcome.retry } : {}) },
      };
    }
    if (outcome.facts.kept === false) return { folder: undefined };
    await writeFile(join(making, WHOLE), `${JSON.stringify(outcome.facts)}\n`);
    await mkdir(dirname(folder), { recursive: true });
    // Whatever stands there without the mark is half an index of a time before.
    if (!(await exists(join(folder, WHOLE)))) await rm(folder, { recursive: true, force: true });
    await rename(making, folder).catch(async (error: NodeJS.ErrnoException) => {
      // Another run was faster: its index is as good.
      if (!(await exists(join(folder, WHOLE)))) throw error;
    });
    return { folder };
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
