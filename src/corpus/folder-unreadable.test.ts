/** Folders and files without the right to read. The file system's refusals are made here: who may do everything meets none. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { stageToolsRig } from "../../test/rigs/stage-tools.js";
import { folderTree, storeFolder } from "./folder.js";

const denied = vi.hoisted(() => new Set<string>());
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const guarded =
    <T extends (path: string, ...rest: never[]) => Promise<unknown>>(call: T) =>
    (path: string, ...rest: never[]) =>
      denied.has(path) ? Promise.reject(Object.assign(new Error("denied"), { code: "EACCES" })) : call(path, ...rest);
  return {
    ...real,
    readdir: guarded(real.readdir as never),
    open: guarded(real.open as never),
    lstat: guarded(real.lstat as never),
  };
});

let folder: string;
beforeEach(() => {
  denied.clear();
  folder = mkdtempSync(join(tmpdir(), "bench-unreadable-"));
  for (const path of ["src/A.java", "src/B.java", "src/C.java", "lib/D.java", "lib/README"]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), path);
  }
});

async function outcome(exclude: string[] = [], include: string[] = []) {
  const made = await folderTree(folder, { include, exclude }, stageToolsRig());
  // The stored tree and the one that only names the content must agree.
  const stored = await storeFolder(folder, { include, exclude }, stageToolsRig());
  expect(stored).toEqual(made);
  return made.ok ? made.value.files.map(({ path }) => path) : made.error.message;
}

test("what can't be read fails the tree, naming each path and what to do", async () => {
  for (const path of ["lib", "src/A.java"]) denied.add(join(folder, path));
  const message = await outcome();
  expect(message).toContain("2 paths of the folder");
  expect(message).toContain("can't be read: lib/, src/A.java.");
  expect(message).toContain("`exclude`");
});

test("a file that can be listed and not opened, too", async () => {
  denied.add(join(folder, "src/B.java"));
  expect(await outcome()).toContain("1 path of the folder");
});

test("what exclude takes, or include never reaches, may be unreadable", async () => {
  for (const path of ["lib", "src/A.java"]) denied.add(join(folder, path));
  expect(await outcome(["lib/**", "**/A.java"])).toEqual(["src/B.java", "src/C.java"]);
  expect(await outcome([], ["src/B.java"])).toEqual(["src/B.java"]);
  expect(await outcome(["**/A.java"], ["**/*.java"])).toContain("lib/");
});
