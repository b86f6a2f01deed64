/** The library as a program uses it; the first example of docs/library.md, as it is printed there. */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { compare, runPipeline, score } from "../src/index.js";
import { bench, folderWith } from "./rigs/bench-command.js";

const DATASET = ["a", "b", "c"]
  .map((id) => JSON.stringify({ id, title: `case ${id}`, targets: [{ path: `src/${id}.c` }] }))
  .join("\n");
const answers = (right: string) =>
  ["a", "b", "c"]
    .map((id) => JSON.stringify({ id, response: JSON.stringify({ files: [right.includes(id) ? `src/${id}.c` : "src/x.c"] }) }))
    .join("\n");

describe("the library", () => {
  test("scores as the command line does, to the last digit", async () => {
    const folder = folderWith({ "d.jsonl": DATASET, "a.jsonl": answers("ab") });
    const typed = await bench(folder, ["score", "a.jsonl", "--dataset", "d.jsonl", "--measures", "Hit@1,RR,P", "--json"]);
    const scored = score({ dataset: DATASET, answers: answers("ab"), measures: ["Hit@1", "RR", "P"] });
    if (!scored.ok) throw new Error(scored.error);
    const values = (measures: Record<string, { value: number | null } | undefined>) =>
      Object.fromEntries(Object.entries(measures).map(([name, one]) => [name, one?.value]));
    expect(values(scored.value.summary.measures)).toEqual(values(JSON.parse(typed.stdout).summary.measures));
    expect(scored.value.summary.measures["Hit@1"]?.value).toBeCloseTo(2 / 3, 12);
  });

  test("compares what was scored", () => {
    const [one, two] = [score({ dataset: DATASET, answers: answers("a") }), score({ dataset: DATASET, answers: answers("ab") })];
    if (!one.ok || !two.ok) throw new Error("not scored");
    const compared = compare({ one: one.value, two: two.value }, { samples: 500 });
    if (!compared.ok) throw new Error(compared.error);
    expect(compared.value.measures["Hit@1"]?.[0]).toMatchObject({
      run_a: "one",
      run_b: "two",
      difference: expect.closeTo(1 / 3, 12),
    });
    expect(compare({ one: one.value })).toEqual({ ok: false, error: expect.stringContaining("two runs") });
  });

  test("says what can't be used", () => {
    const problem = (more: object) => {
      const scored = score({ dataset: DATASET, answers: "", ...more });
      return scored.ok ? "" : scored.error;
    };
    expect(problem({ dataset: "{" })).toContain("dataset:");
    expect(problem({ rules: "stirct" })).toContain("there are no rules");
    expect(problem({ rules: "rungs: [pth]\n" })).toContain("did you mean `path`");
    expect(problem({ measures: ["nDGC@10"] })).toMatch(/nDCG/);
    expect(problem({ measures: ["R@lines=200"] })).toContain("in a pipeline");
    const partly = score({ dataset: `${DATASET}\n{"id":1}`, answers: "no json" });
    expect(partly.ok && partly.value.bad).toHaveLength(2);
  });

  test("runs a pipeline with the command line's cache", async () => {
    const folder = folderWith({
      "pipelines/p.yaml":
        "name: p\nstages:\n  dataset: { uses: import-dataset, with: { path: d.jsonl } }\n  answers: { uses: query-backend, needs: dataset, with: { backend: { kind: empty } } }\n  scores: { uses: score, needs: [dataset, answers] }\n  report: { uses: report, needs: scores }\n",
      "pipelines/d.jsonl": DATASET,
    });
    const ran = await runPipeline("pipelines/p.yaml", { cwd: folder });
    expect([ran.exit, ran.result?.counts.queries, Object.keys(ran.result?.summary ?? {})]).toEqual([0, 3, ["empty"]]);
    expect((await bench(folder, ["run", "pipelines/p.yaml", "--json"])).stdout).toContain('"queries": 0');
    const wrong = await runPipeline("pipelines/p.yaml", { cwd: folder, options: { only: "nothing" } });
    expect([wrong.exit, wrong.result, wrong.text]).toEqual([2, null, expect.stringContaining("no stage")]);
  });

  test("the example of the documentation prints what it says", async () => {
    const page = readFileSync(resolve(import.meta.dirname, "../docs/library.md"), "utf8");
    const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
    const built = resolve(import.meta.dirname, "../dist/index.js");
    const folder = folderWith({});
    const printed = [...example.matchAll(/\/\/ ([\d.]+)$/gm)].map((match) => Number(match[1]));
    writeFileSync(
      join(folder, "x.mjs"),
      example.replace("(right: string)", "(right)").replace('"benchwright"', JSON.stringify(built)),
    );
    const shown: number[] = [];
    const log = console.log;
    console.log = (value: number) => void shown.push(value);
    await import(join(folder, "x.mjs")).finally(() => {
      console.log = log;
    });
    expect(shown.map((value) => Math.round(value * 1000) / 1000)).toEqual(printed);
  });
});
