/**
 * `embedding`: files by the likeness of meaning, as a model's vectors have it. Every file is cut into stretches of lines; a file is as near to
 * the question as its nearest stretch, and the answer says which one that is.
 */
import { err, ok, type Result } from "../base/result.js";
import type { Corpus } from "../corpus/contract.js";
import { type Chunk, chunksOf } from "./chunks.js";
import type { Backend, BackendEnvironment, BackendKind, Question, RawAnswer } from "./contract.js";
import { embeddingDoctor } from "./embedding-doctor.js";
import { type EmbeddingModel, openModel } from "./embedding-model.js";
import {
  type EmbeddingOptions,
  embeddingEndpoint,
  embeddingIdentity,
  embeddingOptions,
  isRemote,
  vectorIdentity,
} from "./embedding-options.js";
import { byScore, completed, isBinary, type LineRange, rankedResponse, rounded } from "./ranked.js";
import { type FileVectors, type VectorStore, vectorStore } from "./vector-store.js";

/** Characters of a token in English and in code, roughly; for estimates only. */
const CHARACTERS_PER_TOKEN = 4;
/** Trees whose vectors stay in memory. */
const KEPT_TREES = 4;

export const embedding: BackendKind<EmbeddingOptions> = {
  kind: "embedding",
  summary: "Files by the likeness of their vectors: an OpenAI-compatible /embeddings endpoint, or a local ONNX model.",
  version: 1,
  options: embeddingOptions,
  identityOf: embeddingIdentity,
  needsCorpus: true,
  readsTruth: false,
  readsDataset: false,
  prompt: "text",
  resource: (options) => (isRemote(options) ? `embedding:${embeddingEndpoint(options).host}` : "embedding:local"),
  concurrency: ({ provider, concurrency }) => (provider === "local" ? 1 : concurrency),
  adaptive: true,
  breaker: 10,
  timeout: ({ timeout }) => timeout,
  doctor: embeddingDoctor,
  // The tree's own tokens come on top, once per tree; how many are new is known only when it is read.
  estimator:
    async ({ provider }) =>
    ({ prompt }) => ({
      tokens: Math.ceil(prompt.length / CHARACTERS_PER_TOKEN),
      usd: provider === "local" || provider === "ollama" ? 0 : null,
    }),
  open: async (options, environment) => openBackend(options, environment, await openModel(options, environment)),
};

function openBackend(options: EmbeddingOptions, environment: BackendEnvironment, model: EmbeddingModel): Backend {
  const folder = environment.cacheFolder?.("vectors") ?? null;
  const store = vectorStore(folder, vectorIdentity(options));
  const trees = new Map<string, Promise<Result<Indexed, RawAnswer>>>();
  const indexOf = (corpus: Corpus, signal: AbortSignal) => {
    const known = trees.get(corpus.digest);
    if (known !== undefined) return { indexed: known, mine: false };
    const indexed = indexTree(corpus, options, model, store, signal);
    trees.set(corpus.digest, indexed);
    // A failure, or a damaged cache entry that is about to be repaired, must not be remembered.
    const forget = () => {
      if (trees.get(corpus.digest) === indexed) trees.delete(corpus.digest);
    };
    indexed.then((result) => (result.ok ? undefined : forget()), forget);
    for (const oldest of trees.keys()) {
      if (trees.size <= KEPT_TREES) break;
      trees.delete(oldest);
    }
    return { indexed, mine: true };
  };
  return {
    ask: (question, signal) => ask(question, options, model, indexOf, signal),
    close: async () => {},
  };
}

interface Indexed {
  readonly files: readonly { readonly path: string; readonly vectors: FileVectors }[];
  /** Stretches that were embedded now, and their tokens; null = the server does not say. */
  readonly embedded: number;
  readonly tokens: number | null;
}

async function ask(
  { prompt, corpus }: Question,
  options: EmbeddingOptions,
  model: EmbeddingModel,
  indexOf: (
    corpus: Corpus,
    signal: AbortSignal,
  ) => { readonly indexed: Promise<Result<Indexed, RawAnswer>>; readonly mine: boolean },
  signal: AbortSignal,
): Promise<RawAnswer> {
  if (corpus === undefined) throw new Error("embedding was asked without a source tree");
  const { indexed, mine } = indexOf(corpus, signal);
  const index = await indexed;
  if (!index.ok) {
    const { error } = index;
    // Whoever began it was stopped or ran out of time; this question was not.
    return mine || signal.aborted || error.ofAll !== undefined || !["timed_out", "failed"].includes(error.status)
      ? error
      : { ...error, status: "failed", retry: error.retry ?? {} };
  }
  const asked = await model.embed([options.query_prefix + prompt], signal);
  if (!asked.ok) return asked.error;
  const [query] = asked.value.vectors;
  if (query === undefined) throw new Error("the model gave no vector");
  const answer = completed(rankedResponse(ranked(index.value, query).slice(0, options.top)), {
    // Who makes the index pays for it, and says so.
    index: { files: index.value.files.length, embedded: mine ? index.value.embedded : 0 },
  });
  const { tokens } = asked.value;
  const indexing = mine ? index.value.tokens : 0;
  return {
    ...answer,
    usage: {
      input_tokens: tokens === null || indexing === null ? null : tokens + indexing,
      cost_usd: options.provider === "local" ? 0 : null,
    },
  };
}

/** A file is as near as its nearest stretch; files that point the other way are no answer. */
function ranked({ files }: Indexed, query: Float32Array) {
  return files
    .map(({ path, vectors }) => {
      let best: { score: number; lines: LineRange } | null = null;
      for (const { lines, vector } of vectors) {
        let product = 0;
        for (let i = 0; i < vector.length; i++) product += (vector[i] ?? 0) * (query[i] ?? 0);
        const score = rounded(product);
        if (best === null || score > best.score) best = { score, lines };
      }
      return { path, score: best?.score ?? 0, ...(best === null ? {} : { lines: best.lines }) };
    })
    .filter(({ score }) => score > 0)
    .sort(byScore);
}

async function indexTree(
  corpus: Corpus,
  options: EmbeddingOptions,
  model: EmbeddingModel,
  store: VectorStore,
  signal: AbortSignal,
): Promise<Result<Indexed, RawAnswer>> {
  const files: { path: string; vectors: FileVectors }[] = [];
  let waiting: FileToEmbed[] = [];
  let embedded = 0;
  let tokens: number | null = 0;
  /** Embeds what waits, in calls of one batch that may span files. What came is kept even if the next call fails. */
  const flush = async (): Promise<RawAnswer | null> => {
    const chunks = waiting.flatMap((file) => file.chunks.map((chunk) => ({ file, chunk })));
    let failure: RawAnswer | null = null;
    for (let start = 0; start < chunks.length && failure === null; start += options.batch) {
      const batch = chunks.slice(start, start + options.batch);
      const result = await model.embed(
        batch.map(({ file, chunk }) => `${options.passage_prefix}${file.path}\n${chunk.text}`),
        signal,
      );
      if (!result.ok) {
        failure = { ...result.error, error: `embedding ${corpus.tree.source}: ${result.error.error ?? result.error.status}` };
        break;
      }
      for (const [index, { file, chunk }] of batch.entries()) {
        const vector = result.value.vectors[index];
        if (vector !== undefined) file.vectors.push({ lines: chunk.lines, vector });
      }
      embedded += batch.length;
      tokens = tokens === null || result.value.tokens === null ? null : tokens + result.value.tokens;
    }
    for (const { path, name, chunks: wanted, vectors } of waiting) {
      if (vectors.length !== wanted.length) continue;
      await store.put(name, vectors);
      files.push({ path, vectors });
    }
    waiting = [];
    return failure;
  };
  for (const { path, digest } of corpus.tree.files) {
    // The path is embedded with the text: the same text elsewhere is another stretch.
    const name = JSON.stringify([path, digest]);
    const kept = await store.get(name);
    if (kept !== null) {
      files.push({ path, vectors: kept });
      continue;
    }
    const text = await corpus.text(path);
    const chunks = isBinary(text) ? [] : chunksOf(text, options.chunk_lines, options.overlap);
    waiting.push({ path, name, chunks, vectors: [] });
    if (waiting.reduce((sum, file) => sum + file.chunks.length, 0) < options.batch) continue;
    const failure = await flush();
    if (failure !== null) return err(failure);
  }
  const failure = await flush();
  return failure === null ? ok({ files, embedded, tokens }) : err(failure);
}

interface FileToEmbed {
  readonly path: string;
  readonly name: string;
  readonly chunks: readonly Chunk[];
  readonly vectors: { lines: LineRange; vector: Float32Array }[];
}
