import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type FakeNpm, fakeNpm } from "../../test/rigs/fake-npm.js";
import { type StageToolsRig, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { tarball } from "../../test/rigs/tar.js";
import { parseNpmSpec, sha512Integrity } from "./npm.js";
import { npmTree } from "./npm-source.js";

const spec = { name: "@scope/x", version: "1.0.0" };
const everything = { include: [], exclude: [] };
const signal = new AbortController().signal;

describe("parseNpmSpec", () => {
  test.each([
    ["cordova-android@8.0.0", "cordova-android", "8.0.0"],
    ["@scope/x@1.2.3-rc.1", "@scope/x", "1.2.3-rc.1"],
  ])("%s", (text, name, version) => expect(parseNpmSpec(text)).toEqual({ ok: true, value: { name, version } }));

  test.each([
    "x",
    "@scope/x",
    "x@latest",
    "x@^1.0.0",
    "x@1",
    "x@npm:y@1.0.0",
    "./x@1.0.0",
    "--registry=z@1.0.0",
    "https://a/b.tgz",
    "git+ssh://x@1.0.0",
    "x@1.0.0 --foo",
    "x;rm@1.0.0",
    "",
    "@1.0.0",
  ])("%j is refused with what would be right", (text) => {
    const result = parseNpmSpec(text);
    expect(!result.ok && result.error).toMatch(/@\d/);
  });
});

describe("npmTree", () => {
  let npm: FakeNpm;
  let tools: StageToolsRig;
  const archive = tarball([
    { path: "package/src/A.java", content: "class A {}" },
    { path: "package/README.md", content: "# x" },
  ]);
  beforeEach(() => {
    npm = fakeNpm();
    npm.give(archive, sha512Integrity(archive));
    tools = stageToolsRig({
      env: { ...npm.env, SECRET: "s", npm_config_registry: "http://127.0.0.1:1/", HTTPS_PROXY: "http://proxy" },
    });
  });

  test("gives the selected files, runs no scripts, and hands on only what npm needs", async () => {
    const tree = await npmTree(spec, { include: ["**/*.java"], exclude: [] }, tools, signal);
    expect(tree).toMatchObject({
      ok: true,
      value: {
        id: "all",
        source: "npm:@scope/x@1.0.0",
        revision: "1.0.0",
        notes: ["1 of 2 files are selected by include and exclude"],
      },
    });
    expect(tree.ok && tree.value.files.map(({ path, size }) => [path, size])).toEqual([["src/A.java", 10]]);
    const [call] = npm.calls();
    expect(call?.args.slice(0, 2)).toEqual(["pack", "@scope/x@1.0.0"]);
    expect(call?.args).toContain("--ignore-scripts");
    expect(call?.args).not.toContain("--offline");
    expect(call?.env).toMatchObject({ npm_config_registry: "http://127.0.0.1:1/", HTTPS_PROXY: "http://proxy" });
    expect(call?.env.SECRET).toBeUndefined();
    expect(readdirSync(join(tools.cacheFolder("packages"), "tmp"))).toEqual([]);
  });

  test("fetches a package once, whatever the globs, and again only when its bytes are lost or asked for anew", async () => {
    await npmTree(spec, everything, tools, signal);
    await npmTree(spec, { include: ["**/*.md"], exclude: [] }, tools, signal);
    expect(npm.calls()).toHaveLength(1);
    expect(tools.counts.requests).toBe(1);
    const lossy = stageToolsRig({ env: npm.env, memory: tools.memory, getBytes: () => Promise.reject(new Error("lost")) });
    expect((await npmTree(spec, everything, lossy, signal)).ok).toBe(true);
    expect(npm.calls()).toHaveLength(2);
    const wrong = stageToolsRig({ env: npm.env, memory: tools.memory, getBytes: async () => new Uint8Array([1]) });
    expect((await npmTree(spec, everything, wrong, signal)).ok).toBe(true);
    expect(npm.calls()).toHaveLength(3);
    const refreshed = stageToolsRig({ env: npm.env, memory: tools.memory, getBytes: tools.getBytes, refresh: true });
    expect((await npmTree(spec, everything, refreshed, signal)).ok).toBe(true);
    expect(npm.calls()).toHaveLength(4);
  });

  test("offline, npm's own cache is asked, and no request is counted", async () => {
    const offline = stageToolsRig({ env: npm.env, offline: true });
    expect((await npmTree(spec, everything, offline, signal)).ok).toBe(true);
    expect(npm.calls()[0]?.args).toContain("--offline");
    expect(offline.counts.requests).toBeUndefined();
    npm.fail("ENOTCACHED", "cache mode is 'only-if-cached' but no cached response is available.");
    const empty = stageToolsRig({ env: npm.env, offline: true });
    expect(await npmTree(spec, everything, empty, signal)).toMatchObject({
      ok: false,
      error: { transient: false, message: expect.stringContaining("offline") },
    });
  });

  test("an archive that is not the one that npm or the pipeline names is refused and not kept", async () => {
    npm.give(archive, sha512Integrity(Buffer.from("other")));
    expect(await npmTree(spec, everything, tools, signal)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("npm states") },
    });
    npm.give(archive, sha512Integrity(archive));
    const pinned = { ...everything, integrity: sha512Integrity(Buffer.from("meant")) };
    expect(await npmTree(spec, pinned, tools, signal)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("pins") },
    });
    expect(await tools.memory("packages").get("@scope/x@1.0.0")).toBeUndefined();
    expect((await npmTree(spec, { ...everything, integrity: sha512Integrity(archive) }, tools, signal)).ok).toBe(true);
    // A pin that is added later is checked on the remembered archive too.
    expect((await npmTree(spec, pinned, tools, signal)).ok).toBe(false);
  });

  test.each([
    ["E404", "Not Found - GET https://user:pass@registry/x", "no such package", false],
    ["ETARGET", "No matching version", "no such version", false],
    ["ENOTFOUND", "getaddrinfo ENOTFOUND registry", "can't be reached", true],
    ["E401", "Unable to authenticate", "npm login", false],
    ["EWEIRD", "strange", "EWEIRD", false],
  ])("npm's %s is explained", async (code, summary, text, transient) => {
    for (const how of ["json", "text"] as const) {
      npm.fail(code, summary, how);
      const result = await npmTree(spec, everything, tools, signal);
      expect(result).toMatchObject({ ok: false, error: { transient, message: expect.stringContaining(text) } });
      expect(!result.ok && result.error.message).not.toContain("pass@");
    }
  });

  test("no npm in PATH is said so", async () => {
    const none = stageToolsRig({ env: { PATH: tools.cacheFolder("nothing") } });
    expect(await npmTree(spec, everything, none, signal)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("npm was not found") },
    });
  });

  test("globs that choose nothing are a failure, not an empty tree", async () => {
    const result = await npmTree(spec, { include: ["*.java"], exclude: [] }, tools, signal);
    expect(result).toMatchObject({ ok: false, error: { message: expect.stringContaining("none of the 2 files") } });
  });
});
