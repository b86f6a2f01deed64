/**
 * One HTTP exchange of JSON, and every way in which it can end, as data.
 *
 * Over `node:http` and not `fetch`: fetch gives up after five minutes without a header, which is nothing for a large model on a small
 * machine, and follows redirects, with the key, to wherever they lead. No connection is kept: a call takes seconds, and an idle one that
 * the server closed a moment ago would look like a failure.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly key: string | null;
  /** JSON. */
  readonly body?: string;
  /** Bytes of the answer beyond which it is given up. */
  readonly maxBytes: number;
}

export type HttpEnd =
  | { readonly type: "answer"; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  /** The connection ended inside the answer. */
  | { readonly type: "cut"; readonly received: number }
  | { readonly type: "too-large" }
  | { readonly type: "unreadable"; readonly message: string }
  | { readonly type: "unreachable"; readonly code: string; readonly message: string }
  | { readonly type: "aborted" };

const httpAgent = new HttpAgent({ keepAlive: false });
const httpsAgent = new HttpsAgent({ keepAlive: false });

export function exchange({ method, url, key, body, maxBytes }: HttpRequest, signal: AbortSignal): Promise<HttpEnd> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ type: "aborted" });
    const secure = url.startsWith("https:");
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const headers = {
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": "bench",
      ...(bytes === undefined ? {} : { "content-type": "application/json", "content-length": String(bytes.length) }),
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    };
    let answered = false;
    const fail = (error: Error & { code?: unknown }) => {
      if (signal.aborted) resolve({ type: "aborted" });
      // Once the answer comes, its own end says what became of it (a server may answer before it has read a long question).
      else if (!answered) resolve({ type: "unreachable", code: String(error.code ?? error.name), message: error.message });
    };
    const options = { method, headers, signal, agent: secure ? httpsAgent : httpAgent };
    const sent = (secure ? httpsRequest : httpRequest)(url, options, (response) => {
      answered = true;
      receive(response, maxBytes, signal).then((end) => {
        response.destroy();
        resolve(end);
      }, fail);
    });
    sent.on("error", fail);
    sent.end(bytes);
  });
}

async function receive(response: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<HttpEnd> {
  const chunks: Buffer[] = [];
  let received = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      received += chunk.length;
      if (received > maxBytes) return { type: "too-large" };
      chunks.push(chunk);
    }
  } catch {
    return signal.aborted ? { type: "aborted" } : { type: "cut", received };
  }
  if (!response.complete) return { type: "cut", received };
  try {
    const bytes = decompressed(Buffer.concat(chunks), response.headers["content-encoding"], maxBytes);
    return { type: "answer", status: response.statusCode ?? 0, headers: response.headers, body: bytes.toString("utf8") };
  } catch (error) {
    return { type: "unreadable", message: error instanceof Error ? error.message : String(error) };
  }
}

/** Some gateways compress although they were asked not to. */
function decompressed(bytes: Buffer, encoding: string | undefined, maxOutputLength: number): Buffer {
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case "":
    case "identity":
      return bytes;
    case "gzip":
    case "x-gzip":
      return gunzipSync(bytes, { maxOutputLength });
    case "deflate":
      return inflateSync(bytes, { maxOutputLength });
    case "br":
      return brotliDecompressSync(bytes, { maxOutputLength });
    default:
      throw new Error(`its encoding ${JSON.stringify(encoding)} is unknown`);
  }
}
