/**
 * Answers that are kept below the units of work: each is on disk before anyone reads it, with its ETag.
 *
 * Two things need it. A unit that makes several requests (a timeline of five pages, a pull request that many issues name) and is killed
 * halfway must not ask again for what it had; and a conditional request is worth nothing without the body that a 304 refers to.
 * Losing an entry costs a request and nothing else, so whatever is unreadable counts as absent.
 */
import type { Digest, Json } from "../base/json.js";
import { isFields } from "./fields.js";

export interface AnswerStore {
  /** `github-etags`. */
  readonly memory: { get(key: string): Promise<Json | undefined>; set(key: string, value: Json): Promise<void> };
  readonly putBytes: (bytes: Uint8Array) => Promise<Digest>;
  readonly getBytes: (digest: Digest) => Promise<Uint8Array>;
}

export interface KeepOptions {
  /** Ask again, conditionally. Otherwise a kept answer that is young enough is used as it is. */
  readonly refresh: boolean;
  readonly now: () => number;
  readonly saved: () => void;
}

/** Units are stored for good; this only bridges a run that stopped and goes on. After that a kept answer serves for its ETag alone. */
export const BRIDGE = 12 * 60 * 60 * 1000;

interface Kept {
  readonly status: 200 | 404;
  readonly etag: string | null;
  readonly link: string | null;
  readonly digest: Digest;
  readonly at: number;
}

export function keptFetch(send: typeof fetch, store: AnswerStore, options: KeepOptions): typeof fetch {
  return async (input, init) => {
    if ((init?.method ?? "GET") !== "GET") return send(input, init);
    const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
    const kept = await read(store, url);
    if (kept !== null && !options.refresh && options.now() - kept.at < BRIDGE) {
      const response = await rebuilt(store, kept);
      if (response !== null) {
        options.saved();
        return response;
      }
    }
    const body = kept?.status === 200 && kept.etag !== null ? await rebuilt(store, kept) : null;
    const headers = new Headers(init?.headers);
    if (body !== null && kept?.etag != null) headers.set("if-none-match", kept.etag);
    const response = await send(input, { ...init, headers });
    if (response.status === 304 && body !== null && kept !== null) {
      await write(store, url, { ...kept, at: options.now() });
      return body;
    }
    if (response.status !== 200 && response.status !== 404) return response;
    const text = await response.text();
    const digest = await store.putBytes(Buffer.from(text, "utf8"));
    await write(store, url, {
      status: response.status,
      etag: response.headers.get("etag"),
      link: response.headers.get("link"),
      digest,
      at: options.now(),
    });
    return new Response(text, { status: response.status, headers: response.headers });
  };
}

async function read(store: AnswerStore, url: string): Promise<Kept | null> {
  const value = await store.memory.get(url).catch(() => undefined);
  if (!isFields(value)) return null;
  const { status, etag, link, digest, at } = value;
  if ((status !== 200 && status !== 404) || typeof digest !== "string" || typeof at !== "number") return null;
  return {
    status,
    etag: typeof etag === "string" ? etag : null,
    link: typeof link === "string" ? link : null,
    digest: digest as Digest,
    at,
  };
}

async function write(store: AnswerStore, url: string, kept: Kept): Promise<void> {
  await store.memory.set(url, { ...kept });
}

async function rebuilt(store: AnswerStore, kept: Kept): Promise<Response | null> {
  const bytes = await store.getBytes(kept.digest).catch(() => null);
  if (bytes === null) return null;
  const headers = new Headers({ "content-type": "application/json; charset=utf-8" });
  if (kept.link !== null) headers.set("link", kept.link);
  return new Response(Buffer.from(bytes).toString("utf8"), { status: kept.status, headers });
}
