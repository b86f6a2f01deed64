/** Texts to vectors: by an OpenAI-compatible endpoint, or by a local ONNX model where the optional package for it is installed. */
import * as z from "zod";
import { err, ok, type Result } from "../base/result.js";
import { scrubbed } from "./chat-call.js";
import { errorIn, failureOf, meantStatus, oneLine } from "./chat-failure.js";
import { exchange } from "./chat-http.js";
import { type ApiKey, readKey } from "./chat-key.js";
import { type BackendEnvironment, MissingTool, type RawAnswer, UnusableConfiguration } from "./contract.js";
import { PACKAGE } from "./embedding-doctor.js";
import { type EmbeddingOptions, embeddingEndpoint, isRemote, type RemoteOptions } from "./embedding-options.js";

export interface Embedded {
  /** In the order of the texts, each of length 1. */
  readonly vectors: readonly Float32Array[];
  /** null = the server does not say. */
  readonly tokens: number | null;
}

export interface EmbeddingModel {
  /** The error is a failed answer. Texts are at most as many as a batch has. */
  readonly embed: (texts: readonly string[], signal: AbortSignal) => Promise<Result<Embedded, RawAnswer>>;
}

/** Throws `UnusableConfiguration`. */
export async function openModel(options: EmbeddingOptions, environment: BackendEnvironment): Promise<EmbeddingModel> {
  return isRemote(options) ? remoteModel(options, environment) : localModel(options, environment);
}

const MOST_BYTES = 256 * 1024 * 1024;

const replySchema = z.object({
  data: z.array(z.object({ index: z.number().int().nonnegative().optional(), embedding: z.array(z.number()).min(1) })),
  usage: z
    .object({ prompt_tokens: z.number().nonnegative().nullish(), total_tokens: z.number().nonnegative().nullish() })
    .nullish(),
});

async function remoteModel(options: RemoteOptions, environment: BackendEnvironment): Promise<EmbeddingModel> {
  const key = await readKey(options, environment);
  const { url, host, open } = embeddingEndpoint(options);
  if (open && key.value !== null) environment.warn(`the key in ${key.place} travels unencrypted to ${host}: use https`);
  const who = `${host} (${options.model})`;
  return {
    embed: async (texts, signal) => {
      if (environment.offline === true) {
        const error = `${host} was not asked: this run is offline. Run it without --offline to ask what the cache does not have`;
        return err({ ...failed(error), asked: false });
      }
      const body = JSON.stringify({
        model: options.model,
        input: texts,
        encoding_format: "float",
        ...(options.dimensions === undefined ? {} : { dimensions: options.dimensions }),
      });
      const end = await exchange({ method: "POST", url, key: key.value, body, maxBytes: MOST_BYTES }, signal);
      if (end.type === "aborted") {
        const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
        if (timedOut)
          return err({ ...failed(`${who} gave no answer in time: raise \`timeout\` if it needs longer`), status: "timed_out" });
        return err(failed(`${who} was stopped before it answered`));
      }
      if (end.type !== "answer") {
        const what =
          end.type === "unreachable" ? `can't be reached (${end.code})` : `broke off in the middle of its answer (${end.type})`;
        return err({ ...failed(`${who} ${what}: check base_url, and whether the server runs`), retry: {} });
      }
      return replyOf(end.status, end.headers, scrubbed(end.body, key), {
        texts,
        who,
        options,
        key,
        now: environment.clock() * 1000,
      });
    },
  };
}

interface ReplyContext {
  readonly texts: readonly string[];
  readonly who: string;
  readonly options: RemoteOptions;
  readonly key: ApiKey;
  readonly now: number;
}

function replyOf(
  status: number,
  headers: Parameters<typeof failureOf>[1],
  body: string,
  { texts, who, options, key, now }: ReplyContext,
): Result<Embedded, RawAnswer> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    value = undefined;
  }
  const inside = errorIn(value);
  if (status >= 300 || inside !== null) {
    const said = inside ?? { message: oneLine(body), code: null, type: null };
    // Some gateways answer 200 with an error inside: its code says which status they mean.
    const meant = status < 300 ? meantStatus(said) : status;
    const context = {
      who,
      model: options.model,
      provider: options.provider,
      keyPlace: key.place,
      hasKey: key.value !== null,
      now,
    };
    return err({ response: "", ...failureOf(meant, headers, said, context), details: { http_status: status } });
  }
  const reply = replySchema.safeParse(value);
  if (!reply.success)
    return err(failed(`${who} answered with something that is no list of embeddings: ${oneLine(body).slice(0, 200)}`));
  const vectors = new Array<Float32Array | undefined>(texts.length);
  for (const [position, { index, embedding }] of reply.data.data.entries()) vectors[index ?? position] = unit(embedding);
  const whole = vectors.filter((vector) => vector !== undefined);
  const length = whole[0]?.length ?? 0;
  if (whole.length !== texts.length || vectors.length !== texts.length || whole.some((vector) => vector.length !== length)) {
    return err(failed(`${who} gave ${whole.length} embeddings for ${texts.length} texts, or some of another length`));
  }
  const { usage } = reply.data;
  return ok({ vectors: whole, tokens: usage?.prompt_tokens ?? usage?.total_tokens ?? null });
}

function failed(error: string): RawAnswer {
  return { status: "failed", response: "", error };
}

function unit(values: readonly number[] | Float32Array): Float32Array {
  let square = 0;
  for (const value of values) square += value * value;
  const length = Math.sqrt(square) || 1;
  return Float32Array.from(values, (value) => value / length);
}

/** What of the package is used. */
type Extractor = (texts: readonly string[], options: { pooling: "mean"; normalize: true }) => Promise<{ tolist(): number[][] }>;
interface Transformers {
  readonly pipeline: (task: "feature-extraction", model: string, options: { revision?: string }) => Promise<Extractor>;
  readonly env: { allowRemoteModels: boolean };
}

/** The package is no dependency: it weighs hundreds of megabytes and is for those who want it. */
async function localModel(options: EmbeddingOptions, environment: BackendEnvironment): Promise<EmbeddingModel> {
  let transformers: Transformers;
  try {
    // Named by a variable, so that nothing looks for it before somebody wants it.
    const name: string = PACKAGE;
    transformers = (await import(name)) as Transformers;
  } catch {
    throw new MissingTool(
      `embedding: provider local needs the package ${PACKAGE}, which is not installed: npm install ${PACKAGE}, or ask a server (provider: ollama, openai-compatible)`,
    );
  }
  if (environment.offline === true) transformers.env.allowRemoteModels = false;
  let extract: Extractor;
  try {
    extract = await transformers.pipeline(
      "feature-extraction",
      options.model,
      options.revision === undefined ? {} : { revision: options.revision },
    );
  } catch (error) {
    throw new UnusableConfiguration(`embedding: the model ${options.model} can't be loaded: ${oneLine(String(error))}`);
  }
  return {
    embed: async (texts, signal) => {
      signal.throwIfAborted();
      const output = await extract(texts, { pooling: "mean", normalize: true });
      return ok({ vectors: output.tolist().map(unit), tokens: null });
    },
  };
}
