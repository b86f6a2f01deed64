import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { type GitRig, gitRig } from "../../test/rigs/git-repository.js";
import { type StageToolsRig, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { type GitPlace, localCommit, openClone, parsePlace, refProblem, Turns } from "./git.js";
import { parseBatch } from "./git-objects.js";
import { redactAddress } from "./git-process.js";
import { gitTree } from "./git-source.js";
import type { Globs } from "./select.js";
import type { CheckoutTools } from "./tools.js";

const signal = new AbortController().signal;
const everything: Globs = { include: [], exclude: [] };
let rig: GitRig;
let tools: StageToolsRig;
beforeEach(() => {
  rig = gitRig();
  tools = stageToolsRig({ env: { PATH: process.env.PATH } });
});

function place(kind: "url" | "path"): GitPlace {
  const parsed = parsePlace(kind === "url" ? pathToFileURL(rig.folder).href : rig.folder, "/");
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

async function open(where: GitPlace, with_: CheckoutTools = tools) {
  const clone = await openClone(where, with_, new Turns(), signal);
  if (!clone.ok) throw new Error(clone.error.message);
  return clone.value;
}

async function treeAt(where: GitPlace, ref: string, globs = everything, with_: CheckoutTools = tools) {
  const clone = await open(where, with_);
  const commit = await clone.commit(ref, false);
  if (!commit.ok) throw new Error(commit.error.message);
  const tree = await gitTree(clone, commit.value, "all", globs, new Map(), with_);
  if (!tree.ok) throw new Error(tree.error.message);
  return tree.value;
}

describe.each(["url", "path"] as const)("a repository by %s", (kind) => {
  test("each commit has its own tree: contents as they were, renames under the name of the time", async () => {
    rig.write("src/Old.java", "class Old { }\n");
    rig.write("README.md", "one");
    const first = rig.commit("first");
    rig.git("mv", "src/Old.java", "src/New.java");
    rig.write("README.md", "two");
    rig.write("src/Added.java", "added");
    const second = rig.commit("second");
    const paths = async (ref: string) => (await treeAt(place(kind), ref)).files.map(({ path }) => path);
    expect(await paths(first)).toEqual(["README.md", "src/Old.java"]);
    expect(await paths(second)).toEqual(["README.md", "src/Added.java", "src/New.java"]);
    expect(await paths("main")).toEqual(await paths(second));
    const old = await treeAt(place(kind), first, { include: ["README.md"], exclude: [] });
    expect(old).toMatchObject({ revision: first, notes: ["1 of 2 files are selected by include and exclude"] });
    expect(Buffer.from(await tools.getBytes(old.files[0]?.digest as never)).toString()).toBe("one");
  });

  test("a commit made after the clone is found, and so is one that no branch holds any more", async () => {
    rig.write("a", "1");
    rig.commit("one");
    await treeAt(place(kind), "main");
    rig.write("a", "2");
    const later = rig.commit("two");
    expect((await treeAt(place(kind), later)).files).toHaveLength(1);
    rig.write("a", "3");
    const orphan = rig.commit("three");
    rig.git("tag", "v1.0");
    rig.git("reset", "-q", "--hard", later);
    expect((await treeAt(place(kind), "v1.0")).revision).toBe(orphan);
    rig.git("tag", "-d", "v1.0");
    const elsewhere = stageToolsRig({ env: tools.env });
    expect((await treeAt(place(kind), orphan, everything, elsewhere)).revision).toBe(orphan);
  });

  test("links, submodules and LFS pointers are noted, not followed", async () => {
    rig.write("a.java", "a");
    rig.link("link.java", "/etc/passwd");
    rig.write("big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
    const inner = rig.commit("x");
    rig.git("update-index", "--add", "--cacheinfo", `160000,${inner},module`);
    rig.git("commit", "-q", "-m", "submodule");
    const tree = await treeAt(place(kind), "main");
    expect(tree.files.map(({ path }) => path)).toEqual(["a.java", "big.bin"]);
    expect(tree.notes).toEqual([
      "1 files are Git LFS pointers and no source text, their contents were not fetched: big.bin",
      "1 left out (links are not followed): link.java",
      "1 left out (submodules are not followed): module",
    ]);
  });

  test("nothing of the repository runs: no hooks, no filters, no attributes", async () => {
    const proof = join(rig.folder, "proof");
    mkdirSync(join(rig.folder, ".git/hooks"), { recursive: true });
    for (const hook of ["post-checkout", "reference-transaction", "pre-auto-gc"]) {
      writeFileSync(join(rig.folder, ".git/hooks", hook), `#!/bin/sh\ntouch '${proof}'\n`, { mode: 0o755 });
    }
    rig.write(".gitattributes", "*.java filter=evil\n");
    rig.write("a.java", "a\r\n");
    rig.git("-c", "core.hooksPath=/dev/null", "add", "-A");
    rig.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "x");
    rig.git("config", "filter.evil.smudge", `touch '${proof}'`);
    rig.git("config", "core.fsmonitor", `touch '${proof}'`);
    rmSync(proof, { force: true });
    const tree = await treeAt(place(kind), "main", { include: ["a.java"], exclude: [] });
    expect(tree.files[0]?.size).toBe(3);
    expect(existsSync(proof)).toBe(false);
  });

  test("a ref that does not exist, and globs that choose nothing, are explained", async () => {
    rig.write("a", "1");
    rig.commit("one");
    const clone = await open(place(kind));
    expect(await clone.commit("nope", false)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("no branch, tag or commit nope") },
    });
    expect(await clone.commit("--upload-pack=x", false)).toMatchObject({ ok: false });
    const commit = await clone.commit("main", false);
    const tree = await gitTree(
      clone,
      commit.ok ? commit.value : "",
      "all",
      { include: ["*.java"], exclude: [] },
      new Map(),
      tools,
    );
    expect(tree).toMatchObject({ ok: false, error: { message: expect.stringContaining("none of the 1 files") } });
  });
});

test("a clone by address is blobless, and a tree's contents come in one request and stay", async () => {
  for (let index = 0; index < 30; index++) rig.write(`f${index}.txt`, `content ${index}`);
  rig.write("other.md", "not wanted");
  rig.commit("x");
  await treeAt(place("url"), "main", { include: ["*.txt"], exclude: [] });
  const folder = join(
    tools.cacheFolder("git"),
    readdirSync(tools.cacheFolder("git")).find((name) => name.endsWith(".git")) ?? "",
  );
  expect(readFileSync(join(folder, "config"), "utf8")).toContain("partialclonefilter = blob:none");
  // One for the clone, one for the contents.
  expect(tools.counts.requests).toBe(2);
  await treeAt(place("url"), "main", { include: ["*.txt"], exclude: [] });
  expect(tools.counts.requests).toBe(2);
  // All of it works without the source now, and what was not fetched fails with a reason.
  rmSync(rig.folder, { recursive: true });
  const offline: CheckoutTools = { ...tools, cacheFolder: tools.cacheFolder, baseFolder: "/", offline: true };
  expect((await treeAt(place("url"), "main", { include: ["*.txt"], exclude: [] }, offline)).files).toHaveLength(30);
  await expect(treeAt(place("url"), "main", everything, offline)).rejects.toThrow("this run is offline");
});

test("offline, an unknown commit is not looked for in the network", async () => {
  rig.write("a", "1");
  rig.commit("one");
  await treeAt(place("url"), "main");
  rig.write("a", "2");
  const later = rig.commit("two");
  const clone = await open(place("url"), { ...tools, cacheFolder: tools.cacheFolder, baseFolder: "/", offline: true });
  expect(await clone.commit(later, false)).toMatchObject({ ok: false, error: { message: expect.stringContaining("offline") } });
});

test("two units that need the same clone at once share it", async () => {
  rig.write("a", "1");
  const one = rig.commit("one");
  rig.write("a", "2");
  const two = rig.commit("two");
  const turns = new Turns();
  const trees = await Promise.all(
    [one, two, one].map(async (commit) => {
      const clone = await openClone(place("url"), tools, turns, signal);
      if (!clone.ok) throw new Error(clone.error.message);
      return gitTree(clone.value, commit, commit, everything, new Map(), tools);
    }),
  );
  expect(trees.map((tree) => tree.ok && tree.value.revision)).toEqual([one, two, one]);
  expect(readdirSync(tools.cacheFolder("git")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("local refs are resolved in place, and a folder that is no repository is said so", async () => {
  rig.write("a", "1");
  const commit = rig.commit("one");
  expect(await localCommit(rig.folder, "main", tools, signal)).toEqual({ ok: true, value: commit });
  expect(await localCommit(rig.folder, "nope", tools, signal)).toMatchObject({ ok: false });
  mkdirSync(join(rig.folder, "sub"));
  expect(await localCommit(join(rig.folder, "sub"), "main", tools, signal)).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("can't read the repository") },
  });
});

test("no git in PATH is said so", async () => {
  const none = stageToolsRig({ env: { PATH: "" } });
  expect(await openClone(place("path"), none, new Turns(), signal)).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("git was not found") },
  });
});

test("places: addresses, short ssh addresses, paths; helpers, options and unknown schemes are refused", () => {
  expect(parsePlace("https://u:p@github.com/o/r?token=x", "/base")).toMatchObject({
    ok: true,
    value: { kind: "url", shown: "https://github.com/o/r" },
  });
  expect(parsePlace("git@github.com:o/r.git", "/base")).toMatchObject({
    ok: true,
    value: { kind: "url", shown: "github.com:o/r.git" },
  });
  expect(parsePlace("../repo", "/base/x")).toMatchObject({ ok: true, value: { kind: "path", path: "/base/repo" } });
  for (const text of ["", "-x", "ext::sh -c evil", "ftp://x/y", "a\nb", "--upload-pack=evil"])
    expect(parsePlace(text, "/").ok).toBe(false);
  expect(redactAddress("fatal: https://me:secret@h/x?key=1 gone")).toBe("fatal: https://h/x gone");
});

test("refs: only names and ids", () => {
  for (const ref of ["main", "v1.0", "feature/x-1", "a".repeat(40), "HEAD"]) expect(refProblem(ref)).toBeNull();
  for (const ref of ["", "-x", "a..b", "a b", "a:b", "a~1", "a^{tree}", "a@{1}", "*", "\u0000", "x".repeat(251)])
    expect(refProblem(ref)).not.toBeNull();
});

test("cat-file's answers are read the same however they are cut into chunks", async () => {
  const id = (digit: string) => digit.repeat(40);
  const stream = Buffer.concat([
    Buffer.from(`${id("a")} blob 5\nhe\nlo\n${id("b")} missing\n${id("c")} blob 0\n\n${id("d")} blob 3\n`),
    Buffer.from([0, 10, 255, 10]),
  ]);
  const read = async (cuts: number[]) => {
    const chunks: Uint8Array[] = [];
    let start = 0;
    for (const cut of [...cuts, stream.byteLength]) {
      chunks.push(stream.subarray(start, cut));
      start = cut;
    }
    const found: [string, number[] | null][] = [];
    for await (const blob of parseBatch(
      (async function* () {
        yield* chunks;
      })(),
    ))
      found.push([blob.id[0] ?? "", blob.bytes === null ? null : [...blob.bytes]]);
    return found;
  };
  const expected = [
    ["a", [...Buffer.from("he\nlo")]],
    ["b", null],
    ["c", []],
    ["d", [0, 10, 255]],
  ];
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 0, max: stream.byteLength })), async (cuts) => {
      expect(await read(cuts.sort((a, b) => a - b))).toEqual(expected);
    }),
  );
  await expect(async () => {
    for await (const _ of parseBatch(
      (async function* () {
        yield stream.subarray(0, 60);
      })(),
    ));
  }).rejects.toThrow("in the middle");
});
