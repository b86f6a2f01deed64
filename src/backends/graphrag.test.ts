/** GraphRAG as its double plays it: the three command lines, what is printed by each, and every failure. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask as askBackend, openBackend } from "../../test/rigs/ask-backend.js";
import {
  type Behaviour,
  type DoubleRelease,
  type GraphragDouble,
  graphragDouble,
  graphragFolder,
} from "../../test/rigs/graphrag-double.js";
import { parseAnswer } from "../answers/parse.js";
import type { RawAnswer } from "./contract.js";
import { graphrag } from "./graphrag.js";

const KEY = "key-of-a-stranger";
const RELEASES: readonly DoubleRelease[] = ["0.3.6", "2.3.0", "2.5.0", "3.3.0"];
/** Time does not pass. */
const sleep = () => new Promise<void>(() => {});

let folder: string;
let dir: string;
const env = () => ({ PATH: process.env.PATH, GRAPHRAG_API_KEY: KEY, CHAT_MODEL: "m" });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bench-graphrag-"));
  dir = graphragFolder(join(folder, "graphrag"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function ask(
  double: GraphragDouble,
  options: Record<string, unknown> = {},
  prompt = "Where is it?",
  signal?: AbortSignal,
  withEnv: Record<string, string | undefined> = env(),
): Promise<RawAnswer> {
  const backend = await openBackend(
    graphrag,
    { dir: "graphrag", venv: double.venv, ...options },
    { env: withEnv, sleep, baseFolder: folder },
  );
  return askBackend(backend, { prompt }, signal);
}

const behaving = async (behaviour: Behaviour, release: DoubleRelease = "3.3.0", options: Record<string, unknown> = {}) => {
  const double = graphragDouble(folder, release);
  double.behave(behaviour);
  return ask(double, options);
};

describe("the command line", () => {
  test("0.3: python -m graphrag.query, underscores, the query last", async () => {
    const double = graphragDouble(folder, "0.3.6");
    await ask(double, { community_level: 1, response_type: "List" });
    expect(double.calls().map(({ program, argv, cwd }) => ({ program, argv, cwd }))).toEqual([
      {
        program: "python",
        argv: [
          ...["-m", "graphrag.query", "--root", ".", "--method", "local", "--data", "./output"],
          ...["--community_level", "1", "--response_type", "List", "--", "Where is it?"],
        ],
        cwd: dir,
      },
    ]);
  });

  test("2.x: graphrag query --query", async () => {
    const double = graphragDouble(folder, "2.3.0");
    await ask(double, { community_level: 1, response_type: "List", method: "DRIFT", data: "output" });
    expect(double.calls().map(({ program, argv }) => ({ program, argv }))).toEqual([
      {
        program: "graphrag",
        argv: [
          ...["query", "--root", ".", "--method", "drift", "--data", "output"],
          ...["--community-level", "1", "--response-type", "List", "--query", "Where is it?"],
        ],
      },
    ]);
  });

  test("3.x: graphrag query QUERY, and never streaming", async () => {
    const double = graphragDouble(folder, "3.3.0");
    await ask(double, { response_type: "List", method: "basic" });
    expect(double.calls()[0]?.argv).toEqual([
      ...[
        "query",
        "--root",
        ".",
        "--method",
        "basic",
        "--data",
        "./output",
        "--no-streaming",
        "--response-type",
        "List",
        "--",
        "Where is it?",
      ],
    ]);
  });

  test.each(RELEASES)("%s: without metadata its help tells, asked once", async (release) => {
    const double = graphragDouble(folder, release, { metadata: release === "0.3.6" });
    const backend = await openBackend(
      graphrag,
      { dir: "graphrag", venv: double.venv },
      { env: env(), sleep, baseFolder: folder },
    );
    expect(await askBackend(backend, { prompt: "One?" })).toMatchObject({ status: "completed", response: "The answer." });
    expect(await askBackend(backend, { prompt: "Two?" })).toMatchObject({ status: "completed" });
    const helps = double.calls().filter(({ argv }) => argv.includes("--help")).length;
    expect(helps).toBe(release === "0.3.6" ? 0 : 1);
  });

  test.each(RELEASES)("%s: a query that looks like options, quotes and shell is text", async (release) => {
    const double = graphragDouble(folder, release);
    const prompt = "--method=$(rm -rf /) `x` \"'\n-q --help";
    expect(await ask(double, {}, prompt)).toMatchObject({ status: "completed" });
    expect(double.calls().at(-1)?.argv.at(-1)).toBe(prompt);
  });

  test.each(RELEASES)(
    "%s: a query longer than an argument may be, or with a NUL, goes over standard input, whole",
    async (release) => {
      const double = graphragDouble(folder, release);
      for (const prompt of ["é".repeat(70_000), "a\u0000b"]) {
        expect(await ask(double, {}, prompt)).toMatchObject({
          status: "completed",
          response: "The answer.",
          details: { query_by: "stdin" },
        });
        const { program, argv, stdin } = double.calls().at(-1) ?? { program: "", argv: [], stdin: "{}" };
        expect([program, argv[0]]).toEqual(["python", "-c"]);
        expect(JSON.parse(stdin)).toMatchObject({ arguments: expect.arrayContaining([prompt]) });
      }
    },
  );

  test("one that just fits is an argument", async () => {
    const double = graphragDouble(folder, "3.3.0");
    expect((await ask(double, {}, "a".repeat(128 * 1024 - 1))).details).not.toHaveProperty("query_by");
    expect((await ask(double, {}, "a".repeat(128 * 1024))).details).toMatchObject({ query_by: "stdin" });
  });

  test("an old release that is started as a new one, too", async () => {
    const answer = await ask(graphragDouble(folder, "0.3.6"), { cli: "positional" });
    expect(answer).toMatchObject({ status: "failed", error: expect.stringMatching(/does not understand.*set `cli:`/) });
  });

  test("a wrapper that tells its version is believed; one that tells nothing is taken for 3.x, with a warning", async () => {
    const telling = graphragDouble(folder, "2.3.0", { metadata: false, tellsVersion: true });
    expect(await ask(telling)).toMatchObject({ status: "completed", details: { cli: "query" } });
    expect(telling.calls().map(({ argv }) => argv[0])).toEqual(["--version", "query"]);
    const mute = graphragDouble(folder, "3.3.0", { metadata: false, mute: true });
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const backend = await openBackend(
      graphrag,
      { dir: "graphrag", venv: mute.venv },
      { env: env(), sleep, baseFolder: folder, warn },
    );
    expect(await askBackend(backend, { prompt: "?" })).toMatchObject({ status: "completed", details: { cli: "positional" } });
    expect(warnings).toEqual([expect.stringMatching(/taken for 3\.x \(say with `cli:`/)]);
  });

  test("a wrong `cli:` is told apart from other failures", async () => {
    const answer = await ask(graphragDouble(folder, "3.3.0"), { cli: "query" });
    expect(answer).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/does not understand.*set `cli:`.*No such option: --query/s),
    });
    expect(answer.retry).toBeUndefined();
  });

  test("a method that the release lacks is refused before anything is asked", async () => {
    const double = graphragDouble(folder, "0.3.6");
    expect(await ask(double, { method: "drift" })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/0\.3\.6 has no drift search/),
    });
    expect(double.calls()).toEqual([]);
  });

  test("tables of an old release lie in its newest run's folder", async () => {
    const double = graphragDouble(folder, "0.3.6");
    rmSync(join(dir, "output"), { recursive: true });
    for (const run of ["20240101-000000", "20240301-000000"])
      graphragFolder(dir, { [`output/${run}/artifacts/create_final_nodes.parquet`]: run });
    for (const name of ["entities", "text_units"]) rmSync(join(dir, "output", `${name}.parquet`));
    await ask(double);
    const argv = double.calls()[0]?.argv ?? [];
    expect(argv[argv.indexOf("--data") + 1]).toBe("./output/20240301-000000/artifacts");
  });

  test("the environment is inherited, without tokens that are no business of its", async () => {
    const double = graphragDouble(folder, "3.3.0");
    await ask(double, {}, "?", undefined, { ...env(), AZURE_API_BASE: "x", GITHUB_TOKEN: "ghp" });
    const passed = double.calls()[0]?.env ?? {};
    expect(passed).toMatchObject({ GRAPHRAG_API_KEY: KEY, CHAT_MODEL: "m", AZURE_API_BASE: "x" });
    expect(passed).not.toHaveProperty("GITHUB_TOKEN");
  });

  test("no GraphRAG anywhere: what to do", async () => {
    const none = await openBackend(graphrag, { dir: "graphrag", venv: "nowhere" }, { env: env(), sleep, baseFolder: folder });
    expect(await askBackend(none, { prompt: "?" })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/no GraphRAG in the virtual environment .*nowhere.*pip install graphrag/s),
    });
    expect(
      await ask(graphragDouble(folder, "3.3.0"), { venv: undefined, mode: "uv" }, "?", undefined, { PATH: "" }),
    ).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/needs the program uv/),
    });
  });
});

describe("the answer", () => {
  test.each(RELEASES)("%s: the text alone, whatever was printed around it", async (release) => {
    const double = graphragDouble(folder, release);
    double.answer(
      '# Files\n\n{"classes": [{"path": "src/A.java"}]}\n[Data: Sources (15, 16); Reports (1, +more)] [Data: Sources (2)]',
    );
    const answer = await ask(double);
    expect(answer).toMatchObject({
      status: "completed",
      response:
        '# Files\n\n{"classes": [{"path": "src/A.java"}]}\n[Data: Sources (15, 16); Reports (1, +more)] [Data: Sources (2)]',
      details: {
        citations: [
          { dataset: "Sources", ids: ["15", "16", "2"], more: false },
          { dataset: "Reports", ids: ["1"], more: true },
        ],
      },
    });
    // What was taken away is kept where there was something.
    expect(answer.details?.stdout === undefined).toBe(release === "3.3.0");
    expect(parseAnswer(answer.response, { truncated: false, prompt: null })).toMatchObject({
      kind: "answered",
      entries: [{ raw: "src/A.java" }],
    });
  });

  test.each(RELEASES)("%s: `unable to answer` reads as an abstention", async (release) => {
    const answer = await behaving("no-data", release, { method: "global" });
    expect(answer.status).toBe("completed");
    expect(parseAnswer(answer.response, { truncated: false, prompt: null }).kind).toBe("abstained");
  });

  test.each(RELEASES)("%s: the same sentence after calls that failed is no answer", async (release) => {
    expect(await behaving("no-data-after-error", release, { method: "global" })).toMatchObject({
      status: "rate_limited",
      response: expect.stringMatching(/unable to answer/),
      error: expect.stringMatching(/has no data, because its model calls failed.*rate limit/),
      retry: {},
    });
  });

  test("an error of an earlier question is not laid at this one's door", async () => {
    const double = graphragDouble(folder, "3.3.0");
    double.behave("no-data-after-error", "no-data");
    expect((await ask(double, { method: "global" })).status).toBe("rate_limited");
    expect((await ask(double, { method: "global" })).status).toBe("completed");
  });

  test("an answer that some calls did not reach is one, with a note", async () => {
    expect(await behaving("answer-after-error")).toMatchObject({
      status: "completed",
      response: "The answer.",
      details: { log_problem: expect.stringMatching(/rate limit/) },
    });
  });

  test.each(RELEASES)("%s: nothing printed is a failure, with the log's reason where it knows one", async (release) => {
    expect(await behaving("empty", release)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/printed nothing.*embedding/),
      retry: {},
    });
    const known = await behaving("empty-after-error", release);
    expect(known).toMatchObject({ status: "failed", error: expect.stringMatching(/printed nothing: .*refused the key/) });
    expect(known.retry).toBeUndefined();
  });
});

describe("failures say what to do", () => {
  const cases: readonly [Behaviour, RawAnswer["status"], RegExp, "again" | "fail" | "stop" | "no"][] = [
    ["no-settings", "failed", /no settings\.yaml in graphrag: make it with `graphrag init/, "fail"],
    ["no-index", "failed", /lacks entities\.parquet: index first/, "fail"],
    ["no-variable", "failed", /variable GRAPHRAG_API_KEY, and it is not set/, "fail"],
    ["empty-key", "failed", /key is missing or empty/, "fail"],
    ["refused-key", "failed", /refused the key/, "fail"],
    ["rate-limit", "rate_limited", /rate limit: lower `concurrency`/, "again"],
    ["quota", "failed", /no quota left/, "stop"],
    ["no-model-id", "failed", /lack a model/, "fail"],
    ["unreachable", "failed", /could not be reached/, "again"],
    ["broken-packages", "failed", /packages do not fit together \(pyarrow/, "fail"],
    ["older-index", "failed", /no column human_readable_id: it was made by another major version/, "no"],
    ["unknown", "failed", /exit code 1 .*something that nobody has seen before/, "no"],
    ["killed", "failed", /ended by SIGKILL/, "again"],
  ];
  test.each(cases)("%s", async (behaviour, status, error, then) => {
    const answer = await behaving(behaviour);
    expect(answer).toMatchObject({ status, response: "", error: expect.stringMatching(error) });
    expect(answer.retry !== undefined ? "again" : (answer.ofAll ?? "no")).toBe(then);
    expect(JSON.stringify(answer)).not.toContain(KEY);
  });

  test("secrets of the folder's .env are taken out, too", async () => {
    writeFileSync(join(dir, ".env"), `GRAPHRAG_API_KEY="${KEY}"\n`);
    const double = graphragDouble(folder, "3.3.0");
    double.behave("refused-key");
    expect(JSON.stringify(await ask(double))).not.toContain(KEY);
  });

  test("no folder, no index: each answer's failure, so that other cells go on; and no two keys alike", async () => {
    const double = graphragDouble(folder, "3.3.0");
    const print = (options: Record<string, unknown>) =>
      graphrag.fingerprint?.(graphrag.options.parse({ venv: double.venv, ...options }), { baseFolder: folder, env: env() });
    expect(await print({ dir: "nowhere" })).toMatchObject({ version: "3.3.0", index: null, settings: null });
    expect(await print({ dir: "graphrag", data: "elsewhere" })).toMatchObject({ index: null, settings: expect.any(String) });
    for (const release of RELEASES) {
      expect(await ask(graphragDouble(folder, release), { data: "elsewhere" })).toMatchObject({
        status: "failed",
        error: expect.stringMatching(/there is no index in elsewhere .*index first/),
      });
    }
    expect(await ask(double, { dir: "nowhere" })).toMatchObject({ status: "failed", error: expect.stringMatching(/no folder/) });
  });
});

describe("a time-out", () => {
  let server: Server;
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  test("ends the program and what it has started, although they ignore TERM", async () => {
    const said: { name: string; gone: Promise<void> }[] = [];
    const socket = join(folder, "s");
    const both = new Promise<void>((resolve) => {
      server = createServer((connection) => {
        sockets.push(connection);
        const gone = new Promise<void>((closed) => connection.once("close", () => closed()));
        connection.on("error", () => {});
        connection.once("data", (data) => {
          said.push({ name: String(data), gone });
          if (said.length === 2) resolve();
        });
      }).listen(socket);
    });
    const double = graphragDouble(folder, "3.3.0", { socket });
    double.behave("hang");
    const stop = new AbortController();
    const backend = await openBackend(
      graphrag,
      { dir: "graphrag", venv: double.venv },
      // The grace between TERM and KILL is over at once.
      { env: env(), sleep: async () => {}, baseFolder: folder },
    );
    const answer = askBackend(backend, { prompt: "?" }, stop.signal);
    await both;
    stop.abort(Object.assign(new Error("late"), { name: "TimeoutError" }));
    expect(await answer).toMatchObject({ status: "timed_out", response: "", error: expect.stringMatching(/raise `timeout`/) });
    await Promise.all(said.map(({ gone }) => gone));
    expect(said.map(({ name }) => name).sort()).toEqual(["child", "parent"]);
  });

  test("is the method's own unless it is given", () => {
    server = createServer();
    const timeout = (options: Record<string, unknown>) => graphrag.timeout?.(graphrag.options.parse(options));
    expect(["local", "basic", "global", "drift"].map((method) => timeout({ method }))).toEqual([180, 180, 600, 900]);
    expect(timeout({ timeout: 5 })).toBe(5);
    expect(timeout({ timeout: null })).toBeNull();
  });
});

describe("identity", () => {
  const print = (double: GraphragDouble, more: Record<string, string> = {}) =>
    graphrag.fingerprint?.(graphrag.options.parse({ dir: "graphrag", venv: double.venv }), {
      baseFolder: folder,
      env: { ...env(), ...more },
    });

  test("index, settings, prompts, version and open variables are in it; keys, logs and `.env` are not", async () => {
    const double = graphragDouble(folder, "3.3.0");
    const before = await print(double);
    expect(before).toMatchObject({ version: "3.3.0", variables: { CHAT_MODEL: "m" } });
    graphragFolder(dir, { "logs/query.log": "x", ".env": "GRAPHRAG_API_KEY=other-key" });
    expect(await print(double, { GRAPHRAG_API_KEY: "another" })).toEqual(before);
    expect(JSON.stringify(before)).not.toContain(KEY);
    for (const path of ["output/entities.parquet", "output/new.parquet", "settings.yaml", "prompts/local.txt"]) {
      graphragFolder(dir);
      rmSync(join(dir, "output", "new.parquet"), { force: true });
      expect(await print(double)).toEqual(before);
      writeFileSync(join(dir, path), "changed");
      expect(await print(double)).not.toEqual(before);
    }
    graphragFolder(dir);
    rmSync(join(dir, "output", "new.parquet"), { force: true });
    expect(await print(double, { CHAT_MODEL: "n" })).not.toEqual(before);
    expect(await print(graphragDouble(folder, "2.3.0"))).not.toEqual(before);
  });

  test("what steers only is not", () => {
    const identity = (options: Record<string, unknown>) => graphrag.identityOf(graphrag.options.parse(options));
    expect(identity({ dir: "a", mode: "uv", timeout: 3, cli: "query", concurrency: 4, venv: "v", data: "d" })).toEqual(
      identity({}),
    );
    for (const change of [{ method: "global" }, { community_level: 1 }, { response_type: "List" }, { prompt: "text" }]) {
      expect(identity(change)).not.toEqual(identity({}));
    }
  });
});
