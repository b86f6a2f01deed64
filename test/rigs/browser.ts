/**
 * Debian's Chromium by playwright-core, where both are there: `why` says what is missing, and tests that need them are skipped with it.
 * The network is closed, and what a page asked for is counted all the same.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

export interface Page {
  goto(url: string): Promise<unknown>;
  evaluate<T>(script: string): Promise<T>;
  waitForSelector(selector: string): Promise<unknown>;
  click(selector: string): Promise<void>;
  fill(selector: string, text: string): Promise<void>;
  press(selector: string, key: string): Promise<void>;
  selectOption(selector: string, value: string): Promise<unknown>;
  on(event: string, listener: (what: never) => void): void;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  emulateMedia(options: { colorScheme?: "light" | "dark"; media?: "screen" | "print" }): Promise<void>;
}

interface Chromium {
  launch(options: object): Promise<{
    newContext(options: object): Promise<{
      newPage(): Promise<Page>;
      close(): Promise<void>;
      route(pattern: string, handler: (route: { abort(): Promise<void> }) => void): Promise<void>;
    }>;
    close(): Promise<void>;
  }>;
}

const PROGRAMS = [process.env.BENCH_TEST_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"];
const program = PROGRAMS.find((path) => path !== undefined && existsSync(path));
/** `BENCH_TEST_BROWSER_TOOLS`: a folder whose node_modules has playwright-core and axe-core, where the project's has them not. */
const tools = process.env.BENCH_TEST_BROWSER_TOOLS;
const require = createRequire(tools === undefined ? import.meta.url : join(tools, "package.json"));

function folderOf(name: string): string | null {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return null;
  }
}

const [playwright, axe] = [folderOf("playwright-core"), folderOf("axe-core")];

/** Why no browser can be driven here; null = it can. */
export const why: string | null =
  program === undefined
    ? "no Chromium (apt-get install chromium)"
    : playwright === null || axe === null
      ? "playwright-core or axe-core is not installed"
      : null;

export interface OpenPage {
  readonly page: Page;
  /** Addresses other than the file's own that were asked for. */
  readonly asked: string[];
  /** Errors and warnings of the console, and exceptions. */
  readonly said: string[];
  readonly violations: () => Promise<string[]>;
}

export async function browser(): Promise<{
  open: (file: string, fragment?: string) => Promise<OpenPage>;
  close: () => Promise<void>;
}> {
  if (program === undefined || playwright === null || axe === null) throw new Error(why ?? "");
  const { chromium } = (await import(pathToFileURL(join(playwright, "index.mjs")).href)) as { chromium: Chromium };
  const running = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  const source = readFileSync(join(axe, "axe.min.js"), "utf8");
  const open = async (file: string, fragment = ""): Promise<OpenPage> => {
    const context = await running.newContext({ viewport: { width: 1280, height: 900 }, offline: true });
    const page = await context.newPage();
    const [asked, said]: [string[], string[]] = [[], []];
    page.on("request", ((request: { url(): string }) => {
      const url = request.url();
      if (!url.startsWith(pathToFileURL(file).href) && !url.startsWith("blob:")) asked.push(url);
    }) as (what: never) => void);
    page.on("console", ((message: { type(): string; text(): string }) => {
      if (["error", "warning"].includes(message.type())) said.push(message.text());
    }) as (what: never) => void);
    page.on("pageerror", ((error: Error) => said.push(error.message)) as (what: never) => void);
    await page.goto(`${pathToFileURL(file).href}${fragment}`);
    await page.waitForSelector("main h2");
    const violations = async () => {
      await page.evaluate(`${source};0`);
      return page.evaluate<string[]>(
        `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => id + ": " + nodes[0].target.join(" ")))`,
      );
    };
    return { page, asked, said, violations };
  };
  return { open, close: () => running.close() };
}
