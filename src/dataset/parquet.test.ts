import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { isParquet } from "./parquet.js";
import { readDataset } from "./read.js";
import { datasetText } from "./text.js";

const folder = resolve(import.meta.dirname, "../../test/data/parquet");
const bytesOf = (compression: string) => new Uint8Array(readFileSync(join(folder, `instances-${compression}.parquet`)));

describe.each(["snappy", "zstd", "gzip", "brotli", "none"])("Parquet, %s", (compression) => {
  test("rows of all row groups are instances like those of JSON Lines", async () => {
    const text = await datasetText(bytesOf(compression));
    if (!text.ok) throw new Error(text.error);
    const read = readDataset(text.value, "loc-bench.parquet");
    if (!read.ok) throw new Error(read.error.message);
    const { dataset, bad, format } = read.value;
    expect([format, bad, dataset.header.project_name]).toEqual(["jsonl", [], "owner/project"]);
    expect(dataset.cases.map(({ id, title, strata }) => [id, title, strata.category])).toEqual([
      ["owner__project-1", "Problem 1: naïve reader", "Bug Report"],
      ["owner__project-2", "Problem 2: naïve reader", "Feature Request"],
      ["owner__project-3", "Problem 3: naïve reader", "Performance Issue"],
    ]);
    expect(dataset.cases[1]).toMatchObject({
      repository: "owner/project",
      base_commit: `${"0".repeat(39)}2`,
      created_at: "2024-05-02T12:00:00.000Z",
      body: "It loses the last line.",
    });
    expect(dataset.cases.map(({ targets }) => targets.map(({ path }) => path))).toEqual([
      ["src/reader.py"],
      ["src/reader.py", "src/writer.py"],
      ["src/cache.py"],
    ]);
  });
});

test("a cut file, and one whose inside is damaged, are said and never thrown", async () => {
  const whole = bytesOf("snappy");
  expect(isParquet(whole)).toBe(true);
  expect(await datasetText(whole.slice(0, -10))).toEqual({ ok: false, error: expect.stringContaining("download it again") });
  for (let at = 4; at < whole.length - 4; at += 97) {
    const damaged = whole.slice();
    damaged.fill(0xff, at, at + 20);
    const read = await datasetText(damaged);
    if (isParquet(damaged) && !read.ok) expect(read.error).toContain("can't be read");
  }
});

test("text stays text", async () => {
  expect(await datasetText(new TextEncoder().encode("é"))).toEqual({ ok: true, value: "é" });
  expect(await datasetText(new Uint8Array([0xff, 0xfe]))).toEqual({ ok: false, error: expect.stringContaining("UTF-8") });
});
