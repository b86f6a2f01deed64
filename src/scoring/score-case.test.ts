import { describe, expect, test } from "vitest";
import { type Answer, answerSchema } from "../answers/schema.js";
import { caseSchema } from "../dataset/schema.js";
import type { RuleSet } from "../matching/contract.js";
import { builtInRules } from "../matching/rules.js";
import type { Measure } from "../measures/contract.js";
import { parseMeasure } from "../measures/registry.js";
import { scoredCaseSchema } from "./contract.js";
import { type ScoreSettings, scoreCase } from "./score-case.js";
import { corpusFiles, knownTargets } from "./truth.js";

const MEASURES = ["P", "R", "F1", "Hit@1", "Hit@5", "R@10", "RR"].map((name): Measure => {
  const parsed = parseMeasure(name);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
});

const FILES = [
  "src/main/java/acme/Door.java",
  "src/main/java/acme/Window.java",
  "src/main/java/acme/Roof.java",
  "src/test/java/acme/DoorTest.java",
];
const corpus = corpusFiles({ paths: FILES, roots: ["/work/tree"] });

function asked(paths: readonly string[], more: Record<string, unknown> = {}) {
  const targets = paths.map((path) => ({ path, role: "source" }));
  return caseSchema.parse({
    id: "acme/house#1",
    repository: "acme/house",
    number: 1,
    title: "Draught",
    body: "",
    targets,
    ...more,
  });
}

function answer(response: string, more: Partial<Answer> = {}): Answer {
  return answerSchema.parse({ id: "acme/house#1", backend: "puppet", response, ...more });
}

function classes(...paths: string[]): string {
  return JSON.stringify({ classes: paths.map((path) => ({ path })) });
}

function settings(changes: Partial<ScoreSettings> = {}): ScoreSettings {
  return { rules: builtInRules.strict, measures: MEASURES, corpus, backend: "puppet", ...changes };
}

describe("an answer", () => {
  test("that a provider's filter held back is refused, whatever is left of its text; one with entries stays answered", () => {
    const outcomes = [answer("", { finish_reason: "content_filter" }), answer("Hm.", { details: { refused: true } })].map(
      (given) => scoreCase(asked(FILES), given, settings()).outcome,
    );
    expect(outcomes).toEqual(["refused", "refused"]);
    expect(scoreCase(asked(FILES), answer(""), settings()).outcome).not.toBe("refused");
    const partial = answer(classes(FILES[0] ?? ""), { finish_reason: "content_filter" });
    expect(scoreCase(asked(FILES), partial, settings()).outcome).toBe("answered");
  });

  test("that names every target in the best order scores 1 throughout", () => {
    const targets = FILES.slice(0, 2);
    const scored = scoreCase(asked(targets), answer(classes(...targets)), settings());
    expect(scored.measures).toEqual({ P: 1, R: 1, F1: 1, "Hit@1": 1, "Hit@5": 1, "R@10": 1, RR: 1 });
    expect(scored).toMatchObject({ outcome: "answered", scored: true, precision: 1, recall: 1, f1: 1 });
    expect(scored.predictions.map(({ path, rung, target }) => ({ path, rung, target }))).toEqual(
      targets.map((path) => ({ path, rung: "path", target: path })),
    );
  });

  test("is ranked: the first hit decides RR and Hit@1", () => {
    const scored = scoreCase(asked([FILES[1] ?? ""]), answer(classes(...FILES)), settings());
    expect(scored.measures).toMatchObject({ P: 0.25, R: 1, F1: 0.4, "Hit@1": 0, "Hit@5": 1, RR: 0.5 });
    expect(scored.counts).toMatchObject({ true_positives: 1, false_positives: 3, false_negatives: 0 });
  });

  test("with an empty list abstains: 0 everywhere, P undefined", () => {
    const scored = scoreCase(asked(FILES), answer('{"classes": []}'), settings());
    expect(scored.outcome).toBe("abstained");
    expect(scored.measures).toEqual({ P: null, R: 0, F1: 0, "Hit@1": 0, "Hit@5": 0, "R@10": 0, RR: 0 });
    expect(scored.counts).toMatchObject({ true_positives: 0, false_positives: 0, false_negatives: 4 });
  });

  test("is stored beside its reading, whole", () => {
    const given = answer(classes("x"), { seconds: 1.5, usage: { input_tokens: 3, cost_usd: null }, prompt: "Where?" });
    const scored = scoreCase(asked(FILES), given, settings());
    expect(scored).toMatchObject({ raw_response: given.response, seconds: 1.5, prompt: "Where?" });
    expect(scored.usage).toEqual({ input_tokens: 3, cost_usd: null });
    expect(scoredCaseSchema.parse(JSON.parse(JSON.stringify(scored)))).toEqual(JSON.parse(JSON.stringify(scored)));
  });

  test("that failed is not read, whatever was printed before", () => {
    const scored = scoreCase(asked(FILES), answer(classes(...FILES), { status: "timed_out", error: "180 s" }), settings());
    expect(scored).toMatchObject({ outcome: "timed_out", error: "180 s", predictions: [], recall: 0, excluded: null });
  });

  test("that is missing scores zero as unasked", () => {
    const scored = scoreCase(asked(FILES), null, settings());
    expect(scored).toMatchObject({ status: "unasked", outcome: "unasked", backend: "puppet", recall: 0, raw_response: "" });
  });

  test("that was cut counts its whole entries", () => {
    const whole = classes(...FILES.slice(0, 2));
    const cut = whole.slice(0, whole.indexOf("Window") + 3);
    const scored = scoreCase(asked(FILES.slice(0, 2)), answer(cut, { status: "truncated" }), settings());
    expect(scored.counts).toMatchObject({ true_positives: 1, false_positives: 0, false_negatives: 1 });
  });
});

describe("truth", () => {
  test("targets that the corpus lacks are listed, not scored, and count against all targets", () => {
    const scored = scoreCase(asked([FILES[0] ?? "", "src/main/java/acme/New.java"]), answer(classes(FILES[0] ?? "")), settings());
    expect(scored).toMatchObject({ targets: [FILES[0]], absent_targets: ["src/main/java/acme/New.java"], recall: 1 });
    expect(scored.all_targets).toMatchObject({ recall: 0.5, counts: { true_positives: 1, false_negatives: 1 } });
    expect(scored.in_repo_only).toMatchObject({ recall: 1, retained: [FILES[0]], discarded: ["src/main/java/acme/New.java"] });
  });

  test("an answer that spells out an absent target's path hits it in the view of all targets alone", () => {
    const absent = "src/main/java/other/Roof.java";
    for (const rules of [builtInRules.strict, builtInRules.lenient]) {
      const given = answer(classes(FILES[2] ?? "", absent, absent, FILES[0] ?? ""));
      const scored = scoreCase(asked([FILES[0] ?? "", absent]), given, settings({ rules }));
      expect(scored.counts).toMatchObject({ true_positives: 1, false_negatives: 0 });
      expect(scored.all_targets.counts).toMatchObject({
        true_positives: 2,
        false_positives: 1,
        false_negatives: 0,
        duplicates: 1,
      });
      expect(scored.all_targets.measures).toMatchObject({ "Hit@1": 0, RR: 0.5, R: 1 });
    }
  });

  test("a case without a target in the corpus is shown, not scored", () => {
    const scored = scoreCase(asked(["gone.java"]), answer(classes(FILES[0] ?? "")), settings());
    expect(scored).toMatchObject({ scored: false, targets: [], absent_targets: ["gone.java"] });
    expect(scored.counts.false_positives).toBe(1);
  });

  test("without a corpus every target counts and only its path matches", () => {
    const lenient = settings({ corpus: null, rules: builtInRules.lenient });
    const scored = scoreCase(asked(FILES.slice(0, 2)), answer(classes(FILES[0] ?? "", "Window")), lenient);
    expect(scored).toMatchObject({ targets: FILES.slice(0, 2), in_repo_only: null });
    expect(scored.counts).toMatchObject({ true_positives: 1, false_positives: 1, false_negatives: 1 });
  });

  test("a path in the other Unicode form is the same file, spelt as the corpus spells it", () => {
    const nfd = "src/E\u0301pe\u0301e.java";
    const accented = corpusFiles({ paths: [nfd], roots: [] });
    const scored = scoreCase(asked([nfd.normalize("NFC")]), answer(classes(nfd)), settings({ corpus: accented }));
    expect(scored).toMatchObject({ targets: [nfd], absent_targets: [], recall: 1 });
  });

  test("a target named twice counts once", () => {
    const scored = scoreCase(asked([FILES[0] ?? "", FILES[0] ?? ""]), answer(classes(FILES[0] ?? "")), settings());
    expect(scored.counts).toMatchObject({ true_positives: 1, false_negatives: 0 });
  });
});

describe("rules", () => {
  const named = answer(classes("Door"));

  test("strict wants the path, lenient takes a name that is unique in the corpus", () => {
    const one = asked([FILES[0] ?? ""]);
    expect(scoreCase(one, named, settings()).counts.true_positives).toBe(0);
    const lenient = scoreCase(one, named, settings({ rules: builtInRules.lenient }));
    expect(lenient.counts.true_positives).toBe(1);
    expect(lenient.predictions[0]).toMatchObject({ raw: "Door", path: FILES[0], rung: "simple-name", target: FILES[0] });
  });

  test("seed takes every Java file of the links by its new name and keeps its own denominators", () => {
    const link = {
      ...{ repository: "acme/house", number: 2, title: null, url: null, merged_at: null, grade: null },
      files: ["src/main/java/acme/Door.java", "docs/x.md", "src/main/java/acme/Fresh.java"].map((path) => ({
        ...{ path, status: null, role: "source" },
      })),
    };
    const one = asked(["src/main/java/acme/Old.java"], { links: [link] });
    const rules = settings({ rules: builtInRules.seed });
    const scored = scoreCase(one, answer(classes("wrong/Door.java")), rules);
    expect(scored.targets).toEqual(["src/main/java/acme/Door.java", "src/main/java/acme/Fresh.java"]);
    expect(scored).toMatchObject({
      precision: 1,
      recall: 0.5,
      excluded: null,
      absent_targets: ["src/main/java/acme/Fresh.java"],
    });
    expect(scored.in_repo_only).toMatchObject({ recall: 1, retained: ["src/main/java/acme/Door.java"] });
    expect(scored.predictions[0]?.id).toBe("path:wrong/door.java");
    expect(scoreCase(one, answer("", { status: "failed" }), rules).excluded).toBe("failed");
    expect(scoreCase(one, null, rules).excluded).toBe("unasked");
    const dry = { status: "skipped" as const, details: { original_status: "dry_run" } };
    expect(scoreCase(one, answer("", dry), rules).excluded).toBeNull();
  });

  test("seed skips a case without Java targets", () => {
    expect(scoreCase(asked(["main.py"]), answer("x"), settings({ rules: builtInRules.seed })).scored).toBe(false);
  });
});

describe("a baseline that draws", () => {
  const draws = [
    [FILES[0], FILES[1]],
    [FILES[2], FILES[3]],
    [FILES[1], FILES[0]],
    [FILES[3], FILES[1]],
  ];
  const drawn = answer(JSON.stringify({ draws, pool: 4, sizes: [2] }));

  test("scores the mean over its draws, beside the closed form", () => {
    const scored = scoreCase(asked([FILES[0] ?? ""]), drawn, settings());
    // Two of four draws hold the target: once first, once second.
    expect(scored.measures).toMatchObject({ P: 0.25, R: 0.5, "Hit@1": 0.25, "Hit@5": 0.5, RR: 0.375 });
    expect(scored.counts).toMatchObject({ true_positives: 0.5, false_positives: 1.5, false_negatives: 0.5 });
    expect(scored.draws).toEqual({ count: 4, pool: 4, sizes: [2] });
    expect(scored.expectation).toMatchObject({ P: 0.25, R: 0.5, "Hit@1": 0.25, RR: 0.375 });
    expect(scored).toMatchObject({ outcome: "answered", predictions: [] });
  });

  test("has no closed form where the pool is not the corpus that the truth was cut to", () => {
    expect(scoreCase(asked([FILES[0] ?? ""]), drawn, settings({ corpus: null })).expectation).toBeNull();
    const other = answer(JSON.stringify({ draws, pool: 5, sizes: [2] }));
    expect(scoreCase(asked([FILES[0] ?? ""]), other, settings()).expectation).toBeNull();
  });

  test("under the seed rules each draw is an answer of its own", () => {
    const scored = scoreCase(asked([FILES[0] ?? ""]), drawn, settings({ rules: builtInRules.seed }));
    expect(scored).toMatchObject({ precision: 0.25, recall: 0.5, counts: { true_positives: 0.5 } });
  });

  test("with nothing to draw abstains", () => {
    const nothing = answer(JSON.stringify({ draws: [[], []], pool: 4, sizes: [0] }));
    expect(scoreCase(asked(["gone.java"]), nothing, settings())).toMatchObject({ outcome: "abstained", scored: false });
  });
});

test("the same answer, truth and rules give the same bytes", () => {
  const once = () => JSON.stringify(scoreCase(asked(FILES), answer(classes(...FILES)), settings()));
  expect(once()).toBe(once());
});

describe("a person's rules", () => {
  const mine = (changes: Partial<RuleSet>) => settings({ rules: { ...builtInRules.lenient, name: "mine", ...changes } });
  const DOOR = FILES[0] ?? "";
  const renamed = { path: DOOR, role: "source", status: "renamed", renamed_to: "src/main/java/acme/front/Door.java" };

  test("renames: the old name, the new one, or either", () => {
    const one = asked([], { targets: [renamed] });
    const hit = (path: string, changes: Partial<RuleSet>, corpus = settings().corpus) =>
      scoreCase(one, answer(classes(path)), { ...mine({ rungs: ["path"], ...changes }), corpus }).counts.true_positives;
    expect([hit(DOOR, {}), hit(renamed.renamed_to, {})]).toEqual([1, 0]);
    expect([hit(DOOR, { renames: "either" }), hit(renamed.renamed_to, { renames: "either" })]).toEqual([1, 1]);
    // The tree after the fix has the new name only.
    const after = corpusFiles({ paths: [renamed.renamed_to, ...FILES.slice(1)], roots: [] });
    expect([hit(DOOR, {}, after), hit(renamed.renamed_to, { renames: "new" }, after)]).toEqual([0, 1]);
    const both = scoreCase(one, answer(classes(DOOR, renamed.renamed_to)), mine({ renames: "either" }));
    expect(both.counts).toMatchObject({ true_positives: 1, false_positives: 0, false_negatives: 0, duplicates: 1 });
  });

  test("mapped targets count where the tree has them", () => {
    const one = asked(["old/Door.java", "old/Gone.java"]);
    const scored = scoreCase(
      one,
      answer(classes("old/Door.java", "Door")),
      mine({ paths: [{ from: "old/", to: "src/main/java/acme/" }] }),
    );
    expect(scored).toMatchObject({ targets: [DOOR], absent_targets: ["old/Gone.java"], precision: 1, recall: 1 });
  });

  test("extensions cut the truth and the predictions alike", () => {
    const withDocs = corpusFiles({ paths: [...FILES, "README.md"], roots: [] });
    const one = asked([DOOR, "README.md"]);
    const java = { ...mine({ extensions: [".java"] }), corpus: withDocs };
    expect(scoreCase(one, answer(classes("README.md", DOOR)), java)).toMatchObject({
      targets: [DOOR],
      absent_targets: [],
      measures: { P: 1, R: 1, RR: 1 },
    });
    expect(scoreCase(asked(["README.md"]), answer(classes(DOOR)), java).scored).toBe(false);
  });

  test("outcomes that are left out say why; the others count", () => {
    const rules = mine({ leaveOut: ["timed_out", "unasked", "refused"] });
    const one = asked([DOOR]);
    expect(scoreCase(one, answer("", { status: "timed_out" }), rules).excluded).toMatch(/timed_out/);
    expect(scoreCase(one, null, rules).excluded).toMatch(/unasked/);
    expect(scoreCase(one, answer("I'm sorry, but I can't help with that."), rules).excluded).toMatch(/refused/);
    expect(scoreCase(one, answer("", { status: "failed" }), rules).excluded).toBeNull();
    expect(scoreCase(one, answer(classes(DOOR)), rules).excluded).toBeNull();
  });

  test("targets that a report says were there are the truth without the tree", () => {
    const known = { ...mine({ rungs: ["path", "simple-name"] }), corpus: knownTargets(new Set([DOOR]), 4) };
    const scored = scoreCase(asked([DOOR, "src/New.java"]), answer(classes(`./${DOOR}`, "Window")), known);
    expect(scored).toMatchObject({
      targets: [DOOR],
      absent_targets: ["src/New.java"],
      counts: { true_positives: 1, false_positives: 1 },
    });
  });
});

describe("what the text gives away is a stratum", () => {
  const strata = (more: Record<string, unknown>) => scoreCase(asked(FILES.slice(0, 2), more), null, settings()).strata;

  test("none, partial, full", () => {
    expect(strata({ body: "It is cold." }).leak).toBe("none");
    expect(strata({ body: "The class Door is open." }).leak).toBe("partial");
    expect(strata({ body: "The class Door and the Window are open." }).leak).toBe("full");
  });

  test("the data set's own stratum of that name gives way; the others stay", () => {
    expect(strata({ strata: { leak: "mine", difficulty: "hard" } })).toEqual({ leak: "none", difficulty: "hard" });
  });

  test("a case read back from a report has no text and keeps what was found; one without targets has none", () => {
    expect(strata({ body: null, strata: { leak: "full" } }).leak).toBe("full");
    expect(scoreCase(asked([]), null, settings()).strata).toEqual({});
  });
});
