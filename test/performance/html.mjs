// The page of a run with 10,000 cases in Chromium: until the first view stands (goal 1.5 s), and until a filter has been applied (goal 100 ms).
//   node test/performance/html.mjs
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseMeasures } from "../../dist/measures/registry.js";
import { htmlPage } from "../../dist/report/html/page.js";
import { summarise } from "../../dist/scoring/summary.js";

const CASES = 10_000;
const ROUNDS = 5;
const tools = process.env.BENCH_TEST_BROWSER_TOOLS;
const require = createRequire(tools === undefined ? import.meta.url : join(tools, "package.json"));
const program = [process.env.BENCH_TEST_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
  (path) => path !== undefined && existsSync(path),
);

let playwright = null;
try {
  playwright = require.resolve("playwright-core");
} catch {
  // Said below.
}
if (program === undefined || playwright === null) {
  console.log("page of 10,000 cases: skipped, no Chromium or no playwright-core");
} else {
  const { chromium } = (await import(pathToFileURL(playwright).href)).default;
  const folder = mkdtempSync(join(tmpdir(), "bench-html-"));
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  try {
    const file = join(folder, "report.html");
    const cells = ["alpha", "beta"].map(cell);
    const began = performance.now();
    const text = htmlPage(cells, { generatedAt: null, datasetFile: null }, { work: "stage" });
    const made = performance.now() - began;
    writeFileSync(file, text);
    const first = [];
    const filter = [];
    for (let round = 0; round < ROUNDS; round++) {
      const page = await browser.newPage();
      const start = performance.now();
      await page.goto(pathToFileURL(file).href);
      await page.waitForSelector("table.figures");
      first.push(performance.now() - start);
      await page.goto(`${pathToFileURL(file).href}#/cases`);
      await page.waitForSelector("[role=gridcell]");
      filter.push(
        await page.evaluate(() => {
          const input = document.querySelector("input[type=search]");
          const from = performance.now();
          input.value = "title 77";
          input.dispatchEvent(new Event("input"));
          // Layout too, not only the rows.
          document.querySelector("[role=grid]").getBoundingClientRect();
          return performance.now() - from;
        }),
      );
      await page.close();
    }
    const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
    console.log(
      `page of ${CASES} cases x 2: first view ${(median(first) / 1000).toFixed(2)} s (goal 1.5), filter ${median(filter).toFixed(0)} ms (goal 100); ${(text.length / 1e6).toFixed(1)} MB, made in ${(made / 1000).toFixed(1)} s`,
    );
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function cell(backend, shift) {
  const names = ["Hit@5", "RR", "P", "R"];
  const cases = Array.from({ length: CASES }, (_, index) => {
    const place = (index * 7 + shift) % 12;
    const found = place < 10;
    const scores = {
      counts: {
        true_positives: Number(found),
        false_positives: 10 - Number(found),
        false_negatives: Number(!found),
        ambiguous: 0,
        duplicates: 0,
      },
      ...{ precision: found ? 0.1 : 0, recall: Number(found), f1: found ? 0.18 : 0 },
      measures: { "Hit@5": Number(place < 5), RR: found ? 1 / (place + 1) : 0, P: found ? 0.1 : 0, R: Number(found) },
    };
    const predictions = Array.from({ length: 10 }, (_, rank) => {
      const path = `src/main/java/org/acme/part${rank}/File${index % 500}.java`;
      return {
        ...{ id: null, raw: path, path, read_by: "json", rung: "path" },
        target: rank === place ? path : null,
        ambiguous: false,
      };
    });
    return {
      ...scores,
      ...{
        id: `acme/tool#${index}`,
        repeat: 0,
        backend,
        number: index,
        title: `Title ${index} of something that went wrong`,
        url: null,
      },
      ...{ strata: { size: index % 2 === 0 ? "small" : "large" }, best_grade: null, status: "completed", outcome: "answered" },
      ...{
        why: null,
        error: null,
        finish_reason: null,
        targets: ["src/T.java"],
        absent_targets: [],
        scored: true,
        excluded: null,
      },
      ...{ predictions, draws: null, all_targets: scores, in_repo_only: null, expectation: null },
      ...{
        prompt: `Body ${index} ${"words of an issue ".repeat(40)}`,
        raw_response: JSON.stringify(predictions),
        seconds: 1,
        usage: null,
        details: {},
      },
    };
  });
  const meta = {
    ...{
      backend,
      kind: null,
      identity: null,
      rules: { name: "strict", digest: "", engine: "ladder" },
      measures: names,
      corpus: null,
    },
    dataset: {
      ...{ digest: "", project_name: "acme/tool", url: null, cases: CASES, selected: CASES, notes: [], links: null },
      ...{ extensions: null, scanned: null, audit: [] },
    },
    ...{ order: cases.map(({ id }) => id), unasked: [], only_answered: false, left_out: [], warnings: [] },
  };
  return { label: backend, meta, cases, summary: summarise(cases, meta, parseMeasures(names).value, null) };
}
