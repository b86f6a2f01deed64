// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in pipeline files are the subject here
/** From a file without mistakes to the graph. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import * as z from "zod";
import { testKinds } from "../../test/rigs/pipeline-kinds.js";
import { graphOf, mistakesOf } from "../../test/rigs/pipeline-marks.js";
import { canonicalJson } from "../base/json.js";
import type { CheckedPipeline } from "./check.js";

const BENCHMARK = `
# A benchmark of four backends.
params: { repo: stleary/JSON-java, limit: 200, rules: strict }
stages:
  issues:    { uses: fetch-issues, with: { repo: "\${params.repo}", limit: "\${params.limit}" } }
  links:     { uses: resolve-links, needs: issues, freshness: 1d }
  dataset:   { uses: build-dataset, needs: [issues, links], with: { extensions: [.java], links: closing } }
  sources:   { uses: checkout, needs: dataset, with: { git: "https://github.com/\${params.repo}", at: base } }
  answers:
    uses: query-backend
    needs: [dataset, sources]
    allow_failures: 5%
    matrix:
      backend:
        - { kind: graphrag, dir: ../graphrag, method: local }
        - { kind: graphrag, dir: ../graphrag, method: drift }
        - { kind: bm25, top: 15 }
        - { kind: random, draws: 100 }
  scores:    { uses: score, needs: [dataset, sources, answers], with: { rules: "\${params.rules}", measures: "P,Hit@5" } }
  intervals: { uses: bootstrap, needs: scores }
  report:    { uses: report, needs: [scores, intervals] }
`;
const ids = (graph: CheckedPipeline): string[] => graph.nodes.map(({ id }) => id);
const node = (graph: CheckedPipeline, id: string) => {
  const found = graph.nodes.find((each) => each.id === id);
  if (found === undefined) throw new Error(`no node ${id} among ${ids(graph).join(" ")}`);
  return found;
};
/** All that the graph says but where its stages stand in the file. */
const meaning = (graph: CheckedPipeline): string =>
  canonicalJson({
    params: graph.params,
    name: graph.name,
    nodes: [...graph.nodes].sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ line: _, ...rest }) => rest),
  });

describe("a benchmark", () => {
  const graph = graphOf(BENCHMARK, { file: "pipelines/json-java.yaml" });

  test("every cell is a node, and cells flow on until they are joined", () => {
    const labels = ["graphrag-local", "graphrag-drift", "bm25", "random"];
    const cells = (stage: string) => labels.map((label) => `${stage}[${label}]`);
    expect(ids(graph)).toEqual([
      "issues",
      "links",
      "dataset",
      "sources",
      ...cells("answers"),
      ...cells("scores"),
      ...cells("intervals"),
      "report",
    ]);
    expect(node(graph, "scores[bm25]").needs).toEqual(["dataset", "sources", "answers[bm25]"]);
    expect(node(graph, "intervals[random]").needs).toEqual(["scores[random]"]);
    expect(node(graph, "report").needs).toEqual([...cells("scores"), ...cells("intervals")]);
  });

  test("configurations are complete: references put in, defaults filled, transforms applied", () => {
    expect(node(graph, "issues").config).toEqual({ repo: "stleary/JSON-java", limit: 200 });
    expect(node(graph, "sources").config).toEqual({ git: "https://github.com/stleary/JSON-java", at: "base" });
    expect(node(graph, "answers[random]").config).toEqual({ backend: { kind: "random", draws: 100, seed: 42 }, repeats: 1 });
    expect(node(graph, "scores[bm25]").config).toEqual({ rules: "strict", measures: ["P", "Hit@5"] });
  });

  test("common options, defaults and lines", () => {
    const defaults = {
      retry: 2,
      timeout: null,
      concurrency: null,
      resource: null,
      allowFailures: { count: 0 },
      freshness: "pinned",
    };
    expect(node(graph, "issues").common).toEqual(defaults);
    expect(node(graph, "links").common.freshness).toBe(86_400);
    expect(node(graph, "answers[bm25]").common.allowFailures).toEqual({ share: 0.05 });
    expect(node(graph, "answers[bm25]").line).toBe(9);
  });

  test("name, file, folder and parameters", () => {
    expect(graph).toMatchObject({ name: "json-java", file: "pipelines/json-java.yaml", folder: "/project/pipelines" });
    expect(graph.params).toEqual({ repo: "stleary/JSON-java", limit: 200, rules: "strict" });
    expect(graph.warnings).toEqual([]);
    expect(graphOf(`name: my run\n${BENCHMARK}`).name).toBe("my run");
    expect(graphOf(BENCHMARK, { file: "C:\\work\\x.yml" }).name).toBe("x");
  });

  test("each node comes after those that it needs", () => {
    const seen = new Set<string>();
    for (const each of graph.nodes) {
      for (const need of each.needs) expect(seen).toContain(need);
      seen.add(each.id);
    }
  });
});

describe("what changes nothing", () => {
  test("a comment, a blank line, another style", () => {
    const commented = BENCHMARK.replaceAll("\n", " # note\n\n");
    expect(meaning(graphOf(commented))).toBe(meaning(graphOf(BENCHMARK)));
  });

  test("a moved key, anywhere, also a moved stage", () => {
    const pipeline = {
      params: { a: 1, b: "x" },
      stages: {
        issues: { uses: "fetch-issues", with: { repo: "${params.b}", limit: "${params.a}" }, retry: 1, timeout: "1h" } as object,
        data: { needs: "issues", uses: "build-dataset", with: { grades: { y: 1, x: 2 }, out: "o" } },
        answers: {
          uses: "query-backend",
          needs: ["data"],
          matrix: {
            backend: [
              { kind: "bm25", top: 1 },
              { top: 2, kind: "bm25" },
            ],
          },
        },
        scores: { uses: "score", needs: ["data", "answers"] },
      },
    };
    const expected = meaning(graphOf(stringify(pipeline)));
    const shuffled = (value: unknown, random: () => number): unknown => {
      if (Array.isArray(value)) return value.map((item) => shuffled(item, random));
      if (typeof value !== "object" || value === null) return value;
      const members = Object.entries(value).map(([key, inner]) => ({ key, inner: shuffled(inner, random), at: random() }));
      return Object.fromEntries(members.sort((a, b) => a.at - b.at).map(({ key, inner }) => [key, inner]));
    };
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (numbers) => {
        const text = stringify(shuffled(pipeline, () => numbers.next().value ?? 0));
        expect(meaning(graphOf(text))).toBe(expected);
      }),
      { numRuns: 50 },
    );
  });
});

describe("matrices", () => {
  const data = "  data: { uses: import-dataset, with: { path: x } }";

  test("several keys multiply, the first slowest", () => {
    const graph = graphOf(
      `stages:\n${data}\n  a: { uses: query-backend, needs: data, with: { backend: { kind: bm25 } }, matrix: { repeats: [1, 2], prompt: [x, y] } }`,
    );
    expect(ids(graph)).toEqual(["data", "a[1-x]", "a[1-y]", "a[2-x]", "a[2-y]"]);
    expect(node(graph, "a[2-x]").config).toEqual({ backend: { kind: "bm25", top: 15 }, repeats: 2, prompt: "x" });
  });

  test("two matrices multiply, the same one pairs", () => {
    const graph = graphOf(
      [
        "stages:",
        "  data: { uses: import-dataset, matrix: { path: [d1, d2] } }",
        "  trees: { uses: checkout, needs: data }",
        "  answers: { uses: query-backend, needs: [data, trees], matrix: { backend: [{ kind: bm25 }, { kind: random }] } }",
        "  scores: { uses: score, needs: [data, trees, answers], matrix: { rules: [strict, seed] } }",
        "  report: { uses: report, needs: scores }",
      ].join("\n"),
    );
    expect(ids(graph).filter((id) => id.startsWith("answers"))).toEqual([
      "answers[d1-bm25]",
      "answers[d1-random]",
      "answers[d2-bm25]",
      "answers[d2-random]",
    ]);
    expect(node(graph, "answers[d2-bm25]").needs).toEqual(["data[d2]", "trees[d2]"]);
    expect(node(graph, "scores[d2-random-seed]").needs).toEqual(["data[d2]", "trees[d2]", "answers[d2-random]"]);
    expect(node(graph, "report").needs).toHaveLength(8);
    expect(node(graph, "report").label).toBeNull();
  });

  test("a joining stage with cells of its own takes the cells that agree with it", () => {
    const kinds = new Map(testKinds);
    kinds.set("summary", {
      kind: "summary",
      summary: "",
      config: z.strictObject({}),
      produces: "report",
      consumes: { dataset: "one", scores: "some" },
    });
    const graph = graphOf(
      [
        "stages:",
        "  data: { uses: import-dataset, matrix: { path: [d1, d2] } }",
        "  answers: { uses: query-backend, needs: data, matrix: { backend: [{ kind: bm25 }, { kind: random }] } }",
        "  scores: { uses: score, needs: [data, answers] }",
        "  sum: { uses: summary, needs: [data, scores] }",
      ].join("\n"),
      { kinds },
    );
    expect(node(graph, "sum[d2]").needs).toEqual(["data[d2]", "scores[d2-bm25]", "scores[d2-random]"]);
  });

  test("a matrix value can be referred to, here and downstream, with its members", () => {
    const graph = graphOf(
      [
        "stages:",
        data,
        "  answers:",
        "    uses: query-backend",
        "    needs: data",
        "    timeout: ${matrix.limit.seconds}",
        '    with: { prompt: "top ${matrix.backend.top}" }',
        "    matrix:",
        "      backend: [{ kind: bm25, top: 3 }, { kind: bm25, top: 5 }]",
        "      limit: [{ name: slow, seconds: 60 }]",
        '  scores: { uses: score, needs: [data, answers], with: { measures: ["Hit@${matrix.backend.top}"] } }',
      ].join("\n"),
    );
    expect(ids(graph)).toEqual([
      "data",
      "answers[bm25-3-slow]",
      "answers[bm25-5-slow]",
      "scores[bm25-3-slow]",
      "scores[bm25-5-slow]",
    ]);
    // `limit` is only referred to, so it is no option of the kind.
    expect(node(graph, "answers[bm25-5-slow]").config).toEqual({
      backend: { kind: "bm25", top: 5 },
      repeats: 1,
      prompt: "top 5",
    });
    expect(node(graph, "answers[bm25-5-slow]").common.timeout).toBe(60);
    expect(node(graph, "scores[bm25-3-slow]").config).toEqual({ measures: ["Hit@3"], rules: "strict" });
  });

  test("a name is the label; it stays in the configuration only where the schema knows it", () => {
    const graph = graphOf(
      `stages:\n${data}\n  a: { uses: query-backend, needs: data, matrix: { backend: [{ name: Best One, kind: bm25 }, { name: GR, kind: graphrag, dir: x }] } }`,
    );
    expect(ids(graph)).toEqual(["data", "a[best-one]", "a[gr]"]);
    expect(node(graph, "a[best-one]").config).toEqual({ backend: { kind: "bm25", top: 15 }, repeats: 1 });
    expect(node(graph, "a[gr]").config).toEqual({
      backend: { kind: "graphrag", name: "GR", dir: "x", method: "local" },
      repeats: 1,
    });
  });

  test("a matrix may be a parameter's list; a single backend has no label", () => {
    const text = `params: { b: [{ kind: bm25 }, { kind: random }] }\nstages:\n${data}\n  a: { uses: query-backend, needs: data, matrix: { backend: "\${params.b}" } }\n  one: { uses: query-backend, needs: data, with: { backend: { kind: bm25 } } }`;
    expect(ids(graphOf(text))).toEqual(["data", "a[bm25]", "a[random]", "one"]);
    expect(ids(graphOf(text, { set: ["b=[{kind: bm25, top: 2}]"] }))).toEqual(["data", "a[bm25]", "one"]);
  });

  test("equal cells are warned of", () => {
    const graph = graphOf(
      `stages:\n${data}\n  a: { uses: query-backend, needs: data, matrix: { backend: [{ kind: bm25 }, { kind: bm25 }] } }`,
    );
    expect(ids(graph)).toEqual(["data", "a[bm25]", "a[bm25-2]"]);
    expect(graph.warnings).toMatchObject([
      { severity: "warning", line: 3, message: "values 1 and 2 of `backend` are equal: the same work under two labels" },
    ]);
  });

  test("cells that multiply beyond reason are refused, and the rest is still checked", () => {
    const wide = (name: string) => `[${Array.from({ length: 40 }, (_, index) => `${name}${index}`)}]`;
    const found = mistakesOf(
      `stages:\n  data: { uses: import-dataset, matrix: { path: ${wide("d")} } }\n  a: { uses: query-backend, needs: data, matrix: { prompt: ${wide("p")} }, with: { backend: { kind: bm25 } } }\n  z: { uses: nix }`,
    );
    expect(found.map(({ line, message }) => [line, message])).toEqual([
      [3, "the matrices that reach the stage `a` multiply to too many cells: at most 1000 cells are allowed"],
      [4, "there is no stage kind `nix`"],
    ]);
  });
});

describe("user modules and schemas", () => {
  test("a stage kind given under a path is a kind like others", () => {
    const kinds = new Map(testKinds);
    kinds.set("./mine.js", { kind: "mine", summary: "", config: z.looseObject({}), produces: "report", consumes: {} });
    expect(graphOf("stages: { a: { uses: ./mine.js, with: { any: 1 } } }", { kinds }).nodes[0]).toMatchObject({
      kind: "mine",
      config: { any: 1 },
    });
  });

  test.each([
    [
      "throws",
      z.unknown().refine(() => {
        throw new Error("boom");
      }),
      /could not be applied: boom/,
    ],
    ["waits", z.unknown().refine(async () => true), /could not be applied/],
    ["makes what is not JSON", z.unknown().transform(() => new Map()), /is not JSON: an object of class Map/],
  ])("a schema that %s is a mistake with a place, not a crash", (_, config, message) => {
    const kinds = new Map([["mine", { kind: "mine", summary: "", config, produces: "report", consumes: {} }]]);
    expect(mistakesOf("stages:\n  a: { uses: mine }", { kinds })).toMatchObject([
      { line: 2, column: 3, message: expect.stringMatching(message) },
    ]);
  });

  test("an issue of a user's schema may carry a suggestion", () => {
    const config = z.strictObject({
      x: z
        .string()
        .superRefine((_, context) => context.addIssue({ code: "custom", message: "odd", params: { suggestion: "even" } })),
    });
    const kinds = new Map([["mine", { kind: "mine", summary: "", config, produces: "report", consumes: {} }]]);
    expect(mistakesOf("stages:\n  a: { uses: mine, with: { x: y } }", { kinds })).toMatchObject([
      { column: 31, message: "`x`: odd", suggestion: "even" },
    ]);
  });
});
