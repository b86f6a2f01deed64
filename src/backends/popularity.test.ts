import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ask, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import type { CaseTruth } from "./contract.js";
import { popularity, popularityOf } from "./popularity.js";
import { comparePaths } from "./ranked.js";

function truth(id: string, paths: string[], pulls: number[] = [], repository: string | null = "o/r"): CaseTruth {
  return {
    id,
    repository,
    targets: paths.map((path) => ({ path })),
    links: pulls.map((number) => ({ repository: "o/r", number })),
  };
}
const everything = () => true;

describe("popularity", () => {
  test("counts the other cases, never the asked one", () => {
    const ranking = popularityOf([truth("1", ["a", "b"]), truth("2", ["a"]), truth("3", ["b", "c"]), truth("4", ["z"])]);
    expect(ranking.rank("1", 15, everything)).toEqual([
      { path: "a", score: 1 },
      { path: "b", score: 1 },
      { path: "c", score: 1 },
      { path: "z", score: 1 },
    ]);
    expect(ranking.rank("4", 2, everything)).toEqual([
      { path: "a", score: 2 },
      { path: "b", score: 2 },
    ]);
  });

  test("cases of the same pull request would hand over the truth: left out as well", () => {
    const ranking = popularityOf([truth("1", ["a"], [7]), truth("2", ["a"], [7, 8]), truth("3", ["b"], [8])]);
    expect(ranking.rank("1", 15, everything)).toEqual([{ path: "b", score: 1 }]);
    expect(ranking.rank("2", 15, everything)).toEqual([]);
  });

  test("other repositories have other files", () => {
    const ranking = popularityOf([truth("1", ["a"]), truth("2", ["b"]), truth("3", ["c"], [], "x/y")]);
    expect(ranking.rank("1", 15, everything)).toEqual([{ path: "b", score: 1 }]);
    expect(ranking.rank("3", 15, everything)).toEqual([]);
  });

  test("agrees with counting anew for each case", () => {
    const path = fc.constantFrom("a", "b", "c", "d", "e", "f", "__proto__");
    const one = fc.record({
      paths: fc.uniqueArray(path, { maxLength: 4 }),
      pulls: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 2 }),
    });
    const property = fc.property(fc.array(one, { minLength: 1, maxLength: 10 }), fc.integer({ min: 1, max: 4 }), (cases, top) => {
      const truths = cases.map(({ paths, pulls }, i) => truth(String(i), paths, pulls));
      const ranking = popularityOf(truths);
      const exists = (candidate: string) => candidate !== "c";
      for (const asked of truths) {
        const counts = new Map<string, number>();
        for (const other of truths) {
          const shares = other.links.some(({ number }) => asked.links.some((link) => link.number === number));
          if (other === asked || shares) continue;
          for (const target of other.targets) counts.set(target.path, (counts.get(target.path) ?? 0) + 1);
        }
        const expected = [...counts]
          .filter(([candidate]) => exists(candidate))
          .sort(([a, m], [b, n]) => n - m || comparePaths(a, b))
          .slice(0, top)
          .map(([candidate, score]) => ({ path: candidate, score }));
        expect(ranking.rank(asked.id, top, exists)).toEqual(expected);
      }
    });
    fc.assert(property);
  });

  test("with a tree, only files of the tree", async () => {
    const backend = await openBackend(popularity, { top: 2 }, { truths: [truth("1", ["gone", "a", "b"]), truth("2", ["x"])] });
    expect(pathsOf(await ask(backend, { id: "2" }))).toEqual(["a", "b"]);
    expect(pathsOf(await ask(backend, { id: "2", corpus: memoryCorpus({ gone: "", b: "" }) }))).toEqual(["b", "gone"]);
  });
});
