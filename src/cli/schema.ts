/** `bench schema [--out FOLDER]`: JSON Schemas, generated from the same zod schemas that check the files. */
import { join, resolve } from "node:path";
import { writeAtomically } from "../engine/record.js";
import { pipelineJsonSchema } from "../pipeline/json-schema.js";
import { stageKinds } from "../stages/registry.js";
import { type Command, EXIT, UsageError } from "./contract.js";
import { text } from "./options.js";

export const command: Command = {
  usage: "schema",
  summary: "Write the JSON Schema of pipeline files, for editors",
  options: [{ flag: "--out <folder>", description: "Write files there instead of printing the schema" }],
  run: async (_args, options, io) => {
    const kinds = await stageKinds({ extensions: [], folder: io.cwd });
    if (!kinds.ok) throw new UsageError(kinds.error);
    const schema = `${JSON.stringify(pipelineJsonSchema(kinds.value), null, 2)}\n`;
    const out = text(options, "out");
    if (out === undefined) io.stdout(schema);
    else {
      const path = join(resolve(io.cwd, out), "pipeline.schema.json");
      await writeAtomically(path, schema);
      io.stderr(`wrote ${path}\n`);
    }
    return EXIT.done;
  },
};
