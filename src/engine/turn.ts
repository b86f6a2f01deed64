/**
 * A unit's turn to use its resource: a place under what the server takes at once, no pause of a system that fails, and money left for it.
 * Taken for each attempt and not for each unit: whoever waits for its next attempt must not hold a place.
 */
import type { AdaptiveLimit, Permit } from "./adaptive.js";
import type { Breaker, BreakerEvent } from "./breaker.js";
import type { Reservation } from "./budget.js";
import type { RunContext } from "./context.js";
import type { Unit, UnitOutcome } from "./contract.js";
import type { UnitWork } from "./unit-run.js";

export interface Turn {
  /** `null`: it came to nothing, because the run stops. */
  readonly end: (outcome: UnitOutcome | null) => void;
}

/** What holds all units of a node together. */
export interface Restraints {
  readonly limit: AdaptiveLimit | null;
  readonly breaker: Breaker | null;
}

export function restraintsOf(
  context: RunContext,
  work: Pick<UnitWork, "node" | "kind" | "resource" | "concurrency" | "adaptive">,
): Restraints {
  const { resources, options } = context;
  const after = work.kind.breaker?.(work.node.config) ?? null;
  return {
    limit: work.adaptive ? resources.adaptive(work.resource, work.concurrency) : null,
    breaker: after === null ? null : resources.breaker(work.node.id, after, options.maxWait),
  };
}

/** null = nothing may start any more; a spent budget is noted as the reason. */
export async function takeTurn(work: UnitWork, unit: Unit, stopping: () => boolean): Promise<Turn | null> {
  const { context, kind, node } = work;
  const { clock } = context.world;
  const { limit, breaker } = restraintsOf(context, work);
  let permit: Permit | null = null;
  if (limit !== null) {
    permit = await limit.acquire(clock, context.signal, stopping);
    if (permit === null) return null;
    if (limit.resumed()) context.events({ type: "waiting", resource: work.resource, until: null, why: "" });
  }
  const leave = (result: "taken" | "limited" | "other") => {
    if (limit !== null && permit !== null) limit.release(permit, result);
  };
  let pass: "go" | "probe" | null = null;
  let reservation: Reservation | string | null = null;
  const ledger = kind.budget === undefined ? null : context.resources.ledger(node.stage);
  try {
    if (breaker !== null) {
      pass = await breaker.pass(clock, context.signal, stopping);
      if (pass === null) {
        leave("other");
        return null;
      }
    }
    const expected = (await kind.estimate?.(work.prepared, unit)) ?? null;
    if (stopping()) reservation = "";
    else if (ledger !== null) reservation = ledger.reserve(kind.budget?.(node.config) ?? null, expected);
  } catch (error) {
    if (pass !== null) breaker?.gaveUp(pass);
    leave("other");
    throw error;
  }
  if (typeof reservation === "string") {
    if (reservation !== "") {
      const message = `the budget of ${node.stage} is used up: ${reservation}. Raise \`budget\`, or run the same command again: what was answered is kept, and each run has the whole budget`;
      context.resources.stop("stage", scopeOf(work), { message, resumeAt: null });
    }
    if (pass !== null) breaker?.gaveUp(pass);
    leave("other");
    return null;
  }
  const reserved = reservation;
  return {
    end: (outcome) => {
      const asked = !(outcome?.type === "failed" && outcome.asked === false);
      if (ledger !== null && reserved !== null) {
        if (asked) ledger.settle(reserved, costOf(outcome));
        else ledger.cancel(reserved);
      }
      const limited = outcome?.type === "failed" && outcome.retry?.limited === true;
      leave(outcome?.type === "done" ? "taken" : limited ? "limited" : "other");
      if (breaker === null || pass === null) return;
      if (outcome?.type === "done") announce(work, breaker.succeeded());
      else if (outcome?.type === "failed" && asked) {
        announce(work, breaker.failed(pass, outcome.retry !== undefined, context.redact(outcome.message), clock.now()));
      } else breaker.gaveUp(pass);
    },
  };
}

export function scopeOf({ resource, node }: Pick<UnitWork, "resource" | "node">) {
  return { resource, node: node.id, stage: node.stage };
}

/** A call that was given up may have been billed; one that failed was not, unless it says so. */
function costOf(outcome: UnitOutcome | null): { usd?: number; tokens?: number } | undefined {
  if (outcome === null) return {};
  if (outcome.type === "stop") return undefined;
  return outcome.cost ?? (outcome.type === "failed" && outcome.status === "timed_out" ? {} : undefined);
}

function announce(work: UnitWork, event: BreakerEvent | null): void {
  const { context, node } = work;
  switch (event?.type) {
    case "pause":
      context.events({ type: "waiting", resource: node.id, until: event.until, why: event.why });
      break;
    case "resume":
      context.events({ type: "waiting", resource: node.id, until: null, why: "" });
      break;
    case "stop": {
      const message = `${node.id} was not asked any more: ${event.why}`;
      context.resources.stop("node", scopeOf(work), { message, resumeAt: event.resumeAt });
    }
  }
}
