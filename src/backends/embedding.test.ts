import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { ask, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { embeddingServer, type Reply } from "../../test/rigs/embedding-server.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import { chunksOf } from "./chunks.js";
import type { BackendEnvironment } from "./contract.js";
import { embedding } from "./embedding.js";

type Server = Awaited<ReturnType<typeof embeddingServer>>;
const open: Server[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});
async function serving(answer?: Parameters<typeof embeddingServer>[0]): Promise<Server> {
  const server = await embeddingServer(answer);
  open.push(server);
  return server;
}

const FILES = {
  "src/Gate.java": `${"// nothing\n".repeat(70)}class Door { door(); door(); }`,
  "src/Roof.java": "class Roof { window(); roof(); roof(); }",
  "src/Garden.java": "class Garden {}",
  "art/logo.png": "\0door",
  "empty.txt": "\n\n",
};
const corpus = () => memoryCorpus(FILES);
const options = (server: Server, more: Record<string, unknown> = {}) => ({
  ...{ provider: "openai-compatible", base_url: server.url, model: "m" },
  ...more,
});
const folder = () => mkdtempSync(join(tmpdir(), "bench-vectors-"));
const keeping = (path: string): Partial<BackendEnvironment> => ({ cacheFolder: (name) => join(path, name) });

describe("chunksOf", () => {
  test("overlapping stretches that cover every line once at least", () => {
    const text = Array.from({ length: 25 }, (_, i) => `l${i + 1}`).join("\n");
    expect(chunksOf(text, 10, 3).map(({ lines }) => lines)).toEqual([[1, 10], [8, 17], [15, 24], [22, 25]]); // biome-ignore format: ranges
    expect(chunksOf("one", 10, 3)).toEqual([{ lines: [1, 1], text: "one" }]);
    expect(chunksOf("\n \n", 10, 3)).toEqual([]);
    expect(chunksOf("x".repeat(100_000), 10, 3)[0]?.text.length).toBeLessThan(10_000);
  });
});

describe("embedding", () => {
  test("ranks files by their nearest stretch and says which one", async () => {
    const server = await serving();
    const backend = await openBackend(embedding, options(server, { query_prefix: "query: ", passage_prefix: "passage: " }));
    const answer = await ask(backend, { prompt: "the door", corpus: corpus() });
    expect(pathsOf(answer)[0]).toBe("src/Gate.java");
    expect(JSON.parse(answer.response).classes[0]).toMatchObject({ start_line: 51, end_line: 71 });
    expect(pathsOf(answer)).not.toContain("art/logo.png");
    expect(server.calls.at(-1)?.input).toEqual(["query: the door"]);
    expect(server.calls[0]?.input[0]).toMatch(/^passage: src\/Garden\.java\n/);
    expect(server.calls.every(({ path, body }) => path === "/v1/embeddings" && body.model === "m")).toBe(true);
  });

  test("a tree is embedded once, in batches that span files, and whoever makes the index says what it took", async () => {
    const server = await serving();
    const backend = await openBackend(embedding, options(server, { batch: 3 }));
    const [one, two] = await Promise.all(["roof", "garden"].map((prompt) => ask(backend, { prompt, corpus: corpus() })));
    expect(server.calls.map(({ input }) => input.length)).toEqual([3, 1, 1, 1]);
    const embedded = [one, two].map((answer) => Object(answer?.details?.index).embedded);
    expect(embedded.sort()).toEqual([0, 4]);
    const tokens = [one, two].map((answer) => answer?.usage?.input_tokens ?? 0);
    expect(Math.min(...tokens)).toBe(1);
    expect(Math.max(...tokens)).toBeGreaterThan(20);
  });

  test("vectors outlive the run: only what is new in a tree is embedded; a damaged one is made again", async () => {
    const server = await serving();
    const kept = folder();
    const first = await ask(await openBackend(embedding, options(server), keeping(kept)), { prompt: "roof", corpus: corpus() });
    const after = server.calls.length;
    const again = await ask(await openBackend(embedding, options(server), keeping(kept)), { prompt: "roof", corpus: corpus() });
    expect(again.response).toBe(first.response);
    expect(server.calls.length).toBe(after + 1);
    const grown = memoryCorpus({ ...FILES, "new.txt": "roof roof roof" });
    expect(
      pathsOf(await ask(await openBackend(embedding, options(server), keeping(kept)), { prompt: "roof", corpus: grown })),
    ).toContain("new.txt");
    expect(server.calls.slice(after + 1).flatMap(({ input }) => input)).toEqual(["new.txt\nroof roof roof", "roof"]);
    for (const shard of readdirSync(join(kept, "vectors"))) {
      for (const name of readdirSync(join(kept, "vectors", shard))) {
        const path = join(kept, "vectors", shard, name);
        const bytes = readFileSync(path);
        bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
        writeFileSync(path, bytes);
      }
    }
    const repaired = await ask(await openBackend(embedding, options(server), keeping(kept)), {
      prompt: "roof",
      corpus: corpus(),
    });
    expect(repaired.response).toBe(first.response);
  });

  test("what was embedded before a failure is kept", async () => {
    const server = await serving((_, number) => (number === 2 ? { status: 500, body: { error: { message: "oops" } } } : null));
    const kept = folder();
    const backend = await openBackend(embedding, options(server, { batch: 1 }), keeping(kept));
    const failed = await ask(backend, { prompt: "roof", corpus: corpus() });
    expect(failed).toMatchObject({ status: "failed", retry: {}, error: expect.stringMatching(/embedding memory:.*500.*oops/) });
    const answer = await ask(backend, { prompt: "roof", corpus: corpus() });
    expect(answer.status).toBe("completed");
    const inputs = server.calls.flatMap(({ input }) => input);
    expect(new Set(inputs).size).toBe(inputs.length - 1);
  });

  test("the key comes from the environment and is not in any message", async () => {
    const server = await serving(({ key }) =>
      key === "Bearer right-key" ? null : { status: 401, body: { error: { message: `wrong key ${key?.slice(7)}` } } },
    );
    const given = options(server, { api_key_env: "MY_KEY" });
    await expect(openBackend(embedding, given)).rejects.toThrow(/MY_KEY/);
    const right = await openBackend(embedding, given, { env: { MY_KEY: "right-key" } });
    expect((await ask(right, { prompt: "roof", corpus: corpus() })).status).toBe("completed");
    const wrong = await openBackend(embedding, given, { env: { MY_KEY: "wrong-key-value" } });
    const answer = await ask(wrong, { prompt: "roof", corpus: corpus() });
    expect(answer).toMatchObject({ status: "failed", error: expect.stringContaining("MY_KEY") });
    expect(JSON.stringify(answer)).not.toContain("wrong-key-value");
  });

  test.each<[string, Reply | "cut", Record<string, unknown>]>([
    [
      "a limit",
      { status: 429, headers: { "retry-after": "7" }, body: { error: { message: "slow" } } },
      { status: "rate_limited", retry: { after: 7 } },
    ],
    [
      "no credit, inside a success",
      { status: 200, body: { error: { message: "x", code: "insufficient_quota" } } },
      { status: "failed", ofAll: "stop" },
    ],
    [
      "a rate limit inside a success",
      { status: 200, body: { error: { message: "slow", code: 429 } } },
      { status: "rate_limited", retry: {} },
    ],
    ["no credit", { status: 429, body: { error: { message: "x", code: "insufficient_quota" } } }, { status: "failed" }],
    ["a page", { body: "<html>login</html>" }, { status: "failed", error: expect.stringContaining("no list of embeddings") }],
    ["too few", { body: { data: [] } }, { status: "failed", error: expect.stringContaining("0 embeddings") }],
    ["another index", { body: { data: [{ index: 9, embedding: [1] }] } }, { status: "failed" }],
    ["no numbers", { body: { data: [{ index: 0, embedding: ["a"] }] } }, { status: "failed" }],
    ["an error with status 200", { body: { error: { message: "overloaded" } } }, { status: "failed" }],
    ["a broken connection", "cut", { status: "failed", retry: {} }],
  ])("%s", async (_, reply, expected) => {
    const server = await serving(() => reply);
    expect(await ask(await openBackend(embedding, options(server)), { prompt: "roof", corpus: corpus() })).toMatchObject(
      expected,
    );
  });

  test("time, interruption, and no network", async () => {
    const server = await serving(() => "hang");
    const backend = await openBackend(embedding, options(server));
    const late = new AbortController();
    const timeout = new Error("late");
    timeout.name = "TimeoutError";
    setImmediate(() => late.abort(timeout));
    expect(await ask(backend, { prompt: "roof", corpus: corpus() }, late.signal)).toMatchObject({ status: "timed_out" });
    const offline = await openBackend(embedding, options(server), { offline: true });
    expect(await ask(offline, { prompt: "roof", corpus: corpus() })).toMatchObject({
      status: "failed",
      asked: false,
      error: expect.stringContaining("offline"),
    });
  });

  test("a local model needs its package, and says so", async () => {
    await expect(openBackend(embedding, { provider: "local", model: "x/y" })).rejects.toThrow(/@huggingface\/transformers/);
  });

  test("options that make no sense are refused; what only steers is in no key", () => {
    const base = { provider: "openai", model: "m" };
    const wrong = (more: object) => embedding.options.safeParse({ ...base, ...more }).error?.issues.map(({ path }) => path[0]);
    expect(wrong({ overlap: 60 })).toEqual(["overlap"]);
    expect(wrong({ provider: "local", base_url: "http://x" })).toEqual(["base_url"]);
    expect(wrong({ provider: "openai-compatible" })).toEqual(["base_url"]);
    expect(wrong({ base_url: "https://me:secret@x" })).toEqual(["base_url"]);
    expect(wrong({ api_key_env: "sk-secret" })).toEqual(["api_key_env"]);
    const identity = (more: object) => JSON.stringify(embedding.identityOf(embedding.options.parse({ ...base, ...more })));
    expect(identity({ batch: 1, concurrency: 9, timeout: 3, api_key_env: "X" })).toBe(identity({}));
    for (const more of [
      { model: "n" },
      { top: 3 },
      { chunk_lines: 30 },
      { query_prefix: "q" },
      { dimensions: 5 },
      { provider: "mistral" },
    ]) {
      expect(identity(more)).not.toBe(identity({}));
    }
  });
});
