import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { ask, openBackend } from "../../test/rigs/ask-backend.js";
import { type ChatServer, type ChatServerOptions, chatServer } from "../../test/rigs/chat-server.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import { ANSWER_SCHEMA } from "./chat-prompt.js";
import type { BackendEnvironment, Question, RawAnswer } from "./contract.js";
import { promptBlocks, renderPrompt } from "./prompt.js";
import { type AnyBackendKind, builtInBackends } from "./registry.js";

const chat = builtInBackends.get("chat") as AnyBackendKind;
const KEY = "sk-test-0123456789";
const issue = { title: "Parser loses commas", body: "JSONTokener drops them." };
const question: Partial<Question> = { prompt: renderPrompt("text+format", issue), blocks: promptBlocks(issue) };
const LIST = '{"classes":[{"path":"src/A.java"}]}';

const servers: ChatServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
async function serve(options: ChatServerOptions = {}): Promise<ChatServer> {
  const server = await chatServer({ answer: () => ({ text: LIST }), ...options });
  servers.push(server);
  return server;
}

interface Asked {
  readonly options?: Record<string, unknown>;
  readonly question?: Partial<Question>;
  readonly environment?: Partial<BackendEnvironment>;
  readonly signal?: AbortSignal;
}

async function askChat(server: ChatServer, provider: string, asked: Asked = {}): Promise<RawAnswer> {
  const options = { provider, model: "m", base_url: server.url, ...asked.options };
  const env = { OPENAI_API_KEY: KEY, MISTRAL_API_KEY: KEY };
  const backend = await openBackend(chat, options, { env, ...asked.environment });
  try {
    return await ask(backend, { ...question, ...asked.question }, asked.signal);
  } finally {
    await backend.close();
  }
}

describe("requests", () => {
  test("OpenAI: system and user message, schema, seed per repeat, the newer name of the limit", async () => {
    const server = await serve({ key: KEY });
    const options = { model: "gpt-4o-mini", seed: 7, max_tokens: 300, system: "You find files." };
    const answer = await askChat(server, "openai", { options, question: { repeat: 2 } });
    const [request] = server.questions;
    expect(request?.path).toBe("/v1/chat/completions");
    expect(request?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(request?.body).toEqual({
      model: "gpt-4o-mini",
      messages: [
        { role: "system", content: "You find files." },
        { role: "user", content: question.prompt },
      ],
      stream: false,
      temperature: 0,
      max_completion_tokens: 300,
      seed: 9,
      response_format: { type: "json_schema", json_schema: { name: "classes", strict: true, schema: ANSWER_SCHEMA } },
    });
    expect(answer).toMatchObject({ status: "completed", response: LIST, finish_reason: "stop" });
    expect(answer.details).toMatchObject({
      provider: "openai",
      request_url: `${server.url}/v1/chat/completions`,
      request_payload: { model: "gpt-4o-mini" },
      served_model: "gpt-4o-mini-2026-01-01",
      system_fingerprint: "fp_1",
    });
  });

  test("Mistral: its own name of the seed, the older name of the limit", async () => {
    const server = await serve({ style: "mistral", key: KEY });
    const options = { seed: 7, max_tokens: 300, response_format: "json" };
    expect((await askChat(server, "mistral", { options })).status).toBe("completed");
    expect(server.questions[0]?.body).toMatchObject({
      random_seed: 7,
      max_tokens: 300,
      response_format: { type: "json_object" },
    });
  });

  test("compatible servers get the plainest request, and no key that nobody named", async () => {
    const server = await serve();
    await askChat(server, "openai-compatible", { options: { temperature: null, system: null, base_url: `${server.url}/v1/` } });
    const [request] = server.questions;
    expect(request?.path).toBe("/v1/chat/completions");
    expect(request?.headers.authorization).toBeUndefined();
    expect(request?.body).toEqual({ model: "m", messages: [{ role: "user", content: question.prompt }], stream: false });
  });

  test("Ollama natively: schema as format, options apart, the context length set", async () => {
    const server = await serve({ style: "ollama", digest: `sha256:${"b".repeat(64)}` });
    const options = { seed: 3, max_tokens: 200, parameters: { think: false, top_p: 0.5 }, base_url: `${server.url}/v1` };
    const answer = await askChat(server, "ollama", { options });
    const [request] = server.questions;
    expect(request?.path).toBe("/api/chat");
    expect(request?.body).toMatchObject({
      stream: false,
      think: false,
      format: ANSWER_SCHEMA,
      shift: false,
      options: { temperature: 0, seed: 3, num_predict: 200, num_ctx: 4096, top_p: 0.5 },
    });
    expect(answer.details).toMatchObject({ num_ctx: 4096, revision: `sha256:${"b".repeat(64)}`, server_version: "0.33.0" });
    expect(answer.usage).toMatchObject({ cost_usd: null, reasoning_tokens: null });
    expect(answer.usage?.input_tokens).toBeGreaterThan(100);
  });

  test("parameters of one's own are sent as they are; members that bench needs can't be put over", async () => {
    const server = await serve();
    await askChat(server, "openai", { options: { parameters: { reasoning_effort: "low" } } });
    expect(server.questions[0]?.body.reasoning_effort).toBe("low");
    const options = { provider: "openai", model: "m", parameters: { messages: [] } };
    expect(chat.options.safeParse(options).error?.issues[0]?.path).toEqual(["parameters"]);
  });
});

describe("answers", () => {
  test("usage and cost by the price table; what is not listed costs an unknown amount", async () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens_details: { reasoning_tokens: 30 },
    };
    const server = await serve({ answer: () => ({ text: LIST, usage }) });
    const known = await askChat(server, "openai", { options: { model: "gpt-4o-mini" } });
    expect(known.usage).toEqual({
      input_tokens: 1000,
      output_tokens: 100,
      reasoning_tokens: 30,
      cost_usd: expect.closeTo((600 * 0.15 + 400 * 0.075 + 100 * 0.6) / 1e6, 12),
    });
    expect(known.details).toMatchObject({ cached_tokens: 400, price: { input: 0.15, output: 0.6 } });
    const unknown = await askChat(server, "openai", { options: { model: "gpt-99" } });
    expect(unknown.usage?.cost_usd).toBeNull();
  });

  test("counts that are missing or no counts are unknown", async () => {
    const usage = { prompt_tokens: "many", completion_tokens: -1 };
    const server = await serve({ answer: (_, n) => ({ text: LIST, usage: n === 1 ? usage : null }) });
    for (const _ of [1, 2]) {
      const answer = await askChat(server, "openai", { options: { model: "gpt-4o" } });
      expect(answer.usage).toEqual({ input_tokens: null, output_tokens: null, reasoning_tokens: null, cost_usd: null });
    }
  });

  test("thinking is kept apart from what is said", async () => {
    const thinking = "src/Wrong.java looks likely";
    const server = await serve({ answer: () => ({ text: LIST, thinking }) });
    expect(await askChat(server, "openai")).toMatchObject({ response: LIST, details: { reasoning: thinking } });
    const ollama = await serve({ style: "ollama", answer: () => ({ text: LIST, thinking }) });
    expect(await askChat(ollama, "ollama")).toMatchObject({ response: LIST, details: { reasoning: thinking } });
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: thinking }] },
      { type: "text", text: LIST },
    ];
    server.answer = () => ({ text: "", over: { choices: [{ message: { content }, finish_reason: "stop" }] } });
    expect(await askChat(server, "mistral")).toMatchObject({ response: LIST, details: { reasoning: thinking } });
  });

  test("an answer cut by its length is truncated, also when only thinking came", async () => {
    const server = await serve({ answer: () => ({ text: '{"classes":[{"pa', finish: "length" }) });
    expect(await askChat(server, "openai")).toMatchObject({
      status: "truncated",
      finish_reason: "length",
      response: '{"classes":[{"pa',
    });
    server.answer = () => ({ text: null, finish: "length", thinking: "hm" });
    expect(await askChat(server, "openai")).toMatchObject({ status: "truncated", response: "", details: { reasoning: "hm" } });
  });

  test("a refusal and a content filter are answers of the model, marked as such", async () => {
    const server = await serve({ answer: () => ({ text: null, refusal: "I can't help with that." }) });
    expect(await askChat(server, "openai")).toMatchObject({
      status: "completed",
      response: "I can't help with that.",
      details: { refused: true },
    });
    server.answer = () => ({ text: "", finish: "content_filter" });
    expect(await askChat(server, "openai")).toMatchObject({
      status: "completed",
      finish_reason: "content_filter",
      response: "",
      details: { refused: true },
    });
  });

  test("older completions and text in parts are read as the original reads them", async () => {
    const server = await serve({ answer: () => ({ text: "", over: { choices: [{ text: LIST, finish_reason: "stop" }] } }) });
    expect((await askChat(server, "openai-compatible")).response).toBe(LIST);
    server.answer = () => ({ text: "", over: { choices: [{ message: { content: [{ text: "a" }, { text: "b" }] } }] } });
    expect((await askChat(server, "openai-compatible")).response).toBe("a\nb");
  });
});

describe("failures", () => {
  const cases: [
    string,
    Parameters<ChatServer["answer"]>[0] extends never ? never : ReturnType<ChatServer["answer"]>,
    Partial<RawAnswer>,
    string,
  ][] = [
    [
      "rate limit",
      { status: 429, message: "Rate limit reached", code: "rate_limit_exceeded", headers: { "retry-after": "20" } },
      { status: "rate_limited", retry: { after: 20 } },
      "limits the rate",
    ],
    [
      "rate limit in milliseconds",
      { status: 429, message: "slow down", headers: { "retry-after-ms": "1500", "retry-after": "2" } },
      { status: "rate_limited", retry: { after: 1.5 } },
      "slow down",
    ],
    [
      "rate limit told by the reset alone",
      {
        status: 429,
        message: "x",
        headers: {
          "x-ratelimit-remaining-requests": "3",
          "x-ratelimit-reset-requests": "1s",
          "x-ratelimit-remaining-tokens": "0",
          "x-ratelimit-reset-tokens": "6m0s",
        },
      },
      { status: "rate_limited", retry: { after: 360 } },
      "",
    ],
    [
      "no credit",
      {
        status: 429,
        message: "You exceeded your current quota, please check your plan",
        code: "insufficient_quota",
        type: "insufficient_quota",
      },
      { status: "failed", ofAll: "stop" },
      "add credit",
    ],
    ["payment wanted", { status: 402, message: "Insufficient Balance" }, { status: "failed", ofAll: "stop" }, "add credit"],
    [
      "one prompt over the limit per minute",
      { status: 429, message: "Request too large for gpt-4o on tokens per min", code: "rate_limit_exceeded" },
      { status: "failed" },
      "shorten the context",
    ],
    [
      "wrong key",
      { status: 401, message: `Incorrect API key provided: ${KEY}`, code: "invalid_api_key" },
      { status: "failed", ofAll: "fail" },
      "OPENAI_API_KEY",
    ],
    [
      "unknown model",
      { status: 404, message: "The model `m` does not exist" },
      { status: "failed", ofAll: "fail" },
      "model's name",
    ],
    ["wrong path", { status: 404, body: "404 page not found" }, { status: "failed", ofAll: "fail" }, "base_url"],
    ["server error", { status: 500, message: "boom" }, { status: "failed", retry: {} }, "boom"],
    [
      "overloaded",
      { status: 503, message: "server busy, please try again.  maximum pending requests exceeded" },
      { status: "rate_limited", retry: {} },
      "busy",
    ],
    [
      "gateway page",
      { status: 502, body: "<html><body>Bad gateway</body></html>" },
      { status: "failed", retry: {} },
      "an HTML page",
    ],
    ["told not to retry", { status: 500, message: "boom", headers: { "x-should-retry": "false" } }, { status: "failed" }, "boom"],
    ["conflict", { status: 409, message: "try later" }, { status: "failed", retry: {} }, "try later"],
    [
      "temperature",
      { status: 400, message: "Unsupported value: 'temperature' does not support 0 with this model." },
      { status: "failed" },
      "temperature: null",
    ],
    [
      "format",
      { status: 400, message: "Invalid parameter: 'response_format' of type 'json_schema' is not supported" },
      { status: "failed" },
      "response_format: json or text",
    ],
    ["HTML as an answer", { status: 200, body: "<!doctype html><title>Log in</title>" }, { status: "failed" }, "HTML page"],
    ["malformed JSON", { status: 200, body: '{"choices":[{"mess' }, { status: "failed", retry: {} }, "no JSON"],
    ["empty body", { status: 200, body: "" }, { status: "failed", retry: {} }, "empty body"],
    ["a stream that nobody asked for", { status: 200, body: 'data: {"choices":[]}\n\n' }, { status: "failed" }, "stream"],
    ["no choices", { text: "", over: { choices: [] } }, { status: "failed", retry: {} }, "empty list of choices"],
    ["no chat interface", { status: 200, body: '{"hello":"world"}' }, { status: "failed" }, "no `choices`"],
    [
      "a tool call",
      { text: null, over: { choices: [{ message: { content: null, tool_calls: [{}] }, finish_reason: "tool_calls" }] } },
      { status: "failed" },
      "called a tool",
    ],
    [
      "an error inside a success",
      { status: 200, body: '{"error":{"code":429,"message":"upstream is rate-limited"}}' },
      { status: "rate_limited", retry: {} },
      "upstream",
    ],
    [
      "an empty account inside a success, beside an empty list",
      { status: 200, body: '{"error":{"code":"insufficient_quota","message":"no credit"},"choices":[]}' },
      { status: "failed", ofAll: "stop" },
      "add credit",
    ],
    [
      "an error in the place of the first choice",
      { text: "", over: { choices: [{ finish_reason: "error", error: { code: 502, message: "upstream died" } }] } },
      { status: "failed", retry: {} },
      "upstream died",
    ],
    [
      "an error that is a text",
      { status: 200, body: '{"error":"model is loading"}' },
      { status: "failed", retry: {} },
      "loading",
    ],
    [
      "a key refused inside a success",
      { status: 200, body: '{"error":{"type":"authentication_error","message":"bad key"}}' },
      { status: "failed", ofAll: "fail" },
      "OPENAI_API_KEY",
    ],
    ["a prompt that is moderated", { status: 403, message: "Your input was flagged" }, { status: "failed" }, "flagged"],
    ["an answer of nothing", { text: "" }, { status: "failed", retry: {} }, "holds no text"],
    ["an answer of white space", { text: " \n\t" }, { status: "failed", retry: {} }, "holds no text"],
    ["thinking alone", { text: "", thinking: "hm" }, { status: "failed", retry: {} }, "thought"],
    ["a broken connection", { break: "before" }, { status: "failed", retry: {} }, "can't be reached"],
    ["a cut answer", { break: "inside" }, { status: "failed", retry: {} }, "broke off"],
    ["a redirect", { status: 307, body: "", headers: { location: "http://127.0.0.1:9/" } }, { status: "failed" }, "base_url"],
  ];

  for (const [name, script, expected, said] of cases) {
    test(name, async () => {
      const server = await serve({ answer: () => script });
      const answer = await askChat(server, "openai");
      expect(answer).toMatchObject({ ...expected, response: "" });
      expect([answer.retry, answer.ofAll]).toEqual([expected.retry, expected.ofAll]);
      expect(answer.error).toContain(said);
      expect(JSON.stringify(answer)).not.toContain(KEY);
      expect(server.questions).toHaveLength(1);
    });
  }

  test("every format of error is read", async () => {
    const mistral = await serve({
      style: "mistral",
      answer: () => ({ status: 400, message: "flat words", type: "invalid_request_error" }),
    });
    expect((await askChat(mistral, "mistral")).error).toContain("flat words");
    mistral.answer = () => ({ status: 422, body: JSON.stringify({ detail: [{ loc: ["body", "model"], msg: "is wrong" }] }) });
    expect((await askChat(mistral, "mistral")).error).toContain("body.model: is wrong");
    const ollama = await serve({ style: "ollama", models: ["other"] });
    expect((await askChat(ollama, "ollama")).error).toContain("ollama pull m");
  });

  test("a prompt that is too long for the model", async () => {
    const openai = await serve({ contextLength: 10 });
    expect(await askChat(openai, "openai")).toMatchObject({
      status: "failed",
      error: expect.stringContaining("shorten the context"),
    });
    const mistral = await serve({ style: "mistral", contextLength: 10 });
    expect(await askChat(mistral, "mistral")).toMatchObject({
      status: "failed",
      error: expect.stringContaining("shorten the context"),
    });
  });

  test("nobody listens", async () => {
    const server = await serve();
    await server.close();
    const answer = await askChat(server, "ollama");
    expect(answer).toMatchObject({ status: "failed", retry: {}, error: expect.stringContaining("ollama serve") });
  });

  test("time is up, or the run stops", async () => {
    const server = await serve({ answer: () => ({ hang: true }) });
    const timeout = new Error("late");
    timeout.name = "TimeoutError";
    for (const [reason, status] of [
      [timeout, "timed_out"],
      [new Error("stop"), "failed"],
    ] as const) {
      const controller = new AbortController();
      const before = server.questions.length;
      const answer = askChat(server, "openai", { signal: controller.signal });
      await expect.poll(() => server.questions.length).toBe(before + 1);
      controller.abort(reason);
      expect((await answer).status).toBe(status);
    }
  });

  test("offline asks nothing", async () => {
    const server = await serve();
    const answer = await askChat(server, "openai", { environment: { offline: true } });
    expect(answer).toMatchObject({ status: "failed", error: expect.stringContaining("offline") });
    expect(server.questions).toHaveLength(0);
  });
});

describe("context of Ollama", () => {
  const long = { prompt: `${"word ".repeat(8000)}end` };

  test("grows with the prompt, in powers of two", async () => {
    const server = await serve({ style: "ollama" });
    expect((await askChat(server, "ollama", { question: long })).status).toBe("completed");
    expect(server.questions.map(({ body }) => body.options.num_ctx)).toEqual([16_384]);
  });

  test("is tried longer where the text has more tokens than thought", async () => {
    const server = await serve({ style: "ollama" });
    server.answer = ({ body }) =>
      body.options.num_ctx < 16_384
        ? { status: 400, message: "the prompt is longer than the context length currently available" }
        : { text: LIST };
    const answer = await askChat(server, "ollama");
    expect(answer).toMatchObject({ status: "completed", details: { num_ctx: 16_384 } });
    expect(server.questions.map(({ body }) => body.options.num_ctx)).toEqual([4096, 8192, 16_384]);
  });

  test("what the server cuts without a word is no answer", async () => {
    const server = await serve({ style: "ollama", cutsSilently: true });
    const answer = await askChat(server, "ollama", { question: long, options: { num_ctx: 8192 } });
    expect(answer).toMatchObject({ status: "failed", response: "", error: expect.stringContaining("cut off") });
    expect(answer.retry).toBeUndefined();
  });

  test("what the server refuses to cut is an error", async () => {
    const server = await serve({ style: "ollama" });
    const answer = await askChat(server, "ollama", { question: long, options: { num_ctx: 8192 } });
    expect(answer).toMatchObject({ status: "failed", error: expect.stringContaining("does not fit") });
  });

  test("what can't fit is not even sent", async () => {
    const server = await serve({ style: "ollama", contextLength: 1024 });
    const answer = await askChat(server, "ollama", { question: long });
    expect(answer).toMatchObject({ status: "failed", error: expect.stringContaining("the model has 1024") });
    expect(server.questions).toHaveLength(0);
  });

  test("another revision than the wanted one is not asked", async () => {
    const server = await serve({ style: "ollama", digest: `sha256:${"c".repeat(64)}` });
    expect((await askChat(server, "ollama", { options: { revision: "cccccc" } })).status).toBe("completed");
    const answer = await askChat(server, "ollama", { options: { revision: "dddddd" } });
    expect(answer).toMatchObject({ status: "failed", error: expect.stringContaining("revision cccccccccccc") });
    expect(server.questions).toHaveLength(1);
  });
});

describe("keys", () => {
  const open = (options: Record<string, unknown>, environment: Partial<BackendEnvironment> = {}) =>
    openBackend(chat, { provider: "openai", model: "m", ...options }, environment);

  test("come from the environment or a file, else the advice names where", async () => {
    await expect(open({})).rejects.toThrow("OPENAI_API_KEY");
    await expect(open({ provider: "mistral" })).rejects.toThrow("MISTRAL_API_KEY");
    await expect(open({ api_key_env: "MY_KEY" })).rejects.toThrow("MY_KEY");
    await expect(open({}, { env: { OPENAI_API_KEY: "two\nlines" } })).rejects.toThrow("is no key");
    const folder = mkdtempSync(join(tmpdir(), "bench-key-"));
    writeFileSync(join(folder, "key"), `${KEY}\n`);
    const server = await serve({ key: KEY });
    const environment = { baseFolder: folder, env: {} };
    expect((await askChat(server, "openai", { options: { api_key_file: "key" }, environment })).status).toBe("completed");
    await expect(open({ api_key_file: "none" }, environment)).rejects.toThrow("there is no key file none");
    const named = { options: { api_key_env: "MY_KEY" }, environment: { env: { MY_KEY: KEY } } };
    expect((await askChat(server, "openai-compatible", named)).status).toBe("completed");
  });

  test("leave no trace, whatever the server echoes", async () => {
    const server = await serve({ answer: ({ headers }) => ({ text: `you sent ${headers.authorization}` }) });
    const answer = await askChat(server, "openai");
    expect(answer.response).toBe("you sent Bearer [OPENAI_API_KEY]");
    expect(JSON.stringify(answer)).not.toContain(KEY);
  });

  test("over an open network are warned of", async () => {
    const warnings: string[] = [];
    await open({ base_url: "http://models.example" }, { env: { OPENAI_API_KEY: KEY }, warn: (text) => warnings.push(text) });
    expect(warnings).toEqual([expect.stringContaining("unencrypted to models.example")]);
  });
});

describe("what the model sees", () => {
  const files = {
    "src/Parser.java": "class Parser {\n  void commas() { tokener commas; }\n}\n",
    "src/Tokener.java": "class Tokener {}\n",
    "docs/readme.md": "hello\n",
  };

  test("the list of files", async () => {
    const server = await serve();
    const answer = await askChat(server, "openai", { options: { context: "files" }, question: { corpus: memoryCorpus(files) } });
    const user = server.questions[0]?.body.messages[1].content;
    expect(user).toContain("docs/readme.md\nsrc/Parser.java\nsrc/Tokener.java");
    expect(user.endsWith(question.prompt ?? "?")).toBe(true);
    expect(answer.details?.context).toEqual({ shown: "files", files: 3 });
  });

  test("the best files of another backend, within the limits", async () => {
    const server = await serve();
    const context = { backend: { kind: "bm25", top: 5 }, files: 2, max_characters: 100 };
    const asked = { options: { context }, question: { corpus: memoryCorpus(files), ...textOf("commas in the parser") } };
    const answer = await askChat(server, "openai", asked);
    const user: string = server.questions[0]?.body.messages[1].content;
    expect(user).toContain("=== src/Parser.java ===\nclass Parser {");
    expect(user).not.toContain("hello");
    expect(answer.details?.context).toMatchObject({ retriever: "bm25", files: ["src/Parser.java"] });
    const tight = { options: { context: { ...context, max_characters: 100, files: 1 } }, question: asked.question };
    const big = memoryCorpus({ "src/Parser.java": `commas parser\n${"x".repeat(500)}\n` });
    await askChat(server, "openai", { ...tight, question: { ...tight.question, corpus: big } });
    expect(server.questions[1]?.body.messages[1].content).toContain("=== src/Parser.java (beginning) ===\ncommas parser\n\n");
  });

  test("a retriever that fails is no answer of the model", async () => {
    const server = await serve();
    const context = { backend: { kind: "command", run: ["/nowhere/at-all"] } };
    const answer = await askChat(server, "openai", { options: { context }, question: { corpus: memoryCorpus(files, tmpdir()) } });
    expect(answer).toMatchObject({
      status: "failed",
      response: "",
      error: expect.stringContaining("command, which finds the files"),
    });
    expect(server.questions).toHaveLength(0);
  });

  test("a template of one's own, filled once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bench-template-"));
    writeFileSync(join(folder, "t.txt"), "In {repo}: {title} | {description} | {format} | {context} | {print}");
    const server = await serve();
    const issue = { title: "{description}", body: "B" };
    const asked = {
      options: { template: "t.txt", context: "files" },
      environment: { baseFolder: folder, env: { OPENAI_API_KEY: KEY } },
      question: { corpus: memoryCorpus({ "a.java": "" }), blocks: promptBlocks(issue), case: { id: "1", repository: "o/r" } },
    };
    await askChat(server, "openai", asked);
    const user: string = server.questions[0]?.body.messages[1].content;
    expect(user).toMatch(/^In o\/r: \{description\} \| B \| Your whole answer/);
    expect(user).toMatch(/\na\.java \| \{print\}$/);
    for (const [text, problem] of [
      ["{prompt} {titel}", "did you mean {title}?"],
      ["Hello", "never shows the issue"],
      ["{prompt}", "has no {context}"],
    ] as const) {
      writeFileSync(join(folder, "t.txt"), text);
      await expect(askChat(server, "openai", asked)).rejects.toThrow(problem);
    }
  });
});

function textOf(title: string): Partial<Question> {
  return { prompt: renderPrompt("text+format", { title, body: null }), blocks: promptBlocks({ title, body: null }) };
}

describe("identity", () => {
  const identity = (options: Record<string, unknown>) =>
    JSON.stringify(chat.identityOf(chat.options.parse({ provider: "openai", model: "m", ...options })));

  test("has what shapes the answers and nothing that steers", () => {
    const before = identity({});
    for (const steering of [
      { timeout: 5 },
      { concurrency: 9 },
      { api_key_env: "X" },
      { api_key_file: "f" },
      { prices: "p" },
      { base_url: "https://api.openai.com/v1" },
    ]) {
      expect(identity(steering)).toBe(before);
    }
    const changes = [
      { model: "n" },
      { temperature: 1 },
      { max_tokens: 5 },
      { seed: 1 },
      { base_url: "https://other.example" },
      { system: null },
      { response_format: "text" },
      { context: "files" },
      { parameters: { top_p: 0.1 } },
      { context: { backend: { kind: "bm25" } } },
      { context: { backend: { kind: "bm25", top: 3 } } },
      { context: { backend: { kind: "bm25" }, files: 3 } },
    ];
    expect(new Set([before, ...changes.map(identity)]).size).toBe(changes.length + 1);
  });

  test("is none where the retriever has none", () => {
    expect(identity({ context: { backend: { kind: "command", run: ["x"], identity: null } } })).toBe("null");
  });

  test("the template's content is part of the key", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bench-template-"));
    const fingerprint = () =>
      chat.fingerprint?.(chat.options.parse({ provider: "openai", model: "m", template: "t.txt" }), { baseFolder: folder });
    await expect(fingerprint()).rejects.toThrow("there is no template file");
    writeFileSync(join(folder, "t.txt"), "{prompt}");
    const before = await fingerprint();
    writeFileSync(join(folder, "t.txt"), "{prompt}!");
    expect(await fingerprint()).not.toEqual(before);
  });

  test("the tree is read only where the model sees something of it", () => {
    const needs = (context: unknown) =>
      (chat.needsCorpus as (options: unknown) => unknown)(chat.options.parse({ provider: "openai", model: "m", context }));
    expect([needs("none"), needs("files"), needs({ backend: { kind: "bm25" } })]).toEqual([false, true, true]);
  });
});

test("an estimate from lengths and prices, null where a price is unknown", async () => {
  const estimate = async (model: string, context: unknown = "none") => {
    const options = chat.options.parse({ provider: "openai", model, system: null, context });
    return (await chat.estimator?.(options, { baseFolder: "/" }))?.({
      id: "1",
      repeat: 0,
      prompt: "x".repeat(4000),
      case: { id: "1" },
      corpus: memoryCorpus({ "a.java": "y".repeat(8000) }),
    });
  };
  expect(await estimate("gpt-4o")).toEqual({ tokens: 1500, usd: expect.closeTo((1000 * 2.5 + 500 * 10) / 1e6, 12) });
  expect(await estimate("gpt-99")).toEqual({ tokens: 1500, usd: null });
  expect((await estimate("gpt-4o", { backend: { kind: "bm25" } }))?.tokens).toBeGreaterThan(3400);
});

describe("doctor", () => {
  const environment = (env: Record<string, string> = { OPENAI_API_KEY: KEY }) => ({
    baseFolder: "/",
    env,
    sleep: () => new Promise<void>(() => {}),
    signal: new AbortController().signal,
    cacheFolder: () => "/nowhere",
    offline: false,
  });
  const look = async (options: Record<string, unknown>, env?: Record<string, string>) =>
    Object.fromEntries(
      ((await chat.doctor?.(chat.options.parse({ model: "m", ...options }), environment(env))) ?? []).map((finding) => [
        finding.check,
        finding,
      ]),
    );

  test("looks at key, price, server and model, and asks no question", async () => {
    const server = await serve({ key: KEY, models: ["gpt-4o"] });
    const base = { provider: "openai", base_url: server.url };
    expect(await look({ ...base, model: "gpt-4o" })).toMatchObject({
      key: { status: "ok" },
      price: { status: "ok" },
      model: { status: "ok" },
    });
    expect(await look(base)).toMatchObject({ model: { status: "warning" }, price: { status: "warning" } });
    expect(await look(base, {})).toMatchObject({ key: { status: "problem" } });
    expect(await look(base, { OPENAI_API_KEY: "sk-wrong" })).toMatchObject({ probe: { status: "problem" } });
    const ollama = await serve({ style: "ollama", models: ["llama3"] });
    expect(await look({ provider: "ollama", model: "llama3", base_url: ollama.url })).toMatchObject({
      version: { status: "ok" },
      model: { status: "ok", found: expect.stringContaining("131072") },
    });
    expect(await look({ provider: "ollama", base_url: ollama.url })).toMatchObject({ model: { fix: "ollama pull m" } });
    expect([...server.questions, ...ollama.questions]).toEqual([]);
  });
});
