/**
 * A local HTTP server that answers GitHub's REST API from a recording, and misbehaves exactly as a test scripts it.
 *
 * Each request is logged. A script is asked once per request and gives a fault or null; `hold` keeps an answer back until the test
 * releases it, so that every interleaving can be made without sleeping.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Recording } from "../../src/github/recording.js";
import { type RecordingServer, recordingServer } from "../../src/github/recording-server.js";
import { type GraphQLAnswer, graphqlEndpoint } from "./github-graphql.js";
import { openapiMistakes } from "./github-openapi.js";

export type Fault =
  /** `reset`: seconds from now. Answers 403 with remaining 0. */
  | { readonly type: "primary-limit"; readonly reset: number }
  | { readonly type: "secondary-limit"; readonly status: 403 | 429; readonly retryAfter?: number | string }
  | {
      readonly type: "status";
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The socket closes before (`at: "start"`) or within the body. */
  | { readonly type: "reset"; readonly at: "start" | "body" }
  | { readonly type: "html"; readonly status: number }
  /** The body ends early; the length is that of what was sent, so that only a parser notices. */
  | { readonly type: "truncated" }
  | { readonly type: "empty" }
  | { readonly type: "wrong-type" }
  /** Replaces the `Link` header. */
  | { readonly type: "link"; readonly link: string }
  /** Never answers (until the server closes). */
  | { readonly type: "silent" }
  | { readonly type: "redirect"; readonly status: 301 | 302 | 307; readonly location: string }
  | { readonly type: "headers"; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: "body"; readonly body: string }
  /** Changes a GraphQL answer: errors in a 200, a part that is missing. */
  | {
      readonly type: "graphql";
      readonly change: (answer: GraphQLAnswer) => GraphQLAnswer;
      readonly headers?: Readonly<Record<string, string>>;
    };

export interface LoggedRequest {
  /** 0-based. */
  readonly index: number;
  readonly method: string;
  /** Path with query, without the prefix. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Of a POST, as it came; empty otherwise. */
  readonly body: string;
}

export interface GitHubServerOptions {
  /** Asked once per request, before the answer. */
  readonly script?: (request: LoggedRequest, attempt: number) => Fault | null;
  /** Only `Bearer`/`token` with this value is let in; null = only requests without a token. Default: anything. */
  readonly token?: string | null;
  /** Path below which the API lies: `/api/v3`. GraphQL then lies beside it, as on GitHub Enterprise. */
  readonly prefix?: string;
  /** False: GraphQL does not exist there (404). */
  readonly graphql?: boolean;
  /** Requests whose path contains this are held until `release`. */
  readonly hold?: (request: LoggedRequest) => boolean;
}

export class GitHubServer {
  readonly url: string;
  readonly requests: LoggedRequest[] = [];
  /** Requests that GitHub's published descriptions do not allow, and answers that they don't. Every test may expect none. */
  readonly mistakes: string[] = [];
  /** Complete answers that went out. */
  answered = 0;
  readonly #close: () => Promise<void>;
  readonly #held: (() => void)[];
  readonly #heldListeners: (() => void)[];

  private constructor(
    url: string,
    requests: LoggedRequest[],
    close: () => Promise<void>,
    held: (() => void)[],
    listeners: (() => void)[],
  ) {
    this.url = url;
    this.requests = requests;
    this.#close = close;
    this.#held = held;
    this.#heldListeners = listeners;
  }

  static async start(recording: Recording, options: GitHubServerOptions = {}): Promise<GitHubServer> {
    const requests: LoggedRequest[] = [];
    const attempts = new Map<string, number>();
    const held: (() => void)[] = [];
    const heldListeners: (() => void)[] = [];
    const prefix = options.prefix ?? "";
    let respond: RecordingServer | undefined;
    let running: GitHubServer | undefined;
    let base = "";

    const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const graphqlPath = prefix === "" ? "/graphql" : "/api/graphql";
      const isGraphql = request.url === graphqlPath && options.graphql !== false;
      const path = isGraphql ? "/graphql" : (request.url ?? "/").slice(prefix.length);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString("utf8");
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const logged = { index: requests.length, method: request.method ?? "GET", path, headers, body };
      requests.push(logged);
      const attempt = (attempts.get(path) ?? 0) + 1;
      attempts.set(path, attempt);
      if (!isLetIn(options.token, headers.authorization)) {
        send(response, 401, {}, '{"message":"Bad credentials"}');
        return;
      }
      if (options.hold?.(logged) === true) {
        await new Promise<void>((resolve) => {
          held.push(resolve);
          for (const listener of heldListeners.splice(0)) listener();
        });
      }
      const fault = options.script?.(logged, attempt) ?? null;
      if (isGraphql && headers.authorization === undefined) {
        send(response, 401, {}, '{"message":"This endpoint requires you to be authenticated."}');
        return;
      }
      const answer = isGraphql ? answerGraphql(body) : respond?.({ method: logged.method, url: `${base}${path}`, headers });
      if (answer === undefined) return;
      if (!isGraphql && logged.method === "GET") running?.mistakes.push(...openapiMistakes(path, answer));
      if (fault === null) send(response, answer.status, answer.headers, answer.body);
      else misbehave(fault, request, response, answer);
      if (running !== undefined && fault === null) running.answered += 1;
    };
    const graph = graphqlEndpoint(recording);
    const answerGraphql = (body: string): ReturnType<RecordingServer> => {
      try {
        return { status: 200, headers: GRAPHQL_LIMIT, body: JSON.stringify(graph(body)) };
      } catch (error) {
        // A mistake of ours, not of a server: remembered, so that a test fails on it even where the client copes with it.
        running?.mistakes.push(String(error));
        return {
          status: 200,
          headers: GRAPHQL_LIMIT,
          body: JSON.stringify({ errors: [{ type: "MISTAKE", message: String(error) }] }),
        };
      }
    };
    const server = createServer((request, response) => void handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;
    respond = recordingServer(recording, { api: base });
    const close = () =>
      new Promise<void>((resolve) => {
        for (const release of held.splice(0)) release();
        server.closeAllConnections();
        server.close(() => resolve());
      });
    running = new GitHubServer(base, requests, close, held, heldListeners);
    return running;
  }

  /** Resolves when at least one request is held. */
  async whenHeld(): Promise<void> {
    if (this.#held.length > 0) return;
    await new Promise<void>((resolve) => this.#heldListeners.push(resolve));
  }

  release(): void {
    for (const release of this.#held.splice(0)) release();
  }

  count(part: string): number {
    return this.requests.filter(({ path }) => path.includes(part)).length;
  }

  close(): Promise<void> {
    return this.#close();
  }
}

const GRAPHQL_LIMIT = {
  "content-type": "application/json; charset=utf-8",
  "x-ratelimit-limit": "5000",
  "x-ratelimit-remaining": "5000",
  "x-ratelimit-used": "0",
  "x-ratelimit-reset": "4102444800",
  "x-ratelimit-resource": "graphql",
};

function isLetIn(expected: string | null | undefined, authorization: string | undefined): boolean {
  if (expected === undefined) return true;
  if (expected === null) return authorization === undefined;
  return authorization === `token ${expected}` || authorization === `Bearer ${expected}`;
}

function send(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, body: string): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
  response.end(status === 304 || status === 204 ? undefined : body);
}

function misbehave(fault: Fault, request: IncomingMessage, response: ServerResponse, answer: ReturnType<RecordingServer>): void {
  switch (fault.type) {
    case "primary-limit":
      send(
        response,
        403,
        {
          "x-ratelimit-limit": "5000",
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + fault.reset),
        },
        '{"message":"API rate limit exceeded"}',
      );
      return;
    case "secondary-limit":
      send(
        response,
        fault.status,
        fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) },
        '{"message":"You have exceeded a secondary rate limit"}',
      );
      return;
    case "status":
      send(response, fault.status, fault.headers ?? {}, fault.body ?? `{"message":"status ${fault.status}"}`);
      return;
    case "reset":
      if (fault.at === "body") {
        response.writeHead(200, { ...answer.headers, "content-length": String(Buffer.byteLength(answer.body)) });
        response.write(answer.body.slice(0, Math.max(1, answer.body.length >> 1)), () => request.socket.destroy());
      } else request.socket.destroy();
      return;
    case "html":
      send(response, fault.status, { "content-type": "text/html" }, "<!DOCTYPE html><html><body>Unicorn!</body></html>");
      return;
    case "truncated":
      send(response, answer.status, answer.headers, answer.body.slice(0, Math.max(1, answer.body.length >> 1)));
      return;
    case "empty":
      send(response, 200, answer.headers, "");
      return;
    case "wrong-type":
      send(response, answer.status, { ...answer.headers, "content-type": "text/plain" }, answer.body);
      return;
    case "link":
      send(response, answer.status, { ...answer.headers, link: fault.link }, answer.body);
      return;
    case "silent":
      return;
    case "redirect":
      send(response, fault.status, { location: fault.location }, "");
      return;
    case "headers":
      send(response, answer.status, { ...answer.headers, ...fault.headers }, answer.body);
      return;
    case "body":
      send(response, 200, answer.headers, fault.body);
      return;
    case "graphql":
      send(response, 200, { ...answer.headers, ...fault.headers }, JSON.stringify(fault.change(JSON.parse(answer.body))));
      return;
  }
}
