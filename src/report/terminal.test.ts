import { expect, test } from "vitest";
import { scoredCase, scoreMeta, viewScores } from "../../test/rigs/scored-cases.js";
import { parseMeasure } from "../measures/registry.js";
import type { ScoredCase, ScoreMeta } from "../scoring/contract.js";
import { DEFAULT_BOOTSTRAP, intervalRows } from "../scoring/intervals.js";
import { summarise } from "../scoring/summary.js";
import { viewsOf } from "../scoring/views.js";
import { renderTable } from "./terminal.js";

const NAMES = ["P", "R", "F1", "Hit@1", "Hit@5", "R@10", "RR"];

function summaryOf(cases: readonly ScoredCase[], changes: Partial<ScoreMeta> = {}) {
  const meta = scoreMeta(cases, changes);
  const measures = NAMES.flatMap((name) => {
    const parsed = parseMeasure(name);
    return parsed.ok ? [parsed.value] : [];
  });
  const rows = intervalRows(viewsOf(cases, meta), measures, DEFAULT_BOOTSTRAP, meta.rules.engine);
  return summarise(cases, meta, measures, { settings: DEFAULT_BOOTSTRAP, rows });
}

const more = { "Hit@1": 1, "Hit@5": 1, "R@10": 0.5, RR: 1 / 3 };
const cases = [scoredCase("a", viewScores(1, 1, 1, more)), scoredCase("b", viewScores(0, 3, 1))];
const plain = { columns: 80, colour: false };

test("fits the terminal, whatever its width", () => {
  const summaries = { bm25: summaryOf(cases), "graphrag-with-a-very-long-name-that-nobody-would-type": summaryOf(cases) };
  for (const columns of [40, 60, 80, 200]) {
    for (const line of renderTable(summaries, { columns, colour: false }).split("\n"))
      expect(line.length).toBeLessThanOrEqual(columns);
  }
});

test("prints three digits, the interval below its value, and the outcomes", () => {
  const text = renderTable({ bm25: summaryOf(cases) }, { columns: 120, colour: false });
  const [header, values, bounds] = text.split("\n");
  expect(header?.trim().split(/ +/)).toEqual(NAMES);
  expect(values?.trim().split(/ +/)).toEqual(["bm25", "0.250", "0.250", "0.250", "0.500", "0.500", "0.250", "0.167"]);
  expect(bounds?.trim().split(/ +/)[0]).toBe("0.000-0.500");
  expect(text).not.toMatch(/\d\.\d{4}/);
  expect(text).toContain('2 cases scored with the rules "strict".');
  expect(text).toMatch(/cases +answered +abstained +failed\nbm25 +2 +2 +0 +0\n/);
});

test("marks no best value and uses no escape without colour", () => {
  expect(renderTable({ a: summaryOf(cases), b: summaryOf([...cases].reverse()) }, plain)).not.toContain("\u001b");
  // Dim intervals are all that colour adds.
  const coloured = renderTable({ a: summaryOf(cases) }, { columns: 80, colour: true });
  const codes = coloured
    .split("\u001b")
    .slice(1)
    .map((rest) => rest.slice(0, rest.indexOf("m") + 1));
  expect(new Set(codes)).toEqual(new Set(["[2m", "[22m"]));
});

test("says what failed, what was not scored and what was left out", () => {
  const failed = scoredCase("c", viewScores(0, 0, 1), { status: "failed", outcome: "failed" });
  const lost = scoredCase("d", viewScores(0, 0, 0), { absent_targets: ["x"], all_targets: viewScores(0, 0, 1) });
  const left = [{ what: "records", count: 3, examples: [] }];
  const text = renderTable({ llm: summaryOf([...cases, failed, lost], { left_out: left }) }, plain);
  expect(text).toContain("  without failed");
  expect(text).toContain("1 case failed or had no answer: counted as zero.");
  expect(text).toContain("1 case has no target that counts: shown, not scored.");
  expect(text).toContain("The corpus lacks 1 target of 1 case.");
  expect(text).toContain("3 records were left out.");
  expect(text).toContain("There is no corpus");
});

test("shows the expectation of a random ranking beside the draws", () => {
  const expectation = Object.fromEntries(NAMES.map((name) => [name, 0.125]));
  const text = renderTable({ random: summaryOf(cases.map((one) => ({ ...one, expectation }))) }, plain);
  expect(text).toMatch(/\n {2}expected +0\.125/);
});

test("what several backends share is said once, with their names", () => {
  const failed = scoredCase("c", viewScores(0, 0, 1), { status: "failed", outcome: "failed" });
  const text = renderTable(
    { one: summaryOf([...cases, failed]), two: summaryOf([...cases, failed]), three: summaryOf(cases) },
    { columns: 200, colour: false },
  );
  expect(text).toContain("one, two: 1 case failed or had no answer: counted as zero.");
  expect(text.match(/failed or had no answer/g)).toHaveLength(1);
});

test("hostile labels are shown, not obeyed", () => {
  const text = renderTable({ "\u001b[31mred\n\u0007": summaryOf(cases) }, plain);
  expect(text).not.toContain("\u001b");
  expect(text).not.toContain("\u0007");
});

test("no summary, no table", () => {
  expect(renderTable({}, plain)).toBe("");
});

test("one system has its figures by what the texts give away; several have the report", () => {
  const leaking = [
    scoredCase("a", viewScores(1, 0, 0), { strata: { leak: "full" } }),
    scoredCase("b", viewScores(0, 1, 1), { strata: { leak: "none" } }),
  ];
  const text = renderTable({ a: summaryOf(leaking) }, { columns: 120, colour: false });
  expect(text).toMatch(/^ {2}leak none \(n 1\) +0\.000/m);
  expect(text).toMatch(/^ {2}leak full \(n 1\) +1\.000/m);
  expect(text.indexOf("leak none")).toBeLessThan(text.indexOf("leak full"));
  expect(renderTable({ a: summaryOf(leaking), b: summaryOf(leaking) }, plain)).not.toContain("leak");
});
