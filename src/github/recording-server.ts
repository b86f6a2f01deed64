/**
 * Answers REST requests from a recording as GitHub would: a pure function from request to response, so that the same code serves
 * Octokit inside the process (`recordingFetch`) and a real socket.
 *
 * Paging, `Link` headers, ETags and 304, the limit's headers and 404s are GitHub's; what it answers is read-only.
 */
import { createHash } from "node:crypto";
import type { Recording } from "./recording.js";
import { recordingGraph } from "./recording-graph.js";
import {
  type Addresses,
  commentObjects,
  commitObject,
  fileObjects,
  issueObject,
  listedPullObject,
  numberOf,
  pullObject,
  RecordedThreads,
  type Thread,
  timelineObjects,
  updatedAt,
} from "./recording-objects.js";

interface RestRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

interface RestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RecordingServerOptions {
  /** Base address under which it answers; default `https://api.github.com`. */
  readonly api?: string;
  /** Web address in its answers; default `https://github.com`. */
  readonly web?: string;
  /** Page size where the request names none (30) and the largest that is granted (100). */
  readonly perPage?: number;
  readonly maxPerPage?: number;
}

/** Most files that GitHub lists for one pull request, and most commits. */
const MOST_FILES = 3000;
const MOST_COMMITS = 250;

type Found = { readonly list: readonly object[] } | { readonly one: object } | null;

export type RecordingServer = (request: RestRequest) => RestResponse;

export function recordingServer(recording: Recording, options: RecordingServerOptions = {}): RecordingServer {
  const at: Addresses = {
    api: (options.api ?? "https://api.github.com").replace(/\/+$/, ""),
    web: options.web ?? "https://github.com",
  };
  const threads = new RecordedThreads(recording);
  const prefix = new URL(at.api).pathname.replace(/\/+$/, "");
  return (request) => {
    const url = new URL(request.url);
    if (request.method !== "GET") return json(405, { message: "Method Not Allowed" });
    if (!url.pathname.startsWith(prefix)) return notFound();
    const path = url.pathname.slice(prefix.length);
    const found = answer(path.split("/").slice(1).map(decoded), url.searchParams, threads, at);
    if (found === null) return notFound();
    return "one" in found ? conditional(request, found.one, {}) : page(request, url, path, found.list, at, options);
  };
}

/** A `fetch` that a recording answers. Octokit takes it as `request.fetch`. */
export function recordingFetch(recording: Recording, options: RecordingServerOptions = {}): typeof fetch {
  const respond = recordingServer(recording, options);
  const root = recordingGraph(recording, options);
  return async (input, init) => {
    init?.signal?.throwIfAborted();
    if (init?.method === "POST") {
      const { executeQuery } = await import("./recording-graphql.js");
      const result = executeQuery(root, String(init.body));
      const { headers, body, status } = json(200, result, { "x-ratelimit-resource": "graphql" });
      return new Response(body, { status, headers });
    }
    const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
    const headers = Object.fromEntries(new Headers(init?.headers).entries());
    const response = respond({ method: init?.method ?? "GET", url, headers });
    const bodiless = response.status === 204 || response.status === 304;
    return new Response(bodiless ? null : response.body, { status: response.status, headers: response.headers });
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function answer(parts: readonly string[], query: URLSearchParams, threads: RecordedThreads, at: Addresses): Found {
  if (parts[0] === "rate_limit") return { one: { resources: { core: LIMIT }, rate: LIMIT } };
  if (parts[0] !== "repos") return null;
  const repository = `${parts[1]}/${parts[2]}`;
  const known = threads.of(repository);
  const isOwn = repository.toLowerCase() === threads.own.toLowerCase();
  if (!isOwn && known.length === 0) return null;
  const [kind, name, detail, ...rest] = parts.slice(3);
  if (rest.length > 0) return null;
  if (kind === undefined) {
    const full = isOwn ? threads.own : (known[0]?.repository ?? repository);
    return { one: { full_name: full, html_url: `${at.web}/${full}`, default_branch: threads.branch } };
  }
  if (kind === "commits" && name !== undefined) return commits(known, name, detail, threads, at);
  if (kind !== "issues" && kind !== "pulls") return null;
  if (name === undefined) return threadList(kind, known, query, threads, at);
  const thread = /^[0-9]{1,10}$/.test(name) ? threads.get(repository, Number(name)) : undefined;
  if (thread === undefined) return null;
  if (kind === "issues") {
    if (detail === undefined) return { one: issueObject(thread, at) };
    if (detail === "comments") return { list: commentObjects(thread, at) };
    return detail === "timeline" ? { list: timelineObjects(thread, threads, at) } : null;
  }
  if (thread.kind !== "pull") return null;
  if (detail === undefined) return { one: pullObject(thread, threads.branch, at) };
  if (detail === "files") return { list: fileObjects(thread.pull).slice(0, MOST_FILES) };
  if (detail !== "commits") return null;
  return {
    list: (thread.pull.commits ?? []).slice(0, MOST_COMMITS).map((commit) => commitObject(thread.repository, commit, at)),
  };
}

function commits(
  known: readonly Thread[],
  sha: string,
  detail: string | undefined,
  threads: RecordedThreads,
  at: Addresses,
): Found {
  const pulls = known.flatMap((thread) => (thread.kind === "pull" ? [thread] : []));
  const holding = pulls.filter(({ pull }) => pull.merge_commit_sha === sha || pull.commits?.some((commit) => commit.sha === sha));
  if (holding.length === 0) return null;
  if (detail === "pulls") return { list: holding.map((thread) => listedPullObject(thread, threads.branch, at)) };
  if (detail !== undefined) return null;
  const recorded = holding.flatMap(({ pull }) => pull.commits ?? []).find((commit) => commit.sha === sha);
  const base = holding[0]?.pull.base?.sha ?? null;
  const [first] = holding;
  const commit = recorded ?? { sha, message: first?.pull.title ?? "", parents: base === null ? [] : [base] };
  return { one: commitObject(first?.repository ?? "", commit, at) };
}

function threadList(
  kind: "issues" | "pulls",
  known: readonly Thread[],
  query: URLSearchParams,
  threads: RecordedThreads,
  at: Addresses,
): Found {
  const state = query.get("state") ?? "open";
  const since = query.get("since");
  const by = query.get("sort") === "updated" ? updatedAt : createdAt;
  const sign = query.get("direction") === "asc" ? 1 : -1;
  const chosen = known.filter((thread) => {
    const facts = thread.kind === "issue" ? thread.issue : thread.pull;
    if (kind === "pulls" && thread.kind !== "pull") return false;
    if (state !== "all" && facts.state !== state) return false;
    return kind === "pulls" || since === null || (millis(updatedAt(thread)) ?? 0) >= (millis(since) ?? 0);
  });
  chosen.sort((a, b) => sign * ((millis(by(a)) ?? 0) - (millis(by(b)) ?? 0) || numberOf(a) - numberOf(b)));
  return {
    list: chosen.map((thread) =>
      kind === "pulls" && thread.kind === "pull" ? listedPullObject(thread, threads.branch, at) : issueObject(thread, at),
    ),
  };
}

function createdAt(thread: Thread): string | null {
  return (thread.kind === "issue" ? thread.issue : thread.pull).created_at;
}

function millis(instant: string | null): number | null {
  if (instant === null) return null;
  const time = Date.parse(instant);
  return Number.isNaN(time) ? null : time;
}

function page(
  request: RestRequest,
  url: URL,
  path: string,
  list: readonly object[],
  at: Addresses,
  options: RecordingServerOptions,
): RestResponse {
  const most = options.maxPerPage ?? 100;
  const perPage = Math.min(most, Math.max(1, wholeNumber(url.searchParams.get("per_page")) ?? options.perPage ?? 30));
  const number = Math.max(1, wholeNumber(url.searchParams.get("page")) ?? 1);
  const last = Math.max(1, Math.ceil(list.length / perPage));
  const link = (to: number, rel: string) => {
    const query = new URLSearchParams(url.searchParams);
    query.set("page", String(to));
    return `<${at.api}${path}?${query}>; rel="${rel}"`;
  };
  const links: string[] = [];
  if (number > 1) links.push(link(number - 1, "prev"));
  if (number < last) links.push(link(number + 1, "next"), link(last, "last"));
  if (number > 1) links.push(link(1, "first"));
  return conditional(
    request,
    list.slice((number - 1) * perPage, number * perPage),
    links.length > 0 ? { link: links.join(", ") } : {},
  );
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
}

/** A recording has no limit; it states the one of a token that was never used, at a time that never comes near. */
const LIMIT = { limit: 5000, remaining: 5000, used: 0, reset: 4_102_444_800 };

function conditional(request: RestRequest, value: object, headers: Readonly<Record<string, string>>): RestResponse {
  const response = json(200, value, headers);
  const etag = `"${createHash("sha256")
    .update(response.body)
    .update(headers.link ?? "")
    .digest("hex")}"`;
  const given = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (given?.includes(etag)) return { status: 304, headers: { ...response.headers, etag }, body: "" };
  return { ...response, headers: { ...response.headers, etag } };
}

function notFound(): RestResponse {
  return json(404, { message: "Not Found", documentation_url: "https://docs.github.com/rest", status: "404" });
}

function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): RestResponse {
  return {
    status,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "x-ratelimit-limit": String(LIMIT.limit),
      "x-ratelimit-remaining": String(LIMIT.remaining),
      "x-ratelimit-used": String(LIMIT.used),
      "x-ratelimit-reset": String(LIMIT.reset),
      "x-ratelimit-resource": "core",
      ...headers,
    },
    body: JSON.stringify(value),
  };
}
