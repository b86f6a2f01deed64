/**
 * What a run would do, without doing any of it: per stage the items, hits and misses, and the first reason; and for `explain` the parts of a
 * key beside those of the last run.
 *
 * It walks the graph in order with the same functions that a run uses (`openNode`, `stageParts`, `unitKey`, `isUsable`), so what it says can't
 * drift from what a run does. Behind the first stage that must run, items are unknown until it has: said so, never guessed.
 */
import type { Digest, Json } from "../base/json.js";
import type { ActionRow, StageRow } from "../cache/actions.js";
import { keyParts } from "../cache/actions.js";
import { CacheBroken, DamagedEntry } from "../cache/errors.js";
import { type KeyPart, keyDifferences, keyDigest, type PartDifference } from "../cache/key.js";
import type { StageNode } from "../pipeline/model.js";
import type { Budget } from "./budget.js";
import type { NodeOutput } from "./channel.js";
import type { RunContext } from "./context.js";
import { type ItemRef, type ItemStageKind, type StageKind, StageProblem, type Unit } from "./contract.js";
import { asInput, loadInputs } from "./inputs.js";
import { type NodeInput, sharedParts, stageParts, unitKey } from "./keys.js";
import { type OpenNode, openNode } from "./open-node.js";
import type { RunRecord } from "./record.js";
import { isUsable, outputOf } from "./rows.js";

export interface NodePlan {
  readonly id: string;
  readonly uses: string;
  /** `hit`: nothing to do. `run`: units are known. `unknown`: depends on stages that must run first. `left-out`: by --only and the like. */
  readonly state: "hit" | "run" | "unknown" | "left-out";
  /** Units known now; null = unknown. A source that has to ask for its next page knows only the pages so far. */
  readonly units: number | null;
  readonly hits: number | null;
  readonly misses: number | null;
  /** Why it is no hit: the first difference to the last run, or what else makes it run. */
  readonly reason: string | null;
  readonly precious: boolean;
  /** About what the misses will use; null where they cost nothing that can be told before, or are unknown. */
  readonly estimate: PlanEstimate | null;
}

export interface PlanEstimate {
  readonly queries: number;
  /** null = unknown, also where only one query's is. */
  readonly tokens: number | null;
  readonly usd: number | null;
  /** What the stage may spend in one run. */
  readonly budget: Budget | null;
}

export interface KeyExplanation {
  readonly id: string;
  readonly item: string | null;
  readonly key: string | null;
  readonly stored: boolean;
  readonly parts: readonly KeyPart[];
  /** Key and differences of the last run's; null where there was none. */
  readonly last: { readonly run: string; readonly key: string; readonly differences: readonly PartDifference[] } | null;
  /** Why parts are unknown. */
  readonly unknown: string | null;
  /** The units are known and the item is none of them. */
  readonly noSuchItem: boolean;
}

/** Earlier runs of the same pipeline, newest first. */
export type History = readonly RunRecord[];

interface Walked {
  readonly plan: NodePlan;
  readonly node: StageNode;
  readonly open: OpenNode | null;
  /** Stage key parts; null while an input is unknown. */
  readonly parts: readonly KeyPart[] | null;
  readonly inputs: readonly NodeInput[] | null;
  readonly output: NodeOutput | null;
  readonly units: UnitsPlan | null;
}

interface UnitsPlan {
  readonly shared: readonly KeyPart[];
  readonly known: readonly { readonly unit: Unit; readonly key: Digest; readonly hit: boolean }[];
  readonly complete: boolean;
  readonly estimate: PlanEstimate | null;
}

export async function planRun(context: RunContext, history: History): Promise<NodePlan[]> {
  const walked = await walk(context, history, null);
  return walked.map(({ plan }) => plan);
}

export async function explainKey(
  context: RunContext,
  history: History,
  nodeId: string,
  item: string | null,
): Promise<KeyExplanation> {
  const walked = await walk(context, history, nodeId);
  const found = walked.find(({ plan }) => plan.id === nodeId);
  if (found === undefined) throw new Error(`no node ${nodeId}`);
  const blank = { id: nodeId, item, key: null, stored: false, parts: [], last: null, noSuchItem: false };
  if (found.open === null) return { ...blank, unknown: found.plan.reason };
  if (found.parts === null) {
    const waiting = walked
      .filter(({ plan, output }) => found.node.needs.includes(plan.id) && output === null)
      .map(({ plan }) => plan.id);
    return { ...blank, unknown: `its key needs the output of ${waiting.join(", ")}, which must run first` };
  }
  if (item === null) {
    const key = keyDigest(found.parts);
    const before = await lastStageRow(context, history, nodeId);
    return {
      id: nodeId,
      item,
      key,
      stored: found.plan.state === "hit",
      parts: found.parts,
      last:
        before === null
          ? null
          : { run: before.run, key: before.key, differences: keyDifferences(keyParts(before.row.parts), found.parts) },
      unknown: null,
      noSuchItem: false,
    };
  }
  const units =
    found.units ??
    (found.inputs === null || found.open === null || found.open.kind.shape === "whole"
      ? null
      : await unitsOf(context, found.open, found.inputs));
  if (units === null) return { ...blank, unknown: `${nodeId} is done as a whole: it has no items with keys of their own` };
  const lower = item.toLowerCase();
  const unit = units.known.find(
    (entry) =>
      entry.unit.id === item ||
      entry.unit.id.toLowerCase() === lower ||
      entry.unit.id.toLowerCase().endsWith(`#${lower.replace(/^#/, "")}`),
  );
  if (unit === undefined) {
    const some = units.known.slice(0, 5).map((entry) => entry.unit.id);
    return {
      ...blank,
      noSuchItem: true,
      unknown: `no such item; there are ${units.known.length}${some.length > 0 ? `: ${some.join(", ")}${units.known.length > 5 ? ", ..." : ""}` : ""}`,
    };
  }
  const parts = [...units.shared, ...unit.unit.parts];
  const before = await lastUnitRow(context, history, nodeId, unit.unit.id);
  return {
    id: nodeId,
    item: unit.unit.id,
    key: unit.key,
    stored: unit.hit,
    parts,
    last: before === null ? null : { run: before.run, key: before.key, differences: keyDifferences(before.parts, parts) },
    unknown: null,
    noSuchItem: false,
  };
}

async function walk(context: RunContext, history: History, until: string | null): Promise<Walked[]> {
  const walked = new Map<string, Walked>();
  for (const node of context.graph.nodes) {
    try {
      walked.set(node.id, await walkNode(context, history, node, walked));
    } catch (error) {
      // What a person must mend before it can run is the reason why it does not: the other stages are still planned.
      if (!(error instanceof StageProblem)) throw error;
      walked.set(node.id, impossible(context, node, error.message));
    }
    if (node.id === until) break;
  }
  return [...walked.values()];
}

function impossible(context: RunContext, node: StageNode, message: string): Walked {
  const kind = context.kinds.get(node.kind) as StageKind;
  const plan: NodePlan = {
    id: node.id,
    uses: node.kind,
    state: "unknown",
    units: null,
    hits: null,
    misses: null,
    reason: `can't run: ${message}`,
    precious: kind.precious,
    estimate: null,
  };
  return { plan, node, open: null, parts: null, inputs: null, output: null, units: null };
}

async function walkNode(
  context: RunContext,
  history: History,
  node: StageNode,
  before: ReadonlyMap<string, Walked>,
): Promise<Walked> {
  const open = await openNode(context, node);
  const make = (plan: Omit<NodePlan, "id" | "uses" | "precious" | "estimate"> & Partial<NodePlan>): NodePlan => ({
    id: node.id,
    uses: node.kind,
    precious: open.kind.precious,
    estimate: null,
    ...plan,
  });
  const nothing = { units: null, hits: null, misses: null };
  if (context.options.skipped.has(node.id)) {
    return {
      plan: make({ state: "left-out", ...nothing, reason: null }),
      node,
      open,
      parts: null,
      inputs: null,
      output: null,
      units: null,
    };
  }
  const inputs: NodeInput[] = [];
  const missing: string[] = [];
  for (const id of node.needs) {
    const output = before.get(id)?.output ?? null;
    if (output === null) missing.push(id);
    else inputs.push(await asInput(context, id, output));
  }
  if (missing.length > 0) {
    const reason = `waits for ${missing.join(", ")}`;
    return {
      plan: make({ state: "unknown", ...nothing, reason }),
      node,
      open,
      parts: null,
      inputs: null,
      output: null,
      units: null,
    };
  }

  const parts = stageParts(open.kind, open.own, inputs);
  const row = await context.cache.actions.get(keyDigest(parts));
  if (row?.type === "stage" && (await isUsable(context, node, row)) && (await outputReadable(context, row))) {
    const plan = make({ state: "hit", units: row.units, hits: row.units, misses: 0, reason: null });
    return { plan, node, open, parts, inputs, output: outputOf(context, row), units: null };
  }
  const reason = await whyNot(context, history, node, parts, row);
  if (open.kind.shape === "whole") {
    return {
      plan: make({ state: "run", units: 1, hits: 0, misses: 1, reason }),
      node,
      open,
      parts,
      inputs,
      output: null,
      units: null,
    };
  }
  const units = await unitsOf(context, open, inputs);
  const hits = units.known.filter(({ hit }) => hit).length;
  const misses = units.known.length - hits;
  const { complete, known, estimate } = units;
  const plan = make({ state: "run", units: complete ? known.length : null, hits, misses, reason, estimate });
  return { plan, node, open, parts, inputs, output: null, units };
}

async function outputReadable(context: RunContext, row: StageRow): Promise<boolean> {
  try {
    await outputOf(context, row).load();
    return true;
  } catch (error) {
    if (error instanceof DamagedEntry || error instanceof CacheBroken) return false;
    throw error;
  }
}

async function unitsOf(context: RunContext, open: OpenNode, inputs: readonly NodeInput[]): Promise<UnitsPlan> {
  const kind = open.kind as ItemStageKind<unknown, unknown>;
  const over = kind.over === null ? undefined : inputs.find(({ type }) => type === kind.over);
  const prepared = await kind.prepare(open.node.config, await loadInputs(inputs), open.tools);
  try {
    const shared = sharedParts(kind as StageKind, open.own, kind.parts(prepared));
    if (over !== undefined) {
      const units = new Map<string, Unit>();
      const refs = (await over.output.load()).items;
      for (let start = 0; start < refs.length; start += 500) {
        const batch: readonly ItemRef[] = refs.slice(start, start + 500);
        const values = await open.tools.load(batch);
        batch.forEach((ref, index) => {
          for (const unit of kind.units?.(prepared, ref, values[index]) ?? []) if (!units.has(unit.id)) units.set(unit.id, unit);
        });
      }
      const known = await lookUp(context, open.node, shared, [...units.values()]);
      return { shared, known, complete: true, estimate: await estimateOf(open, kind, prepared, known) };
    }
    const known: { unit: Unit; key: Digest; hit: boolean }[] = [];
    let complete = true;
    let wave: Unit[] = [...(kind.start?.(prepared) ?? [])];
    while (wave.length > 0) {
      const found = await lookUp(context, open.node, shared, wave);
      known.push(...found);
      wave = [];
      for (const { unit, row } of found) {
        if (row?.type !== "unit") {
          complete = kind.follow === undefined;
          continue;
        }
        kind.emit?.(
          prepared,
          unit,
          row.out.map(([id, digest]) => ({ id, digest })),
        );
        const next = kind.follow?.(prepared, unit, row.note) ?? null;
        if (next !== null) wave.push(next);
      }
    }
    return { shared, known, complete, estimate: null };
  } finally {
    await kind.close?.(prepared);
  }
}

async function estimateOf(
  open: OpenNode,
  kind: ItemStageKind<unknown, unknown>,
  prepared: unknown,
  known: readonly { readonly unit: Unit; readonly hit: boolean }[],
): Promise<PlanEstimate | null> {
  const misses = known.filter(({ hit }) => !hit);
  if (kind.estimate === undefined || misses.length === 0) return null;
  let tokens: number | null = 0;
  let usd: number | null = 0;
  for (const { unit } of misses) {
    const expected = await kind.estimate(prepared, unit);
    if (expected === null) return null;
    tokens = tokens === null || expected.tokens === null ? null : tokens + expected.tokens;
    usd = usd === null || expected.usd === null ? null : usd + expected.usd;
  }
  return { queries: misses.length, tokens, usd, budget: kind.budget?.(open.node.config) ?? null };
}

async function lookUp(context: RunContext, node: StageNode, shared: readonly KeyPart[], units: readonly Unit[]) {
  const keyed = units.map((unit) => ({ unit, key: unitKey(shared, unit) }));
  const rows = await context.cache.actions.getMany(keyed.map(({ key }) => key));
  return Promise.all(
    keyed.map(async ({ unit, key }, index) => {
      const row = rows[index];
      const hit = row?.type === "unit" && (await isUsable(context, node, row));
      return { unit, key, hit, row: hit ? row : undefined };
    }),
  );
}

async function whyNot(
  context: RunContext,
  history: History,
  node: StageNode,
  parts: readonly KeyPart[],
  row: ActionRow | undefined,
): Promise<string> {
  if (context.options.forced.has(node.id)) return "forced";
  if (context.options.refreshed.has(node.id)) return "refreshed";
  if (row !== undefined) return node.common.freshness === "pinned" ? "its result in the cache is damaged" : "no longer fresh";
  const last = await lastStageRow(context, history, node.id);
  if (last === null) {
    const earlier = history.some((record) => record.nodes.some(({ id, state }) => id === node.id && state !== "waiting"));
    return earlier ? "did not finish in the last run" : "never run";
  }
  const [first, ...others] = keyDifferences(keyParts(last.row.parts), parts);
  if (first === undefined) return "its result is no longer in the cache";
  return `${renderDifference(first)}${others.length > 0 ? ` (and ${others.length} more)` : ""}`;
}

export function renderDifference({ name, before, now }: PartDifference): string {
  const show = (value: Json | undefined): string => {
    if (value === undefined) return "(absent)";
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (/^[0-9a-f]{64}$/.test(text)) return text.slice(0, 12);
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
  };
  const shown = name.replace(/^config\./, "");
  if (typeof before === "string" && typeof now === "string" && /^[0-9a-f]{64}$/.test(before) && /^[0-9a-f]{64}$/.test(now)) {
    return `${shown} changed`;
  }
  return `${shown}: ${show(before)} -> ${show(now)}`;
}

async function lastStageRow(
  context: RunContext,
  history: History,
  nodeId: string,
): Promise<{ run: string; key: string; row: StageRow } | null> {
  for (const record of history) {
    const key = record.nodes.find(({ id }) => id === nodeId)?.key ?? null;
    if (key === null) continue;
    const row = await context.cache.actions.get(key as Digest);
    if (row?.type === "stage") return { run: record.run_id, key, row };
  }
  return null;
}

/** From the trace of the newest run that finished the stage with this unit in it. */
async function lastUnitRow(
  context: RunContext,
  history: History,
  nodeId: string,
  unitId: string,
): Promise<{ run: string; key: string; parts: KeyPart[] } | null> {
  for (const record of history) {
    const key = record.nodes.find(({ id }) => id === nodeId)?.key ?? null;
    const stage = key === null ? undefined : await context.cache.actions.get(key as Digest);
    if (stage?.type !== "stage" || stage.trace === null) continue;
    try {
      const trace = (await context.cache.getJson(stage.trace)) as unknown as [string, Digest][];
      const unit = trace.find(([id]) => id === unitId);
      const row = unit === undefined ? undefined : await context.cache.actions.get(unit[1]);
      if (unit === undefined || row?.type !== "unit") continue;
      const shared = (await context.cache.getJson(row.shared)) as unknown as [string, Json][];
      return { run: record.run_id, key: unit[1], parts: keyParts([...shared, ...row.parts]) };
    } catch (error) {
      if (!(error instanceof DamagedEntry)) throw error;
    }
  }
  return null;
}
