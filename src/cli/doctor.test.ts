import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chatServer as startChat } from "../../test/rigs/chat-server.js";
import { graphragDouble } from "../../test/rigs/graphrag-double.js";
import { startLightrag } from "../../test/rigs/lightrag-double.js";
import type { Io } from "./contract.js";
import { nodeFinding, tokenFinding } from "./doctor-checks.js";
import { main } from "./main.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bench-doctor-"));
  mkdirSync(join(folder, "pipelines"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function doctor(args: readonly string[], env: Record<string, string> = {}) {
  const out: string[] = [];
  const io: Io = {
    stdout: (text) => out.push(text),
    stderr: () => {},
    env: { PATH: process.env.PATH ?? "", ...env },
    cwd: folder,
    terminal: { isTTY: false, columns: 80, colour: false },
    interrupted: new AbortController().signal,
  };
  const exit = await main(["doctor", ...args], io);
  return { exit, text: out.join("") };
}

interface Finding {
  readonly stage: string | null;
  readonly check: string;
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}
const json = async (args: readonly string[], env?: Record<string, string>) => {
  const { exit, text } = await doctor([...args, "--json"], env);
  return { exit, ...(JSON.parse(text) as { ok: boolean; problems: number; findings: Finding[] }) };
};

function pipeline(backend: string): string {
  writeFileSync(join(folder, "cases.jsonl"), "");
  writeFileSync(
    join(folder, "p.yaml"),
    `name: p
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  answers: { uses: query-backend, needs: dataset, with: { backend: ${backend} } }
`,
  );
  return "p.yaml";
}

describe("without a pipeline", () => {
  test("says what every use needs, and leaves nothing behind in the cache", async () => {
    const { exit, findings } = await json([]);
    expect(exit).toBe(0);
    expect(findings.map(({ check }) => check)).toEqual(["node", "git", "npm", "cache", "github token"]);
    expect(findings.find(({ check }) => check === "cache")).toMatchObject({ status: "ok" });
    expect(readdirSync(join(folder, "cache"))).toEqual([]);
  });

  test("a cache that can't be written is a problem", async () => {
    writeFileSync(join(folder, "file"), "");
    const { exit, findings } = await json(["--cache", "file/cache"]);
    expect(exit).toBe(1);
    expect(findings.find(({ check }) => check === "cache")).toMatchObject({ status: "problem", fix: expect.any(String) });
  });

  test("programs that are missing are warnings: not every pipeline needs them", async () => {
    const { exit, findings } = await json([], { PATH: folder });
    expect(exit).toBe(0);
    expect(findings.filter(({ status }) => status === "warning").map(({ check }) => check)).toEqual([
      "git",
      "npm",
      "github token",
    ]);
  });

  test("the text has a mark, what was found, and how to mend it", async () => {
    const { text } = await doctor([]);
    expect(text).toMatch(/✓ node {10}\d+\.\d+/);
    expect(text).toMatch(/! github token {2}none.*\n.*-> set GITHUB_TOKEN/);
    expect(text).toMatch(/No problems, 1 warning\.\n$/);
  });
});

describe("a token", () => {
  test("is said to be there, and never shown", async () => {
    const { text } = await doctor(["--json"], { GITHUB_TOKEN: "ghp_abcdefghijklmnop" });
    expect(text).toContain("found in GITHUB_TOKEN");
    expect(text).not.toContain("ghp_");
    writeFileSync(join(folder, ".env.github"), "GITHUB_TOKEN=ghp_qrstuvwxyz\n");
    const finding = await tokenFinding([folder], { env: {}, cwd: folder });
    expect(finding).toEqual({ check: "github token", status: "ok", found: "found in .env.github" });
  });
});

describe("with a pipeline", () => {
  test("asks each backend", async () => {
    const { findings } = await json([pipeline("{ kind: bm25 }")]);
    expect(findings.at(-1)).toMatchObject({ stage: "answers", status: "ok", found: "bm25 is built in and needs nothing else" });
  });

  test("a program that is missing is a problem with a way out, exit 1", async () => {
    const { exit, ok, findings } = await json([pipeline("{ kind: command, run: [no-such-program], env: [UNSET_KEY] }")]);
    expect([exit, ok]).toEqual([1, false]);
    expect(findings.slice(-2)).toMatchObject([
      { stage: "answers", check: "installed", status: "problem", found: expect.stringContaining("no-such-program") },
      { stage: "answers", check: "environment", status: "warning", found: expect.stringContaining("UNSET_KEY") },
    ]);
    writeFileSync(join(folder, "tool"), "#!/bin/sh\n");
    chmodSync(join(folder, "tool"), 0o755);
    expect((await json([pipeline("{ kind: command, run: [./tool] }")])).exit).toBe(0);
  });

  test("colgrep that is not installed", async () => {
    const { text } = await doctor([pipeline("{ kind: colgrep }")], { PATH: folder });
    expect(text).toMatch(/✗ installed {5}.*colgrep.*not found[^\n]*\n[^\n]*cargo install colgrep/);
  });

  test("of GitHub's token it speaks where GitHub is asked", async () => {
    expect((await json([pipeline("{ kind: bm25 }")])).findings.map(({ check }) => check)).not.toContain("github token");
    writeFileSync(join(folder, "p.yaml"), "name: p\nstages:\n  issues: { uses: fetch-issues, with: { repo: o/r } }\n");
    expect((await json(["p.yaml"])).findings.map(({ check }) => check)).toContain("github token");
  });

  test("GraphRAG: the program, its folder, the settings' variables, the index", async () => {
    const double = graphragDouble(folder, "3.3.0");
    const look = async (more: string, env?: Record<string, string>) => {
      const { findings } = await json([pipeline(`{ kind: graphrag, venv: "${double.venv}"${more} }`)], env);
      return Object.fromEntries(
        findings.filter(({ stage }) => stage === "answers").map(({ check, status, found }) => [check, `${status}: ${found}`]),
      );
    };
    expect(await look(", dir: nowhere")).toMatchObject({
      installed: expect.stringMatching(/^ok: GraphRAG 3\.3\.0.*positional/),
      folder: expect.stringMatching(/^problem: there is no folder/),
    });
    mkdirSync(join(folder, "graph"));
    expect(await look(", dir: graph")).toMatchObject({
      settings: "problem: graph has no settings.yaml",
      index: expect.stringMatching(/^problem: there is no index/),
    });
    writeFileSync(join(folder, "graph", "settings.yaml"), "models: { default: { api_key: $GRAPHRAG_API_KEY } }\n");
    mkdirSync(join(folder, "graph", "output"));
    writeFileSync(join(folder, "graph", "output", "entities.parquet"), "x");
    expect(await look(", dir: graph")).toMatchObject({
      settings: expect.stringMatching(/^problem: .*GRAPHRAG_API_KEY/),
      index: expect.stringMatching(/^ok: 1 tables/),
    });
    expect(await look(", dir: graph", { GRAPHRAG_API_KEY: "k" })).toMatchObject({ settings: expect.stringMatching(/^ok/) });
    expect(await look("")).toMatchObject({ index: expect.stringMatching(/^ok: made by the index-corpus stage/) });
  });

  test("LightRAG: the server, the key, the documents", async () => {
    const server = await startLightrag();
    const look = async (env?: Record<string, string>) => {
      const { findings } = await json([pipeline(`{ kind: lightrag, url: "${server.url}" }`)], env);
      return findings.filter(({ stage }) => stage === "answers").map(({ check, status }) => `${check} ${status}`);
    };
    expect(await look()).toEqual(["server ok", "key ok", "documents warning"]);
    server.key = "secret-key";
    expect(await look()).toEqual(["server ok", "key problem"]);
    expect(await look({ LIGHTRAG_API_KEY: "secret-key" })).toEqual(["server ok", "key ok", "documents warning"]);
    await server.close();
    expect(await look()).toEqual(["server problem"]);
  });

  test("what asks others is looked at with them: hybrid, a model's context, embeddings", async () => {
    const checks = async (backend: string) => {
      const { findings } = await json([pipeline(backend)], { PATH: folder });
      return findings.filter(({ stage }) => stage === "answers").map(({ check, status }) => `${check} ${status}`);
    };
    expect(await checks("{ kind: hybrid, of: [{ kind: bm25 }, { kind: colgrep }] }")).toEqual([
      "bm25 ok",
      "colgrep installed problem",
    ]);
    expect(await checks("{ kind: chat, provider: openai, model: gpt-4o-mini, context: { backend: { kind: colgrep } } }")).toEqual(
      ["key problem", "price ok", "context: colgrep installed problem"],
    );
    expect(await checks("{ kind: embedding, provider: openai, model: m }")).toEqual(["key problem"]);
    expect(await checks("{ kind: embedding, provider: local, model: m }")).toEqual(["package problem"]);
    const server = await startChat();
    expect(await checks(`{ kind: embedding, provider: openai-compatible, base_url: "${server.url}", model: m }`)).toEqual([
      "key ok",
      "model ok",
    ]);
    expect(await checks(`{ kind: embedding, provider: openai-compatible, base_url: "${server.url}", model: other }`)).toEqual([
      "key ok",
      "model warning",
    ]);
    await server.close();
  });

  test("with mistakes is shown them, exit 2", async () => {
    expect((await doctor([pipeline("{ kind: nothing }")])).exit).toBe(2);
  });
});

test.each([
  ["20.19.0", "ok"],
  ["24.1.0", "ok"],
  ["20.18.3", "problem"],
  ["18.20.0", "problem"],
])("Node %s: %s", (version, status) => {
  expect(nodeFinding(version).status).toBe(status);
});
