/** LightRAG as its double plays it: retrieval, answers, and every failure. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask as askBackend, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { type LightragDouble, startLightrag, type Trouble } from "../../test/rigs/lightrag-double.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import { parseAnswer } from "../answers/parse.js";
import type { Digest } from "../base/json.js";
import type { BackendEnvironment, RawAnswer } from "./contract.js";
import type { IndexOutcome } from "./index-tool.js";
import { lightrag } from "./lightrag.js";
import { pathOfSource, sourceOfPath } from "./lightrag-client.js";
import { lightragIndex } from "./lightrag-index.js";

const A = "src/a/Parser.java";
const B = "src/b/Parser.java";
const FILES = { [A]: "reads tokens quickly", [B]: "writes tokens", "blank.txt": " \n", "binary.bin": "tokens\u0000" };
const KEY = "the-key-of-the-server";

let server: LightragDouble;
beforeEach(async () => {
  server = await startLightrag();
});
afterEach(() => server.close());

const environment = (env: Record<string, string> = {}): BackendEnvironment => ({
  clock: () => 0,
  sleep: async () => {},
  env,
  baseFolder: "/",
  warn: () => {},
});

async function index(
  files: Record<string, string> = FILES,
  env: Record<string, string> = {},
  signal = new AbortController().signal,
): Promise<IndexOutcome> {
  const options = lightragIndex.options.parse({ url: `${server.url}/` });
  return lightragIndex.build(options, { corpus: memoryCorpus(files), folder: "/nowhere" }, environment(env), signal);
}

async function ask(
  options: Record<string, unknown> = {},
  prompt = "Who reads tokens?",
  more: { env?: Record<string, string>; signal?: AbortSignal; digest?: Digest } = {},
): Promise<RawAnswer> {
  const backend = await openBackend(lightrag, { url: server.url, ...options }, environment(more.env));
  const built = more.digest === undefined ? {} : { index: { digest: more.digest, facts: {}, folder: async () => "" } };
  return askBackend(backend, { prompt, ...built }, more.signal);
}

describe("retrieval", () => {
  test("files in the order of their chunks, then those that only the graph names; texts are not kept", async () => {
    await index();
    const answer = await ask({}, "quickly");
    expect(answer.status).toBe("completed");
    expect(pathsOf(answer)).toEqual([A, B]);
    expect(answer.details).toMatchObject({
      sources: [
        [A, "chunk"],
        [B, "entity"],
      ],
      found: { chunks: 1, entities: 1, relations: 1 },
    });
    expect(JSON.stringify(answer)).not.toContain("reads tokens quickly");
  });

  test("only what is set is sent", async () => {
    await index();
    await ask({ mode: "naive" });
    expect(server.requests.at(-1)?.body).toEqual({ query: "Who reads tokens?", mode: "naive" });
    await ask({ top_k: 3, chunk_top_k: 4, max_total_tokens: 5, enable_rerank: false });
    expect(server.requests.at(-1)?.body).toEqual({
      query: "Who reads tokens?",
      mode: "mix",
      top_k: 3,
      chunk_top_k: 4,
      max_total_tokens: 5,
      enable_rerank: false,
    });
  });

  test("nothing found is an answer, and an empty one", async () => {
    const answer = await ask({}, "xyzzy");
    expect(answer.status).toBe("completed");
    expect(parseAnswer(answer.response, { truncated: false, prompt: null }).kind).toBe("abstained");
  });

  test("the same of older releases: success with empty lists, no metadata", async () => {
    server.trouble("/query/data", {
      status: 200,
      body: { status: "success", message: "", data: { entities: [], relationships: [], chunks: [] } },
    });
    expect(await ask()).toMatchObject({ status: "completed", response: '{"classes":[]}' });
  });

  test("a failure that is not `nothing found` is none", async () => {
    server.trouble("/query/data", {
      status: 200,
      body: { status: "failure", message: "Query failed: embedding server is away", data: {}, metadata: {} },
    });
    expect(await ask()).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/could not retrieve: Query failed: embedding server/),
      retry: {},
    });
  });

  test("documents that others put there keep the names they have", async () => {
    server.trouble("/query/data", {
      status: 200,
      body: {
        status: "success",
        data: {
          chunks: [
            { file_path: "docs/100%.md" },
            { file_path: null },
            { file_path: "unknown_source" },
            { file_path: "a.md<SEP>b.md" },
          ],
        },
      },
    });
    expect(pathsOf(await ask())).toEqual(["docs/100%.md", "a.md", "b.md"]);
  });
});

describe("an answer", () => {
  test("with the references of the same call", async () => {
    await index();
    expect(await ask({ returns: "answer", response_type: "List", user_prompt: "Be brief." }, "quickly")).toEqual({
      status: "completed",
      response: "The answer.",
      details: { references: [{ reference_id: "1", path: A, chunks: 1 }], llm_generated: true, server_seconds: 0.5 },
    });
    expect(server.requests.at(-1)?.body).toMatchObject({
      response_type: "List",
      user_prompt: "Be brief.",
      include_references: true,
      include_chunk_content: true,
    });
  });

  test("of an older release: what it does not tell is unknown", async () => {
    await index();
    server.old = true;
    expect(await ask({ returns: "answer" })).toEqual({
      status: "completed",
      response: "The answer.",
      details: { references: [], llm_generated: null, server_seconds: null },
    });
  });

  test("no context reads as an abstention", async () => {
    const answer = await ask({ returns: "answer" }, "xyzzy");
    expect(answer.status).toBe("completed");
    expect(parseAnswer(answer.response, { truncated: false, prompt: null }).kind).toBe("abstained");
  });

  test("a swallowed failure of its model looks like no context, and is a failure where there is context", async () => {
    await index();
    server.modelFails = true;
    expect(await ask({ returns: "answer", mode: "naive" })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/its model gave no text, or could not be asked/),
      retry: {},
    });
    expect(await ask({ returns: "answer", mode: "mix" })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/failed inside/),
      retry: {},
    });
    expect(await ask({ returns: "answer", mode: "bypass" })).toMatchObject({ status: "failed" });
    const none = await ask({ returns: "answer", mode: "naive" }, "xyzzy");
    expect(none).toMatchObject({ status: "completed", response: "No relevant context found for the query." });
    expect(parseAnswer(none.response, { truncated: false, prompt: null }).kind).toBe("abstained");
  });

  test("an empty text is no answer", async () => {
    await index();
    server.answer = " ";
    expect(await ask({ returns: "answer" })).toMatchObject({ status: "failed", retry: {} });
  });
});

describe("failures say what to do", () => {
  const page: Trouble = { status: 200, body: "<html>" };
  const cases: readonly [string, Trouble, RawAnswer["status"], RegExp, { after?: number } | undefined][] = [
    [
      "another program",
      { status: 404, body: { detail: "Not Found" } },
      "failed",
      /has no \/query\/data: Not Found: it is another program/,
      undefined,
    ],
    ["a form that is not understood", page, "failed", /form that is not understood/, undefined],
    [
      "too much to do",
      { status: 429, body: { detail: "busy" }, headers: { "retry-after": "7" } },
      "rate_limited",
      /too much to do: busy/,
      { after: 7 },
    ],
    [
      "inside",
      { status: 500, body: { detail: "Internal server error (error_id: x)" } },
      "failed",
      /failed inside.*its log says why/,
      {},
    ],
    ["starting", { status: 503, body: "" }, "failed", /not ready \(HTTP 503/, {}],
    ["too long", { status: 413, body: { detail: "too large" } }, "failed", /MAX_REQUEST_BODY_BYTES/, undefined],
    ["another status", { status: 418, body: {} }, "failed", /HTTP 418/, undefined],
    ["a broken connection", "drop", "failed", /connection to .* broke/, {}],
  ];
  test.each(cases)("%s", async (name, trouble, status, error, retry) => {
    server.trouble("/query/data", trouble);
    const answer = await ask();
    expect(answer).toMatchObject({ status, response: "", error: expect.stringMatching(error) });
    expect(answer.retry).toEqual(retry);
    expect(answer.ofAll).toBe(name === "another program" ? "fail" : undefined);
  });

  test("no server", async () => {
    const { url } = server;
    await server.close();
    expect(await ask({ url })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/no LightRAG server answers at .*ECONNREFUSED.*start lightrag-server/),
      retry: {},
    });
    server = await startLightrag();
  });

  test("keys: missing, wrong, right; never told", async () => {
    server.key = KEY;
    expect(await ask()).toMatchObject({
      status: "failed",
      ofAll: "fail",
      error: expect.stringMatching(/wants an API key: API Key required: set the environment variable LIGHTRAG_API_KEY/),
    });
    const wrong = await ask({ api_key_env: "OTHER" }, "Who reads?", { env: { OTHER: "wrong-key-of-mine" } });
    expect(wrong).toMatchObject({
      status: "failed",
      ofAll: "fail",
      error: expect.stringMatching(/refuses the API key.*OTHER/),
    });
    expect(JSON.stringify(wrong)).not.toContain("wrong-key-of-mine");
    expect((await ask({}, "Who reads?", { env: { LIGHTRAG_API_KEY: KEY } })).status).toBe("completed");
    expect(server.requests.map(({ key }) => key)).toEqual([undefined, "wrong-key-of-mine", KEY]);
  });

  test.each(["files", "answer"])("a question that it does not take (%s)", async (returns) => {
    expect(await ask({ returns }, "a")).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/does not accept the request: .*too short/),
    });
    expect(await ask({ returns }, "a".repeat(70_000))).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/at most 65536/),
    });
  });

  test("time-out and stop", async () => {
    for (const [name, status] of [
      ["TimeoutError", "timed_out"],
      ["Error", "failed"],
    ] as const) {
      server.trouble("/query/data", "silence");
      const stop = new AbortController();
      const before = server.requests.length;
      const answer = ask({}, "Who reads?", { signal: stop.signal });
      while (server.requests.length === before) await new Promise((resolve) => setImmediate(resolve));
      stop.abort(Object.assign(new Error("over"), { name }));
      expect((await answer).status).toBe(status);
    }
  });
});

describe("documents", () => {
  test("two files of one name stay apart; blank and binary ones are left out", async () => {
    expect(await index()).toMatchObject({
      type: "built",
      keep: [],
      facts: { documents: 2, chunks: 2, core_version: "1.5.7", llm_model: "m" },
    });
    expect(server.sources()).toEqual(["src%2Fa%2FParser.java", "src%2Fb%2FParser.java"]);
  });

  test("built again without change it is the same index, and nothing is sent; emptied and built anew it is another", async () => {
    const first = await index();
    server.requests.length = 0;
    expect(await index()).toEqual(first);
    expect(server.requests.map(({ path }) => path)).not.toContain("/documents/texts");
    server.clear();
    const again = await index();
    expect(again.type === "built" && first.type === "built" && again.digest !== first.digest).toBe(true);
  });

  test("an attempt that broke off goes on where it was", async () => {
    const files = Object.fromEntries(Array.from({ length: 120 }, (_, number) => [`src/F${number}.java`, `file ${number}`]));
    server.trouble("/documents/texts", { status: 200, body: {} }, { status: 500, body: {} });
    // The first request got lost on the server's side, too.
    expect(await index(files)).toMatchObject({ type: "failed", retry: {} });
    expect(await index(files)).toMatchObject({ type: "built", facts: { documents: 120 } });
    const sent = server.requests
      .filter(({ path }) => path === "/documents/texts")
      .map(({ body }) => (body.texts as string[]).length);
    expect(sent).toEqual([50, 50, 50, 50, 20]);
  });

  test("a full queue is waited for", async () => {
    const full: Trouble = { status: 429, body: { detail: "capacity" }, headers: { "retry-after": "5" } };
    server.trouble("/documents/texts", full, full);
    expect(await index()).toMatchObject({ type: "built" });
  });

  test("documents that failed are tried again by the next attempt", async () => {
    server.failing.set("src%2Fa%2FParser.java", 1);
    expect(await index()).toMatchObject({
      type: "failed",
      message: expect.stringMatching(/could not index 1 of 2 documents \(src\/a\/Parser\.java: the model failed\)/),
      retry: {},
    });
    expect(await index()).toMatchObject({ type: "built" });
  });

  test("a server that holds something else is refused, and left as it is", async () => {
    await index({ "Other.java": "other" });
    expect(await index()).toMatchObject({
      type: "failed",
      message: expect.stringMatching(/holds 1 documents that are not of this source tree \(Other\.java\).*empty --working-dir/),
    });
    expect(server.sources()).toEqual(["Other.java"]);
  });

  test("a server that stops working is told", async () => {
    server.trouble("/documents/texts", { status: 200, body: {} });
    expect(await index()).toMatchObject({
      type: "failed",
      message: expect.stringMatching(/stopped indexing with 0 documents undone and 2 not taken up/),
      retry: {},
    });
  });

  test("nothing to index, no key", async () => {
    expect(await index({ "a.txt": "" })).toMatchObject({ type: "failed", message: expect.stringMatching(/no text files/) });
    server.key = KEY;
    expect(await index()).toMatchObject({ type: "failed", message: expect.stringMatching(/wants an API key/) });
    expect(await index(FILES, { LIGHTRAG_API_KEY: KEY })).toMatchObject({ type: "built" });
  });

  test("a question goes to the index that was built, or fails", async () => {
    const outcome = await index();
    const digest = outcome.type === "built" ? outcome.digest : undefined;
    expect(digest).toBeDefined();
    if (digest === undefined) return;
    expect((await ask({}, undefined, { digest })).status).toBe("completed");
    server.clear();
    expect(await ask({}, undefined, { digest })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/no longer holds the index.*--force/),
    });
  });

  test("any path survives the way through a source", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (path) => {
        const source = sourceOfPath(path);
        expect(source).toMatch(/^[A-Za-z0-9._~%-]+$/);
        expect(pathOfSource(source)).toBe(path);
      }),
    );
  });
});

test("identity: what shapes answers, without keys and patience", () => {
  const identity = (options: Record<string, unknown>) => lightrag.identityOf(lightrag.options.parse(options));
  expect(identity({ api_key_env: "K", timeout: 3, concurrency: 9 })).toEqual(identity({}));
  for (const change of [
    { url: "http://other:1" },
    { mode: "local" },
    { top_k: 1 },
    { returns: "answer" },
    { identity: { model: "m" } },
    { prompt: "text+format" },
  ]) {
    expect(identity(change)).not.toEqual(identity({}));
  }
  expect(identity({ identity: null })).toBeNull();
});
