/** `StageTools` in memory, for tests of one stage kind or backend without engine and cache. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalJson, type Digest, digestBytes, digestJson, type Json } from "../../src/base/json.js";
import type { ItemRef, OutItem, StageInputs, StageOutput, StageTools } from "../../src/engine/contract.js";

export interface StageToolsRig extends StageTools {
  readonly counts: Record<string, number>;
  readonly warnings: string[];
  readonly waits: { resource: string; until: number | null; why: string }[];
  /** Sleeps asked for, in milliseconds; they return at once and move the clock. */
  readonly sleeps: number[];
  /** Stores items as an upstream stage's output would be. */
  output(items: readonly OutItem[], meta?: Json, notes?: Json): StageOutput;
}

export function stageToolsRig(overrides: Partial<StageTools> = {}): StageToolsRig {
  const objects = new Map<Digest, Uint8Array>();
  const memories = new Map<string, Map<string, Json>>();
  const counts: Record<string, number> = {};
  const warnings: string[] = [];
  const sleeps: number[] = [];
  const waits: StageToolsRig["waits"] = [];
  let now = Date.UTC(2026, 0, 1);
  let folder: string | undefined;
  const root = () => {
    folder ??= mkdtempSync(join(tmpdir(), "bench-test-"));
    return folder;
  };
  const put = (bytes: Uint8Array): Digest => {
    const digest = digestBytes(bytes);
    objects.set(digest, bytes);
    return digest;
  };
  const rig: StageToolsRig = {
    clock: {
      now: () => now,
      sleep: async (milliseconds, signal) => {
        signal?.throwIfAborted();
        sleeps.push(milliseconds);
        now += milliseconds;
      },
    },
    random: () => 0.5,
    env: {},
    get baseFolder() {
      return root();
    },
    get projectRoot() {
      return root();
    },
    cacheFolder: (name) => join(root(), "cache", name),
    offline: false,
    refresh: false,
    maxWait: 15 * 60_000,
    warn: (message) => warnings.push(message),
    count: (what, by = 1) => {
      counts[what] = (counts[what] ?? 0) + by;
    },
    waiting: (resource, until, why) => waits.push({ resource, until, why }),
    limit: () => {},
    load: async (refs) => refs.map((ref) => JSON.parse(Buffer.from(objects.get(ref.digest) ?? missing(ref)).toString("utf8"))),
    putBytes: async (bytes) => put(bytes),
    getBytes: async (digest) => objects.get(digest) ?? missing({ id: "bytes", digest }),
    memory: (name) => {
      const memory = memories.get(name) ?? new Map<string, Json>();
      memories.set(name, memory);
      return { get: async (key) => memory.get(key), set: async (key, value) => void memory.set(key, value) };
    },
    counts,
    warnings,
    waits,
    sleeps,
    output: (items, meta = null, notes = null) => {
      const refs = items.map(({ id, value }) => ({ id, digest: put(Buffer.from(canonicalJson(value))) }));
      return { digest: digestJson([refs, meta]), items: refs, all: refs, meta, notes };
    },
  };
  return Object.defineProperties(rig, Object.getOwnPropertyDescriptors(overrides)) as StageToolsRig;
}

function missing(ref: ItemRef): never {
  throw new Error(`no object ${ref.digest} (${ref.id})`);
}

/** Inputs by type, for `prepare` and `run`. */
export function stageInputs(outputs: Record<string, StageOutput | readonly StageOutput[]>): StageInputs {
  const many = (type: string): readonly StageOutput[] => {
    const found = outputs[type];
    if (found === undefined) return [];
    return Array.isArray(found) ? (found as readonly StageOutput[]) : [found as StageOutput];
  };
  return {
    one: (type) => many(type)[0] ?? missing({ id: type, digest: "" as Digest }),
    optional: (type) => many(type)[0],
    many: (type) => many(type).map((output, index) => ({ stage: type, label: String(index), output })),
  };
}
