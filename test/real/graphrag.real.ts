/** The real GraphRAG, one release of each generation of its command line: index, query, and the ways in which they fail. */

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as realSleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backend, RawAnswer } from "../../src/backends/contract.js";
import { graphrag } from "../../src/backends/graphrag.js";
import { type Index, indexFolder, indexSchema } from "../../src/backends/index-folder.js";
import type { BuiltIndex } from "../../src/backends/index-tool.js";
import { builtInIndexTools } from "../../src/backends/index-tools.js";
import type { Digest } from "../../src/base/json.js";
import { indexCorpusStage } from "../../src/stages/index-corpus.js";
import { ask, openBackend } from "../rigs/ask-backend.js";
import { driveStage } from "../rigs/drive-stage.js";
import { memoryCorpus, memoryTree } from "../rigs/memory-corpus.js";
import { type ChatRequest, type ModelDouble, startModelDouble } from "../rigs/model-double.js";
import { type StageToolsRig, stageToolsRig } from "../rigs/stage-tools.js";
import { isQuestion, modelRoles } from "./model-roles.js";
import { encodings, seen, venv } from "./python.js";

const KEY = "a-key-that-only-the-double-knows";
const FILES = {
  "src/main/java/org/a/Parser.java":
    "package org.a;\n\n/** Reads. */\npublic class Parser {\n  Token next() { return null; }\n}\n",
  "src/main/java/org/b/Parser.java": "package org.b;\n\npublic class Writer {\n  void write() {}\n}\n",
  "README.md": "A small program in Java. See public class Reader.\n",
};
/** What each step of a search wants: a global search's map, a drift search's primer and its actions, else the answer. */
function searching({ text, schema, json }: ChatRequest): string {
  if (text.includes('"points"'))
    return JSON.stringify({ points: [{ description: "The parser [Data: Reports (0)]", score: 80 }] });
  const queries = ["a?", "b?", "c?", "d?", "e?"];
  if (schema.includes("intermediate_answer") || text.includes("intermediate_answer")) {
    return JSON.stringify({ intermediate_answer: SAID, score: 90, follow_up_queries: queries });
  }
  return json ? JSON.stringify({ response: SAID, score: 90, follow_up_queries: queries }) : SAID;
}

const SAID = '{"classes": [{"path": "src/main/java/org/a/Parser.java"}]} [Data: Sources (1, 2)]';

interface Release {
  readonly name: string;
  readonly install: readonly (readonly string[])[];
  readonly relaxed?: { readonly package: string; readonly instead: Readonly<Record<string, string>> };
  readonly methods: readonly string[];
}

const RELEASES: readonly Release[] = [
  { name: "graphrag-3.3.0", install: [["graphrag==3.3.0"]], methods: ["local", "global", "drift", "basic"] },
  // Their own pins allow newer packages than they work with.
  {
    name: "graphrag-2.5.0",
    install: [["graphrag==2.5.0"], ["pyarrow<20", "click<8.2", "openai<2", "pandas<3"]],
    methods: ["local", "global", "basic"],
  },
  { name: "graphrag-2.3.0", install: [["graphrag==2.3.0"], ["pyarrow<20", "click<8.2"]], methods: ["local", "global", "basic"] },
  {
    name: "graphrag-0.3.6",
    install: [["--no-deps", "graphrag==0.3.6"]],
    // The lancedb that it is pinned to is no longer offered.
    relaxed: { package: "graphrag", instead: { lancedb: "lancedb==0.14.0" } },
    methods: ["local", "global"],
  },
];

for (const release of RELEASES) {
  describe(release.name, () => {
    const python = venv(release);
    test.runIf(python.problem !== null)("is not installable here", () => {
      console.warn(`${release.name}: ${python.problem}`);
    });
    describe.runIf(python.problem === null)("installed", () => {
      let model: ModelDouble;
      let tools: StageToolsRig;
      let index: Index;
      let env: Record<string, string | undefined>;
      const sleep = async (milliseconds: number, signal?: AbortSignal) => {
        await realSleep(milliseconds, undefined, signal === undefined ? {} : { signal });
      };

      const open = (options: Record<string, unknown> = {}): Promise<Backend> =>
        openBackend(graphrag, { venv: python.folder, ...options }, { env, sleep, baseFolder: tmpdir() });
      const built = (): BuiltIndex => ({
        digest: index.digest as Digest,
        facts: {},
        folder: () => indexFolder(index, tools),
      });
      const query = async (options: Record<string, unknown>, prompt = "Where is the parser?"): Promise<RawAnswer> =>
        ask(await open(options), { prompt, index: built() });

      beforeAll(async () => {
        model = await startModelDouble(modelRoles(() => SAID));
        env = { PATH: process.env.PATH, HOME: process.env.HOME, GRAPHRAG_API_KEY: KEY, ...encodings() };
        tools = stageToolsRig({ env, clock: { now: Date.now, sleep } });
        const stage = indexCorpusStage(builtInIndexTools, (tree) => ({ ...memoryCorpus(FILES), tree }));
        const tree = memoryTree(FILES);
        const { items, outcomes } = await driveStage(
          stage,
          {
            tool: {
              kind: "graphrag",
              venv: python.folder,
              model: "gpt-4o",
              embedding_model: "text-embedding-3-small",
              api_base: model.base,
            },
          },
          tools,
          tools.output([{ id: "all", value: tree }]),
        );
        expect(outcomes.get("all")).toMatchObject({ type: "done" });
        index = indexSchema.parse(items[0]?.value);
        seen(`${release.name}, index`, index.facts);
      });
      afterAll(async () => {
        await model?.close();
      });

      test("the index has tables and settings, and no key", async () => {
        const folder = await indexFolder(index, tools);
        expect(
          index.files.some(({ path }) => path.endsWith("entities.parquet") || path.endsWith("create_final_entities.parquet")),
        ).toBe(true);
        expect(index.files.every(({ path }) => !path.includes(".env"))).toBe(true);
        expect(await readFile(join(folder, "settings.yaml"), "utf8")).not.toContain(KEY);
        expect([...model.keys]).toEqual([KEY]);
      });

      test("documents carry their paths", () => {
        const extractions = model.chats.filter((chat) => !isQuestion(chat)).map(({ text }) => text);
        for (const path of Object.keys(FILES)) expect(extractions.some((text) => text.includes(path))).toBe(true);
      });

      for (const method of release.methods) {
        test(`${method} search answers`, async () => {
          model.reply = modelRoles(searching);
          const answer = await query({ method });
          seen(`${release.name}, ${method}`, answer);
          expect(answer).toMatchObject({ status: "completed" });
          expect(answer.response).toBe(SAID);
          expect(answer.details).toMatchObject({ citations: [{ dataset: "Sources", ids: ["1", "2"], more: false }] });
        });
      }

      test("a query that begins with a dash, and one that is longer than an argument may be", async () => {
        model.reply = modelRoles(() => SAID);
        const basic = { method: "local" };
        const dash = await query(basic, "--help me");
        expect(dash).toMatchObject({ status: "completed", response: SAID });
        const long = `begin ${"word ".repeat(30_000)} end`;
        const answer = await query(basic, long);
        seen(`${release.name}, long`, answer);
        expect(answer.details).toMatchObject({ query_by: "stdin" });
      });

      test("failures of the model's server", async () => {
        const quick = async (options: Record<string, unknown>, reply: ModelDouble["reply"]) => {
          model.reply = reply;
          return query(options);
        };
        const denied = await quick({ method: "local" }, () => ({
          status: 401,
          body: { error: { message: "Incorrect API key provided", type: "invalid_request_error", code: "invalid_api_key" } },
        }));
        seen(`${release.name}, 401 local`, denied);
        expect(denied).toMatchObject({ status: "failed" });
        expect(denied.error).toMatch(/refused the key/);
        const global = await quick({ method: "global" }, () => ({
          status: 401,
          body: { error: { message: "Incorrect API key provided", type: "invalid_request_error", code: "invalid_api_key" } },
        }));
        seen(`${release.name}, 401 global`, global);
        expect(global).toMatchObject({ status: "failed" });
        expect(global.error).toMatch(/refused the key/);
      });

      test("no relevant data is an answer", async () => {
        model.reply = modelRoles(({ text }) => (text.includes('"points"') ? JSON.stringify({ points: [] }) : SAID));
        const answer = await query({ method: "global" });
        expect(answer).toMatchObject({
          status: "completed",
          response: "I am sorry but I am unable to answer this question given the provided data.",
        });
      });

      test("what is missing is named", async () => {
        const folder = await mkdtemp(join(tmpdir(), "bench-graphrag-"));
        try {
          const noData = await ask(await open({ dir: folder }), { prompt: "Where?" });
          seen(`${release.name}, no data folder`, noData);
          expect(noData).toMatchObject({ status: "failed" });
          await mkdir(join(folder, "output"));
          const nothing = await ask(await open({ dir: folder }), { prompt: "Where?" });
          seen(`${release.name}, empty folder`, nothing);
          expect(nothing).toMatchObject({ status: "failed" });
          // Releases before 0.4 go on without settings, and look for the index first.
          const old = release.name.includes("-0.");
          expect(nothing.error).toMatch(old ? /index first/ : /no settings\.yaml/);
          const source = await indexFolder(index, tools);
          await writeFile(join(folder, "settings.yaml"), await readFile(join(source, "settings.yaml"), "utf8"));
          const noIndex = await ask(await open({ dir: folder }), { prompt: "Where?" });
          seen(`${release.name}, no index`, noIndex);
          expect(noIndex.error).toMatch(/index first/);
          const { GRAPHRAG_API_KEY: _key, ...without } = env;
          const noKey = await ask(
            await openBackend(graphrag, { venv: python.folder, dir: folder }, { env: without, sleep, baseFolder: tmpdir() }),
            { prompt: "Where?" },
          );
          seen(`${release.name}, no key`, noKey);
          expect(noKey.error).toMatch(old ? /GRAPHRAG_API_KEY|index first/ : /GRAPHRAG_API_KEY/);
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      });

      test("a wrong generation is told", async () => {
        const wrong = await query({ cli: release.name.includes("-3.") ? "query" : "positional" });
        seen(`${release.name}, wrong cli`, wrong);
        expect(wrong.error).toMatch(/does not understand the command line/);
      });

      test("a time-out ends the process and its children", async () => {
        model.reply = () => ({ status: 200, body: {} });
        const signal = new AbortController();
        const reason = Object.assign(new Error("late"), { name: "TimeoutError" });
        const asked = ask(await open(), { prompt: "Where?", index: built() }, signal.signal);
        await sleep(1500);
        signal.abort(reason);
        expect(await asked).toMatchObject({ status: "timed_out" });
      });
    });
  });
}
