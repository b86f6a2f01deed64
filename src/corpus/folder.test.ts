import { mkdirSync, mkdtempSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type StageToolsRig, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { folderDigest, folderTree, storeFolder } from "./folder.js";
import type { Globs } from "./select.js";

const everything: Globs = { include: [], exclude: [] };
let folder: string;
let tools: StageToolsRig;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bench-folder-"));
  // Later than every file: what was written before counts as settled.
  tools = stageToolsRig({ clock: { now: () => Date.now() + 3_600_000, sleep: async () => {} } });
});

function write(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

async function treeOf(globs: Globs = everything, path = folder) {
  const tree = await folderTree(path, globs, tools);
  if (!tree.ok) throw new Error(tree.error.message);
  return tree.value;
}

test("a deterministic walk: sorted by code units, without history and packages, links not followed and noted", async () => {
  for (const path of [
    "b/x.java",
    "B.java",
    "a.java",
    "b.java",
    ".hidden",
    ".git/HEAD",
    "node_modules/p/i.js",
    "b/node_modules/q.js",
  ])
    write(path, path);
  symlinkSync("/etc/passwd", join(folder, "link.java"));
  symlinkSync(folder, join(folder, "b", "round"));
  const tree = await treeOf();
  expect(tree.files.map(({ path }) => path)).toEqual([".hidden", "B.java", "a.java", "b.java", "b/x.java"]);
  expect(tree.notes).toEqual([
    "1 left out (history is no part of a tree): .git",
    "2 left out (installed packages are no part of a tree): b/node_modules, node_modules",
    "2 left out (links are not followed): b/round, link.java",
  ]);
  const stored = await storeFolder(folder, everything, tools);
  expect(stored).toEqual({ ok: true, value: tree });
  expect(Buffer.from(await tools.getBytes(tree.files[1]?.digest as never)).toString()).toBe("B.java");
});

test("only what could have been chosen is noted", async () => {
  for (const path of ["src/A.java", ".git/HEAD", "web/node_modules/p/i.js", "vendor/.git/HEAD"]) write(path, path);
  symlinkSync("/etc/passwd", join(folder, "src", "notes.txt"));
  symlinkSync(folder, join(folder, "src", "round"));
  expect((await treeOf({ include: ["./src/**/*.java"], exclude: [] })).notes).toEqual([
    "1 left out (links are not followed): src/round",
  ]);
  const globs = { include: ["**/*.java"], exclude: ["vendor/**", "web/**", "**/round/**", "**/.git/**"] };
  expect((await treeOf(globs)).notes).toEqual([]);
});

test("the digest follows the selected content and nothing else: not the place, the times, or other files", async () => {
  write("src/A.java", "a");
  const java: Globs = { include: ["**/*.java"], exclude: [] };
  const before = folderDigest(await treeOf(java));
  write("README.md", "new");
  utimesSync(join(folder, "src/A.java"), 1, 1);
  expect(folderDigest(await treeOf(java))).toBe(before);
  const moved = `${folder}-moved`;
  renameSync(folder, moved);
  expect(folderDigest(await treeOf(java, moved))).toBe(before);
  writeFileSync(join(moved, "src/A.java"), "b");
  expect(folderDigest(await treeOf(java, moved))).not.toBe(before);
});

test("an unchanged file is not read again; one with the same size and times but a new inode is", async () => {
  write("A.java", "one");
  const { mtime } = statSync(join(folder, "A.java"));
  const first = await treeOf();
  // What is remembered decides, as long as the file's stamp is the same.
  const memory = tools.memory("folders");
  const keys: string[] = [];
  const spy = stageToolsRig({
    clock: tools.clock,
    memory: () => ({
      get: async (key) => {
        keys.push(key);
        return JSON.parse(JSON.stringify(await memory.get(key)).replaceAll(first.files[0]?.digest ?? "", "f".repeat(64)));
      },
      set: async () => {},
    }),
  });
  const second = await folderTree(folder, everything, spy);
  expect(keys).toHaveLength(1);
  expect(second.ok && second.value.files[0]?.digest).toBe("f".repeat(64));
  writeFileSync(join(folder, "new"), "two");
  renameSync(join(folder, "new"), join(folder, "A.java"));
  utimesSync(join(folder, "A.java"), mtime, mtime);
  expect((await treeOf()).files[0]?.digest).not.toBe(first.files[0]?.digest);
});

test("a file that changed just now is not remembered", async () => {
  write("A.java", "one");
  const now = stageToolsRig({ clock: { now: () => Date.now(), sleep: async () => {} } });
  const saved: unknown[] = [];
  await folderTree(folder, everything, {
    clock: now.clock,
    memory: () => ({ get: async () => undefined, set: async (_, value) => void saved.push(value) }),
  });
  expect(saved).toEqual([{}]);
});

test("damaged memory is ignored", async () => {
  write("A.java", "one");
  for (const value of [null, [], "x", { "A.java": 1 }, { "A.java": ["", 2, 3] }]) {
    const tree = await folderTree(folder, everything, {
      clock: tools.clock,
      memory: () => ({ get: async () => value, set: async () => {} }),
    });
    expect(tree.ok && tree.value.files).toHaveLength(1);
  }
});

test("a missing folder, a file in its place, and an empty choice are explained", async () => {
  const message = async (path: string, globs = everything) => {
    const tree = await folderTree(path, globs, tools);
    return tree.ok ? "" : tree.error.message;
  };
  expect(await message(join(folder, "none"))).toContain("does not exist");
  write("file", "x");
  expect(await message(join(folder, "file"))).toContain("is not a folder");
  expect(await message(folder, { include: ["*.java"], exclude: [] })).toContain("none of the 1 files");
});

test("names with prototypes' words are names", async () => {
  for (const path of ["__proto__", "constructor", "toString/x"]) write(path, path);
  expect((await treeOf()).files.map(({ path }) => path)).toEqual(["__proto__", "constructor", "toString/x"]);
  expect((await treeOf()).files.map(({ path }) => path)).toEqual(["__proto__", "constructor", "toString/x"]);
});
