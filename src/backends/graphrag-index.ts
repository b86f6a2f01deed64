/**
 * GraphRAG's own index of a source tree: `graphrag init`, the tree's files as documents, `graphrag index`.
 *
 * Indexing asks a model about every chunk, so an attempt that fails keeps its folder: GraphRAG's cache of model answers lies there, and
 * the next attempt pays only for what is missing. What is kept is what queries read: settings, prompts, tables and vectors, and never `.env`.
 */
import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as z from "zod";
import { digestBytes, digestJson, type Json } from "../base/json.js";
import type { Corpus } from "../corpus/contract.js";
import { type BackendEnvironment, UnusableConfiguration } from "./contract.js";
import { programOptions } from "./graphrag.js";
import { start } from "./graphrag-command.js";
import { failureOfExit } from "./graphrag-failures.js";
import { findData, logMarks, logSince } from "./graphrag-folder.js";
import { findGraphrag, type Generation, type GraphragProgram } from "./graphrag-program.js";
import { detectGeneration, graphragRunner, type Runner } from "./graphrag-run.js";
import { type DocumentForm, fitSettings } from "./graphrag-settings.js";
import type { IndexOutcome, IndexRequest, IndexTool } from "./index-tool.js";

const options = z.strictObject({
  ...programOptions,
  settings: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Your settings.yaml, used as it is, relative to the pipeline file; default: the one that `graphrag init` writes, made to fit. See `documents`.",
    ),
  documents: z
    .enum(["json", "text"])
    .optional()
    .describe(
      "With `settings`: how the tree's files are laid out in its input folder. `json`: input/files.json, a list of {path, text}; `text`: one .txt each, its path in the first line (default).",
    ),
  prompts: z.string().min(1).optional().describe("Folder of prompts of your own, in place of those that `graphrag init` writes."),
  model: z.string().min(1).optional().describe("Completion model, written into the default settings."),
  embedding_model: z.string().min(1).optional().describe("Embedding model, written into the default settings."),
  api_base: z.url().optional().describe("Address of an OpenAI-compatible server, written into the default settings."),
  index_method: z.enum(["standard", "fast"]).optional().describe("`graphrag index --method`, from 2.0; default: GraphRAG's own."),
  timeout: z.number().positive().nullable().default(21_600).describe("Seconds per attempt; null = none."),
});
type Options = z.infer<typeof options>;

export const graphragIndex: IndexTool<Options> = {
  kind: "graphrag",
  summary: "GraphRAG's index: init, the tree's files as documents, index.",
  version: 1,
  options,
  identityOf: ({ documents, model, embedding_model, api_base, index_method, settings, prompts }) => ({
    documents: documents ?? null,
    model: model ?? null,
    embedding_model: embedding_model ?? null,
    api_base: api_base ?? null,
    index_method: index_method ?? null,
    own_settings: settings !== undefined,
    own_prompts: prompts !== undefined,
  }),
  fingerprint: async ({ settings, prompts, mode, venv }, { baseFolder, env = {} }) => {
    const program = await programOf(mode, venv, baseFolder, env);
    return {
      version: program.version,
      settings: settings === undefined ? null : digestBytes(await readNamed(resolve(baseFolder, settings), "settings")),
      prompts: prompts === undefined ? null : await digestOfPrompts(resolve(baseFolder, prompts)),
    };
  },
  pathBound: false,
  concurrency: () => 1,
  timeout: ({ timeout }) => timeout,
  build: async (config, request, environment, signal) => {
    try {
      return await build(config, request, environment, signal);
    } catch (error) {
      if (error instanceof UnusableConfiguration) return { type: "failed", message: error.message };
      throw error;
    }
  },
};

async function programOf(
  mode: Options["mode"],
  venv: string | undefined,
  baseFolder: string,
  env: BackendEnvironment["env"],
): Promise<GraphragProgram> {
  const found = await findGraphrag({
    dir: baseFolder,
    venv: venv === undefined ? undefined : resolve(baseFolder, venv),
    mode,
    env,
  });
  if (!found.ok) throw new UnusableConfiguration(`graphrag: ${found.error}`);
  return found.value;
}

async function readNamed(path: string, option: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) throw new UnusableConfiguration(`graphrag: \`${option}:\` names ${path}, and it can't be read`);
  return text;
}

async function digestOfPrompts(folder: string): Promise<Json> {
  const names = (await readdir(folder).catch(() => [] as string[])).filter((name) => name.endsWith(".txt")).sort();
  if (names.length === 0)
    throw new UnusableConfiguration(`graphrag: \`prompts:\` names ${folder}, and there are no prompts (*.txt) in it`);
  return digestJson(
    await Promise.all(names.map(async (name) => [name, digestBytes(await readNamed(join(folder, name), "prompts"))])),
  );
}

async function build(
  config: Options,
  { corpus, folder }: IndexRequest,
  environment: BackendEnvironment,
  signal: AbortSignal,
): Promise<IndexOutcome> {
  const program = await programOf(config.mode, config.venv, environment.baseFolder, environment.env);
  const before = await graphragRunner(folder, environment.env, environment.sleep);
  const generation = await detectGeneration(program, config.cli, before, environment.warn, signal);
  const first = start(program, generation, "index");
  if (first === null) {
    return { type: "failed", message: "GraphRAG's Python interpreter was not found: name its virtual environment with `venv:`" };
  }
  const advice = { dir: folder, data: "output", generation };
  const step = async (runner: Runner, args: readonly string[]): Promise<IndexOutcome | null> => {
    const marks = await logMarks(folder);
    const end = await runner.run([...first, ...args], "", signal);
    if (end.type === "not-started")
      return { type: "failed", message: `GraphRAG could not be started (${end.code}): ${end.message}` };
    if (end.type === "stopped")
      return { type: "failed", message: "indexing was stopped; what it has asked so far is kept, and the next attempt goes on" };
    if (end.type === "overflow" || end.signal !== null) {
      return {
        type: "failed",
        message: `indexing was ended${end.signal === null ? ": it printed more than 16 MiB" : ` by ${end.signal}`}`,
        retry: {},
      };
    }
    if (end.exitCode === 0) return null;
    // Progress and errors share standard output in some releases and standard error in others.
    const said = runner.redact(`${end.stdout.toString("utf8").slice(-16_384)}\n${end.stderr}`);
    const { error, retry } = failureOfExit(end.exitCode, said, runner.redact(await logSince(folder, marks)), advice);
    return { type: "failed", message: error, ...(retry === undefined ? {} : { retry }) };
  };

  // Left by an attempt that failed: settings and documents are written anew, the cache of model answers stays.
  for (const name of ["settings.yaml", "settings.yml", "settings.json", ".env", "input", "output", "prompts"]) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
  const failure = await step(before, initArguments(generation, config));
  if (failure !== null) return failure;
  // It would only hold a placeholder, which is then sent as a key; the real one comes from the environment.
  await rm(join(folder, ".env"), { force: true });
  let form: DocumentForm = config.documents ?? "text";
  if (config.settings !== undefined) {
    await writeFile(join(folder, "settings.yaml"), await readNamed(resolve(environment.baseFolder, config.settings), "settings"));
  } else {
    const fitted = fitSettings(await readNamed(join(folder, "settings.yaml"), "settings"), {
      model: config.model,
      embeddingModel: config.embedding_model,
      apiBase: config.api_base,
    });
    if (!fitted.ok) return { type: "failed", message: fitted.error };
    await writeFile(join(folder, "settings.yaml"), fitted.value.text);
    form = fitted.value.documents;
  }
  if (config.prompts !== undefined) {
    await cp(resolve(environment.baseFolder, config.prompts), join(folder, "prompts"), { recursive: true, force: true });
  }
  const documents = await writeDocuments(corpus, join(folder, "input"), form);
  if (documents === 0) return { type: "failed", message: "the source tree has no text files: there is nothing to index" };

  const runner = await graphragRunner(folder, environment.env, environment.sleep);
  const failed = await step(runner, indexArguments(generation, config.index_method));
  if (failed !== null) return failed;
  const data = await findData(folder, "output");
  if (data === null) {
    return { type: "failed", message: "graphrag index ended well and wrote no tables: see its settings (output) and its logs" };
  }
  await dropLogs(join(folder, "output"), 2);
  const keep = (
    await Promise.all(
      ["settings.yaml", "prompts", "output"].map(async (name) => ((await exists(join(folder, name))) ? [name] : [])),
    )
  ).flat();
  return {
    type: "built",
    keep,
    facts: { graphrag_version: program.version, cli: generation, documents, tables: [...data.tables] },
  };
}

function initArguments(generation: Generation, { model, embedding_model }: Options): string[] {
  switch (generation) {
    case "underscore":
      return ["--init", "--root", "."];
    case "query":
      return ["init", "--root", "."];
    case "positional":
      // Without them it asks on the terminal.
      return ["init", "--root", ".", "--model", model ?? "gpt-4.1", "--embedding", embedding_model ?? "text-embedding-3-large"];
  }
}

function indexArguments(generation: Generation, method: string | undefined): string[] {
  if (generation === "underscore") return ["--root", "."];
  return ["index", "--root", ".", ...(method === undefined ? [] : ["--method", method])];
}

/** Releases before 0.4 log beside their tables. Logs are no part of an index, and may quote what should not be kept. */
async function dropLogs(folder: string, depth: number): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name === "reports" || entry.name === "logs.json" || entry.name.endsWith(".log"))
      await rm(path, { recursive: true });
    else if (entry.isDirectory() && depth > 1) await dropLogs(path, depth - 1);
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** Writes the tree's text files and says how many. Binary and blank files have nothing to index. */
async function writeDocuments(corpus: Corpus, input: string, form: DocumentForm): Promise<number> {
  await mkdir(input, { recursive: true });
  const list: { path: string; text: string }[] = [];
  let count = 0;
  for (const { path } of corpus.tree.files) {
    const text = await corpus.text(path);
    if (text.includes("\u0000") || text.trim() === "") continue;
    count += 1;
    if (form === "json") list.push({ path, text });
    else await writeFile(join(input, documentName(path)), `File: ${path}\n\n${text}`);
  }
  if (form === "json") await writeFile(join(input, "files.json"), JSON.stringify(list));
  return count;
}

/** A name for one document: readable, unique, and short enough for any file system. */
function documentName(path: string): string {
  const readable = path.replace(/[^A-Za-z0-9._-]/g, "_").slice(-150);
  return `${createHash("sha256").update(path).digest("hex").slice(0, 12)}_${readable}.txt`;
}
