/**
 * What a chat server's refusal means: whether the same question may succeed soon, and what a person must do.
 *
 * The formats differ (OpenAI nests the error, Mistral's is flat, Ollama's is a string, validators answer with `detail`), and the HTTP status
 * alone does not say: 429 is a limit on rates, an empty account, or a prompt that will never fit.
 */
import type { IncomingHttpHeaders } from "node:http";
import { visible } from "../base/diagnostics.js";
import type { RawAnswer } from "./contract.js";

const SHOWN_MESSAGE = 500;

export interface ServerError {
  readonly message: string;
  /** `rate_limit_exceeded`, `insufficient_quota`; null where none is given. */
  readonly code: string | null;
  readonly type: string | null;
}

/** The error in a body, whatever its format; null where it has none. `body` is undefined where it is no JSON. */
export function errorIn(body: unknown): ServerError | null {
  const root = record(body);
  if (root === null) return null;
  const nested = record(root.error);
  if (nested !== null)
    return { message: text(nested.message) ?? compact(nested), code: text(nested.code), type: text(nested.type) };
  if (typeof root.error === "string") return { message: root.error, code: text(root.code), type: text(root.type) };
  // FastAPI's validators: `{"detail":[{loc,msg,type}]}`.
  if (Array.isArray(root.detail)) {
    const parts = root.detail.slice(0, 5).map((entry) => {
      const one = record(entry);
      const place = Array.isArray(one?.loc) ? `${one.loc.join(".")}: ` : "";
      return one === null ? compact(entry) : `${place}${text(one.msg) ?? compact(one)}`;
    });
    return { message: parts.join("; "), code: null, type: null };
  }
  if (typeof root.detail === "string") return { message: root.detail, code: null, type: null };
  const flat = text(root.message);
  if (flat !== null && (root.object === "error" || root.choices === undefined)) {
    return { message: flat, code: text(root.code), type: text(root.type) };
  }
  return null;
}

export interface FailureContext {
  /** `api.openai.com (gpt-4o)`: who refused. */
  readonly who: string;
  readonly model: string;
  readonly provider: string;
  /** Where the key is looked for; null = nowhere. */
  readonly keyPlace: string | null;
  readonly hasKey: boolean;
  /** Milliseconds since the epoch, for `retry-after` dates. */
  readonly now: number;
}

type Failure = Pick<RawAnswer, "status" | "error" | "retry" | "ofAll">;

/** Waiting does not help where the account is empty. */
const QUOTA_CODES: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "billing_hard_limit_reached",
  "billing_not_active",
  "quota_exceeded",
  "insufficient_balance",
]);
const QUOTA_WORDS =
  /\b(?:insufficient|exceeded your current|out of|no remaining|run out of) (?:quota|credits?|balance|funds)\b|\bcredit balance is too low\b|\binsufficient balance\b/i;
const TOO_LONG_CODES: ReadonlySet<string> = new Set(["context_length_exceeded", "string_above_max_length"]);
const TOO_LONG_WORDS =
  /maximum context length|context length (?:currently )?available|context window|too large for model|prompt is too long|longer than the context/i;
const TRANSIENT: ReadonlySet<number> = new Set([408, 409, 425, 429]);

export function failureOf(
  status: number,
  headers: IncomingHttpHeaders,
  error: ServerError | null,
  context: FailureContext,
): Failure {
  const { who } = context;
  const said = error === null || error.message.trim() === "" ? "" : `: ${oneLine(error.message)}`;
  const after = retryAfter(headers, context.now);
  const retry = after === null ? {} : { after };
  const codes = [error?.code, error?.type].filter((code) => typeof code === "string");
  const failed = (advice: string, again?: { after?: number }, ofAll?: Failure["ofAll"]): Failure => ({
    status: "failed",
    error: `${who} answered with ${status}${said}${advice === "" ? "" : `. ${advice}`}`,
    ...(again === undefined || single(headers["x-should-retry"]) === "false" ? {} : { retry: again }),
    ...(ofAll === undefined ? {} : { ofAll }),
  });

  const quota =
    codes.some((code) => QUOTA_CODES.has(code)) ||
    // Without a code and with a time to wait, the same words are said of a limit per minute.
    (after === null && error?.code == null && QUOTA_WORDS.test(error?.message ?? ""));
  if (status === 402 || ((status === 429 || status === 403) && quota)) {
    return failed(
      "The account has no credit or quota left, and waiting does not help: add credit or use another key, then run the same command again",
      undefined,
      "stop",
    );
  }
  if (isTooLong(error))
    return failed("The prompt does not fit into this model: shorten the context, or take a model with a longer one");
  if (status === 429 && /^request too large/i.test(error?.message ?? "")) {
    return failed(
      "This one prompt exceeds the account's tokens per minute, and waiting does not help: shorten the context or have the limit raised",
    );
  }
  if (status === 429 || (status === 503 && /busy|overloaded|maximum pending/i.test(error?.message ?? "")) || status === 529) {
    return {
      status: "rate_limited",
      error: `${who} limits the rate (${status})${said}. Lower \`concurrency\` or raise \`retry\` if this goes on`,
      ...(single(headers["x-should-retry"]) === "false" ? {} : { retry }),
    };
  }
  if (TRANSIENT.has(status) || status >= 500) return failed("", retry);
  if (status >= 300 && status < 400) {
    return failed("It sends elsewhere, and a key is not sent after it: put the final address into base_url");
  }
  const again = single(headers["x-should-retry"]) === "true" ? retry : undefined;
  return failed(adviceFor(status, error, context), again, again === undefined ? ofAllQuestions(status, error) : undefined);
}

/** A refused key and a model that is not there are so for every question; a moderated prompt (403 of some) is not. */
function ofAllQuestions(status: number, error: ServerError | null): Failure["ofAll"] {
  if (status === 401) return "fail";
  if (status === 404) return "fail";
  if (status !== 403) return undefined;
  return /moderat|flagged|content|safety|polic/i.test(`${error?.code ?? ""} ${error?.type ?? ""} ${error?.message ?? ""}`)
    ? undefined
    : "fail";
}

/** The status that an error means which came with one of success; 502 where it does not say, so that it is tried again. */
export function meantStatus({ code, type, message }: ServerError): number {
  const stated = Number(code);
  if (Number.isInteger(stated) && stated >= 400 && stated < 600) return stated;
  const said = `${code ?? ""} ${type ?? ""}`;
  if (QUOTA_CODES.has(code ?? "") || QUOTA_CODES.has(type ?? "") || QUOTA_WORDS.test(message)) return 402;
  if (/rate.?limit|too.?many.?requests/i.test(`${said} ${message}`)) return 429;
  if (/invalid.?api.?key|authenticat|unauthori[sz]ed|permission/i.test(said)) return 401;
  if (/not.?found/i.test(said)) return 404;
  if (/invalid.?request|bad.?request|context.?length/i.test(said)) return 400;
  return 502;
}

export function isTooLong(error: ServerError | null): boolean {
  return error !== null && (TOO_LONG_CODES.has(error.code ?? "") || TOO_LONG_WORDS.test(error.message));
}

function adviceFor(status: number, error: ServerError | null, { provider, model, keyPlace, hasKey }: FailureContext): string {
  const message = error?.message ?? "";
  switch (status) {
    case 401:
    case 403:
      if (!hasKey)
        return keyPlace === null
          ? "It wants a key: name one with api_key_env or api_key_file"
          : `It wants a key: set ${keyPlace}`;
      return `Check the key in ${keyPlace}, and whether it may use this model`;
    case 404:
      if (/model/i.test(message)) {
        return provider === "ollama"
          ? `Get the model first: ollama pull ${model}`
          : "Check the model's name, and whether the key may use it";
      }
      return "Check base_url: nothing answers at this path";
    case 400:
    case 422:
      if (/temperature/i.test(message)) return "This model takes no temperature: set temperature: null";
      if (/response_format|json_schema|structured output/i.test(message)) return "Set response_format: json or text";
      if (/seed/i.test(message)) return "Remove seed";
      return "";
    default:
      return "";
  }
}

/** Seconds to wait at least, by whichever header says so; null = none does. */
export function retryAfter(headers: IncomingHttpHeaders, now: number): number | null {
  const milliseconds = Number(single(headers["retry-after-ms"]) ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds / 1000;
  const value = single(headers["retry-after"])?.trim();
  if (value !== undefined && value !== "") {
    const seconds = Number(value);
    if (Number.isFinite(seconds)) return Math.max(0, seconds);
    const date = Date.parse(value);
    if (Number.isFinite(date)) return Math.max(0, (date - now) / 1000);
  }
  // The names differ by provider and by source; the limit that is used up is the one that has nothing remaining.
  let longest: number | null = null;
  for (const [name, remaining] of Object.entries(headers)) {
    if (!/^x-ratelimit\S{0,40}-remaining|^x-ratelimit-remaining/.test(name) || Number(single(remaining)) > 0) continue;
    const reset = parseReset(single(headers[name.replace("remaining", "reset")]));
    if (reset !== null) longest = Math.max(longest ?? 0, reset);
  }
  return longest;
}

/** Seconds of `1s`, `6m0s`, `120ms`, `1h2m3.5s`, or a bare number of seconds. */
function parseReset(value: string | undefined): number | null {
  if (value === undefined || value.length > 40) return null;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value);
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join("") !== value) return null;
  const units: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ""] ?? 0), 0);
}

/** On one line, safe to print, not too long. */
export function oneLine(message: string): string {
  const line = visible(message.slice(0, SHOWN_MESSAGE * 4).replace(/\s+/g, " ")).trim();
  return line.length > SHOWN_MESSAGE ? `${line.slice(0, SHOWN_MESSAGE - 1)}…` : line;
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

export function record(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

function text(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}

function compact(value: unknown): string {
  return JSON.stringify(value).slice(0, SHOWN_MESSAGE);
}
