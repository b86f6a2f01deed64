import { describe, expect, test } from "vitest";
import { graphOf } from "../../test/rigs/pipeline-marks.js";
import { renderDag } from "./dag.js";
import type { PipelineGraph } from "./model.js";

const graph = graphOf(
  [
    "name: small",
    "stages:",
    "  data: { uses: import-dataset, with: { path: x } }",
    "  answers: { uses: query-backend, needs: data, matrix: { backend: [{ kind: bm25 }, { kind: random }] } }",
    "  scores: { uses: score, needs: [data, answers] }",
    "  report: { uses: report, needs: scores }",
  ].join("\n"),
);
/** Names that no checked file can have: the renderer must not rely on that. */
const hostile: PipelineGraph = {
  ...graph,
  name: 'evil"\n\u001b[31m',
  nodes: graph.nodes.map((node) => (node.label === null ? node : { ...node, label: `"]; end\n<b>${node.label}\\` })),
};

test("text", () => {
  expect(renderDag(graph, "text")).toBe(
    [
      "small: 4 stages, 6 nodes",
      "",
      "  data     import-dataset",
      "  answers  query-backend   <- data",
      "           - bm25",
      "           - random",
      "  scores   score           <- data, answers",
      "           2 cells, one for each of answers",
      "  report   report          <- scores (2 cells joined)",
      "",
    ].join("\n"),
  );
});

test("mermaid", () => {
  expect(renderDag(graph, "mermaid")).toBe(
    [
      "flowchart LR",
      '  n0["data<br/><small>import-dataset</small>"]',
      '  subgraph s1["answers #40;query-backend#41;"]',
      '    n1["bm25"]',
      '    n2["random"]',
      "  end",
      '  subgraph s2["scores #40;score#41;"]',
      '    n3["bm25"]',
      '    n4["random"]',
      "  end",
      '  n5["report<br/><small>report</small>"]',
      "  n0 --> n1",
      "  n0 --> n2",
      "  n0 --> n3",
      "  n1 --> n3",
      "  n0 --> n4",
      "  n2 --> n4",
      "  n3 --> n5",
      "  n4 --> n5",
      "",
    ].join("\n"),
  );
});

test("dot", () => {
  const dot = renderDag(graph, "dot");
  expect(dot).toContain('digraph "small" {');
  expect(dot).toContain('  n0 [label="data\\nimport-dataset"];');
  expect(dot).toContain('  subgraph cluster_1 {\n    label="answers (query-backend)";\n    n1 [label="bm25"];');
  expect(dot).toContain("  n1 -> n3;");
  expect(dot.endsWith("}\n")).toBe(true);
});

describe("labels can't break out of their format", () => {
  test("text has no control characters", () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject here
    expect(renderDag(hostile, "text")).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  test("mermaid and dot have a line for each node and edge, as without", () => {
    for (const format of ["mermaid", "dot"] as const) {
      const [plain, evil] = [renderDag(graph, format), renderDag(hostile, format)];
      expect(evil.split("\n")).toHaveLength(plain.split("\n").length);
    }
    expect(renderDag(hostile, "dot")).toContain('n1 [label="\\"]; end·<b>bm25\\\\"];');
    expect(renderDag(hostile, "mermaid")).toContain('n1["#34;#93;#59; end·#60;b#62;bm25#92;"]');
  });
});
