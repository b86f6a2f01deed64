/**
 * A LightRAG server that is none: documents in memory, indexed as soon as somebody looks, retrieval by shared words, and failures on
 * demand. Its manners are those that `test/real` saw of 1.5.7: only the last part of a source is kept, a second document of that name is a
 * conflict, validation fails with 422 (400 on /query/data), and a model that fails looks like an empty retrieval.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** In place of the usual answer: a status and body, the connection cut, or nothing at all. */
export type Trouble =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | "drop"
  | "silence";

export interface LightragDouble {
  readonly url: string;
  readonly requests: { readonly path: string; readonly body: Record<string, unknown>; readonly key: string | undefined }[];
  /** Key that it wants; undefined: none. */
  key: string | undefined;
  /** For the next calls of a path, one each. */
  trouble(path: string, ...troubles: readonly Trouble[]): void;
  /** The model behind it fails: no keywords, no answers. */
  modelFails: boolean;
  /** What its model answers. */
  answer: string;
  /** Members of answers that older releases lack are left out. */
  old: boolean;
  /** Sources whose indexing fails so often. */
  readonly failing: Map<string, number>;
  readonly sources: () => string[];
  /** Empties it, as a restart with another folder does. */
  clear(): void;
  close(): Promise<void>;
}

interface Stored {
  readonly id: string;
  readonly source: string;
  readonly text: string;
  readonly created: string;
  status: "pending" | "processed" | "failed";
}

export async function startLightrag(): Promise<LightragDouble> {
  const stored = new Map<string, Stored>();
  const troubles = new Map<string, Trouble[]>();
  let made = 0;
  const server = createServer(async (request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const body = JSON.parse((await textOf(request)) || "{}") as Record<string, unknown>;
    const key = request.headers["x-api-key"];
    double.requests.push({ path, body, key: typeof key === "string" ? key : undefined });
    const send = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    };
    const trouble = troubles.get(path)?.shift();
    if (trouble === "drop") {
      request.socket.destroy();
      return;
    }
    if (trouble === "silence") return;
    if (trouble !== undefined) {
      send(trouble.status, trouble.body, trouble.headers);
      return;
    }
    const open = path === "/health";
    if (double.key !== undefined && key !== double.key && !open) {
      send(403, { detail: key === undefined ? "API Key required" : "Invalid API Key" });
      return;
    }
    const authenticated = double.key === undefined || key === double.key;
    const { status, value } = handle(`${request.method} ${path}`, body, authenticated);
    send(status, value);
  });

  interface Said {
    readonly status: number;
    readonly value: unknown;
  }
  function said(status: number, value: unknown): Said {
    return { status, value };
  }

  function handle(what: string, body: Record<string, unknown>, authenticated: boolean): Said {
    switch (what) {
      case "GET /health":
        return said(200, {
          status: "healthy",
          core_version: "1.5.7",
          api_version: "0344",
          ...(authenticated
            ? { configuration: { llm_model: "m", embedding_model: "e", llm_binding_api_key: "never told" } }
            : {}),
        });
      case "POST /documents/paginated":
        return paginated(body);
      case "POST /documents/texts":
        return insert(body);
      case "POST /documents/reprocess_failed":
        for (const document of stored.values()) if (document.status === "failed") document.status = "pending";
        return said(200, { status: "reprocessing_started", message: "" });
      case "GET /documents/pipeline_status":
        return said(200, { busy: [...stored.values()].some(({ status }) => status === "pending") });
      case "POST /query/data":
        return data(body);
      case "POST /query":
        return query(body);
      default:
        return said(404, { detail: "Not Found" });
    }
  }

  function insert(body: Record<string, unknown>): Said {
    const texts = body.texts as string[];
    const sources = (body.file_sources as string[]).map((source) => source.split("/").at(-1) ?? "");
    if (texts.some((text) => text.trim() === "")) {
      return said(422, {
        detail: [{ loc: ["body", "texts"], msg: "Value error, texts cannot contain empty or whitespace-only entries" }],
      });
    }
    if (new Set(sources).size !== sources.length) return said(400, { detail: "file_sources must be unique by filename" });
    const known = sources.find((source) => stored.has(source));
    if (known !== undefined) return said(409, { detail: `Document storage already contains '${known}' (Status: processed).` });
    for (const [index, source] of sources.entries()) {
      made += 1;
      stored.set(source, {
        id: `doc-${String(made).padStart(4, "0")}`,
        source,
        text: texts[index]?.trim() ?? "",
        created: `2026-01-01T00:00:${String(made).padStart(2, "0")}`,
        status: "pending",
      });
    }
    return said(200, { status: "success", message: "Texts successfully received.", track_id: "insert_1" });
  }

  function paginated({ page, page_size }: Record<string, unknown>): Said {
    const all = [...stored.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const from = (Number(page) - 1) * Number(page_size);
    const shown = all.slice(from, from + Number(page_size)).map(({ id, source, status, created }) => ({
      id,
      file_path: source,
      status,
      chunks_count: status === "processed" ? 1 : null,
      created_at: created,
      error_msg: status === "failed" ? "the model failed" : null,
    }));
    const listed = { documents: shown, pagination: { has_next: from + shown.length < all.length } };
    // By the next look the background has done its work.
    for (const document of stored.values()) {
      if (document.status !== "pending") continue;
      const left = double.failing.get(document.source) ?? 0;
      double.failing.set(document.source, Math.max(0, left - 1));
      document.status = left > 0 ? "failed" : "processed";
    }
    return said(200, listed);
  }

  function found(text: string): Stored[] {
    const words = new Set(text.toLowerCase().match(/[a-z]{3,}/g) ?? []);
    const shared = (document: Stored) =>
      (document.text.toLowerCase().match(/[a-z]{3,}/g) ?? []).filter((word) => words.has(word)).length;
    return [...stored.values()]
      .map((document) => ({ document, score: shared(document) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .map(({ document }) => document);
  }

  /** The request's flaw, or null. */
  function flaw(body: Record<string, unknown>): string | null {
    const text = String(body.query ?? "").trim();
    if (text.length < 3 && body.mode !== "bypass") return "Value error, RAG query is too short.";
    return text.length > 65_536 ? "String should have at most 65536 characters" : null;
  }

  function data(body: Record<string, unknown>): Said {
    const problem = flaw(body);
    if (problem !== null)
      return said(400, { status: "failure", message: `Validation error: body -> query: ${problem}`, data: {}, metadata: {} });
    if (double.modelFails && body.mode !== "naive") return said(500, { detail: "Internal server error (error_id: 1)" });
    const documents = found(String(body.query));
    if (documents.length === 0) {
      return said(200, {
        status: "failure",
        message: "Query returned no results",
        data: {},
        metadata: { failure_reason: "no_results", mode: body.mode },
      });
    }
    const graph = body.mode === "naive" ? [] : documents;
    return said(200, {
      status: "success",
      message: "Query executed successfully",
      data: {
        // An entity that several files mention names them all.
        entities: graph.length > 0 ? [{ entity_name: "E", file_path: [...stored.keys()].join("<SEP>"), reference_id: "" }] : [],
        relationships: graph.map(({ source }) => ({ src_id: "A", tgt_id: "B", file_path: source, reference_id: "" })),
        chunks: documents.map(({ id, source, text }) => ({
          content: text,
          file_path: source,
          chunk_id: `${id}-chunk-000`,
          reference_id: "1",
        })),
        references: documents.map(({ source }, index) => ({ reference_id: String(index + 1), file_path: source })),
      },
      metadata: { query_mode: body.mode, keywords: { high_level: ["k"], low_level: [] } },
    });
  }

  function query(body: Record<string, unknown>): Said {
    const problem = flaw(body);
    if (problem !== null) return said(422, { detail: [{ type: "value_error", loc: ["body", "query"], msg: problem }] });
    const reply = (text: string, generated: boolean, documents: readonly Stored[]) =>
      said(
        200,
        double.old
          ? { response: text }
          : {
              response: text,
              references: documents.map(({ source, text: content }, index) => ({
                reference_id: String(index + 1),
                file_path: source,
                content: [content],
              })),
              response_time: 0.5,
              llm_generated: generated,
            },
      );
    if (double.modelFails) return reply("No relevant context found for the query.", false, []);
    const documents = body.mode === "bypass" ? [] : found(String(body.query));
    if (documents.length === 0 && body.mode !== "bypass") {
      return reply("Sorry, I'm not able to provide an answer to that question.[no-context]", false, []);
    }
    return reply(double.answer, true, documents);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const double: LightragDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    key: undefined,
    trouble: (path, ...more) => void troubles.set(path, [...(troubles.get(path) ?? []), ...more]),
    modelFails: false,
    answer: "The answer.",
    old: false,
    failing: new Map(),
    sources: () => [...stored.keys()].sort(),
    clear: () => stored.clear(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return double;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
