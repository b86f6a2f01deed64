import { describe, expect, test } from "vitest";
import { scoredCase, viewScores } from "../../test/rigs/scored-cases.js";
import type { ScoredCase } from "../scoring/contract.js";
import { effortOf, effortSection } from "./effort.js";

function answer(changes: Partial<ScoredCase>): ScoredCase {
  return scoredCase("a#1", viewScores(1, 0, 0), changes);
}
const usage = (input: number, cost: number | null) => ({
  input_tokens: input,
  output_tokens: 10,
  reasoning_tokens: null,
  cost_usd: cost,
});

describe("effortOf", () => {
  test("totals and quantiles over the answers that say so", () => {
    const effort = effortOf([
      answer({ seconds: 1, usage: usage(100, 0.01), details: { served_model: "m-1" } }),
      answer({ seconds: 3, usage: usage(200, null), details: { served_model: "m-1" } }),
      answer({ seconds: 2, details: { served_model: "m-2", price: { as_of: "2026-01-01" } } }),
      answer({ status: "unasked" }),
    ]);
    expect(effort).toMatchObject({
      answers: 3,
      latency: { answers: 3, mean: 2, median: 2, p95: expect.closeTo(2.9, 12), max: 3 },
      input_tokens: { total: 300, answers: 2 },
      reasoning_tokens: null,
      cost_usd: { total: 0.01, answers: 1 },
      circumstances: { served_models: { "m-1": 2, "m-2": 1 }, price_dates: { "2026-01-01": 1 } },
    });
  });

  test("nothing is known of nothing", () => {
    expect(effortOf([answer({ status: "unasked", usage: usage(1, 1), seconds: 1 })])).toMatchObject({
      answers: 0,
      latency: null,
      input_tokens: null,
      cost_usd: null,
    });
  });
});

describe("effortSection", () => {
  test("is left out where no answer says anything", () => {
    expect(effortSection([{ name: "x", cases: [answer({})] }])).toBe("");
  });

  test("says unknown where it is, and over how many answers where some do not say", () => {
    const cases = [answer({ seconds: 12.34, usage: usage(1500, 0.5) }), answer({ seconds: 0.5, usage: usage(500, null) })];
    const text = effortSection([{ name: "x", cases }]);
    expect(text).toContain("| x | 2 | 6.42 | 11.7 | 2,000 | 20 | unknown | $0.5000 (1 answer) | $0.5000 |");
  });

  test("warns where several models answered for one", () => {
    const cases = [answer({ seconds: 1, details: { revision: "a|b" } }), answer({ seconds: 1, details: { revision: "c" } })];
    expect(effortSection([{ name: "x", cases }])).toContain("several revisions of the model**: a\\|b (1 answer), c (1 answer)");
  });
});
