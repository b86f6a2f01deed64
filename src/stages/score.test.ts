import { describe, expect, test } from "vitest";
import { stageInputs, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { type Answer, answerSchema } from "../answers/schema.js";
import { type Case, caseSchema } from "../dataset/schema.js";
import type { ItemRef, ItemStageKind, OutItem, StageOutput, WholeStageKind } from "../engine/contract.js";
import type { Summary } from "../scoring/summary-schema.js";
import { bootstrapStage } from "./bootstrap.js";
import { reportStage } from "./report.js";
import { scoreStage } from "./score.js";

const FILES = ["src/A.java", "src/B.java", "src/C.java"];
const header = { schema_version: 3, project_name: "acme/house", url: null, scanned: 9, links: "closing", extensions: [".java"] };
const tree = {
  id: "all",
  source: "folder",
  revision: null,
  files: FILES.map((path) => ({ path, digest: "d".repeat(64), size: 1 })),
  notes: [],
};

function caseOf(number: number, target: string, more: Partial<Case> = {}): Case {
  const id = `acme/house#${number}`;
  const targets = [{ path: target, role: "source" }];
  return caseSchema.parse({ id, repository: "acme/house", number, title: `Case ${number}`, body: "", targets, ...more });
}

const CASES = [caseOf(1, "src/A.java"), caseOf(2, "src/B.java"), caseOf(3, "src/New.java"), caseOf(4, "src/C.java")];

function answerOf(number: number, response: string, more: Partial<Answer> = {}): OutItem {
  const id = `acme/house#${number}`;
  const value = answerSchema.parse({ id, backend: "puppet", response, ...more });
  return { id: value.repeat === 0 ? id : `${id}~${value.repeat}`, value };
}

const list = (...paths: string[]) => JSON.stringify({ classes: paths.map((path) => ({ path })) });
const ANSWERS = [answerOf(2, list("src/B.java")), answerOf(1, list("src/B.java", "src/A.java")), answerOf(3, list())];

type Rig = ReturnType<typeof stageToolsRig>;

/** What the engine does with an item stage, in one pass and without a cache. */
async function runScore(rig: Rig, config: Record<string, unknown>, inputs: Record<string, StageOutput>) {
  const kind = scoreStage as ItemStageKind;
  const parsed = kind.config.parse(config);
  const given = stageInputs(inputs);
  const identity = (await kind.identify?.(parsed, rig)) ?? [];
  const prepared = await kind.prepare(parsed, given, rig);
  const items: OutItem[] = [];
  const keys: Record<string, string> = {};
  const answers = inputs.answers?.items ?? [];
  for (const [index, value] of (await rig.load(answers)).entries()) {
    for (const unit of kind.units?.(prepared, answers[index] as ItemRef, value) ?? []) {
      keys[unit.id] = JSON.stringify([identity, kind.keyConfig?.(parsed), kind.parts(prepared), unit.parts]);
      const outcome = await kind.execute(prepared, unit, rig, new AbortController().signal);
      if (outcome.type === "done") items.push(...outcome.items);
    }
  }
  const meta = await kind.finish?.(prepared, rig.output(items).items, rig, given);
  return { output: rig.output(items, meta ?? null), keys };
}

function inputsOf(rig: Rig, cases: readonly Case[] = CASES, answers: readonly OutItem[] = ANSWERS): Record<string, StageOutput> {
  return {
    answers: rig.output(answers, {
      kind: "graphrag",
      name: "graphrag-local",
      identity: { model: "m" },
      prompt: "text",
      repeats: 1,
    }),
    dataset: rig.output(
      cases.map((value) => ({ id: value.id, value })),
      header,
    ),
    corpus: rig.output([{ id: "all", value: tree }]),
  };
}

async function runWhole(
  rig: Rig,
  stage: unknown,
  config: Record<string, unknown>,
  inputs: Record<string, StageOutput | readonly StageOutput[]>,
) {
  const kind = stage as WholeStageKind;
  const result = await kind.run(kind.config.parse(config), stageInputs(inputs), rig, new AbortController().signal);
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

async function runAll(rig: Rig, config: Record<string, unknown> = {}) {
  const { output: scores } = await runScore(rig, config, inputsOf(rig));
  const intervals = await runWhole(rig, bootstrapStage, {}, { scores });
  const output = rig.output(intervals.items, intervals.meta);
  return { scores, intervals: output };
}

describe("score", () => {
  test("every selected case appears, those without an answer in the meta", async () => {
    const rig = stageToolsRig();
    const { output } = await runScore(rig, {}, inputsOf(rig));
    expect(output.items.map(({ id }) => id)).toEqual(["acme/house#2", "acme/house#1", "acme/house#3"]);
    expect(output.meta).toMatchObject({
      backend: "graphrag-local",
      kind: "graphrag",
      identity: { model: "m" },
      rules: { name: "strict", engine: "ladder" },
      order: CASES.map(({ id }) => id),
      unasked: [{ id: "acme/house#4", status: "unasked", recall: 0 }],
      dataset: { project_name: "acme/house", cases: 4, selected: 4, scanned: 9 },
      corpus: { source: "folder", files: 3, trees: 1 },
    });
  });

  test("answers to unknown cases are counted and named; those that the selection left out are no mistake", async () => {
    const rig = stageToolsRig();
    const inputs = inputsOf(rig, CASES, [...ANSWERS, answerOf(99, list())]);
    const dataset = inputs.dataset;
    if (dataset === undefined) throw new Error("no data set");
    const selected = { ...dataset, items: dataset.items.slice(0, 2) };
    const { output } = await runScore(rig, {}, { ...inputs, dataset: selected });
    expect(output.items).toHaveLength(2);
    expect(output.meta).toMatchObject({
      left_out: [{ what: "answers to cases that the data set does not have", count: 1, examples: ["acme/house#99"] }],
      dataset: { cases: 4, selected: 2 },
      unasked: [],
    });
  });

  test("a key changes with the answer, the truth, the tree, the rules and the measures, and with nothing else", async () => {
    const rig = stageToolsRig();
    const keys = async (config: Record<string, unknown>, inputs: Record<string, StageOutput>) =>
      (await runScore(rig, config, inputs)).keys;
    const before = await keys({}, inputsOf(rig));
    const one = "acme/house#1";
    const two = "acme/house#2";
    const changed = async (config: Record<string, unknown>, inputs: Record<string, StageOutput>) => {
      const after = await keys(config, inputs);
      return [one, two].filter((id) => after[id] !== before[id]);
    };
    expect(await changed({}, inputsOf(rig))).toEqual([]);
    // The body is the backend's business, not scoring's.
    const withBody = CASES.map((one) => ({ ...one, body: "other words" }));
    expect(await changed({}, inputsOf(rig, withBody))).toEqual([]);
    const withTarget = [caseOf(1, "src/C.java"), ...CASES.slice(1)];
    expect(await changed({}, inputsOf(rig, withTarget))).toEqual([one]);
    const withAnswer = [answerOf(2, list("src/C.java")), ...ANSWERS.slice(1)];
    expect(await changed({}, inputsOf(rig, CASES, withAnswer))).toEqual([two]);
    const larger = { ...tree, files: [...tree.files, { path: "x", digest: "e".repeat(64), size: 1 }] };
    expect(await changed({}, { ...inputsOf(rig), corpus: rig.output([{ id: "all", value: larger }]) })).toEqual([one, two]);
    expect(await changed({ rules: "lenient" }, inputsOf(rig))).toEqual([one, two]);
    expect(await changed({ measures: ["P"] }, inputsOf(rig))).toEqual([one, two]);
  });

  test("what the source trees left out is among the warnings, once for all trees", async () => {
    const rig = stageToolsRig();
    const links = "2 left out (links are not followed): a, b";
    const trees = ["c1", "c2", "c3"].map((id, index) => ({
      id,
      value: { ...tree, id, notes: index === 0 ? [] : ["1 of 9 files are selected by include and exclude", links] },
    }));
    const warningsOf = async (corpus: StageOutput) =>
      ((await runScore(rig, {}, { ...inputsOf(rig, []), corpus })).output.meta as { warnings: string[] }).warnings;
    expect(await warningsOf(rig.output(trees))).toEqual([`2 of 3 source trees: ${links}`]);
    expect(await warningsOf(rig.output(trees.slice(2)))).toEqual([`source tree: ${links}`]);
  });

  test("a tree per base commit; a case without one is warned about", async () => {
    const rig = stageToolsRig();
    const cases = [caseOf(1, "src/A.java", { base_commit: "c1" }), caseOf(2, "src/B.java", { base_commit: "c2" })];
    const inputs = {
      ...inputsOf(rig, cases, ANSWERS.slice(0, 2)),
      corpus: rig.output([{ id: "c1", value: { ...tree, id: "c1", files: [] } }]),
    };
    const { output } = await runScore(rig, {}, inputs);
    const scored = await rig.load(output.items);
    // The tree of c1 lacks the target; c2 has no tree, so its target counts by its path.
    expect(scored).toMatchObject([
      { id: "acme/house#2", targets: ["src/B.java"] },
      { id: "acme/house#1", absent_targets: ["src/A.java"] },
    ]);
    expect((output.meta as { warnings: string[] }).warnings.join()).toContain("1 case has no source tree");
  });

  test("rules and measures are checked before anything runs", () => {
    const config = (scoreStage as ItemStageKind).config;
    const issues = (value: object) => config.safeParse(value).error?.issues ?? [];
    for (const rules of ["strict", "lenient", "seed", "own.yaml", "../rules/mine.YML"]) expect(issues({ rules })).toEqual([]);
    expect(issues({ rules: "strikt" })).toMatchObject([
      { path: ["rules"], message: 'there are no rules "strikt"', params: { suggestion: "did you mean `strict`?" } },
    ]);
    expect(issues({ rules: "mine.json" })).toMatchObject([
      { params: { suggestion: expect.stringContaining("strict, lenient, seed; a file of your own ends in .yaml") } },
    ]);
    expect(issues({ measures: ["P", "Hit@5", "P", "hit@5"] })).toMatchObject([
      { path: ["measures", 2], message: "P is there twice" },
      { path: ["measures", 3], message: "hit@5 is the same measure as Hit@5" },
    ]);
    expect(issues({ measures: ["P", "P@5", "R"] })).toEqual([]);
  });

  test("rules that do not exist are refused with what there is", async () => {
    const rig = stageToolsRig();
    // A file is looked for when the stage begins.
    await expect(runScore(rig, { rules: "own.yaml" }, inputsOf(rig))).rejects.toThrow(/own\.yaml.*ENOENT/);
    const misspelt = (scoreStage as ItemStageKind).config.safeParse({ measures: ["F1", "Hitt@5"] });
    expect(misspelt.error?.issues[0]?.path).toEqual(["measures", 1]);
  });
});

describe("bootstrap and report", () => {
  test("intervals of every view, cases in data-set order whatever the order of the answers", async () => {
    const rig = stageToolsRig();
    const { intervals } = await runAll(rig);
    const reordered = inputsOf(rig, CASES, [...ANSWERS].reverse());
    const { output: scores } = await runScore(rig, {}, reordered);
    const again = await runWhole(rig, bootstrapStage, {}, { scores });
    expect(again.items).toEqual(
      (await rig.load(intervals.items)).map((value, index) => ({ id: intervals.items[index]?.id, value })),
    );
    const rows = again.items.map(({ value }) => value as { view: string; name: string; n: number });
    expect(new Set(rows.map(({ view }) => view))).toEqual(
      new Set(["headline", "without_failed", "all_targets", "in_repo_only", "stratum:leak=none"]),
    );
    expect(rows.find(({ view, name }) => view === "headline" && name === "F1")).toMatchObject({ n: 3 });
  });

  test("report joins the cells: a JSON file each, results, Markdown, and the summary by label", async () => {
    const rig = stageToolsRig();
    const strict = await runAll(rig);
    const lenient = await runAll(rig, { rules: "lenient" });
    const inputs = { scores: [strict.scores, lenient.scores], intervals: [lenient.intervals, strict.intervals] };
    const report = await runWhole(rig, reportStage, {}, inputs);
    expect(report.files?.map(({ root, name }) => `${root} ${name}`)).toEqual([
      "run acme__house__0_eval__{timestamp}.json",
      "run acme__house__1_eval__{timestamp}.json",
      "run results.json",
      "run report.md",
      "run dataset-card.json",
      "run dataset-card.md",
    ]);
    const { summary } = report.meta as unknown as { summary: Record<string, Summary> };
    expect(Object.keys(summary)).toEqual(["0", "1"]);
    expect(summary["0"]).toMatchObject({ rules: "strict", n: 3, failed: 1, without_target: 1, bootstrap: { samples: 1000 } });
    // #1: P .5, R 1, F1 2/3; #2: 1; #4 was not asked: 0.
    expect(summary["0"]?.measures.F1?.value).toBeCloseTo((2 / 3 + 1) / 3, 12);
    expect(summary["0"]?.measures.F1?.lower).not.toBeNull();
    expect(summary["1"]).toMatchObject({ rules: "lenient", bootstrap: { samples: 1000 } });
  });

  test("without a bootstrap the report has no bounds, and unknown measures are refused", async () => {
    const rig = stageToolsRig();
    const { scores } = await runAll(rig);
    const report = await runWhole(rig, reportStage, { formats: ["markdown"], measures: ["RR"] }, { scores });
    expect(report.files?.map(({ name }) => name)).toEqual(["report.md", "dataset-card.md"]);
    const { summary } = report.meta as unknown as { summary: Record<string, Summary> };
    expect(Object.keys(Object.values(summary)[0]?.measures ?? {})).toEqual(["RR"]);
    expect(Object.values(summary)[0]?.bootstrap).toBeNull();
    await expect(runWhole(rig, reportStage, { measures: ["AP"] }, { scores })).rejects.toThrow(/AP.*score stage/);
  });

  test("intervals of other scores are never shown beside these", async () => {
    const rig = stageToolsRig();
    const strict = await runAll(rig);
    const lenient = await runAll(rig, { rules: "lenient" });
    const report = await runWhole(rig, reportStage, {}, { scores: [strict.scores], intervals: [lenient.intervals] });
    const { summary } = report.meta as unknown as { summary: Record<string, Summary> };
    expect(summary["0"]?.bootstrap).toBeNull();
  });

  test("the time of making is in the files only, so that equal scores have equal results", async () => {
    const first = stageToolsRig();
    const later = stageToolsRig();
    await later.clock.sleep(86_400_000);
    const made = await runWhole(first, reportStage, {}, { scores: (await runAll(first)).scores });
    const again = await runWhole(later, reportStage, {}, { scores: (await runAll(later)).scores });
    expect(JSON.stringify(again.meta)).toBe(JSON.stringify(made.meta));
    expect(JSON.stringify(again.items)).toBe(JSON.stringify(made.items));
    expect(again.files?.[0]?.text).not.toBe(made.files?.[0]?.text);
  });
});

test("below the file: contents come from the tree, also for the truth of cases that nobody answered", async () => {
  const rig = stageToolsRig();
  const text = Buffer.from("class A {\n  int f() {\n    return 1;\n  }\n  int g() { return 2; }\n}\n");
  const files = [{ path: "src/A.java", digest: await rig.putBytes(text), size: text.byteLength }];
  const lines = { path: "src/A.java", role: "source" as const, status: null, renamed_to: null, grade: 1 };
  const functions = [{ name: "A.g", ranges: null }];
  const targets: Case["targets"] = [{ ...lines, ranges: [[5, 5]], functions }];
  const cases = [caseOf(1, "src/A.java", { targets }), caseOf(2, "src/A.java", { targets })];
  const answer = JSON.stringify([{ path: "src/A.java", start_line: 3, end_line: 5 }]);
  const inputs = inputsOf(rig, cases, [answerOf(1, answer)]);
  const corpus = rig.output([{ id: "all", value: { ...tree, files } }], { truth: ["the tree already holds a fix"] });
  const measures = ["R(level=function)", "P(level=function)", "R@tokens=5", "P@lines=10"];
  const { output } = await runScore(rig, { measures }, { ...inputs, corpus });
  const [scored] = (await rig.load(output.items)) as { measures: Record<string, number> }[];
  // Lines 3 to 5 have 3, 1 and 9 tokens: of the truth's nine, one fits into five.
  expect(scored?.measures).toEqual({
    "R(level=function)": 1,
    "P(level=function)": 1 / 2,
    "R@tokens=5": 1 / 9,
    "P@lines=10": 1 / 3,
  });
  const meta = output.meta as unknown as { unasked: { measures: Record<string, number> }[]; warnings: string[] };
  expect(meta.unasked[0]?.measures).toEqual({
    "R(level=function)": 0,
    "P(level=function)": 0,
    "R@tokens=5": 0,
    "P@lines=10": 0,
  });
  expect(meta.warnings).toContain("the tree already holds a fix");
});
