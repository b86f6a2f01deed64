import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Cache } from "../src/cache/cache.js";
import { builtInRules } from "../src/matching/rules.js";
import { rulesFacts } from "../src/scoring/score-answers.js";
import {
  ANSWERS,
  bench,
  caseLine,
  classes,
  DOOR,
  projectTreeDigest,
  ROOF,
  scoredProject,
  WINDOW,
  write,
} from "./rigs/scored-project.js";

interface Difference {
  readonly before: number;
  readonly after: number;
  readonly difference: number;
  readonly ci95: { readonly lower: number; readonly upper: number };
}

async function rescored(folder: string, ...argv: string[]) {
  const said = await bench(folder, "rescore", ...argv, "--json");
  expect(said.stderr + String(said.exit)).toMatch(/0$/);
  return { ...JSON.parse(said.stdout), stderr: said.stderr };
}

describe("bench rescore", () => {
  test("new rules on old answers: figures, intervals, and each prediction with the rung that decided", async () => {
    const { folder, run, runFolder } = await scoredProject();
    const before = readdirSync(runFolder);
    const result = await rescored(folder, "latest", "--rules", "lenient");
    expect(result).toMatchObject({ run, source: "cache", notes: [] });
    const [cell] = result.cells;
    expect(cell).toMatchObject({ label: "puppet.jsonl", n: 6, only_before: [], only_after: [], lost: [] });
    expect(cell.measures.R).toMatchObject({
      before: (1 + 0 + 0 + 1 + 0 + 0) / 6,
      after: (1 + 1 + 0.5 + 1 + 0 + 0) / 6,
      gained: ["acme/house#2", "acme/house#3"],
      lost: [],
    });
    for (const one of Object.values<Difference>(cell.measures)) {
      expect(one.difference).toBeCloseTo(one.after - one.before, 12);
      expect(one.ci95.lower).toBeLessThanOrEqual(one.difference);
      expect(one.ci95.upper).toBeGreaterThanOrEqual(one.difference);
    }
    expect(cell.gained).toEqual([
      expect.objectContaining({
        id: "acme/house#2",
        f1: { before: 0, after: 1 },
        predictions: [
          {
            raw: "Roof",
            repeat: 0,
            before: { path: null, rung: null, target: null, ambiguous: false },
            after: { path: ROOF, rung: "simple-name", target: ROOF, ambiguous: false },
          },
        ],
      }),
      expect.objectContaining({
        id: "acme/house#3",
        predictions: [expect.objectContaining({ raw: "acme/Window.java", after: expect.objectContaining({ rung: "suffix" }) })],
      }),
    ]);
    // Beside the old scores, which stay as they are.
    expect(readdirSync(runFolder)).toEqual([...before, "rescored"].sort());
    expect(result.reports.every((path: string) => existsSync(join(folder, path)))).toBe(true);
    const names = result.reports.map((path: string) => path.split("/").at(-1));
    expect(names).toEqual(expect.arrayContaining(["results.json", "report.md", "difference.json", "difference.md"]));
  });

  test("the same rules change nothing, and the run's own scores come out again to the last digit", async () => {
    const { folder, runFolder } = await scoredProject({ rules: "lenient" });
    const { cells, notes } = await rescored(folder, "latest", "--rules", "lenient");
    expect(notes).toEqual([]);
    expect(cells[0]).toMatchObject({ gained: [], lost: [], other: [] });
    const report = JSON.parse(readFileSync(join(runFolder, report0(runFolder)), "utf8"));
    const again = join(runFolder, "rescored", readdirSync(join(runFolder, "rescored"))[0] ?? "");
    const { summary, issues } = JSON.parse(readFileSync(join(again, report0(again)), "utf8"));
    expect(summary).toEqual(report.summary);
    expect(issues).toEqual(report.issues);
  });

  test("the same command gives the same bytes", async () => {
    const { folder } = await scoredProject();
    const bytes = async () => {
      const { reports } = await rescored(folder, "latest", "--rules", "lenient");
      return reports.map((path: string) => readFileSync(join(folder, path), "utf8"));
    };
    expect(await bytes()).toEqual(await bytes());
  });

  test("RUN is an id, a folder, a report, with a label or without", async () => {
    const { folder, run, runFolder } = await scoredProject({ cells: { one: ANSWERS, two: { ...ANSWERS, 1: classes(ROOF) } } });
    const labels = async (named: string) =>
      (await rescored(folder, named, "--rules", "lenient")).cells.map(({ label }: { label: string }) => label);
    for (const named of ["latest", run, runFolder, join(runFolder, "results.json")]) {
      expect(await labels(named)).toEqual(["one.jsonl", "two.jsonl"]);
    }
    const report = readdirSync(runFolder).find((name) => name.includes("two")) ?? "";
    for (const named of ["latest:two.jsonl", `${run}:two.jsonl`, join(runFolder, report)]) {
      expect(await labels(named)).toEqual(["two.jsonl"]);
    }
    const wrong = await bench(folder, "rescore", "latest:twoo.jsonl", "--rules", "lenient");
    expect(wrong).toMatchObject({ exit: 2, stdout: "" });
    expect(wrong.stderr).toContain("did you mean two.jsonl?");
    expect((await bench(folder, "rescore", "nothing", "--rules", "lenient")).stderr).toContain("no run");
  });

  test("without the cache the run's reports serve, as far as they can, and say so", async () => {
    const { folder } = await scoredProject({ rules: "lenient" });
    const whole = await rescored(folder, "latest", "--rules", "strict");
    rmSync(join(folder, "cache"), { recursive: true });
    const { cells, source, notes } = await rescored(folder, "latest", "--rules", "strict");
    expect(source).toBe("reports");
    expect(notes.join("\n")).toMatch(/there is no cache.*only exact paths/s);
    expect(cells[0].measures).toEqual(whole.cells[0].measures);
    expect(cells[0].lost.map(({ id }: { id: string }) => id)).toEqual(["acme/house#2", "acme/house#3"]);
    const refused = await bench(folder, "rescore", "latest", "--rules", "lenient");
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toMatch(/--corpus/);
  });

  test("with the tree given, a report is as good as the cache; another tree is refused", async () => {
    const { folder } = await scoredProject();
    const whole = await rescored(folder, "latest", "--rules", "lenient");
    rmSync(join(folder, "cache"), { recursive: true });
    const { cells, notes } = await rescored(folder, "latest", "--rules", "lenient", "--corpus", "tree");
    expect(cells[0].measures).toEqual(whole.cells[0].measures);
    expect(cells[0].gained).toEqual(whole.cells[0].gained);
    expect(notes.join("\n")).not.toContain("only exact paths");
    rmSync(join(folder, "tree", ROOF));
    const other = await bench(folder, "rescore", "latest", "--rules", "lenient", "--corpus", "tree");
    expect(other.exit).toBe(2);
    expect(other.stderr).toContain("Roof.java");
  });

  test("a moved project scores the same: absolute paths below a tree's copy are known by the tree's digest", async () => {
    const seen = `/somewhere/else/cache/trees/${projectTreeDigest()}/${ROOF}`;
    const { folder } = await scoredProject({ cells: { puppet: { ...ANSWERS, 2: classes(seen) } } });
    const { cells } = await rescored(folder, "latest", "--rules", "strict");
    expect(cells[0].measures.R.after).toBeCloseTo((1 + 1 + 0 + 1) / 6, 12);
  });

  test("cases that the rules leave out are named and not compared", async () => {
    const { folder } = await scoredProject();
    write(folder, "rules.yaml", "name: finished\nextends: lenient\nleave_out: [timed_out, unasked]\n");
    const { cells, reports } = await rescored(folder, "latest", "--rules", "rules.yaml");
    expect(cells[0]).toMatchObject({ n: 4, only_before: ["acme/house#5", "acme/house#6"], only_after: [] });
    const results = JSON.parse(
      readFileSync(
        join(
          folder,
          reports.find((path: string) => path.endsWith("results.json")),
        ),
        "utf8",
      ),
    );
    expect(results.cells[0].summary).toMatchObject({ n: 4, failed: 2, left_out_by_rules: { timed_out: 1, unasked: 1 } });
    const report = readFileSync(
      join(
        folder,
        reports.find((path: string) => path.endsWith("report.md")),
      ),
      "utf8",
    );
    expect(report).toContain("1 timed out, 1 unasked");
  });

  test("mistakes in a rule file are shown with line and column, and nothing is written", async () => {
    const { folder, runFolder } = await scoredProject();
    write(folder, "rules.yaml", "name: mine\nextends: lenient\nrungs: [path, sufix]\nrenames: maybe\n");
    const { exit, stderr } = await bench(folder, "rescore", "latest", "--rules", "rules.yaml");
    expect(exit).toBe(2);
    expect(stderr).toContain("rules.yaml:3:15: error: unknown rung `sufix`");
    expect(stderr).toContain("rules.yaml:4:10: error:");
    expect(readdirSync(runFolder)).not.toContain("rescored");
  });

  test("what a run can't mean is wrong usage", async () => {
    const { folder } = await scoredProject();
    const wrong = async (...argv: string[]) => (await bench(folder, "rescore", ...argv)).stderr;
    expect(await wrong("latest")).toMatch(/--rules/);
    expect(await wrong("latest", "--rules", "lenient", "--corpus", "tree")).toMatch(/run's own tree/);
    expect(await wrong("latest", "--rules", "lenient", "--dataset", "pipelines/dataset.jsonl")).toMatch(/own data set/);
    expect(await wrong("latest", "--rules", "lenient", "--measures", "Hitt@3")).toMatch(/--measures/);
  });

  test("other measures than the run's, and other rules to compare with", async () => {
    const { folder } = await scoredProject();
    const { cells } = await rescored(folder, "latest", "--rules", "lenient", "--from", "seed", "--measures", "R,nDCG@10");
    expect(Object.keys(cells[0].measures)).toEqual(["R", "nDCG@10"]);
    expect(cells[0].rules).toMatchObject({ before: { name: "seed" }, after: { name: "lenient" } });
  });

  test("scores that another version made are told apart from what the rules did", async () => {
    const { folder, runFolder } = await scoredProject({ rules: "lenient" });
    // As if the strict rules had once found what only the lenient ones find now.
    const record = JSON.parse(readFileSync(join(runFolder, "run.json"), "utf8"));
    const scores = record.nodes.find(({ uses }: { uses: string }) => uses === "score");
    const cache = await Cache.open({ folder: join(folder, "cache"), now: Date.now, warn: () => {} });
    const manifest = JSON.parse(JSON.stringify(await cache.getJson(scores.output)));
    manifest.meta.rules = rulesFacts(builtInRules.strict);
    scores.output = await cache.putJson(manifest);
    await cache.close();
    writeFileSync(join(runFolder, "run.json"), JSON.stringify(record));
    const { cells, notes } = await rescored(folder, "latest", "--rules", "lenient");
    expect(notes.join("\n")).toMatch(/2 of 6 answers otherwise/);
    expect(cells[0].gained).toHaveLength(2);
  });
});

describe("bench score on what is stored", () => {
  test("a run: its data set, its tree, any rules and measures", async () => {
    const { folder } = await scoredProject();
    const { exit, stdout } = await bench(folder, "score", "latest", "--rules", "lenient", "--measures", "R,nDCG@10", "--json");
    expect(exit).toBe(0);
    const { summary, issues } = JSON.parse(stdout);
    expect(summary.measures.R.value).toBeCloseTo((1 + 1 + 0.5 + 1) / 6, 12);
    expect(Object.keys(summary.measures)).toEqual(["R", "nDCG@10"]);
    expect(issues.map(({ outcome }: { outcome: string }) => outcome)).toContain("timed_out");
    const table = await bench(folder, "score", "latest");
    expect(table.stdout).toContain("puppet.jsonl");
  });

  test("a run's answers on a corrected data set", async () => {
    const { folder } = await scoredProject();
    write(folder, "fixed.jsonl", `${caseLine(1, [ROOF])}\n${caseLine(2, [WINDOW])}\n`);
    const { stdout } = await bench(folder, "score", "latest", "--dataset", "fixed.jsonl", "--json");
    const { summary } = JSON.parse(stdout);
    expect(summary).toMatchObject({ n: 2, measures: { R: { value: 0 } } });
    expect(summary.left_out).toBe(3);
  });

  test("several cells: the figures of each", async () => {
    const { folder } = await scoredProject({ cells: { one: ANSWERS, two: ANSWERS } });
    const { cells } = JSON.parse((await bench(folder, "score", "latest", "--json")).stdout);
    expect(cells.map(({ label }: { label: string }) => label)).toEqual(["one.jsonl", "two.jsonl"]);
    expect(JSON.parse((await bench(folder, "score", "latest:one.jsonl", "--json")).stdout).issues).toHaveLength(6);
  });

  test("our report without its run, and the original's with its own truth", async () => {
    const { folder, runFolder } = await scoredProject();
    cpSync(join(runFolder, report0(runFolder)), join(folder, "alone.json"));
    const ours = JSON.parse((await bench(folder, "score", "alone.json", "--json")).stdout);
    const run = JSON.parse((await bench(folder, "score", "latest", "--json")).stdout);
    expect(ours.summary.measures).toEqual(run.summary.measures);
    const issue = (issue_number: number, raw: string | null, expected: string[]) => ({
      ...{ issue_number, issue_title: "t", status: "ok", expected_java_files: expected },
      ...(raw === null ? {} : { raw_response: raw }),
    });
    const issues = [issue(1, classes("Door"), [DOOR]), issue(2, classes(ROOF), [ROOF, WINDOW]), issue(3, null, [DOOR])];
    write(folder, "old.json", JSON.stringify({ project_name: "acme/house", summary: {}, issues }));
    const old = JSON.parse((await bench(folder, "score", "old.json", "--rules", "seed", "--json")).stdout);
    expect(old.summary).toMatchObject({ n: 2, micro: { true_positives: 2, false_negatives: 1 } });
    const both = await rescored(folder, "old.json", "--rules", "strict");
    expect(both.cells[0]).toMatchObject({ rules: { before: { name: "seed" } }, n: 2 });
    expect(both.cells[0].lost.map(({ id }: { id: string }) => id)).toEqual(["acme/house#1"]);
  });

  test("answers without a data set, and names that mean nothing", async () => {
    const { folder } = await scoredProject();
    expect((await bench(folder, "score", "pipelines/puppet.jsonl")).stderr).toMatch(/--dataset/);
    expect((await bench(folder, "score", "gone.jsonl")).stderr).toMatch(/no such file/);
    expect((await bench(folder, "score", "gone")).stderr).toMatch(/no run "gone"/);
  });
});

function report0(folder: string): string {
  return readdirSync(folder).find((name) => name.includes("_eval")) ?? "";
}
