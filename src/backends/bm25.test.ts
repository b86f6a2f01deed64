import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import { bm25 } from "./bm25.js";
import { Bm25Index } from "./bm25-index.js";
import type { BackendEnvironment } from "./contract.js";

const parameters = { k1: 1.2, b: 0.75, top: 15 };
const environment: BackendEnvironment = {
  clock: () => 0,
  sleep: async () => {},
  env: {},
  baseFolder: "/",
  warn: () => {},
};

function indexed(documents: Record<string, string[]>): Bm25Index {
  const index = new Bm25Index();
  for (const [path, terms] of Object.entries(documents)) index.add(path, terms);
  return index;
}

describe("Bm25Index", () => {
  test("a worked example", () => {
    // N = 3, lengths 2, 4, 6, average 4.
    const index = indexed({
      a: ["cat", "dog"],
      b: ["cat", "cat", "fish", "fish"],
      c: ["bird", "bird", "bird", "bird", "bird", "dog"],
    });
    // df(cat) = 2: idf = ln(1 + 1.5 / 2.5) = ln 1.6 = 0.470004.
    // a: tf 1, |d|/avg = 0.5, k = 1.2 * (0.25 + 0.375) = 0.75: 2.2 / 1.75 = 1.257143 -> 0.590862
    // b: tf 2, |d|/avg = 1,   k = 1.2:                        4.4 / 3.2  = 1.375    -> 0.646255
    expect(index.search(["cat"], parameters)).toEqual([
      { path: "b", score: 0.646255 },
      { path: "a", score: 0.590862 },
    ]);
    // df(bird) = 1: idf = ln(1 + 2.5 / 1.5) = ln 2.666667 = 0.980829.
    // c: tf 5, |d|/avg = 1.5, k = 1.2 * (0.25 + 1.125) = 1.65: 11 / 6.65 = 1.654135 -> 1.622424
    // `dog` twice in the query counts twice. df = 2, idf 0.470004; a: 1.257143 -> 2 * 0.590862 = 1.181724;
    // c: tf 1, k = 1.65: 2.2 / 2.65 = 0.830189 -> 2 * 0.390192 = 0.780384; c in all 2.402808.
    expect(index.search(["dog", "bird", "dog"], parameters)).toEqual([
      { path: "c", score: expect.closeTo(2.402808, 5) },
      { path: "a", score: expect.closeTo(1.181724, 5) },
    ]);
  });

  test("k1 = 0 counts presence only, b = 0 ignores lengths", () => {
    const index = indexed({ a: ["x", "y"], b: ["x", "x", "x", "z", "z", "z"] });
    expect(new Set(index.search(["x"], { ...parameters, k1: 0 }).map(({ score }) => score)).size).toBe(1);
    const [first] = index.search(["x"], { ...parameters, b: 0 });
    expect(first?.path).toBe("b");
  });

  test("ties stand in path order, whatever the order of adding", () => {
    const paths = ["b/x", "a/y", "B/x", "a-y", "é"];
    const expected = ["B/x", "a-y", "a/y", "b/x", "é"];
    fc.assert(
      fc.property(fc.shuffledSubarray(paths, { minLength: 5 }), (order) => {
        const index = indexed(Object.fromEntries(order.map((path) => [path, ["same", path]])));
        expect(index.search(["same"], parameters).map(({ path }) => path)).toEqual(expected);
      }),
    );
  });

  test("agrees with the formula computed the long way round, and names no file twice", () => {
    const word = fc.constantFrom("a", "b", "c", "d", "__proto__", "constructor");
    const documents = fc.array(fc.array(word, { maxLength: 12 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(documents, fc.array(word, { maxLength: 6 }), (texts, query) => {
        const index = indexed(Object.fromEntries(texts.map((terms, i) => [`f${i}`, terms])));
        const average = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
        const scores = texts.map((terms) =>
          query.reduce((sum, term) => {
            const tf = terms.filter((other) => other === term).length;
            const df = texts.filter((other) => other.includes(term)).length;
            if (tf === 0) return sum;
            const idf = Math.log(1 + (texts.length - df + 0.5) / (df + 0.5));
            return sum + (idf * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * terms.length) / average));
          }, 0),
        );
        const found = index.search(query, parameters);
        expect(new Set(found.map(({ path }) => path)).size).toBe(found.length);
        expect(found.length).toBe(scores.filter((score) => score > 0).length);
        for (const { path, score } of found) expect(score).toBeCloseTo(scores[Number(path.slice(1))] ?? -1, 5);
        const ranked = found.map(({ score }) => score ?? 0);
        expect(ranked).toEqual([...ranked].sort((x, y) => y - x));
      }),
    );
  });

  test("nothing indexed, nothing asked, empty files", () => {
    expect(new Bm25Index().search(["x"], parameters)).toEqual([]);
    expect(indexed({ a: ["x"] }).search([], parameters)).toEqual([]);
    expect(indexed({ a: [], b: [] }).search(["x"], parameters)).toEqual([]);
  });

  test("`top` cuts the list", () => {
    const index = indexed(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, ["x"]])));
    expect(index.search(["x"], { ...parameters, top: 4 })).toHaveLength(4);
  });
});

describe("the bm25 backend", () => {
  const files = {
    "src/PluginManager.java": "class PluginManager { void onResume() { entries.forEach(); } }",
    "src/ConfigReader.java": "class ConfigReader { /* reads the preferences */ }",
    "art/logo.png": "PluginManager \0 PluginManager PluginManager",
  };
  const ask = async (prompt: string, corpus = memoryCorpus(files), lines = 0) => {
    const backend = await bm25.open({ k1: 1.2, b: 0.75, top: 15, lines }, environment);
    return backend.ask({ id: "x", repeat: 0, prompt, case: { id: "x" }, corpus }, new AbortController().signal);
  };
  const paths = (response: string) => (JSON.parse(response) as { classes: { path: string }[] }).classes.map(({ path }) => path);

  test("finds by words of identifiers, of the path, and not by bytes of a picture", async () => {
    expect(paths((await ask("the plugin manager crashes on resume")).response)[0]).toBe("src/PluginManager.java");
    expect(paths((await ask("plugin manager")).response)).not.toContain("art/logo.png");
    expect(paths((await ask("a wrong logo")).response)).toEqual(["art/logo.png"]);
  });

  test("says where in the file the words stand", async () => {
    const filler = Array.from({ length: 100 }, (_, i) => `line ${i}`);
    const text = [...filler, "void open() {", "  resume the plugin", "}", ...filler, "plugin", ...filler].join("\n");
    const corpus = memoryCorpus({ "src/plugin.txt": text, "art/plugin.png": "\0 plugin" });
    const { classes } = JSON.parse((await ask("open or resume a plugin", corpus, 10)).response);
    expect(classes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ path: "src/plugin.txt", start_line: 101, end_line: 102 }),
        expect.not.objectContaining({ start_line: expect.anything() }),
      ]),
    );
  });

  test("nothing in common: the empty list", async () => {
    expect((await ask("unrelated")).response).toBe('{"classes":[]}');
  });

  test("cells that ask about equal trees share one index, whatever their parameters", async () => {
    const content = { "a.txt": "shared index", "b.txt": "other" };
    const [first, second] = [memoryCorpus(content), memoryCorpus(content)];
    await Promise.all([ask("shared", first), ask("shared", second), ask("other", first)]);
    expect([...first.reads, ...second.reads].sort()).toEqual(["a.txt", "b.txt"]);
  });

  test("a tree that could not be read is read again by the next question", async () => {
    const corpus = memoryCorpus({ "a.txt": "repaired later" });
    let damaged = true;
    const text = async (path: string) => {
      if (damaged) throw new Error("damaged entry");
      return corpus.text(path);
    };
    await expect(ask("repaired", { ...corpus, text })).rejects.toThrow("damaged entry");
    damaged = false;
    expect(paths((await ask("repaired", { ...corpus, text })).response)).toEqual(["a.txt"]);
  });
});
