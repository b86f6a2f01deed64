import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { costOf, loadPrices, parsePrices, priceOf } from "./prices.js";

const table = (prices: string) => `currency: USD\nper: 1000000\nprices:\n${prices}`;
const MINE = table("  - { provider: openai, models: [gpt-4o, house], input: 1, output: 2, as_of: 2026-01-02 }\n");

describe("price tables", () => {
  test("the shipped one is valid, dated, and knows no price of 0", async () => {
    const prices = await loadPrices(undefined, "/");
    expect(prices.size).toBeGreaterThan(20);
    for (const { input, output, as_of } of prices.values()) {
      expect(Math.min(input, output)).toBeGreaterThan(0);
      expect(as_of).toMatch(/^20\d\d-\d\d-\d\d$/);
    }
    expect(priceOf(prices, "openai", "gpt-4o-mini")).toMatchObject({ input: 0.15, output: 0.6 });
    expect(priceOf(prices, "openai", "gpt-4o-mini-2099-01-01")).toBeNull();
    expect(priceOf(prices, "mistral", "gpt-4o-mini")).toBeNull();
  });

  test("one's own wins, model by model", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bench-prices-"));
    writeFileSync(join(folder, "mine.yaml"), MINE);
    const prices = await loadPrices("mine.yaml", folder);
    expect(priceOf(prices, "openai", "gpt-4o")).toMatchObject({ input: 1, as_of: "2026-01-02" });
    expect(priceOf(prices, "openai", "house")).not.toBeNull();
    expect(priceOf(prices, "openai", "gpt-4o-mini")).toMatchObject({ input: 0.15 });
    await expect(loadPrices("none.yaml", folder)).rejects.toThrow("there is no price table none.yaml");
  });

  test("mistakes are told with the file", () => {
    expect(() => parsePrices("a: [", "f.yaml")).toThrow("f.yaml is no YAML");
    expect(() => parsePrices("a: 1", "f.yaml")).toThrow("f.yaml is no price table");
    expect(() => parsePrices(table("  - { provider: p, models: [m], input: -1, output: 1, as_of: 2026-01-02 }"), "f")).toThrow(
      "input",
    );
    expect(() => parsePrices(table("  - { provider: p, models: [m], input: 1, output: 1 }"), "f")).toThrow("as_of");
    expect(() => parsePrices(table("  - { provider: p, models: [m], input: 1, output: 1, as_of: soon }"), "f")).toThrow("a date");
  });
});

describe("costOf", () => {
  const price = { input: 2, output: 10, cached_input: 0.5, as_of: "2026-01-01" };

  test("input, what was read before, and output", () => {
    expect(costOf(price, { input: 1_000_000, output: 100_000, cached: 400_000 })).toBeCloseTo(1.2 + 0.2 + 1, 12);
    expect(costOf({ ...price, cached_input: undefined }, { input: 1_000_000, output: 0, cached: 400_000 })).toBeCloseTo(2, 12);
    expect(costOf(price, { input: 10, output: 0, cached: 99 })).toBeCloseTo((10 * 0.5) / 1e6, 15);
  });

  test("unknown is null, never 0", () => {
    expect(costOf(null, { input: 1, output: 1 })).toBeNull();
    expect(costOf(price, { input: null, output: 1 })).toBeNull();
    expect(costOf(price, { input: 1, output: null })).toBeNull();
  });
});
