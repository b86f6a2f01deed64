/** The bodies that the chat interfaces want. Pure. The seed has three names, the limit of the answer's length three more. */
import { type ChatOptions, responseFormatOf } from "./chat-options.js";
import { ANSWER_SCHEMA, type Message } from "./chat-prompt.js";

/** `POST /v1/chat/completions` of OpenAI, Mistral and what is compatible. */
export function completionBody(options: ChatOptions, messages: readonly Message[], repeat: number): Record<string, unknown> {
  const { provider, model, temperature, max_tokens } = options;
  const format = responseFormatOf(options);
  const seed = seedOf(options, repeat);
  return {
    model,
    messages,
    stream: false,
    ...(temperature === null ? {} : { temperature }),
    // OpenAI's reasoning models refuse the older name; its other models take both.
    ...(max_tokens === null ? {} : { [provider === "openai" ? "max_completion_tokens" : "max_tokens"]: max_tokens }),
    ...(seed === null ? {} : { [provider === "mistral" ? "random_seed" : "seed"]: seed }),
    ...(format === "json" ? { response_format: { type: "json_object" } } : {}),
    ...(format === "json-schema"
      ? { response_format: { type: "json_schema", json_schema: { name: "classes", strict: true, schema: ANSWER_SCHEMA } } }
      : {}),
    ...options.parameters,
  };
}

/** Members of Ollama's request that do not stand among its `options`. */
const TOP_LEVEL: ReadonlySet<string> = new Set(["think", "keep_alive", "tools", "logprobs", "top_logprobs"]);

/** `POST /api/chat` of Ollama. */
export function ollamaBody(
  options: ChatOptions,
  messages: readonly Message[],
  repeat: number,
  numCtx: number,
): Record<string, unknown> {
  const { model, temperature, max_tokens, parameters } = options;
  const format = responseFormatOf(options);
  const seed = seedOf(options, repeat);
  const entries = Object.entries(parameters);
  return {
    model,
    messages,
    stream: false,
    ...(format === "json" ? { format: "json" } : {}),
    ...(format === "json-schema" ? { format: ANSWER_SCHEMA } : {}),
    // Servers that know these refuse a prompt that is too long instead of cutting it; others ignore them.
    truncate: false,
    shift: false,
    ...Object.fromEntries(entries.filter(([name]) => TOP_LEVEL.has(name))),
    options: {
      num_ctx: numCtx,
      ...(temperature === null ? {} : { temperature }),
      ...(max_tokens === null ? {} : { num_predict: max_tokens }),
      ...(seed === null ? {} : { seed }),
      ...Object.fromEntries(entries.filter(([name]) => !TOP_LEVEL.has(name))),
    },
  };
}

/** Repeats with one seed would all be the same answer. */
function seedOf({ seed }: ChatOptions, repeat: number): number | null {
  return seed === null ? null : seed + repeat;
}
