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
