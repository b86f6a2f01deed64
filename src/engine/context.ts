/** What all nodes of one run share. */
import { join } from "node:path";
import type { Digest, Json } from "../base/json.js";
import type { StageRow } from "../cache/actions.js";
import type { Cache } from "../cache/cache.js";
import type { PipelineGraph, StageNode } from "../pipeline/model.js";
import type { Channel, NodeOutput } from "./channel.js";
import type { Clock, PersonTerminal, StageKind, StageTools } from "./contract.js";
import type { EventSink, NodeProgress } from "./events.js";
import type { OpenNode } from "./open-node.js";
import type { Resources } from "./resources.js";
import type { Selection } from "./selection.js";

export interface RunOptions {
  readonly runId: string;
  /** Epoch milliseconds: rows older than this are stale for what is refreshed. */
  readonly startedAt: number;
  /** Absolute. */
  readonly runFolder: string;
  readonly minedFolder: string;
  readonly projectRoot: string;
  /** Names of stages, nodes or cells: only these may execute (null = all). Computed from `--only --from --until`. */
  readonly may: ReadonlySet<string> | null;
  /** Nodes that are neither run nor read. */
  readonly skipped: ReadonlySet<string>;
  /** Node ids whose rows count as misses, or that are asked again conditionally. */
  readonly forced: ReadonlySet<string>;
  readonly refreshed: ReadonlySet<string>;
  readonly selection: Selection;
  readonly offline: boolean;
  readonly jobs: number | null;
  /** Milliseconds. */
  readonly maxWait: number;
}

export interface World {
  readonly clock: Clock;
  readonly random: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal?: PersonTerminal;
}

export interface RunContext {
  readonly graph: PipelineGraph;
  readonly kinds: ReadonlyMap<string, StageKind>;
  readonly cache: Cache;
  readonly options: RunOptions;
  readonly world: World;
  readonly resources: Resources;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly progress: ReadonlyMap<string, NodeProgress>;
  readonly events: EventSink;
  readonly counts: Record<string, number>;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  /** Damage was met: units at work are finished and stored, no new ones start, and the run begins again. */
  readonly restart: { wanted: boolean };
  /** After damage: a hit counts only if the bytes behind it are there and right. */
  readonly verifyHits: boolean;
  /** Objects found damaged or missing in this run and not made again yet. */
  readonly lost: ReadonlySet<Digest>;
  /** Units executed so far, over restarts, by node. */
  readonly executed: Map<string, Set<string>>;
  /** Nodes opened before anything ran, so that what a person must mend first was found then. */
  readonly opened: ReadonlyMap<string, OpenNode>;
  /** Key and row of each node that has an output, for the run's record and the lock file. */
  readonly finished: Map<string, { readonly key: Digest; readonly row: StageRow }>;
  /** Paths of files given to people. */
  readonly files: Set<string>;
  /** Outputs that no other node needs, loaded (and so found intact) before the run ended. */
  readonly outputs: Map<string, NodeOutput>;
  readonly redact: (text: string) => string;
  readonly versions?: Readonly<Record<string, string>>;
}

/** Who writes rows of this run. */
export function writer(context: RunContext): string {
  return `${process.pid}/${context.options.runId}`;
}

export function stageTools(context: RunContext, node: StageNode): StageTools {
  const { cache, events, options, world, counts } = context;
  return {
    clock: world.clock,
    random: world.random,
    env: world.env,
    ...(world.terminal === undefined ? {} : { terminal: world.terminal }),
    ...(context.versions === undefined ? {} : { versions: context.versions }),
    baseFolder: context.graph.folder,
    projectRoot: options.projectRoot,
    cacheFolder: (name) => join(cache.folder, name),
    offline: options.offline,
    // A row that is stale is asked for anew, and a source's own memory of answers must not stand in for it.
    refresh: options.refreshed.has(node.id) || options.forced.has(node.id) || node.common.freshness !== "pinned",
    maxWait: options.maxWait,
    warn: (message) => events({ type: "warning", message: context.redact(message), node: node.id }),
    count: (what, by = 1) => {
      counts[what] = (counts[what] ?? 0) + by;
    },
    waiting: (resource, until, why) => events({ type: "waiting", resource, until, why: context.redact(why) }),
    limit: (resource, facts) => events({ type: "limit", resource, ...facts }),
    load: async (refs) => {
      const values: unknown[] = [];
      for (let start = 0; start < refs.length; start += 500) {
        const bytes = await cache.getBytes(refs.slice(start, start + 500).map(({ digest }) => digest));
        for (const content of bytes) values.push(JSON.parse(textOf(content)));
      }
      return values;
    },
    putBytes: (bytes) => cache.putBytes(bytes),
    getBytes: async (digest) => {
      const [bytes] = await cache.getBytes([digest]);
      return bytes as Uint8Array;
    },
    memory: (name) => cache.memory(name),
  };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

export type Manifest = { readonly items: readonly (readonly [string, string])[]; readonly meta: Json };
