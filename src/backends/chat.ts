/**
 * `chat`: a language model behind a chat interface (Ollama, OpenAI, Mistral, or compatible with OpenAI's), asked once per case.
 *
 * No provider's library: what a benchmark needs (the context length that Ollama takes only natively, the seed's three names, quota told from
 * rate, every failure as data, no second try that the run does not see) is what they differ in or leave out.
 */
import type * as z from "zod";
import { type CallEnd, type Caller, call } from "./chat-call.js";
import { type ContextSource, contextCharacters, openContext } from "./chat-context.js";
import { chatDoctor } from "./chat-doctor.js";
import { type ApiKey, readKey } from "./chat-key.js";
import { checkRevision, fillsContext, type OllamaFacts, ollamaFacts, planContext } from "./chat-ollama.js";
import {
  type ChatOptions,
  chatIdentity,
  chatOptions,
  endpointOf,
  type InnerConfig,
  type InnerKinds,
  innerOf,
} from "./chat-options.js";
import { type Message, messagesOf, readTemplate, type Template } from "./chat-prompt.js";
import { type ChatReply, readCompletion, readOllama } from "./chat-reply.js";
import { completionBody, ollamaBody } from "./chat-requests.js";
import type { BackendEnvironment, BackendKind, Estimator, Question, RawAnswer } from "./contract.js";
import { innerFindings } from "./inner-doctor.js";
import { costOf, loadPrices, type Price, priceOf } from "./prices.js";

/** Characters of a token in English and in code, roughly; for estimates only. */
const CHARACTERS_PER_TOKEN = 4;
/** Tokens of a list of some files as JSON; thinking comes on top and is unknown. */
const USUAL_ANSWER = 500;
/** Beyond this, the details name the messages by their digest instead of repeating them. */
const LONGEST_PAYLOAD = 65_536;

/** `kinds`: backends whose files a model may be shown; `schema`: of their configuration. */
export function chat(kinds: InnerKinds, schema: z.ZodType<InnerConfig>): BackendKind<ChatOptions> {
  const inner = ({ context }: ChatOptions) => (typeof context === "string" ? null : innerOf(context, kinds));
  return {
    kind: "chat",
    summary: "A language model behind a chat interface: Ollama, OpenAI, Mistral, or one that is compatible.",
    version: 1,
    options: chatOptions(schema),
    identityOf: (options) => chatIdentity(options, kinds),
    fingerprint: async (options, environment) => {
      const template = await readTemplate(options, environment);
      const retriever = inner(options);
      const content = await retriever?.kind.fingerprint?.(retriever.options, environment);
      return { template: template?.digest ?? null, retriever: content ?? null };
    },
    needsCorpus: ({ context }) => context !== "none",
    usesIndex: (options) => {
      const retriever = inner(options);
      return retriever?.kind.usesIndex?.(retriever.options) ?? "no";
    },
    readsTruth: false,
    readsDataset: false,
    reads: (options) => {
      const retriever = inner(options);
      const fields = retriever?.kind.reads?.(retriever.options) ?? [];
      return [...new Set([...fields, ...(options.template === undefined ? [] : (["repository"] as const))])];
    },
    prompt: "text+format",
    // Rates are limited per account and model; a local server does one thing at a time, whichever model is asked.
    resource: (options) => `chat:${endpointOf(options).host}${options.provider === "ollama" ? "" : `:${options.model}`}`,
    concurrency: ({ provider, concurrency }) => concurrency ?? (provider === "ollama" ? 1 : 4),
    adaptive: true,
    breaker: 10,
    timeout: ({ timeout }) => timeout,
    estimator: async (options, { baseFolder }) =>
      estimator(options, priceOf(await loadPrices(options.prices, baseFolder), options.provider, options.model)),
    open: async (options, environment) => {
      const key = await readKey(options, environment);
      const endpoint = endpointOf(options);
      if (endpoint.open && key.value !== null)
        environment.warn(`the key in ${key.place} travels unencrypted to ${endpoint.host}: use https`);
      const price = priceOf(await loadPrices(options.prices, environment.baseFolder), options.provider, options.model);
      const template = await readTemplate(options, environment);
      const context = await openContext(options.context, kinds, environment);
      const session = new Session(options, environment, { key, price, template, context });
      return { ask: (question, signal) => session.ask(question, signal), close: () => context.close() };
    },
    doctor: async (options, environment) => {
      const retriever = inner(options);
      const found = await chatDoctor(options, environment);
      if (retriever === null) return found;
      const shown = { name: `context: ${retriever.kind.kind}`, ...retriever };
      return [...found, ...(await innerFindings([shown], environment))];
    },
  };
}

function estimator(options: ChatOptions, price: Price | null): Estimator {
  const around = options.system?.length ?? 0;
  return ({ prompt, corpus }) => {
    const input = Math.ceil((around + prompt.length + contextCharacters(options.context, corpus)) / CHARACTERS_PER_TOKEN);
    const output = Math.min(options.max_tokens ?? USUAL_ANSWER, Math.max(USUAL_ANSWER, (options.max_tokens ?? 0) / 4));
    return { tokens: input + Math.ceil(output), usd: costOf(price, { input, output }) };
  };
}

interface Opened {
  readonly key: ApiKey;
  readonly price: Price | null;
  readonly template: Template | null;
  readonly context: ContextSource;
}

class Session {
  readonly #options: ChatOptions;
  readonly #opened: Opened;
  readonly #caller: Caller;
  readonly #offline: boolean;
  readonly #clock: () => number;
  #facts: Promise<OllamaFacts> | undefined;

  constructor(options: ChatOptions, environment: BackendEnvironment, opened: Opened) {
    this.#options = options;
    this.#opened = opened;
    this.#caller = { options, key: opened.key, environment };
    this.#offline = environment.offline === true;
    this.#clock = environment.clock;
  }

  async ask(question: Question, signal: AbortSignal): Promise<RawAnswer> {
    const endpoint = endpointOf(this.#options);
    if (this.#offline) {
      const why = "this run is offline. Run it without --offline to ask what the cache does not have";
      return { ...failure(`${endpoint.host} was not asked: ${why}`), asked: false };
    }
    const shown = await this.#opened.context.show(question, signal);
    if (!shown.ok) return { ...shown.error, asked: false };
    const messages = messagesOf(this.#options.system, this.#opened.template, question, shown.value.text);
    const details: Record<string, unknown> = { provider: this.#options.provider, request_url: endpoint.shown };
    if (shown.value.details !== null) details.context = shown.value.details;

    const started = this.#clock();
    const end =
      this.#options.provider === "ollama"
        ? await this.#askOllama(messages, question.repeat, details, signal)
        : await this.#complete(messages, question.repeat, details, signal);
    details.call_seconds = Math.max(0, this.#clock() - started);
    if (end.type === "failed") return { ...end.answer, details: { ...details, ...end.answer.details } };
    return this.#answer(end.reply, details);
  }

  async #complete(
    messages: readonly Message[],
    repeat: number,
    details: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<CallEnd> {
    const body = completionBody(this.#options, messages, repeat);
    details.request_payload = shownPayload(body, messages);
    return call(this.#caller, body, readCompletion, signal);
  }

  async #askOllama(
    messages: readonly Message[],
    repeat: number,
    details: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<CallEnd> {
    const facts = await this.#ollamaFacts(signal);
    const { model, revision, max_tokens } = this.#options;
    details.revision = facts.digest;
    details.server_version = facts.version;
    try {
      checkRevision(revision, facts, model);
    } catch (error) {
      return {
        type: "failed",
        tooLong: false,
        answer: { ...failure(error instanceof Error ? error.message : String(error)), asked: false },
      };
    }
    const plan = planContext(messages, this.#options.num_ctx ?? "auto", max_tokens, facts.contextLength);
    if (plan.problem !== null) return { type: "failed", tooLong: true, answer: { ...failure(plan.problem), asked: false } };
    let last: CallEnd | undefined;
    for (const numCtx of plan.lengths) {
      const body = ollamaBody(this.#options, messages, repeat, numCtx);
      details.num_ctx = numCtx;
      details.request_payload = shownPayload(body, messages);
      const end = await call(this.#caller, body, readOllama, signal);
      if (end.type === "reply" && !fillsContext(end.reply.usage.input, numCtx)) return end;
      if (end.type === "failed" && !end.tooLong) return end;
      // The answer to a prompt that was cut is the answer to another question.
      last =
        end.type === "failed"
          ? end
          : { type: "failed", tooLong: true, answer: cut(end.reply, numCtx, endpointOf(this.#options).host) };
    }
    return last ?? { type: "failed", tooLong: true, answer: failure("no context length could be tried") };
  }

  /** Once per run; asked for again only if the server was not there. */
  async #ollamaFacts(signal: AbortSignal): Promise<OllamaFacts> {
    this.#facts ??= ollamaFacts(this.#caller, signal);
    const facts = await this.#facts;
    if (facts.version === null && facts.contextLength === null) this.#facts = undefined;
    return facts;
  }

  #answer(reply: ChatReply, details: Record<string, unknown>): RawAnswer {
    const { price } = this.#opened;
    const { usage } = reply;
    details.served_model = reply.servedModel;
    if (reply.fingerprint !== null) details.system_fingerprint = reply.fingerprint;
    if (reply.reasoning !== null) details.reasoning = reply.reasoning;
    if (reply.refused) details.refused = true;
    if (usage.cached !== null) details.cached_tokens = usage.cached;
    if (price !== null) details.price = price;
    return {
      status: reply.finish === "length" ? "truncated" : "completed",
      response: reply.text,
      finish_reason: reply.finish,
      usage: {
        input_tokens: usage.input,
        output_tokens: usage.output,
        reasoning_tokens: usage.reasoning,
        cost_usd: costOf(price, usage),
      },
      details,
    };
  }
}

function failure(error: string): RawAnswer {
  return { status: "failed", response: "", error };
}

function cut({ usage, finish }: ChatReply, numCtx: number, host: string): RawAnswer {
  const error = `${host} read ${usage.input} tokens of the prompt, all that a context of ${numCtx} has room for: the rest was cut off. Raise num_ctx, shorten the context, or take a model that reads more`;
  return { ...failure(error), finish_reason: finish };
}

/** The request as it was sent; long messages by their length, since the answer's prompt and context say what they were made of. */
function shownPayload(body: Record<string, unknown>, messages: readonly Message[]): Record<string, unknown> {
  const total = messages.reduce((sum, { content }) => sum + content.length, 0);
  if (total <= LONGEST_PAYLOAD) return body;
  return { ...body, messages: messages.map(({ role, content }) => ({ role, characters: content.length })) };
}
