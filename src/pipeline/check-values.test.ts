/** Mistakes in values: options of a kind, cells of a matrix, references. Exactly the marked places are reported. */
import { describe } from "vitest";
import { type MistakeCase as Case, testMistakes } from "../../test/rigs/pipeline-marks.js";

const ISSUES = "  issues: { uses: fetch-issues, with: { repo: a/b } }";
const DATA = "  data: { uses: import-dataset, with: { path: x.json } }";
const stages = (...lines: string[]): string => ["stages:", ...lines].join("\n");

const cases: Case[] = [
  // Options of the kind.
  [
    "unknown option",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x, ‹limt›: 3 } }",
    [/unknown option `limt`/, /did you mean `limit`/],
  ],
  [
    "unknown option like none",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x, ‹zzzzzz›: 3 } }",
    [/unknown option `zzzzzz`/, /there are `repo`, `limit` and `revision`/],
  ],
  [
    "missing option",
    "stages:\n  a: { uses: fetch-issues, ‹with›: { limit: 3 } }",
    [/`repo` is missing: expected text/, /add `repo: …`/],
  ],
  ["missing option without with", "stages:\n  ‹a›: { uses: fetch-issues }", [/`repo` is missing/]],
  [
    "text for a number",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x, limit: ‹ten› } }",
    [/`limit`: expected a number, found the text "ten"/],
  ],
  [
    "quoted number",
    'stages:\n  a: { uses: fetch-issues, with: { repo: x, limit: ‹"10"› } }',
    [/expected a number, found the text "10"/, /without quotes/],
  ],
  [
    "number for text",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x, revision: ‹0012345› } }",
    [/expected text, found the number 0012345/, /put it in quotes: "0012345"/],
  ],
  [
    "fraction",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x, limit: ‹1.5› } }",
    [/expected a whole number, found the number 1\.5/],
  ],
  [
    "too small",
    "stages:\n  a: { uses: fetch-issues, with: { repo: x, limit: ‹0› } }",
    [/expected a number greater than 0, found the number 0/],
  ],
  [
    "empty text",
    'stages:\n  a: { uses: import-dataset, with: { path: ‹""› } }',
    [/expected text that is not empty, found an empty text/],
  ],
  ["nothing", "stages:\n  a:\n    uses: fetch-issues\n    with:\n      ‹repo›:", [/`repo`: expected text, found nothing/]],
  [
    "one for a list",
    `${stages(ISSUES)}\n  d: { uses: build-dataset, needs: issues, with: { extensions: ‹.java› } }`,
    [/expected a list, found the text "\.java"/, /\[\.java\]/],
  ],
  [
    "wrong item",
    `${stages(ISSUES)}\n  d: { uses: build-dataset, needs: issues, with: { extensions: [.java, ‹5›] } }`,
    [/item 2 of `extensions`: expected text/],
  ],
  [
    "yes for true",
    `${stages(ISSUES)}\n  d: { uses: build-dataset, needs: issues, with: { strict: ‹yes› } }`,
    [/expected true or false/, /write true or false/],
  ],
  [
    "wrong choice",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, with: { backend: { kind: bm25 } } }\n  s: { uses: score, needs: [data, a], with: { rules: ‹stirct› } }`,
    [/one of `strict`, `lenient` or `seed`/, /`strict`/],
  ],
  [
    "wrong choice among forms",
    `${stages(ISSUES)}\n  d: { uses: build-dataset, needs: issues, with: { links: ‹closng› } }`,
    [/one of `closing` or `mentions`, or a list/, /`closing`/],
  ],
  [
    "wrong item in one of the forms",
    `${stages(ISSUES)}\n  d: { uses: build-dataset, needs: issues, with: { links: [‹keywrd›] } }`,
    [/item 1 of `links`: expected one of/, /`keyword`/],
  ],
  [
    "rule of the schema over several options",
    `${stages(ISSUES)}\n  d: { uses: build-dataset, needs: issues, ‹with›: { strict: true, links: mentions } }`,
    [/^strict data sets have no mentions$/],
  ],
  [
    "value of a free mapping",
    `${stages(ISSUES)}\n  d: { uses: build-dataset, needs: issues, with: { grades: { constructor: ‹x› } } }`,
    [/`constructor`: expected a number/],
  ],
  ["with as a list", "stages:\n  a: { uses: fetch-issues, with: ‹[repo]› }", [/expected a mapping of options, found a list/]],
  [
    "writing outside",
    `${stages(ISSUES)}\n  d: { uses: build-dataset, needs: issues, with: { out: ‹../../x› } }`,
    [/must stay inside the project/],
  ],
  // Backends, told apart by `kind`.
  [
    "unknown backend",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, with: { backend: { kind: ‹bm52› } } }`,
    [/^there is no `kind` "bm52"$/, /`bm25`/],
  ],
  [
    "backend without kind",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, with: { ‹backend›: { top: 3 } } }`,
    [/`kind` is missing/, /`graphrag`, `bm25`, `random`/],
  ],
  [
    "option of another backend",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, with: { backend: { kind: bm25, ‹draw›: 3 } } }`,
    [/unknown option `draw` in `backend`/, /there are `kind` and `top`/],
  ],
  [
    "backend as a text",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, with: { backend: ‹bm25› } }`,
    [/expected a mapping, found the text "bm25"/],
  ],
  // Matrix.
  [
    "matrix that is a list",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, ‹matrix›: [1] }`,
    [/expected a mapping of lists, found a list/],
  ],
  [
    "matrix without keys",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, ‹matrix›: {}, with: { backend: { kind: bm25 } } }`,
    [/`matrix` is empty/],
  ],
  [
    "matrix with one value",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, matrix: { repeats: ‹3› }, with: { backend: { kind: bm25 } } }`,
    [/expected a list of values, found the number 3/],
  ],
  [
    "matrix with an empty list",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, matrix: { ‹repeats›: [] }, with: { backend: { kind: bm25 } } }`,
    [/found an empty list/],
  ],
  [
    "matrix and with",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, matrix: { ‹repeats›: [1, 2] }, with: { repeats: 1, backend: { kind: bm25 } } }`,
    [/`repeats` stands in `matrix` and in `with`/],
  ],
  [
    "matrix key that is no option",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, matrix: { ‹repeat›: [1, 2] }, with: { backend: { kind: bm25 } } }`,
    [/unknown option `repeat`/, /`repeats`/],
  ],
  [
    "mistakes inside cells, the shared one once",
    `${stages(DATA)}\n  a:\n    uses: query-backend\n    needs: data\n    with: { ‹repeat›: 2 }\n    matrix:\n      backend:\n        - { kind: bm25, top: ‹x› }\n        - { kind: ‹nix› }\n        - ‹{ kind: graphrag }›\n        - { kind: random, ‹dir›: y }`,
    [/unknown option `repeat`/],
    [/`top`: expected a number/],
    [/no `kind` "nix"/],
    [/`dir` is missing/],
    [/unknown option `dir`/],
  ],
  [
    "cells without end",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, ‹matrix›: { repeats: [${Array.from({ length: 40 }, (_, i) => i + 1)}], prompt: [${Array.from({ length: 40 }, (_, i) => `p${i}`)}] }, with: { backend: { kind: bm25 } } }`,
    [/makes 1600 cells; at most 1000/],
  ],
  // References.
  [
    "unknown parameter",
    `params: { repo: x }\nstages:\n  a: { uses: fetch-issues, with: { repo: "‹$\{params.rpo}›" } }\n  b: { uses: fetch-issues, with: { repo: "$\{params.repo}" } }`,
    [/no parameter `rpo`/, /`repo`/],
  ],
  [
    "no parameters at all",
    `stages:\n  a: { uses: fetch-issues, with: { repo: "x/‹$\{params.repo}›" } }`,
    [/no parameter `repo`/, /declare it/],
  ],
  [
    "unset variable",
    `stages:\n  a: { uses: fetch-issues, with: { repo: "‹$\{env.REPO}›" } }`,
    [/environment variable `REPO` is not set/, /set REPO/],
  ],
  ["open reference", `stages:\n  a: { uses: fetch-issues, with: { repo: "x‹$\{params.repo›" } }`, [/not closed/, /literal/]],
  [
    "something else in braces",
    `stages:\n  a: { uses: fetch-issues, with: { repo: "‹$\{HOME}›" } }`,
    [/`\$\{HOME\}` is not a reference \(did you mean \$\{params\.HOME\} or \$\{env\.HOME\}\?\)/, /write \$\$\{/],
  ],
  [
    "two references, both wrong",
    `stages:\n  a: { uses: fetch-issues, with: { repo: "‹$\{env.A}›/‹$\{env.A}›" } }`,
    [/`A`/],
    [/`A`/],
  ],
  [
    "matrix value without a matrix",
    `stages:\n  a: { uses: fetch-issues, with: { repo: "‹$\{matrix.repo}›" } }`,
    [/no matrix value `repo` here/, /`a` has no matrix/],
  ],
  [
    "misspelt matrix value",
    `${stages(DATA)}\n  a: { uses: query-backend, needs: data, matrix: { repeats: [1, 2] }, with: { backend: { kind: bm25 }, prompt: "‹$\{matrix.repeat}›" } }`,
    [/no matrix value `repeat`/, /`repeats`/],
  ],
  [
    "reference in a key",
    `params: { k: x }\n${stages(ISSUES)}\n  d: { uses: build-dataset, needs: issues, with: { grades: { ‹"$\{params.k}"›: 1 } } }`,
    [/in values only, not in keys/],
  ],
  [
    "list inside a text",
    `params: { l: [a] }\nstages:\n  a: { uses: fetch-issues, with: { repo: "x‹$\{params.l}›" } }`,
    [/is a list, which can't be put inside a text/],
  ],
  [
    "wrong type from a parameter",
    `params: { l: ten }\nstages:\n  a: { uses: fetch-issues, with: { repo: x, limit: ‹"$\{params.l}"› } }`,
    [/expected a number, found the text "ten" \(from \$\{params\.l\}\)/],
  ],
  [
    "parameter that must be set",
    `params: { ‹repo›: }\nstages:\n  a: { uses: fetch-issues, with: { repo: "$\{params.repo}" } }`,
    [/`repo` must be set/, /--set repo=VALUE/],
  ],
  [
    "parameters that refer to each other",
    `params: { a: "$\{params.b}", b: "‹$\{params.a}›" }\nstages:\n  s: { uses: fetch-issues, with: { repo: "$\{params.a}" } }`,
    [/refers to itself/],
  ],
  [
    "params as a list",
    `params: ‹[a]›\nstages:\n  s: { uses: fetch-issues, with: { repo: "$\{params.a}" } }`,
    [/expected a mapping of parameters/],
  ],
  ["bad parameter name", `params: { ‹a.b›: 1 }\n${stages(ISSUES)}`, [/can't be the name of a parameter/]],
];

describe("each mistake at its place", () => testMistakes(cases));
