import { expect, test } from "vitest";
import type { Summary } from "../scoring/summary-schema.js";
import { checkGates, missedGates, parseGate } from "./gates.js";

function summary(kind: string | null, value: number, lower: number | null = null): Summary {
  return { kind, measures: { "Hit@5": { value, lower, upper: 1, n: 9, undefined: 0 } } } as unknown as Summary;
}

test.each([
  ["Hit@5=0.7", { label: null, measure: "Hit@5", of: "value", threshold: 0.7 }],
  ["success_5 = .7", { label: null, measure: "Hit@5", of: "value", threshold: 0.7 }],
  ["lower(Hit@5)=0.6", { label: null, measure: "Hit@5", of: "lower", threshold: 0.6 }],
  ["bm25:Hit@5=1", { label: "bm25", measure: "Hit@5", of: "value", threshold: 1 }],
  ["bm25:upper(P(micro))=0.5", { label: "bm25", measure: "P(micro)", of: "upper", threshold: 0.5 }],
  ["P(level=function)@5=0.3", { label: null, measure: "P(level=function)@5", of: "value", threshold: 0.3 }],
])("%j", (text, gate) => {
  expect(parseGate(text)).toEqual({ text, ...gate });
});

test.each([
  ["Hit@5", /there is no value/],
  ["Hit@5=", /the value is no number/],
  ["Hit@5=70", /70 is no number from 0 to 1/],
  ["Hti@5=0.7", /did you mean Hit@5\?/],
  [":Hit@5=0.7", /the cell has no name/],
])("%j is refused before anything runs", (text, message) => {
  expect(() => parseGate(text)).toThrow(message);
});

test("a gate without a cell is about the systems, not about baselines and self-tests", () => {
  const cells = { mine: summary("command", 0.8), bm25: summary("bm25", 0.2), empty: summary("empty", 0) };
  expect(checkGates([parseGate("Hit@5=0.7")], cells)).toMatchObject([{ label: "mine", value: 0.8, met: true }]);
  expect(checkGates([parseGate("Hit@5=0.7")], { bm25: summary("bm25", 0.2) })).toMatchObject([{ label: "bm25", met: false }]);
});

test("a figure that is not there is a missed gate", () => {
  const cells = { mine: summary("command", 0.8) };
  for (const text of ["lower(Hit@5)=0.1", "RR=0.1", "other:Hit@5=0.1"]) {
    const results = checkGates([parseGate(text)], cells);
    expect(results.map(({ met }) => met)).toEqual([false]);
    expect(missedGates(results)[0]).toMatch(/has no value/);
  }
  expect(checkGates([parseGate("Hit@5=0")], {})).toMatchObject([{ met: false }]);
});

test("equal is enough, and what is missed is said", () => {
  const cells = { mine: summary("command", 0.7, 0.55) };
  expect(missedGates(checkGates([parseGate("Hit@5=0.7"), parseGate("lower(Hit@5)=0.6")], cells))).toEqual([
    "gate missed: mine: the lower bound of Hit@5 is 0.5500, below 0.6",
  ]);
});
