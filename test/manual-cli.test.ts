/** A person who answers at the end of a pipe: `bench run` with a `manual` backend, stopped, gone on with, and never asked twice. */
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Io } from "../src/cli/contract.js";
import { main } from "../src/cli/main.js";
import { folderWith } from "./rigs/bench-command.js";

const PIPELINE = `name: by-hand
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  answers: { uses: query-backend, needs: dataset, with: { backend: { kind: manual, copy_query: false } } }
  scores: { uses: score, needs: [dataset, answers] }
  report: { uses: report, needs: scores }
`;

function project(): string {
  const cases = ["one", "two", "three"].map((name, index) => ({
    instance_id: `o/r#${index + 1}`,
    repo: "o/r",
    problem_statement: `Title ${name}\nBody`,
    patch: `diff --git a/src/${name}.java b/src/${name}.java\n--- a/src/${name}.java\n+++ b/src/${name}.java\n@@ -1 +1 @@\n-a\n+b\n`,
  }));
  return folderWith({
    "pipelines/p.yaml": PIPELINE,
    "pipelines/cases.jsonl": `${cases.map((one) => JSON.stringify(one)).join("\n")}\n`,
  });
}

interface Result {
  readonly exit: number;
  readonly shown: string;
  readonly statuses: Record<string, number>;
  readonly queries: number;
  readonly recall: number;
}

async function run(folder: string, typed: string, more: readonly string[] = []): Promise<Result> {
  const stdin = new PassThrough();
  stdin.end(typed);
  const stdout: string[] = [];
  const stderr: string[] = [];
  const io: Io = {
    stdout: (text) => void stdout.push(text),
    stderr: (text) => void stderr.push(text),
    stdin,
    env: {},
    cwd: folder,
    terminal: { isTTY: false, columns: 100, colour: false },
    interrupted: new AbortController().signal,
  };
  const exit = await main(["run", "pipelines/p.yaml", "--json", ...more], io);
  const json = JSON.parse(stdout.join("")) as {
    counts: { queries: number };
    stages: { name: string; statuses: Record<string, number> }[];
    summary: Record<string, { measures: Record<string, { value: number }> }>;
  };
  return {
    exit,
    shown: stderr.join(""),
    statuses: json.stages.find(({ name }) => name === "answers")?.statuses ?? {},
    queries: json.counts.queries,
    recall: Object.values(json.summary)[0]?.measures.R?.value ?? Number.NaN,
  };
}

describe("manual, over a pipe", () => {
  test("all answers in one go: pasted JSON with empty lines, a list, and an empty answer", async () => {
    const folder = project();
    const typed = '{"classes": [\n\n{"path": "src/one.java"}]}\nEOF\n- `src/two.java`\n- `src/other.java`\nEOF\nEOF\n';
    const first = await run(folder, typed);
    expect(first).toMatchObject({ exit: 0, statuses: { completed: 3 }, queries: 3 });
    expect(first.recall).toBeCloseTo(2 / 3);
    expect(first.shown).toContain("Title one");
    // Nobody is asked again.
    expect(await run(folder, "")).toMatchObject({ exit: 0, queries: 0, recall: first.recall });
  });

  test("STOP keeps what was given in the report, and the same command asks the rest", async () => {
    const folder = project();
    const first = await run(folder, "src/one.java\nEOF\nSTOP\n");
    expect(first).toMatchObject({ exit: 1, statuses: { completed: 1, skipped: 2 } });
    expect(first.recall).toBeCloseTo(1 / 3);
    const second = await run(folder, "src/two.java\nEOF\nsrc/three.java\n");
    expect(second).toMatchObject({ exit: 0, queries: 2, recall: 1 });
    expect(second.shown).not.toContain("Title one");
  });

  test("BACK mends the answer before; a single job can't go back and says so", async () => {
    expect(
      await run(project(), "wrong.java\nEOF\nBACK\nsrc/one.java\nEOF\nsrc/two.java\nEOF\nsrc/three.java\nEOF\n"),
    ).toMatchObject({ exit: 0, recall: 1 });
    const single = await run(project(), "src/one.java\nEOF\nBACK\nsrc/two.java\nEOF\nsrc/three.java\nEOF\n", ["--jobs", "1"]);
    expect(single).toMatchObject({ exit: 0, recall: 1 });
    expect(single.shown).toContain("no going back");
  });
});
