import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scoredCase, scoreMeta, viewScores } from "../../test/rigs/scored-cases.js";
import { measuresOf } from "../stages/measures.js";
import type { Side } from "./align.js";
import { type CompareScope, type CompareSettings, type Comparison, compareRuns, DEFAULT_COMPARE } from "./compare.js";
import type { ScoredCase } from "./contract.js";

const FAST: CompareSettings = { ...DEFAULT_COMPARE, samples: 500 };

/** One hit or miss per character. */
function side(label: string, hits: string, changes: (index: number) => Partial<ScoredCase> = () => ({})): Side {
  const cases = [...hits].map((hit, i) =>
    scoredCase(`c${i}`, hit === "1" ? viewScores(1, 0, 0, { "Hit@5": 1 }) : viewScores(0, 1, 1, { "Hit@5": 0 }), {
      targets: ["src/T.java"],
      ...changes(i),
    }),
  );
  return { label, meta: scoreMeta(cases, { measures: ["P", "R", "F1", "Hit@5"] }), cases };
}

function compared(
  sides: readonly Side[],
  names = ["Hit@5"],
  settings: Partial<CompareSettings> = {},
  scope?: CompareScope,
): Comparison {
  const result = compareRuns(sides, measuresOf(names), { ...FAST, ...settings }, scope);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

function row(sides: readonly Side[], name = "Hit@5", settings: Partial<CompareSettings> = {}) {
  const found = compared(sides, [name], settings).measures[name]?.[0];
  if (found === undefined) throw new Error("no pair");
  return found;
}

describe("a pair", () => {
  const a = side("a", "1100000000");
  const b = side("b", "1011111100");
  test("differs by second minus first, with the cases behind it", () => {
    const found = row([a, b]);
    expect(found).toMatchObject({ run_a: "a", run_b: "b", a: 0.2, b: 0.7, wins: 6, ties: 3, losses: 1, discordant: 7 });
    expect(found.difference).toBeCloseTo(0.5, 12);
    expect(found.gained).toEqual(["c2", "c3", "c4", "c5", "c6", "c7"]);
    expect(found.lost).toEqual(["c1"]);
    // One against six: 2 (C(7,0) + C(7,1)) / 2^7, by either test.
    expect(found.mcnemar).toEqual({ b: 1, c: 6, p: 0.125 });
    expect(found.randomisation).toEqual({ p: 0.125, exact: true });
    expect(found.ci95.lower).toBeGreaterThan(-0.1);
    expect(found.ci95.upper).toBeLessThan(1);
    expect(found.stands).toBe(false);
  });
  test("the other way round is the same with the other sign", () => {
    const [there, back] = [row([a, b]), row([b, a])];
    expect(back.difference).toBeCloseTo(-there.difference, 12);
    expect(back.randomisation).toEqual(there.randomisation);
    expect([back.gained, back.lost]).toEqual([there.lost, there.gained]);
    expect(row([a, b], "Hit@5", { method: "percentile" }).ci95.lower).toBeCloseTo(
      -row([b, a], "Hit@5", { method: "percentile" }).ci95.upper,
      12,
    );
  });
  test("a run differs from itself in nothing", () => {
    const found = row([a, { ...a, label: "again" }]);
    expect(found).toMatchObject({
      difference: 0,
      ci95: { lower: 0, upper: 0 },
      wins: 0,
      losses: 0,
      ties: 10,
      least_p: 1,
      stands: false,
    });
    expect(found.randomisation.p).toBe(1);
    expect([found.cases_needed, found.median_difference]).toEqual([null, null]);
  });
  test("five cases that differ can't be significant, six can", () => {
    expect(row([side("a", "0000011111"), side("b", "1111111111")])).toMatchObject({ least_p: 0.0625, discordant: 5 });
    const six = row([side("a", "0000001111"), side("b", "1111111111")]);
    expect(six.least_p).toBeLessThan(0.05);
    expect(six.randomisation.p).toBe(0.03125);
    expect(six.stands).toBe(true);
  });
  test("the power line follows the normal approximation", () => {
    const found = row([a, b]);
    // Differences: six of 1, one of -1, three of 0: sd 0.7071, (1.95996 + 0.84162) x 0.7071 / sqrt(10).
    expect(found.detectable_difference).toBeCloseTo(0.6264, 3);
    expect(found.cases_needed).toBe(16);
  });
});

describe("pooled measures", () => {
  test("are resampled and swapped as counts, never averaged", () => {
    const counts = (label: string, rows: [number, number, number][]): Side => {
      const cases = rows.map(([tp, fp, fn], i) => scoredCase(`c${i}`, viewScores(tp, fp, fn), { targets: ["x"] }));
      return { label, meta: scoreMeta(cases, { measures: ["P(micro)"] }), cases };
    };
    const a = counts("a", [
      [1, 0, 0],
      [1, 9, 0],
      [0, 0, 3],
    ]);
    const b = counts("b", [
      [1, 0, 0],
      [1, 0, 0],
      [0, 1, 3],
    ]);
    const found = row([a, b], "P(micro)");
    expect(found.a).toBeCloseTo(2 / 11, 12);
    expect(found.b).toBeCloseTo(2 / 3, 12);
    // Two units differ, so there are four patterns; with only the last case swapped they differ even more (1/6 against 1).
    expect(found.randomisation).toEqual({ p: 1, exact: true });
    expect(row([a, { ...b, cases: [...b.cases.slice(0, 2), ...a.cases.slice(2)] }], "P(micro)").least_p).toBe(1);
    expect(found.mcnemar).toBeUndefined();
  });
});

describe("several runs and measures", () => {
  const sides = [side("a", "0000000000"), side("b", "1111111100"), side("c", "1111111111")];
  test("all pairs times all measures are the family", () => {
    const found = compared(sides, ["Hit@5", "R"]);
    expect(found.family).toBe(6);
    expect(found.measures.R?.map(({ run_a, run_b }) => `${run_a}${run_b}`)).toEqual(["ab", "ac", "bc"]);
    const rows = Object.values(found.measures).flat();
    for (const one of rows) expect(one.p_holm).toBeGreaterThanOrEqual(one.randomisation.p);
    expect(Math.max(...rows.map(({ p_holm }) => p_holm))).toBeLessThanOrEqual(1);
  });
  test("fewer pairs are a smaller family", () => {
    expect(compared(sides, ["Hit@5"], {}, { pair: (a) => a === "a" }).family).toBe(2);
  });
  test("asking for another measure changes no interval and no p", () => {
    const { p_holm: _, stands: __, ...alone } = row(sides.slice(0, 2));
    const {
      p_holm: ___,
      stands: ____,
      ...among
    } = compared(sides, ["R", "F1", "Hit@5", "P(micro)"]).measures["Hit@5"]?.[0] ?? { p_holm: 0, stands: false };
    expect(among).toEqual(alone);
  });
});

describe("which cases count", () => {
  test("what failed counts as zero, is named, and the figure without it stands beside", () => {
    const a = side("a", "1111100000");
    const b = side("b", "1111111100", (i) =>
      i < 2 ? { status: "timed_out", outcome: "timed_out", ...viewScores(0, 0, 1, { "Hit@5": 0 }) } : {},
    );
    const found = compared([a, b]);
    expect(found.n).toBe(10);
    expect(found.runs[1]?.failed).toEqual(["c0", "c1"]);
    expect(found.measures["Hit@5"]?.[0]).toMatchObject({
      difference: 0.09999999999999998,
      without_failed: { n: 8, difference: 0.375 },
    });
    expect(found.notes.join("\n")).toMatch(/b has no final answer to 2 of the compared cases; they count as zero: c0, c1/);
  });
  test("what only one side counts is not compared, and named with the reason", () => {
    const a = side("a", "11111");
    const short = side("b", "1110");
    const b = { ...short, cases: short.cases.map((one) => (one.id === "c1" ? { ...one, excluded: "failed" } : one)) };
    const found = compared([a, b]);
    expect(found.n).toBe(3);
    expect(found.left_out).toEqual([
      { id: "c1", counted_by: ["a"], missing_from: [{ run: "b", why: "left out by its rules (failed)" }] },
      { id: "c4", counted_by: ["a"], missing_from: [{ run: "b", why: "not among its cases" }] },
    ]);
    expect(found.notes.join("\n")).toMatch(/2 cases are counted by some of the runs only/);
  });
  test("different data sets are refused, unless told", () => {
    const a = side("a", "1111");
    const b = side("b", "0001");
    const other = { ...b, meta: { ...b.meta, dataset: { ...b.meta.dataset, digest: "2".repeat(64) } } };
    const refused = compareRuns([a, other], measuresOf(["Hit@5"]), FAST);
    expect(refused.ok ? "" : refused.error).toMatch(/different data sets.*a 1111.*b 2222.*--common/);
    expect(compared([a, other], ["Hit@5"], {}, { common: true })).toMatchObject({ n: 4 });
  });
  test("a report that names no data set must have the same cases and targets", () => {
    const unknown = (one: Side): Side => ({ ...one, meta: { ...one.meta, dataset: { ...one.meta.dataset, digest: "" } } });
    expect(compared([side("a", "1111"), unknown(side("b", "0001"))]).n).toBe(4);
    const fewer = compareRuns([side("a", "1111"), unknown(side("b", "000"))], measuresOf(["Hit@5"]), FAST);
    expect(fewer.ok ? "" : fewer.error).toMatch(/b does not say which data set/);
  });
  test("no case in common is an error", () => {
    const a = side("a", "11");
    const b = side("b", "11", (i) => ({ id: `other${i}` }));
    expect(compareRuns([a, b], measuresOf(["Hit@5"]), FAST)).toMatchObject({ ok: false });
  });
});

describe("measures that were not scored", () => {
  const predicting = (label: string, target: string | null) =>
    side(label, "11", () => ({
      predictions: [null, target].map((hit) => ({
        id: null,
        raw: "x",
        path: "x",
        read_by: "json",
        rung: null,
        target: hit,
        ambiguous: false,
      })),
    }));
  test("are made from the stored ranking", () => {
    expect(row([predicting("a", "src/T.java"), predicting("b", null)], "RR")).toMatchObject({ a: 0.5, b: 0 });
  });
  test("or refused where the ranking can't give them", () => {
    const cases: [string, Partial<ScoredCase>][] = [
      ["Judged@5", {}],
      ["R(level=lines)", {}],
      ["RR", { details: { ranking: "lost" } }],
      ["RR", { draws: { count: 3, pool: 9, sizes: [1, 1, 1] } }],
    ];
    for (const [name, changes] of cases) {
      const result = compareRuns([side("a", "11", () => changes), side("b", "10")], measuresOf([name]), FAST);
      expect(result.ok ? "" : result.error).toMatch(/was not scored by .*add it to the measures/);
    }
  });
});

describe("dependence", () => {
  const repository = (i: number) => ({ repository: `o/r${Math.floor(i / 5)}` });
  test("clusters change sides as a whole, and McNemar's test does not apply", () => {
    const a = side("a", "0".repeat(40), repository);
    const b = side("b", "1".repeat(20) + "0".repeat(20), repository);
    const found = row([a, b], "Hit@5", { cluster: "repository" });
    expect(found).toMatchObject({ discordant: 4, least_p: 0.125, randomisation: { p: 0.125, exact: true } });
    expect(found.mcnemar).toBeUndefined();
    const plain = row([a, b]);
    expect(found.ci95.upper - found.ci95.lower).toBeGreaterThan(1.5 * (plain.ci95.upper - plain.ci95.lower));
    expect(compared([a, b], ["Hit@5"], { cluster: "repository" }).notes.join()).toMatch(/8 clusters/);
  });
  test("repeats are averaged for the value and drawn for the interval, and give the noise floor", () => {
    const twice = (label: string, first: string, second: string): Side => {
      const [one, two] = [side(label, first), side(label, second, () => ({ repeat: 1 }))];
      return { ...one, cases: one.cases.flatMap((scored, i) => [scored, ...two.cases.slice(i, i + 1)]) };
    };
    const a = twice("a", "1010101010", "0101010101");
    const b = twice("b", "1111100000", "1111100000");
    const found = compared([a, b]);
    expect(found.measures["Hit@5"]?.[0]).toMatchObject({ a: 0.5, b: 0.5, wins: 5, losses: 5 });
    expect(found.noise.map(({ run, changed, n }) => [run, changed, n])).toEqual([
      ["a", 10, 10],
      ["b", 0, 10],
    ]);
    expect(found.measures["Hit@5"]?.[0]?.mcnemar).toBeUndefined();
  });
  test("two runs that declare the same identity are said to be a null comparison", () => {
    const same = (one: Side): Side => ({ ...one, meta: { ...one.meta, identity: { kind: "bm25" } } });
    expect(compared([same(side("a", "11")), same(side("b", "10"))]).notes.join()).toMatch(/same identity/);
  });
});

test("any two runs: bounds around the difference, p in (0, 1], wins and losses add up", () => {
  const hits = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(hits, hits, fc.constantFrom("percentile" as const, "bca" as const), (left, right, method) => {
      const n = Math.min(left.length, right.length);
      const text = (values: boolean[]) =>
        values
          .slice(0, n)
          .map((hit) => (hit ? "1" : "0"))
          .join("");
      const found = row([side("a", text(left)), side("b", text(right))], "Hit@5", { method, samples: 200 });
      expect(found.wins + found.ties + found.losses).toBe(n);
      expect((found.wins - found.losses) / n).toBeCloseTo(found.difference, 12);
      expect(found.randomisation.p).toBeGreaterThan(0);
      expect(found.randomisation.p).toBeLessThanOrEqual(1);
      expect(found.randomisation.p).toBeCloseTo(found.mcnemar?.p ?? -1, 9);
      expect(found.randomisation.p).toBeGreaterThanOrEqual(found.least_p - 1e-12);
      expect(found.ci95.lower).toBeLessThanOrEqual(found.ci95.upper);
      expect(found.ci95.lower).toBeGreaterThanOrEqual(-1);
      expect(found.ci95.upper).toBeLessThanOrEqual(1);
    }),
    { numRuns: 60 },
  );
});
