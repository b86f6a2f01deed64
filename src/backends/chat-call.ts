/**
 * One call of a chat model, from the request to the answer or the reason why there is none.
 *
 * The key is taken out of whatever the server sends before anybody reads it: servers quote keys in their errors.
 */

import {
  errorIn,
  type FailureContext,
  failureOf,
  isTooLong,
  meantStatus,
  oneLine,
  record,
  type ServerError,
} from "./chat-failure.js";
import { exchange, type HttpEnd } from "./chat-http.js";
import type { ApiKey } from "./chat-key.js";
import type { ChatOptions } from "./chat-options.js";
import { endpointOf } from "./chat-options.js";
import type { ChatReply, ReplyResult } from "./chat-reply.js";
import type { BackendEnvironment, RawAnswer } from "./contract.js";

const MOST_BYTES = 16 * 1024 * 1024;

export interface Caller {
  readonly options: ChatOptions;
  readonly key: ApiKey;
  readonly environment: Pick<BackendEnvironment, "clock">;
}

export type CallEnd =
  | { readonly type: "reply"; readonly reply: ChatReply }
  /** `tooLong`: the server says that the prompt does not fit. */
  | { readonly type: "failed"; readonly answer: RawAnswer; readonly tooLong: boolean };

/** Posts the body to the options' endpoint. `read` makes a reply of a body that is no error. */
export async function call(
  { options, key, environment }: Caller,
  body: Record<string, unknown>,
  read: (body: Record<string, unknown>) => ReplyResult,
  signal: AbortSignal,
): Promise<CallEnd> {
  const endpoint = endpointOf(options);
  const end = await exchange(
    { method: "POST", url: endpoint.url, key: key.value, body: JSON.stringify(body), maxBytes: MOST_BYTES },
    signal,
  );
  const who = `${endpoint.host} (${options.model})`;
  const context: FailureContext = {
    who,
    model: options.model,
    provider: options.provider,
    keyPlace: key.place,
    hasKey: key.value !== null,
    now: environment.clock() * 1000,
  };
  if (end.type !== "answer") return failed(withoutAnswer(end, who, options, signal));

  const text = scrubbed(end.body, key);
  const details = { http_status: end.status };
  const parsed = parse(text);
  const body_ = record(parsed);
  const inside = end.status < 300 ? errorInside(body_) : null;
  const error = inside ?? errorIn(parsed);
  // Some gateways answer 200 with an error inside: its code says which status they mean.
  const status = inside === null ? end.status : meantStatus(inside);
  if (end.status >= 300 || inside !== null) {
    const said = error ?? { message: asText(text), code: null, type: null };
    const failure = failureOf(status, end.headers, said, context);
    return {
      type: "failed",
      tooLong: isTooLong(error),
      answer: {
        response: "",
        ...failure,
        details: { ...details, error_code: error?.code ?? null, error_type: error?.type ?? null },
      },
    };
  }
  if (body_ === null) return failed({ ...unreadable(text, who), details: { ...details, body: oneLine(text) } });
  const reply = read(body_);
  if (reply.ok) return { type: "reply", reply: reply.value };
  const { message, again } = reply.error;
  return failed({
    status: "failed",
    response: "",
    error: `${who}: ${message}`,
    details: { ...details, body: oneLine(text) },
    ...(again ? { retry: {} } : {}),
  });
}

/** The error of a body with a status of success: beside no choice at all, or in the place of the first. */
function errorInside(body: Record<string, unknown> | null): ServerError | null {
  if (body === null) return null;
  const { choices, message } = body;
  const first = Array.isArray(choices) ? record(choices[0]) : null;
  if (first !== null) return first.error === undefined || first.error === null ? null : errorIn({ error: first.error });
  return record(message) === null ? errorIn(body) : null;
}

function failed(answer: RawAnswer): CallEnd {
  return { type: "failed", answer, tooLong: false };
}

/** Without the key, as it is and as JSON spells it. */
export function scrubbed(text: string, { value, place }: ApiKey): string {
  if (value === null || value.length < 4) return text;
  const name = `[${place ?? "key"}]`;
  return text.replaceAll(value, name).replaceAll(JSON.stringify(value).slice(1, -1), name);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a person should see of an error body that is no JSON. */
function asText(text: string): string {
  return looksLikeHtml(text) ? "an HTML page" : oneLine(text);
}

function looksLikeHtml(text: string): boolean {
  return /^\s{0,100}<(?:!doctype|html|head|body)/i.test(text);
}

function unreadable(text: string, who: string): RawAnswer {
  const failure = (error: string, retry?: { after?: number }): RawAnswer => ({
    status: "failed",
    response: "",
    error: `${who} ${error}`,
    ...(retry === undefined ? {} : { retry }),
  });
  if (looksLikeHtml(text))
    return failure("answered with an HTML page instead of JSON: check base_url, and whether a proxy or a login stands before it");
  if (/^\s{0,100}data:/.test(text))
    return failure("answered with a stream, although none was asked for: turn streaming off in the server or its proxy");
  if (text.trim() === "") return failure("answered with an empty body", {});
  return failure("answered with something that is no JSON object (cut off, or not a chat interface)", {});
}

/** Codes of connections that nobody took or that broke; they may succeed soon, unlike certificates. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/;

function withoutAnswer(
  end: Exclude<HttpEnd, { type: "answer" }>,
  who: string,
  { provider }: ChatOptions,
  signal: AbortSignal,
): RawAnswer {
  const failure = (error: string, retry?: { after?: number }): RawAnswer => ({
    status: "failed",
    response: "",
    error,
    ...(retry === undefined ? {} : { retry }),
  });
  switch (end.type) {
    case "aborted": {
      const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
      if (!timedOut) return failure(`${who} was stopped before it answered`);
      return { ...failure(`${who} gave no answer in time: raise \`timeout\` if it needs longer`), status: "timed_out" };
    }
    case "cut":
      return failure(`${who} broke off in the middle of its answer, after ${end.received} bytes`, {});
    case "too-large":
      return failure(`${who} sent more than ${MOST_BYTES} bytes: set max_tokens`);
    case "unreadable":
      return failure(`the answer of ${who} can't be unpacked: ${oneLine(end.message)}`, {});
    case "unreachable": {
      if (end.code === "ECONNREFUSED") {
        const advice =
          provider === "ollama"
            ? "start it (ollama serve), or give its address as base_url"
            : "check base_url, and whether the server runs";
        return failure(`nothing listens at ${who}: ${advice}`, {});
      }
      if (end.code === "ENOTFOUND") return failure(`there is no host ${who}: check base_url and the network`, {});
      if (CERTIFICATE.test(end.code)) {
        return failure(
          `the certificate of ${who} is not trusted (${end.code}): name its authority in NODE_EXTRA_CA_CERTS, or check base_url`,
        );
      }
      return failure(`${who} can't be reached (${end.code}): ${oneLine(end.message)}`, {});
    }
  }
}
