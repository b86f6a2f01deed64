import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { bench, folderWith } from "../../test/rigs/bench-command.js";
import { hitCases, reportText } from "../../test/rigs/report-files.js";

const NAME = (label: string) => `runs/r1/acme__tool__${label}_eval__20260101T000000Z.json`;

function project(): string {
  return folderWith({
    "pipelines/.keep": "",
    [NAME("alpha")]: reportText("alpha", hitCases("1100000000")),
    [NAME("beta")]: reportText("beta", hitCases("1111111100")),
    [NAME("gamma")]: reportText("gamma", hitCases("1111111111")),
    "runs/r1/results.json": JSON.stringify({ cells: ["gamma", "alpha", "beta"].map((label) => ({ label })) }),
    "other.json": reportText("alpha", hitCases("1111"), {
      dataset: {
        digest: "9".repeat(64),
        project_name: "acme/tool",
        url: null,
        cases: 4,
        selected: 4,
        notes: [],
        links: null,
        extensions: null,
        scanned: null,
        audit: [],
      },
    }),
  });
}

async function json(folder: string, ...argv: string[]) {
  const { exit, stdout, stderr } = await bench(folder, ["compare", "--samples", "200", ...argv, "--json"]);
  if (exit !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

describe("bench compare", () => {
  test("compares two cells of a run, as JSON", async () => {
    const found = await json(project(), "runs/r1:alpha", "runs/r1:beta", "--measures", "Hit@1,RR");
    expect(found).toMatchObject({ n: 10, family: 2, measure_order: ["Hit@1", "RR"] });
    const [row] = found.measures["Hit@1"];
    expect(row).toMatchObject({ a: 0.2, b: 0.8, wins: 6, ties: 4, losses: 0, mcnemar: { b: 0, c: 6, p: 0.03125 } });
    expect(row.gained).toEqual([2, 3, 4, 5, 6, 7].map((i) => `acme/tool#${i}`));
    expect(row.difference).toBeCloseTo(0.6, 12);
    expect(row.p_holm).toBe(0.0625);
    // Not scored, but made from the stored ranking.
    expect(found.measures.RR[0].b).toBeCloseTo(0.8, 12);
  });

  test("as a fragment of HTML: bold only what stands against all, and nothing of strangers but text", async () => {
    const folder = project();
    const html = await bench(folder, ["compare", "runs/r1", "--samples", "200", "--measures", "Hit@1", "--format", "html"]);
    expect(html.exit, html.stderr).toBe(0);
    expect(html.stdout).toMatch(/^<section class="bench-comparison">[\s\S]*<\/section>\n$/);
    // gamma is the best of all three and stands against alpha alone.
    expect(html.stdout).toContain('<th scope="row"><sup>a</sup> gamma</th><td>1.000<sup>b</sup></td>');
    expect(html.stdout).not.toContain("<strong>");
    expect(html.stdout).not.toMatch(/<script|https?:|src=|@import|url\(/);
    const two = await bench(folder, ["compare", "runs/r1:alpha", "runs/r1:gamma", "--measures", "Hit@1", "--html", "out/c.html"]);
    expect(two.exit, two.stderr).toBe(0);
    expect(readFileSync(join(folder, "out/c.html"), "utf8")).toContain("<strong>1.000</strong><sup>a</sup>");
  });

  test("--format gives the same as the files, and names what it knows", async () => {
    const folder = project();
    const argv = ["compare", "runs/r1:alpha", "runs/r1:beta", "--samples", "200", "--latex", "t.tex", "--markdown", "t.md"];
    const latex = await bench(folder, [...argv, "--format", "latex"]);
    expect(latex.stdout).toBe(readFileSync(join(folder, "t.tex"), "utf8"));
    const markdown = await bench(folder, [...argv, "--format", "markdown"]);
    expect(markdown.stdout).toBe(readFileSync(join(folder, "t.md"), "utf8"));
    const wrong = await bench(folder, [...argv, "--format", "pdf"]);
    expect([wrong.exit, wrong.stderr]).toEqual([2, expect.stringContaining("choose text, json, markdown, latex, html")]);
  });

  test("a run's cells are compared in the order of its pipeline", async () => {
    const found = await json(project(), "runs/r1", "--measures", "Hit@1");
    expect(found.runs.map(({ label }: { label: string }) => label)).toEqual(["gamma", "alpha", "beta"]);
    expect(found.family).toBe(3);
    const against = await json(project(), "runs/r1", "--measures", "Hit@1", "--baseline", "alpha");
    expect(against.measures["Hit@1"].map(({ run_a, run_b }: Record<string, string>) => [run_a, run_b])).toEqual([
      ["alpha", "gamma"],
      ["alpha", "beta"],
    ]);
  });

  test("two runs of several cells are compared cell by cell", async () => {
    const folder = project();
    const found = await json(folder, "runs/r1", "./runs/r1", "--measures", "Hit@1");
    expect(found.measures["Hit@1"].map(({ run_a, run_b }: Record<string, string>) => [run_a, run_b])).toEqual(
      ["gamma", "alpha", "beta"].map((label) => [`runs/r1:${label}`, `./runs/r1:${label}`]),
    );
  });

  test("the table marks what stands, and Markdown is written where asked", async () => {
    const folder = project();
    const { exit, stdout } = await bench(folder, [
      "compare",
      "runs/r1",
      "--measures",
      "Hit@1",
      "--samples",
      "200",
      "--markdown",
      "out.md",
    ]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^a gamma {2}1\.000 b\nb alpha {2}0\.200\nc beta {3}0\.800$/m);
    expect(stdout).toMatch(/Hit@1: can't be significant with 2 cases that differ \(the least p is 0\.500\)/);
    expect(stdout).toMatch(/Hit@1: with 10 cases a difference of 0\.\d{3} would be found/);
    expect(stdout).toMatch(/adjusted over 3 tests/);
    const markdown = readFileSync(join(folder, "out.md"), "utf8");
    expect(markdown).toContain("| a | gamma | 1.000 <sup>b</sup> |");
    expect(markdown).not.toContain("**");
  });

  test.each([
    [["runs/r1:alpha"], /is a single cell/],
    [["runs/r1:alhpa", "runs/r1:beta"], /no cell "alhpa"; did you mean runs\/r1:alpha\?/],
    [["nowhere", "runs/r1:beta"], /no run "nowhere"/],
    [["runs/r1:alpha", "other.json"], /different data sets.*--common/s],
    [["runs/r1:alpha", "runs/r1:beta", "--measures", "wombat"], /no measure "wombat"/],
    [["runs/r1:alpha", "runs/r1:beta", "--measures", "Judged@5"], /alpha was not scored by Judged@5/],
    [["runs/r1:alpha", "runs/r1:beta", "--method", "magic"], /choose percentile, basic, bca/],
    [["runs/r1:alpha", "runs/r1:beta", "--alpha", "5"], /between 0 and 1/],
    [["runs/r1", "--baseline", "delta"], /none of the runs/],
  ])("%j is refused with advice", async (argv, message) => {
    const { exit, stdout, stderr } = await bench(project(), ["compare", ...argv]);
    expect([exit, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  test("different data sets compare by their common cases where told", async () => {
    expect(await json(project(), "runs/r1:beta", "other.json", "--common", "--measures", "Hit@1")).toMatchObject({ n: 4 });
  });

  test("resamples that were written give the same bounds, and others give others", async () => {
    const folder = project();
    const measures = ["runs/r1:alpha", "runs/r1:beta", "--measures", "Hit@1"];
    const bounds = (found: { measures: Record<string, { ci95: unknown }[]> }) => found.measures["Hit@1"]?.[0]?.ci95;
    const drawn = await json(folder, ...measures, "--seed", "7", "--samples", "50", "--export-resamples", "resamples.json");
    const given = await json(folder, ...measures, "--resamples", "resamples.json");
    expect(bounds(given)).toEqual(bounds(drawn));
    expect(bounds(given)).not.toEqual(bounds(await json(folder, ...measures)));
    expect(given.settings.samples).toBe(50);
    const rows: number[][] = JSON.parse(readFileSync(join(folder, "resamples.json"), "utf8"));
    expect([rows.length, rows[0]?.length]).toEqual([50, 10]);
    const outside = folderWith({ "bad.json": "[[0,1,2]]", "worse.json": "[[0,1,2,3,4,5,6,7,8,10]]" });
    for (const [file, message] of [
      ["bad.json", /resample 1 has 3 indices/],
      ["worse.json", /names 10, and the indices go from 0 to 9/],
    ] as const) {
      const { exit, stderr } = await bench(folder, ["compare", ...measures, "--resamples", join(outside, file)]);
      expect(exit).toBe(2);
      expect(stderr).toMatch(message);
    }
  });

  test("the same command gives the same bytes", async () => {
    const folder = project();
    const once = await bench(folder, ["compare", "runs/r1", "--json", "--samples", "300"]);
    expect(await bench(folder, ["compare", "runs/r1", "--json", "--samples", "300"])).toEqual(once);
  });
});

/** What the original program writes, cut to what is read of it. */
function original(rows: readonly (readonly [tp: number, fp: number, fn: number, status?: string])[]): string {
  const issues = rows.map(([tp, fp, fn, status = "ok"], index) => {
    const [precision, recall] = [tp + fp > 0 ? tp / (tp + fp) : 0, tp + fn > 0 ? tp / (tp + fn) : 0];
    return {
      issue_number: index + 1,
      issue_title: "t",
      status,
      expected_java_files: Array.from({ length: tp + fn }, (_, i) => `F${i}.java`),
      predicted_classes: [],
      true_positives: tp,
      false_positives: fp,
      false_negatives: fn,
      precision,
      recall,
      f1: precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0,
    };
  });
  return JSON.stringify({ project_name: "Acme/Tool", benchmark_source_file: "m.json", summary: {}, issues });
}

test("reports of the original program: set measures only, errors named and not compared", async () => {
  const folder = folderWith({
    "acme__tool__graphrag_eval__20260101T000000Z.json": original([
      [1, 1, 0],
      [0, 0, 1],
      [1, 0, 1],
    ]),
    "acme__tool__random_eval__20260101T000000Z.json": original([
      [0, 1, 1],
      [0, 1, 1],
      [0, 0, 2, "error"],
    ]),
  });
  const [a, b] = ["acme__tool__graphrag_eval__20260101T000000Z.json", "acme__tool__random_eval__20260101T000000Z.json"] as const;
  const found = await json(folder, a, b);
  expect(found.runs.map(({ label }: { label: string }) => label)).toEqual(["graphrag", "random"]);
  expect(found.measure_order).toEqual(["P", "R", "F1", "P(micro)", "R(micro)", "F1(micro)"]);
  expect(found.n).toBe(2);
  expect(found.left_out).toEqual([
    { id: "acme/tool#3", counted_by: ["graphrag"], missing_from: [{ run: "random", why: "left out by its rules (failed)" }] },
  ]);
  expect(found.measures.R[0]).toMatchObject({ a: 0.5, b: 0 });
  const ranked = await bench(folder, ["compare", a, b, "--measures", "Hit@5"]);
  expect(ranked.stderr).toMatch(/was not scored by Hit@5/);
});

const shared = resolve(import.meta.dirname, "../../../shared/data/vectors/statistics.json");
test.skipIf(!existsSync(shared))("exact p values are SciPy's", async () => {
  const { mcnemar_exact }: { mcnemar_exact: { b: number; c: number; p: number }[] } = JSON.parse(readFileSync(shared, "utf8"));
  for (const { b, c, p } of mcnemar_exact.filter((one) => one.b + one.c > 0)) {
    const folder = folderWith({
      "a.json": reportText("a", hitCases("1".repeat(b) + "0".repeat(c))),
      "b.json": reportText("b", hitCases("0".repeat(b) + "1".repeat(c))),
    });
    const found = await json(folder, "a.json", "b.json", "--measures", "Hit@1");
    expect(found.measures["Hit@1"][0].mcnemar).toMatchObject({ b, c });
    expect(Math.abs(found.measures["Hit@1"][0].mcnemar.p - p)).toBeLessThan(1e-12);
  }
});
