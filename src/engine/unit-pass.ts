/**
 * The units of one stage in one run: streamed, looked up in batches, done where they miss, counted, and put in order at the end.
 */
import type { Digest } from "../base/json.js";
import type { UnitRow } from "../cache/actions.js";
import type { KeyPart } from "../cache/key.js";
import type { Channel } from "./channel.js";
import type { RunContext } from "./context.js";
import type { ItemRef, ItemStageKind, StageTools, Unit } from "./contract.js";
import type { NodeProgress } from "./events.js";
import { asPairs, sharedParts, unitKey } from "./keys.js";
import type { OpenNode } from "./open-node.js";
import { isUsable } from "./rows.js";
import { note } from "./stage-end.js";
import { refsOf, runUnit, type UnitResult, type UnitWork } from "./unit-run.js";

/** Units handed to a resource and not finished: bounds memory, not speed. */
const MOST_OUTSTANDING = 2_000;
const DEFAULT_CONCURRENCY = 8;

/** The units of one stage in one run: each looked up once, done once, and put in the order of the upstream's items at the end. */
export class UnitPass {
  readonly resource: string;
  notRun = 0;
  /** Set when a unit could not be done because `--only`/`--from` leaves this stage out. */
  refused: string | null = null;
  /** A result was not stored, so the stage as a whole must not be found again either. */
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
  /** Settles when the newest unit has begun or ended; null: units begin in any order. */
  #newest: Promise<void> | null;
  #error: unknown;
  readonly #onChanged: (changed: readonly string[]) => void;

  constructor(
    context: RunContext,
    open: OpenNode,
    kind: ItemStageKind<unknown, unknown>,
    prepared: unknown,
    channel: Channel,
    progress: NodeProgress,
    /** Called once, with the names of the parts that changed. */
    onChanged: (changed: readonly string[]) => void,
  ) {
    this.#onChanged = onChanged;
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
    this.#newest = kind.inOrder?.(open.node.config) === true ? Promise.resolve() : null;
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
    if (this.#newest === null) return this.#start(unit, key, this.#open.tools);
    // Before anything is waited for, so that the chain has the order of the calls.
    const before = this.#newest;
    let begun = () => {};
    this.#newest = new Promise((resolve) => {
      begun = resolve;
    });
    await before;
    try {
      return await this.#start(unit, key, { ...this.#open.tools, begun });
    } finally {
      begun();
    }
  }

  async #start(unit: Unit, key: Digest, tools: StageTools): Promise<UnitResult> {
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
      tools,
      progress: this.#progress,
      shared,
      resource: this.resource,
      concurrency: this.#concurrency,
      adaptive: this.#adaptive,
      changed: () => this.#open.inputs.changed(),
      notStored: (changed: readonly string[]) => {
        if (!this.uncached) this.#onChanged(changed);
        this.uncached = true;
      },
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
