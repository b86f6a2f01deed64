/** `bench schema [--out FOLDER]`: JSON Schemas, generated from the same zod schemas that check the files. */
import { join, resolve } from "node:path";
import { writeAtomically } from "../engine/record.js";
import { pipelineJsonSchema } from "../pipeline/json-schema.js";
import { stageKinds } from "../stages/registry.js";
import { type Command, EXIT, UsageError } from "./contract.js";
import { FILE_SCHEMAS } from "./file-schemas.js";
import { text } from "./options.js";

export const command: Command = {
  usage: "schema",
  summary: "Write the JSON Schemas of pipelines, rules, answers, data sets and reports, for editors",
  options: [{ flag: "--out <folder>", description: "Write all of them there; else that of pipelines is printed" }],
  run: async (_args, options, io) => {
    const kinds = await stageKinds({ extensions: [], folder: io.cwd });
    if (!kinds.ok) throw new UsageError(kinds.error);
    const pipeline = pipelineJsonSchema(kinds.value);
    const out = text(options, "out");
    if (out === undefined) {
      io.stdout(`${JSON.stringify(pipeline, null, 2)}\n`);
      return EXIT.done;
    }
    const files: Record<string, () => object> = { "pipeline.schema.json": () => pipeline, ...FILE_SCHEMAS };
    for (const [name, made] of Object.entries(files)) {
      const path = join(resolve(io.cwd, out), name);
      await writeAtomically(path, `${JSON.stringify(made(), null, 2)}\n`);
      io.stderr(`wrote ${path}\n`);
    }
    return EXIT.done;
  },
};
