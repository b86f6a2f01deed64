/**
 * A run: all nodes side by side, each waiting for what it needs; repair and start over where the cache turns out to be damaged; the record
 * and the lock file at the end.
 */
import { basename, join } from "node:path";
import { redactor as environmentRedactor } from "../base/env-secrets.js";
import type { Digest } from "../base/json.js";
import { thrown } from "../base/thrown.js";
import type { Cache } from "../cache/cache.js";
import { CacheBroken, CacheUnwritable, DamagedEntry } from "../cache/errors.js";
import { KEY_SCHEME } from "../cache/key.js";
import type { PipelineGraph } from "../pipeline/model.js";
import type { Spent } from "./budget.js";
import { Channel } from "./channel.js";
import type { RunContext, RunOptions, World } from "./context.js";
import { type StageKind, type StageOutput, StageProblem } from "./contract.js";
import type { EventSink, NodeProgress } from "./events.js";
import { runNode } from "./node-run.js";
import { type OpenNode, openNode } from "./open-node.js";
import { type LockFile, lockPath, type RunRecord, thisProcess, writeAtomically, writeRunRecord } from "./record.js";
import { redactor } from "./redact.js";
import { Resources } from "./resources.js";
import { outputOf } from "./rows.js";
import { isOwnModule } from "./unit-run.js";

/** Each restart removes at least one damaged entry; more than this many means that something keeps damaging them. */
const MOST_RESTARTS = 8;

export interface RunRequest {
  readonly graph: PipelineGraph;
  readonly kinds: ReadonlyMap<string, StageKind>;
  readonly cache: Cache;
  readonly options: RunOptions;
  readonly world: World;
  readonly events: EventSink;
  readonly signal: AbortSignal;
  readonly command: readonly string[];
  readonly version: string;
  /** Where to write the lock file; null = nowhere (`--items`, `--sample`: not the whole pipeline). */
  readonly lock: boolean;
}

export interface RunResult {
  readonly state: RunRecord["state"];
  /** 0, 1, 75 or 130. */
  readonly exit: number;
  readonly nodes: readonly NodeProgress[];
  readonly counts: Readonly<Record<string, number>>;
  readonly files: readonly string[];
  /** Epoch milliseconds from which the same command goes on; null = unknown or not stopped. */
  readonly resumeAt: number | null;
  /** Why it stopped or failed as a whole. */
  readonly message: string | null;
  readonly warnings: readonly string[];
  /** What was spent in this run (nothing that came from the cache), by stage; only stages that asked for something. */
  readonly spent: Readonly<Record<string, Spent>>;
  /** Output of a node, read from the cache. */
  readonly output: (nodeId: string) => Promise<StageOutput> | null;
}

export async function runPipeline(request: RunRequest): Promise<RunResult> {
  const { graph, options, cache, signal } = request;
  const counts: Record<string, number> = { requests: 0, queries: 0, requests_saved: 0 };
  const executed = new Map<string, Set<string>>();
  const finished: RunContext["finished"] = new Map();
  const files = new Set<string>();
  const warnings: string[] = [];
  const needs = new Map(graph.nodes.map((node) => [node.id, [...node.needs]]));
  const named = redactor(graph.secrets);
  // An error of somebody else's module may quote whatever the environment holds.
  const ofEnvironment = environmentRedactor(request.world.env);
  const redact = (text: string) => ofEnvironment(named(text));
  const events: EventSink = (event) => {
    if (event.type === "warning" && !warnings.includes(event.message)) warnings.push(event.message);
    request.events(event);
    if (event.type === "stage") void saveRecord(null);
  };

  let context: RunContext | undefined;
  let progress = new Map<string, NodeProgress>();
  let resumeAt: number | null = null;
  let message: string | null = null;
  let saving: Promise<void> = Promise.resolve();
  const record = (end: { state: RunRecord["state"]; exit: number } | null): RunRecord => ({
    schema_version: 1,
    run_id: options.runId,
    pipeline: graph.file,
    name: graph.name,
    command: request.command.map(redact),
    state: end?.state ?? "running",
    started_at: new Date(options.startedAt).toISOString(),
    finished_at: end === null ? null : new Date(request.world.clock.now()).toISOString(),
    resume_at: resumeAt === null ? null : new Date(resumeAt).toISOString(),
    exit: end?.exit ?? null,
    process: thisProcess(),
    versions: { bench: request.version, node: process.version },
    params: JSON.parse(redact(JSON.stringify(graph.params))),
    counts,
    nodes: [...progress.values()].map((node) => {
      const done = finished.get(node.id);
      return {
        id: node.id,
        name: node.stage,
        uses: node.kind,
        label: node.label,
        needs: needs.get(node.id) ?? [],
        produces: request.kinds.get(node.kind)?.produces ?? "",
        state: node.state,
        key: done?.key ?? null,
        output: done?.row.output ?? null,
        items: node.items,
        units: node.units,
        executed: node.executed,
        cached: node.cached,
        failed: node.failed,
        statuses: node.statuses,
        seconds: node.seconds,
        message: node.message,
      };
    }),
    reports: [...files],
    warnings,
  });
  // Writes follow each other; only the newest state that is waiting is written.
  let pending = false;
  const saveRecord = (end: { state: RunRecord["state"]; exit: number } | null): Promise<void> => {
    if (pending && end === null) return saving;
    pending = true;
    saving = saving.then(async () => {
      pending = false;
      await writeRunRecord(options.runFolder, record(end)).catch((error: unknown) => {
        if (end !== null) warnings.push(`run.json could not be written: ${String(error)}`);
      });
    });
    return saving;
  };

  const opened = new Map<string, OpenNode>();
  let started = false;
  let verifyHits = false;
  let lost: Digest[] = [];
  let damage: string | null = null;
  for (let attempt = 0; ; attempt++) {
    progress = freshProgress(graph);
    if (!started) {
      started = true;
      events({ type: "run-started", runId: options.runId, nodes: [...progress.values()] });
      await saveRecord(null);
    }
    context = {
      graph,
      kinds: request.kinds,
      cache,
      options,
      world: request.world,
      resources: context?.resources ?? new Resources(options.jobs),
      channels: new Map(graph.nodes.map(({ id }) => [id, new Channel()])),
      progress,
      events,
      counts,
      signal,
      restart: { wanted: false },
      verifyHits,
      lost: new Set(lost),
      executed,
      finished,
      files,
      outputs: new Map(),
      opened,
      redact,
      versions: { bench: request.version, node: process.version },
    };
    if (attempt === 0) {
      const mistakes = await openAll(context, opened);
      if (mistakes.length > 0) {
        return nothingRun(mistakes.map(redact), [...progress.values()], counts, warnings);
      }
    }
    const problem = await attemptOnce(context);
    if (problem === null) break;
    if (problem instanceof CacheUnwritable) {
      message = `${problem.message}. What was stored before is kept; make room (or give another --cache) and type the same command again.`;
      break;
    }
    if (!(problem instanceof DamagedEntry || problem instanceof CacheBroken)) throw problem;
    if (attempt >= MOST_RESTARTS) {
      message = `the cache keeps being damaged while the run goes on (${problem.message}); check the disk, or give another --cache`;
      break;
    }
    if (signal.aborted) break;
    if (problem instanceof CacheBroken) await cache.recover(problem);
    else {
      const there = await cache.objects.has([...lost, ...problem.digests]);
      lost = [...lost, ...problem.digests].filter((digest) => !there.has(digest));
    }
    damage = problem.message;
    verifyHits = true;
    events({ type: "restart", why: damage });
  }

  const nodes = [...progress.values()];
  const states = new Set(nodes.map(({ state }) => state));
  const stops = context?.resources.stops ?? [];
  let state: RunRecord["state"];
  let exit: number;
  if (signal.aborted) [state, exit] = ["interrupted", 130];
  else if (message !== null) [state, exit] = ["failed", 1];
  else if (states.has("failed")) [state, exit] = ["failed", 1];
  else if (states.has("stopped")) {
    [state, exit] = ["stopped", 75];
    resumeAt = stops.reduce<number | null>(
      (latest, stop) => (stop.resumeAt === null ? latest : Math.max(latest ?? 0, stop.resumeAt)),
      null,
    );
    message = stops[0]?.message ?? null;
  } else [state, exit] = ["done", 0];

  events({ type: "run-finished", state });
  await saveRecord({ state, exit });
  if (request.lock && exit === 0) await saveLock(graph, finished, events, redact);
  const done = context;
  return {
    state,
    exit,
    nodes,
    counts,
    files: [...files],
    resumeAt,
    message,
    warnings,
    spent: spentOf(done),
    output: (id) => {
      const loaded = done?.outputs.get(id);
      if (loaded !== undefined) return loaded.load();
      const row = finished.get(id)?.row;
      return row === undefined || done === undefined ? null : outputOf(done, row).load();
    },
  };
}

function spentOf(context: RunContext | undefined): Record<string, Spent> {
  const ledgers = [...(context?.resources.ledgers ?? [])];
  return Object.fromEntries(
    ledgers.map(([stage, ledger]) => [stage, ledger.spent] as const).filter(([, { queries }]) => queries > 0),
  );
}

/**
 * Opens every node before any runs: a rule file with a mistake or a data set that is not there must not be found after a night of paid
 * questions. All of them are reported, each once however many cells share it. Damage met here is the attempt's to find again.
 */
async function openAll(context: RunContext, opened: Map<string, OpenNode>): Promise<string[]> {
  const mistakes = new Map<string, string>();
  for (const node of context.graph.nodes) {
    if (context.options.skipped.has(node.id)) continue;
    try {
      opened.set(node.id, await openNode(context, node));
    } catch (error) {
      const isOwn = isOwnModule(node.kind) && !(error instanceof DamagedEntry);
      if (error instanceof StageProblem || isOwn) {
        const what = error instanceof StageProblem ? error.message : `${node.kind} threw ${thrown(error)}`;
        if (!mistakes.has(what)) mistakes.set(what, `${node.id} (line ${node.line}): ${what}`);
      } else if (!(error instanceof DamagedEntry || error instanceof CacheBroken || error instanceof CacheUnwritable))
        throw error;
    }
  }
  return [...mistakes.values()];
}

function nothingRun(
  mistakes: readonly string[],
  nodes: readonly NodeProgress[],
  counts: Readonly<Record<string, number>>,
  warnings: readonly string[],
): RunResult {
  return {
    state: "failed",
    exit: 2,
    nodes,
    counts,
    spent: {},
    files: [],
    resumeAt: null,
    message: mistakes.join("\n"),
    warnings,
    output: () => null,
  };
}

/** Runs every node; the first damage or bug that one meets, after all the others have come to rest. */
async function attemptOnce(context: RunContext): Promise<unknown> {
  let problem: unknown = null;
  await Promise.all(
    context.graph.nodes.map(async (node) => {
      try {
        await runNode(context, node);
      } catch (error) {
        // A bug outweighs damage: it must not be hidden behind a restart.
        if (problem === null || problem instanceof DamagedEntry) problem = error;
        context.restart.wanted = true;
      }
    }),
  );
  if (problem !== null || context.signal.aborted) return problem;
  // What nobody in the graph reads is read by whoever called: its damage must be met while it can still be mended.
  const needed = new Set(context.graph.nodes.flatMap(({ needs }) => needs));
  for (const node of context.graph.nodes) {
    const row = needed.has(node.id) ? undefined : context.finished.get(node.id)?.row;
    if (row === undefined) continue;
    const output = outputOf(context, row);
    const loaded = await output.load().catch((error: unknown) => {
      problem = error;
    });
    if (loaded === undefined) return problem;
    context.outputs.set(node.id, output);
  }
  return null;
}

function freshProgress(graph: PipelineGraph): Map<string, NodeProgress> {
  return new Map(
    graph.nodes.map((node) => [
      node.id,
      {
        id: node.id,
        stage: node.stage,
        label: node.label,
        kind: node.kind,
        state: "waiting",
        items: 0,
        units: 0,
        executed: 0,
        cached: 0,
        failed: 0,
        statuses: {},
        seconds: 0,
        message: null,
      },
    ]),
  );
}

async function saveLock(
  graph: PipelineGraph,
  finished: RunContext["finished"],
  events: EventSink,
  redact: (text: string) => string,
): Promise<void> {
  const lock: LockFile = {
    lock_version: 1,
    pipeline: graph.name,
    key_scheme: KEY_SCHEME,
    params: graph.params,
    stages: Object.fromEntries(
      graph.nodes.flatMap((node) => {
        const done = finished.get(node.id);
        return done === undefined
          ? []
          : [[node.id, { uses: done.row.kind, key: done.key, output: done.row.output, items: done.row.items }]];
      }),
    ),
  };
  const path = lockPath(join(graph.folder, basename(graph.file)));
  try {
    await writeAtomically(path, redact(`${JSON.stringify(lock, null, 2)}\n`));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    events({ type: "warning", message: `the lock file ${path} could not be written: ${why}` });
  }
}
