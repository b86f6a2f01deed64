/**
 * The quick start as a person types it: everything the first time, nothing the second, and after each kind of change exactly what
 * depends on it. Counted, never timed.
 */
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { executed, figures, filesBelow, type Project, type RunJson } from "./rigs/cli.js";
import { QUICKSTART, type Quickstart, quickstartArchive, quickstartProject } from "./rigs/quickstart.js";

const BACKENDS = ["bm25", "empty", "grep", "names", "oracle", "popularity", "random-size-matched", "random-uniform"];
const ISSUE = "apache/cordova-android#592";
const NOTHING = { requests: 0, queries: 0, executed: 0, failed: 0 };

let base: Quickstart;
let first: RunJson & { stderr: string };
const copies: Project[] = [];

beforeAll(async () => {
  base = quickstartProject();
  first = await base.run([QUICKSTART]);
  // From here on the package can't be fetched any more: whoever tries fails.
  base.npm.fail("ENOTFOUND", "there is no network");
}, 180_000);
afterAll(() => base.remove());
afterEach(() => {
  for (const copy of copies.splice(0)) copy.remove();
});

/** The project with the cache that the first run left. */
function used(): Project {
  const copy = base.copy();
  copies.push(copy);
  return copy;
}

/** The project with an empty cache. */
function fresh(): Project {
  const copy = used();
  for (const name of ["cache", "evaluation_results", "mined_projects"]) rmSync(join(copy.folder, name), { recursive: true });
  return copy;
}

function stage(run: RunJson, name: string, label?: string) {
  const found = run.stages.find((one) => one.name === name && (label === undefined || one.label === label));
  if (found === undefined) throw new Error(`no stage ${name}`);
  return found;
}

describe("the first run", () => {
  test("does every stage, for every backend", () => {
    expect(first.state).toBe("done");
    expect(first.warnings).toEqual([]);
    expect(new Set(first.stages.map(({ state }) => state))).toEqual(new Set(["done"]));
    expect(stage(first, "issues").items).toBe(63);
    expect(stage(first, "dataset").items).toBe(60);
    expect(first.counts).toMatchObject({ cached: 0, failed: 0, queries: 8 * 60 });
    expect(first.counts.requests).toBeGreaterThan(63);
    expect(Object.keys(first.summary).sort()).toEqual(BACKENDS);
  });

  test("scores the 55 cases that have a target in the sources; the self-tests are perfect and zero", () => {
    const { oracle, empty, ...others } = first.summary;
    for (const summary of Object.values(first.summary)) expect(summary.n).toBe(55);
    for (const name of ["P", "R", "F1", "RR", "Hit@1", "Hit@5"]) {
      expect(oracle?.measures[name]).toMatchObject({ value: 1, lower: 1, upper: 1 });
      expect(empty?.measures[name]).toMatchObject({ value: 0, lower: 0, upper: 0 });
    }
    expect(empty?.outcomes).toMatchObject({ abstained: 55, answered: 0 });
    for (const summary of Object.values(others)) {
      const { value, lower, upper } = summary.measures.RR;
      expect(lower).toBeLessThanOrEqual(value);
      expect(upper).toBeGreaterThanOrEqual(value);
      expect(value).toBeLessThan(1);
    }
    expect(Object.keys(oracle?.strata ?? {})).not.toEqual([]);
  });

  test("writes what people read: reports, page, data set, journal, record and lock file", async () => {
    for (const report of first.reports) expect(existsSync(join(base.folder, report)), report).toBe(true);
    for (const label of BACKENDS) {
      const report = first.reports.find((path) => path.includes(`__${label}_eval__`));
      const { summary, issues } = JSON.parse(base.read(report ?? ""));
      expect(summary.measures).toEqual(first.summary[label]?.measures);
      expect(issues.length).toBe(60);
    }
    const folder = join("evaluation_results", first.run_id);
    const page = base.read(join(folder, "report.html"));
    // Small enough to be written by default here, and with the run that made it.
    expect(page.length).toBeLessThan(1_000_000);
    expect(page).toContain(`<script type="application/json" id="run">{"id":"${first.run_id}"`);
    const one = await base.bench(["report", `${first.run_id}:bm25`, "--format", "html"]);
    expect(one.exit).toBe(0);
    expect(one.stdout).toContain(`id="run">{"id":"${first.run_id}"`);
    expect(one.stdout).toContain("There is one configuration only");
    const record = JSON.parse(base.read(join(folder, "run.json")));
    expect(record).toMatchObject({
      run_id: first.run_id,
      state: "done",
      exit: 0,
      name: "quickstart",
      params: { rules: "strict" },
    });
    expect(record.nodes.length).toBe(first.stages.length);
    const events = base
      .read(join(folder, "journal.jsonl"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.filter(({ type, status }) => type === "unit" && status === "completed").length).toBe(first.counts.executed);
    for (const event of events) expect(Date.parse(event.time)).not.toBeNaN();
    expect(events.at(-1)).toMatchObject({ type: "run-finished", state: "done" });
    const lock = JSON.parse(base.read("pipelines/quickstart.lock.json"));
    expect(Object.keys(lock.stages).length).toBe(first.stages.length);
  });
});

describe("the second run", () => {
  test("asks nothing and executes nothing, offline too, and says the same", async () => {
    const again = used();
    const lock = again.read("pipelines/quickstart.lock.json");
    for (const args of [[], ["--offline"], ["--jobs", "1"]]) {
      const run = await again.run([QUICKSTART, ...args]);
      expect(run.counts).toMatchObject({ ...NOTHING, cached: first.counts.executed });
      expect(run.summary).toEqual(first.summary);
    }
    expect(again.read("pipelines/quickstart.lock.json")).toBe(lock);
    // The data set keeps the name of its making: three runs leave one file (and its audit).
    expect(readdirSync(join(again.folder, "mined_projects")).length).toBe(2);
    const plan = await again.bench(["plan", QUICKSTART]);
    expect(plan.exit).toBe(0);
    expect(plan.stdout).toContain("Everything is in the cache.");
    const status = await again.bench(["status", "--json"]);
    expect(JSON.parse(status.stdout).map(({ state }: { state: string }) => state)).toEqual(["done", "done", "done", "done"]);
  });

  test("touched files, a comment, moved keys, a renamed folder: nothing is executed", async () => {
    const again = used();
    const now = new Date();
    for (const file of filesBelow(again.folder)) utimesSync(join(again.folder, file), now, now);
    const text = again.read(QUICKSTART);
    const moved = text
      .replace("name: quickstart", "# another comment\nname: quickstart")
      .replace("{ kind: bm25, top: 15 }", "{ top: 15, kind: bm25 }")
      .replace(
        "with: { repo: apache/cordova-android, limit: 0, recording: quickstart/cordova-android.json }",
        "with:\n      # moved\n      recording: ./quickstart/cordova-android.json\n      limit: 0\n      repo: apache/cordova-android",
      )
      .replace(
        "    uses: score\n    needs: [dataset, sources, answers]",
        "    needs: [answers, sources, dataset]\n    uses: score",
      )
      .replace("  rules: strict", "  rules: 'strict'");
    expect(moved).not.toBe(text);
    again.write(QUICKSTART, moved);
    const run = await again.run([QUICKSTART]);
    expect(run.counts).toMatchObject(NOTHING);
    expect(run.summary).toEqual(first.summary);
  });
});

test("other rules: score and what follows it, nothing else; the figures are those of a fresh cache", async () => {
  const again = used();
  const plan = await again.bench(["plan", QUICKSTART, "--set", "rules=lenient"]);
  expect(plan.stdout).toMatch(/scores\[bm25\].*rules: strict -> lenient/);
  expect(plan.stdout).toContain("0 requests or queries are known to be needed.");
  const explained = await again.bench(["explain", QUICKSTART, "scores[bm25]", "--set", "rules=lenient"]);
  expect(explained.stdout).toContain("not in the cache");
  expect(explained.stdout).toContain("rules: strict -> lenient");

  const lenient = await again.run([QUICKSTART, "--set", "rules=lenient"]);
  expect(lenient.counts).toMatchObject({ requests: 0, queries: 0, failed: 0 });
  expect(executed(lenient)).toEqual({ scores: 8 * 60, intervals: 8, report: 1 });
  expect(lenient.summary.bm25?.rules).toBe("lenient");

  const made = fresh();
  base.npm.give(quickstartArchive());
  const reference = await made.run([QUICKSTART, "--set", "rules=lenient"]);
  base.npm.fail("ENOTFOUND", "there is no network");
  expect(figures(lenient)).toEqual(figures(reference));

  // The lock files agree in everything that does not hold how long an answer took.
  const [one, two] = [again, made].map(({ read }) => JSON.parse(read("pipelines/quickstart.lock.json")).stages);
  for (const name of ["issues", "links", "files", "dataset", "sources"]) expect(one[name]).toEqual(two[name]);

  // And back: both are in the cache now.
  expect((await again.run([QUICKSTART])).counts).toMatchObject(NOTHING);
});

test("one changed issue text re-asks that case alone, of the backends that read texts", async () => {
  const again = used();
  const file = "pipelines/quickstart/cordova-android.json";
  const recording = JSON.parse(again.read(file));
  const issue = recording.issues.find(({ number }: { number: number }) => number === 592);
  issue.body = `${issue.body} It happens in PluginManager as well.`;
  again.write(file, JSON.stringify(recording));

  const run = await again.run([QUICKSTART]);
  expect(run.counts.queries).toBe(3);
  for (const label of ["bm25", "names", "grep"]) {
    expect(stage(run, "answers", label)).toMatchObject({ executed: 1, cached: 59 });
    expect(stage(run, "scores", label).executed).toBeLessThanOrEqual(1);
  }
  for (const label of ["oracle", "empty", "popularity", "random-uniform", "random-size-matched"]) {
    expect(stage(run, "answers", label).executed).toBe(0);
    expect(stage(run, "scores", label).executed).toBe(0);
  }
  expect(stage(run, "sources").executed).toBe(0);

  const explained = await again.bench(["explain", QUICKSTART, "answers[bm25]", "592"]);
  expect(explained.stdout).toContain(`answers[bm25], ${ISSUE}`);
  expect(explained.stdout).toContain("in the cache");
  expect((await again.run([QUICKSTART])).counts).toMatchObject(NOTHING);
});

describe("choosing", () => {
  test("--items asks about those only, a later run about the others; an unknown one is a mistake", async () => {
    const made = used();
    const only = ["--only", "answers", "--force", "answers[bm25]"];
    const some = await made.run([QUICKSTART, "--items", "592,#621", ...only]);
    expect(executed(some)).toEqual({ answers: 2 });
    expect(stage(some, "answers", "bm25").items).toBe(2);

    const wrong = await made.bench(["run", QUICKSTART, "--items", "592,99999"]);
    expect(wrong.exit).toBe(1);
    expect(wrong.stderr).toContain("--items names 99999, but dataset has no such item; it has 60: apache/cordova-android#");
    expect(wrong.stderr).toContain("0 executed");
  });

  test("--sample: the same ones every time, and a larger sample contains a smaller one", async () => {
    const made = used();
    const pipeline = made.read(QUICKSTART).replace("{ kind: bm25, top: 15 }", "{ kind: bm25, top: 14 }");
    made.write(QUICKSTART, pipeline);
    const answers = ["--only", "answers[bm25]"];
    expect(executed(await made.run([QUICKSTART, "--sample", "5", ...answers]))).toEqual({ answers: 5 });
    expect(executed(await made.run([QUICKSTART, "--sample", "5", ...answers]))).toEqual({});
    expect(executed(await made.run([QUICKSTART, "--sample", "12", ...answers]))).toEqual({ answers: 7 });
    const all = await made.run([QUICKSTART]);
    expect(stage(all, "answers", "bm25")).toMatchObject({ executed: 48, cached: 12 });
    // A chosen part is no whole pipeline: the lock file is that of the full run.
    expect(JSON.parse(made.read("pipelines/quickstart.lock.json")).stages["answers[bm25]"].items).toBe(60);
  });

  test("--until stops before what comes later; --only and --from refuse what is not there; --from goes on", async () => {
    const made = fresh();
    const until = await made.run([QUICKSTART, "--until", "dataset"]);
    expect(executed(until)).toEqual({ issues: 2, links: 63, files: 56, dataset: 1 });
    expect(stage(until, "sources").state).toBe("skipped");
    expect(existsSync(join(made.folder, "pipelines/quickstart.lock.json"))).toBe(true);

    const only = await made.bench(["run", QUICKSTART, "--only", "report"]);
    expect(only.exit).toBe(1);
    expect(only.stderr).toContain("not in the cache as it is configured now, and --only or --from leaves it out: run it first");
    expect(only.stderr).toContain("0 queries");

    // The sources can't be fetched: the stages that need them are not run, what does not is kept.
    const offline = await made.bench(["run", QUICKSTART, "--offline"]);
    expect(offline.exit).toBe(1);
    expect(offline.stderr).toContain("cordova-android@8.0.0");
    expect(offline.stderr).toMatch(/not run because of that:.*report/);
    base.npm.give(quickstartArchive());
    const from = await made.run([QUICKSTART, "--until", "answers[empty]"]);
    base.npm.fail("ENOTFOUND", "there is no network");
    expect(executed(from)).toEqual({ sources: 1, answers: 60 });
    const rest = await made.run([QUICKSTART, "--only", "scores[empty]", "--offline"]);
    expect(executed(rest)).toEqual({ scores: 60 });
  });

  test("--force does it again and the same comes out; --plan only says", async () => {
    const made = used();
    const planned = await made.bench(["run", QUICKSTART, "--plan", "--force", "scores[bm25]"]);
    expect(planned.exit).toBe(0);
    expect(planned.stdout).toMatch(/scores\[bm25\].*forced/);
    expect(readdirSync(join(made.folder, "evaluation_results")).filter((name) => /^\d{8}T/.test(name)).length).toBe(1);
    const forced = await made.run([QUICKSTART, "--force", "scores[bm25]"]);
    // Early cut-off: the same scores again, so nothing behind them is done.
    expect(executed(forced)).toEqual({ scores: 60 });
    expect(forced.summary).toEqual(first.summary);
  });

  test("a misspelt stage or parameter: exit 2 with what was meant", async () => {
    const stageName = await base.bench(["run", QUICKSTART, "--only", "scroes"]);
    expect(stageName.exit).toBe(2);
    expect(stageName.stderr).toContain("did you mean scores?");
    const parameter = await base.bench(["run", QUICKSTART, "--set", "rulse=lenient"]);
    expect(parameter.exit).toBe(2);
    expect(parameter.stderr).toContain("rules");
    for (const { stderr } of [stageName, parameter]) expect(stderr).not.toMatch(/\n\s+at /);
  });
});

test("the files of the shipped project are left as they are", () => {
  const recording = "pipelines/quickstart/cordova-android.json";
  expect(base.read(recording)).toBe(readFileSync(join(import.meta.dirname, "..", recording), "utf8"));
});
