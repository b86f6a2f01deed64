/** The real LightRAG server: documents, retrieval, answers, and the ways in which they fail. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as realSleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Index, indexSchema } from "../../src/backends/index-folder.js";
import type { BuiltIndex } from "../../src/backends/index-tool.js";
import { builtInIndexTools } from "../../src/backends/index-tools.js";
import { lightrag } from "../../src/backends/lightrag.js";
import type { Digest } from "../../src/base/json.js";
import { indexCorpusStage } from "../../src/stages/index-corpus.js";
import { ask, openBackend, pathsOf } from "../rigs/ask-backend.js";
import { driveStage } from "../rigs/drive-stage.js";
import { memoryCorpus, memoryTree } from "../rigs/memory-corpus.js";
import { type ModelDouble, startModelDouble } from "../rigs/model-double.js";
import { stageToolsRig } from "../rigs/stage-tools.js";
import { modelRoles } from "./model-roles.js";
import { encodings, seen, venv } from "./python.js";

const KEY = "a-key-of-the-server";
const A = "src/main/java/org/a/Parser.java";
/** Another file of the same name: recent servers keep only names. */
const B = "src/main/java/org/b/Parser.java";
const FILES = {
  [A]: "package org.a;\n\n/** Reads tokens. */\npublic class Parser {\n  Token next() { return null; }\n}\n",
  [B]: "package org.b;\n\n/** Writes reports. */\npublic class Writer {\n  void write() {}\n}\n",
};
const SAID = `{"classes": [{"path": "${A}"}]}`;

const wanted = { name: "lightrag-1.5.7", install: [["lightrag-hku[api]==1.5.7"]] };
const python = venv(wanted);
test.runIf(python.problem !== null)("LightRAG is not installable here", () => {
  console.warn(python.problem);
});

describe.runIf(python.problem === null)(wanted.name, () => {
  let model: ModelDouble;
  let server: ChildProcess;
  let url: string;
  let folder: string;
  let index: Index;
  let log = "";
  const sleep = async (milliseconds: number, signal?: AbortSignal) => {
    await realSleep(milliseconds, undefined, signal === undefined ? {} : { signal });
  };
  const env = { LIGHTRAG_API_KEY: KEY };

  beforeAll(async () => {
    model = await startModelDouble(modelRoles(() => SAID));
    folder = await mkdtemp(join(tmpdir(), "bench-lightrag-"));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    server = spawn(
      join(python.folder, "bin", "lightrag-server"),
      [
        "--host",
        "127.0.0.1",
        "--port",
        String(port),
        "--working-dir",
        join(folder, "rag"),
        "--input-dir",
        join(folder, "inputs"),
      ],
      {
        cwd: folder,
        env: {
          PATH: process.env.PATH ?? "",
          HOME: folder,
          LIGHTRAG_API_KEY: KEY,
          LLM_BINDING: "openai",
          LLM_BINDING_HOST: model.base,
          LLM_BINDING_API_KEY: "k",
          LLM_MODEL: "gpt-4o-mini",
          EMBEDDING_BINDING: "openai",
          EMBEDDING_BINDING_HOST: model.base,
          EMBEDDING_BINDING_API_KEY: "k",
          EMBEDDING_MODEL: "text-embedding-3-small",
          EMBEDDING_DIM: "64",
          RERANK_BINDING: "null",
          COSINE_THRESHOLD: "-1",
          ENABLE_LLM_CACHE: "false",
          ...encodings(),
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    for (const stream of [server.stdout, server.stderr]) stream?.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
    for (let attempt = 0; ; attempt++) {
      if (
        await fetch(`${url}/health`).then(
          ({ ok }) => ok,
          () => false,
        )
      )
        break;
      if (attempt > 120 || server.exitCode !== null) throw new Error(`lightrag-server did not start:\n${log.slice(-4000)}`);
      await sleep(1000);
    }
  });
  afterAll(async () => {
    server?.kill("SIGKILL");
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const build = async (files: Record<string, string>, withEnv: Record<string, string> = env) => {
    const tools = stageToolsRig({ env: withEnv, clock: { now: Date.now, sleep } });
    const stage = indexCorpusStage(builtInIndexTools, (tree) => ({ ...memoryCorpus(files), tree }));
    return driveStage(stage, { tool: { kind: "lightrag", url } }, tools, tools.output([{ id: "all", value: memoryTree(files) }]));
  };
  const built = (): BuiltIndex => ({ digest: index.digest as Digest, facts: {}, folder: async () => "" });
  const query = async (
    options: Record<string, unknown>,
    prompt = "Where is the parser of tokens?",
    withEnv: Record<string, string> = env,
  ) =>
    ask(await openBackend(lightrag, { url, ...options }, { env: withEnv, sleep }), {
      prompt,
      ...(index === undefined ? {} : { index: built() }),
    });

  test("an empty server retrieves nothing, which is an answer", async () => {
    const files = await query({});
    seen("empty", files);
    expect(files).toMatchObject({ status: "completed", response: '{"classes":[]}' });
    const answer = await query({ returns: "answer" });
    seen("empty answer", answer);
    expect(answer).toMatchObject({ status: "completed", details: { llm_generated: false } });
  });

  test("documents are indexed, two of the same name apart", async () => {
    const { items, outcomes } = await build(FILES);
    seen("index", outcomes.get("all"));
    expect(outcomes.get("all")).toMatchObject({ type: "done" });
    index = indexSchema.parse(items[0]?.value);
    expect(index.facts).toMatchObject({ documents: 2, core_version: expect.any(String) });
    expect((await build(FILES)).items[0]?.value).toMatchObject({ digest: index.digest });
  });

  test("another tree is refused", async () => {
    const { outcomes } = await build({ "Other.java": "class Other {}" });
    expect(outcomes.get("all")).toMatchObject({
      type: "failed",
      message: expect.stringMatching(/holds 2 documents that are not of this source tree/),
    });
  });

  for (const mode of ["local", "global", "hybrid", "naive", "mix"]) {
    test(`${mode} retrieves files and answers`, async () => {
      const files = await query({ mode });
      seen(mode, files);
      expect(files).toMatchObject({ status: "completed" });
      expect(pathsOf(files)).toContain(A);
      const answer = await query({ mode, returns: "answer" });
      seen(mode, answer);
      expect(answer).toMatchObject({ status: "completed", response: SAID });
    });
  }

  test("keys, lengths, models that fail", async () => {
    const noKey = await query({}, undefined, {});
    seen("no key", noKey);
    expect(noKey).toMatchObject({ status: "failed", error: expect.stringMatching(/wants an API key/) });
    const wrong = await query({}, undefined, { LIGHTRAG_API_KEY: "another" });
    seen("wrong key", wrong);
    expect(wrong.error).toMatch(/refuses the API key/);
    const short = await query({}, "a");
    seen("short", short);
    expect(short.error).toMatch(/does not accept the request/);
    const long = await query({}, "word ".repeat(30_000));
    seen("long", long);
    expect(long.error).toMatch(/does not accept the request/);
    model.reply = () => ({ status: 401, body: { error: { message: "Incorrect API key", code: "invalid_api_key" } } });
    const denied = await query({ returns: "answer", mode: "naive" }, "Something else about the parser?");
    seen("model 401", denied);
    expect(denied).toMatchObject({ status: "failed", error: expect.stringMatching(/model gave no text, or could not be asked/) });
    for (const mode of ["mix", "naive", "local"]) {
      const retrieved = await query({ mode }, "And something else again about tokens?");
      seen(`model 401, ${mode}`, retrieved);
    }
    model.embeddings = { status: 500, body: { error: { message: "no" } } };
    for (const returns of ["files", "answer"]) {
      const retrieved = await query({ mode: "naive", returns }, "A third question about tokens?");
      seen(`embeddings 500, ${returns}`, retrieved);
      expect(retrieved).toMatchObject({ status: "failed" });
    }
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
