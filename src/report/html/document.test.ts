import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HOSTILE, pageCells } from "../../../test/rigs/scored-page.js";
import { pageParts } from "./collect.js";
import { curveOf } from "./curves.js";
import { htmlReport, withRun } from "./document.js";
import type { RunFacts } from "./page-data.js";

const ASSETS = { script: "void 0;\n", style: "p { color: red }\n" };
const FACTS = { generatedAt: null, datasetFile: null };
const NONE = { comparisons: [], note: null };
const COURSE: RunFacts = {
  ...{ id: "r", pipeline: "p", command: "c", state: "done", startedAt: "2026-12-01T00:00:00Z", finishedAt: null, counts: {} },
  ...{ nodes: [], waits: [], retries: 0, warnings: ["</script><!-- $& $` $'"], length: 1 },
};

function blockOf(page: string, id: string): string {
  return new RegExp(`<script type="[a-z/]+" id="${id}">([^<]*)</script>`).exec(page)?.[1] ?? "";
}

test("a text can't end its block: as many end tags as blocks, whatever the texts", () => {
  const plain = htmlReport(pageParts(pageCells(60, false), FACTS, NONE), ASSETS);
  const page = htmlReport(pageParts(pageCells(60, true), FACTS, NONE), ASSETS);
  const tags = (text: string) => text.match(/<[a-z/!]+/gi);
  expect(tags(page)).toEqual(tags(plain));
  const data = JSON.parse(blockOf(page, "data"));
  expect(data.cells[0].warnings).toEqual(HOSTILE);
  const details = JSON.parse(inflateSync(Buffer.from(blockOf(page, "block-1"), "base64")).toString());
  expect(details.length).toBe(10);
  expect(details[0].prompts[0].text).toBe(`${HOSTILE[50 % HOSTILE.length]}\n\nBody`);
});

test("the policy names exactly the script and the style, and nothing else may run or be fetched", () => {
  const page = htmlReport(pageParts(pageCells(3, false), FACTS, NONE), ASSETS);
  const sha = (text: string) => createHash("sha256").update(text).digest("base64");
  expect(page).toContain(
    `content="default-src 'none'; script-src 'sha256-${sha(ASSETS.script)}'; style-src 'sha256-${sha(ASSETS.style)}'; base-uri 'none'; form-action 'none'"`,
  );
  expect(page).not.toMatch(/unsafe|https?:[^"]*\.(?:js|css|woff)/);
});

test("equal cells give equal bytes, and a run is put in once, whatever it says", () => {
  const make = () => htmlReport(pageParts(pageCells(60, true), FACTS, NONE), ASSETS);
  const page = make();
  expect(make()).toBe(page);
  const complete = withRun(page, COURSE);
  expect(JSON.parse(blockOf(complete, "run"))).toEqual(COURSE);
  expect(withRun(complete, { ...COURSE, id: "other" })).toBe(complete);
  expect(withRun(page, null)).toBe(page);
});

test("any title of a project is text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const parts = pageParts(pageCells(1, false), FACTS, NONE);
      const page = htmlReport({ ...parts, data: { ...parts.data, title: name } }, ASSETS);
      const [, title = ""] = /<title>([^<]*): benchmark report<\/title>/.exec(page) ?? [];
      const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };
      expect(title.replace(/&(?:amp|lt|gt|quot);/g, (entity) => entities[entity] ?? "")).toBe(name);
      expect(JSON.parse(blockOf(page, "data")).title).toBe(name);
    }),
    { numRuns: 50 },
  );
});

test("long texts are cut, and the length of the whole is told", () => {
  const [cell] = pageCells(2, false);
  if (cell === undefined) throw new Error("no cell");
  const long = `${"x".repeat(19_999)}\u{1f600}tail`;
  const cases = cell.cases.map((one, index) => (index === 0 ? { ...one, raw_response: long } : one));
  const { blocks, data } = pageParts([{ ...cell, cases }], FACTS, NONE);
  const answer = blocks[0]?.[0]?.cells[0]?.[0];
  // Not through the middle of the smiling face.
  expect([answer?.text.length, answer?.length]).toEqual([19_999, long.length]);
  expect(data.cut).toEqual({ limit: 20_000, texts: 1 });
});

test("the curves agree with the measures of their names", () => {
  for (const { cases, meta, summary } of pageCells(60, false)) {
    const curve = curveOf(cases, meta);
    expect(curve?.recall[9]).toBeCloseTo(summary.measures["R@10"]?.value ?? -1, 4);
    expect(curve?.precision[4]).toBeCloseTo(summary.measures["P@5"]?.value ?? -1, 4);
  }
  const [cell] = pageCells(3, false);
  const drawn = (cell?.cases ?? []).map((one) => ({ ...one, draws: { count: 2, pool: 9, sizes: [1, 1] } }));
  expect(cell && curveOf(drawn, cell.meta)).toBe(null);
});

test("the table holds each cell's value of each case, and which of them count", () => {
  const cells = pageCells(20, false);
  const { table } = pageParts(cells, FACTS, NONE);
  expect(table.ids.length).toBe(20);
  for (const [position, cell] of cells.entries()) {
    const columns = table.cells[position];
    const { value = null } = cell.summary.measures["Hit@5"] ?? {};
    const counted = (columns?.values[0] ?? []).filter((_, index) => columns?.counted[index] === 1);
    expect(counted.reduce<number>((sum, one) => sum + (one ?? 0), 0) / counted.length).toBeCloseTo(value ?? -1, 9);
    expect(columns?.outcome.map((at) => table.outcomes[at])).toEqual(cell.cases.map(({ outcome }) => outcome));
  }
});
