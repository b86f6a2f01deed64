import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ask, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import { NameIndex } from "./name-index.js";
import { names } from "./names.js";

const MANAGER = "src/org/acme/PluginManager.java";
const CONFIG = "src/org/acme/Config.java";
const HASH = "src/org/acme/util/HashMap.java";
const PARSER = "lib/xml_parser.py";
const index = new NameIndex([MANAGER, CONFIG, HASH, PARSER, "lib/index.js", "README"]);

test("the line that a text gives with a file is kept, the first one", () => {
  const trace = "at org.acme.PluginManager.onResume(PluginManager.java:9)\nat org.acme.PluginManager.run(PluginManager.java:70)";
  expect(index.mentions(trace)).toMatchObject([{ path: MANAGER, lines: [9, 9] }]);
  expect(index.mentions(`${MANAGER}:120:4 is wrong`)).toMatchObject([{ lines: [120, 120] }]);
  expect(index.mentions("PluginManager.java: 3 errors")[0]).not.toHaveProperty("lines");
  expect(index.mentions("PluginManager.java:12345678")[0]).not.toHaveProperty("lines");
});

function named(text: string): string[] {
  return index.mentions(text).map(({ path, kind }) => `${kind} ${path}`);
}

describe("NameIndex", () => {
  test.each([
    ["the full path", `see ${MANAGER}.`, [`path ${MANAGER}`]],
    ["after an absolute prefix", `at /home/me/app/${MANAGER}:120`, [`path ${MANAGER}`]],
    ["with the other separators", String.raw`.\src\org\acme\PluginManager.java`, [`path ${MANAGER}`]],
    ["a suffix", "in acme/PluginManager.java we", [`path-suffix ${MANAGER}`]],
    ["not on a border", "in me/PluginManager.java we", [`file-name ${MANAGER}`]],
    ["the file name", "PluginManager.java is wrong", [`file-name ${MANAGER}`]],
    ["the qualified name", "at org.acme.PluginManager.onResume(PluginManager.java:9)", [`qualified-name ${MANAGER}`]],
    ["the internal name", "org/acme/PluginManager$Entry", [`qualified-name ${MANAGER}`]],
    ["a class of the same name elsewhere", "java.util.HashMap is slow", []],
    ["our own of that name", "util.HashMap is slow", [`qualified-name ${HASH}`]],
    ["the class name", "PluginManager crashes", [`class-name ${MANAGER}`]],
    ["its possessive", "the PluginManager's list", [`class-name ${MANAGER}`]],
    ["an inner class", "PluginManager$Entry leaks", [`class-name ${MANAGER}`]],
    ["joined by a hyphen", "a PluginManager-based thing", [`class-name ${MANAGER}`]],
    ["part of another word", "PluginManagers and MyPluginManager", []],
    ["in another letter case", "the pluginmanager, PLUGINMANAGER", []],
    ["a snake-case module", "xml_parser fails", [`class-name ${PARSER}`]],
    ["a plain word", "Config is a word, and so is index", []],
    ["a plain word marked as code", "`Config` is a class", [`class-name ${CONFIG}`]],
    ["a plain word with a member", "Config.load fails", [`class-name ${CONFIG}`]],
    ["a plain word that is called", "new Config() fails", [`class-name ${CONFIG}`]],
    ["the end of a sentence", "Look at Config. Then", []],
    ["a file without extension in prose", "the README says", []],
    ["the same marked as code", "see `README`", [`file-name README`]],
    ["nothing", "it just crashes", []],
  ])("%s", (_, text, expected) => {
    expect(named(text)).toEqual(expected);
  });

  test("in the order of the first mention", () => {
    const text = "Config.load, then PluginManager, then org.acme.Config and util/HashMap.java";
    expect(index.mentions(text).map(({ path }) => path)).toEqual([CONFIG, MANAGER, HASH]);
    expect(index.mentions(text)[1]?.at).toBe(text.indexOf("PluginManager"));
  });

  test("a name that many files bear points at none of them, a path still at one", () => {
    const many = new NameIndex(Array.from({ length: 6 }, (_, i) => `m${i}/indexPage.js`));
    expect(many.mentions("`indexPage` and indexPage.js")).toEqual([]);
    expect(many.mentions("m3/indexPage.js").map(({ path }) => path)).toEqual(["m3/indexPage.js"]);
    const few = new NameIndex(["b/fooBar.js", "a/fooBar.ts"]);
    expect(few.mentions("fooBar").map(({ path }) => path)).toEqual(["a/fooBar.ts", "b/fooBar.js"]);
  });

  test("only files of the tree, each once, from any text", () => {
    const piece = fc.constantFrom(
      "PluginManager",
      "Config",
      "org",
      "acme",
      "src",
      ".",
      "/",
      "\\",
      "$",
      "`",
      "(",
      " ",
      "java",
      "-",
      "__proto__",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(piece).map((pieces) => pieces.join("")),
        ),
        (text) => {
          const paths = index.mentions(text).map(({ path }) => path);
          expect(new Set(paths).size).toBe(paths.length);
          for (const path of paths) expect([MANAGER, CONFIG, HASH, PARSER, "lib/index.js", "README"]).toContain(path);
        },
      ),
    );
  });

  test("a megabyte of dots, slashes or one name is no problem", () => {
    for (const unit of [".", "/", "a.", "$", "-", "PluginManager.", "PluginManager/", "PluginManager ", "a/b-"]) {
      expect(() => index.mentions(unit.repeat(2 ** 20 / unit.length))).not.toThrow();
    }
  });
});

describe("names", () => {
  test("answers with the files, best first, or with the empty list", async () => {
    const backend = await openBackend(names, { top: 1 });
    const corpus = memoryCorpus({ [MANAGER]: "", [CONFIG]: "" });
    expect(pathsOf(await ask(backend, { corpus, prompt: "PluginManager reads `Config`" }))).toEqual([MANAGER]);
    expect((await ask(backend, { corpus, prompt: "it crashes" })).response).toBe('{"classes":[]}');
    expect(corpus.reads).toEqual([]);
  });
});
