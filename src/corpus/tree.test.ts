import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type StageToolsRig, stageToolsRig } from "../../test/rigs/stage-tools.js";
import type { Tree } from "./contract.js";
import { openCorpus, storeFiles, treeDigest, treeFolder, treeRoots } from "./tree.js";

let tools: StageToolsRig;
beforeEach(() => {
  tools = stageToolsRig();
});

async function treeOf(files: Record<string, string | Uint8Array>, source = "test"): Promise<Tree> {
  const stored = await storeFiles(
    Object.entries(files).map(([path, content]) => ({ path, bytes: Buffer.from(content as string) })),
    tools,
  );
  return { id: "all", source, revision: null, files: stored, notes: [] };
}

test("the digest is that of paths and contents, whatever the source and the order", async () => {
  const a = await treeOf({ "a.txt": "1", "b.txt": "2" }, "npm:x@1.0.0");
  const b = await treeOf({ "b.txt": "2", "a.txt": "1" }, "folder");
  expect(treeDigest(a)).toBe(treeDigest(b));
  expect(treeDigest(await treeOf({ "a.txt": "2", "b.txt": "1" }))).not.toBe(treeDigest(a));
  expect(treeDigest(await treeOf({ "c.txt": "1", "b.txt": "2" }))).not.toBe(treeDigest(a));
});

test("text: bytes that are no UTF-8 become U+FFFD; a foreign path is an error", async () => {
  const corpus = openCorpus(await treeOf({ "a.txt": "é", "b.bin": new Uint8Array([0x61, 0xff]) }), tools);
  expect(await corpus.text("a.txt")).toBe("é");
  expect(await corpus.text("b.bin")).toBe("a\ufffd");
  await expect(corpus.text("__proto__")).rejects.toThrow("not a file of the tree");
});

describe("folder", () => {
  test("holds exactly the files, and is made once", async () => {
    const tree = await treeOf({ "src/A.java": "class A {}", "x/y/z": "" });
    const folder = await openCorpus(tree, tools).folder();
    expect(folder).toBe(treeFolder(tree, tools));
    expect(treeRoots(tree, tools)).toContain(folder);
    expect(readFileSync(join(folder, "src/A.java"), "utf8")).toBe("class A {}");
    expect(readFileSync(join(folder, "x/y/z"), "utf8")).toBe("");
    // Nothing is left beside it, and a second opening needs the store no more.
    expect(readdirSync(tools.cacheFolder("trees"))).toEqual([treeDigest(tree)]);
    const unread = { ...tools, cacheFolder: tools.cacheFolder, getBytes: () => Promise.reject(new Error("not needed")) };
    expect(await openCorpus(tree, unread).folder()).toBe(folder);
  });

  test.each<[string, (folder: string) => void]>([
    ["a changed file", (folder) => rewrite(join(folder, "src/A.java"), "class B {}")],
    ["a missing file", (folder) => rmSync(join(folder, "src/A.java"))],
    ["a file too many", (folder) => writeFileSync(join(folder, "src/Evil.java"), "x")],
    [
      "a link in place of a file",
      (folder) => {
        writeFileSync(join(folder, "..", "elsewhere"), "class A {}");
        rmSync(join(folder, "src/A.java"));
        symlinkSync(join(folder, "..", "elsewhere"), join(folder, "src/A.java"));
      },
    ],
    [
      "a file in place of the folder",
      (folder) => {
        rmSync(folder, { recursive: true });
        writeFileSync(folder, "x");
      },
    ],
    [
      "a folder in place of a file",
      (folder) => {
        rmSync(join(folder, "src/A.java"));
        mkdirSync(join(folder, "src/A.java"));
      },
    ],
  ])("%s is repaired before use", async (_, damage) => {
    const tree = await treeOf({ "src/A.java": "class A {}", b: "2" });
    const folder = await openCorpus(tree, tools).folder();
    damage(folder);
    expect(await openCorpus(tree, tools).folder()).toBe(folder);
    expect(readFileSync(join(folder, "src/A.java"), "utf8")).toBe("class A {}");
    expect(existsSync(join(folder, "src/Evil.java"))).toBe(false);
  });

  test.each(["../outside", "/abs", "a/../../b", ".git/config", "a//b", "a\\b"])(
    "a tree with the path %j is refused, nothing is written",
    async (path) => {
      const tree = await treeOf({ [path]: "x" });
      await expect(openCorpus(tree, tools).folder()).rejects.toThrow("unusable path");
      expect(readdirSync(tools.cacheFolder("trees"))).toEqual([]);
      expect(existsSync(join(tools.cacheFolder("trees"), "..", "outside"))).toBe(false);
    },
  );

  test("a tree that the file system can't hold (two files under one name) is refused with a reason", async () => {
    const tree = await treeOf({ "a.txt": "1" });
    const twice: Tree = { ...tree, files: [...tree.files, ...(await treeOf({ "a.txt": "2" })).files] };
    await expect(openCorpus(twice, tools).folder()).rejects.toThrow("file system can't hold the tree");
  });

  test("two at once get the same folder", async () => {
    const tree = await treeOf(
      Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`d${index % 5}/f${index}`, `${index}`])),
    );
    const folders = await Promise.all(Array.from({ length: 4 }, () => openCorpus(tree, tools).folder()));
    expect(new Set(folders).size).toBe(1);
    expect(readdirSync(tools.cacheFolder("trees"))).toEqual([treeDigest(tree)]);
  });

  test("bytes missing from the store reject with the store's error, and leave nothing behind", async () => {
    const tree = await treeOf({ a: "1" });
    const broken = { cacheFolder: tools.cacheFolder, getBytes: () => Promise.reject(new Error("damaged")) };
    await expect(openCorpus(tree, broken).folder()).rejects.toThrow("damaged");
    expect(readdirSync(tools.cacheFolder("trees"))).toEqual([]);
  });
});

function rewrite(path: string, content: string): void {
  chmodSync(path, 0o644);
  writeFileSync(path, content);
}
