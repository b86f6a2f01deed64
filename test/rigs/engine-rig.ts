/** A small pipeline over a real cache in a temporary folder, with stage kinds whose every execution is counted. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { Json } from "../../src/base/json.js";
import { Cache } from "../../src/cache/cache.js";
import { part } from "../../src/cache/key.js";
import type { RunOptions } from "../../src/engine/context.js";
import { itemStage, type StageKind, type UnitOutcome, wholeStage } from "../../src/engine/contract.js";
import type { EngineEvent } from "../../src/engine/events.js";
import { type RunResult, runPipeline } from "../../src/engine/run.js";
import type { PipelineGraph, StageNode } from "../../src/pipeline/model.js";

export interface EngineRig {
  readonly folder: string;
  /** Unit ids in the order of execution, by stage. */
  readonly executed: Record<string, string[]>;
  readonly events: EngineEvent[];
  readonly warnings: string[];
  /** The source's items: change them between runs. */
  items: { id: string; value: Json }[];
  /** Replaces what a unit of `ask` does. */
  onAsk: ((unit: string, signal: AbortSignal, begun: () => void) => Promise<UnitOutcome>) | null;
  /** Whether the units of `ask` begin in the order of the items. */
  inOrder: boolean;
  readonly cache: () => Promise<Cache>;
  run(overrides?: Partial<RunOptions> & { config?: Record<string, Json>; signal?: AbortSignal }): Promise<RunResult>;
  close(): Promise<void>;
}

export async function engineRig(): Promise<EngineRig> {
  const folder = await mkdtemp(join(tmpdir(), "bench-engine-"));
  const executed: Record<string, string[]> = {};
  const events: EngineEvent[] = [];
  const warnings: string[] = [];
  let cache: Cache | undefined;
  let runs = 0;
  const did = (stage: string, unit: string) => {
    executed[stage] = [...(executed[stage] ?? []), unit];
  };

  const rig: EngineRig = {
    folder,
    executed,
    events,
    warnings,
    items: Array.from({ length: 5 }, (_, index) => ({ id: `item-${index}`, value: { text: `text ${index}` } })),
    onAsk: null,
    inOrder: false,
    cache: async () => {
      cache ??= await Cache.open({ folder: join(folder, "cache"), now: Date.now, warn: (message) => warnings.push(message) });
      return cache;
    },
    run: async (overrides = {}) => {
      runs += 1;
      const { config = {}, signal = new AbortController().signal, ...options } = overrides;
      for (const name of Object.keys(executed)) delete executed[name];
      return runPipeline({
        graph: graph(folder, config),
        kinds,
        cache: await rig.cache(),
        options: {
          runId: `run-${runs}`,
          startedAt: Date.now(),
          runFolder: join(folder, "runs", `run-${runs}`),
          minedFolder: join(folder, "mined"),
          projectRoot: folder,
          may: null,
          skipped: new Set(),
          forced: new Set(),
          refreshed: new Set(),
          selection: { items: null, sample: null },
          offline: false,
          jobs: null,
          maxWait: 60_000,
          ...options,
        },
        world: {
          clock: {
            now: Date.now,
            sleep: async (_milliseconds, aborted) => {
              aborted?.throwIfAborted();
              await new Promise((resolve) => setImmediate(resolve));
            },
          },
          random: () => 0,
          env: {},
        },
        events: (event) => {
          events.push(event);
          if (event.type === "warning") warnings.push(event.message);
        },
        signal,
        command: ["bench", "run", "p.yaml"],
        version: "0",
        lock: true,
      });
    },
    close: async () => {
      await cache?.close();
      cache = undefined;
    },
  };

  const kinds = new Map<string, StageKind>(
    [
      wholeStage<{ version?: string }>({
        kind: "source",
        summary: "",
        version: 1,
        shape: "whole",
        config: z.any(),
        produces: "texts",
        consumes: {},
        precious: false,
        selectable: true,
        identify: async () => [part("items", rig.items)],
        run: async () => {
          did("source", "source");
          return { ok: true, value: { items: rig.items, meta: { n: rig.items.length } } };
        },
      }),
      itemStage<{ model?: string }, { model: string }>({
        kind: "ask",
        summary: "",
        version: 1,
        shape: "items",
        over: "texts",
        config: z.any(),
        produces: "answers",
        consumes: { texts: "one" },
        precious: true,
        prepare: async (config) => ({ model: config.model ?? "m" }),
        parts: ({ model }) => [part("model", model)],
        units: (_prepared, item, value) => [{ id: item.id, parts: [part("text", value as Json)], data: value }],
        inOrder: () => rig.inOrder,
        execute: async ({ model }, unit, tools, aborted) => {
          did("ask", unit.id);
          if (rig.onAsk !== null) return rig.onAsk(unit.id, aborted, tools.begun ?? (() => {}));
          return { type: "done", items: [{ id: unit.id, value: { answer: `${model}: ${JSON.stringify(unit.data)}` } }] };
        },
      }),
      itemStage<{ rules?: string }, { rules: string }>({
        kind: "grade",
        summary: "",
        version: 1,
        shape: "items",
        over: "answers",
        config: z.any(),
        produces: "scores",
        consumes: { answers: "one" },
        precious: false,
        prepare: async (config) => ({ rules: config.rules ?? "strict" }),
        parts: ({ rules }) => [part("rules", rules)],
        units: (_prepared, item, value) => [{ id: item.id, parts: [part("answer", item.digest)], data: value }],
        execute: async ({ rules }, unit) => {
          did("grade", unit.id);
          return { type: "done", items: [{ id: unit.id, value: { score: `${rules} ${JSON.stringify(unit.data).length}` } }] };
        },
      }),
      wholeStage({
        kind: "sum",
        summary: "",
        version: 1,
        shape: "whole",
        config: z.any(),
        produces: "report",
        consumes: { scores: "one" },
        precious: false,
        run: async (_config, inputs, tools) => {
          did("sum", "sum");
          const { items } = inputs.one("scores");
          const values = await tools.load(items);
          const text = items.map(({ id }, index) => `${id} ${JSON.stringify(values[index])}`).join("\n");
          return {
            ok: true,
            value: { items: [], meta: { text }, files: [{ root: "run", name: "report-{timestamp}.txt", text }] },
          };
        },
      }),
    ].map((kind) => [kind.kind, kind]),
  );
  return rig;
}

function graph(folder: string, config: Record<string, Json>): PipelineGraph {
  const node = (id: string, kind: string, needs: string[]): StageNode => ({
    id,
    stage: id,
    label: null,
    kind,
    config: config[id] ?? {},
    needs,
    common: { retry: 2, timeout: null, concurrency: null, resource: null, allowFailures: { count: 0 }, freshness: "pinned" },
    line: 1,
  });
  return {
    name: "rig",
    file: "p.yaml",
    folder,
    params: {},
    nodes: [
      node("texts", "source", []),
      node("answers", "ask", ["texts"]),
      node("scores", "grade", ["answers"]),
      node("report", "sum", ["scores"]),
    ],
    secrets: new Map(),
  };
}
