/** The options of `chat`, and what of them shapes the answers. */
import * as z from "zod";
import { canonicalJson, type Json } from "../base/json.js";
import { chatEndpoint, type Endpoint, PROVIDERS } from "./chat-url.js";
import type { AnyKind } from "./contract.js";

export const DEFAULT_SYSTEM =
  "You find the places in a source repository that an issue report is about. You know the conventions of the language and of its build tools. " +
  "Answer with nothing but what the required answer format allows.";

/** The part of the registry's kinds that a context may come from. */
export type InnerKinds = ReadonlyMap<string, AnyKind>;
export type InnerConfig = { readonly kind: string; readonly name?: string } & Readonly<Record<string, unknown>>;

const RESPONSE_FORMATS = ["json-schema", "json", "text"] as const;
const ENVIRONMENT_NAME = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of an environment variable (the key itself must not stand here)");
/** Members of a request that have options of their own, or on which the reading of the answer rests. */
const OWN_MEMBERS = new Set([
  "model",
  "messages",
  "stream",
  "format",
  "response_format",
  "options",
  "n",
  "temperature",
  "seed",
  "random_seed",
  "max_tokens",
  "max_completion_tokens",
  "num_ctx",
  "num_predict",
]);

const DEFAULT_FILES = 10;
const DEFAULT_CHARACTERS = 60_000;

/** `inner`: schema of `context.backend`. */
export function chatOptions(inner: z.ZodType<InnerConfig>) {
  const fromBackend = z.strictObject({
    backend: inner.describe("The retriever whose best files the model is shown; its options are part of the key."),
    files: z.number().int().min(1).max(1000).default(DEFAULT_FILES).describe("At most so many of its files."),
    max_characters: z
      .number()
      .int()
      .min(100)
      .default(DEFAULT_CHARACTERS)
      .describe("At most so much text of them together; the last one is cut at a line's end."),
  });
  return z
    .strictObject({
      provider: z
        .enum(PROVIDERS)
        .describe("Whose interface it is. `ollama` is asked natively; `openai-compatible` needs `base_url`."),
      model: z.string().min(1).describe("The model's name, as the provider spells it."),
      revision: z
        .string()
        .min(6)
        .optional()
        .describe("Ollama: digest of the model (or its beginning); another one on the server is not asked. Part of the key."),
      temperature: z.number().min(0).max(2).nullable().default(0).describe("null: not sent, for models that take none."),
      max_tokens: z
        .number()
        .int()
        .min(1)
        .nullable()
        .default(null)
        .describe("Longest answer in tokens, thinking included; null = the provider's."),
      seed: z
        .number()
        .int()
        .nullable()
        .default(null)
        .describe("Seed of the first repeat; the next ones count up. null = none is sent."),
      base_url: z.string().min(1).optional().describe("Address, with or without /v1; default: the provider's own."),
      system: z.string().nullable().default(DEFAULT_SYSTEM).describe("System prompt; null = none."),
      template: z
        .string()
        .min(1)
        .optional()
        .describe(
          "File with the user prompt, relative to the pipeline file. Placeholders: {prompt} {title} {description} {format} {task} {context} {repo} {id}.",
        ),
      response_format: z
        .enum(RESPONSE_FORMATS)
        .optional()
        .describe("What the provider holds the answer to; default: json-schema, and text for openai-compatible."),
      context: z
        .union([z.enum(["none", "files"]), fromBackend], {
          error: "must be none, files, or a mapping such as { backend: { kind: bm25 }, files: 10 }",
        })
        .default("none")
        .describe("What of the repository the model sees: nothing, the list of its files, or the best files of a retriever."),
      num_ctx: z
        .union([z.literal("auto"), z.number().int().min(256)])
        .optional()
        .describe("Ollama: context length in tokens; auto (default) = as long as the prompt needs."),
      parameters: z
        .record(z.string(), z.json())
        .default({})
        .describe(
          "Further members of the request, sent as they are (reasoning_effort, top_p; Ollama: its options, think, keep_alive).",
        ),
      api_key_env: ENVIRONMENT_NAME.optional().describe("Environment variable that holds the key."),
      api_key_file: z.string().min(1).optional().describe("File that holds the key, relative to the pipeline file."),
      prices: z
        .string()
        .min(1)
        .optional()
        .describe("Your own price table (YAML), looked into before the one that comes with bench."),
      timeout: z.number().positive().nullable().default(180).describe("Seconds per question; null = none."),
      concurrency: z.number().int().min(1).optional().describe("Most calls at once; default 4, for ollama 1."),
    })
    .check(({ value, issues }) => {
      const wrong = (path: string, message: string) => issues.push({ code: "custom", input: value, path: [path], message });
      const endpoint = chatEndpoint(value.provider, value.base_url);
      if (!endpoint.ok) wrong("base_url", endpoint.error);
      if (value.num_ctx !== undefined && value.provider !== "ollama")
        wrong("num_ctx", "only Ollama can be told its context length");
      if (value.revision !== undefined && value.provider !== "ollama") {
        wrong("revision", "only Ollama tells the revision of a model: name a dated model instead");
      }
      if (value.api_key_env !== undefined && value.api_key_file !== undefined)
        wrong("api_key_file", "give the key in one place: remove it or api_key_env");
      const own = Object.keys(value.parameters).find((name) => OWN_MEMBERS.has(name) || name === "__proto__");
      if (own !== undefined)
        wrong("parameters", `must not hold ${JSON.stringify(own)}: it is an option of its own, or bench's business`);
    });
}
export type ChatOptions = z.infer<ReturnType<typeof chatOptions>>;
export type BackendContext = Exclude<ChatOptions["context"], string>;
export type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

/** The endpoint of checked options. */
export function endpointOf({ provider, base_url }: Pick<ChatOptions, "provider" | "base_url">): Endpoint {
  const endpoint = chatEndpoint(provider, base_url);
  if (!endpoint.ok) throw new Error(endpoint.error);
  return endpoint.value;
}

export function responseFormatOf({ provider, response_format }: ChatOptions): ResponseFormat {
  return response_format ?? (provider === "openai-compatible" ? "text" : "json-schema");
}

/** The kind and the options of a context's backend. */
export function innerOf({ backend }: BackendContext, kinds: InnerKinds) {
  const { kind: name, name: _label, ...options } = backend;
  const kind = kinds.get(name);
  if (kind === undefined) throw new Error(`the checked configuration names an unknown backend kind ${name}`);
  return { kind, options };
}

/**
 * Everything that shapes an answer and stands in the options. The model's revision only where it is stated: asking the server for it
 * would make keys depend on whether the server runs today, and answers that were paid for would be out of reach without it.
 */
export function chatIdentity(options: ChatOptions, kinds: InnerKinds): Json | null {
  const { provider, model, temperature, max_tokens, seed, system, parameters } = options;
  const context = contextIdentity(options.context, kinds);
  if (context === null) return null;
  const identity = {
    provider,
    endpoint: endpointOf(options).shown,
    model,
    revision: options.revision,
    temperature,
    max_tokens,
    seed,
    system,
    response_format: responseFormatOf(options),
    num_ctx: provider === "ollama" ? (options.num_ctx ?? "auto") : undefined,
    parameters,
    context,
  };
  return JSON.parse(canonicalJson(identity)) as Json;
}

function contextIdentity(context: ChatOptions["context"], kinds: InnerKinds): Json | null {
  if (typeof context === "string") return context;
  const { kind, options } = innerOf(context, kinds);
  const identity = kind.identityOf(options);
  if (identity === null) return null;
  return {
    backend: { kind: kind.kind, version: kind.version, identity },
    files: context.files,
    max_characters: context.max_characters,
  };
}
