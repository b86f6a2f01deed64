import fc from "fast-check";
import { expect, test } from "vitest";
import { scoredCase, scoreMeta, viewScores } from "../../test/rigs/scored-cases.js";
import { measuresOf } from "../stages/measures.js";
import type { ScoredCase } from "./contract.js";
import { clustersOf, designOf } from "./design.js";
import { type BootstrapSettings, DEFAULT_BOOTSTRAP, intervalRows } from "./intervals.js";
import { viewsOf } from "./views.js";

const row = (id: string, repository: string | null, ...changes: string[]) => ({ id, repository, changes });

test("issues that share a pull request are one cluster, also through others", () => {
  const rows = [
    row("a", "x/y", "p1"),
    row("b", "x/y", "p2"),
    row("c", "x/y", "p3", "p1"),
    row("d", "x/y"),
    row("e", "x/y", "p3"),
  ];
  expect(clustersOf(rows, "change")).toEqual([[0, 2, 4], [1], [3]]);
});

test("repositories are clusters; a case of unknown repository is one by itself", () => {
  const rows = [row("a", "x/y"), row("b", null), row("c", "x/y"), row("d", null), row("e", "z/y")];
  expect(clustersOf(rows, "repository")).toEqual([[0, 2], [1], [3], [4]]);
});

test("every case is in exactly one cluster, and a shared change never splits", () => {
  const change = fc.constantFrom("p", "q", "r", "s", "t");
  fc.assert(
    fc.property(fc.array(fc.uniqueArray(change), { maxLength: 20 }), (changes) => {
      const rows = changes.map((own, index) => row(String(index), null, ...own));
      const clusters = clustersOf(rows, "change");
      expect(clusters.flat().sort((a, b) => a - b)).toEqual([...rows.keys()]);
      for (const name of ["p", "q", "r", "s", "t"] as const)
        expect(clusters.filter((members) => members.some((at) => changes[at]?.includes(name))).length).toBeLessThan(2);
    }),
  );
});

test("rows are numbered case by case", () => {
  expect(designOf([row("a", "x"), row("b", "x")], [2, 1], "repository", true)).toEqual({
    cases: [[0, 1], [2]],
    clusters: [[0, 1]],
    drawAnswers: true,
  });
});

function interval(cases: readonly ScoredCase[], settings: Partial<BootstrapSettings>, name = "R") {
  const all = intervalRows(
    viewsOf(cases, scoreMeta(cases)),
    measuresOf(["R", "pass(by=Hit@1)@2"]),
    { ...DEFAULT_BOOTSTRAP, ...settings },
    "ladder",
  );
  const found = all.find((one) => one.view === "headline" && one.name === name);
  if (found?.lower == null || found.upper === null) throw new Error("no interval");
  return { value: found.value, lower: found.lower, upper: found.upper, width: found.upper - found.lower, instead: found.instead };
}

test("a repository whose cases agree widens the interval of all figures", () => {
  const cases = Array.from({ length: 60 }, (_, i) =>
    scoredCase(`c${i}`, viewScores(Math.floor(i / 10) % 2, 0, 1 - (Math.floor(i / 10) % 2)), {
      repository: `o/r${Math.floor(i / 10)}`,
    }),
  );
  for (const name of ["R", "micro.recall"]) {
    expect(interval(cases, { cluster: "repository" }, name).width).toBeGreaterThan(1.8 * interval(cases, {}, name).width);
  }
});

test("cases of a single repository have no interval where repositories are drawn", () => {
  const cases = [0, 1, 1, 0].map((hit, i) => scoredCase(`c${i}`, viewScores(hit, 0, 1 - hit), { repository: "o/r" }));
  for (const name of ["R", "micro.recall"]) {
    const settings = { ...DEFAULT_BOOTSTRAP, cluster: "repository" as const };
    const rows = intervalRows(viewsOf(cases, scoreMeta(cases)), measuresOf(["R"]), settings, "ladder");
    expect(rows.find((one) => one.view === "headline" && one.name === name)).toMatchObject({ lower: null, upper: null });
    expect(interval(cases, {}, name).width).toBeGreaterThan(0);
  }
});

test("answers that differ widen it where they are drawn, and leave the value as it is", () => {
  const cases = Array.from({ length: 40 }, (_, i) =>
    [0, 1].map((repeat) => scoredCase(`c${i}`, viewScores(repeat, 0, 1 - repeat), { repeat })),
  ).flat();
  expect(interval(cases, {})).toMatchObject({ value: 0.5, lower: 0.5, upper: 0.5 });
  expect(interval(cases, { answers: true })).toMatchObject({ value: 0.5 });
  expect(interval(cases, { answers: true }).width).toBeGreaterThan(0.1);
});

test("pass@k is made of a case's answers together", () => {
  const answer = (id: string, repeat: number, hit: number) =>
    scoredCase(id, viewScores(hit, 0, 1 - hit, { "pass(by=Hit@1)@2": hit }), { repeat });
  const cases = [
    answer("a", 0, 1),
    answer("a", 1, 0),
    answer("a", 2, 0),
    answer("b", 0, 0),
    answer("b", 1, 0),
    answer("b", 2, 0),
  ];
  // One right of three: two of them hold it with probability 2/3.
  expect(interval(cases, {}, "pass(by=Hit@1)@2").value).toBeCloseTo(1 / 3, 12);
  expect(interval(cases, { answers: true }, "pass(by=Hit@1)@2").value).toBeCloseTo(1 / 3, 12);
});

test("the method is the one that was asked for, or the row says why not", () => {
  const cases = [0.1, 0.9, 0.95, 1, 0.2, 0.85, 0.99, 0.97].map((value, i) =>
    scoredCase(`c${i}`, viewScores(1, 0, 0, { R: value })),
  );
  expect(interval(cases, { method: "bca" }).instead).toBeUndefined();
  // The values have a tail below: the corrected interval reaches further down.
  expect(interval(cases, { method: "bca" }).lower).toBeLessThan(interval(cases, {}).lower);
  const alike = [1, 2, 3].map((i) => scoredCase(`c${i}`, viewScores(1, 0, 0)));
  expect(interval(alike, { method: "bca" })).toMatchObject({ lower: 1, upper: 1, instead: "every case has the same value" });
  const basic = interval(cases, { method: "basic" });
  expect(basic.lower).toBeCloseTo(2 * (basic.value ?? 0) - interval(cases, {}).upper, 12);
});
