/**
 * A double of three chat interfaces on one loopback server: OpenAI's and Mistral's `/v1/chat/completions` (told apart by `style`) and Ollama's
 * native one. It behaves as the real ones do where a benchmark notices: keys, unknown models, names of fields, limits of context, formats of errors.
 * What it answers, and how it fails, the test says.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent, for tests to look into
  readonly body: any;
  /** Questions at work when it came, itself included. */
  readonly atOnce: number;
}

/** How a question ends. */
export type Script =
  /** An ordinary answer. Absent usage is counted from the texts; null = the server tells none. */
  | {
      readonly text: string | null;
      readonly finish?: string;
      readonly thinking?: string;
      readonly refusal?: string;
      readonly usage?: Record<string, unknown> | null;
      /** Members put over the body. */
      readonly over?: Record<string, unknown>;
    }
  /** An error in the style's own format. */
  | {
      readonly status: number;
      readonly message?: string;
      readonly code?: string | null;
      readonly type?: string;
      readonly headers?: Record<string, string>;
      /** Instead of the style's error. */
      readonly body?: string;
    }
  /** The connection breaks: before anything, or in the middle of the answer. */
  | { readonly break: "before" | "inside" }
  /** Nothing ever comes. */
  | { readonly hang: true };

export interface ChatServerOptions {
  readonly style?: "openai" | "mistral" | "ollama";
  /** The only key that is taken; absent = none is wanted. */
  readonly key?: string;
  /** Models that are there; absent = any. */
  readonly models?: readonly string[];
  /** Ollama: tokens that the models can read, and whether the server knows `shift: false` (else it cuts without a word). */
  readonly contextLength?: number;
  readonly cutsSilently?: boolean;
  readonly digest?: string;
  readonly answer?: (request: SeenRequest, number: number) => Script | Promise<Script>;
}

export interface ChatServer {
  readonly url: string;
  readonly host: string;
  /** Questions, in the order in which they came. */
  readonly questions: SeenRequest[];
  /** Everything else: lists of models, versions. */
  readonly others: SeenRequest[];
  /** Replaces what is answered from now on. */
  answer: (request: SeenRequest, number: number) => Script | Promise<Script>;
  close(): Promise<void>;
}

/** About what the real ones count. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

export async function chatServer(options: ChatServerOptions = {}): Promise<ChatServer> {
  const style = options.style ?? "openai";
  const questions: SeenRequest[] = [];
  const others: SeenRequest[] = [];
  let atWork = 0;
  const rig: ChatServer = {
    url: "",
    host: "",
    questions,
    others,
    answer: options.answer ?? (() => ({ text: '{"classes":[]}' })),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    let body: unknown;
    try {
      body = text === "" ? null : JSON.parse(text);
    } catch {
      fail(response, { status: 400, message: "the body is no JSON" });
      return;
    }
    const seen = { method: request.method ?? "", path, headers: request.headers, body };
    const asks = path.endsWith(style === "ollama" ? "/api/chat" : "/v1/chat/completions");
    if (!asks) {
      others.push({ ...seen, atOnce: atWork });
      const found = authorised(request) ? facts(seen.path, body) : undefined;
      if (found === undefined) fail(response, { status: 401, message: "Incorrect API key provided", code: "invalid_api_key" });
      else if (found === null) fail(response, { status: 404, message: "not found" });
      else send(response, 200, found);
      return;
    }
    atWork += 1;
    // Over once the answer has left, or the connection broke: the caller may come with the next before the socket is closed.
    let over = false;
    const end = () => {
      if (!over) atWork -= 1;
      over = true;
    };
    response.on("finish", end).on("close", end);
    const question: SeenRequest = { ...seen, atOnce: atWork };
    questions.push(question);
    const refused = refusal(request, question);
    const script = refused ?? (await rig.answer(question, questions.length));
    play(script, question, response);
  }

  function authorised(request: IncomingMessage): boolean {
    return options.key === undefined || request.headers.authorization === `Bearer ${options.key}`;
  }

  function refusal(request: IncomingMessage, { method, body }: SeenRequest): Script | null {
    if (method !== "POST") return { status: 405, message: "Method not allowed" };
    if (!authorised(request)) {
      const given = String(request.headers.authorization ?? "").replace(/^Bearer /, "");
      return {
        status: 401,
        message: `Incorrect API key provided: ${given}.`,
        code: "invalid_api_key",
        type: "invalid_request_error",
      };
    }
    if (options.models !== undefined && !options.models.includes(body.model)) {
      const message = style === "ollama" ? `model '${body.model}' not found` : `The model \`${body.model}\` does not exist`;
      return { status: 404, message, code: "model_not_found", type: "invalid_request_error" };
    }
    const prompt = tokensOf(JSON.stringify(body.messages));
    if (style === "ollama") {
      const room = Math.min(body.options?.num_ctx ?? 4096, options.contextLength ?? 131_072);
      if (prompt > room && options.cutsSilently !== true && body.shift === false) {
        return {
          status: 400,
          message: "the prompt is longer than the context length currently available to the model; shorten it or raise num_ctx",
        };
      }
      return null;
    }
    // Mistral's validator forbids what it does not know; the seed has another name there.
    if (style === "mistral" && "seed" in body) {
      const body_ = JSON.stringify({
        detail: [{ loc: ["body", "seed"], msg: "Extra inputs are not permitted", type: "extra_forbidden" }],
      });
      return { status: 422, body: body_ };
    }
    if (style === "openai" && "random_seed" in body) {
      return { status: 400, message: "Unrecognized request argument supplied: random_seed", type: "invalid_request_error" };
    }
    if (style === "openai" && /^(?:o\d|gpt-5)/.test(body.model) && "max_tokens" in body) {
      const message =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
      return { status: 400, message, code: "unsupported_parameter", type: "invalid_request_error" };
    }
    if (options.contextLength !== undefined && prompt > options.contextLength) {
      if (style === "mistral") {
        const message = `Prompt contains ${prompt} tokens, too large for model with ${options.contextLength} maximum context length`;
        return { status: 400, message, type: "invalid_request_error" };
      }
      const message = `This model's maximum context length is ${options.contextLength} tokens. However, your messages resulted in ${prompt} tokens.`;
      return { status: 400, message, code: "context_length_exceeded", type: "invalid_request_error" };
    }
    return null;
  }

  /** What a server says of itself and its models; null = it has no such page. */
  function facts(path: string, body: unknown): unknown {
    const names = options.models ?? ["m"];
    const digest = options.digest ?? "a".repeat(64);
    if (style !== "ollama") return path.endsWith("/v1/models") ? { object: "list", data: names.map((id) => ({ id })) } : null;
    if (path.endsWith("/api/version")) return { version: "0.33.0" };
    if (path.endsWith("/api/tags")) {
      return { models: names.map((name) => ({ name: name.includes(":") ? name : `${name}:latest`, model: name, digest })) };
    }
    if (!path.endsWith("/api/show") || !names.includes((body as { model: string }).model)) return null;
    return { model_info: { "general.architecture": "llama", "llama.context_length": options.contextLength ?? 131_072 } };
  }

  function play(script: Script, question: SeenRequest, response: ServerResponse): void {
    if ("hang" in script) return;
    if ("break" in script) {
      if (script.break === "before") {
        response.socket?.destroy();
        return;
      }
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"id":"chatcmpl-1","choices":[{"message":{"content":"{\\"classes\\"');
      setImmediate(() => response.socket?.destroy());
      return;
    }
    if ("status" in script) {
      fail(response, script);
      return;
    }
    send(response, 200, { ...(style === "ollama" ? native(script, question) : completion(script, question)), ...script.over });
  }

  function completion(script: Extract<Script, { text: string | null }>, { body }: SeenRequest): Record<string, unknown> {
    const prompt = tokensOf(JSON.stringify(body.messages));
    const output = tokensOf(script.text ?? "") + tokensOf(script.thinking ?? "");
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      model: `${body.model}-2026-01-01`,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: script.text,
            ...(script.refusal === undefined ? {} : { refusal: script.refusal }),
            ...(script.thinking === undefined ? {} : { reasoning_content: script.thinking }),
          },
          finish_reason: script.finish ?? "stop",
        },
      ],
      ...(script.usage === null
        ? {}
        : { usage: script.usage ?? { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output } }),
      ...(style === "openai" ? { system_fingerprint: "fp_1" } : {}),
    };
  }

  function native(script: Extract<Script, { text: string | null }>, { body }: SeenRequest): Record<string, unknown> {
    const prompt = tokensOf(JSON.stringify(body.messages));
    return {
      model: body.model,
      created_at: "2026-01-01T00:00:00Z",
      message: {
        role: "assistant",
        content: script.text ?? "",
        ...(script.thinking === undefined ? {} : { thinking: script.thinking }),
      },
      done: true,
      done_reason: script.finish ?? "stop",
      total_duration: 5_000_000,
      ...(script.usage === null
        ? {}
        : (script.usage ?? {
            // What does not fit was dropped before it was counted.
            prompt_eval_count: Math.min(prompt, body.options?.num_ctx ?? 4096),
            eval_count: tokensOf(script.text ?? ""),
          })),
    };
  }

  function fail(response: ServerResponse, script: Extract<Script, { status: number }>): void {
    if (script.body !== undefined) {
      const type = script.body.startsWith("{") ? "application/json" : "text/html";
      response.writeHead(script.status, { "content-type": type, ...script.headers });
      response.end(script.body);
      return;
    }
    const { message = "error", code = null, type = "server_error" } = script;
    const error = { message, type, param: null, code };
    const body = style === "ollama" ? { error: message } : style === "mistral" ? { object: "error", ...error } : { error };
    send(response, script.status, body, script.headers);
  }

  function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(rig, { host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}` });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
