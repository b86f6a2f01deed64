/** Drives one item stage as the engine does (chain of a source, units of streamed items), in order, without cache or concurrency. */

import type { Json } from "../../src/base/json.js";
import type {
  ItemRef,
  ItemStageKind,
  OutItem,
  StageInputs,
  StageKind,
  StageOutput,
  Unit,
  UnitOutcome,
} from "../../src/engine/contract.js";
import type { StageToolsRig } from "./stage-tools.js";

export interface Driven {
  readonly output: StageOutput;
  readonly items: readonly OutItem[];
  readonly outcomes: ReadonlyMap<string, UnitOutcome>;
  readonly units: readonly Unit[];
}

export async function driveStage(
  kind: StageKind,
  config: unknown,
  tools: StageToolsRig,
  over: StageOutput | null = null,
  signal: AbortSignal = new AbortController().signal,
): Promise<Driven> {
  if (kind.shape !== "items") throw new Error(`${kind.kind} is not an item stage`);
  const stage = kind as ItemStageKind;
  const inputs: StageInputs = {
    one: () => {
      throw new Error("these stages have no other input");
    },
    optional: () => undefined,
    many: () => [],
  };
  const prepared = await stage.prepare(stage.config.parse(config), inputs, tools);
  const outcomes = new Map<string, UnitOutcome>();
  const units: Unit[] = [];
  const items: OutItem[] = [];
  const run = async (unit: Unit): Promise<UnitOutcome | null> => {
    if (outcomes.has(unit.id)) return null;
    units.push(unit);
    const outcome = await stage.execute(prepared, unit, tools, signal);
    outcomes.set(unit.id, outcome);
    if (outcome.type !== "done") return outcome;
    const refs = tools.output(outcome.items).items;
    const emitted: readonly ItemRef[] = stage.emit === undefined ? refs : stage.emit(prepared, unit, refs);
    for (const ref of emitted) {
      const item = outcome.items.find(({ id }) => id === ref.id);
      if (item !== undefined) items.push(item);
    }
    return outcome;
  };
  let next: Unit | null;
  for (const first of stage.start?.(prepared) ?? []) {
    for (next = first; next !== null; ) {
      const outcome = await run(next);
      next =
        outcome?.type === "done"
          ? (stage.follow?.(prepared, next, JSON.parse(JSON.stringify(outcome.note ?? null))) ?? null)
          : null;
    }
  }
  const values = over === null ? [] : await tools.load(over.items);
  for (const [index, ref] of (over?.items ?? []).entries()) {
    for (const unit of stage.units?.(prepared, ref, values[index]) ?? []) await run(unit);
  }
  const refs = tools.output(items).items;
  const meta: Json = (await stage.finish?.(prepared, refs, tools, inputs)) ?? null;
  await stage.close?.(prepared);
  return { output: tools.output(items, meta), items, outcomes, units };
}
