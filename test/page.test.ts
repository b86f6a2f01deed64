/** The page of a run in a real browser: every view, few cases and many, hostile texts, without network. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { htmlPage } from "../src/report/html/page.js";
import { runFacts } from "../src/report/html/run-facts.js";
import { browser, type OpenPage, type Page, why } from "./rigs/browser.js";
import { HOSTILE, pageCells } from "./rigs/scored-page.js";

const folder = mkdtempSync(join(tmpdir(), "bench-page-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RECORD = {
  ...{ run_id: "20261201T000000Z-p", name: "p", command: ["bench", "run", "p.yaml"], state: "done" },
  ...{ started_at: "2026-12-01T00:00:00.000Z", finished_at: "2026-12-01T00:00:09.000Z", counts: { queries: 2 } },
  warnings: [HOSTILE[0]],
  nodes: ["dataset", "answers[alpha]", "answers[beta]", "scores"].map((id) => ({
    ...{ id, name: id.replace(/\[.*/, ""), uses: id, state: "done", items: 1, executed: 1, cached: 0, failed: 0 },
    needs: id === "dataset" ? [] : id === "scores" ? ["answers[alpha]", "answers[beta]"] : ["dataset"],
  })),
};
const JOURNAL = [
  { time: "2026-12-01T00:00:03.000Z", type: "unit", stage: "answers[alpha]", seconds: 2 },
  { time: "2026-12-01T00:00:04.000Z", type: "waiting", resource: "api", until: "2026-12-01T00:00:06.000Z", why: HOSTILE[2] },
  { time: "2026-12-01T00:00:06.000Z", type: "waiting", resource: "api", until: null },
]
  .map((event) => JSON.stringify(event))
  .join("\n");

function written(name: string, count: number, hostile: boolean): string {
  const file = join(folder, name);
  const facts = { generatedAt: "2026-12-01T00:00:00.000Z", datasetFile: null };
  writeFileSync(file, htmlPage(pageCells(count, hostile), facts, { work: "stage" }, runFacts(RECORD, JOURNAL)));
  return file;
}

describe.skipIf(why !== null)(`in Chromium${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let driver: Awaited<ReturnType<typeof browser>>;
  beforeAll(async () => {
    driver = await browser();
  });
  afterAll(() => driver?.close());

  const count = (page: Page, selector: string) =>
    page.evaluate<number>(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
  const text = (page: Page, selector = "main") =>
    page.evaluate<string>(`document.querySelector(${JSON.stringify(selector)}).textContent`);
  async function show(page: Page, view: string, selector: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(view)}; 0`);
    await page.waitForSelector(selector);
  }
  const untouched = async ({ page, asked, said }: OpenPage) => {
    expect(asked).toEqual([]);
    expect(said).toEqual([]);
    expect(await page.evaluate("window.pwned ?? null")).toBe(null);
    // No element that came out of a text.
    expect(await count(page, "#app script, #app img, #app iframe, #app object, [onerror], [onclick], [style*=url]")).toBe(0);
    expect(
      await page.evaluate(
        `[...document.querySelectorAll("a[href]")].filter((a) => !/^(#|https:)/.test(a.getAttribute("href"))).length`,
      ),
    ).toBe(0);
  };

  for (const cases of [50, 10_000]) {
    test(`${cases} cases: every view, rows bounded, nothing fetched, nothing serious for axe`, async () => {
      const opened = await driver.open(written(`${cases}.html`, cases, true));
      const { page, violations } = opened;
      expect(await count(page, "table.figures tbody tr")).toBeGreaterThanOrEqual(2);
      expect(await violations()).toEqual([]);
      await page.click('nav.tabs a[href="#/cases"]');
      await page.waitForSelector("[role=gridcell]");
      expect(await page.evaluate(`document.querySelector("[role=grid]").getAttribute("aria-rowcount")`)).toBe(String(cases + 1));
      expect(await count(page, "[role=row]")).toBeLessThan(60);
      expect(await violations()).toEqual([]);
      await page.evaluate(
        `{ const grid = document.querySelector("[role=grid]"); grid.focus(); grid.scrollTop = grid.scrollHeight; } 0`,
      );
      await page.press("[role=grid]", "End");
      await page.waitForSelector(`#row-${cases - 1}[aria-selected=true]`);
      expect(await count(page, "[role=row]")).toBeLessThan(60);
      await page.press("[role=grid]", "Enter");
      await page.waitForSelector("article.case");
      expect(await violations()).toEqual([]);
      await page.click('nav.tabs a[href="#/compare"]');
      await page.waitForSelector("circle.bubble");
      expect(await violations()).toEqual([]);
      await page.click('nav.tabs a[href="#/run"]');
      await page.waitForSelector("rect.span");
      expect(await text(page)).toContain("Limits waited for");
      expect(await violations()).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      await show(page, "#/overview", "table.figures");
      expect(await violations()).toEqual([]);
      expect(await count(page, "#app *")).toBeLessThan(3_000);
      await untouched(opened);
    });
  }

  test("hostile texts are text, wherever they stand", async () => {
    const opened = await driver.open(written("hostile.html", 50, true));
    const { page } = opened;
    for (const [index, hostile] of HOSTILE.entries()) {
      await show(page, `#/case?backend=alpha&id=${encodeURIComponent(`acme/tool#${index + 1}`)}`, "article.case");
      await page.evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`);
      const wanted = hostile.includes("\u202e") ? "⟨U+202E⟩gnp.exe⟨U+2066⟩ ⟨U+0000⟩" : hostile;
      await page.waitForSelector(`article.case h2 .number`);
      expect(await text(page, "article.case h2")).toContain(`#${index + 1} ${wanted}`);
      expect(await text(page, "article.case pre")).toContain(wanted);
      await untouched(opened);
    }
    await show(page, "#/compare?a=%3Cimg%20src%3Dx%3E&b=beta&measure=__proto__", "circle.bubble");
    await show(page, `#/cases?stratum=__proto__%3Dsmall&backend=alpha`, "[role=gridcell]");
    await untouched(opened);
  });

  test("from the first view to why alpha missed a case: four clicks, and the address leads there", async () => {
    const file = written("clicks.html", 50, false);
    const { page } = await driver.open(file);
    await page.click('table.figures a[href="#/cases?backend=alpha"]');
    await page.waitForSelector("#row-0");
    await page.selectOption("label:has-text('Measure') select", "RR");
    await page.click("#row-0");
    await page.waitForSelector("article.case");
    expect(await text(page)).toContain("Missed: src/T0.java");
    expect(await text(page)).toMatch(/Body of \d+/);
    const fragment = await page.evaluate<string>("location.hash");
    const again = await driver.open(file, fragment);
    await again.page.waitForSelector("article.case");
    expect(await text(again.page, "h2")).toBe(await text(page, "h2"));
    await page.click(".steps a");
    await page.waitForSelector("#row-0[aria-selected=true]");
  });

  test("search, outcome and change narrow the list, and the address remembers", async () => {
    const { page } = await driver.open(written("filters.html", 50, false), "#/cases?backend=beta");
    await page.waitForSelector("#row-0");
    await page.selectOption("label:has-text('Outcome') select", "failed");
    expect(await text(page, ".count")).toBe("5 of 50 cases");
    await page.fill("input[type=search]", "title 34");
    expect(await text(page, ".count")).toBe("1 of 50 cases");
    expect(await page.evaluate("location.hash")).toBe("#/cases?backend=beta&outcome=failed&q=title+34");
    await page.click("main a.quiet");
    await page.waitForSelector("#row-10");
    expect(await text(page, ".count")).toBe("50 cases");
  });

  test("narrow: nothing is wider than the screen; printed: the frame is gone", async () => {
    const { page, violations } = await driver.open(written("narrow.html", 50, true));
    await page.setViewportSize({ width: 360, height: 800 });
    for (const view of ["overview", "cases", "compare", "run", `case?id=${encodeURIComponent("acme/tool#3")}`]) {
      await show(page, `#/${view}`, `main[data-view=${view.replace(/\?.*/, "")}] h2`);
      expect(await page.evaluate("document.documentElement.scrollWidth"), view).toBe(360);
      expect(await violations(), view).toEqual([]);
    }
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate(`getComputedStyle(document.querySelector(".tabs")).display`)).toBe("none");
  });

  test("a file that is cut short says so", async () => {
    const whole = htmlPage(pageCells(50, false), { generatedAt: null, datasetFile: null }, { comparisons: [] });
    const file = join(folder, "cut.html");
    writeFileSync(file, whole.replace(/(id="table">.{40})[^<]*/, "$1"));
    const { page } = await driver.open(file, "#/cases");
    expect(await text(page)).toContain("The file may be cut short");
  });
});
