/**
 * `graphrag`: Microsoft's GraphRAG command line. Its options and their place in the key are settled, so that pipelines can name it and
 * `bench plan` explains them; asking it comes with a later version, and until then opening it says so.
 */
import * as z from "zod";
import { type BackendKind, UnusableConfiguration } from "./contract.js";

/** What GraphRAG is asked to answer with: the original program's demand, which old reports were made with. */
const RESPONSE_TYPE = 'JSON object {"classes": [{"path": "src/main/java/com/example/Name.java"}]}, no other text';

const options = z.strictObject({
  dir: z
    .string()
    .min(1)
    .default("../graphrag")
    .describe("Folder with GraphRAG's settings and index, relative to the pipeline file."),
  method: z.enum(["local", "global", "drift", "basic"]).default("local").describe("Search method."),
  mode: z
    .enum(["auto", "venv", "uv"])
    .default("auto")
    .describe("How GraphRAG is started: its folder's .venv, `uv run`, or whichever is there."),
  data: z.string().min(1).default("./output").describe("Folder of the index, relative to `dir`."),
  community_level: z.number().int().min(0).optional().describe("Level of the community hierarchy; default: GraphRAG's own."),
  response_type: z.string().min(1).default(RESPONSE_TYPE).describe("Form of the answer that GraphRAG is asked for."),
  timeout: z.number().positive().nullable().default(180).describe("Seconds per question; null = none."),
});

export const graphrag: BackendKind<z.infer<typeof options>> = {
  kind: "graphrag",
  summary: "GraphRAG's command line; comes with a later version.",
  version: 1,
  options,
  // Where the folder lies and how the program is started change no answer; what is in the index does, and its digest comes with the asking.
  identityOf: ({ method, community_level, response_type }) => ({
    method,
    community_level: community_level ?? null,
    response_type,
  }),
  needsCorpus: false,
  readsTruth: false,
  readsDataset: false,
  prompt: "text+format",
  concurrency: () => 1,
  timeout: ({ timeout }) => timeout,
  open: async () => {
    throw new UnusableConfiguration(
      "the graphrag backend comes with a later version; leave its cells out with --only, or ask GraphRAG through the `command` backend",
    );
  },
};
