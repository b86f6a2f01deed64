#!/usr/bin/env node
/**
 * A Model Context Protocol server made with the SDK: searches the files below its working folder (or the folder given) for the words of the
 * query. Over stdio, or with `--http` over streamable HTTP on a free port, whose address it prints. DOUBLE_FAULT chooses what goes wrong;
 * DOUBLE_LOG gets a line per start and per call.
 */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const FAULT = process.env.DOUBLE_FAULT ?? "";
const log = (line) => process.env.DOUBLE_LOG && appendFileSync(process.env.DOUBLE_LOG, `${JSON.stringify(line)}\n`);
const args = process.argv.slice(2);
const http = args.includes("--http");
const root = resolve(args.find((arg) => !arg.startsWith("--")) ?? ".");

function walk(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? walk(join(folder, entry.name)) : [join(folder, entry.name)]));
}

function search(query) {
  const asked = new Set(query.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []);
  return walk(root)
    .map((path) => {
      const lines = readFileSync(path, "utf8").split("\n");
      const line = lines.findIndex((text) => [...asked].some((word) => text.toLowerCase().includes(word)));
      const score = [...asked].filter((word) => lines.some((text) => text.toLowerCase().includes(word))).length;
      return { file: { path }, score, range: { start: line, end: line + 1 } };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.file.path < b.file.path ? -1 : 1));
}

const text = (value) => ({ type: "text", text: value });

function makeServer() {
  const server = new Server({ name: "word-search", version: "2.1.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [
      { name: "search", inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] } },
      { name: "explain", inputSchema: { type: "object", properties: { query: {}, depth: {} }, required: ["query", "depth"] } },
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given = {} } }) => {
    log({ call: name, given });
    if (FAULT === "hang") await new Promise(() => {});
    if (FAULT === "die") process.exit(3);
    const hits = search(String(given.query ?? ""));
    if (name === "search") return { content: [text(JSON.stringify(hits))], structuredContent: { results: hits } };
    if (name === "text")
      return { content: [text(hits.map(({ file }, i) => `${i + 1}. \`${file.path.slice(root.length + 1)}\``).join("\n"))] };
    if (name === "parts") return { content: hits.map((hit) => text(JSON.stringify(hit))) };
    if (name === "links") {
      return {
        content: hits.map(({ file }) => ({ type: "resource_link", name: "file", uri: `file://${encodeURI(file.path)}` })),
      };
    }
    if (name === "error") return { isError: true, content: [text("the index is empty: run index first")] };
    if (name === "nothing") return { content: [] };
    throw Object.assign(new Error(`Unknown tool: ${name}`), { code: -32602 });
  });
  return server;
}

log({ start: process.pid, root });
if (FAULT === "refuse") {
  process.stderr.write("fatal: no licence found\n");
  process.exit(1);
}
if (http) {
  const listener = createServer(async (request, response) => {
    if (process.env.DOUBLE_TOKEN && request.headers.authorization !== `Bearer ${process.env.DOUBLE_TOKEN}`) {
      response.writeHead(401).end();
      return;
    }
    if (FAULT === "busy") {
      response.writeHead(429).end("slow down");
      return;
    }
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    const server = makeServer();
    await server.connect(transport);
    response.on("close", () => void server.close());
    await transport.handleRequest(request, response);
  });
  listener.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${listener.address().port}/mcp\n`));
} else {
  // As some servers do, though nothing but messages should be there.
  process.stdout.write("word-search is ready\n");
  await makeServer().connect(new StdioServerTransport());
}
