/**
 * What the chat interfaces answer with, in one shape. Pure: a parsed body in, a reply or what is wrong with it out. Every member is looked at
 * before it is believed: servers that call themselves compatible leave out, rename and null things.
 */
import { err, ok, type Result } from "../base/result.js";
import { record } from "./chat-failure.js";

export interface ChatReply {
  /** As the model said it, inline thinking included. */
  readonly text: string;
  /** Thinking that came apart from the text; null = none. */
  readonly reasoning: string | null;
  /** `stop`, `length`, `content_filter`, or whatever the server says; null = it does not. */
  readonly finish: string | null;
  /** The server says that the model declined. */
  readonly refused: boolean;
  /** The model that answered, by the server's account: an alias is resolved here. */
  readonly servedModel: string | null;
  readonly fingerprint: string | null;
  /** Absent counts are unknown. */
  readonly usage: {
    readonly input: number | null;
    readonly output: number | null;
    readonly reasoning: number | null;
    /** Part of the input that the provider had read before, where it says so. */
    readonly cached: number | null;
  };
}

/** The error: what is wrong, and whether another try may help. */
export type ReplyResult = Result<ChatReply, { readonly message: string; readonly again: boolean }>;

/** A body of `/v1/chat/completions`. */
export function readCompletion(body: Record<string, unknown>): ReplyResult {
  const { choices } = body;
  if (!Array.isArray(choices)) return wrong("the answer has no `choices`: does base_url lead to a chat interface?", false);
  const choice = record(choices[0]);
  if (choice === null) return wrong("the answer has an empty list of choices", true);
  const message = record(choice.message);
  const finish = string(choice.finish_reason);
  const refusal = string(message?.refusal);
  const content = message?.content;
  // Some old servers complete text instead of answering a message.
  const said = parts(content) ?? { text: string(choice.text), thinking: null };
  const reasoning =
    [said.thinking, string(message?.reasoning_content), string(message?.reasoning)].find(
      (text) => text !== null && text !== "",
    ) ?? null;
  const text = said.text ?? refusal;
  const filtered = finish === "content_filter" || refusal !== null;
  if (!filtered && finish !== "length" && isBlank(text)) return blank(message?.tool_calls, reasoning);
  const usage = record(body.usage);
  return ok({
    text: text ?? "",
    reasoning,
    finish,
    refused: filtered,
    servedModel: string(body.model),
    fingerprint: string(body.system_fingerprint),
    usage: {
      input: countOf(usage?.prompt_tokens),
      output: countOf(usage?.completion_tokens),
      reasoning: countOf(record(usage?.completion_tokens_details)?.reasoning_tokens),
      cached: countOf(record(usage?.prompt_tokens_details)?.cached_tokens),
    },
  });
}

/** A body of Ollama's `/api/chat`, not streamed. */
export function readOllama(body: Record<string, unknown>): ReplyResult {
  const message = record(body.message);
  if (message === null) return wrong("the answer has no `message`: does base_url lead to an Ollama server?", false);
  if (body.done === false) return wrong("the answer is only a part of one, although it was not asked for in parts", true);
  const finish = string(body.done_reason);
  const text = string(message.content);
  if (finish === "load" || finish === "unload") return wrong(`the server only ${finish}ed the model`, true);
  const reasoning = string(message.thinking);
  if (finish !== "length" && isBlank(text)) return blank(message.tool_calls, reasoning === "" ? null : reasoning);
  return ok({
    text: text ?? "",
    reasoning: reasoning === "" ? null : reasoning,
    finish,
    refused: false,
    servedModel: string(body.model),
    fingerprint: null,
    usage: { input: countOf(body.prompt_eval_count), output: countOf(body.eval_count), reasoning: null, cached: null },
  });
}

/** Nothing to read: not "I don't know", which a model says in words, but a server's hiccup or a model that ended before it spoke. */
function isBlank(text: string | null): boolean {
  return text === null || text.trim() === "";
}

function blank(calls: unknown, reasoning: string | null): ReplyResult {
  if (Array.isArray(calls) && calls.length > 0) return wrong("the model called a tool instead of answering", false);
  return wrong(reasoning === null ? "the answer holds no text" : "the model thought, and its answer holds no text", true);
}

function wrong(message: string, again: boolean): ReplyResult {
  return err({ message, again });
}

/** Content in parts: texts joined by line breaks as the original joins them, thinking apart (Mistral's reasoning models). */
function parts(content: unknown): { text: string | null; thinking: string | null } | null {
  if (typeof content === "string") return { text: content, thinking: null };
  if (!Array.isArray(content)) return null;
  const texts: string[] = [];
  const thoughts: string[] = [];
  for (const entry of content) {
    const part = record(entry);
    const thinking = part?.type === "thinking" || part?.type === "reasoning";
    const nested = thinking && Array.isArray(part?.thinking) ? parts(part.thinking)?.text : null;
    const text = typeof entry === "string" ? entry : (nested ?? string(part?.text) ?? (thinking ? string(part?.thinking) : null));
    if (text !== null && text !== undefined) (thinking ? thoughts : texts).push(text);
  }
  return { text: texts.length === 0 ? null : texts.join("\n"), thinking: thoughts.length === 0 ? null : thoughts.join("\n") };
}

function string(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A count of tokens; anything else than a whole number of at least 0 is unknown. */
function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
