/**
 * A double of an `/embeddings` endpoint on a loopback port. A text's vector counts the words of a small vocabulary, so that likeness is what a
 * test can see; what it answers otherwise, the test says.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SeenCall {
  readonly path: string;
  readonly key: string | null;
  readonly input: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Text as it is, or JSON. */
  readonly body: unknown;
}

const WORDS = ["door", "roof", "window", "garden"];

export function vectorOf(text: string): number[] {
  return [...WORDS.map((word) => text.toLowerCase().split(word).length - 1), 0.01];
}

/** `answer` null = as the real one. */
export async function embeddingServer(answer: (call: SeenCall, number: number) => Reply | null | "hang" | "cut" = () => null) {
  const calls: SeenCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { input: string[] } & Record<string, unknown>;
      const call: SeenCall = { path: request.url ?? "", key: request.headers.authorization ?? null, input: body.input, body };
      calls.push(call);
      const given = answer(call, calls.length);
      if (given === "hang") return;
      if (given === "cut") return void request.socket.destroy();
      const reply = given ?? {
        body: {
          object: "list",
          // Out of order, as the format allows.
          data: call.input.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) })).reverse(),
          usage: { prompt_tokens: call.input.reduce((sum, text) => sum + text.split(/\s+/).length, 0) },
        },
      };
      response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
      response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
