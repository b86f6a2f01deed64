/**
 * The limit policy, as a `fetch` around the one that sends: waits for limits, slows down before them, asks again what failed on the
 * way, and gives up with a typed `RequestTrouble`.
 *
 * Why our own and not Octokit's throttling and retry plugins: a wait there can't be interrupted (Ctrl-C would hang for up to an hour),
 * nothing says until when it waits, it can't end in "stop here and resume at 14:05", and an answer cut short or an HTML page with
 * status 200 passes as data. Here the body is read and checked before anyone sees it.
 */
import { untilReset, type Verdict, verdictOn } from "./verdict.js";

/** What the policy needs of the outside world; `StageTools` fits. */
export interface LimitWorld {
  readonly clock: { now(): number; sleep(milliseconds: number, signal?: AbortSignal): Promise<void> };
  readonly random: () => number;
  readonly maxWait: number;
  readonly waiting: (resource: string, until: number | null, why: string) => void;
  readonly limit: (
    resource: string,
    facts: { readonly left: number; readonly of: number | null; readonly resetAt: number | null },
  ) => void;
  readonly count: (what: "requests" | "requests_saved", by?: number) => void;
}

export interface LimitOptions {
  /** Name shown to people and used for `waiting` and `limit`. */
  readonly resource: string;
  /** Milliseconds for one request, its body included. */
  readonly timeout: number;
  /** Bytes of one answer. */
  readonly maxBytes: number;
  /** Attempts in all for what fails on the way (5xx, resets, time-outs, damaged bodies). */
  readonly attempts: number;
  /** Attempts where the server itself failed (5xx) or took too long: a GraphQL query is better asked in smaller parts than again. */
  readonly serverAttempts?: number;
  /** Requests under way at once, over all clients of one `LimitState`. */
  readonly concurrency: number;
  /** False for recordings, whose limit means nothing. */
  readonly showLimit: boolean;
}

export const DEFAULT_LIMITS = {
  timeout: 30_000,
  maxBytes: 64 * 1024 * 1024,
  attempts: 6,
  concurrency: Number.POSITIVE_INFINITY,
  showLimit: true,
} as const;

/** What ends a request without an answer. */
export type Trouble =
  /** Nothing more can be had before `resumeAt` (epoch milliseconds). */
  | { readonly type: "limit"; readonly message: string; readonly resumeAt: number }
  /** `again`: a later attempt may succeed. `status`: of the answer that refused, or of the server's last failure (504 where none came in time). */
  | { readonly type: "failed"; readonly message: string; readonly again: boolean; readonly status?: number };

export class RequestTrouble extends Error {
  readonly trouble: Trouble;
  constructor(trouble: Trouble) {
    super(trouble.message);
    this.name = "RequestTrouble";
    this.trouble = trouble;
  }
}

/** What is known of one token's limit on one server; shared by everything that uses them in a run. */
export class LimitState {
  /** Nothing is sent before then. */
  pausedUntil = 0;
  pausedFor = "";
  left: number | null = null;
  of: number | null = null;
  resetAt: number | null = null;
  /** Earliest time of the next request while slowing down. */
  nextSlot = 0;
  inFlight = 0;
  /** Points that the last GraphQL query cost; 1 where requests are counted. */
  cost = 1;
  /** Requests that wait for one of those under way to end. */
  readonly queue: (() => void)[] = [];
  taken = 0;
  waiters = 0;
  /** Latest time that people were told. */
  shownUntil = 0;
}

/** Below this share of the limit, requests are spread over the time that is left. */
const SLOW_SHARE = 0.05;
const LONGEST_SLOT = 5000;
const SAME_LIMIT = 2000;
const FIRST_BACKOFF = 1000;
const LONGEST_BACKOFF = 30_000;

export function limitedFetch(send: typeof fetch, state: LimitState, world: LimitWorld, options: LimitOptions): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ?? undefined;
    const what = named(init?.method ?? "GET", input);
    let failures = 0;
    let secondary = 0;
    let waited = 0;
    for (;;) {
      await takeTurn(state, options.concurrency, signal);
      let result: Sent;
      try {
        waited += await untilClear(state, world, options, what, waited, signal);
        result = await sendAndRead(send, input, init, state, world, options, secondary);
      } finally {
        endTurn(state);
      }
      if ("response" in result) {
        const { response, verdict } = result;
        if (verdict.type === "answer") return response;
        if (verdict.type === "limit") {
          if (verdict.kind === "secondary") secondary += 1;
          // What was in flight beside it learns of the limit here too: nobody runs into it a second time.
          const now = world.clock.now();
          const until = now + verdict.wait + Math.floor(world.random() * 1000);
          pause(state, now, until, limitName(verdict.kind, options.resource));
          continue;
        }
        failures += 1;
        const status = response.status >= 500 ? response.status : undefined;
        waited += await backOff({ ...verdict, status }, failures, waited, what, world, options, signal);
        continue;
      }
      failures += 1;
      waited += await backOff({ ...result, wait: 0 }, failures, waited, what, world, options, signal);
    }
  };
}

/** First come, first served. An interruption leaves the queue, and passes the turn on if it had come already. */
async function takeTurn(state: LimitState, most: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (state.taken < most) {
    state.taken += 1;
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const leave = () => {
      const at = state.queue.indexOf(turn);
      if (at >= 0) state.queue.splice(at, 1);
      reject(signal?.reason);
    };
    const turn = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    signal?.addEventListener("abort", leave, { once: true });
    state.queue.push(turn);
  });
}

function endTurn(state: LimitState): void {
  const next = state.queue.shift();
  if (next === undefined) state.taken -= 1;
  else next();
}

function limitName(kind: "primary" | "secondary", resource: string): string {
  return kind === "primary" ? `the request limit of ${resource} is used up` : `${resource} asks to slow down (secondary limit)`;
}

function pause(state: LimitState, now: number, until: number, why: string): void {
  // Requests that were under way together meet the same limit within moments: that is one wait, told once.
  if (state.pausedUntil > now && until <= state.pausedUntil + SAME_LIMIT) return;
  state.pausedUntil = until;
  state.pausedFor = why;
}

/** Waits until a request may go out; gives the milliseconds that a limit cost, and throws where that is more than `maxWait`. */
async function untilClear(
  state: LimitState,
  world: LimitWorld,
  options: LimitOptions,
  what: string,
  before: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  let waited = 0;
  for (;;) {
    signal?.throwIfAborted();
    const now = world.clock.now();
    if (state.resetAt !== null && now >= state.resetAt) {
      state.left = null;
      state.resetAt = null;
    }
    if (state.left !== null && state.left < state.cost && state.resetAt !== null)
      pause(state, now, state.resetAt, limitName("primary", options.resource));
    if (now < state.pausedUntil) {
      const wait = state.pausedUntil - now;
      if (before + waited + wait > world.maxWait) {
        throw new RequestTrouble({
          type: "limit",
          resumeAt: state.pausedUntil,
          message: `${state.pausedFor} until ${new Date(state.pausedUntil).toISOString()}, longer than may be waited for (${what} is next)`,
        });
      }
      await shownWait(state, world, options.resource, wait, state.pausedFor, signal);
      waited += wait;
      continue;
    }
    const slot = slotBefore(state, now);
    if (slot <= 0) return waited;
    const why = `slowing down: ${state.left} of ${state.of} requests are left`;
    if (slot >= 1000) await shownWait(state, world, options.resource, slot, why, signal);
    else await world.clock.sleep(slot, signal);
  }
}

/** Milliseconds to let pass before the next request, taking that slot. 0 while the limit is far. */
function slotBefore(state: LimitState, now: number): number {
  const { left, of, resetAt } = state;
  if (left === null || of === null || resetAt === null) return 0;
  // Requests under way will use up what the server has not counted yet.
  const free = left - state.inFlight;
  if (left > of * SLOW_SHARE && free > 0) return 0;
  if (now < state.nextSlot) return state.nextSlot - now;
  state.nextSlot = now + Math.min(LONGEST_SLOT, Math.max(0, (resetAt - now) / Math.max(1, left)));
  return free > 0 ? 0 : Math.max(50, state.nextSlot - now);
}

async function shownWait(
  state: LimitState,
  world: LimitWorld,
  resource: string,
  wait: number,
  why: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const until = world.clock.now() + wait;
  if (state.waiters === 0 || until > state.shownUntil) {
    state.shownUntil = until;
    world.waiting(resource, until, why);
  }
  state.waiters += 1;
  try {
    await world.clock.sleep(wait, signal);
  } finally {
    state.waiters -= 1;
    if (state.waiters === 0) world.waiting(resource, null, "");
  }
}

/** Waits before another attempt, or throws when there were enough. Gives the milliseconds that the server asked for. */
async function backOff(
  failure: { readonly why: string; readonly wait: number; readonly status?: number | undefined },
  failures: number,
  waited: number,
  what: string,
  world: LimitWorld,
  options: LimitOptions,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { why, wait: asked, status } = failure;
  if (failures >= (status === undefined ? options.attempts : (options.serverAttempts ?? options.attempts))) {
    throw new RequestTrouble({
      type: "failed",
      again: true,
      ...(status === undefined ? {} : { status }),
      message: `${what}: ${why} (${failures} attempts); run the same command again later`,
    });
  }
  const exponential = Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (failures - 1));
  const wait = Math.max(asked, exponential * (0.5 + world.random() / 2));
  const now = world.clock.now();
  if (asked > 0 && waited + asked > world.maxWait) {
    throw new RequestTrouble({
      type: "limit",
      resumeAt: now + asked,
      message: `${what}: ${why} and asks to wait until ${new Date(now + asked).toISOString()}`,
    });
  }
  if (wait >= 5000) world.waiting(options.resource, now + wait, `${why}; asking again`);
  await world.clock.sleep(wait, signal);
  if (wait >= 5000) world.waiting(options.resource, null, "");
  return asked;
}

type Sent =
  | { readonly response: Response; readonly verdict: Verdict }
  | { readonly why: string; readonly status?: number | undefined };

async function sendAndRead(
  send: typeof fetch,
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  state: LimitState,
  world: LimitWorld,
  options: LimitOptions,
  secondary: number,
): Promise<Sent> {
  const given = init?.signal ?? undefined;
  given?.throwIfAborted();
  const timeout = AbortSignal.timeout(options.timeout);
  const signal = given === undefined ? timeout : AbortSignal.any([given, timeout]);
  world.count("requests");
  state.inFlight += 1;
  try {
    const response = await send(input, { ...init, signal });
    const text = await bodyOf(response, options.maxBytes);
    noteLimit(state, world, options, response.headers);
    const verdict = verdictOn({ status: response.status, headers: response.headers, text }, world.clock.now(), secondary);
    const bodiless = response.status === 204 || response.status === 304;
    return {
      response: new Response(bodiless ? null : text, { status: response.status, headers: rewritten(response.headers) }),
      verdict,
    };
  } catch (error) {
    if (given?.aborted) throw given.reason;
    if (error instanceof RequestTrouble) throw error;
    if (timeout.aborted) return { why: `no answer within ${options.timeout / 1000} s`, status: 504 };
    return { why: networkFailure(error) };
  } finally {
    state.inFlight -= 1;
  }
}

/** The text is decoded already; the type is what the check made sure of, whatever the server called it. */
function rewritten(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete("content-encoding");
  copy.delete("content-length");
  copy.delete("transfer-encoding");
  copy.set("content-type", "application/json; charset=utf-8");
  return copy;
}

async function bodyOf(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel().catch(() => {});
      throw new RequestTrouble({
        type: "failed",
        again: false,
        message: `the server's answer is larger than ${Math.round(maxBytes / 1024 / 1024)} MiB, which no answer of GitHub is`,
      });
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function noteLimit(state: LimitState, world: LimitWorld, options: LimitOptions, headers: Headers): void {
  const left = headers.get("x-ratelimit-remaining")?.trim() ?? "";
  if (!options.showLimit || !/^[0-9]{1,9}$/.test(left)) return;
  const of = headers.get("x-ratelimit-limit")?.trim() ?? "";
  const reset = untilReset(headers, world.clock.now());
  state.left = Number(left);
  state.of = /^[0-9]{1,9}$/.test(of) ? Number(of) : null;
  state.resetAt = reset === null ? null : world.clock.now() + reset;
  world.limit(options.resource, { left: state.left, of: state.of, resetAt: state.resetAt });
}

/** The innermost reason: undici says "fetch failed" and keeps the cause to itself. */
function networkFailure(error: unknown): string {
  let innermost: unknown = error;
  for (let depth = 0; depth < 5 && innermost instanceof Error && innermost.cause instanceof Error; depth++)
    innermost = innermost.cause;
  const code = innermost instanceof Error && "code" in innermost ? String(innermost.code) : null;
  const message = innermost instanceof Error ? innermost.message : String(innermost);
  return `the connection failed (${code ?? message.slice(0, 200)})`;
}

/** Method and path, never the query (a cursor says nothing to people) and never a header. */
function named(method: string, input: Parameters<typeof fetch>[0]): string {
  const address = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
  try {
    const url = new URL(address);
    const page = url.searchParams.get("page");
    return `${method} ${url.host}${url.pathname}${page === null ? "" : ` (page ${page})`}`;
  } catch {
    return method;
  }
}
