/** What of the page needs no browser. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { pageCells } from "../../../test/rigs/scored-page.js";
import { pageParts } from "./collect.js";
import { comparedCells, WORK_OF_A_STAGE } from "./compared.js";
import { changeOf, differenceOf, type Filter, filtered, haystack } from "./page/filter.js";
import { csvLine, signed } from "./page/format.js";
import { formatState, parseState, VIEWS } from "./page/state.js";

const { table } = pageParts(pageCells(60, false), { generatedAt: null, datasetFile: null }, { comparisons: [], note: null });
const ALL: Filter = {
  ...{ q: "", cell: 0, other: -1, measure: 0, outcome: "", stratum: "", targets: "", change: "", score: "", sort: "dataset" },
};
const find = (changes: Partial<Filter>) => filtered(table, haystack(table), { ...ALL, ...changes });

test("an address says its view and comes back", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...VIEWS),
      fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1 })),
      (view, params) => {
        const state = parseState(formatState(view, params));
        expect(state.view).toBe(view);
        expect(new Map(Object.entries(state.params))).toEqual(new Map(Object.entries(params)));
      },
    ),
  );
  expect(parseState("#/nowhere?x=1").view).toBe("overview");
  expect(parseState("").view).toBe("overview");
});

test("filters: each narrows, together they narrow more", () => {
  expect(find({}).length).toBe(60);
  expect(find({ q: "#7 TITLE" })).toEqual([6]);
  expect(find({ q: "#60" })).toEqual([59]);
  expect(find({ cell: 1, outcome: "failed" })).toEqual([3, 13, 23, 33, 43, 53]);
  expect(find({ stratum: "leak=names-file" }).length).toBe(15);
  expect(find({ stratum: "leak=names-file", q: "1" }).length).toBeLessThan(15);
  expect(find({ targets: "1" }).length).toBe(60);
  expect(find({ targets: "5+" }).length).toBe(0);
  expect(find({ outcome: "no such outcome" })).toEqual([]);
  for (const name of ["__proto__", "constructor"]) expect(find({ targets: name, stratum: `${name}=x` })).toEqual([]);
  const [zero, partial, full] = ["zero", "partial", "full"].map((score) => find({ score, measure: 1 }).length) as [
    number,
    number,
    number,
  ];
  expect(zero + partial + full).toBe(60);
  expect(Math.min(zero, partial, full)).toBeGreaterThan(0);
});

test("worst first is the reverse of best first, but for ties", () => {
  const values = (order: number[]) => order.map((index) => table.cells[0]?.values[1]?.[index] ?? 0);
  expect(values(find({ sort: "worst", measure: 1 }))).toEqual(values(find({ sort: "best", measure: 1 })).reverse());
});

test("gained and lost are those that the comparison counts as won and lost", () => {
  const { comparisons } = comparedCells(pageCells(60, false), WORK_OF_A_STAGE);
  const rows = comparisons[0]?.measures.RR ?? [];
  expect(rows.length).toBe(1);
  const changes = table.ids.flatMap((_, index) => changeOf(differenceOf(table, 0, 1, 1, index) ?? 0));
  expect(changes.filter((change) => change === "gained").length).toBe(rows[0]?.wins);
  expect(changes.filter((change) => change === "lost").length).toBe(rows[0]?.losses);
  expect(find({ other: 1, measure: 1, change: "lost" }).length).toBe(rows[0]?.losses);
});

test("more cases than can be compared in time are not compared, and the page says how to", () => {
  const { comparisons, note } = comparedCells(pageCells(60, false), 1_000);
  expect(comparisons).toEqual([]);
  expect(note).toContain("bench compare");
  const some = comparedCells(pageCells(60, false), 1_300_000);
  expect(some.comparisons[0]?.measure_order).toEqual(["Hit@5", "RR"]);
  expect(some.note).toContain("Hit@5, RR");
});

test("CSV: what a spreadsheet would compute is text; signs are typographic", () => {
  expect(csvLine(["=1+1", 'a"b', "x,y", -1, null])).toBe(`'=1+1,"a""b","x,y",-1,\r\n`);
  expect([signed(0.5), signed(-0.25), signed(-0.0001)]).toEqual(["+0.500", "−0.250", "0.000"]);
});
