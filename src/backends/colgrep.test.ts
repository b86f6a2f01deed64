import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { PASS, type SearchRig, searchRig } from "../../test/rigs/search-double.js";
import { colgrep, readUnits } from "./colgrep.js";
import { colgrepIndex } from "./colgrep-index.js";
import type { BackendEnvironment } from "./contract.js";
import type { BuiltIndex, IndexOutcome } from "./index-tool.js";

let rig: SearchRig;
beforeEach(() => {
  rig = searchRig("colgrep");
});
afterEach(() => rig.remove());

async function asked(options: Record<string, unknown>, environment = rig.environment, prompt = "numbers overflow") {
  const backend = await openBackend(colgrep, { ...PASS, ...options }, environment);
  try {
    return await ask(backend, { prompt, corpus: rig.corpus });
  } finally {
    await backend.close();
  }
}

describe("a search", () => {
  test("gives files, each with its best unit's lines, best first", async () => {
    const answer = await asked({});
    expect(answer.status).toBe("completed");
    expect(JSON.parse(answer.response)).toEqual({
      classes: [
        { path: "docs/numbers.md", score: 1, start_line: 1, end_line: 4 },
        { path: "src/Parser.java", score: 0.5, start_line: 1, end_line: 5 },
        { path: "src/Writer.java", score: 0.5, start_line: 1, end_line: 5 },
      ],
    });
    expect(answer.details).toMatchObject({ version: "1.6.1", units: 4 });
  });

  test("asks as configured, and never lets the question be an option", async () => {
    const options = { results: 7, include: ["*.java"], args: ["--semantic-only"] };
    const answer = await asked(options, rig.environment, "--json is broken: numbers");
    expect(pathsOf(answer)).toEqual(["src/Parser.java", "src/Writer.java"]);
    expect(rig.calls().at(-1)).toEqual([
      "search",
      "--json",
      "-k",
      "7",
      "--include",
      "*.java",
      "-y",
      "--no-update",
      "--semantic-only",
      "--",
      "--json is broken: numbers",
    ]);
  });

  test("an older release is not given options that it does not know", async () => {
    const answer = await asked({}, rig.faulty({ DOUBLE_VERSION: "1.5.0" }));
    expect(answer.status).toBe("completed");
    expect(rig.calls().at(-1)).not.toContain("--no-update");
  });

  test("finding nothing is a valid answer", async () => {
    const answer = await asked({}, rig.environment, "zebra");
    expect(answer).toMatchObject({ status: "completed", response: '{"classes":[]}' });
  });

  test("a question longer than an argument may be is cut, and that is noted", async () => {
    const answer = await asked({}, rig.environment, `numbers ${"x".repeat(50)} `.repeat(4000));
    expect(answer.status).toBe("completed");
    expect(colgrep.noteOf?.({ status: "completed", details: answer.details ?? {} })).toContain("was cut");
  });
});

describe("the index", () => {
  test("is made once per source tree, apart from the person's own", async () => {
    const backend = await openBackend(colgrep, PASS, rig.environment);
    await Promise.all([1, 2, 3].map(() => ask(backend, { prompt: "numbers", corpus: rig.corpus })));
    await backend.close();
    await asked({});
    expect(rig.calls().filter(([command]) => command === "init")).toHaveLength(1);
    expect(readdirSync(join(rig.folder, "cache", "indexes")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    expect(() => readdirSync(join(rig.folder, "home"))).toThrow();
  });

  test("the seconds of an answer are without those of indexing", async () => {
    const first = await asked({});
    const second = await asked({});
    // The rig's clock moves by one with each look.
    expect((first.seconds ?? 0) - (second.seconds ?? 0)).toBeLessThanOrEqual(1);
  });

  test("a tree of which nothing is indexed is a failure that says why, and leaves nothing behind", async () => {
    const answer = await asked({}, rig.faulty({ DOUBLE_FAULT: "nothing" }));
    expect(answer).toMatchObject({ status: "failed", response: "" });
    expect(answer.error).toContain("indexed no file");
    expect(readdirSync(join(rig.folder, "cache", "indexes"))).toEqual([]);
    expect((await asked({})).status).toBe("completed");
  });

  test("that an index-corpus stage built is used, wherever its files were laid out", async () => {
    const folder = join(rig.folder, "build");
    mkdirSync(folder);
    const environment = { warn: () => {}, ...rig.environment } as BackendEnvironment;
    const options = colgrepIndex.options.parse(PASS);
    const built = await colgrepIndex.build(options, { corpus: rig.corpus, folder }, environment, new AbortController().signal);
    const outcome = built as Extract<IndexOutcome, { type: "built" }>;
    expect(outcome).toMatchObject({
      type: "built",
      keep: ["data/colgrep"],
      facts: { version: "1.6.1", model: null, files: 3, kept: true },
    });
    const index: BuiltIndex = { digest: outcome.digest ?? ("" as never), facts: outcome.facts, folder: async () => folder };
    const backend = await openBackend(colgrep, PASS, rig.environment);
    const answer = await ask(backend, { prompt: "numbers", corpus: rig.corpus, index });
    expect(pathsOf(answer)).toHaveLength(3);
    expect(rig.calls().filter(([command]) => command === "init")).toHaveLength(1);
  });
});

describe("failures", () => {
  test.each([
    ["silent", "printed nothing"],
    ["no-json", "not JSON"],
    ["other-shape", "no list of code units"],
    ["model", "could not get its model"],
    ["no-files", "indexed no file"],
  ])("%s", async (fault, message) => {
    const answer = await asked({}, rig.faulty({ DOUBLE_FAULT: fault }));
    expect(answer.status).toBe("failed");
    expect(answer.error).toContain(message);
  });

  test("an index under construction is asked again soon", async () => {
    expect((await asked({}, rig.faulty({ DOUBLE_FAULT: "locked" }))).retry).toEqual({});
  });

  test("an option that the release does not know is named", async () => {
    expect((await asked({ args: ["--wrong"] })).error).toContain("does not know --wrong");
  });

  test("a question whose time is up leaves no process and is `timed_out`", async () => {
    await asked({});
    const backend = await openBackend(colgrep, PASS, rig.faulty({ DOUBLE_FAULT: "hang" }));
    const limit = new AbortController();
    const reason = new Error("time is up");
    reason.name = "TimeoutError";
    const answer = ask(backend, { prompt: "numbers", corpus: rig.corpus }, limit.signal);
    limit.abort(reason);
    expect((await answer).status).toBe("timed_out");
    await backend.close();
  });

  test("a program that is not there is said before anything is asked", async () => {
    const missing = { ...rig.environment, env: { PATH: "/nowhere" } } as BackendEnvironment;
    await expect(colgrep.fingerprint?.(colgrep.options.parse({}), missing)).rejects.toThrow(/not found.*Install colgrep/);
    await expect(colgrep.fingerprint?.(colgrep.options.parse({ version: "1.6.1" }), missing)).resolves.toEqual({
      version: "1.6.1",
    });
  });
});

describe("what is part of the key", () => {
  const environment = () => ({ baseFolder: rig.folder, env: rig.environment.env ?? {} });

  test("the version, and a model's files", async () => {
    mkdirSync(join(rig.folder, "model"));
    writeFileSync(join(rig.folder, "model", "model_int8.onnx"), "weights");
    const options = colgrep.options.parse({ model: "./model" });
    const before = await colgrep.fingerprint?.(options, environment());
    expect(before).toMatchObject({ version: "1.6.1", model: { "model_int8.onnx": expect.any(String) } });
    writeFileSync(join(rig.folder, "model", "model_int8.onnx"), "other weights");
    expect(await colgrep.fingerprint?.(options, environment())).not.toEqual(before);
    rmSync(join(rig.folder, "model"), { recursive: true });
    await expect(colgrep.fingerprint?.(options, environment())).rejects.toThrow("./model");
  });

  test("not what merely steers", () => {
    const identity = (options: Record<string, unknown>) => colgrep.identityOf(colgrep.options.parse(options));
    expect(identity({ timeout: 5, concurrency: 9, bin: "./x", env: ["A"] })).toEqual(identity({}));
    expect(identity({ results: 3 })).not.toEqual(identity({}));
  });
});

test("doctor says what is there and how to get what is not", async () => {
  const tools = { ...rig.environment, offline: false, signal: new AbortController().signal } as never;
  expect(await colgrep.doctor?.(colgrep.options.parse({}), tools)).toMatchObject([
    { check: "installed", status: "ok" },
    { check: "version", status: "ok", found: "1.6.1" },
    { check: "index", status: "ok" },
  ]);
  expect(await colgrep.doctor?.(colgrep.options.parse({ bin: "no-such-colgrep" }), tools)).toMatchObject([
    { check: "installed", status: "problem", fix: expect.stringContaining("cargo install colgrep") },
  ]);
});

describe("readUnits", () => {
  test("takes paths outside the tree as printed, and leaves out what names no file", () => {
    const read = readUnits(
      JSON.stringify([
        { unit: { file: "/tree/a.java", line: 0, end_line: 3 }, score: null },
        { unit: {} },
        { unit: { file: "/else/b.java" } },
      ]),
      ["/tree"],
    );
    expect(read).toEqual({ units: [{ path: "a.java" }, { path: "/else/b.java" }], unreadable: 1 });
  });

  test("a folder whose name begins like the tree's is not the tree", () => {
    expect(readUnits(JSON.stringify([{ unit: { file: "/tree2/a.java" } }]), ["/tree"])).toMatchObject({
      units: [{ path: "/tree2/a.java" }],
    });
  });
});
