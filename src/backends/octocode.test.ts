import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { PASS, type SearchRig, searchRig } from "../../test/rigs/search-double.js";
import type { BackendEnvironment } from "./contract.js";
import type { IndexOutcome } from "./index-tool.js";
import { octocode, readBlocks } from "./octocode.js";
import { octocodeIndex } from "./octocode-index.js";

let rig: SearchRig;
beforeEach(() => {
  rig = searchRig("octocode");
});
afterEach(() => rig.remove());

async function asked(options: Record<string, unknown>, environment = rig.environment, prompt = "numbers overflow") {
  const backend = await openBackend(octocode, { ...PASS, ...options }, environment);
  try {
    return await ask(backend, { prompt, corpus: rig.corpus });
  } finally {
    await backend.close();
  }
}

describe("a search", () => {
  test("gives files in the order printed, with lines counted from 1", async () => {
    const answer = await asked({});
    expect(JSON.parse(answer.response)).toEqual({
      classes: [
        { path: "src/Parser.java", start_line: 1, end_line: 5 },
        { path: "src/Writer.java", start_line: 1, end_line: 5 },
      ],
    });
    expect(rig.calls().at(-1)).toEqual(["search", "--mode", "code", "--format", "json", "--", "numbers overflow"]);
  });

  test("of mode `all` takes the lists in turn", async () => {
    expect(pathsOf(await asked({ mode: "all" }))).toEqual(["src/Parser.java", "docs/numbers.md", "src/Writer.java"]);
    expect(pathsOf(await asked({ mode: "all", top: 1 }))).toEqual(["src/Parser.java"]);
  });

  test("notes before the JSON are passed over", async () => {
    expect(pathsOf(await asked({ args: ["--expand"] }))).toHaveLength(2);
  });
});

describe("the limit on queries", () => {
  test("a longer question is cut at a border of words, and that is noted", async () => {
    const answer = await asked({}, rig.environment, `${"numbers ".repeat(100)}überlauf`);
    const query = rig.calls().at(-1)?.at(-1) ?? "";
    expect(answer.status).toBe("completed");
    expect(Buffer.byteLength(query)).toBeLessThanOrEqual(500);
    expect(query).toMatch(/^(?:numbers )+numbers$/);
    expect(answer.details).toMatchObject({ query_cut: { to_bytes: Buffer.byteLength(query), limit: 500 } });
    expect(octocode.noteOf?.({ status: "completed", details: answer.details ?? {} })).toContain("longer than 500 bytes");
  });

  test("counts bytes, not characters", async () => {
    const answer = await asked({}, rig.environment, "é".repeat(400));
    expect(answer.status).toBe("completed");
    expect(rig.calls().at(-1)?.at(-1)).toBe("é".repeat(250));
  });

  test("a question that is too short fails without being asked", async () => {
    const answer = await asked({}, rig.environment, " a\n ");
    expect(answer).toMatchObject({ status: "failed", error: expect.stringContaining("under 3 bytes") });
    expect(rig.calls().filter(([command]) => command === "search")).toEqual([]);
  });
});

describe("the index", () => {
  test("is made once, with the models of all trees in one place", async () => {
    await asked({});
    await asked({});
    expect(rig.calls().filter(([command]) => command === "index")).toEqual([["index", "--no-git"]]);
    expect(existsSync(join(rig.folder, "cache", "models", "octocode", "fastembed", "model.onnx"))).toBe(true);
  });

  test("a repository around the cache is not taken for the tree's", async () => {
    execFileSync("git", ["init", "-q", rig.folder]);
    execFileSync("git", ["-C", rig.folder, "remote", "add", "origin", "https://example.org/around.git"]);
    await asked({});
    const [index = ""] = readdirSync(join(rig.folder, "cache", "indexes"));
    const inside = readdirSync(join(rig.folder, "cache", "indexes", index, "data", "octocode")).filter((name) =>
      /^[0-9a-f]{16}$/.test(name),
    );
    const other = searchRig("octocode");
    const backend = await openBackend(octocode, PASS, other.environment);
    await ask(backend, { prompt: "numbers", corpus: other.corpus });
    await backend.close();
    const [otherIndex = ""] = readdirSync(join(other.folder, "cache", "indexes"));
    const outside = readdirSync(join(other.folder, "cache", "indexes", otherIndex, "data", "octocode")).filter((name) =>
      /^[0-9a-f]{16}$/.test(name),
    );
    other.remove();
    expect(inside).toHaveLength(1);
    expect(outside).not.toEqual(inside);
    expect(inside[0]).toBe(
      execFileSync(process.execPath, [
        "-e",
        "process.stdout.write(require('crypto').createHash('sha256').update(require('fs').realpathSync(process.argv[1])).digest('hex').slice(0, 16))",
        await rig.corpus.folder(),
      ]).toString(),
    );
  });

  test("keeps the project's folder and neither models nor settings", async () => {
    const folder = join(rig.folder, "build");
    mkdirSync(folder);
    const environment = { warn: () => {}, ...rig.environment } as BackendEnvironment;
    const outcome = (await octocodeIndex.build(
      octocodeIndex.options.parse(PASS),
      { corpus: rig.corpus, folder },
      environment,
      new AbortController().signal,
    )) as Extract<IndexOutcome, { type: "built" }>;
    expect(outcome.keep).toEqual([expect.stringMatching(/^data\/octocode\/[0-9a-f]{16}$/)]);
    expect(outcome.facts).toEqual({ version: "0.22.0", config: null, kept: true });
  });
});

describe("failures", () => {
  test.each([
    ["silent", "printed nothing"],
    ["no-json", "printed no JSON"],
  ])("%s", async (fault, message) => {
    const answer = await asked({}, rig.faulty({ DOUBLE_FAULT: fault }));
    expect(answer).toMatchObject({ status: "failed", error: expect.stringContaining(message) });
  });

  test("an option that the release does not know is named", async () => {
    expect((await asked({ args: ["--max-results"] })).error).toContain("does not know --max-results");
  });

  test("an index that was removed", async () => {
    const index = { digest: "0" as never, facts: { kept: true }, folder: async () => join(rig.folder, "empty") };
    const backend = await openBackend(octocode, PASS, rig.environment);
    const answer = await ask(backend, { prompt: "numbers", corpus: rig.corpus, index });
    expect(answer.error).toContain("run the index-corpus stage again");
  });
});

test("an index of other settings is not searched", async () => {
  const index = { digest: "0" as never, facts: { kept: true, config: "another" }, folder: async () => rig.folder };
  const backend = await openBackend(octocode, PASS, rig.environment);
  expect((await ask(backend, { prompt: "numbers", corpus: rig.corpus, index })).error).toContain("the same `config`");
  expect(rig.calls().filter(([command]) => command === "search")).toEqual([]);
});

test("the settings file is part of the key by its content", async () => {
  const config = join(rig.folder, "octocode.toml");
  writeFileSync(config, "[search]\nmax_results = 50\n");
  const fingerprint = () =>
    octocode.fingerprint?.(octocode.options.parse({ config: "octocode.toml" }), {
      baseFolder: rig.folder,
      env: rig.environment.env ?? {},
    });
  const before = await fingerprint();
  writeFileSync(config, "[search]\nmax_results = 20\n");
  expect(await fingerprint()).not.toEqual(before);
});

describe("readBlocks", () => {
  test.each(['{"other": []}', "[", '[{"no": "path"}]', "nothing"])("%s is no answer", (stdout) => {
    expect(typeof readBlocks(stdout)).toBe("string");
  });
});
