/**
 * What one HTTP answer means for the request: an answer, a limit to wait for, or something worth asking again. Pure, so that every
 * awkward answer is a row in a test.
 *
 * GitHub tells its limits apart like this: `x-ratelimit-remaining: 0` is the primary limit and ends at `x-ratelimit-reset`; a
 * secondary limit is a 403 or 429 with `retry-after`, or without anything but a message, and then asks for a minute at least,
 * growing. `retry-after` wins where both are there, as GitHub's documentation says. A 403 that speaks of no limit is a refusal and
 * repeating it helps nobody.
 */
import { isFields } from "./fields.js";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export type Verdict =
  | { readonly type: "answer" }
  /** `wait` in milliseconds. */
  | { readonly type: "limit"; readonly kind: "primary" | "secondary"; readonly wait: number }
  /** `wait` = milliseconds at least that the server asked for. */
  | { readonly type: "again"; readonly why: string; readonly wait: number };

const MINUTE = 60_000;
/** A reset that has just passed, or lies in the past because clocks differ, still costs a breath. */
const SHORTEST_WAIT = 1000;
/** No honest limit lasts longer than a day; a larger figure is nonsense and treated as a day, which stops the run. */
const LONGEST_WAIT = 24 * 60 * MINUTE;

/**
 * @param now local time, epoch milliseconds; used only where the answer has no `date`, since the reset is in the server's time
 * @param secondaryBefore how many secondary limits without `retry-after` this request met already
 */
export function verdictOn({ status, headers, text }: HttpAnswer, now: number, secondaryBefore: number): Verdict {
  if (status === 403 || status === 429) {
    const after = retryAfter(headers, now);
    if (after !== null) return { type: "limit", kind: "secondary", wait: after };
    if (headers.get("x-ratelimit-remaining")?.trim() === "0")
      return { type: "limit", kind: "primary", wait: untilReset(headers, now) ?? MINUTE };
    if (status === 429 || /rate limit|abuse detection/i.test(text.slice(0, 2000))) {
      return { type: "limit", kind: "secondary", wait: secondaryWait(secondaryBefore) };
    }
    return htmlOrEmpty(status, headers, text) ?? { type: "answer" };
  }
  if (status >= 500 || status === 408)
    return { type: "again", why: `the server answered ${status}`, wait: retryAfter(headers, now) ?? 0 };
  if (status === 304 || status === 204 || (status >= 300 && status < 400)) return { type: "answer" };
  if (status !== 200) return { type: "answer" };
  if (text.trim() === "") return { type: "again", why: "the answer was empty", wait: 0 };
  const type = headers.get("content-type") ?? "";
  if (/html/i.test(type) || /^\s{0,100}<(?:!doctype|html)/i.test(text.slice(0, 200))) {
    return { type: "again", why: "the answer was a web page where JSON was expected", wait: 0 };
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { type: "again", why: "the answer was cut short or is not JSON", wait: 0 };
  }
  return graphLimit(parsed, headers, now, secondaryBefore) ?? { type: "answer" };
}

/** GraphQL tells its limits in a 200: the primary one as the error type RATE_LIMITED, the secondary one in words. */
function graphLimit(parsed: unknown, headers: Headers, now: number, secondaryBefore: number): Verdict | null {
  if (!isFields(parsed) || !Array.isArray(parsed.errors)) return null;
  const errors = parsed.errors.filter(isFields);
  const after = retryAfter(headers, now);
  if (errors.some(({ message }) => typeof message === "string" && /secondary rate limit/i.test(message)))
    return { type: "limit", kind: "secondary", wait: after ?? secondaryWait(secondaryBefore) };
  if (!errors.some(({ type }) => type === "RATE_LIMITED" || type === "RATE_LIMIT")) return null;
  return { type: "limit", kind: "primary", wait: after ?? untilReset(headers, now) ?? MINUTE };
}

function secondaryWait(before: number): number {
  return Math.min(LONGEST_WAIT, MINUTE * 2 ** Math.min(before, 10));
}

/** A proxy's or load balancer's page in GitHub's place; GitHub's own refusals are JSON. */
function htmlOrEmpty(status: number, headers: Headers, text: string): Verdict | null {
  const isPage = /html/i.test(headers.get("content-type") ?? "") || text.trim() === "";
  return isPage ? { type: "again", why: `the server answered ${status} without saying why`, wait: 0 } : null;
}

/** Milliseconds that `retry-after` asks for (seconds or a date), or null. */
function retryAfter(headers: Headers, now: number): number | null {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") return null;
  if (/^[0-9]{1,9}$/.test(value)) return bounded(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : bounded(date - serverNow(headers, now));
}

/** Milliseconds until the primary limit is reset (a second later, as the reset is in whole seconds), or null. */
export function untilReset(headers: Headers, now: number): number | null {
  const value = headers.get("x-ratelimit-reset")?.trim() ?? "";
  if (!/^[0-9]{1,12}$/.test(value)) return null;
  return bounded(Number(value) * 1000 - serverNow(headers, now) + 1000);
}

/** The server's own clock where it says: a reset is in its time, and ours may be wrong. */
function serverNow(headers: Headers, now: number): number {
  const date = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(date) ? now : date;
}

function bounded(wait: number): number {
  return Math.min(LONGEST_WAIT, Math.max(SHORTEST_WAIT, wait));
}
