/**
 * An OpenAI-compatible model server that says what the test tells it: chat completions by a function of the request, embeddings by hashing
 * words (so that texts which share words are near each other). Deterministic, on a free local port.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface ChatRequest {
  readonly model: string;
  /** All messages as one text, roles left out. */
  readonly text: string;
  /** JSON is demanded. */
  readonly json: boolean;
  /** Text of the schema that is demanded; empty where there is none. */
  readonly schema: string;
}
export type ChatReply =
  | string
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> };

export interface ModelDouble {
  /** `http://127.0.0.1:PORT/v1`. */
  readonly base: string;
  readonly chats: ChatRequest[];
  readonly embedded: string[];
  /** What is said next; replace it as the test goes on. */
  reply: (request: ChatRequest) => ChatReply;
  /** In place of vectors, while set. */
  embeddings: Exclude<ChatReply, string> | null;
  /** Keys that were sent. */
  readonly keys: Set<string>;
  close(): Promise<void>;
}

const DIMENSIONS = 64;

export async function startModelDouble(reply: (request: ChatRequest) => ChatReply): Promise<ModelDouble> {
  const chats: ChatRequest[] = [];
  const embedded: string[] = [];
  const keys = new Set<string>();
  const server = createServer(async (request, response) => {
    keys.add((request.headers.authorization ?? "").replace(/^Bearer /, ""));
    const body = JSON.parse((await textOf(request)) || "{}") as Record<string, unknown>;
    const send = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    };
    const path = (request.url ?? "").split("?")[0] ?? "";
    if (path.endsWith("/embeddings") && double.embeddings !== null) {
      send(double.embeddings.status, double.embeddings.body, double.embeddings.headers);
      return;
    }
    if (path.endsWith("/embeddings")) {
      const inputs = (Array.isArray(body.input) ? body.input : [body.input]) as (string | number[])[];
      const data = inputs.map((input, index) => {
        const text = typeof input === "string" ? input : input.join(" ");
        embedded.push(text);
        const vector = embed(text);
        return { object: "embedding", index, embedding: body.encoding_format === "base64" ? base64(vector) : vector };
      });
      send(200, {
        object: "list",
        data,
        model: body.model,
        usage: { prompt_tokens: inputs.length, total_tokens: inputs.length },
      });
      return;
    }
    if (path.endsWith("/chat/completions")) {
      const chat = chatOf(body);
      chats.push(chat);
      const said = double.reply(chat);
      if (typeof said !== "string") send(said.status, said.body, said.headers);
      else if (body.stream === true) stream(said, String(body.model));
      else send(200, completion(said, String(body.model)));
      return;
    }
    if (path.endsWith("/models")) {
      send(200, { object: "list", data: [] });
      return;
    }
    send(404, { error: { message: `no ${path} here` } });

    function stream(text: string, model: string): void {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const chunk = (delta: object, finish: string | null) => ({
        id: "double",
        object: "chat.completion.chunk",
        created: 0,
        model,
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
      response.write(`data: ${JSON.stringify(chunk({ role: "assistant", content: text }, null))}\n\n`);
      response.write(`data: ${JSON.stringify(chunk({}, "stop"))}\n\n`);
      response.end("data: [DONE]\n\n");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const double: ModelDouble = {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    chats,
    embedded,
    reply,
    embeddings: null,
    keys,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return double;
}

function chatOf(body: Record<string, unknown>): ChatRequest {
  const messages = (body.messages ?? []) as { content?: unknown }[];
  const text = messages
    .map(({ content }) =>
      typeof content === "string" ? content : ((content ?? []) as { text?: string }[]).map((part) => part.text ?? "").join("\n"),
    )
    .join("\n\n");
  return {
    model: String(body.model),
    text,
    json: body.response_format !== undefined,
    schema: JSON.stringify(body.response_format ?? ""),
  };
}

function completion(content: string, model: string) {
  return {
    id: "double",
    object: "chat.completion",
    created: 0,
    model,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function embed(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0);
  for (const word of text.toLowerCase().match(/[a-z0-9]+/g) ?? []) {
    let hash = 2166136261;
    for (const character of word) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
    const slot = hash % DIMENSIONS;
    vector[slot] = (vector[slot] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

function base64(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString("base64");
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
