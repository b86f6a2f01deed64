/**
 * LightRAG's HTTP interface, as far as benchmarking needs it: one call, its failures in words, and the documents that a server holds.
 *
 * The server says little about its own failures (500 with a number for its log), so what can be told apart is told apart here: no server,
 * no right, too long, too many, not this version.
 */
import { visible } from "../base/diagnostics.js";
import { type Digest, digestJson } from "../base/json.js";

export interface LightragServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string | undefined;
  readonly keyName: string;
  readonly fetch: typeof fetch;
}

export interface LightragFailure {
  readonly status: "failed" | "timed_out" | "rate_limited";
  readonly message: string;
  readonly retry?: { readonly after?: number };
  /** It is so for every question. */
  readonly ofAll?: "fail";
  /** HTTP status; null = no answer. */
  readonly http: number | null;
}

export type Called<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: LightragFailure };

/** JSON in, JSON out. Never throws for what the server does. */
export async function call(
  server: LightragServer,
  method: "GET" | "POST",
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<Called<unknown>> {
  let response: Response;
  let text: string;
  try {
    response = await server.fetch(`${server.url}${path}`, {
      method,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(server.key === undefined ? {} : { "X-API-Key": server.key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "error",
      signal,
    });
    text = await response.text();
  } catch (error) {
    return { ok: false, error: unreachable(server, error, signal) };
  }
  if (!response.ok) return { ok: false, error: refused(server, path, response, text) };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return {
      ok: false,
      error: {
        status: "failed",
        message: `${server.url}${path} answered with something that is not JSON: is that address LightRAG's?`,
        http: response.status,
      },
    };
  }
}

function unreachable(server: LightragServer, error: unknown, signal: AbortSignal): LightragFailure {
  if (signal.aborted) {
    const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
    return timedOut
      ? { status: "timed_out", message: "LightRAG gave no answer in time: raise `timeout`, or look at its log", http: null }
      : { status: "failed", message: "the question was stopped before LightRAG answered", http: null };
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const why = visible(cause instanceof Error ? cause.message : String(cause)).slice(0, 200);
  const message =
    code === "ECONNREFUSED" || code === "ENOTFOUND"
      ? `no LightRAG server answers at ${server.url} (${code}): start lightrag-server, or check \`url\``
      : `the connection to ${server.url} broke (${code || why}): see whether lightrag-server still runs`;
  return { status: "failed", message, retry: {}, http: null };
}

function refused(server: LightragServer, path: string, response: Response, text: string): LightragFailure {
  const http = response.status;
  const detail = visible(detailOf(text)).slice(0, 400);
  const said = detail === "" ? "" : `: ${detail}`;
  const after = Number(response.headers.get("retry-after"));
  const retry = Number.isFinite(after) && after > 0 ? { after } : {};
  switch (http) {
    case 401:
    case 403:
      return {
        status: "failed",
        message:
          server.key === undefined
            ? `${server.url} wants an API key${said}: set the environment variable ${server.keyName}`
            : `${server.url} refuses the API key${said}: check the environment variable ${server.keyName}`,
        ofAll: "fail",
        http,
      };
    case 404:
    case 405:
      return {
        status: "failed",
        message: `${server.url} has no ${path}${said}: it is another program, behind another path, or a LightRAG older than that interface`,
        ofAll: "fail",
        http,
      };
    case 400:
    case 422:
      return { status: "failed", message: `LightRAG does not accept the request${said}`, http };
    case 413:
      return {
        status: "failed",
        message: `the request is longer than LightRAG accepts${said}: raise MAX_REQUEST_BODY_BYTES at the server`,
        http,
      };
    case 429:
      return { status: "rate_limited", message: `LightRAG has too much to do${said}`, retry, http };
    case 500:
      return {
        status: "failed",
        message: `LightRAG failed inside${said}: its log says why (mostly its model or embedding server)`,
        retry,
        http,
      };
    case 502:
    case 503:
    case 504:
      return { status: "failed", message: `LightRAG is not ready (HTTP ${http}${said})`, retry, http };
    default:
      return { status: "failed", message: `LightRAG answered HTTP ${http}${said}`, http };
  }
}

/** `detail` (a text, or FastAPI's list of `{loc, msg}`), or `message`. */
function detailOf(text: string): string {
  try {
    const body = JSON.parse(text) as { detail?: unknown; message?: unknown };
    if (typeof body.detail === "string") return body.detail;
    if (Array.isArray(body.detail)) {
      return body.detail
        .slice(0, 3)
        .map((entry: { loc?: unknown; msg?: unknown }) => {
          const place = Array.isArray(entry?.loc) ? `${entry.loc.join(".")}: ` : "";
          return `${place}${String(entry?.msg ?? "")}`;
        })
        .join("; ");
    }
    if (typeof body.message === "string") return body.message;
  } catch {
    // No JSON: a proxy's page is of no use to anybody.
  }
  return "";
}

export interface StoredDocument {
  readonly id: string;
  readonly path: string;
  /** Lower case: `processed`, `failed`, else on its way. */
  readonly status: string;
  readonly chunks: number | null;
  readonly created: string | null;
  readonly error: string | null;
}

const PAGE = 200;
/** A server with more documents than that is not ours. */
const MOST_PAGES = 1000;

/** Every document that the server holds, sorted by path. */
export async function documents(server: LightragServer, signal: AbortSignal): Promise<Called<StoredDocument[]>> {
  const found: StoredDocument[] = [];
  for (let page = 1; page <= MOST_PAGES; page++) {
    const answered = await call(
      server,
      "POST",
      "/documents/paginated",
      { page, page_size: PAGE, sort_field: "id", sort_direction: "asc" },
      signal,
    );
    if (!answered.ok) return answered;
    const body = answered.value as { documents?: unknown; pagination?: { has_next?: unknown } } | null;
    for (const entry of Array.isArray(body?.documents) ? body.documents : []) {
      const { id, file_path, status, chunks_count, created_at, error_msg } = (entry ?? {}) as Record<string, unknown>;
      found.push({
        id: String(id),
        path: pathOfSource(String(file_path ?? "")),
        status: String(status)
          .toLowerCase()
          .replace(/^docstatus\./, ""),
        chunks: typeof chunks_count === "number" ? chunks_count : null,
        created: typeof created_at === "string" ? created_at : null,
        error: typeof error_msg === "string" && error_msg !== "" ? error_msg : null,
      });
    }
    if (body?.pagination?.has_next !== true) break;
  }
  return { ok: true, value: found.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)) };
}

/** What stands for the contents of a server: other documents, or the same ones indexed again, are another index. */
export function documentsDigest(stored: readonly StoredDocument[]): Digest {
  return digestJson(stored.map(({ id, path, chunks, created }) => [id, path, chunks, created]));
}

/**
 * A path as the source of a document. Recent servers keep only what follows the last `/` and refuse a second document of that name, so that
 * `a/X.java` and `b/X.java` would be one; encoded, a path has no `/`. Brackets are encoded too: the server reads them as hints.
 */
export function sourceOfPath(path: string): string {
  return encodeURIComponent(wellFormed(path)).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** With U+FFFD for lone surrogates, which no JSON or address can carry. */
export function wellFormed(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** The path behind a source; one that was not encoded (documents that others put there) stays as it is. */
export function pathOfSource(source: string): string {
  if (!source.includes("%")) return source;
  try {
    return decodeURIComponent(source);
  } catch {
    return source;
  }
}
