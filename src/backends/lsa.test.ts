import { describe, expect, test } from "vitest";
import { ask, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import { lsa } from "./lsa.js";

/** `car` and `vehicle` never meet in a file, but each meets `wheel` and `motor`. */
const FILES = {
  a: "car wheel motor car",
  b: "vehicle wheel motor vehicle",
  c: "wheel motor car",
  d: "vehicle motor wheel",
  e: "flower garden tree",
  f: "garden tree flower tree",
  g: "\0 car car car",
};

describe("lsa", () => {
  test("finds files that use other words for the same thing, and not the others", async () => {
    const backend = await openBackend(lsa, { dimensions: 2 });
    const found = pathsOf(await ask(backend, { prompt: "a vehicle", corpus: memoryCorpus(FILES) }));
    expect(found).toEqual(expect.arrayContaining(["a", "b", "c", "d"]));
    expect(found).not.toContain("e");
    expect(pathsOf(await ask(backend, { prompt: "trees of a garden", corpus: memoryCorpus(FILES) })).slice(0, 2)).toEqual([
      "e",
      "f",
    ]);
  });

  test("nothing in common, an empty tree, one file", async () => {
    const backend = await openBackend(lsa, {});
    expect((await ask(backend, { prompt: "zebra", corpus: memoryCorpus(FILES) })).response).toBe('{"classes":[]}');
    expect((await ask(backend, { prompt: "car", corpus: memoryCorpus({}) })).response).toBe('{"classes":[]}');
    expect(pathsOf(await ask(backend, { prompt: "car", corpus: memoryCorpus({ "one.txt": "car" }) }))).toEqual(["one.txt"]);
  });

  test("the same tree and question give the same bytes, whatever was asked before", async () => {
    const one = await openBackend(lsa, { dimensions: 3 });
    const first = await ask(one, { prompt: "motor garden", corpus: memoryCorpus(FILES) });
    await ask(one, { prompt: "car", corpus: memoryCorpus({ "x.txt": "car" }) });
    const other = await openBackend(lsa, { dimensions: 3, top: 15 });
    expect(await ask(other, { prompt: "motor garden", corpus: memoryCorpus(FILES) })).toEqual(first);
  });

  test("every option but none that steers is part of the identity", () => {
    const identity = lsa.identityOf(lsa.options.parse({}));
    expect(identity).toEqual({ dimensions: 100, iterations: 8, seed: 42, min_files: 2, top: 15 });
  });
});
