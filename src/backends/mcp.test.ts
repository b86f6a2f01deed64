import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import { FILES, PASS, type SearchRig, searchRig } from "../../test/rigs/search-double.js";
import type { DoctorEnvironment, RawAnswer } from "./contract.js";
import { mcp } from "./mcp.js";

const SERVER = resolve(import.meta.dirname, "../../test/doubles/mcp-server.mjs");
const COMMAND = { command: ["node", SERVER], ...PASS };
const MAPPED = {
  tool: "search",
  result: { list: "results", path: "file.path", score: "score", start_line: "range.start", end_line: "range.end", lines_from: 0 },
};

let rig: SearchRig;
beforeEach(() => {
  rig = searchRig("mcp-server");
});
afterEach(() => rig.remove());

async function asked(
  options: Record<string, unknown>,
  environment = rig.environment,
  prompt = "numbers overflow",
): Promise<RawAnswer> {
  const backend = await openBackend(mcp, { ...COMMAND, tool: "search", ...options }, environment);
  try {
    return await ask(backend, { id: "o/r#1", prompt, corpus: rig.corpus });
  } finally {
    await backend.close();
  }
}

const starts = () => (rig.calls() as unknown as Record<string, unknown>[]).filter((line) => "start" in line);
const calls = () => (rig.calls() as unknown as Record<string, unknown>[]).filter((line) => "call" in line);

/** A process that has ended but that nobody has asked about yet (its parent is gone) still has its number. */
function lives(pid: number): boolean {
  const state = spawnSync("ps", ["-o", "stat=", "-p", String(pid)])
    .stdout.toString()
    .trim();
  return state !== "" && !state.startsWith("Z");
}

describe("a result", () => {
  test("is mapped to files with scores and lines, paths relative to the tree", async () => {
    const answer = await asked(MAPPED);
    expect(JSON.parse(answer.response)).toEqual({
      classes: [
        { path: "docs/numbers.md", score: 2, start_line: 1, end_line: 2 },
        { path: "src/Parser.java", score: 2, start_line: 2, end_line: 3 },
        { path: "src/Writer.java", score: 1, start_line: 2, end_line: 3 },
      ],
    });
    expect(answer.details).toMatchObject({ server: { name: "word-search", version: "2.1.0" }, hits: 3 });
    expect(pathsOf(await asked({ ...MAPPED, top: 1 }))).toEqual(["docs/numbers.md"]);
  });

  test("without a mapping is what was said: structured, as text, or links to files", async () => {
    expect(JSON.parse((await asked({})).response)).toMatchObject({ results: [{ score: 2 }, { score: 2 }, { score: 1 }] });
    expect((await asked({ tool: "text" })).response).toBe("1. `docs/numbers.md`\n2. `src/Parser.java`\n3. `src/Writer.java`");
    expect(pathsOf(await asked({ tool: "links" }))).toEqual(["docs/numbers.md", "src/Parser.java", "src/Writer.java"]);
  });

  test("may come in a part per hit", async () => {
    expect(pathsOf(await asked({ tool: "parts", result: { path: "file.path" } }))).toHaveLength(3);
  });

  test.each([
    [{ tool: "error" }, "run index first"],
    [{ tool: "nothing" }, "returned nothing"],
    [{ tool: "search", result: { list: "hits" } }, "the members results"],
    [{ tool: "search", result: { list: "results", path: "name" } }, "the members file, score, range"],
    [{ tool: "text", result: { list: "results" } }, "not JSON"],
    [{ tool: "lost" }, "bench doctor"],
  ])("%j fails with what to do", async (options, message) => {
    const answer = await asked(options);
    expect(answer).toMatchObject({ status: "failed", error: expect.stringContaining(message) });
  });
});

describe("the call", () => {
  test("is made of the template, whose values stay what they are", async () => {
    await asked(
      { arguments: { query: "{query}", where: ["{corpus}"], limit: 5, deep: { id: "{id}" } } },
      rig.environment,
      "say {id}",
    );
    const [call] = calls();
    expect(call?.given).toEqual({ query: "say {id}", where: [await rig.corpus.folder()], limit: 5, deep: { id: "o/r#1" } });
  });

  test("cuts a query to what the server takes, and says so", async () => {
    const answer = await asked({ query_bytes: 10 });
    expect(calls()[0]?.given).toEqual({ query: "numbers" });
    expect(mcp.noteOf?.({ status: "completed", details: answer.details ?? {} })).toContain("cut");
  });

  test("needs a source tree only where it names one", async () => {
    const backend = await openBackend(mcp, { ...COMMAND, tool: "text", arguments: { path: "{corpus}" } }, rig.environment);
    expect(await ask(backend, { prompt: "x" })).toMatchObject({
      status: "failed",
      error: expect.stringContaining("checkout stage"),
    });
    await backend.close();
  });
});

describe("a server that is started", () => {
  test("serves all questions about a tree, and another tree gets its own", async () => {
    const backend = await openBackend(mcp, { ...COMMAND, ...MAPPED }, rig.environment);
    for (const prompt of ["numbers", "overflow"]) await ask(backend, { prompt, corpus: rig.corpus });
    await ask(backend, { prompt: "numbers", corpus: memoryCorpus(FILES, `${await rig.corpus.folder()}/src`) });
    await backend.close();
    expect(starts().map(({ root }) => root)).toEqual([await rig.corpus.folder(), `${await rig.corpus.folder()}/src`]);
  });

  test("leaves no process behind, not even behind a wrapper", async () => {
    const backend = await openBackend(
      mcp,
      { ...COMMAND, command: ["sh", "-c", `node "${SERVER}"; true`], ...MAPPED },
      rig.environment,
    );
    expect((await ask(backend, { prompt: "numbers", corpus: rig.corpus })).status).toBe("completed");
    const pid = Number(starts()[0]?.start);
    expect(lives(pid)).toBe(true);
    await backend.close();
    expect(lives(pid)).toBe(false);
  });

  test("that dies in a call fails this question, may be asked again, and is started anew for the next", async () => {
    const backend = await openBackend(mcp, { ...COMMAND, ...MAPPED }, rig.faulty({ DOUBLE_FAULT: "die" }));
    expect(await ask(backend, { prompt: "numbers", corpus: rig.corpus })).toMatchObject({ status: "failed", retry: {} });
    await ask(backend, { prompt: "numbers", corpus: rig.corpus });
    await backend.close();
    expect(starts()).toHaveLength(2);
  });

  test("that hangs is ended when time is up, and the next question gets a new one", async () => {
    const backend = await openBackend(mcp, { ...COMMAND, ...MAPPED }, rig.faulty({ DOUBLE_FAULT: "hang" }));
    const limit = new AbortController();
    const answer = ask(backend, { prompt: "numbers", corpus: rig.corpus }, limit.signal);
    while (calls().length === 0) await new Promise((done) => setImmediate(done));
    limit.abort(Object.assign(new Error("time is up"), { name: "TimeoutError" }));
    expect((await answer).status).toBe("timed_out");
    await backend.close();
    expect(lives(Number(starts()[0]?.start))).toBe(false);
  });

  test("that does not start says why", async () => {
    expect(await asked({}, rig.faulty({ DOUBLE_FAULT: "refuse" }))).toMatchObject({
      status: "failed",
      error: expect.stringContaining("no licence found"),
    });
    expect((await asked({ command: ["no-such-server"] })).error).toContain("was not found");
  });
});

describe("a server at an address", () => {
  let server: ChildProcess | undefined;
  async function start(env: Record<string, string> = {}): Promise<string> {
    server = spawn(process.execPath, [SERVER, await rig.corpus.folder(), "--http"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(server.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
    return line.toString().trim();
  }
  afterEach(() => server?.kill());

  test("is asked over streamable HTTP", async () => {
    const url = await start();
    expect(pathsOf(await asked({ command: undefined, url, ...MAPPED }))).toHaveLength(3);
  });

  test("gets its token from the environment; the key and the answer never hold it", async () => {
    const url = await start({ DOUBLE_TOKEN: "s3cret-token" });
    const options = { command: undefined, url, token_env: "SEARCH_TOKEN", ...MAPPED };
    const right = await asked(options, rig.faulty({ SEARCH_TOKEN: "s3cret-token" }));
    expect(right.status).toBe("completed");
    expect(JSON.stringify([right, mcp.identityOf(mcp.options.parse({ ...PASS, ...options }))])).not.toContain("s3cret");
    expect(await asked(options, rig.faulty({ SEARCH_TOKEN: "wrong-token" }))).toMatchObject({
      error: expect.stringContaining("401"),
    });
    expect((await asked(options)).error).toContain("SEARCH_TOKEN is not set");
  });

  test("that is busy is asked again later", async () => {
    const url = await start({ DOUBLE_FAULT: "busy" });
    expect(await asked({ command: undefined, url })).toMatchObject({ status: "rate_limited", retry: {} });
  });

  test("that is not there", async () => {
    const answer = await asked({ command: undefined, url: "http://127.0.0.1:9/mcp" });
    expect(answer).toMatchObject({ status: "failed", retry: {}, error: expect.stringContaining("127.0.0.1:9") });
  });
});

describe("options", () => {
  const parse = (options: Record<string, unknown>) => mcp.options.safeParse(options);
  test("name either a program or an address, and placeholders that exist", () => {
    expect(parse({ tool: "t" }).success).toBe(false);
    expect(parse({ tool: "t", command: ["a"], url: "http://x" }).success).toBe(false);
    expect(parse({ tool: "t", url: "file:///etc/passwd" }).success).toBe(false);
    expect(parse({ tool: "t", command: ["a"], arguments: { q: "{qeury}" } }).error?.issues[0]?.message).toContain("{query}");
    expect(parse({ tool: "t", command: ["a"], result: { list: "a..b" } }).success).toBe(false);
  });

  test("that change answers are the identity; null declares none", () => {
    const identity = (more: Record<string, unknown>) => mcp.identityOf(mcp.options.parse({ tool: "t", command: ["a"], ...more }));
    expect(identity({ timeout: 1, env: ["A"], concurrency: 4 })).toEqual(identity({}));
    expect(identity({ arguments: { q: "{query}" } })).not.toEqual(identity({}));
    expect(identity({ identity: null })).toBeNull();
  });
});

describe("doctor", () => {
  async function findings(options: Record<string, unknown>) {
    const environment = { ...rig.environment, offline: false, signal: new AbortController().signal } as DoctorEnvironment;
    return mcp.doctor?.(mcp.options.parse({ ...COMMAND, ...options }), environment);
  }

  test("says whether the server has the tool and what it is called with", async () => {
    expect(await findings({ tool: "search" })).toMatchObject([
      { status: "ok", found: "word-search 2.1.0 answers" },
      { status: "ok" },
    ]);
    expect(await findings({ tool: "serach" })).toMatchObject([
      { status: "ok" },
      { status: "problem", fix: expect.stringContaining("search, explain") },
    ]);
    expect(await findings({ tool: "explain" })).toMatchObject([
      { status: "ok" },
      { status: "problem", found: expect.stringContaining("depth") },
    ]);
    expect(await findings({ tool: "search", command: ["no-such-server"] })).toMatchObject([
      { check: "server", status: "problem" },
    ]);
  });
});
