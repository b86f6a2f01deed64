/** The shipped JSON Schemas: as new as the code, and every documented example validates against its own. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { bench, folderWith } from "./rigs/bench-command.js";

const root = resolve(import.meta.dirname, "..");
const shipped = readdirSync(join(root, "schema")).sort();
const validator = (name: string) =>
  new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(
    JSON.parse(readFileSync(join(root, "schema", name), "utf8")),
  );
const page = (name: string) => readFileSync(join(root, name), "utf8");
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, block = ""]) => block);

test("they are what `bench schema` writes", async () => {
  const folder = folderWith({});
  expect((await bench(folder, ["schema", "--out", "."])).exit).toBe(0);
  expect(readdirSync(folder).sort()).toEqual(shipped);
  for (const name of shipped)
    expect([name, readFileSync(join(folder, name), "utf8") === page(join("schema", name))]).toEqual([name, true]);
});

describe("examples validate", () => {
  const pages = [
    "README.md",
    ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join("docs", name)),
  ];
  const pipeline = validator("pipeline.schema.json");
  const rules = validator("rules.schema.json");

  test.each(pages)("%s", (name) => {
    for (const block of blocks(page(name), "yaml")) {
      const value: unknown = parse(block, { logLevel: "silent" });
      if (typeof value !== "object" || value === null) continue;
      if ("stages" in value) expect([block, pipeline(value), pipeline.errors]).toEqual([block, true, null]);
      else if ("rungs" in value || "extends" in value) expect([block, rules(value), rules.errors]).toEqual([block, true, null]);
    }
  });

  test("answers, cases, and the report of a run", async () => {
    const answers = validator("answers.schema.json");
    for (const line of [
      '{"id":"owner/repo#12","response":"..."}',
      '{"id":"a","response":"","status":"failed","error":"x","usage":{"cost_usd":null}}',
    ])
      expect(answers(JSON.parse(line))).toBe(true);
    expect(answers({ response: "no id" })).toBe(false);
    const cases = validator("case.schema.json");
    expect([cases({ id: "a", title: "t", targets: [{ path: "x.c" }] }), cases({ id: "a", title: "t" })]).toEqual([true, false]);
    const folder = folderWith({
      "d.jsonl": ["a", "b"].map((id) => JSON.stringify({ id, title: "t", targets: [{ path: "x.c" }] })).join("\n"),
      "a.jsonl": '{"id":"a","response":"x.c"}\n',
    });
    const { stdout } = await bench(folder, ["score", "a.jsonl", "--dataset", "d.jsonl", "--json"]);
    const report = validator("report.schema.json");
    expect([report(JSON.parse(stdout)), report.errors]).toEqual([true, null]);
  });
});
