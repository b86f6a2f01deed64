/**
 * One unit: claim it, do it, try again where that helps, store it, and only then let it flow on.
 *
 * Raw results are on disk (objects first, row last) before anything is computed from them, so a kill at any instant costs at most what was
 * in flight.
 */
import type { Digest } from "../base/json.js";
import { thrown } from "../base/thrown.js";
import type { UnitRow } from "../cache/actions.js";
import { CacheBroken, CacheUnwritable, DamagedEntry } from "../cache/errors.js";
import type { StageNode } from "../pipeline/model.js";
import { type RunContext, writer } from "./context.js";
import type { ItemRef, ItemStageKind, OutItem, StageTools, Unit, UnitOutcome } from "./contract.js";
import type { NodeProgress } from "./events.js";
import { asPairs } from "./keys.js";
import { restraintsOf, scopeOf, takeTurn } from "./turn.js";

/** How long a unit that was told to stop may take before it is left alone. */
const GRACE_MS = 600;
const CLAIM_POLL_MS = 100;
const LONGEST_BACKOFF_MS = 60_000;

export type UnitResult =
  | { readonly type: "hit" | "executed"; readonly items: readonly ItemRef[]; readonly status: string; readonly row: UnitRow }
  | { readonly type: "failed"; readonly items: readonly ItemRef[]; readonly status: string; readonly message: string }
  /** Not started: the run is stopping. */
  | { readonly type: "not-run" };

export interface UnitWork {
  readonly context: RunContext;
  readonly node: StageNode;
  readonly kind: ItemStageKind<unknown, unknown>;
  readonly prepared: unknown;
  readonly tools: StageTools;
  readonly progress: NodeProgress;
  readonly shared: Digest;
  readonly resource: string;
  /** Attempts at once, at most. */
  readonly concurrency: number;
  /** The resource begins with one attempt at a time and follows what its server takes. */
  readonly adaptive: boolean;
  /** Names of the parts of the key that are not any more what they were when it was made. */
  readonly changed: () => Promise<readonly string[]>;
  /** Told once a result was not stored because of that. */
  readonly notStored: (changed: readonly string[]) => void;
  /** Whether a stored row may be used (freshness, --force, intact bytes). */
  readonly usable: (row: UnitRow) => Promise<boolean>;
}

export function refsOf(row: UnitRow): ItemRef[] {
  return row.out.map(([id, digest]) => ({ id, digest }));
}

function stopping(work: UnitWork): boolean {
  const { context } = work;
  return context.signal.aborted || context.restart.wanted || context.resources.stopped(scopeOf(work)) !== undefined;
}

export async function runUnit(work: UnitWork, unit: Unit, key: Digest): Promise<UnitResult> {
  if (stopping(work)) return { type: "not-run" };
  if (!work.kind.precious) return execute(work, unit, key);

  const claims = await work.context.cache.claims();
  const { clock } = work.context.world;
  let announced = false;
  for (;;) {
    const claim = await claims.acquire(key);
    if (typeof claim === "string") break;
    if (!announced) {
      announced = true;
      work.context.events({
        type: "waiting",
        resource: work.resource,
        until: null,
        why: `${unit.id} is being done by process ${claim.heldBy.pid}${claim.heldBy.host === claims.owner.host ? "" : ` on ${claim.heldBy.host}`}`,
      });
    }
    const row = await work.context.cache.actions.get(key);
    if (row?.type === "unit" && (await work.usable(row))) return { type: "hit", items: refsOf(row), status: row.status, row };
    if (stopping(work)) return { type: "not-run" };
    await clock.sleep(CLAIM_POLL_MS, work.context.signal).catch(() => {});
  }
  try {
    // Another process may have finished it between this run's lookup and the claim.
    const row = await work.context.cache.actions.get(key);
    if (row?.type === "unit" && (await work.usable(row))) return { type: "hit", items: refsOf(row), status: row.status, row };
    return await execute(work, unit, key);
  } finally {
    await claims.release(key);
  }
}

async function execute(work: UnitWork, unit: Unit, key: Digest): Promise<UnitResult> {
  const { context, node, progress } = work;
  const { clock, random } = context.world;
  const attempts = node.common.retry + 1;
  for (let attempt = 1; ; attempt++) {
    const turn = stopping(work) ? null : await takeTurn(work, unit, () => stopping(work));
    if (turn === null) return { type: "not-run" };
    const began = clock.now();
    let outcome: UnitOutcome | "aborted";
    try {
      outcome = await attemptOnce(work, unit);
    } catch (error) {
      turn.end(null);
      throw error;
    }
    turn.end(outcome === "aborted" ? null : outcome);
    if (outcome === "aborted") return { type: "not-run" };
    const seconds = (clock.now() - began) / 1000;

    if (outcome.type === "done") return store(work, unit, key, outcome, seconds, began);
    if (outcome.type === "stop") {
      const { message, resumeAt } = outcome;
      context.resources.stop("resource", scopeOf(work), { message: context.redact(message), resumeAt });
      return { type: "not-run" };
    }

    const message = context.redact(outcome.message);
    const wait = backoff(attempt, outcome.retry?.after, random());
    if (outcome.retry?.limited === true && wait > context.options.maxWait) {
      const asked = Math.ceil((outcome.retry.after ?? 0) / 60);
      const why = `${message}. It wants a pause of ${asked} min, longer than --max-wait allows`;
      context.resources.stop("resource", scopeOf(work), { message: why, resumeAt: clock.now() + wait });
      return { type: "not-run" };
    }
    const { limit } = restraintsOf(context, work);
    const everybody = limit !== null && outcome.retry?.limited === true;
    if (everybody) {
      // What one call was told holds for all.
      const until = clock.now() + wait;
      if (limit.pause(until)) context.events({ type: "waiting", resource: work.resource, until, why: message });
    }
    if (outcome.retry !== undefined && attempt < attempts && wait <= context.options.maxWait) {
      context.events({ type: "retry", node: progress, unit: unit.id, attempt, wait: wait / 1000, message });
      // The pause is waited for by whoever wants a place next.
      if (everybody) continue;
      try {
        await clock.sleep(wait, context.signal);
      } catch {
        return { type: "not-run" };
      }
      continue;
    }
    context.events({ type: "unit", node: progress, unit: unit.id, key, status: outcome.status, seconds, message });
    const items = await putItems(context, outcome.items ?? []);
    return { type: "failed", items, status: outcome.status, message };
  }
}

/** Milliseconds before the next attempt: what the server asked for, else 1 s doubled each time, with up to half as much again of jitter. */
function backoff(attempt: number, after: number | undefined, random: number): number {
  if (after !== undefined) return after * 1000 + random * 250;
  return Math.min(LONGEST_BACKOFF_MS, 1000 * 2 ** (attempt - 1)) * (1 + random / 2);
}

/** One call of the kind's `execute`, under the node's time limit; a bug in it fails the unit and not the run. */
async function attemptOnce(work: UnitWork, unit: Unit): Promise<UnitOutcome | "aborted"> {
  const { context, node, kind } = work;
  const limit = node.common.timeout;
  const timeout = limit === null ? undefined : AbortSignal.timeout(Math.ceil(limit * 1000));
  const signal = timeout === undefined ? context.signal : AbortSignal.any([context.signal, timeout]);

  const running = kind.execute(work.prepared, unit, work.tools, signal).catch((error: unknown): UnitOutcome => {
    if (error instanceof DamagedEntry || error instanceof CacheBroken || error instanceof CacheUnwritable) throw error;
    if (signal.aborted) return { type: "failed", status: "failed", message: "stopped" };
    return { type: "failed", status: "failed", message: bugMessage(kind.kind, error) };
  });
  const outcome = await orGrace(running, signal);
  if (context.signal.aborted) {
    // What was finished before the interrupt is kept: it was paid for.
    return outcome !== null && outcome.type === "done" ? outcome : "aborted";
  }
  if (timeout?.aborted && (outcome === null || outcome.type !== "done")) {
    return {
      type: "failed",
      status: "timed_out",
      message: `no result within ${limit} s`,
      ...(outcome !== null && outcome.type === "failed" && outcome.items !== undefined ? { items: outcome.items } : {}),
    };
  }
  return outcome ?? { type: "failed", status: "failed", message: "stopped" };
}

/** Is the stage kind a person's own module, named by its path? A bug in it is theirs to find, and no reason to end the run. */
export function isOwnModule(kind: string): boolean {
  return /^\.{1,2}\//.test(kind);
}

/** What somebody's own module threw, and where in it; a bug of ours is reported whole. */
function bugMessage(kind: string, error: unknown): string {
  if (isOwnModule(kind)) return `${kind} threw ${thrown(error)}`;
  const shown = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `internal error in ${kind} (please report it): ${shown}`;
}

/** The result, or null when the signal aborted and the grace is over. */
async function orGrace<T>(running: Promise<T>, signal: AbortSignal): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const grace = new Promise<null>((resolve) => {
    onAbort = () => {
      timer = setTimeout(() => resolve(null), GRACE_MS);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([running, grace]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
    // If the grace won, a late rejection must not end the process.
    running.catch(() => {});
  }
}

async function putItems(context: RunContext, items: readonly OutItem[]): Promise<ItemRef[]> {
  return Promise.all(items.map(async ({ id, value }) => ({ id, digest: await context.cache.putJson(value) })));
}

async function store(
  work: UnitWork,
  unit: Unit,
  key: Digest,
  outcome: Extract<UnitOutcome, { type: "done" }>,
  seconds: number,
  began: number,
): Promise<UnitResult> {
  const { context, kind } = work;
  const items = await putItems(context, outcome.items);
  const row: UnitRow = {
    type: "unit",
    kind: `${kind.kind}@${kind.version}`,
    unit: unit.id,
    shared: work.shared,
    parts: asPairs(unit.parts),
    out: items.map(({ id, digest }) => [id, digest]),
    ...(outcome.note === undefined ? {} : { note: outcome.note }),
    status: outcome.status ?? "completed",
    seconds,
    ...(outcome.cost === undefined ? {} : { cost: outcome.cost }),
    at: began,
    by: writer(context),
    precious: kind.precious,
  };
  const changed = await work.changed();
  if (changed.length === 0) await context.cache.putRow(key, row);
  else work.notStored(changed);
  const status = outcome.status ?? "completed";
  context.events({ type: "unit", node: work.progress, unit: unit.id, key, status, seconds });
  return { type: "executed", items, status, row };
}
