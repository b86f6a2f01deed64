/**
 * The client: Octokit for routes, headers and authentication, on top of our own `fetch` layers.
 *
 *   Octokit -> kept answers (ETag) -> limit policy (waits, retries, checks bodies) -> redirects within the server -> network or recording
 *
 * What goes wrong comes back as data. No message here holds a header, so none can hold the token.
 */
import type { Octokit } from "@octokit/rest";
import { err, ok, type Result } from "../base/result.js";
import { isFields, object, text } from "./fields.js";
import { type AnswerStore, keptFetch } from "./kept-answers.js";
import {
  DEFAULT_LIMITS,
  type LimitOptions,
  type LimitState,
  type LimitWorld,
  limitedFetch,
  RequestTrouble,
  type Trouble,
} from "./limits.js";

export interface ClientOptions {
  /** Base address of the API, without a slash at the end. */
  readonly api: string;
  readonly token: string | null;
  readonly userAgent: string;
  readonly world: LimitWorld;
  readonly state: LimitState;
  readonly resource: string;
  /** The network, or a recording. */
  readonly send: typeof fetch;
  /** null for recordings, which need none. */
  readonly store: AnswerStore | null;
  readonly refresh: boolean;
  /** Says so instead of sending. */
  readonly offline: boolean;
  readonly limits?: Partial<LimitOptions>;
}

export type ClientTrouble =
  | Trouble
  | { readonly type: "absent"; readonly message: string }
  | { readonly type: "moved"; readonly message: string };

export interface Page {
  readonly data: unknown;
  /** Query members of the next page, or null. */
  readonly next: Readonly<Record<string, string>> | null;
}

export interface Pages {
  readonly elements: readonly unknown[];
  /** True where `maxPages` ended it. */
  readonly cut: boolean;
}

/** What a GraphQL server answered: data, whole or in parts, and what went wrong with the rest. */
export interface GraphAnswer {
  readonly data: unknown;
  readonly errors: readonly GraphError[];
}

export interface GraphError {
  /** `NOT_FOUND`, `FORBIDDEN`, ...; GitHub's own member, or the code of a query that it refuses. */
  readonly type: string | null;
  readonly path: readonly (string | number)[];
  readonly message: string;
}

type Parameters = Readonly<Record<string, string | number>>;

export interface GitHubClient {
  /** One request. `route` is a path template such as `/repos/{owner}/{repo}/issues`. */
  ask(route: string, parameters: Parameters, signal: AbortSignal): Promise<Result<Page, ClientTrouble>>;
  /** A list over all its pages, at most `maxPages`. */
  askAll(route: string, parameters: Parameters, maxPages: number, signal: AbortSignal): Promise<Result<Pages, ClientTrouble>>;
  /** One GraphQL request. Errors that concern parts of the answer come with it; only what brought no answer at all is trouble. */
  graphql(
    query: string,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Result<GraphAnswer, ClientTrouble>>;
}

/** The header in which a followed redirect is told to the layers above. */
const MOVED_TO = "x-bench-moved-to";
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export async function openClient(options: ClientOptions): Promise<GitHubClient> {
  const { Octokit } = await import("@octokit/rest");
  const limits: LimitOptions = { ...DEFAULT_LIMITS, ...options.limits, resource: options.resource };
  const network = options.offline ? offlineFetch : sameServerFetch(options.send, options.api);
  let layered = limitedFetch(network, options.state, options.world, limits);
  if (options.offline) layered = offlineFetch;
  if (options.store !== null) {
    layered = keptFetch(layered, options.store, {
      refresh: options.refresh && !options.offline,
      now: () => options.world.clock.now(),
      saved: () => options.world.count("requests_saved"),
    });
  }
  const octokit = new Octokit({
    ...(options.token === null ? {} : { auth: options.token }),
    baseUrl: options.api,
    userAgent: options.userAgent,
    log: silent,
    request: { fetch: layered },
  });
  octokit.hook.before("request", (request) => {
    request.headers["x-github-api-version"] = "2022-11-28";
    request.headers.accept = "application/vnd.github+json";
  });
  return new LayeredClient(octokit, options.api);
}

const offlineFetch: typeof fetch = async (input) => {
  const url = new URL(typeof input === "string" ? input : input instanceof URL ? input.href : input.url);
  throw new RequestTrouble({
    type: "failed",
    again: false,
    message: `GET ${url.host}${url.pathname} needs the network, and --offline forbids it: run without --offline once, or give a recording`,
  });
};

/** Follows redirects on the same server (a renamed repository), and never takes the token to another one. */
function sameServerFetch(send: typeof fetch, api: string): typeof fetch {
  const origin = new URL(api).origin;
  return async (input, init) => {
    let url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
    for (let hops = 0; ; hops++) {
      const response = await send(url, { ...init, redirect: "manual" });
      const to = response.headers.get("location");
      if (![301, 302, 307, 308].includes(response.status) || to === null) {
        if (hops === 0) return response;
        const headers = new Headers(response.headers);
        headers.set(MOVED_TO, url);
        const bodiless = response.status === 204 || response.status === 304;
        return new Response(bodiless ? null : response.body, { status: response.status, headers });
      }
      await response.body?.cancel().catch(() => {});
      const target = new URL(to, url);
      if (target.origin !== origin)
        throw refused(`${new URL(url).pathname} was redirected to another server (${target.host}), which is not followed`);
      if (hops >= 4) throw refused(`${new URL(url).pathname} was redirected more than four times`);
      url = target.href;
    }
  };
}

function refused(message: string): RequestTrouble {
  return new RequestTrouble({ type: "failed", again: false, message });
}

class LayeredClient implements GitHubClient {
  readonly #octokit: Octokit;
  readonly #api: string;
  /** The same request at the same time (two issues that name one pull request) is sent once. */
  readonly #underWay = new Map<string, Promise<Result<Page, ClientTrouble>>>();

  constructor(octokit: Octokit, api: string) {
    this.#octokit = octokit;
    this.#api = api;
  }

  async ask(route: string, parameters: Parameters, signal: AbortSignal): Promise<Result<Page, ClientTrouble>> {
    const key = JSON.stringify([route, parameters]);
    for (;;) {
      signal.throwIfAborted();
      const other = this.#underWay.get(key);
      if (other === undefined) break;
      // If the other one was interrupted and we were not, the loop asks for itself.
      const result = await other.catch(() => null);
      if (result !== null) return result;
    }
    const asking = this.#request(route, parameters, signal);
    this.#underWay.set(key, asking);
    try {
      return await asking;
    } finally {
      this.#underWay.delete(key);
    }
  }

  async askAll(
    route: string,
    parameters: Parameters,
    maxPages: number,
    signal: AbortSignal,
  ): Promise<Result<Pages, ClientTrouble>> {
    const elements: unknown[] = [];
    const visited = new Set<string>();
    let query: Parameters = {};
    let before: string | null = null;
    for (let page = 1; ; page++) {
      visited.add(JSON.stringify(query));
      const asked = await this.ask(route, { ...parameters, ...query }, signal);
      if (!asked.ok) return asked;
      const { data, next } = asked.value;
      if (!Array.isArray(data))
        return err(damaged(`${shownRoute(route, parameters)}: a list was expected and something else came`));
      const content = JSON.stringify(data, (_, value) => (typeof value === "bigint" ? String(value) : value));
      if (content === before) return err(damaged(`${shownRoute(route, parameters)}: page ${page} repeats the page before it`));
      before = content;
      elements.push(...data);
      if (next === null) return ok({ elements, cut: false });
      if (visited.has(JSON.stringify(next)))
        return err(damaged(`${shownRoute(route, parameters)}: the links to the next page go in a circle`));
      if (page >= maxPages) return ok({ elements, cut: true });
      query = next;
    }
  }

  async graphql(
    query: string,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Result<GraphAnswer, ClientTrouble>> {
    try {
      return ok({ data: await this.#octokit.graphql(query, { ...variables, request: { signal } }), errors: [] });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (isFields(error) && Array.isArray(error.errors)) return ok({ data: error.data, errors: error.errors.map(graphError) });
      return err(troubleOf(error, "POST /graphql"));
    }
  }

  async #request(route: string, parameters: Parameters, signal: AbortSignal): Promise<Result<Page, ClientTrouble>> {
    const what = shownRoute(route, parameters);
    try {
      const response = await this.#octokit.request({ method: "GET", url: route, ...parameters, request: { signal } });
      const moved = response.headers[MOVED_TO];
      if (typeof moved === "string" && isOtherThread(route, parameters, moved)) {
        return err({ type: "moved", message: `${what} has moved elsewhere (transferred)` });
      }
      const next = nextQuery(typeof response.headers.link === "string" ? response.headers.link : null, this.#api);
      if (!next.ok) return err(damaged(`${what}: ${next.error}`));
      return ok({ data: response.data, next: next.value });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return err(troubleOf(error, what));
    }
  }
}

/** A transferred issue is redirected to one with another number or in another repository; a renamed repository keeps the numbers. */
function isOtherThread(route: string, parameters: Parameters, movedTo: string): boolean {
  const number = parameters.issue_number;
  if (number === undefined || !route.includes("{issue_number}")) return false;
  return !new RegExp(`/issues/${Number(number)}(?:/|$)`).test(new URL(movedTo).pathname);
}

function graphError(error: unknown): GraphError {
  if (!isFields(error)) return { type: null, path: [], message: "an error without a message" };
  const code = text(object(error, "extensions"), "code");
  return {
    type: text(error, "type") ?? code,
    path: Array.isArray(error.path) ? error.path.filter((part) => typeof part === "string" || typeof part === "number") : [],
    message: (text(error, "message") ?? "").slice(0, 300),
  };
}

function damaged(message: string): Trouble {
  return { type: "failed", again: true, message: `${message}; run the same command again` };
}

function troubleOf(error: unknown, what: string): ClientTrouble {
  const cause = error instanceof Error && error.cause instanceof RequestTrouble ? error.cause : error;
  if (cause instanceof RequestTrouble) return cause.trouble;
  const status = isFields(error) && typeof error.status === "number" ? error.status : 0;
  if (status === 404 || status === 410 || status === 451) {
    return { type: "absent", message: `${what} does not exist, or this token may not see it (${status})` };
  }
  if (status === 401)
    return {
      type: "failed",
      again: false,
      message: `${what}: the token was refused (401); check that it is valid and not expired`,
    };
  if (status === 403) {
    return {
      type: "failed",
      again: false,
      message: `${what}: access was refused (403); the token may lack the right to read this repository`,
    };
  }
  if (status >= 400 && status < 500)
    return { type: "failed", again: false, status, message: `${what}: the server refused the request (${status})` };
  if (status >= 300 && status < 400)
    return { type: "failed", again: false, message: `${what}: the server redirected without saying where (${status})` };
  // Octokit's own words may quote headers; only the kind of error is told.
  return {
    type: "failed",
    again: true,
    message: `${what}: the request failed (${error instanceof Error ? error.name : "unknown"})`,
  };
}

function shownRoute(route: string, parameters: Parameters): string {
  const path = route.replace(/\{([a-z_]{1,40})\}/g, (_, name: string) => String(parameters[name] ?? ""));
  const page = parameters.page === undefined ? "" : ` (page ${parameters.page})`;
  return `GET ${path}${page}`;
}

/**
 * The next page's own query members, taken from the `Link` header. Only they are taken: GitHub's link has another path
 * (`/repositories/123/...`), and a link to another server, or one without a position, is a mistake of whoever sent it.
 */
function nextQuery(link: string | null, api: string): Result<Readonly<Record<string, string>> | null, string> {
  if (link === null) return ok(null);
  const next = link
    .slice(0, 10_000)
    .split(/,(?=\s{0,10}<)/)
    .find((part) => /;\s{0,10}rel="?next"?/.test(part));
  if (next === undefined) return ok(null);
  const address = /^\s{0,10}<([^<>]*)>/.exec(next)?.[1];
  let url: URL;
  try {
    url = new URL(address ?? "", `${api}/`);
  } catch {
    return err("the link to the next page is no address");
  }
  if (url.origin !== new URL(api).origin) return err(`the link to the next page leads to another server (${url.host})`);
  const query: Record<string, string> = {};
  for (const name of ["page", "after", "before", "cursor"]) {
    const value = url.searchParams.get(name);
    if (value !== null) query[name] = value;
  }
  return Object.keys(query).length === 0 ? err("the link to the next page names no page") : ok(query);
}
