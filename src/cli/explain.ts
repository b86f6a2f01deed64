/** `bench explain PIPELINE STAGE [ITEM]`: the key's parts, and which of them differ from the last run. */
import { visible } from "../base/diagnostics.js";
import { explainKey, type KeyExplanation, renderDifference } from "../engine/plan.js";
import { type Command, EXIT, UsageError } from "./contract.js";
import { flag } from "./options.js";
import { withPlanning } from "./planning.js";
import { nodesNamed, PIPELINE_OPTIONS, preparePipeline } from "./prepare.js";

export const command: Command = {
  usage: "explain <pipeline> <stage> [item]",
  summary: "Show a key's parts, and which of them differ from the last run",
  options: [...PIPELINE_OPTIONS, { flag: "--json", description: "One JSON value on stdout" }],
  examples: [
    "bench explain pipelines/quickstart.yaml scores --set rules=lenient",
    "bench explain pipelines/quickstart.yaml 'answers[bm25]' 722",
  ],
  run: async (args, options, io) => {
    const [path, stage, item] = args as [string, string, string | undefined];
    const prepared = await preparePipeline(path, options, io);
    if (prepared === null) return EXIT.usage;
    const nodes = nodesNamed(prepared.graph, stage);
    const [node] = nodes;
    if (node === undefined) throw new UsageError(`no stage ${stage}`);
    const explanations: KeyExplanation[] = [];
    await withPlanning(prepared, options, io, async (context, history) => {
      for (const { id } of nodes) explanations.push(await explainKey(context, history, id, item ?? null));
    });
    if (flag(options, "json"))
      io.stdout(`${JSON.stringify(explanations.length === 1 ? explanations[0] : explanations, null, 2)}\n`);
    else io.stdout(`${explanations.map(render).join("\n\n")}\n`);
    // An item that is nowhere is a slip of the person who typed; a key that is unknown until other stages have run is not.
    return item !== undefined && explanations.every(({ noSuchItem }) => noSuchItem) ? EXIT.usage : EXIT.done;
  },
};

function render(explanation: KeyExplanation): string {
  const { id, item, key, stored, parts, last, unknown } = explanation;
  const title = item === null ? id : `${id}, ${visible(item)}`;
  if (unknown !== null) return `${title}: ${unknown}`;
  const width = Math.max(...parts.map(({ name }) => name.length));
  const lines = [`${title}: ${stored ? "in the cache" : "not in the cache"}`, `  key ${key}`];
  for (const { name, value } of parts) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    lines.push(`  ${name.padEnd(width)}  ${visible(text.length > 100 ? `${text.slice(0, 97)}...` : text)}`);
  }
  if (last === null) lines.push("  no earlier run has it");
  else if (last.differences.length === 0) lines.push(`  same key as in run ${last.run}`);
  else {
    lines.push(`  differs from run ${last.run}:`);
    for (const difference of last.differences) lines.push(`    ${visible(renderDifference(difference))}`);
  }
  return lines.join("\n");
}
