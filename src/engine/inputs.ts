/** What a node gets from those before it: complete outputs, as the selection leaves them, by type. */
import type { StageNode } from "../pipeline/model.js";
import { type Channel, type NodeOutput, NoOutput } from "./channel.js";
import type { RunContext } from "./context.js";
import type { StageInputs, StageKind } from "./contract.js";
import type { NodeInput } from "./keys.js";
import { isSelective, selected } from "./selection.js";

/** The complete output of an upstream node, or why this node is blocked. */
export async function completeOutput(context: RunContext, id: string): Promise<NodeOutput> {
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

export async function completeInputs(context: RunContext, ids: readonly string[]): Promise<NodeInput[]> {
  const inputs: NodeInput[] = [];
  for (const id of ids) inputs.push(await asInput(context, id, await completeOutput(context, id)));
  return inputs;
}

/**
 * The inputs of a stage that joins cells (`some`, `many`): a cell that failed is left out and named in a warning, as long as the stage has what it
 * can't do without. One system that is not there must not cost the report of all others.
 */
export async function joinedInputs(context: RunContext, node: StageNode, consumes: StageKind["consumes"]): Promise<NodeInput[]> {
  const inputs: NodeInput[] = [];
  const failed = new Map<string, NoOutput>();
  const typeOf = (id: string) => {
    const upstream = context.graph.nodes.find((other) => other.id === id) as StageNode;
    return (context.kinds.get(upstream.kind) as StageKind).produces;
  };
  for (const id of node.needs) {
    const how = consumes[typeOf(id)];
    try {
      inputs.push(await asInput(context, id, await completeOutput(context, id)));
    } catch (error) {
      if (!(error instanceof NoOutput) || error.state !== "blocked" || (how !== "some" && how !== "many")) throw error;
      failed.set(id, error);
    }
  }
  for (const [type, how] of Object.entries(consumes)) {
    if (how !== "some" || inputs.some((input) => input.type === type)) continue;
    const [first] = failed.values();
    if (first !== undefined) throw first;
  }
  if (failed.size > 0)
    context.events({ type: "warning", message: `${node.id} is made without ${[...failed.keys()].join(", ")}: see why above` });
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

export function isSelectable(context: RunContext, id: string): boolean {
  const upstream = context.graph.nodes.find((other) => other.id === id) as StageNode;
  return context.kinds.get(upstream.kind)?.selectable === true;
}
