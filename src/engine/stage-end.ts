/** How a stage ends: what it made is stored, remembered for the run's record, and handed on. */
import type { Digest, Json } from "../base/json.js";
import type { StageRow } from "../cache/actions.js";
import { type KeyPart, keyDigest } from "../cache/key.js";
import { type Channel, type NodeOutput, NoOutput } from "./channel.js";
import { type Manifest, type RunContext, writer } from "./context.js";
import type { ItemRef, StageKind } from "./contract.js";
import type { NodeProgress } from "./events.js";
import { materialise, type StoredFile } from "./files.js";
import { isSelectable } from "./inputs.js";
import { asPairs, kindName } from "./keys.js";
import type { OpenNode } from "./open-node.js";
import { outputOf } from "./rows.js";
import { select } from "./selection.js";

export interface NodeEnd {
  readonly state: "cached" | "done" | "failed";
  readonly message: string | null;
}

/**
 * Hands the output on. Where `--items` chooses among it, each name must be one of its items: a typing mistake must not become a report
 * about fewer cases, or none. (Where several stages could be meant, a name may belong to the other one: then it is only said.)
 */
export async function complete(context: RunContext, open: OpenNode, channel: Channel, output: NodeOutput): Promise<void> {
  const { selection } = context.options;
  if (open.kind.selectable === true && selection.items !== null) {
    const { all } = await output.load();
    const { unknown } = select(all, selection);
    if (unknown.length > 0) {
      const some = all.slice(0, 5).map(({ id }) => id);
      const message =
        `--items names ${unknown.join(", ")}, but ${open.node.id} has no such item; it has ${all.length}` +
        (some.length > 0 ? `: ${some.join(", ")}${all.length > some.length ? ", ..." : ""}` : "");
      if (context.graph.nodes.filter(({ id }) => isSelectable(context, id)).length === 1) throw new NoOutput("failed", message);
      open.tools.warn(message);
    }
  }
  channel.complete(output);
}

export async function useHit(
  context: RunContext,
  open: OpenNode,
  row: StageRow,
  parts: readonly KeyPart[],
  channel: Channel,
): Promise<NodeEnd> {
  await materialise(context, row.files, row.at);
  const progress = context.progress.get(open.node.id) as NodeProgress;
  // After a restart the units that this run itself executed are found again: they stay counted as executed.
  const executed = context.executed.get(open.node.id)?.size ?? 0;
  progress.items = row.items;
  progress.units = row.units;
  progress.executed = executed;
  progress.cached = row.units - executed;
  remember(context, open.node.id, parts, row);
  await complete(context, open, channel, outputOf(context, row));
  return { state: executed > 0 ? "done" : "cached", message: null };
}

export function remember(context: RunContext, id: string, parts: readonly KeyPart[], row: StageRow): void {
  context.finished.set(id, { key: keyDigest(parts), row });
}

export function note(context: RunContext, node: string, unit: string): void {
  const units = context.executed.get(node) ?? new Set<string>();
  units.add(unit);
  context.executed.set(node, units);
}

export function interrupted(): NoOutput {
  return new NoOutput("interrupted", "interrupted");
}

export function throwIfStopping(context: RunContext): void {
  if (context.signal.aborted) throw interrupted();
  if (context.restart.wanted) throw new NoOutput("blocked", "starting over after damage in the cache");
}

export async function storeStage(
  context: RunContext,
  kind: StageKind,
  parts: readonly KeyPart[],
  items: readonly ItemRef[],
  meta: Json,
  rest: {
    readonly trace: readonly (readonly [string, Digest])[] | null;
    readonly notes: Json;
    readonly files: readonly StoredFile[];
    readonly units: number;
    readonly seconds: number;
    readonly at: number;
    /** False where a unit failed: the output is used now and never found again. */
    readonly store: boolean;
  },
): Promise<StageRow> {
  const manifest: Manifest = { items: items.map(({ id, digest }) => [id, digest] as const), meta };
  const row: StageRow = {
    type: "stage",
    kind: kindName(kind),
    parts: asPairs(parts),
    output: await context.cache.putJson(manifest),
    items: items.length,
    units: rest.units,
    trace: rest.trace === null ? null : await context.cache.putJson(rest.trace),
    notes: rest.notes,
    files: [...rest.files],
    seconds: rest.seconds,
    at: rest.at,
    by: writer(context),
  };
  if (rest.store) await context.cache.putRow(keyDigest(parts), row);
  return row;
}
