/** Everything about a node that running and planning need alike. */
import type { StageNode } from "../pipeline/model.js";
import { type RunContext, stageTools } from "./context.js";
import type { StageKind, StageTools } from "./contract.js";
import { InputCheck } from "./input-check.js";
import { type OwnParts, ownParts } from "./keys.js";

export interface OpenNode {
  readonly node: StageNode;
  readonly kind: StageKind;
  readonly tools: StageTools;
  readonly own: OwnParts;
  readonly inputs: InputCheck;
}

export async function openNode(context: RunContext, node: StageNode): Promise<OpenNode> {
  const kind = context.kinds.get(node.kind);
  if (kind === undefined) throw new Error(`no stage kind ${node.kind}`);
  const tools = stageTools(context, node);
  const own = await ownParts(kind, node, tools, context.graph.secrets);
  const inputs = new InputCheck(async () => (await kind.identify?.(node.config, tools)) ?? [], own.identity);
  return { node, kind, tools, own, inputs };
}
