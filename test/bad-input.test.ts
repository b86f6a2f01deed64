/** What a person or a file gets wrong, through the command line: all of it at once, with its place and what would be right, before anything runs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Finished, type Project, project, REPOSITORY } from "./rigs/cli.js";

let made: Project;
beforeAll(() => {
  made = project();
});
afterAll(() => made.remove());

/** `bench run` of a file with this text; nothing may have run. */
async function refused(text: string, args: readonly string[] = []): Promise<string> {
  made.write("pipelines/p.yaml", text);
  const done = await made.bench(["run", "pipelines/p.yaml", ...args]);
  expect(done.exit).toBe(2);
  expect(done.stdout).toBe("");
  expectPlain(done);
  for (const name of ["cache", "evaluation_results", "mined_projects"]) expect(existsSync(join(made.folder, name))).toBe(false);
  return done.stderr;
}

function expectPlain({ stderr }: Finished): void {
  expect(stderr).not.toMatch(/\n\s+at |internal error|ZodError/);
}

/** `line:column: message` of every mistake, in the order of the file. */
function places(stderr: string): string[] {
  return [...stderr.matchAll(/^pipelines\/p\.yaml:(\d+:\d+: error: .*)$/gm)].map(([, place = ""]) => place);
}

describe("a pipeline file", () => {
  test("every mistake at once: place, line, suggestion", async () => {
    const stderr = await refused(`name: many
params: { rules: strict }
stage: {}
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl, formt: auto } }
  sources: { uses: chekout, with: { folder: src } }
  answers:
    uses: query-backend
    needs: [dataset]
    matrix:
      backend: []
  scores:
    uses: score
    with: { rules: "\${params.rulse}", measures: [P, "Hit@five"] }
  intervals: { uses: bootstrap, needs: scores, with: { samples: many } }
  twice: { uses: report, needs: scores }
  twice: { uses: report, needs: scores }
  report: { uses: report, needs: [scores, nothing] }
`);
    expect(places(stderr)).toEqual([
      "3:1: error: unknown key `stage` in the pipeline file",
      "5:63: error: unknown option `formt`",
      "6:20: error: there is no stage kind `chekout`",
      "11:7: error: `backend` in `matrix`: expected a list of values, found an empty list",
      "12:3: error: the stage `scores` (`score`) needs a stage that produces `answers`",
      "12:3: error: the stage `scores` (`score`) needs a stage that produces `dataset`",
      "14:21: error: there is no parameter `rulse`",
      expect.stringMatching(/^14:53: error: item 2 of `measures`: .*Hit@5/),
      '15:65: error: `samples`: expected a number, found the text "many"',
      "17:3: error: the key `twice` stands here twice (first in line 16)",
      "18:43: error: there is no stage `nothing`",
    ]);
    for (const right of ["`stages`", "`format`", "`checkout`", "`rules`"]) expect(stderr).toContain(`did you mean ${right}?`);
    expect(stderr).toContain("  6 |   sources: { uses: chekout, with: { folder: src } }\n    |                    ^^^^^^^\n");
    expect(stderr).toContain("11 mistakes in pipelines/p.yaml; nothing was run.");
  });

  const bomb = Array.from({ length: 12 }, (_, level) =>
    level === 0
      ? "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
      : `a${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(", ")}]\n`,
  ).join("");
  test.each([
    ["a circle", "stages:\n  a: { uses: score, needs: b }\n  b: { uses: bootstrap, needs: a }\n", "2:28", "`a` -> `b` -> `a`"],
    ["a tab", "stages:\n\ta: { uses: score }\n", "2:1", "indent with spaces"],
    ["nothing", "", "1:1", "a pipeline file has at least `stages:`"],
    ["only a comment", "# soon\n", "1:1", "the file has no content"],
    ["a bomb of aliases", `${bomb}stages: *a11\n`, "6:9", "aliases expand this to more than 200000 values"],
    ["deep nesting", `stages: ${"[".repeat(100_000)}`, "1:72", "nested more than 64 levels deep"],
    ["no YAML", "stages: { a: ", "1:14", "every bracket is closed"],
    ["a binary file", "\u0000\u0001\u0002", "1:1", "control character"],
    ["__proto__", "__proto__: { polluted: true }\nstages: {}\n", "1:1", "can't be a key"],
    ["two documents", "stages: {}\n---\nstages: {}\n", "2:1", "one YAML document"],
    ["a stage that needs itself", "stages:\n  a: { uses: score, needs: a }\n", "2:28", "the stage `a` needs itself"],
  ])("%s", async (_, text, place, words) => {
    const stderr = await refused(text);
    expect(stderr).toContain(`pipelines/p.yaml:${place}: error: `);
    expect(stderr).toContain(words);
  });

  test("what a person's own stage writes must stay in the project; a good one runs", async () => {
    made.write(
      "pipelines/my-stage.mjs",
      `import * as z from ${JSON.stringify(join(REPOSITORY, "node_modules/zod/index.js"))};
export default {
  kind: "mine", summary: "My own", version: 1, shape: "whole", precious: false,
  config: z.strictObject({ out: z.string() }), produces: "things", consumes: {}, writes: ["out"],
  run: async ({ out }) => ({ ok: true, value: { items: [{ id: "1", value: out }], meta: null } }),
};
`,
    );
    const pipeline = (out: string) => `stages:\n  own: { uses: ./my-stage.mjs, with: { out: ${out} } }\n`;
    for (const out of ["../../elsewhere", "/etc/passwd", "a/../../../b"]) {
      const stderr = await refused(pipeline(out));
      expect(places(stderr)).toHaveLength(1);
      expect(stderr).toContain("2:45: error: `out`");
      expect(stderr).toContain("project");
    }
    expect(await refused("stages:\n  own: { uses: ./not-there.mjs }\n")).toContain("there is no module ./not-there.mjs");
    const good = project();
    try {
      good.write("pipelines/my-stage.mjs", made.read("pipelines/my-stage.mjs"));
      good.write("pipelines/p.yaml", pipeline("inside/it.txt"));
      expect((await good.run(["pipelines/p.yaml"])).stages).toMatchObject([{ name: "own", items: 1, executed: 1 }]);
    } finally {
      good.remove();
    }
  });

  test("a secret in the environment is shown by no mistake", async () => {
    made.write("pipelines/p.yaml", `stages:\n  a: { uses: bootstrap, with: { samples: "\${env.MY_TOKEN}" } }\n`);
    const done = await made.bench(["run", "pipelines/p.yaml"], { MY_TOKEN: "very-s3cret-value" });
    expect(done.exit).toBe(2);
    expect(done.stderr).not.toContain("very-s3cret-value");
  });
});

describe("the command line", () => {
  test.each([
    [["rnu", "x"], 'unknown command "rnu"; did you mean "run"?'],
    [["run"], "missing <pipeline>; usage: bench run <pipeline>"],
    [["run", "a", "b"], 'unexpected "b"'],
    [["run", "--jbos", "3", "x"], "unknown option --jbos; did you mean --jobs?"],
    [["run", "absent.yaml"], "there is no pipeline file absent.yaml"],
    [["run", "pipelines"], "pipelines can't be read"],
    [["cache", "verfy"], 'unknown action "verfy": stats, verify, gc or rm'],
    [["cache", "stats"], "there is no cache in"],
    [["cache", "stats", "--cache", "redis://localhost"], "redis://... is not supported"],
    [["score", "x"], 'no run "x"'],
    [["score", "x", "--dataset", "absent.json"], "absent.json can't be read: there is no such file"],
    [["status", "no-such-run"], 'no run "no-such-run"'],
    [["dag", "pipelines/ok.yaml", "--format", "svg"], "choose text, mermaid or dot"],
    [["run", "pipelines/ok.yaml", "--sample", "0"], "--sample needs a whole number of at least 1"],
    [["run", "pipelines/ok.yaml", "--max-wait", "soon"], "--max-wait needs a duration such as 90s, 15m or 1h"],
    [["run", "pipelines/ok.yaml", "--only", "datset"], "did you mean dataset?"],
    [["run", "pipelines/ok.yaml", "--set", "x=1"], "`x`"],
    [["run", "pipelines/ok.yaml", "--set"], "--set needs a value"],
  ])("%j", async (args, words) => {
    made.write("pipelines/ok.yaml", "stages:\n  dataset: { uses: import-dataset, with: { path: cases.jsonl } }\n");
    const done = await made.bench(args);
    expect(done.exit).toBe(2);
    expect(done.stderr).toContain(words);
    expect(done.stdout).toBe("");
    expectPlain(done);
  });

  test("help and version go to stdout", async () => {
    const [overview, run, version] = await Promise.all([
      made.bench(["--help"]),
      made.bench(["run", "--help"]),
      made.bench(["--version"]),
    ]);
    expect(overview).toMatchObject({ exit: 0, stderr: "" });
    for (const command of ["run", "plan", "explain", "status", "dag", "score", "cache", "schema"]) {
      expect(overview.stdout).toContain(`\n  ${command} `);
    }
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    expect(run.stdout).toContain("--offline");
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });
});

describe("data sets and answers with bad records", () => {
  const DATASET = [
    '{"id":"o/r#1","repository":"o/r","number":1,"title":"One","body":"","targets":[{"path":"a/One.java","role":"source"}]}',
    '{"id":"o/r#2","title":',
    '{"id":"o/r#3","repository":"o/r","number":3,"title":"Three","body":"","targets":[{"path":"a/Three.java","role":"source"}]}',
    '{"id":"o/r#4","repository":"o/r","number":4,"title":4,"body":"","targets":"all"}',
    "",
  ].join("\n");
  const ANSWERS = [
    '{"id":"o/r#1","response":"{\\"classes\\":[{\\"path\\":\\"a/One.java\\"}]}"}',
    "no JSON at all",
    '{"response":"{}"}',
    '{"id":"o/r#3","response":"{\\"classes\\":[]}"}',
    "",
  ].join("\n");
  const PIPELINE = `stages:
  dataset: { uses: import-dataset, with: { path: dataset.jsonl } }
  answers: { uses: import-answers, needs: dataset, with: { path: answers.jsonl } }
  scores: { uses: score, needs: [dataset, answers], with: { measures: [P, R, F1] } }
  intervals: { uses: bootstrap, needs: scores, with: { samples: 50 } }
  report: { uses: report, needs: [scores, intervals] }
`;
  let folder: Project;
  beforeAll(() => {
    folder = project();
    folder.write("pipelines/dataset.jsonl", DATASET);
    folder.write("pipelines/answers.jsonl", ANSWERS);
    folder.write("pipelines/p.yaml", PIPELINE);
  });
  afterAll(() => folder.remove());

  test("a pipeline: numbers of the bad ones, the good ones count, the report says how many were left out", async () => {
    const run = await folder.run(["pipelines/p.yaml"]);
    const [summary] = Object.values(run.summary);
    expect(summary.n).toBe(2);
    expect(summary.measures.R.value).toBe(0.5);
    expect(run.stderr).toMatch(/dataset\.jsonl: record 2 \(line 2\) is left out: it is not valid JSON/);
    expect(run.stderr).toMatch(/dataset\.jsonl: record 4 \(line 4\) is left out: \S+/);
    expect(run.stderr).toMatch(/record 2 \(line 2\): /);
    expect(run.stderr).toMatch(/record 3 \(line 3\): /);
    const report = folder.read(run.reports.find((path) => path.endsWith("report.md")) ?? "");
    expect(report).toContain("2 of 4 records could not be used");
    expect(summary.left_out).toBe(2);
    expect(report).toMatch(/record 2/);
    expect(report).toMatch(/record 3/);
    // From the cache the warnings are not repeated, but the report still says it.
    const again = await folder.run(["pipelines/p.yaml"]);
    expect(again.counts.executed).toBe(0);
    expect(folder.read(again.reports.find((path) => path.endsWith("report.md")) ?? "")).toContain(
      "2 of 4 records could not be used",
    );
  });

  test("bench score says the same of the same files", async () => {
    const done = await folder.bench(["score", "pipelines/answers.jsonl", "--dataset", "pipelines/dataset.jsonl", "--json"]);
    expect(done.exit).toBe(0);
    expect(done.stderr).toMatch(/dataset\.jsonl: record 2 \(line 2\): it is not valid JSON/);
    expect(done.stderr).toMatch(/dataset\.jsonl: record 4 \(line 4\): `\S+/);
    expect(done.stderr).toMatch(/answers\.jsonl: record 2 \(line 2\): /);
    expect(done.stderr).toMatch(/answers\.jsonl: record 3 \(line 3\): /);
    const { summary } = JSON.parse(done.stdout);
    expect(summary.n).toBe(2);
    expect(summary.measures.R.value).toBe(0.5);
    expect(summary.left_out).toBe(4);
  });

  test.each([
    ["an empty file", "", "the file is empty"],
    ["no JSON", "<html>", "the XML holds no <bug>"],
    ["a cut file", '{"project_name": "x", "issues": [{"number": 1, ', "is not valid JSON"],
    ["another file", '{"hello": "world"}', "no data set"],
    ["no usable record", '{"id": 1, "title": 2}\n{"id": 2, "title": 3}\n', "none of the 2 records can be used; record 1"],
  ])("a data set that is %s: said plainly, exit 1 in a run, exit 2 in score", async (_, text, words) => {
    folder.write("pipelines/bad.jsonl", text);
    folder.write("pipelines/bad.yaml", PIPELINE.replace("dataset.jsonl", "bad.jsonl"));
    const run = await folder.bench(["run", "pipelines/bad.yaml"]);
    expect(run.exit).toBe(1);
    expect(run.stderr).toContain(words);
    expectPlain(run);
    const score = await folder.bench(["score", "pipelines/answers.jsonl", "--dataset", "pipelines/bad.jsonl"]);
    expect(score.exit).toBe(2);
    expect(score.stderr).toContain(words);
    expectPlain(score);
  });
});
