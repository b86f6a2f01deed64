import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ask, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import type { AnyKind, Question, RawAnswer } from "./contract.js";
import { filesOf, fuse } from "./fusion.js";
import { hybrid } from "./hybrid.js";
import { backendConfigSchema, builtInBackends } from "./registry.js";

const file = (path: string) => ({ path });
const entry = (raw: string) => ({ raw, readBy: "json" as const, spellings: [raw] });

describe("fuse", () => {
  test("a worked example", () => {
    // k = 60. a: 1/61 + 1/62, b: 1/62 + 1/61 (the same), c: 1/63 in one.
    const fused = fuse([[file("a"), file("b"), file("c")], [file("b"), file("a")]], 60, 10); // biome-ignore format: two rankings
    expect(fused).toEqual([
      { path: "a", score: 0.032522 },
      { path: "b", score: 0.032522 },
      { path: "c", score: 0.015873 },
    ]);
  });

  test("a file named twice counts at its first rank, and the next ones move up", () => {
    expect(fuse([[file("a"), file("a"), file("b")]], 0, 10)).toEqual([
      { path: "a", score: 1 },
      { path: "b", score: 0.5 },
    ]);
  });

  test("lines come from whoever ranks the file best and gives any", () => {
    const [first] = fuse(
      [[{ path: "a" }], [file("b"), { path: "a", lines: [3, 4] }], [file("b"), file("c"), { path: "a", lines: [1, 2] }]],
      60,
      1,
    );
    expect(first).toMatchObject({ path: "a", lines: [3, 4] });
    const fused = fuse([[{ path: "a" }], [file("b"), { path: "a", lines: [3, 4] }]], 60, 2);
    expect(fused[0]).toMatchObject({ path: "a", lines: [3, 4] });
  });

  test("the order of the rankings does not matter, and one ranking stays as it is", () => {
    const ranking = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 5 }).map((paths) => paths.map(file));
    fc.assert(
      fc.property(fc.array(ranking, { minLength: 1, maxLength: 4 }), (rankings) => {
        expect(fuse([...rankings].reverse(), 60, 10)).toEqual(fuse(rankings, 60, 10));
        expect(fuse([rankings[0] ?? []], 60, 10).map(({ path }) => path)).toEqual((rankings[0] ?? []).map(({ path }) => path));
      }),
    );
  });
});

test("filesOf: entries of different systems are the same file of the tree", () => {
  const paths = ["src/a/Foo.java", "src/b/Bar.java", "lib/b/Bar.java"];
  const named = (raw: string) => filesOf([entry(raw)], paths)[0]?.path;
  expect(named("./src/a/Foo.java")).toBe("src/a/Foo.java");
  expect(named("/home/me/x/src/a/Foo.java")).toBe("src/a/Foo.java");
  expect(named("src\\a\\Foo.java")).toBe("src/a/Foo.java");
  expect(named("a/Foo.java")).toBe("src/a/Foo.java");
  expect(named("b/Bar.java")).toBe("b/Bar.java");
  expect(named("nowhere.txt")).toBe("nowhere.txt");
});

/** A backend that says what the test wants and keeps what it was asked. */
function puppet(kind: string, answer: (asked: number) => Partial<RawAnswer>, more: Partial<AnyKind> = {}) {
  const seen: Question[] = [];
  const puppet: AnyKind = {
    kind,
    summary: kind,
    version: 1,
    options: z.strictObject({ depth: z.number().default(1) }),
    identityOf: (options) => options,
    needsCorpus: false,
    readsTruth: false,
    readsDataset: false,
    prompt: "text",
    concurrency: () => 3,
    open: async () => ({
      ask: async (question) => {
        seen.push(question);
        return { status: "completed", response: "", ...answer(seen.length) };
      },
      close: async () => {},
    }),
    ...more,
  };
  return { puppet, seen };
}
const list = (...paths: string[]) => ({ response: JSON.stringify({ classes: paths.map(file) }) });

function over(...kinds: AnyKind[]) {
  const map = new Map(kinds.map((kind) => [kind.kind, kind]));
  return hybrid(map, backendConfigSchema(map));
}

describe("hybrid", () => {
  const left = () => puppet("left", () => list("a", "b"));
  const right = () => puppet("right", () => list("b", "c"));
  const of = [{ kind: "left" }, { kind: "right" }];

  test("fuses what its members answer, and keeps what each said", async () => {
    const kind = over(left().puppet, right().puppet);
    const answer = await ask(await openBackend(kind, { of }), { prompt: "where?" });
    expect(pathsOf(answer)).toEqual(["b", "a", "c"]);
    expect(answer.details?.members).toEqual([
      { backend: "left", kind: "left", status: "completed", ...list("a", "b") },
      { backend: "right", kind: "right", status: "completed", ...list("b", "c") },
    ]);
  });

  test("is what its members are, in the key and in what it needs", () => {
    const kind = over(left().puppet, puppet("tree", () => ({}), { needsCorpus: true, version: 7, prompt: "none" }).puppet);
    const options = kind.options.parse({ of: [{ kind: "left", depth: 3 }, { kind: "tree" }] });
    expect(kind.identityOf(options)).toEqual({
      of: [
        { kind: "left", version: 1, identity: { depth: 3 } },
        { kind: "tree", version: 7, identity: { depth: 1 } },
      ],
      k: 60,
      top: 15,
    });
    expect((kind.needsCorpus as (o: unknown) => unknown)(options)).toBe(true);
    const uncached = over(left().puppet, puppet("right", () => ({}), { identityOf: () => null }).puppet);
    expect(uncached.identityOf(uncached.options.parse({ of }))).toBeNull();
  });

  test("one member that fails fails it; the other is not paid for twice", async () => {
    const [good, bad] = [
      puppet("left", () => ({ ...list("a"), usage: { input_tokens: 5 } })),
      puppet("right", (asked) => (asked === 1 ? { status: "rate_limited", error: "slow down", retry: { after: 2 } } : list("b"))),
    ];
    const backend = await openBackend(over(good.puppet, bad.puppet), { of });
    expect(await ask(backend, { prompt: "x" })).toMatchObject({
      status: "rate_limited",
      error: "right: slow down",
      retry: { after: 2 },
    });
    const second = await ask(backend, { prompt: "x" });
    expect(second).toMatchObject({ status: "completed", usage: { input_tokens: 5 } });
    expect([good.seen.length, bad.seen.length]).toEqual([1, 2]);
    await ask(backend, { prompt: "x" });
    expect(good.seen.length).toBe(2);
  });

  test("a model gets the format, a retriever the text alone", async () => {
    const [retriever, model] = [left(), puppet("right", () => list("b"), { prompt: "text+format" })];
    const kind = over(retriever.puppet, model.puppet);
    expect((kind.prompt as (o: unknown) => unknown)(kind.options.parse({ of }))).toBe("text+format");
    const blocks = { title: "Title", description: "Body", format: "JSON", task: "Find" };
    await ask(await openBackend(kind, { of }), { prompt: "everything", blocks });
    expect(retriever.seen[0]?.prompt).toBe("Title\n\nBody");
    expect(model.seen[0]?.prompt).toBe("everything");
  });

  test("nothing found, refusals and draws", async () => {
    const answered = async (response: string) =>
      ask(await openBackend(over(left().puppet, puppet("right", () => ({ response })).puppet), { of }), {});
    expect(pathsOf(await answered('{"classes":[]}'))).toEqual(["a", "b"]);
    expect(pathsOf(await answered("I'm sorry, I can't help with that."))).toEqual(["a", "b"]);
    const drawn = await answered(JSON.stringify({ draws: [["a"], ["b"]], pool: 2, sizes: [1, 1] }));
    expect(drawn).toMatchObject({ status: "failed", error: expect.stringContaining("at random") });
  });

  test("the real ones: bm25, lsa and popularity over a tree", async () => {
    const kind = builtInBackends.get("hybrid") as AnyKind;
    const options = kind.options.parse({ of: [{ kind: "bm25" }, { kind: "lsa" }, { kind: "popularity" }] });
    expect((kind.readsDataset as (o: unknown) => unknown)(options)).toBe(true);
    const truths = ["1", "2"].map((id) => ({ id, repository: "o/r", targets: [file("b.txt")], links: [] }));
    const corpus = memoryCorpus({ "a.txt": "door handle", "b.txt": "roof door", "c.txt": "wall" });
    const backend = await kind.open(options, {
      clock: () => 0,
      sleep: async () => {},
      env: {},
      baseFolder: "/",
      warn: () => {},
      truths,
    });
    const answer = await ask(backend, { id: "1", prompt: "the roof", corpus });
    expect(pathsOf(answer)[0]).toBe("b.txt");
    expect(() => kind.options.parse({ of: [{ kind: "bm25" }, { kind: "random" }] })).toThrow(/random/);
    expect(() => kind.options.parse({ of: [{ kind: "bm25" }] })).toThrow();
  });
});
