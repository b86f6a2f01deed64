/** Long, paid runs from the command line to the server: rates, budgets, a system that fails, what a plan says, what a report shows. */

import { setMaxListeners } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { main } from "../src/cli/main.js";
import { type ChatServer, type ChatServerOptions, chatServer } from "./rigs/chat-server.js";
import { graphragDouble, graphragFolder } from "./rigs/graphrag-double.js";

const KEY = "sk-test-0123456789";
const ANSWER = '{"classes":[{"path":"src/T1.java"}]}';

const servers: ChatServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Project {
  readonly server: ChatServer;
  readonly folder: string;
  /** Writes the pipeline anew; `stage`: members of the answers stage beside the usual ones. */
  pipeline(stage: string, backends?: readonly string[]): void;
  bench(...args: string[]): Promise<{ exit: number; stdout: string; stderr: string }>;
  run(...args: string[]): Promise<{ exit: number; stderr: string; json: RunJson }>;
}

interface RunJson {
  readonly state: string;
  readonly counts: { queries: number; executed: number; cached: number; failed: number };
  readonly spent: Record<string, { usd: number; tokens: number; queries: number; unpriced: number }>;
  readonly stages: {
    name: string;
    label?: string;
    state: string;
    message?: string;
    executed: number;
    cached: number;
    failed: number;
  }[];
  readonly reports: string[];
  readonly warnings: string[];
}

/** Cases 1 to `cases`, each of which is about one file of a small tree. */
async function project(cases: number, options: ChatServerOptions = {}): Promise<Project> {
  const server = await chatServer({ key: KEY, answer: () => ({ text: ANSWER }), ...options });
  servers.push(server);
  const folder = mkdtempSync(join(tmpdir(), "bench-chat-"));
  mkdirSync(join(folder, "pipelines"));
  mkdirSync(join(folder, "tree", "src"), { recursive: true });
  for (let i = 1; i <= 3; i++) writeFileSync(join(folder, "tree", "src", `T${i}.java`), `class T${i} { int size${i}; }\n`);
  const lines = Array.from({ length: cases }, (_, i) =>
    JSON.stringify({
      instance_id: `acme__tool-${i + 1}`,
      repo: "acme/tool",
      base_commit: "a".repeat(40),
      problem_statement: `Case ${i + 1}\nThe size of T${(i % 3) + 1} is wrong.`,
      patch: `diff --git a/src/T${(i % 3) + 1}.java b/src/T${(i % 3) + 1}.java\n--- a/src/T${(i % 3) + 1}.java\n+++ b/src/T${(i % 3) + 1}.java\n@@ -1 +1 @@\n-a\n+b\n`,
    }),
  );
  writeFileSync(join(folder, "cases.jsonl"), `${lines.join("\n")}\n`);
  const rig: Project = {
    server,
    folder,
    pipeline: (stage, backends = [backend(server)]) => {
      const text = `name: chat
stages:
  dataset: { uses: import-dataset, with: { path: ../cases.jsonl } }
  sources: { uses: checkout, with: { folder: ../tree } }
  answers:
    uses: query-backend
    needs: [dataset, sources]
    ${stage}
    matrix:
      backend:
${backends.map((each) => `        - ${each}`).join("\n")}
  scores: { uses: score, needs: [dataset, sources, answers] }
  report: { uses: report, needs: scores }
`;
      writeFileSync(join(folder, "pipelines", "p.yaml"), text);
    },
    bench: async (...args) => {
      const out: string[] = [];
      const err: string[] = [];
      const { signal } = new AbortController();
      setMaxListeners(0, signal);
      const exit = await main(args, {
        stdout: (text) => void out.push(text),
        stderr: (text) => void err.push(text),
        env: { OPENAI_API_KEY: KEY, PATH: process.env.PATH },
        cwd: folder,
        terminal: { isTTY: false, columns: 100, colour: false },
        interrupted: signal,
      });
      return { exit, stdout: out.join(""), stderr: err.join("") };
    },
    run: async (...args) => {
      const { exit, stdout, stderr } = await rig.bench("run", "pipelines/p.yaml", "--json", ...args);
      return { exit, stderr, json: JSON.parse(stdout) as RunJson };
    },
  };
  return rig;
}

function backend({ url }: ChatServer, more = ""): string {
  return `{ kind: chat, provider: openai, model: gpt-4o-mini, base_url: "${url}"${more} }`;
}

/** Every file below a folder, as text. */
function everything(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

test("asks once, keeps the answers, and the key leaves no trace", async () => {
  const { server, pipeline, run, folder } = await project(6);
  pipeline("");
  const first = await run();
  expect(first).toMatchObject({ exit: 0, json: { counts: { queries: 6, failed: 0 } } });
  expect(first.json.spent.answers).toMatchObject({ queries: 6, unpriced: 0 });
  expect(first.json.spent.answers?.usd).toBeGreaterThan(0);
  await server.close();
  const second = await run();
  expect(second).toMatchObject({ exit: 0, json: { counts: { queries: 0, failed: 0 }, spent: {} } });
  expect(everything(join(folder, "evaluation_results")) + everything(join(folder, "cache"))).not.toContain(KEY);
});

test("begins with one call at a time and never has more under way than asked for", async () => {
  const { server, pipeline, run } = await project(24);
  pipeline("concurrency: 4");
  // The second is held until the third comes: after one success two are allowed, so it does come.
  let third: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    third = resolve;
  });
  server.answer = async (_, number) => {
    if (number === 2) await held;
    if (number === 3) third();
    return { text: ANSWER };
  };
  expect((await run()).exit).toBe(0);
  const atOnce = server.questions.map((question) => question.atOnce);
  expect(atOnce.slice(0, 3)).toEqual([1, 1, 2]);
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(4);
});

test("gives way to a limit on rates, and every case is answered in the end", async () => {
  const { server, pipeline, run } = await project(20);
  pipeline("concurrency: 8");
  const refused = new Set([5, 6, 7, 12]);
  server.answer = (_, number) =>
    refused.has(number)
      ? { status: 429, message: "slow down", code: "rate_limit_exceeded", headers: { "retry-after-ms": "20" } }
      : { text: ANSWER };
  expect(await run()).toMatchObject({ exit: 0, json: { counts: { queries: 24, failed: 0 } } });
  expect(server.questions).toHaveLength(24);
});

test("a limit beyond the longest wait stops the run, which goes on later", async () => {
  const { server, pipeline, run } = await project(4);
  pipeline("");
  server.answer = (_, n) =>
    n <= 2 ? { text: ANSWER } : { status: 429, message: "daily limit", headers: { "retry-after": "7200" } };
  const stopped = await run("--max-wait", "1m");
  expect(stopped).toMatchObject({ exit: 75, json: { state: "stopped" } });
  expect(stopped.stderr).toContain("It wants a pause of 120 min");
  server.answer = () => ({ text: ANSWER });
  const before = server.questions.length;
  expect(await run()).toMatchObject({ exit: 0, json: { counts: { failed: 0 } } });
  expect(server.questions.length - before).toBe(2);
});

test("a budget in queries is kept over all cells of the stage, and each run has the whole of it", async () => {
  const { server, pipeline, run } = await project(5);
  pipeline("with: { budget: { queries: 6 } }", [backend(server, ", name: a"), backend(server, ", name: b, temperature: 1")]);
  const first = await run();
  expect(first).toMatchObject({ exit: 75, json: { state: "stopped", spent: { answers: { queries: 6 } } } });
  expect(first.stderr).toContain("6 of 6 queries were asked");
  expect(server.questions).toHaveLength(6);
  expect(await run()).toMatchObject({ exit: 0 });
  expect(server.questions).toHaveLength(10);
  pipeline("with: { budget: { queries: 7 } }", [backend(server, ", name: a"), backend(server, ", name: b, temperature: 1")]);
  expect(await run()).toMatchObject({ exit: 0, json: { counts: { queries: 0 } } });
});

test("a budget in dollars is never gone beyond, and is refused where no price is known", async () => {
  const { server, pipeline, run, bench } = await project(12, {});
  server.answer = () => ({ text: ANSWER, usage: { prompt_tokens: 1000, completion_tokens: 100 } });
  const each = (1000 * 0.15 + 100 * 0.6) / 1e6;
  pipeline(`concurrency: 4\n    with: { budget: { usd: ${(each * 5.9).toFixed(8)} } }`);
  const { exit, json, stderr } = await run();
  expect(exit).toBe(75);
  expect(json.spent.answers?.usd).toBeLessThanOrEqual(each * 5.9);
  expect(json.spent.answers?.usd).toBeGreaterThan(each);
  expect(stderr).toContain("the budget of answers is used up");
  const before = server.questions.length;
  pipeline("with: { budget: { usd: 1 } }", [`{ kind: chat, provider: openai, model: gpt-99, base_url: "${server.url}" }`]);
  const refused = await bench("run", "pipelines/p.yaml");
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toMatch(/^answers\[chat\] \(line \d+\): budget\.usd can't be kept: the price of chat is unknown/);
  expect(server.questions).toHaveLength(before);
});

test("a budget is checked before anything runs", async () => {
  const { pipeline, bench } = await project(1);
  for (const [budget, said] of [
    ["{}", "names no bound"],
    ["{ tokens: lots }", "such as 250k or 5M"],
    ["{ usd: 0 }", "usd"],
    ["{ queries: 0 }", "queries"],
  ] as const) {
    pipeline(`with: { budget: ${budget} }`);
    const { exit, stderr } = await bench("plan", "pipelines/p.yaml");
    expect(exit).toBe(2);
    expect(stderr).toContain(said);
  }
});

test("a backend of which every call fails is not asked for ever", async () => {
  const { server, pipeline, run } = await project(12);
  server.answer = () => ({ status: 422, message: "something about this request" });
  pipeline("with: { breaker: 4 }");
  const { exit, stderr } = await run();
  expect(exit).toBe(75);
  expect(server.questions.length).toBeLessThanOrEqual(4);
  expect(stderr).toContain("the last 4 calls all failed");
});

test("a refused key costs one call, and other systems' answers are reported", async () => {
  const { server, pipeline, run } = await project(12, { key: "sk-another" });
  pipeline("", [backend(server), "{ kind: empty }"]);
  const { exit, stderr, json } = await run();
  expect(exit).toBe(1);
  expect(server.questions).toHaveLength(1);
  expect(json.counts).toMatchObject({ queries: 13, failed: 12 });
  expect(stderr).toContain("Check the key in OPENAI_API_KEY");
  expect(json.reports.length).toBeGreaterThan(0);
  expect(JSON.stringify(json) + stderr).not.toContain(KEY);
});

test("GraphRAG without an index is not started, with a refused key once, with an empty account once; then it goes on", async () => {
  const { folder, pipeline, run } = await project(5);
  const double = graphragDouble(folder, "3.3.0");
  const dir = join(folder, "graphrag");
  const queries = () => double.calls().filter(({ argv }) => argv.includes("query")).length;
  pipeline("", [`{ kind: graphrag, dir: ../graphrag, venv: "${double.venv}" }`]);
  mkdirSync(join(dir, "output"), { recursive: true });
  writeFileSync(join(dir, "settings.yaml"), "{}\n");
  const without = await run();
  expect([without.exit, without.json.counts.failed, queries()]).toEqual([1, 5, 0]);
  expect(without.stderr).toContain("graphrag index --root");

  graphragFolder(dir);
  double.behave("refused-key");
  const refused = await run();
  expect([refused.exit, refused.json.counts.failed, queries()]).toEqual([1, 5, 1]);
  expect(refused.stderr).toContain("refused the key");

  double.behave("quota");
  const empty = await run();
  expect([empty.exit, queries()]).toEqual([75, 2]);
  expect(empty.stderr).toContain("top it up");

  double.behave("answer");
  expect((await run()).exit).toBe(0);
  expect(queries()).toBe(2 + 5);
});

test("a few failures are failures, and the report is written", async () => {
  const { server, pipeline, run } = await project(3);
  server.answer = () => ({ status: 422, message: "no such thing" });
  pipeline("");
  const { exit, json } = await run();
  expect(exit).toBe(1);
  expect(server.questions).toHaveLength(3);
  expect(json.reports.length).toBeGreaterThan(0);
});

test("an empty account stops the run after one call, also where the server says so with status 200; with credit it goes on", async () => {
  const { server, pipeline, run } = await project(8);
  const usual = server.answer;
  pipeline("");
  const empty = { message: "no money", code: "insufficient_quota" };
  for (const [calls, answer] of [
    [1, { status: 429, ...empty }],
    [2, { status: 200, body: JSON.stringify({ error: empty, choices: [] }) }],
  ] as const) {
    server.answer = () => answer;
    const { exit, stderr } = await run();
    expect([exit, server.questions.length]).toEqual([75, calls]);
    expect(stderr).toContain("add credit");
  }
  server.answer = usual;
  expect((await run()).exit).toBe(0);
  expect(server.questions).toHaveLength(2 + 8);
});

test("a missing key asks nothing and fails with what to do", async () => {
  const { server, pipeline, run } = await project(15);
  pipeline("", [backend(server, ", api_key_env: NOT_SET")]);
  const { exit, json, stderr } = await run();
  expect(exit).toBe(1);
  expect(json.counts).toMatchObject({ queries: 0, failed: 15 });
  expect(stderr).toContain("set NOT_SET in the environment");
  expect(server.questions).toHaveLength(0);
});

test("a plan says what will be asked and about what it costs, and sends nothing", async () => {
  const { server, pipeline, bench, run } = await project(4);
  const unknown = `{ kind: chat, provider: openai-compatible, model: local, base_url: "${server.url}", api_key_env: OPENAI_API_KEY }`;
  pipeline("", ["{ kind: bm25 }", backend(server, ", name: known"), unknown]);
  const before = await bench("plan", "pipelines/p.yaml");
  expect(before.stdout).toContain("bench run pipelines/p.yaml --until dataset --until sources");
  await run("--until", "dataset", "--until", "sources");
  const { stdout } = await bench("plan", "pipelines/p.yaml");
  expect(stdout).toMatch(/answers\[known\] +4 queries, about [\d,]+ tokens, about \$0\.00\d\d/);
  expect(stdout).toMatch(/answers\[chat[^\]]*\] +4 queries, about [\d,]+ tokens, at an unknown price/);
  expect(stdout).not.toMatch(/answers\[bm25\] +4 queries/);
  const json = JSON.parse((await bench("plan", "pipelines/p.yaml", "--json")).stdout);
  const estimates = Object.fromEntries(json.stages.map((stage: { id: string; estimate: unknown }) => [stage.id, stage.estimate]));
  expect(estimates["answers[known]"]).toMatchObject({ queries: 4, usd: expect.any(Number), tokens: expect.any(Number) });
  expect(estimates["answers[bm25]"]).toBeNull();
  expect(server.questions).toHaveLength(0);
});

test("a retriever's files are shown to the model, and its options are part of the key", async () => {
  const { server, pipeline, run } = await project(3);
  const context = (top: number) => backend(server, `, context: { backend: { kind: bm25, top: ${top} }, files: 2 }`);
  pipeline("", [context(5)]);
  expect((await run()).exit).toBe(0);
  expect(server.questions).toHaveLength(3);
  for (const { body } of server.questions) expect(body.messages[1].content).toContain("class T");
  pipeline("", [context(4)]);
  expect(await run()).toMatchObject({ exit: 0, json: { counts: { queries: 3 } } });
});
