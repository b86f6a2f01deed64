import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { type SeedRow, type SeedSummary, seedInRepoSummary, seedSummary } from "./seed-bootstrap.js";

function row(tp: number, fp: number, fn: number): SeedRow {
  const precision = tp + fp > 0 ? tp / (tp + fp) : 0;
  const recall = tp + fn > 0 ? tp / (tp + fn) : 0;
  const f1 = precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0;
  return { tp, fp, fn, precision, recall, f1 };
}

const ROWS = [row(1, 0, 0), row(1, 9, 0), row(0, 0, 3), row(2, 1, 5), row(0, 2, 1), row(3, 3, 0), row(0, 0, 0)];

/** Micro P, R, F1, then macro: [lower, upper]. */
function bounds(summary: SeedSummary): number[][] {
  const interval = summary.confidence_interval_95;
  if (interval === null) return [];
  return [interval.micro, interval.macro].flatMap(({ precision, recall, f1 }) =>
    [precision, recall, f1].map(({ lower, upper }) => [lower, upper]),
  );
}

/** Made with CPython 3.11's generator on ROWS; equal to the last digit. */
test.each([
  [
    200,
    42,
    [
      [0.13039971949509116, 0.75],
      [0.21428571428571427, 1],
      [0.18181818181818182, 0.5714285714285714],
      [0.09999999999999999, 0.5857142857142856],
      [0.18367346938775508, 0.8571428571428571],
      [0.11415584415584418, 0.5813636363636364],
    ],
  ],
  [
    1000,
    7,
    [
      [0.11764705882352941, 0.6365259740259739],
      [0.16666666666666666, 0.9230769230769231],
      [0.16, 0.5999999999999999],
      [0.08571428571428572, 0.6095238095238095],
      [0.18367346938775508, 0.8571428571428571],
      [0.08311688311688312, 0.606926406926407],
    ],
  ],
  [
    1,
    42,
    [
      [0.29411764705882354, 0.29411764705882354],
      [0.7692307692307693, 0.7692307692307693],
      [0.4255319148936171, 0.4255319148936171],
      [0.4571428571428572, 0.4571428571428572],
      [0.8571428571428571, 0.8571428571428571],
      [0.528138528138528, 0.528138528138528],
    ],
  ],
])("%i samples, seed %i", (samples, seed, expected) => {
  expect(bounds(seedSummary(ROWS, { samples, seed }))).toEqual(expected);
});

test("members are named as the original names them", () => {
  const summary = seedSummary(ROWS);
  expect(summary.issues_evaluated).toBe(7);
  expect(summary.micro).toEqual({
    true_positives: 7,
    false_positives: 15,
    false_negatives: 9,
    precision: 0.3181818181818182,
    recall: 0.4375,
    f1: 0.3684210526315789,
  });
  expect(summary.macro).toEqual({ precision: 0.3238095238095238, recall: 0.4693877551020408, f1: 0.3212121212121212 });
  expect(summary.confidence_interval_95).toMatchObject({ bootstrap_samples: 1000, bootstrap_seed: 42 });
});

test("no row: zeros and no interval; no sample counts as one", () => {
  expect(seedSummary([])).toEqual({
    issues_evaluated: 0,
    micro: { true_positives: 0, false_positives: 0, false_negatives: 0, precision: 0, recall: 0, f1: 0 },
    macro: { precision: 0, recall: 0, f1: 0 },
    confidence_interval_95: null,
  });
  expect(seedSummary(ROWS, { samples: 0 })).toEqual(seedSummary(ROWS, { samples: 1 }));
});

test("the second view leaves out rows without a target in the repository, and draws with seed + 1", () => {
  const view = seedInRepoSummary(
    [
      ...ROWS.map((inRepo) => ({ expected: 4, inRepo: { ...inRepo, expected: 3 } })),
      { expected: 2, inRepo: { ...row(0, 5, 0), expected: 0 } },
      { expected: 9, inRepo: null },
    ],
    { samples: 333, seed: 42 },
  );
  expect(view).toMatchObject({
    enabled: true,
    issues_with_in_repo_metrics: 8,
    issues_with_in_repo_targets: 7,
    issues_without_in_repo_targets: 1,
    issues_evaluated: 7,
    original_expected_java_files_total: 30,
    expected_java_files_total: 30,
    retained_expected_java_files_total: 21,
    expected_java_files_in_repo_total: 21,
    discarded_expected_java_files_total: 9,
    discarded_expected_java_files_ratio: 0.3,
    issues_with_discarded_expected_java_files: 8,
    micro: { false_positives: 15 },
    confidence_interval_95: { bootstrap_samples: 333, bootstrap_seed: 43 },
  });
  expect(bounds(view)).toEqual([
    [0.12974358974358974, 0.75],
    [0.17391304347826086, 1],
    [0.1818181818181818, 0.6326153846153844],
    [0.09000000000000001, 0.6595238095238093],
    [0.14285714285714285, 0.7551020408163265],
    [0.08675324675324675, 0.6285714285714287],
  ]);
  expect(seedInRepoSummary([{ expected: 2, inRepo: null }])).toMatchObject({
    enabled: false,
    discarded_expected_java_files_ratio: 0,
    confidence_interval_95: null,
  });
});

const folder = resolve(import.meta.dirname, "../../../shared/data/vectors/seed-rules");

test.skipIf(!existsSync(folder))("the original's summaries of three projects, to 1e-12", () => {
  const rows = new Map<string, SeedRow[]>();
  for (const line of readFileSync(`${folder}/answers.jsonl`, "utf8").trim().split("\n")) {
    const { project, true_positives: tp, false_positives: fp, false_negatives: fn, precision, recall, f1 } = JSON.parse(line);
    rows.set(project, [...(rows.get(project) ?? []), { tp, fp, fn, precision, recall, f1 }]);
  }
  const summaries: Record<string, SeedSummary> = JSON.parse(readFileSync(`${folder}/summary.json`, "utf8"));
  expect(Object.keys(summaries).length).toBe(3);
  for (const [project, expected] of Object.entries(summaries)) {
    const summary = seedSummary(rows.get(project) ?? []);
    expect(numbers(summary).map(([name]) => name)).toEqual(numbers(expected).map(([name]) => name));
    for (const [i, [name, value]] of numbers(expected).entries()) {
      const mine = numbers(summary)[i]?.[1] ?? Number.NaN;
      expect(Math.abs(mine - value), `${project} ${name}`).toBeLessThan(1e-12);
    }
  }
});

/** All numbers of a record, with their paths, in an order of their own. */
function numbers(value: unknown, path = ""): [string, number][] {
  if (typeof value === "number") return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .flatMap(([name, member]) => numbers(member, `${path}.${name}`))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
