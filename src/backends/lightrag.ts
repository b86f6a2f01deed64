/**
 * `lightrag`: a running LightRAG server, asked for what it retrieves (`/query/data`) or for an answer (`/query`).
 *
 * Retrieval gives files in an order and no scores; the order is what is measured. An answer is prose of the server's model, and keeps the
 * references that came with that very call: a second call may retrieve something else.
 */
import * as z from "zod";
import type { Json } from "../base/json.js";
import type { BackendEnvironment, BackendKind, Question, RawAnswer } from "./contract.js";
import { type Called, call, documents, documentsDigest, type LightragServer, pathOfSource } from "./lightrag-client.js";
import { lightragFindings } from "./lightrag-doctor.js";
import { rankedResponse } from "./ranked.js";

export const serverOptions = {
  url: z
    .url({ protocol: /^https?$/ })
    .default("http://127.0.0.1:9621")
    .describe("Address of lightrag-server."),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of an environment variable")
    .default("LIGHTRAG_API_KEY")
    .describe("Environment variable that holds the server's API key, if it wants one."),
};

const positive = z.number().int().positive().optional();

const options = z.strictObject({
  ...serverOptions,
  returns: z
    .enum(["files", "answer"])
    .default("files")
    .describe("`files`: what is retrieved, in order, no answer is generated (/query/data). `answer`: the model's text (/query)."),
  mode: z
    .enum(["local", "global", "hybrid", "naive", "mix", "bypass"])
    .default("mix")
    .describe("LightRAG's query mode. `bypass` asks the model without any retrieval."),
  top_k: positive.describe("Entities or relations to retrieve; default: the server's."),
  chunk_top_k: positive.describe("Chunks to retrieve; default: the server's."),
  max_entity_tokens: positive.describe("Tokens for entities in the context; default: the server's."),
  max_relation_tokens: positive.describe("Tokens for relations in the context; default: the server's."),
  max_total_tokens: positive.describe("Tokens of the whole context; default: the server's."),
  enable_rerank: z.boolean().optional().describe("Rerank chunks, if the server has a reranker; default: the server's."),
  response_type: z.string().min(1).optional().describe("Form of the answer that the model is asked for (`returns: answer`)."),
  user_prompt: z.string().min(1).optional().describe("Further instructions for the model (`returns: answer`)."),
  prompt: z
    .enum(["text", "text+format"])
    .optional()
    .describe("`text`: the issue alone (default for files). `text+format`: also task and answer format (default for answers)."),
  identity: z
    .unknown()
    .optional()
    .describe(
      "What the server runs on (models, index), part of the key. Not needed with an index-corpus stage. null: not cached.",
    ),
  timeout: z.number().positive().nullable().default(180).describe("Seconds per question; null = none."),
  concurrency: z.number().int().min(1).default(2).describe("Questions at once."),
});
type Options = z.infer<typeof options>;

export const lightrag: BackendKind<Options> = {
  kind: "lightrag",
  summary: "A running LightRAG server: what it retrieves, or what it answers.",
  version: 1,
  options,
  identityOf: (config) => {
    if (config.identity === null) return null;
    const { api_key_env: _key, timeout: _timeout, concurrency: _concurrency, identity, prompt: _prompt, ...rest } = config;
    return JSON.parse(JSON.stringify({ ...rest, prompt: promptOf(config), identity: identity ?? null })) as Json;
  },
  needsCorpus: false,
  usesIndex: () => "optional",
  readsTruth: false,
  readsDataset: false,
  prompt: promptOf,
  resource: ({ url }) => `lightrag:${url}`,
  concurrency: ({ concurrency }) => concurrency,
  timeout: ({ timeout }) => timeout,
  doctor: (config, environment) => lightragFindings(serverOf(config, environment), environment),
  open: async (config, environment) => {
    const server = serverOf(config, environment);
    // Asked once per index: does the server still hold what the stage put there?
    const checked = new Map<string, Promise<RawAnswer | null>>();
    return {
      ask: async (question, signal) => {
        if (question.index !== undefined) {
          const { digest } = question.index;
          let check = checked.get(digest);
          if (check === undefined) {
            check = stillHolds(server, digest, signal);
            checked.set(digest, check);
          }
          const problem = await check;
          if (problem !== null) {
            checked.delete(digest);
            return problem;
          }
        }
        return config.returns === "files" ? retrieve(config, server, question, signal) : answer(config, server, question, signal);
      },
      close: async () => {},
    };
  },
};

function promptOf({ prompt, returns }: Options): "text" | "text+format" {
  return prompt ?? (returns === "files" ? "text" : "text+format");
}

export function serverOf(
  { url, api_key_env }: Pick<Options, "url" | "api_key_env">,
  { env, fetch: given = fetch }: Pick<BackendEnvironment, "env"> & { readonly fetch?: typeof fetch },
): LightragServer {
  const key = env[api_key_env];
  return { url: url.replace(/\/+$/, ""), key: key === "" ? undefined : key, keyName: api_key_env, fetch: given };
}

async function stillHolds(server: LightragServer, digest: string, signal: AbortSignal): Promise<RawAnswer | null> {
  const stored = await documents(server, signal);
  if (!stored.ok) return failed(stored);
  if (documentsDigest(stored.value) === digest) return null;
  return {
    status: "failed",
    response: "",
    error: `the server at ${server.url} no longer holds the index that was built (${stored.value.length} documents are there, and other ones): run the index-corpus stage again with --force`,
    ofAll: "fail",
  };
}

function requestOf(config: Options, question: Question): Record<string, unknown> {
  const { mode, top_k, chunk_top_k, max_entity_tokens, max_relation_tokens, max_total_tokens, enable_rerank } = config;
  // Absent members leave the server's defaults in force; JSON drops what is undefined.
  return {
    query: question.prompt,
    mode,
    top_k,
    chunk_top_k,
    max_entity_tokens,
    max_relation_tokens,
    max_total_tokens,
    enable_rerank,
  };
}

async function retrieve(config: Options, server: LightragServer, question: Question, signal: AbortSignal): Promise<RawAnswer> {
  const answered = await call(server, "POST", "/query/data", requestOf(config, question), signal);
  if (!answered.ok) return failed(answered);
  const body = dataSchema.safeParse(answered.value);
  if (!body.success) {
    return failedWith(`LightRAG's retrieval has a form that is not understood: ${z.prettifyError(body.error).slice(0, 300)}`);
  }
  const { status, message, data, metadata } = body.data;
  const { chunks, entities, relationships, references } = data;
  const nothing = chunks.length + entities.length + relationships.length === 0;
  // "Nothing found" is reported as a failure by some releases; it is an answer, and an empty one.
  if (status === "failure" && !(nothing && NOTHING.test(message))) {
    return failedWith(`LightRAG could not retrieve: ${message.slice(0, 300)}`, {});
  }
  const seen = new Map<string, string>();
  const add = (from: string, paths: string) => {
    for (const source of paths.split("<SEP>")) {
      const path = pathOfSource(source.trim());
      if (path !== "" && path !== "unknown_source" && !seen.has(path)) seen.set(path, from);
    }
  };
  // Chunks come in order of relevance. Files that only the graph knows of follow, as they stand in the context.
  for (const { file_path } of chunks) add("chunk", file_path);
  for (const { file_path } of entities) add("entity", file_path);
  for (const { file_path } of relationships) add("relation", file_path);
  return {
    status: "completed",
    response: rankedResponse([...seen.keys()].map((path) => ({ path }))),
    details: {
      found: { chunks: chunks.length, entities: entities.length, relations: relationships.length, references: references.length },
      // Where each file came from, in the order of the answer; the chunks' texts would be the whole corpus over and over.
      sources: [...seen],
      chunk_ids: chunks.slice(0, MOST_IDS).map(({ chunk_id }) => String(chunk_id ?? "")),
      metadata,
    },
  };
}

async function answer(config: Options, server: LightragServer, question: Question, signal: AbortSignal): Promise<RawAnswer> {
  const request = {
    ...requestOf(config, question),
    response_type: config.response_type,
    user_prompt: config.user_prompt,
    include_references: true,
    include_chunk_content: true,
  };
  const answered = await call(server, "POST", "/query", request, signal);
  if (!answered.ok) return failed(answered);
  const body = answerSchema.safeParse(answered.value);
  if (!body.success)
    return failedWith(`LightRAG's answer has a form that is not understood: ${z.prettifyError(body.error).slice(0, 300)}`);
  const { response, references, response_time, llm_generated } = body.data;
  const details: Record<string, unknown> = {
    references: (references ?? []).map(({ reference_id, file_path, content }) => ({
      reference_id: reference_id ?? null,
      path: pathOfSource(file_path),
      chunks: content?.length ?? null,
    })),
    // Absent before some release: unknown is not `true`.
    llm_generated: llm_generated ?? null,
    server_seconds: response_time ?? null,
  };
  if (response.trim() === "" || response.trim() === SUBSTITUTE)
    return withoutAnswer(config, server, question, signal, response, details);
  return { status: "completed", response, details };
}

/**
 * What the server says in place of an empty text. It does so when nothing was found, and (since it swallows what its model's call raises)
 * also when the model failed: only a look at what it retrieves tells which one it was.
 */
const SUBSTITUTE = "No relevant context found for the query.";

async function withoutAnswer(
  config: Options,
  server: LightragServer,
  question: Question,
  signal: AbortSignal,
  response: string,
  details: Record<string, unknown>,
): Promise<RawAnswer> {
  const found = config.mode === "bypass" ? null : await retrieve(config, server, question, signal);
  if (found?.status === "completed" && response.trim() !== "" && found.response === rankedResponse([])) {
    return { status: "completed", response, details };
  }
  const why =
    found === null || found.status === "completed"
      ? "its model gave no text, or could not be asked"
      : (found.error ?? "it could not retrieve anything");
  return { ...failedWith(`LightRAG gave no answer: ${why}; its log says more`, {}), response, details };
}

const MOST_IDS = 500;
const NOTHING = /no (?:relevant|query)|not found|no results?|empty|no data/i;

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
const sourced = z
  .array(z.looseObject({ file_path: text }))
  .nullish()
  .transform((value) => value ?? []);
const dataSchema = z.looseObject({
  status: z.string().default("success"),
  message: text,
  data: z
    .looseObject({ entities: sourced, relationships: sourced, chunks: sourced, references: sourced })
    .nullish()
    .transform((value) => value ?? { entities: [], relationships: [], chunks: [], references: [] }),
  metadata: z.unknown().optional(),
});
const answerSchema = z.looseObject({
  response: z.string(),
  references: z
    .array(z.looseObject({ reference_id: z.string().nullish(), file_path: z.string(), content: z.array(z.string()).nullish() }))
    .nullish(),
  response_time: z.number().nullish(),
  llm_generated: z.boolean().nullish(),
});

function failed(called: Extract<Called<unknown>, { ok: false }>): RawAnswer {
  const { message, http, ...failure } = called.error;
  return { ...failure, response: "", error: message, details: { http_status: http } };
}

function failedWith(error: string, retry?: { readonly after?: number }): RawAnswer {
  return { status: "failed", response: "", error, ...(retry === undefined ? {} : { retry }) };
}
