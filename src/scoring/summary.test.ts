import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scoredCase, scoreMeta, viewScores } from "../../test/rigs/scored-cases.js";
import type { Measure } from "../measures/contract.js";
import { parseMeasure } from "../measures/registry.js";
import type { ScoredCase, ScoreMeta } from "./contract.js";
import { DEFAULT_BOOTSTRAP, intervalRows } from "./intervals.js";
import { summarise } from "./summary.js";
import { summarySchema } from "./summary-schema.js";
import { inOrder, viewsOf } from "./views.js";

function measures(...names: string[]): Measure[] {
  return names.map((name) => {
    const parsed = parseMeasure(name);
    if (!parsed.ok) throw new Error(parsed.error.message);
    return parsed.value;
  });
}

const PRF = measures("P", "R", "F1");

function summaryOf(cases: readonly ScoredCase[], changes: Partial<ScoreMeta> = {}, asked = PRF, settings = DEFAULT_BOOTSTRAP) {
  const meta = scoreMeta(cases, changes);
  const rows = intervalRows(viewsOf(cases, meta), asked, settings, meta.rules.engine);
  return summarise(cases, meta, asked, { settings, rows });
}

describe("headline", () => {
  // The worked example of micro against macro: mean of F1 is .3939, F1 of the pooled counts .25.
  const cases = [
    scoredCase("a", viewScores(1, 0, 0)),
    scoredCase("b", viewScores(1, 9, 0)),
    scoredCase("c", viewScores(0, 0, 3)),
  ];

  test("averages cases and pools counts, each under its own name", () => {
    const { micro, macro, measures: values } = summaryOf(cases);
    expect(micro).toEqual({
      true_positives: 2,
      false_positives: 9,
      false_negatives: 3,
      precision: 2 / 11,
      recall: 2 / 5,
      f1: expect.closeTo(0.25, 12),
    });
    expect(macro.precision).toBeCloseTo((1 + 0.1) / 3, 12);
    expect(macro.recall).toBeCloseTo(2 / 3, 12);
    expect(macro.f1).toBeCloseTo(0.3939, 4);
    expect(values.F1?.value).toBeCloseTo(macro.f1, 12);
  });

  test("counts undefined values as zero and says how many there were", () => {
    const { P } = summaryOf(cases).measures;
    expect(P).toMatchObject({ n: 3, undefined: 1 });
    expect(P?.value).toBeCloseTo((1 + 0.1) / 3, 12);
  });

  test("gives the members of the original the intervals of the measures that equal them", () => {
    const asked = measures("P", "R", "F1", "P(micro)", "R(micro)", "F1(micro)");
    const { confidence_interval_95: interval, measures: values } = summaryOf(cases, {}, asked);
    const bounds = (name: string) => ({ lower: values[name]?.lower, upper: values[name]?.upper });
    expect(interval).toEqual({
      bootstrap_samples: 1000,
      bootstrap_seed: 42,
      micro: { precision: bounds("P(micro)"), recall: bounds("R(micro)"), f1: bounds("F1(micro)") },
      macro: { precision: bounds("P"), recall: bounds("R"), f1: bounds("F1") },
    });
  });

  test("has no 95 % member where another coverage was asked for", () => {
    const summary = summaryOf(cases, {}, PRF, { ...DEFAULT_BOOTSTRAP, level: 0.9 });
    expect(summary.confidence_interval_95).toBeNull();
    expect(summary.measures.R?.lower).not.toBeNull();
  });

  test("is there without a bootstrap, without bounds", () => {
    const meta = scoreMeta(cases);
    const summary = summarise(cases, meta, PRF, null);
    expect(summary.measures.R).toEqual({ value: expect.closeTo(2 / 3, 12), lower: null, upper: null, n: 3, undefined: 0 });
    expect(summary.bootstrap).toBeNull();
    expect(summary.confidence_interval_95).toBeNull();
  });

  test("is null, not zero, where no case counts", () => {
    const summary = summaryOf([scoredCase("a", viewScores(0, 2, 0))]);
    expect(summary.n).toBe(0);
    expect(summary.without_target).toBe(1);
    expect(summary.measures.P).toEqual({ value: null, lower: null, upper: null, n: 0, undefined: 0 });
    expect(summary.outcomes.answered).toBe(0);
    expect(summary.outcomes_without_target.answered).toBe(1);
  });
});

describe("what failed", () => {
  const good = scoredCase("a", viewScores(1, 0, 0));
  const failed = scoredCase("b", viewScores(0, 0, 1), { status: "timed_out", outcome: "timed_out" });
  const unasked = scoredCase("c", viewScores(0, 0, 1), { status: "unasked", outcome: "unasked" });
  const abstained = scoredCase("d", viewScores(0, 0, 1), { outcome: "abstained" });
  const cases = [good, failed, unasked, abstained];

  test("counts as zero in the headline, with its number beside it and the figures without it", () => {
    const summary = summaryOf(cases);
    expect(summary).toMatchObject({ n: 4, failed: 2, abstained: 1, issues_with_errors: 2 });
    expect(summary.measures.R?.value).toBe(0.25);
    expect(summary.without_failed).toMatchObject({ n: 2, measures: { R: { value: 0.5, n: 2 } } });
    expect(summary.outcomes).toMatchObject({ answered: 1, abstained: 1, timed_out: 1, unasked: 1, refused: 0 });
  });

  test("has no second view where nothing failed", () => {
    expect(summaryOf([good, abstained]).without_failed).toBeNull();
  });

  test("is left out where the rules exclude it, and stays in the outcomes", () => {
    const seed = cases.map((one) => (one.status === "completed" ? one : { ...one, excluded: one.status }));
    const summary = summaryOf(seed, { rules: { name: "seed", digest: "", engine: "seed" } });
    expect(summary).toMatchObject({ n: 2, failed: 2, issues_evaluated: 2, without_failed: null });
    expect(summary.measures.R?.value).toBe(0.5);
    expect(summary.outcomes).toMatchObject({ timed_out: 1, unasked: 1 });
  });

  test("without an answer it is left out only if the user asked for that", () => {
    const summary = summaryOf(cases, { only_answered: true });
    expect(summary.n).toBe(3);
    expect(summary.measures.R?.value).toBeCloseTo(1 / 3, 12);
  });
});

describe("views", () => {
  test("repeats of a case are averaged before cases are", () => {
    const twice = [scoredCase("a", viewScores(1, 0, 0)), scoredCase("a", viewScores(0, 1, 1), { repeat: 1 })];
    const summary = summaryOf([...twice, scoredCase("b", viewScores(0, 1, 1))]);
    expect(summary).toMatchObject({ n: 2, repeats: 2, micro: { true_positives: 0.5, false_negatives: 1.5 } });
    expect(summary.measures.R?.value).toBe(0.25);
    expect(summary.outcomes.answered).toBe(3);
  });

  test("a repeat that failed is a zero of its case, and absent from the view without failures", () => {
    const cases = [
      scoredCase("a", viewScores(1, 0, 0)),
      scoredCase("a", viewScores(0, 0, 1), { repeat: 1, status: "failed", outcome: "failed" }),
    ];
    const summary = summaryOf(cases);
    expect(summary.measures.R?.value).toBe(0.5);
    expect(summary.without_failed?.measures.R?.value).toBe(1);
    expect(summary.failed).toBe(1);
  });

  test("a case whose targets the corpus lacks counts against all targets only", () => {
    const lost = scoredCase("b", viewScores(0, 1, 0), { absent_targets: ["new.java"], all_targets: viewScores(0, 1, 1) });
    const summary = summaryOf([scoredCase("a", viewScores(1, 0, 0)), lost]);
    expect(summary).toMatchObject({ n: 1, without_target: 1, absent_targets: 1, with_absent_targets: 1 });
    expect(summary.all_targets).toMatchObject({ n: 2, measures: { R: { value: 0.5 } } });
  });

  test("the second view of the original: cases with a target in the corpus, and its totals", () => {
    const inRepo = (scores: ReturnType<typeof viewScores>, retained: string[], discarded: string[]) => ({
      in_repo_only: { ...scores, retained, discarded },
      absent_targets: discarded,
    });
    const cases = [
      scoredCase("a", viewScores(1, 0, 1), inRepo(viewScores(1, 0, 0), ["x"], ["y"])),
      scoredCase("b", viewScores(0, 1, 1), inRepo(viewScores(0, 1, 0), [], ["z"])),
    ];
    const corpus = { digest: "", source: "folder", revision: null, files: 7, trees: 1 };
    const summary = summaryOf(cases, { corpus, rules: { name: "seed", digest: "", engine: "seed" } });
    expect(summary.in_repo_only).toMatchObject({
      enabled: true,
      issues_with_in_repo_metrics: 2,
      issues_with_in_repo_targets: 1,
      issues_without_in_repo_targets: 1,
      issues_evaluated: 1,
      original_expected_java_files_total: 3,
      retained_expected_java_files_total: 1,
      discarded_expected_java_files_total: 2,
      discarded_expected_java_files_ratio: 2 / 3,
      issues_with_discarded_expected_java_files: 2,
      micro: { true_positives: 1, false_positives: 0, false_negatives: 0 },
      confidence_interval_95: { bootstrap_seed: 43 },
    });
  });

  test("strata stand apart, also with names that could break an object or a view's name", () => {
    const cases = [
      scoredCase("a", viewScores(1, 0, 0), { strata: { links: "keyword", "__proto__=x": "1" } }),
      scoredCase("b", viewScores(0, 0, 1), { strata: { links: "commit", __proto__: "x=1" } as Record<string, string> }),
      scoredCase("c", viewScores(0, 0, 1), { strata: Object.fromEntries([["__proto__", "1"]]) }),
    ];
    const { strata } = summaryOf(cases);
    expect(strata.links?.keyword).toMatchObject({ n: 1, measures: { R: { value: 1 } } });
    expect(strata.links?.commit).toMatchObject({ n: 1, measures: { R: { value: 0 } } });
    expect(Object.keys(strata).sort()).toEqual(["__proto__", "__proto__=x", "links"]);
    expect(({} as Record<string, unknown>)["1"]).toBeUndefined();
  });

  test("cases without an answer take their place in data-set order", () => {
    const cases = [scoredCase("c", viewScores(1, 0, 0)), scoredCase("a", viewScores(1, 0, 0), { repeat: 1 })];
    const unasked = [scoredCase("b", viewScores(0, 0, 1), { status: "unasked" })];
    const first = scoredCase("a", viewScores(0, 1, 1));
    const ordered = inOrder([...cases, first], { order: ["a", "b", "c"], unasked });
    expect(ordered.map(({ id, repeat }) => `${id}${repeat}`)).toEqual(["a0", "a1", "b0", "c0"]);
  });
});

test("expectations are averaged over cases; a case without one leaves none", () => {
  const drawn = (id: string, value: number) =>
    scoredCase(id, viewScores(1, 0, 0), { expectation: { P: value, R: value, F1: null } });
  expect(summaryOf([drawn("a", 0.1), drawn("b", 0.3)]).expectation).toEqual({ P: 0.2, R: 0.2, F1: null });
  expect(summaryOf([drawn("a", 0.1), scoredCase("b", viewScores(1, 0, 0))]).expectation).toBeNull();
});

test("Wilson intervals only where each case says yes or no", () => {
  const asked = measures("R", "Hit@1");
  const hits = [1, 1, 0].map((hit, i) => scoredCase(`c${i}`, viewScores(hit, 0, 1 - hit, { "Hit@1": hit })));
  const summary = summaryOf(hits, {}, asked);
  expect(summary.measures["Hit@1"]?.wilson?.lower).toBeCloseTo(0.2077, 4);
  expect(summary.measures["Hit@1"]?.wilson?.upper).toBeCloseTo(0.9385, 4);
  expect(summary.measures.R).not.toHaveProperty("wilson");
  const drawn = [...hits, scoredCase("d", viewScores(1, 0, 0, { "Hit@1": 0.37 }))];
  expect(summaryOf(drawn, {}, asked).measures["Hit@1"]).not.toHaveProperty("wilson");
});

test("predictions are counted by how they were read and matched", () => {
  const prediction = { id: null, raw: "x", path: null, target: null, ambiguous: false };
  const predictions = [
    { ...prediction, read_by: "json" as const, rung: "path" as const },
    { ...prediction, read_by: "json" as const, rung: null },
  ];
  const scores = viewScores(1, 1, 0);
  const counted = { ...scores, counts: { ...scores.counts, ambiguous: 1, duplicates: 2 } };
  const summary = summaryOf([scoredCase("a", counted, { predictions }), scoredCase("b", counted)]);
  expect(summary).toMatchObject({ read_by: { json: 2 }, matched_by: { path: 1, none: 1 }, ambiguous: 2, duplicates: 4 });
});

test("time and cost are summed over the answers that tell them", () => {
  const cases = [
    scoredCase("a", viewScores(1, 0, 0), { seconds: 1.5, usage: { cost_usd: 0.25 } }),
    scoredCase("b", viewScores(1, 0, 0), { seconds: 0.5, usage: { cost_usd: null } }),
    scoredCase("c", viewScores(1, 0, 0)),
  ];
  const summary = summaryOf(cases);
  expect(summary.seconds).toEqual({ total: 2, answers: 2 });
  expect(summary.cost_usd).toEqual({ total: 0.25, answers: 1 });
});

describe("properties", () => {
  const counts = fc.record({ tp: fc.nat(5), fp: fc.nat(5), fn: fc.nat(5) });
  const manyCases = fc
    .array(counts, { minLength: 1, maxLength: 12 })
    .map((rows) => rows.map(({ tp, fp, fn }, i) => scoredCase(`c${i}`, viewScores(tp, fp, fn))));
  const few = { ...DEFAULT_BOOTSTRAP, samples: 20 };

  test("micro is the ratio of the pooled counts, and every figure lies in its bounds", () => {
    fc.assert(
      fc.property(manyCases, (cases) => {
        const summary = summaryOf(cases, {}, measures("P", "R", "F1", "P(micro)", "R(micro)"), few);
        const scored = cases.filter((one) => one.scored);
        const tp = scored.reduce((sum, one) => sum + one.counts.true_positives, 0);
        const fp = scored.reduce((sum, one) => sum + one.counts.false_positives, 0);
        const fn = scored.reduce((sum, one) => sum + one.counts.false_negatives, 0);
        expect(summary.micro.precision).toBe(tp + fp > 0 ? tp / (tp + fp) : 0);
        expect(summary.micro.recall).toBe(tp + fn > 0 ? tp / (tp + fn) : 0);
        for (const { value, lower, upper, n } of Object.values(summary.measures)) {
          expect(n).toBe(scored.length);
          for (const figure of [value, lower, upper]) {
            if (n === 0) expect(figure).toBeNull();
            else {
              expect(figure).toBeGreaterThanOrEqual(0);
              expect(figure).toBeLessThanOrEqual(1);
            }
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test("the same cases give the same bytes, and what they give is a summary", () => {
    fc.assert(
      fc.property(manyCases, (cases) => {
        const first = summaryOf(cases, {}, PRF, few);
        expect(JSON.stringify(summaryOf(structuredClone(cases), {}, PRF, few))).toBe(JSON.stringify(first));
        expect(summarySchema.parse(first)).toEqual(first);
      }),
      { numRuns: 20 },
    );
  });
});
