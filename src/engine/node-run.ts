/**
 * One node: look the whole stage up; if that misses, stream its items and look each unit up; do what is left.
 */
import type { Digest } from "../base/json.js";
import { thrown } from "../base/thrown.js";
import type { StageRow } from "../cache/actions.js";
import { CacheBroken, CacheUnwritable, DamagedEntry } from "../cache/errors.js";
import { type KeyPart, keyDigest } from "../cache/key.js";
import type { StageNode } from "../pipeline/model.js";
import { type Channel, NoOutput } from "./channel.js";
import type { RunContext } from "./context.js";
import { type ItemRef, type ItemStageKind, type StageKind, StageProblem, type WholeStageKind } from "./contract.js";
import type { NodeProgress } from "./events.js";
import { materialise, type StoredFile, storeFiles } from "./files.js";
import { asInput, completeInputs, completeOutput, isSelectable, joinedInputs, loadInputs } from "./inputs.js";
import { type NodeInput, stageParts } from "./keys.js";
import { type OpenNode, openNode } from "./open-node.js";
import { isUsable, outputOf } from "./rows.js";
import { isSelective } from "./selection.js";
import { complete, interrupted, type NodeEnd, note, remember, storeStage, throwIfStopping, useHit } from "./stage-end.js";
import { UnitPass } from "./unit-pass.js";
import { isOwnModule } from "./unit-run.js";

/** Runs the node to its end; its channel tells the others. Throws only for damage of the cache and for bugs of the engine. */
export async function runNode(context: RunContext, node: StageNode): Promise<void> {
  const channel = context.channels.get(node.id) as Channel;
  const progress = context.progress.get(node.id) as NodeProgress;
  const began = context.world.clock.now();
  const end = (state: NodeProgress["state"], message: string | null) => {
    progress.state = state;
    progress.message = message ?? progress.message;
    progress.seconds = (context.world.clock.now() - began) / 1000;
    context.events({ type: "stage", node: progress });
  };
  try {
    if (context.options.skipped.has(node.id)) throw new NoOutput("skipped", "left out by --only, --from or --until");
    const open = context.opened.get(node.id) ?? (await openNode(context, node));
    const result =
      open.kind.shape === "whole"
        ? await runWhole(context, open, open.kind, channel)
        : await runItems(context, open, open.kind, channel);
    end(result.state, result.message);
  } catch (error) {
    const known = asNoOutput(context, node, error);
    if (known instanceof NoOutput) {
      channel.fail(known);
      end(known.state, known.message);
      return;
    }
    channel.fail(new NoOutput("blocked", "the cache was damaged"));
    throw error;
  }
}

/** Its results are right for what was there, but nobody can say under which key: used in this run, and made again by the next. */
function warnChanged(context: RunContext, node: StageNode, changed: readonly string[]): void {
  context.events({
    type: "warning",
    message: `${node.id}: what its key is made of changed while it ran (${changed.join(", ")}): what was made since is used in this run and not kept. Run it again once nothing changes any more`,
  });
}

/** What a person can mend makes the stage fail; damage of the cache and bugs of ours go through. */
function asNoOutput(context: RunContext, node: StageNode, error: unknown): unknown {
  if (error instanceof StageProblem) return new NoOutput("failed", context.redact(error.message));
  const isOurs =
    error instanceof NoOutput ||
    error instanceof DamagedEntry ||
    error instanceof CacheBroken ||
    error instanceof CacheUnwritable;
  if (isOurs || !isOwnModule(node.kind)) return error;
  return new NoOutput("failed", context.redact(`${node.kind} threw ${thrown(error)}`));
}

async function stageHit(context: RunContext, open: OpenNode, parts: readonly KeyPart[]): Promise<StageRow | null> {
  const row = await context.cache.actions.get(keyDigest(parts));
  return row?.type === "stage" && (await isUsable(context, open.node, row)) ? row : null;
}

function mayExecute(context: RunContext, open: OpenNode): void {
  const { may } = context.options;
  if (may !== null && !may.has(open.node.id)) {
    throw new NoOutput(
      "failed",
      `${open.node.id} is not in the cache as it is configured now, and --only or --from leaves it out: run it first`,
    );
  }
}

async function runWhole(context: RunContext, open: OpenNode, kind: WholeStageKind<unknown>, channel: Channel): Promise<NodeEnd> {
  const { node, tools } = open;
  const progress = context.progress.get(node.id) as NodeProgress;
  const inputs = await joinedInputs(context, node, kind.consumes);
  const parts = stageParts(kind, open.own, inputs);
  const hit = await stageHit(context, open, parts);
  if (hit !== null) return useHit(context, open, hit, parts, channel);
  mayExecute(context, open);
  throwIfStopping(context);

  // Its items come all at once: whoever needs them waits for the end (`streams` is for item stages).
  progress.state = "running";
  context.events({ type: "stage", node: progress });
  const began = context.world.clock.now();
  const resource = kind.resource?.(node.config) ?? null;
  const run = async () => kind.run(node.config, await loadInputs(inputs), tools, context.signal);
  let result: Awaited<ReturnType<typeof run>>;
  try {
    result = resource === null ? await run() : await context.resources.run(resource.name, resource.concurrency, run);
  } catch (error) {
    throwIfStopping(context);
    throw error instanceof Error && !(error instanceof DamagedEntry) && error.name === "AbortError" ? interrupted() : error;
  }
  throwIfStopping(context);
  progress.units = 1;
  if (!result.ok) {
    progress.failed = 1;
    context.events({
      type: "unit",
      node: progress,
      unit: node.id,
      key: keyDigest(parts),
      status: "failed",
      seconds: 0,
      message: context.redact(result.message),
    });
    throw new NoOutput("failed", context.redact(result.message));
  }
  const digests = await context.cache.putJsonMany(
    result.value.items.map(({ value }) => value),
    !context.verifyHits,
  );
  const items = result.value.items.map(({ id }, index): ItemRef => ({ id, digest: digests[index] as Digest }));
  const files: StoredFile[] = await storeFiles(context, result.value.files ?? []);
  const now = context.world.clock.now();
  const changed = await open.inputs.changed();
  if (changed.length > 0) warnChanged(context, node, changed);
  const row = await storeStage(context, kind, parts, items, result.value.meta, {
    trace: null,
    notes: result.value.notes ?? null,
    files,
    units: 1,
    seconds: (now - began) / 1000,
    at: began,
    store: changed.length === 0,
  });
  note(context, node.id, node.id);
  progress.executed = 1;
  progress.items = items.length;
  context.events({
    type: "unit",
    node: progress,
    unit: node.id,
    key: keyDigest(parts),
    status: "completed",
    seconds: row.seconds,
  });
  await materialise(context, files, row.at);
  remember(context, node.id, parts, row);
  await complete(context, open, channel, outputOf(context, row));
  return { state: "done", message: null };
}

async function runItems(
  context: RunContext,
  open: OpenNode,
  kind: ItemStageKind<unknown, unknown>,
  channel: Channel,
): Promise<NodeEnd> {
  const { node, tools } = open;
  const progress = context.progress.get(node.id) as NodeProgress;
  const typeOf = (id: string) => {
    const upstream = context.graph.nodes.find((other) => other.id === id) as StageNode;
    return (context.kinds.get(upstream.kind) as StageKind).produces;
  };
  const overId = kind.over === null ? null : (node.needs.find((id) => typeOf(id) === kind.over) ?? null);
  const upstream = overId === null ? null : (context.channels.get(overId) as Channel);
  const barrier = await completeInputs(
    context,
    node.needs.filter((id) => id !== overId),
  );
  const selectsOver = overId !== null && isSelective(context.options.selection) && isSelectable(context, overId);
  const streams = upstream !== null && !selectsOver && (await upstream.mode) === "streaming";
  const inOrder = (over: NodeInput | null) =>
    node.needs.flatMap((id) => (id === overId ? (over === null ? [] : [over]) : barrier.filter((input) => input.node === id)));

  let over: NodeInput | null = null;
  if (!streams) {
    if (overId !== null) over = await asInput(context, overId, await completeOutput(context, overId));
    const parts = stageParts(kind, open.own, inOrder(over));
    const hit = await stageHit(context, open, parts);
    if (hit !== null) return useHit(context, open, hit, parts, channel);
  }
  throwIfStopping(context);
  channel.streams();
  progress.state = "running";
  context.events({ type: "stage", node: progress });
  const began = context.world.clock.now();

  const prepared = await kind.prepare(node.config, await loadInputs(inOrder(over)), tools);
  try {
    const pass = new UnitPass(context, open, kind, prepared, channel, progress, (changed) => warnChanged(context, node, changed));
    await pass.open();
    if (upstream === null || overId === null) await pass.source();
    else if (over === null) await pass.stream(upstream.batches());
    else await pass.stream(batchesOf((await over.output.load()).items));
    await pass.drain();

    if (context.signal.aborted) throw interrupted();
    throwIfStopping(context);
    const stop = context.resources.stopped({ resource: pass.resource, node: node.id, stage: node.stage });
    if (stop !== undefined && pass.notRun > 0) throw new NoOutput("stopped", stop.message);
    if (over === null && overId !== null) over = await asInput(context, overId, await completeOutput(context, overId));
    if (pass.refused !== null) throw new NoOutput("failed", pass.refused);

    const ordered = pass.inOrder(over === null ? null : (await over.output.load()).items);
    const failures = pass.failures();
    if (failures.tooMany && failures.withoutItems > 0) throw new NoOutput("failed", failures.message);
    const meta =
      kind.finish === undefined ? null : await kind.finish(prepared, ordered.items, tools, await loadInputs(inOrder(over)));
    const parts = stageParts(kind, open.own, inOrder(over));
    const row = await storeStage(context, kind, parts, ordered.items, meta, {
      trace: ordered.trace,
      notes: null,
      files: [],
      units: ordered.trace.length,
      seconds: (context.world.clock.now() - began) / 1000,
      at: began,
      store: failures.count === 0 && !pass.uncached,
    });
    progress.items = ordered.items.length;
    remember(context, node.id, parts, row);
    await complete(context, open, channel, outputOf(context, row));
    if (failures.tooMany) return { state: "failed", message: failures.message };
    return { state: progress.executed > 0 ? "done" : "cached", message: failures.count > 0 ? failures.message : null };
  } finally {
    await kind.close?.(prepared);
  }
}

async function* batchesOf(items: readonly ItemRef[]): AsyncGenerator<readonly ItemRef[]> {
  for (let start = 0; start < items.length; start += 500) yield items.slice(start, start + 500);
}
