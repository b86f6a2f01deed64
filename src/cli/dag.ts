/** `bench dag PIPELINE [--format text|mermaid|dot]`. */
import { DAG_FORMATS, renderDag } from "../pipeline/dag.js";
import { type Command, EXIT, UsageError } from "./contract.js";
import { text } from "./options.js";
import { preparePipeline } from "./prepare.js";

export const command: Command = {
  usage: "dag <pipeline>",
  summary: "Draw a pipeline as text, Mermaid or Graphviz dot",
  options: [
    { flag: "--format <format>", description: "text (default), mermaid or dot" },
    { flag: "--set <k=v>", description: "Set a parameter of the pipeline (repeatable)", repeated: true },
  ],
  run: async (args, options, io) => {
    const wanted = text(options, "format") ?? "text";
    const format = DAG_FORMATS.find((known) => known === wanted);
    if (format === undefined) throw new UsageError(`--format ${wanted}: choose text, mermaid or dot`);
    const prepared = await preparePipeline(args[0] as string, options, io);
    if (prepared === null) return EXIT.usage;
    io.stdout(`${renderDag(prepared.graph, format).trimEnd()}\n`);
    return EXIT.done;
  },
};
