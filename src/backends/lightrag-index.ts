/**
 * LightRAG's index of a source tree: its files as documents of a running server, which indexes them in the background.
 *
 * A server holds one index. It is filled, not replaced: documents that are there already are left alone (so an attempt that broke off goes
 * on), and a server that holds other documents is refused, because what it finds among them would count against it.
 */
import * as z from "zod";
import type { Json } from "../base/json.js";
import type { Corpus } from "../corpus/contract.js";
import type { BackendEnvironment } from "./contract.js";
import type { IndexOutcome, IndexTool } from "./index-tool.js";
import { serverOf, serverOptions } from "./lightrag.js";
import {
  call,
  documents,
  documentsDigest,
  type LightragFailure,
  type LightragServer,
  type StoredDocument,
  sourceOfPath,
  wellFormed,
} from "./lightrag-client.js";

const options = z.strictObject({
  ...serverOptions,
  identity: z
    .unknown()
    .optional()
    .describe("What the server runs on (models, chunking) where it does not say so itself; part of the key."),
  timeout: z.number().positive().nullable().default(21_600).describe("Seconds per attempt; null = none."),
});
type Options = z.infer<typeof options>;

/** Well below the server's limit of 1 MiB per request. */
const BATCH_BYTES = 256 * 1024;
const BATCH_DOCUMENTS = 50;
const POLL_MS = 2000;
const MOST_WAITS = 20;

export const lightragIndex: IndexTool<Options> = {
  kind: "lightrag",
  summary: "Documents of a running LightRAG server.",
  version: 1,
  options,
  identityOf: ({ url, identity }) => ({ url, identity: (identity ?? null) as Json }),
  pathBound: false,
  concurrency: () => 1,
  timeout: ({ timeout }) => timeout,
  build: (config, { corpus }, environment, signal) => build(config, corpus, environment, signal),
};

async function build(
  config: Options,
  corpus: Corpus,
  environment: BackendEnvironment,
  signal: AbortSignal,
): Promise<IndexOutcome> {
  const server = serverOf(config, environment);
  const health = await call(server, "GET", "/health", undefined, signal);
  if (!health.ok) return failure(health.error);
  const wanted: string[] = [];
  for (const { path } of corpus.tree.files) {
    const text = await corpus.text(path);
    if (!text.includes("\u0000") && text.trim() !== "") wanted.push(path);
  }
  if (wanted.length === 0) return { type: "failed", message: "the source tree has no text files: there is nothing to index" };
  const before = await documents(server, signal);
  if (!before.ok) return failure(before.error);
  const expected = new Set(wanted);
  const foreign = before.value.filter(({ path }) => !expected.has(path));
  if (foreign.length > 0) {
    return {
      type: "failed",
      message: `the server at ${server.url} holds ${foreign.length} documents that are not of this source tree (${foreign[0]?.path.slice(0, 200)}): start one with an empty --working-dir for it (a LightRAG server holds one index)`,
    };
  }
  const there = new Set(before.value.map(({ path }) => path));
  const problem = await upload(
    server,
    corpus,
    wanted.filter((path) => !there.has(path)),
    environment,
    signal,
  );
  if (problem !== null) return failure(problem);
  if (before.value.some(({ status }) => status === "failed")) {
    const again = await call(server, "POST", "/documents/reprocess_failed", undefined, signal);
    if (!again.ok) return failure(again.error);
  }
  const settled = await wait(server, wanted.length, environment, signal);
  if (!Array.isArray(settled)) return failure(settled);
  const broken = settled.filter(({ status }) => status === "failed");
  if (broken.length > 0) {
    const [first] = broken;
    return {
      type: "failed",
      message: `LightRAG could not index ${broken.length} of ${wanted.length} documents (${first?.path}: ${first?.error?.slice(0, 300) ?? "no reason given"}); see its log`,
      retry: {},
    };
  }
  return {
    type: "built",
    keep: [],
    digest: documentsDigest(settled),
    facts: {
      documents: settled.length,
      chunks: settled.reduce((sum, { chunks }) => sum + (chunks ?? 0), 0),
      ...serverFacts(health.value),
    },
  };
}

/** Sends the documents that are missing, a few at a time. The path stands in the text, too: it makes equal files different documents. */
async function upload(
  server: LightragServer,
  corpus: Corpus,
  paths: readonly string[],
  environment: BackendEnvironment,
  signal: AbortSignal,
): Promise<LightragFailure | null> {
  let batch: { path: string; text: string }[] = [];
  let size = 0;
  const send = async (): Promise<LightragFailure | null> => {
    if (batch.length === 0) return null;
    const body = { texts: batch.map(({ text }) => text), file_sources: batch.map(({ path }) => sourceOfPath(path)) };
    batch = [];
    size = 0;
    for (let attempt = 1; ; attempt++) {
      const sent = await call(server, "POST", "/documents/texts", body, signal);
      if (sent.ok) return null;
      // Full for the moment: places come free as documents are done.
      if (sent.error.http !== 429 || attempt > MOST_WAITS) return sent.error;
      await environment.sleep((sent.error.retry?.after ?? 5) * 1000, signal).catch(() => {});
      if (signal.aborted) return sent.error;
    }
  };
  for (const path of paths) {
    const text = `File: ${path}\n\n${wellFormed(await corpus.text(path))}`;
    const bytes = Buffer.byteLength(text);
    if (batch.length >= BATCH_DOCUMENTS || (batch.length > 0 && size + bytes > BATCH_BYTES)) {
      const problem = await send();
      if (problem !== null) return problem;
    }
    batch.push({ path, text });
    size += bytes;
  }
  return send();
}

/** Until every document is done or has failed. Uploading answers before the documents are listed, so their number counts, too. */
async function wait(
  server: LightragServer,
  expected: number,
  environment: BackendEnvironment,
  signal: AbortSignal,
): Promise<StoredDocument[] | LightragFailure> {
  let idle = 0;
  for (;;) {
    const stored = await documents(server, signal);
    if (!stored.ok) return stored.error;
    const open = stored.value.filter(({ status }) => status !== "processed" && status !== "failed").length;
    if (open === 0 && stored.value.length >= expected) return stored.value;
    const pipeline = await call(server, "GET", "/documents/pipeline_status", undefined, signal);
    if (!pipeline.ok) return pipeline.error;
    idle = (pipeline.value as { busy?: unknown } | null)?.busy === true ? 0 : idle + 1;
    if (idle > MOST_WAITS) {
      return {
        status: "failed",
        message: `LightRAG stopped indexing with ${open} documents undone and ${expected - stored.value.length} not taken up: see its log`,
        retry: {},
        http: null,
      };
    }
    await environment.sleep(POLL_MS, signal).catch(() => {});
    if (signal.aborted) {
      return {
        status: "failed",
        message: "indexing was stopped; the server goes on, and the next attempt looks at what it has",
        http: null,
      };
    }
  }
}

/** Versions and models, as far as the server tells them (to those with a key, in recent releases). */
function serverFacts(health: unknown): Record<string, Json> {
  const { core_version, api_version, configuration } = (health ?? {}) as Record<string, unknown>;
  const facts: Record<string, Json> = {};
  if (typeof core_version === "string") facts.core_version = core_version;
  if (typeof api_version === "string") facts.api_version = api_version;
  const told = (configuration ?? {}) as Record<string, unknown>;
  for (const name of ["llm_binding", "llm_model", "embedding_binding", "embedding_model", "workspace"]) {
    const value = told[name];
    if (typeof value === "string" && value !== "") facts[name] = value;
  }
  return facts;
}

function failure({ message, retry }: LightragFailure): IndexOutcome {
  return { type: "failed", message, ...(retry === undefined ? {} : { retry }) };
}
