/** Mistakes in the shape of a file: keys, stages, needs, common options. Exactly the marked places are reported. */
import { describe, expect, test } from "vitest";
import { type MistakeCase as Case, mistakesOf, testMistakes, unmark } from "../../test/rigs/pipeline-marks.js";

const ISSUES = "  issues: { uses: fetch-issues, with: { repo: a/b } }";
const DATA = "  data: { uses: import-dataset, with: { path: x.json } }";
const stages = (...lines: string[]): string => ["stages:", ...lines].join("\n");

const cases: Case[] = [
  // The file as a whole.
  ["unknown top-level key", `‹nmae›: x\n${stages(ISSUES)}`, [/unknown key `nmae`/, /did you mean `name`/]],
  [
    "misspelt stages are read all the same",
    `‹stagse›:\n  a: { uses: ‹nothing› }`,
    [/unknown key `stagse`/, /`stages`/],
    [/no stage kind `nothing`/],
  ],
  ["no stages", "‹n›ame: x", [/has no `stages`/]],
  ["stages without content", "‹stages›:", [/expected a mapping of stages, found nothing/]],
  ["stages as a list", "‹stages›: [a]", [/expected a mapping of stages, found a list/]],
  ["no stage at all", "‹stages›: {}", [/an empty mapping/]],
  ["name that is no text", `name: ‹[a]›\n${stages(ISSUES)}`, [/expected a text of one line/]],
  // Stages.
  ["a stage that is a text", "stages:\n  a: ‹fetch-issues›", [/must be a mapping with `uses`, found the text "fetch-issues"/]],
  ["a stage without content", "stages:\n  ‹a›:", [/must be a mapping with `uses`, found nothing/]],
  ["no uses", "stages:\n  ‹a›: { with: { repo: x } }", [/does not say what it does/, /add `uses: KIND`/]],
  [
    "misspelt uses is read all the same",
    "stages:\n  a: { ‹use›: fetch-issues, with: { repo: x } }",
    [/unknown key `use`/, /`uses`/],
  ],
  ["unknown kind", "stages:\n  a: { uses: ‹fetch-isues› }", [/no stage kind `fetch-isues`/, /did you mean `fetch-issues`/]],
  ["uses with a reference", `params: { k: score }\nstages:\n  a: { uses: ‹"\${params.k}"› }`, [/`uses` can't hold a reference/]],
  [
    "module that was not loaded",
    "stages:\n  a: { uses: ‹./mine.js› }",
    [/the module `\.\/mine\.js` gives no stage kind/, /relative to the pipeline file/],
  ],
  [
    "unknown key of a stage",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x }, ‹retries›: 3 }",
    [/unknown key `retries` in the stage `a`/, /`retry`/],
  ],
  [
    "option beside with",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x }, ‹limit›: 3 }",
    [/unknown key `limit`/, /options of its kind go under `with`/],
  ],
  ["bad stage name", 'stages:\n  ‹"a b"›: { uses: fetch-issues, with: { repo: x } }', [/`a b` can't be the name of a stage/]],
  ["device name", "stages:\n  ‹con›: { uses: fetch-issues, with: { repo: x } }", [/can't be a file name on Windows/]],
  [
    "names that differ in case",
    `${stages(ISSUES)}\n  ‹Issues›: { uses: fetch-issues, with: { repo: x } }`,
    [/differ only in letter case/],
  ],
  // Needs.
  [
    "unknown need",
    `${stages(ISSUES)}\n  links: { uses: resolve-links, needs: ‹isues› }`,
    [/no stage `isues`/, /did you mean `issues`/],
  ],
  [
    "missing need",
    `${stages(ISSUES)}\n  ‹links›: { uses: resolve-links }`,
    [/`links` \(`resolve-links`\) needs a stage that produces `issues`/, /add `needs: issues`/],
  ],
  [
    "missing second need",
    `${stages(DATA)}\n  answers: { uses: query-backend, needs: data, with: { backend: { kind: bm25 } } }\n  s: { uses: score, ‹needs›: [data] }`,
    [/produces `answers`/, /write `needs: \[data, answers\]`/],
  ],
  [
    "missing need that nothing makes",
    "stages:\n  ‹links›: { uses: resolve-links }",
    [/produces `issues`/, /add a stage that uses `fetch-issues`/],
  ],
  [
    "misspelt needs are read all the same",
    `${stages(ISSUES)}\n  links: { uses: resolve-links, ‹need›: issues }`,
    [/unknown key `need`/, /`needs`/],
  ],
  [
    "need that can't be used",
    `${stages(ISSUES, DATA)}\n  links: { uses: resolve-links, needs: [issues, ‹data›] }`,
    [/`data` produces `dataset`, which `resolve-links` can't use/, /it takes `issues`/],
  ],
  [
    "two for one",
    `${stages(ISSUES)}\n  more: { uses: fetch-issues, with: { repo: c/d } }\n  links: { uses: resolve-links, needs: [issues, ‹more›] }`,
    [/takes one stage that produces `issues`, and `issues` is one already/],
  ],
  [
    "twice the same",
    `${stages(ISSUES)}\n  links: { uses: resolve-links, needs: [issues, ‹issues›] }`,
    [/stands in `needs` twice/],
  ],
  ["itself", `${stages(ISSUES)}\n  links: { uses: resolve-links, needs: [issues, ‹links›] }`, [/needs itself/]],
  [
    "needs as a mapping",
    `${stages(ISSUES)}\n  links: { uses: resolve-links, needs: ‹{ a: b }› }`,
    [/expected the name of a stage, found a mapping/],
  ],
  [
    "needs without a name",
    `${stages(ISSUES)}\n  links:\n    uses: resolve-links\n    ‹needs›:`,
    [/expected the name of a stage, found nothing/],
  ],
  ["a number as need", `${stages(ISSUES)}\n  links: { uses: resolve-links, needs: [‹5›] }`, [/found the number 5/]],
  [
    "no follow-up noise of an unknown kind",
    "stages:\n  issues: { uses: ‹fetch-isues› }\n  links: { uses: resolve-links, needs: issues }",
    [/no stage kind/],
  ],
  [
    "no follow-up noise of an unreadable stage",
    "stages:\n  ‹issues›:\n  links: { uses: resolve-links, needs: issues }",
    [/must be a mapping/],
  ],
  [
    "circle",
    "stages:\n  a: { uses: compare, needs: ‹b› }\n  b: { uses: compare, needs: c }\n  c: { uses: compare, needs: a }",
    [/in a circle: `a` -> `b` -> `c` -> `a`/, /remove one/],
  ],
  [
    "two circles",
    "stages:\n  a: { uses: compare, needs: ‹b› }\n  b: { uses: compare, needs: a }\n  c: { uses: compare, needs: ‹d› }\n  d: { uses: compare, needs: c }",
    [/`a` -> `b` -> `a`/],
    [/`c` -> `d` -> `c`/],
  ],
  [
    "wrong need where another is missing",
    `${stages(ISSUES, DATA)}\n  links: { uses: resolve-links, ‹needs›: ‹data› }`,
    [/produces `issues`/, /write `needs: issues`/],
    [/can't use/],
  ],
  // Common options.
  [
    "retry",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x }, retry: ‹-1› }",
    [/`retry`: expected a whole number of attempts.*found the number -1/],
  ],
  [
    "timeout",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x }, timeout: ‹soon› }",
    [/`timeout`: expected a duration such as 90s/],
  ],
  [
    "timeout without unit",
    'stages:\n  a: { uses: fetch-issues, with: { repo: x }, timeout: ‹"90"› }',
    [/duration/, /add the unit: 90s/],
  ],
  [
    "timeout without value",
    "stages:\n  a:\n    uses: fetch-issues\n    with: { repo: x }\n    ‹timeout›:",
    [/`timeout`.*found nothing/],
  ],
  [
    "concurrency",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x }, concurrency: ‹0› }",
    [/at least 1, found the number 0/],
  ],
  ["resource", "stages:\n  a: { uses: fetch-issues, with: { repo: x }, resource: ‹[gpu]› }", [/name of a resource/]],
  ["allow_failures", "stages:\n  a: { uses: fetch-issues, with: { repo: x }, allow_failures: ‹0.5› }", [/a share such as "5%"/]],
  [
    "allow_failures above all",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x }, allow_failures: ‹101%› }",
    [/a share such as "5%"/],
  ],
  [
    "freshness",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x }, freshness: ‹never› }",
    [/`pinned`, `always` or a duration/],
  ],
  [
    "freshness of what fetches nothing",
    `${stages(ISSUES)}\n  d: { uses: build-dataset, needs: issues, ‹freshness›: 1d }`,
    [/`build-dataset` does not/],
  ],
];

describe("each mistake at its place", () => testMistakes(cases));

test("all mistakes of a file come at once, in the order of the file", () => {
  const { text, marks } = unmark(
    [
      "‹nam›: x",
      "params: { limit: ten }",
      "stages:",
      "  issues: { uses: ‹fetch-isues›, retry: ‹many› }",
      `  links: { uses: resolve-links, needs: ‹issue›, with: { ‹limit›: "$\{params.limit}" } }`,
      `  more: { uses: fetch-issues, with: { repo: x, limit: ‹"$\{params.limit}"› }, ‹retries›: 1 }`,
    ].join("\n"),
  );
  expect(mistakesOf(text).map(({ line, column, length }) => ({ line, column, length }))).toEqual(marks);
});

test("a very wrong file gives a bounded number of diagnostics, and says that there are more", () => {
  const text = `stages:\n${Array.from({ length: 400 }, (_, i) => `  s${i}: { uses: nix, foo: 1, bar: 2 }`).join("\n")}`;
  const found = mistakesOf(text);
  expect(found.length).toBe(501);
  expect(found.at(-1)?.message).toBe("700 more mistakes are not shown");
});
