/**
 * What is particular to Ollama: the context length.
 *
 * A prompt that is longer than `num_ctx` is cut by the server without a word, and the default is short (4,096 tokens on most machines). So the
 * length is set from the prompt's, in powers of two (a new length makes the server load the model again), never beyond what the model has;
 * newer servers are told to refuse instead of cutting; and with older ones a prompt that fills the context counts as cut.
 */
import { type Caller, scrubbed } from "./chat-call.js";
import { record } from "./chat-failure.js";
import { exchange } from "./chat-http.js";
import { endpointOf } from "./chat-options.js";
import type { Message } from "./chat-prompt.js";
import { UnusableConfiguration } from "./contract.js";

const SMALLEST = 4096;
/** Where the model's own length is unknown. */
const LARGEST = 131_072;
/** Room for the answer where its length is not limited. */
const ANSWER_TOKENS = 2048;
/** Tokens of the chat template around the messages. */
const FRAME_TOKENS = 64;
/** Few texts have more tokens than a third of their bytes, and none that a model reads has fewer than an eighth. */
const BYTES_PER_TOKEN_DENSE = 3;
const BYTES_PER_TOKEN_SPARSE = 8;
/** A prompt that fills the context to this share was cut, or leaves no room to answer. */
const FULL = 0.98;
const FACT_BYTES = 8 * 1024 * 1024;

export interface OllamaFacts {
  /** Tokens that the model can read; null = unknown. */
  readonly contextLength: number | null;
  /** Digest of the model's file; null = unknown. */
  readonly digest: string | null;
  readonly version: string | null;
}

/** Asks the server about itself and the model. What can't be learnt is null: the question itself will say why. */
export async function ollamaFacts(caller: Caller, signal: AbortSignal): Promise<OllamaFacts> {
  const { model } = caller.options;
  const [version, tags, shown] = await Promise.all([
    ask(caller, "GET", "/api/version", undefined, signal),
    ask(caller, "GET", "/api/tags", undefined, signal),
    ask(caller, "POST", "/api/show", { model }, signal),
  ]);
  const info = record(shown?.model_info) ?? {};
  const lengths = Object.entries(info).filter(
    ([name, value]) => name.endsWith(".context_length") && typeof value === "number" && value > 0,
  );
  const models = Array.isArray(tags?.models) ? tags.models.map(record) : [];
  const wanted = new Set([model, `${model}:latest`]);
  const found = models.find((one) => wanted.has(String(one?.name)) || wanted.has(String(one?.model)));
  return {
    contextLength: typeof lengths[0]?.[1] === "number" ? lengths[0][1] : null,
    digest: typeof found?.digest === "string" ? found.digest : null,
    version: typeof version?.version === "string" ? version.version : null,
  };
}

/** null = no answer, or none that can be used. The signal is the question's: a server that hangs here would hang there. */
async function ask(caller: Caller, method: "GET" | "POST", path: string, body: unknown, signal: AbortSignal) {
  const url = endpointOf(caller.options).root + path;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const end = await exchange({ method, url, key: caller.key.value, maxBytes: FACT_BYTES, ...sent }, signal);
  if (end.type !== "answer" || end.status !== 200) return null;
  try {
    return record(JSON.parse(scrubbed(end.body, caller.key)));
  } catch {
    return null;
  }
}

/** Throws `UnusableConfiguration` where the model on the server is known to be another one than the pipeline wants. */
export function checkRevision(wanted: string | undefined, { digest }: OllamaFacts, model: string): void {
  if (wanted === undefined || digest === null) return;
  const bare = (text: string) => text.replace(/^sha256:/, "").toLowerCase();
  if (bare(digest).startsWith(bare(wanted))) return;
  throw new UnusableConfiguration(
    `the server's ${model} is revision ${bare(digest).slice(0, 12)}, the pipeline wants ${bare(wanted).slice(0, 12)}: pull that one, or change \`revision\` (which asks everything again)`,
  );
}

export interface ContextPlan {
  /** Context lengths to try, one after the other, while the prompt does not fit. */
  readonly lengths: readonly number[];
  /** Set where no length would do; nothing is sent then. */
  readonly problem: string | null;
}

export function planContext(
  messages: readonly Message[],
  policy: "auto" | number,
  maxTokens: number | null,
  contextLength: number | null,
): ContextPlan {
  const bytes = messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const least = Math.ceil(bytes / BYTES_PER_TOKEN_SPARSE);
  const limit = policy === "auto" ? (contextLength ?? LARGEST) : policy;
  if (least > limit) return { lengths: [], problem: tooLong(least, limit, policy, contextLength) };
  if (policy !== "auto") return { lengths: [policy], problem: null };
  const needed = Math.ceil(bytes / BYTES_PER_TOKEN_DENSE) + FRAME_TOKENS + (maxTokens ?? ANSWER_TOKENS);
  const lengths: number[] = [];
  for (let length = SMALLEST; lengths.at(-1) !== limit; length *= 2) {
    if (length >= needed || length >= limit) lengths.push(Math.min(length, limit));
  }
  return { lengths, problem: null };
}

function tooLong(tokens: number, limit: number, policy: "auto" | number, contextLength: number | null): string {
  const whose =
    policy !== "auto"
      ? "num_ctx gives"
      : contextLength === null
        ? "are tried at most, as the model's own limit is unknown:"
        : "the model has";
  const room = policy === "auto" && contextLength === null ? `${whose} ${limit}` : `${whose} ${limit}`;
  return `the prompt has at least ${tokens} tokens, ${room}: shorten the context, or take a model that reads more`;
}

/** The server read as much as fits: it cut the prompt, or left no room to answer. */
export function fillsContext(promptTokens: number | null, numCtx: number): boolean {
  return promptTokens !== null && promptTokens >= numCtx * FULL;
}
