/**
 * `mcp`: any server that speaks the Model Context Protocol, as most code-search tools of today do: one of its tools is called with the
 * question, and its result is the answer.
 *
 * What the tool is called with is a template; what it returns is read by the parser ladder, or by a mapping (`result`) where it is JSON of a
 * form of its own. The server may be a program that is started (stdio) or an address (streamable HTTP).
 */
import { resolve } from "node:path";
import { redactor } from "../base/env-secrets.js";
import type { Json } from "../base/json.js";
import {
  type Backend,
  type BackendEnvironment,
  type BackendKind,
  type CaseField,
  type Question,
  type RawAnswer,
  UnusableConfiguration,
} from "./contract.js";
import { digestOfFile } from "./file-digest.js";
import { type Connection, ConnectionFailed, Connections, NO_LIMIT_MS } from "./mcp-connection.js";
import { look } from "./mcp-doctor.js";
import { isRelative, type Options, options, textsIn } from "./mcp-options.js";
import { readResult, type ToolResult } from "./mcp-result.js";
import { filledArguments, rootsOf, serverFor } from "./mcp-server.js";
import { type Placeholder, placeholdersOf } from "./template.js";
import { fitQuery, lastLines } from "./tool-process.js";

const FIELDS: Partial<Record<Placeholder, CaseField>> = { title: "title", repo: "repository", base_commit: "base_commit" };

export const mcp: BackendKind<Options> = {
  kind: "mcp",
  summary: "A tool of any Model Context Protocol server.",
  version: 1,
  options,
  identityOf: (config) =>
    config.identity === null
      ? null
      : {
          server: config.command ?? config.url ?? null,
          own_folder: config.cwd !== undefined,
          tool: config.tool,
          arguments: config.arguments as Json,
          prompt: config.prompt,
          query_bytes: config.query_bytes ?? null,
          result: (config.result ?? null) as Json,
          top: config.top,
          version: config.version ?? null,
          identity: (config.identity ?? null) as Json,
        },
  fingerprint: async ({ command = [], files }, { baseFolder }) => {
    const digests: Record<string, string> = {};
    for (const argument of command) {
      const digest = isRelative(argument) ? await digestOfFile(resolve(baseFolder, argument)) : null;
      if (digest !== null) digests[argument] = digest;
    }
    for (const file of files) {
      const digest = await digestOfFile(resolve(baseFolder, file));
      if (digest === null)
        throw new UnusableConfiguration(`mcp: \`files:\` names ${file}, but there is no such file in ${baseFolder}`);
      digests[file] = digest;
    }
    return digests;
  },
  needsCorpus: "optional",
  readsTruth: false,
  readsDataset: false,
  reads: (config) => [...placeholdersOf(textsIn(config.arguments))].flatMap((name) => FIELDS[name] ?? []),
  prompt: ({ prompt }) => prompt,
  concurrency: ({ concurrency }) => concurrency,
  timeout: ({ timeout }) => timeout,
  noteOf: ({ details }) =>
    details.query_cut === undefined ? null : "the query was longer than `query_bytes` and was cut at a word",
  open: async (config, environment): Promise<Backend> => {
    const connections = new Connections(environment.sleep);
    return {
      ask: (question, signal) => ask(config, environment, connections, question, signal),
      close: () => connections.close(),
    };
  },
  doctor: look,
};

async function ask(
  config: Options,
  environment: BackendEnvironment,
  connections: Connections,
  question: Question,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const texts = [...(config.command ?? []), ...textsIn(config.arguments)];
  if (placeholdersOf(texts).has("corpus") && question.corpus === undefined) {
    return failure("failed", "{corpus} is used, but the stage has no source tree: add a checkout stage to its `needs`");
  }
  const corpus = await question.corpus?.folder();
  const server = await serverFor(config, environment, corpus);
  if (typeof server === "string") return failure("failed", server);
  const fitted = config.query_bytes === undefined ? { query: question.prompt } : fitQuery(question.prompt, config.query_bytes);
  const filled = filledArguments(config.arguments, {
    query: fitted.query,
    query_file: "",
    corpus: corpus ?? "",
    folder: environment.baseFolder,
    id: question.id,
    title: question.case.title ?? "",
    repo: question.case.repository ?? "",
    base_commit: question.case.base_commit ?? "",
    repeat: String(question.repeat),
  });
  const redact = redactor(environment.env, [...config.env, ...(config.token_env === undefined ? [] : [config.token_env])]);
  // A server that was started for a tree answers about that tree only.
  const name = server.type === "http" ? "http" : JSON.stringify([server.cwd, server.args]);
  let errorOutput = () => "";
  try {
    return await connections.with(name, server, signal, async (connection) => {
      errorOutput = connection.errorOutput;
      const call = { name: config.tool, arguments: filled };
      const result = (await connection.client.callTool(call, undefined, { signal, timeout: NO_LIMIT_MS })) as ToolResult;
      return answerFrom(result, config, connection, await rootsOf(corpus), fitted.cutFrom, redact);
    });
  } catch (error) {
    const said = redact(error instanceof ConnectionFailed ? error.errorOutput : errorOutput());
    return broken(error, config, redact, said, signal);
  }
}

function answerFrom(
  result: ToolResult,
  config: Options,
  connection: Connection,
  roots: readonly string[],
  cutFrom: number | undefined,
  redact: (text: string) => string,
): RawAnswer {
  const details: Record<string, unknown> = { server: connection.server };
  if (cutFrom !== undefined) details.query_cut = { from_bytes: cutFrom, limit: config.query_bytes };
  const read = readResult(result, config.result ?? null, config.top, roots);
  if (!read.ok) {
    return { status: "failed", response: read.said, error: `${config.tool}: ${lastLines(redact(read.error)).slice(2)}`, details };
  }
  if (read.hits !== null) details.hits = read.hits;
  if (read.unreadable > 0) details.unreadable_hits = read.unreadable;
  return { status: "completed", response: read.response, details };
}

/** What broke on the way, as a status. */
function broken(error: unknown, config: Options, redact: (text: string) => string, said: string, signal: AbortSignal): RawAnswer {
  const details: Record<string, unknown> = said.trim() === "" ? {} : { stderr: said };
  if (signal.aborted) {
    const late = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
    return late
      ? failure("timed_out", `${config.tool} gave no answer in time${lastLines(said)}`, details)
      : failure("failed", "stopped before the server answered", details);
  }
  const message = redact(error instanceof Error ? error.message : String(error));
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 429) return { ...failure("rate_limited", `the server asks for fewer calls: ${message}`, details), retry: {} };
  if (code === 401 || code === 403) {
    return {
      ...failure("failed", `the server refused the call (${code}): check the token that \`token_env\` names`, details),
      ofAll: "fail",
    };
  }
  // JSON-RPC: unknown method or tool, wrong arguments. Another attempt would fail in the same way.
  if (code === -32601 || code === -32602) {
    return failure(
      "failed",
      `${message}: check \`tool\` and \`arguments\` (bench doctor PIPELINE lists the server's tools)`,
      details,
    );
  }
  if (error instanceof ConnectionFailed && error.neverStarts)
    return { ...failure("failed", message, details), ofAll: "fail", asked: false };
  const where = config.url ?? config.command?.[0] ?? "the server";
  return { ...failure("failed", `${where}: ${message}${lastLines(said)}`, details), retry: {} };
}

function failure(status: RawAnswer["status"], error: string, details: Record<string, unknown> = {}): RawAnswer {
  return { status, response: "", error, details };
}
