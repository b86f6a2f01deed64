/** The options of `embedding`, and where it asks. */
import * as z from "zod";
import type { Json } from "../base/json.js";
import { chatEndpoint, PROVIDERS } from "./chat-url.js";

const ENVIRONMENT_NAME = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of an environment variable (the key itself must not stand here)");

export const embeddingOptions = z
  .strictObject({
    provider: z
      .enum([...PROVIDERS, "local"])
      .describe(
        "Whose `/embeddings` endpoint is asked; `local`: an ONNX model on this machine (needs @huggingface/transformers).",
      ),
    model: z.string().min(1).describe("The model's name, as the provider spells it (local: as its repository is called)."),
    revision: z.string().min(1).optional().describe("Local: branch or commit of the model's repository. Part of the key."),
    dimensions: z.number().int().min(1).optional().describe("Length of the vectors, for models that let one choose."),
    query_prefix: z.string().default("").describe("Put before the question, as some models want it (`query: `)."),
    passage_prefix: z.string().default("").describe("Put before each stretch of a file (`passage: `)."),
    chunk_lines: z.number().int().min(1).default(60).describe("Lines that are embedded together."),
    overlap: z.number().int().min(0).default(10).describe("Lines that a stretch shares with the one before."),
    top: z.number().int().min(1).default(15).describe("Longest list of files to answer with."),
    base_url: z.string().min(1).optional().describe("Address, with or without /v1; default: the provider's own."),
    api_key_env: ENVIRONMENT_NAME.optional().describe("Environment variable that holds the key."),
    api_key_file: z.string().min(1).optional().describe("File that holds the key, relative to the pipeline file."),
    batch: z.number().int().min(1).max(2048).default(64).describe("Stretches per call."),
    timeout: z.number().positive().nullable().default(null).describe("Seconds per question, indexing included; null = none."),
    concurrency: z.number().int().min(1).default(2).describe("Most calls at once."),
  })
  .check(({ value, issues }) => {
    const wrong = (path: string, message: string) => issues.push({ code: "custom", input: value, path: [path], message });
    if (value.overlap >= value.chunk_lines)
      wrong("overlap", "must be smaller than chunk_lines: each stretch has to begin later than the last");
    if (value.provider === "local") {
      for (const name of ["base_url", "api_key_env", "api_key_file", "dimensions"] as const) {
        if (value[name] !== undefined) wrong(name, "a local model has none");
      }
      return;
    }
    if (value.revision !== undefined) wrong("revision", "only local models have one: name a dated model instead");
    const endpoint = chatEndpoint(value.provider, value.base_url);
    if (!endpoint.ok) wrong("base_url", endpoint.error);
    if (value.api_key_env !== undefined && value.api_key_file !== undefined) {
      wrong("api_key_file", "give the key in one place: remove it or api_key_env");
    }
  });
export type EmbeddingOptions = z.infer<typeof embeddingOptions>;
export type RemoteOptions = EmbeddingOptions & { readonly provider: Exclude<EmbeddingOptions["provider"], "local"> };

export function isRemote(options: EmbeddingOptions): options is RemoteOptions {
  return options.provider !== "local";
}

/** Every provider has OpenAI's path beside its chat interface, Ollama too. */
export function embeddingEndpoint({ provider, base_url }: RemoteOptions): {
  readonly url: string;
  readonly host: string;
  readonly open: boolean;
} {
  const endpoint = chatEndpoint(provider, base_url);
  if (!endpoint.ok) throw new Error(endpoint.error);
  const { root, host, open } = endpoint.value;
  return { url: `${root}/v1/embeddings`, host, open };
}

/** What of the options shapes the vectors of a file; the other half of their name is the file's content. */
export function vectorIdentity(options: EmbeddingOptions): Json {
  const { provider, model, revision, dimensions, passage_prefix, chunk_lines, overlap } = options;
  return {
    ...{ version: 1, provider, endpoint: isRemote(options) ? embeddingEndpoint(options).url : null, model },
    ...{ revision: revision ?? null, dimensions: dimensions ?? null, passage_prefix, chunk_lines, overlap },
  };
}

export function embeddingIdentity(options: EmbeddingOptions): Json {
  return { vectors: vectorIdentity(options), query_prefix: options.query_prefix, top: options.top };
}
