/** Indexes as stored files, and the folder that is made of them. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stageToolsRig } from "../../test/rigs/stage-tools.js";
import type { TreeFile } from "../corpus/contract.js";
import { filesDigest, indexFolder, storeIndex } from "./index-folder.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bench-index-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

async function stored(keep: readonly string[], tools = stageToolsRig()): Promise<TreeFile[]> {
  const files = await storeIndex(root, keep, tools.putBytes);
  if (!files.ok) throw new Error(files.error);
  return files.value;
}

describe("storing", () => {
  test("what is kept, sorted, and nothing beside it", async () => {
    put({ "output/b/z": "1", "output/b.txt": "2", "settings.yaml": "3", ".env": "secret", "cache/x": "4" });
    expect((await stored(["settings.yaml", "output"])).map(({ path, size }) => [path, size])).toEqual([
      ["output/b.txt", 1],
      ["output/b/z", 1],
      ["settings.yaml", 1],
    ]);
  });

  test("equal content has an equal digest, wherever it lies", async () => {
    put({ "output/a": "1" });
    const first = filesDigest(await stored(["output"]));
    put({ "output/a": "2" });
    expect(filesDigest(await stored(["output"]))).not.toBe(first);
    rmSync(root, { recursive: true });
    root = mkdtempSync(join(tmpdir(), "bench-index-"));
    put({ "output/a": "1" });
    expect(filesDigest(await stored(["output"]))).toBe(first);
  });

  test("what is missing or leads elsewhere is told", async () => {
    put({ "output/a": "1" });
    const tools = stageToolsRig();
    expect(await storeIndex(root, ["nothing"], tools.putBytes)).toMatchObject({
      ok: false,
      error: expect.stringMatching(/did not write nothing/),
    });
    symlinkSync("/etc/hostname", join(root, "output", "link"));
    expect(await storeIndex(root, ["output"], tools.putBytes)).toMatchObject({
      ok: false,
      error: expect.stringMatching(/output\/link/),
    });
  });
});

describe("the folder", () => {
  test("is made once, and used again with what the tool wrote beside it", async () => {
    const tools = stageToolsRig();
    put({ "output/a": "1", "settings.yaml": "s" });
    const index = { tool: "t", files: await stored(["output", "settings.yaml"], tools) };
    const folder = await indexFolder(index, tools);
    mkdirSync(join(folder, "logs"));
    writeFileSync(join(folder, "logs", "query.log"), "asked");
    expect(await indexFolder(index, tools)).toBe(folder);
    expect(readFileSync(join(folder, "logs", "query.log"), "utf8")).toBe("asked");
  });

  test.each([
    ["a file that changed", (folder: string) => writeFileSync(join(folder, "output", "a"), "2")],
    ["a file too many in a kept folder", (folder: string) => writeFileSync(join(folder, "output", "b"), "more")],
    ["a file that is gone", (folder: string) => rmSync(join(folder, "output", "a"))],
    ["a folder that is gone", (folder: string) => rmSync(folder, { recursive: true })],
    [
      "a link in place of a folder",
      (folder: string) => {
        rmSync(join(folder, "output"), { recursive: true });
        symlinkSync(root, join(folder, "output"));
      },
    ],
  ])("is made anew after %s", async (_name, harm) => {
    const tools = stageToolsRig();
    put({ "output/a": "1", "output/deep/er/c": "3" });
    const index = { tool: "t", files: await stored(["output"], tools) };
    const folder = await indexFolder(index, tools);
    harm(folder);
    expect(await indexFolder(index, tools)).toBe(folder);
    expect(readFileSync(join(folder, "output", "a"), "utf8")).toBe("1");
    expect(existsSync(join(folder, "output", "b"))).toBe(false);
  });

  test("two at once give one right folder", async () => {
    const tools = stageToolsRig();
    put({ "output/a": "1" });
    const index = { tool: "t", files: await stored(["output"], tools) };
    const [one, other] = await Promise.all([indexFolder(index, tools), indexFolder(index, tools)]);
    expect(one).toBe(other);
    expect(readFileSync(join(one, "output", "a"), "utf8")).toBe("1");
  });

  test("paths that would leave it, and indexes without files, are refused", async () => {
    const tools = stageToolsRig();
    put({ a: "1" });
    const [file] = await stored(["a"], tools);
    if (file === undefined) throw new Error("nothing was stored");
    for (const path of ["../a", "x/../../a", "/a", "x\\..\\a", "./a"]) {
      await expect(indexFolder({ tool: "t", files: [{ ...file, path }] }, tools)).rejects.toThrow(/unusable path/);
    }
    await expect(indexFolder({ tool: "t", files: [] }, tools)).rejects.toThrow(/lives in a server/);
  });
});
