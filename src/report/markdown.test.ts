import { describe, expect, test } from "vitest";
import { scoredCase, scoreMeta, viewScores } from "../../test/rigs/scored-cases.js";
import { parseMeasure } from "../measures/registry.js";
import type { ScoredCase, ScoreMeta } from "../scoring/contract.js";
import { DEFAULT_BOOTSTRAP, intervalRows } from "../scoring/intervals.js";
import { summarise } from "../scoring/summary.js";
import { viewsOf } from "../scoring/views.js";
import type { Cell } from "./json.js";
import { markdownReport } from "./markdown.js";

const MEASURES = ["P", "R", "F1"].flatMap((name) => {
  const parsed = parseMeasure(name);
  return parsed.ok ? [parsed.value] : [];
});

function cell(label: string, cases: readonly ScoredCase[], changes: Partial<ScoreMeta> = {}): Cell {
  const meta = scoreMeta(cases, { backend: label, ...changes });
  const rows = intervalRows(viewsOf(cases, meta), MEASURES, DEFAULT_BOOTSTRAP, meta.rules.engine);
  return { label, meta, cases, summary: summarise(cases, meta, MEASURES, { settings: DEFAULT_BOOTSTRAP, rows }) };
}

const corpus = { digest: "c", source: "npm:tool@1.0.0", revision: "1.0.0", files: 3, trees: 1 };
const keyword = { strata: { links: "keyword" } };
const curated = { strata: { links: "curated" } };
const cases = [
  scoredCase("acme/tool#1", viewScores(1, 0, 0), keyword),
  scoredCase("acme/tool#2", viewScores(0, 3, 1), {
    ...curated,
    predictions: [{ id: null, raw: "x", path: null, read_by: "list", rung: null, target: null, ambiguous: true }],
  }),
  scoredCase("acme/tool#3", viewScores(0, 1, 0), {
    ...curated,
    title: "evil | <script>alert(1)</script> `x`",
    url: "https://example.org/acme/tool/issues/3",
    absent_targets: ["src/New.java"],
    all_targets: viewScores(0, 1, 1),
  }),
];

function report(cells: readonly Cell[]): string {
  const definitions = new Map(MEASURES.map(({ name, definition }) => [name, definition]));
  return markdownReport(cells, { generatedAt: "2026-01-01T00:00:00.000Z", datasetFile: null, definitions });
}

function section(text: string, title: string): string {
  const start = text.indexOf(`\n## ${title}`);
  if (start === -1) return "";
  const end = text.indexOf("\n## ", start + 1);
  return text.slice(start, end === -1 ? undefined : end);
}

describe("a run with a system and its baselines", () => {
  const random = cases.map((one) => ({ ...one, expectation: { P: 0.125, R: 0.125, F1: 0.125 } }));
  const text = report([
    cell("random", random, { corpus, kind: "random" }),
    cell("oracle", cases, { corpus, kind: "oracle" }),
    cell("graphrag-local", cases, { corpus, kind: "graphrag", identity: { model: "m", note: "```" } }),
  ]);

  test("shows the system first, its baselines beside it, with intervals and n", () => {
    const rows = section(text, "Figures")
      .split("\n")
      .filter((line) => line.startsWith("| "));
    expect(rows.map((row) => row.split(" | ")[0])).toEqual([
      "| backend",
      "| ---",
      "| graphrag-local",
      "| random (baseline)",
      "| random (baseline), expected",
      "| oracle (self-test)",
    ]);
    expect(rows[2]).toContain("| 2 | 0.500 (0.000-1.000) |");
    expect(rows[4]).toContain("| 2 | 0.125 | 0.125 | 0.125 |");
    expect(section(text, "Figures")).toContain("95 % intervals");
  });

  test("shows outcomes, strata apart, absent targets, and the figures against all targets", () => {
    expect(section(text, "Outcomes")).toContain("| graphrag-local | 2 | 2 | 0 | 0 | 0 |");
    expect(section(text, "Predictions")).toContain("| graphrag-local | list 1 | none 1 | 0 | 0 |");
    expect(section(text, "By links")).toMatch(/\| keyword \| graphrag-local \| 1 † \| 1\.000/);
    expect(section(text, "By links")).toMatch(/\| curated \| graphrag-local \| 1 † \| 0\.000/);
    const absent = section(text, "Targets that the corpus lacks");
    expect(absent).toContain("lacks targets of 1 case; 1 of them have no target left");
    expect(absent).toContain("src/New.java");
    expect(absent.match(/New\.java/g)).toHaveLength(1);
    expect(section(text, "Against all targets")).toContain("| graphrag-local | 3 |");
  });

  test("escapes titles and keeps provenance in fences that hold", () => {
    expect(text).not.toContain("<script>");
    expect(section(text, "Targets that the corpus lacks")).toContain("evil \\| &lt;script&gt;");
    expect(section(text, "How it was made")).toContain("````json");
  });

  test("prints no number with more than three digits", () => {
    expect(text.replace(/`{3,}[\s\S]*?`{3,}/g, "")).not.toMatch(/\d\.\d{4}/);
  });
});

test("lists what failed, and what was left out, by name", () => {
  const failed = scoredCase("acme/tool#4", viewScores(0, 0, 1), {
    status: "timed_out",
    outcome: "timed_out",
    error: "no answer within 180 s | see the log",
  });
  const meta = {
    left_out: [{ what: "records that are no answers", count: 12, examples: ["record 3: no id"] }],
    warnings: ["note <b>"],
  };
  const text = report([cell("llm", [...cases, failed], meta)]);
  expect(section(text, "Failed or without an answer")).toContain("timed out: no answer within 180 s \\| see the log");
  expect(section(text, "Left out")).toContain("llm: 12 records that are no answers: record 3: no id; and 11 more");
  expect(section(text, "Left out")).toContain("note &lt;b&gt;");
  expect(section(text, "Figures")).toContain("| llm, without failed | 2 |");
  expect(text).toContain("Without a corpus only the path rung matches");
});

test("strata: a single one is no table; small ones are marked", () => {
  const many = (links: string, from: number, n: number) =>
    Array.from({ length: n }, (_, i) => scoredCase(`acme/tool#${from + i}`, viewScores(1, 0, 0), { strata: { links } }));
  expect(section(report([cell("llm", many("keyword", 1, 12))]), "By links")).toBe("");
  const two = section(report([cell("llm", [...many("keyword", 1, 10), ...many("curated", 100, 9)])]), "By links");
  expect(two).toContain("| keyword | llm | 10 |");
  expect(two).toContain("| curated | llm | 9 † |");
  expect(two).toContain("† n < 10: read with care.");
  const large = section(report([cell("llm", [...many("keyword", 1, 10), ...many("curated", 100, 10)])]), "By links");
  expect(large).not.toContain("†");
});

test("what several backends share is said once, with their names", () => {
  const undefinedP = [scoredCase("acme/tool#1", viewScores(0, 0, 1)), scoredCase("acme/tool#2", viewScores(1, 0, 0))];
  const shared = {
    warnings: ["source tree: 2 left out (links are not followed): a, b"],
    left_out: [{ what: "records that are no answers", count: 1, examples: ["record 2"] }],
  };
  const text = report([
    cell("one", undefinedP, shared),
    cell("two", undefinedP, { ...shared, warnings: [...shared.warnings, "its own"] }),
    cell("three", cases.slice(0, 2)),
  ]);
  expect(section(text, "Figures")).toContain("(0/0, counted as 0): one, two: P 1.");
  const notes = section(text, "Left out");
  expect(notes).toContain("- one, two: source tree: 2 left out (links are not followed): a, b");
  expect(notes).toContain("- one, two: 1 record that is no answer: record 2");
  expect(notes).toContain("- two: its own");
  expect(notes.match(/links are not followed/g)).toHaveLength(1);
});

test("names of measures in headers are written as they are", () => {
  const names = ["Hit@1", "nDCG(gain=exp)@10", "F1(micro)", "Acc@5"];
  const values = Object.fromEntries(names.map((name) => [name, { value: 0.5, lower: null, upper: null, n: 2, undefined: 0 }]));
  const made = cell("llm", cases.slice(0, 2));
  const text = report([{ ...made, summary: { ...made.summary, measures: values, measure_order: names } }]);
  expect(section(text, "Figures")).toContain("| backend | n | Hit@1 | nDCG(gain=exp)@10 | F1(micro) | Acc@5 |");
  expect(text).not.toContain("&#64;");
});

test("several rule sets in one report: each row names its own", () => {
  const lenient = { rules: { name: "lenient", digest: "", engine: "ladder" as const } };
  const text = report([cell("a-strict", cases), cell("a-lenient", cases, lenient)]);
  expect(section(text, "Figures")).toContain("| a-strict, strict |");
  expect(section(text, "Figures")).toContain("| a-lenient, lenient |");
});

test("a long list is cut, and the cut is said", () => {
  const many = Array.from({ length: 80 }, (_, i) =>
    scoredCase(`acme/tool#${i}`, viewScores(0, 0, 1), { status: "failed", outcome: "failed" }),
  );
  const failures = section(report([cell("llm", many)]), "Failed or without an answer");
  expect(failures).toContain("and 30 more");
  expect(failures.split("\n").filter((line) => line.startsWith("- "))).toHaveLength(51);
});
