/**
 * One node: look the whole stage up; if that misses, stream its items and look each unit up; do what is left.
 */
import type { Digest, Json } from "../base/json.js";
import type { ActionRow, StageRow, UnitRow } from "../cache/actions.js";
import { DamagedEntry } from "../cache/errors.js";
import { type KeyPart, keyDigest } from "../cache/key.js";
import type { StageNode } from "../pipeline/model.js";
import { type Channel, type NodeOutput, NoOutput } from "./channel.js";
import { type Manifest, type RunContext, stageTools, writer } from "./context.js";
import {
  type ItemRef,
  type ItemStageKind,
  type StageInputs,
  type StageKind,
  type StageOutput,
  StageProblem,
  type StageTools,
  type Unit,
  type WholeStageKind,
} from "./contract.js";
import type { NodeProgress } from "./events.js";
import { materialise, type StoredFile, storeFiles } from "./files.js";
import { asPairs, kindName, type NodeInput, type OwnParts, ownParts, sharedParts, stageParts, unitKey } from "./keys.js";
import { isSelective, select, selected } from "./selection.js";
import { refsOf, runUnit, type UnitResult, type UnitWork } from "./unit-run.js";

/** Units handed to a resource and not finished: bounds memory, not speed. */
const MOST_OUTSTANDING = 2_000;
const DEFAULT_CONCURRENCY = 8;

/** Everything about a node that both running and planning need. */
export interface OpenNode {
  readonly node: StageNode;
  readonly kind: StageKind;
  readonly tools: StageTools;
  readonly own: OwnParts;
}

export async function openNode(context: RunContext, node: StageNode): Promise<OpenNode> {
  const kind = context.kinds.get(node.kind);
  if (kind === undefined) throw new Error(`no stage kind ${node.kind}`);
  const tools = stageTools(context, node);
  return { node, kind, tools, own: await ownParts(kind, node, tools, context.graph.secrets) };
}

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
    const open = await openNode(context, node);
    const result =
      open.kind.shape === "whole"
        ? await runWhole(context, open, open.kind, channel)
        : await runItems(context, open, open.kind, channel);
    end(result.state, result.message);
  } catch (error) {
    const known = error instanceof StageProblem ? new NoOutput("failed", context.redact(error.message)) : error;
    if (known instanceof NoOutput) {
      channel.fail(known);
      end(known.state, known.message);
      return;
    }
    channel.fail(new NoOutput("blocked", "the cache was damaged"));
    throw error;
  }
}

interface NodeEnd {
  readonly state: "cached" | "done" | "failed";
  readonly message: string | null;
}

/** The complete output of an upstream node, or why this node is blocked. */
async function completeOutput(context: RunContext, id: string): Promise<NodeOutput> {
  try {
    return await (context.channels.get(id) as Channel).output;
  } catch (error) {
    if (!(error instanceof NoOutput)) throw error;
    const state = error.state === "failed" ? "blocked" : error.state;
    throw new NoOutput(state, error.state === "failed" ? `${id} failed` : error.message);
  }
}

export async function asInput(context: RunContext, id: string, output: NodeOutput): Promise<NodeInput> {
  const upstream = context.graph.nodes.find((other) => other.id === id) as StageNode;
  const kind = context.kinds.get(upstream.kind) as StageKind;
  let seen = output;
  if (kind.selectable === true && isSelective(context.options.selection)) {
    const whole = await output.load();
    const cut = selected(whole, context.options.selection);
    seen = { digest: cut.digest, count: cut.items.length, load: async () => cut };
  }
  return { type: kind.produces, stage: upstream.stage, label: upstream.label, node: id, output: seen, digest: seen.digest };
}

async function completeInputs(context: RunContext, ids: readonly string[]): Promise<NodeInput[]> {
  const inputs: NodeInput[] = [];
  for (const id of ids) inputs.push(await asInput(context, id, await completeOutput(context, id)));
  return inputs;
}

export async function loadInputs(inputs: readonly NodeInput[]): Promise<StageInputs> {
  const loaded = await Promise.all(inputs.map(async (input) => ({ ...input, loaded: await input.output.load() })));
  const of = (type: string) => loaded.filter((input) => input.type === type);
  return {
    one: (type) => {
      const [first] = of(type);
      if (first === undefined) throw new Error(`no input of type ${type}: the kind's consumes should say so`);
      return first.loaded;
    },
    optional: (type) => of(type)[0]?.loaded,
    many: (type) => of(type).map(({ stage, label, loaded: output }) => ({ stage, label, output })),
  };
}

/** A row may be used: it is fresh, not forced, and (after damage) the bytes behind it are intact. */
export async function isUsable(context: RunContext, node: StageNode, row: ActionRow): Promise<boolean> {
  const { options, world } = context;
  if ((options.forced.has(node.id) || options.refreshed.has(node.id)) && row.at < options.startedAt) return false;
  const freshness = node.common.freshness;
  if (freshness === "always" && row.at < options.startedAt) return false;
  if (typeof freshness === "number" && world.clock.now() - row.at > freshness * 1000) return false;
  if (!context.verifyHits) return true;

  const wanted =
    row.type === "unit"
      ? [row.shared, ...row.out.map(([, digest]) => digest)]
      : [row.output, ...(row.trace === null ? [] : [row.trace]), ...row.files.map(({ text }) => text)];
  const found = await intact(context, wanted);
  if (found === null) return false;
  if (row.type === "unit") return true;
  const manifest = JSON.parse(Buffer.from(found.get(row.output) ?? []).toString("utf8")) as Manifest;
  const items = manifest.items.map(([, digest]) => digest as Digest);
  for (let start = 0; start < items.length; start += 500) {
    if ((await intact(context, items.slice(start, start + 500))) === null) return false;
  }
  return true;
}

/** The objects, if all are there and none of them names one that is known to be lost (a source tree names its files' contents). */
async function intact(context: RunContext, digests: readonly Digest[]): Promise<Map<Digest, Uint8Array> | null> {
  const found = await context.cache.objects.getMany(digests);
  if (digests.some((digest) => !found.has(digest))) return null;
  if (context.lost.size === 0) return found;
  for (const bytes of found.values()) {
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (const digest of context.lost) if (content.includes(digest)) return null;
  }
  return found;
}

export function outputOf(context: RunContext, row: Pick<StageRow, "output" | "items" | "notes">): NodeOutput {
  let loaded: Promise<StageOutput> | undefined;
  return {
    digest: row.output,
    count: row.items,
    load: () => {
      loaded ??= context.cache.getJson(row.output).then((json) => {
        const manifest = json as unknown as Manifest;
        const all = manifest.items.map(([id, digest]) => ({ id, digest: digest as Digest }));
        return { digest: row.output, items: all, all, meta: manifest.meta, notes: row.notes };
      });
      return loaded;
    },
  };
}

async function stageHit(context: RunContext, open: OpenNode, parts: readonly KeyPart[]): Promise<StageRow | null> {
  const row = await context.cache.actions.get(keyDigest(parts));
  return row?.type === "stage" && (await isUsable(context, open.node, row)) ? row : null;
}

/**
 * Hands the output on. Where `--items` chooses among it, each name must be one of its items: a typing mistake must not become a report
 * about fewer cases, or none. (Where several stages could be meant, a name may belong to the other one: then it is only said.)
 */
async function complete(context: RunContext, open: OpenNode, channel: Channel, output: NodeOutput): Promise<void> {
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

async function useHit(
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

function mayExecute(context: RunContext, open: OpenNode): void {
  const { may } = context.options;
  if (may !== null && !may.has(open.node.id)) {
    throw new NoOutput(
      "failed",
      `${open.node.id} is not in the cache as it is configured now, and --only or --from leaves it out: run it first`,
    );
  }
}

function remember(context: RunContext, id: string, parts: readonly KeyPart[], row: StageRow): void {
  context.finished.set(id, { key: keyDigest(parts), row });
}

async function runWhole(context: RunContext, open: OpenNode, kind: WholeStageKind<unknown>, channel: Channel): Promise<NodeEnd> {
  const { node, tools } = open;
  const progress = context.progress.get(node.id) as NodeProgress;
  const inputs = await completeInputs(context, node.needs);
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
  const row = await storeStage(context, kind, parts, items, result.value.meta, {
    trace: null,
    notes: result.value.notes ?? null,
    files,
    units: 1,
    seconds: (now - began) / 1000,
    at: began,
    store: true,
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

function note(context: RunContext, node: string, unit: string): void {
  const units = context.executed.get(node) ?? new Set<string>();
  units.add(unit);
  context.executed.set(node, units);
}

function interrupted(): NoOutput {
  return new NoOutput("interrupted", "interrupted");
}

function throwIfStopping(context: RunContext): void {
  if (context.signal.aborted) throw interrupted();
  if (context.restart.wanted) throw new NoOutput("blocked", "starting over after damage in the cache");
}

async function storeStage(
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
    const pass = new UnitPass(context, open, kind, prepared, channel, progress);
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

function isSelectable(context: RunContext, id: string): boolean {
  const upstream = context.graph.nodes.find((other) => other.id === id) as StageNode;
  return context.kinds.get(upstream.kind)?.selectable === true;
}

async function* batchesOf(items: readonly ItemRef[]): AsyncGenerator<readonly ItemRef[]> {
  for (let start = 0; start < items.length; start += 500) yield items.slice(start, start + 500);
}

/** The units of one stage in one run: each looked up once, done once, and put in the order of the upstream's items at the end. */
class UnitPass {
  readonly resource: string;
  notRun = 0;
  /** Set when a unit could not be done because `--only`/`--from` leaves this stage out. */
  refused: string | null = null;
  uncached = false;
  readonly #context: RunContext;
  readonly #open: OpenNode;
  readonly #kind: ItemStageKind<unknown, unknown>;
  readonly #prepared: unknown;
  readonly #channel: Channel;
  readonly #progress: NodeProgress;
  readonly #concurrency: number;
  readonly #adaptive: boolean;
  #shared: readonly KeyPart[] = [];
  #sharedDigest: Digest | undefined;
  readonly #unitsOfItem = new Map<string, readonly string[]>();
  readonly #order: string[] = [];
  readonly #keys = new Map<string, Digest>();
  readonly #results = new Map<string, { readonly items: readonly ItemRef[] }>();
  readonly #failed = new Map<string, { readonly message: string; readonly empty: boolean }>();
  #outstanding = 0;
  #waiting: (() => void)[] = [];
  #error: unknown;

  constructor(
    context: RunContext,
    open: OpenNode,
    kind: ItemStageKind<unknown, unknown>,
    prepared: unknown,
    channel: Channel,
    progress: NodeProgress,
  ) {
    this.#context = context;
    this.#open = open;
    this.#kind = kind;
    this.#prepared = prepared;
    this.#channel = channel;
    this.#progress = progress;
    const own = kind.resource?.(open.node.config) ?? null;
    this.resource = open.node.common.resource ?? own?.name ?? open.node.id;
    this.#concurrency = open.node.common.concurrency ?? own?.concurrency ?? DEFAULT_CONCURRENCY;
    this.#adaptive = own?.adaptive === true;
  }

  async open(): Promise<void> {
    this.#shared = sharedParts(this.#kind, this.#open.own, this.#kind.parts(this.#prepared));
  }

  /** Stored once, when the first unit is: rows name it, so that they explain themselves. */
  async #sharedObject(): Promise<Digest> {
    this.#sharedDigest ??= await this.#context.cache.putJson(asPairs(this.#shared));
    return this.#sharedDigest;
  }

  /** A source: its first units, and after each the one that follows. */
  async source(): Promise<void> {
    let units = [...(this.#kind.start?.(this.#prepared) ?? [])];
    while (units.length > 0 && !this.#stopping()) {
      const next: Unit[] = [];
      for (const unit of units) {
        const result = await this.#one(unit);
        if (result === null || (result.type !== "hit" && result.type !== "executed")) continue;
        const following = this.#kind.follow?.(this.#prepared, unit, result.row.note) ?? null;
        if (following !== null) next.push(following);
      }
      units = next;
    }
  }

  /** Looks one unit up, does it if need be, and waits for it. */
  async #one(unit: Unit): Promise<UnitResult | null> {
    if (this.#keys.has(unit.id)) return null;
    const key = this.#register(unit);
    const row = await this.#context.cache.actions.get(key);
    let result: UnitResult;
    if (row?.type === "unit" && (await isUsable(this.#context, this.#open.node, row))) {
      result = { type: "hit", items: refsOf(row), status: row.status, row };
    } else {
      result = await this.#do(unit, key);
    }
    this.#record(unit, result);
    return result;
  }

  async stream(batches: AsyncGenerator<readonly ItemRef[]>): Promise<void> {
    for await (const batch of batches) {
      if (this.#stopping()) return;
      const values = await this.#open.tools.load(batch);
      const fresh: { unit: Unit; key: Digest }[] = [];
      batch.forEach((ref, index) => {
        const units = this.#kind.units?.(this.#prepared, ref, values[index]) ?? [];
        this.#unitsOfItem.set(
          ref.id,
          units.map(({ id }) => id),
        );
        for (const unit of units) if (!this.#keys.has(unit.id)) fresh.push({ unit, key: this.#register(unit) });
      });
      const rows = await this.#context.cache.actions.getMany(fresh.map(({ key }) => key));
      for (const [index, { unit, key }] of fresh.entries()) {
        const row = rows[index];
        if (row?.type === "unit" && (await isUsable(this.#context, this.#open.node, row))) {
          this.#record(unit, { type: "hit", items: refsOf(row), status: row.status, row });
          continue;
        }
        await this.#room(MOST_OUTSTANDING);
        if (this.#stopping()) {
          this.notRun += 1;
          continue;
        }
        this.#outstanding += 1;
        this.#do(unit, key)
          .then((result) => this.#record(unit, result))
          .catch((error: unknown) => {
            this.#error ??= error;
            this.#context.restart.wanted = true;
          })
          .finally(() => this.#finished());
      }
      this.#context.events({ type: "progress", node: this.#progress });
    }
  }

  /** Waits until fewer than `most` units are outstanding. */
  async #room(most: number): Promise<void> {
    while (this.#outstanding >= most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #finished(): void {
    this.#outstanding -= 1;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  async drain(): Promise<void> {
    await this.#room(1);
    if (this.#error !== undefined) throw this.#error;
  }

  #stopping(): boolean {
    return this.#context.signal.aborted || this.#context.restart.wanted;
  }

  #register(unit: Unit): Digest {
    const key = unitKey(this.#shared, unit);
    this.#keys.set(unit.id, key);
    this.#order.push(unit.id);
    this.#progress.units += 1;
    return key;
  }

  async #do(unit: Unit, key: Digest): Promise<UnitResult> {
    const { may } = this.#context.options;
    if (may !== null && !may.has(this.#open.node.id)) {
      this.refused ??= `${this.#open.node.id} is not in the cache as it is configured now, and --only or --from leaves it out: run it first`;
      return { type: "not-run" };
    }
    const shared = await this.#sharedObject();
    const work: UnitWork = {
      context: this.#context,
      node: this.#open.node,
      kind: this.#kind,
      prepared: this.#prepared,
      tools: this.#open.tools,
      progress: this.#progress,
      shared,
      resource: this.resource,
      concurrency: this.#concurrency,
      adaptive: this.#adaptive,
      usable: (row: UnitRow) => isUsable(this.#context, this.#open.node, row),
    };
    return this.#context.resources.run(this.resource, this.#concurrency, () => runUnit(work, unit, key));
  }

  #record(unit: Unit, result: UnitResult): void {
    if (result.type === "not-run") {
      this.notRun += 1;
      return;
    }
    const progress = this.#progress;
    const emitted = this.#kind.emit === undefined ? result.items : this.#kind.emit(this.#prepared, unit, result.items);
    this.#results.set(unit.id, { items: emitted });
    progress.items += emitted.length;
    progress.statuses[result.status] = (progress.statuses[result.status] ?? 0) + 1;
    if (result.type === "failed") {
      progress.failed += 1;
      this.#failed.set(unit.id, { message: result.message, empty: emitted.length === 0 });
    } else if (result.type === "executed" || this.#context.executed.get(this.#open.node.id)?.has(unit.id)) {
      note(this.#context, this.#open.node.id, unit.id);
      progress.executed += 1;
    } else {
      progress.cached += 1;
    }
    this.#channel.push(emitted);
    if (result.type !== "hit") this.#context.events({ type: "progress", node: progress });
  }

  /** Output and trace in the order of the upstream's items; a source keeps the order of its chain. */
  inOrder(over: readonly ItemRef[] | null): { items: ItemRef[]; trace: [string, Digest][] } {
    const ids = over === null ? this.#order : over.flatMap(({ id }) => this.#unitsOfItem.get(id) ?? []);
    const items: ItemRef[] = [];
    const trace: [string, Digest][] = [];
    const seen = new Set<string>();
    for (const id of ids) {
      const result = this.#results.get(id);
      const key = this.#keys.get(id);
      if (seen.has(id) || key === undefined) continue;
      seen.add(id);
      trace.push([id, key]);
      if (result !== undefined) items.push(...result.items);
    }
    return { items, trace };
  }

  failures(): { count: number; withoutItems: number; tooMany: boolean; message: string } {
    const count = this.#failed.size;
    const allowed = this.#open.node.common.allowFailures;
    const limit = "count" in allowed ? allowed.count : allowed.share * this.#order.length;
    const withoutItems = [...this.#failed.values()].filter(({ empty }) => empty).length;
    const [first] = this.#failed;
    const message =
      first === undefined
        ? ""
        : `${count} of ${this.#order.length} failed, ${limit === 0 ? "none" : Math.floor(limit)} may (allow_failures); first: ${first[0]}: ${first[1].message}`;
    return { count, withoutItems, tooMany: count > limit, message };
  }
}
