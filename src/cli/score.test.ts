import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { OptionValue } from "./contract.js";
import { scoreCommand } from "./score.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bench-score-"));
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return name;
}

async function bench(args: string[], options: Record<string, OptionValue>, cwd = folder) {
  const out: string[] = [];
  const err: string[] = [];
  const io = {
    stdout: (text: string) => void out.push(text),
    stderr: (text: string) => void err.push(text),
    env: {},
    cwd,
    terminal: { isTTY: false, columns: 80, colour: false },
    interrupted: new AbortController().signal,
  };
  const exit = await scoreCommand.run(args, options, io);
  return { exit, stdout: out.join(""), stderr: err.join("") };
}

async function report(args: string[], options: Record<string, OptionValue>, cwd = folder) {
  const { stdout, exit } = await bench(args, { ...options, json: true }, cwd);
  expect(exit).toBe(0);
  return JSON.parse(stdout);
}

/** A data set as the original's miner writes it. */
function mined(issues: Record<number, readonly string[]>): string {
  return JSON.stringify({
    project_name: "acme/house",
    github_url: "https://example.org/acme/house",
    mined_at: "2026-01-01T00:00:00+00:00",
    total_closed_issues_scanned: 10,
    total_relevant_issues: Object.keys(issues).length,
    issues: Object.entries(issues).map(([number, files]) => ({
      number: Number(number),
      title: `Case ${number}`,
      url: `https://example.org/acme/house/issues/${number}`,
      description_message: "It does not close.",
      created_at: "2025-01-01T00:00:00Z",
      closed_at: "2025-02-01T00:00:00Z",
      linked_merged_pull_request_urls: [],
      linked_merged_pull_requests: [
        {
          ...{ number: Number(number) + 100, title: "Fix", url: "https://example.org/p", repository: "acme/house" },
          ...{ merged_at: "2025-01-15T00:00:00Z", impacted_files: files, impacted_files_count: files.length },
        },
      ],
    })),
  });
}

const DOOR = "src/main/java/acme/Door.java";
const ROOF = "src/main/java/acme/Roof.java";
const WINDOW = "src/main/java/acme/Window.java";
const CASES = { 1: [DOOR], 2: [ROOF, WINDOW], 3: [WINDOW] };
const list = (...paths: string[]) => JSON.stringify({ classes: paths.map((path) => ({ path })) });
const line = (number: number, response: string, more: Record<string, unknown> = {}) =>
  `${JSON.stringify({ id: `acme/house#${number}`, response, ...more })}\n`;

describe("bench score", () => {
  test("perfect answers give 1 everywhere, empty ones 0 with the outcome abstained", async () => {
    const dataset = write("mined.json", mined(CASES));
    const measures = "P,R,F1,P(micro),R(micro),F1(micro),Hit@1,Hit@5,R@10,RR";
    const oracle = write(
      "oracle.jsonl",
      Object.entries(CASES)
        .map(([n, files]) => line(Number(n), list(...files)))
        .join(""),
    );
    const perfect = await report([oracle], { dataset, measures });
    for (const [name, { value, lower, upper, n }] of Object.entries<Record<string, number>>(perfect.summary.measures)) {
      expect([name, value, lower, upper, n]).toEqual([name, 1, 1, 1, 3]);
    }
    expect(perfect.summary.outcomes).toMatchObject({ answered: 3, abstained: 0 });
    const empty = write("empty.jsonl", [1, 2, 3].map((n) => line(n, list())).join(""));
    const nothing = await report([empty], { dataset, measures });
    for (const { value } of Object.values<Record<string, number>>(nothing.summary.measures)) expect(value).toBe(0);
    expect(nothing.summary).toMatchObject({ n: 3, abstained: 3, failed: 0, outcomes: { answered: 0, abstained: 3 } });
  });

  test("counts by hand: micro pools, macro averages, what failed is zero", async () => {
    const dataset = write("mined.json", mined(CASES));
    const answers = write(
      "a.jsonl",
      line(1, list(ROOF, DOOR)) + line(2, list(ROOF)) + line(3, "", { status: "timed_out", error: "180 s" }),
    );
    const { summary, issues } = await report([answers], { dataset });
    expect(summary.micro).toMatchObject({
      true_positives: 2,
      false_positives: 1,
      false_negatives: 2,
      precision: 2 / 3,
      recall: 0.5,
    });
    expect(summary.macro.precision).toBeCloseTo((0.5 + 1 + 0) / 3, 12);
    expect(summary.measures.RR.value).toBeCloseTo((0.5 + 1) / 3, 12);
    expect(summary.without_failed.measures.RR.value).toBeCloseTo(0.75, 12);
    expect(issues.map(({ id, outcome }: Record<string, string>) => [id, outcome])).toEqual([
      ["acme/house#1", "answered"],
      ["acme/house#2", "answered"],
      ["acme/house#3", "timed_out"],
    ]);
    expect(issues[0].predictions).toMatchObject([
      { raw: ROOF, read_by: "json", target: null },
      { raw: DOOR, read_by: "json", rung: "path", target: DOOR },
    ]);
    expect(issues[0].measures).toMatchObject({ P: 0.5, RR: 0.5 });
  });

  test("cases without an answer count as zero unless they are left out on request", async () => {
    const dataset = write("mined.json", mined(CASES));
    const answers = write("a.jsonl", line(1, list(DOOR)));
    expect((await report([answers], { dataset })).summary).toMatchObject({ n: 3, failed: 2, outcomes: { unasked: 2 } });
    const only = await report([answers], { dataset, onlyAnswered: true });
    expect(only.summary).toMatchObject({ n: 1, measures: { F1: { value: 1, n: 1 } } });
  });

  test("with a corpus the truth is cut to it, and lenient rules find unique names", async () => {
    const dataset = write("mined.json", mined({ ...CASES, 2: [ROOF, "src/main/java/acme/Cellar.java"] }));
    for (const path of [DOOR, ROOF, WINDOW]) write(`tree/${path}`, "class X {}");
    const answers = write("a.jsonl", line(1, list("Door")) + line(2, list(`/somewhere/else/${ROOF}`)) + line(3, list(WINDOW)));
    const { summary, corpus, issues } = await report([answers], { dataset, corpus: "tree", rules: "lenient" });
    expect(summary).toMatchObject({ n: 3, absent_targets: 1, measures: { F1: { value: 1 } } });
    expect(summary.all_targets.measures.R.value).toBeCloseTo((1 + 0.5 + 1) / 3, 12);
    expect(corpus).toMatchObject({ files: 3 });
    expect(issues[1].absent_targets).toEqual(["src/main/java/acme/Cellar.java"]);
    const strict = await report([answers], { dataset, corpus: "tree", rules: "strict" });
    expect(strict.summary.measures.F1.value).toBeCloseTo(1 / 3, 12);
  });

  test("below the file the files of the corpus are read; without their contents such figures are none, and that is said", async () => {
    const one = { id: "q", repository: null, number: null, title: "t", body: "" };
    const functions = [{ name: "Door.open", ranges: null }];
    const targets = [{ path: DOOR, role: "source", ranges: [[2, 2]], functions }];
    const dataset = write("cases.jsonl", `${JSON.stringify({ ...one, targets })}\n`);
    write(`tree/${DOOR}`, "class Door {\n  void open() { }\n  void shut() { }\n}\n");
    const response = JSON.stringify([{ path: DOOR, start_line: 2, end_line: 3 }]);
    const answers = write("a.jsonl", `${JSON.stringify({ id: "q", response })}\n`);
    const measures = "P(level=function),R(level=function),R@lines=1,P@lines=9";
    const { summary } = await report([answers], { dataset, corpus: "tree", measures });
    const values = (given: typeof summary) =>
      Object.values(given.measures as Record<string, { value: number | null }>).map(({ value }) => value);
    expect(values(summary)).toEqual([0.5, 1, 1, 0.5]);
    const bare = await report([answers], { dataset, measures: "R@lines=1" });
    expect(values(bare.summary)).toEqual([null]);
    expect(JSON.stringify(bare)).toContain("R@lines=1: undefined, since the files of the source tree are not at hand here");
  });

  test("bad records are named on stderr and counted; good ones still count", async () => {
    const dataset = write("mined.json", mined(CASES));
    const answers = write("a.jsonl", `${line(1, list(DOOR))}{"id": 7}\nnot json\n${line(99, list(DOOR))}`);
    const { exit, stdout, stderr } = await bench([answers], { dataset, json: true });
    expect(exit).toBe(0);
    expect(stderr).toMatch(/record 2/);
    expect(stderr).toMatch(/record 3/);
    expect(stderr).toContain("acme/house#99");
    const { summary } = JSON.parse(stdout);
    expect(summary.left_out).toBe(3);
    expect(summary.outcomes.answered).toBe(1);
  });

  test("one report is about one backend", async () => {
    const dataset = write("mined.json", mined(CASES));
    const answers = write("a.jsonl", line(1, list(DOOR), { backend: "x" }) + line(1, list(), { backend: "y" }));
    await expect(bench([answers], { dataset })).rejects.toThrow(/2 backends \(x, y\).*--backend/);
    expect((await report([answers], { dataset, backend: "y" })).summary).toMatchObject({ backend: "y", abstained: 1 });
    await expect(bench([answers], { dataset, backend: "z" })).rejects.toThrow(/"z"/);
  });

  test("answers that name no backend bear the name of their file", async () => {
    const dataset = write("mined.json", mined(CASES));
    const answers = write("my-search.jsonl", line(1, list(DOOR)));
    expect((await report([answers], { dataset })).summary).toMatchObject({ backend: "my-search" });
  });

  test("wrong usage says what would be right", async () => {
    const dataset = write("mined.json", mined(CASES));
    const answers = write("a.jsonl", line(1, list(DOOR)));
    await expect(bench([], { dataset })).rejects.toThrow(/which answers/);
    await expect(bench([answers], {})).rejects.toThrow(/--dataset/);
    await expect(bench(["gone.jsonl"], { dataset })).rejects.toThrow(/gone.jsonl.*no such file/);
    await expect(bench([answers], { dataset, samples: "many" })).rejects.toThrow(/--samples.*"many"/);
    await expect(bench([answers], { dataset, samples: "1000001" })).rejects.toThrow(/--samples.*from 1 to 1000000/);
    await expect(bench([answers], { dataset, measures: "F2,Hitt@5" })).rejects.toThrow(/--measures/);
    await expect(bench([answers], { dataset, rules: "lenjent" })).rejects.toThrow(/lenient/);
    await expect(bench([answers], { dataset, corpus: "nowhere" })).rejects.toThrow(/--corpus/);
    await expect(bench([write("empty.jsonl", "")], { dataset })).rejects.toThrow(/no usable answer/);
  });

  test("the table goes to stdout alone, and the same files give the same bytes", async () => {
    const dataset = write("mined.json", mined(CASES));
    const answers = write("a.jsonl", line(1, list(DOOR), { backend: "bm25" }));
    const once = await bench([answers], { dataset });
    expect(once.stdout).toMatch(/^ +P +R +F1/);
    expect(once.stdout).toContain("bm25");
    expect(await bench([answers], { dataset })).toEqual(once);
    const json = await bench([answers], { dataset, json: true });
    expect(await bench([answers], { dataset, json: true })).toEqual(json);
  });

  test("our own report can be scored again with the same result", async () => {
    const dataset = write("mined.json", mined(CASES));
    const answers = write("a.jsonl", line(1, list(ROOF, DOOR)) + line(2, "I can't help with that.") + line(3, list(WINDOW)));
    const first = await bench([answers], { dataset, json: true });
    const again = await bench([write("report.json", first.stdout)], { dataset, json: true });
    const { summary, issues } = JSON.parse(again.stdout);
    expect(summary).toEqual(JSON.parse(first.stdout).summary);
    expect(issues.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["answered", "refused", "answered"]);
  });
});

test("a report keeps every status for the next scoring: cut, timed out, skipped, never asked", async () => {
  const dataset = write("mined.json", mined({ 1: [DOOR], 2: [ROOF], 3: [WINDOW], 4: [DOOR] }));
  const cut = list(DOOR, ROOF).slice(0, -20);
  const answers = write(
    "a.jsonl",
    line(1, cut, { status: "truncated", finish_reason: "length" }) +
      line(2, "", { status: "timed_out", error: "180 s" }) +
      line(3, "", { status: "skipped" }),
  );
  for (const rules of ["strict", "seed"]) {
    const first = await report([answers], { dataset, rules });
    expect(first.summary.outcomes).toMatchObject({ answered: 1, timed_out: 1, skipped: 1, unasked: 1 });
    const again = await report([write("report.json", JSON.stringify(first))], { dataset, rules });
    expect(again.summary).toEqual(first.summary);
  }
});

test("an old report: errors are left out under the seed rules, dry runs averaged in as zeros, as the original does", async () => {
  const dataset = write("mined.json", mined(CASES));
  const issue = (number: number, status: string, raw: string | null) => ({ issue_number: number, status, raw_response: raw });
  const issues = [issue(1, "ok", list(DOOR)), issue(2, "error", null), issue(3, "dry_run", null)];
  const old = write("old.json", JSON.stringify({ project_name: "acme/house", summary: {}, issues }));
  const { summary } = await report([old], { dataset, rules: "seed" });
  expect(summary).toMatchObject({ issues_evaluated: 2, macro: { f1: 0.5 }, micro: { true_positives: 1, false_negatives: 1 } });
});

const shared = resolve(import.meta.dirname, "../../../shared/data");
const vectors = join(shared, "vectors/seed-rules");

describe.skipIf(!existsSync(vectors))("the original's figures", () => {
  const MINED: Record<string, string> = {
    "stleary/json-java": "stleary__json-java__20260420T090843Z.json",
    "mybatis/jpetstore-6": "mybatis__jpetstore-6__20260420T093019Z.json",
    "nanohttpd/nanohttpd": "nanohttpd__nanohttpd__20260420T084331Z.json",
  };

  /** Equal to 1e-12, member by member. */
  function close(actual: unknown, expected: unknown, at: string): void {
    if (typeof expected === "number") {
      expect(typeof actual, at).toBe("number");
      expect(Math.abs((actual as number) - expected), at).toBeLessThan(1e-12);
    } else {
      for (const [name, value] of Object.entries(expected as Record<string, unknown>)) {
        close((actual as Record<string, unknown>)[name], value, `${at}.${name}`);
      }
    }
  }

  test.each(Object.keys(MINED))("%s", async (project) => {
    const lines = readFileSync(join(vectors, "answers.jsonl"), "utf8").split("\n");
    const own = lines.filter((text) => text !== "" && JSON.parse(text).project === project);
    const answers = write("answers.jsonl", own.join("\n"));
    const dataset = join(shared, "mined", MINED[project] ?? "");
    const { summary, issues } = await report([answers], { dataset, rules: "seed" });
    const expected = JSON.parse(readFileSync(join(vectors, "summary.json"), "utf8"))[project];
    close(summary, expected, project);
    const rows = new Map(own.map((text) => [JSON.parse(text).issue_number, JSON.parse(text)]));
    let compared = 0;
    for (const issue of issues) {
      const row = rows.get(issue.issue_number);
      if (row === undefined) continue;
      compared += 1;
      for (const member of ["true_positives", "false_positives", "false_negatives", "precision", "recall", "f1"]) {
        expect(issue[member], `${issue.id} ${member}`).toBe(row[member]);
      }
      expect(issue.expected_java_files_count).toBe(row.expected_count);
      // The vectors leave their longest list out.
      if (row.expected !== null) expect(issue.expected_java_files).toEqual(row.expected);
    }
    expect(compared).toBe(own.length);
  });
});
