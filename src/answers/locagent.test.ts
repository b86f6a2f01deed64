import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readAnswers } from "./file.js";
import { locAgentRecords } from "./locagent.js";
import { parseAnswer } from "./parse.js";

const SAMPLE = "```\nlib/core.py\nline: 3-9\nfunction: run\n\nlib/tree.py\nclass: Tree\n```";

describe("locAgentRecords", () => {
  test("gives one answer per sample, and keeps what LocAgent read beside them", () => {
    const record = {
      instance_id: "a__b-1",
      found_files: [["lib/core.py"], []],
      raw_output_loc: [SAMPLE, ""],
      meta_data: { problem_statement: "It fails." },
    };
    const { answers, bad } = readAnswers(`${JSON.stringify(record)}\n`, { file: "loc_outputs.jsonl" });
    expect(bad).toEqual([]);
    expect(answers).toMatchObject([
      { id: "a__b-1", backend: "locagent", repeat: 0, status: "completed", response: SAMPLE, prompt: "It fails." },
      { id: "a__b-1", backend: "locagent", repeat: 1, status: "completed", response: "" },
    ]);
    expect(answers[0]?.details).toEqual({ locagent_files: [["lib/core.py"], []] });
  });

  test("reads the lists where there is no raw text: one per sample, or the merged one", () => {
    const responses = (found_files: unknown) =>
      locAgentRecords({ instance_id: "a__b-1", found_files, raw_output_loc: [] })?.map(({ response }) => response);
    expect(responses([["a.py", "b.py"], ["c.py"]])).toEqual([
      '{"classes":[{"path":"a.py"},{"path":"b.py"}]}',
      '{"classes":[{"path":"c.py"}]}',
    ]);
    expect(responses(["a.py", 7])).toEqual(['{"classes":[{"path":"a.py"}]}']);
  });

  test("a task that was tried and gave nothing is a failure, not an empty answer", () => {
    const record = { instance_id: "a__b-1", found_files: [], raw_output_loc: [] };
    expect(readAnswers(JSON.stringify(record), { file: "f" }).answers).toMatchObject([{ status: "failed", response: "" }]);
  });

  test("leaves other records alone", () => {
    expect(locAgentRecords({ id: "o/r#1", response: "x" })).toBeNull();
    expect(locAgentRecords({ instance_id: "a__b-1", response: "x", found_files: ["a.py"] })).toBeNull();
    expect(locAgentRecords({ instance_id: "a__b-1" })).toBeNull();
  });
});

/** Why the ladder reads a file that LocAgent does not; what none of the others explains is not in LocAgent's list of the repository. */
function reason(raw: string): string {
  if (!raw.includes("/") && !/\.(?:py|ini|cfg)$/.test(raw)) return "a name in prose";
  if (/\.(?:html|ini|cfg)$/.test(raw)) return "no Python file";
  if (/^(?:astroid|pmxbot)\//.test(raw)) return "another package";
  if (/\.py:[A-Z]/.test(raw)) return "path:Class on one line";
  return /(?:^|\/)tests?(?:\/|\.py$)|(?:^|\/)testing\.py$/.test(raw) ? "a test" : "not in the repository";
}

const recorded = resolve(import.meta.dirname, "../../../shared/data/answers/swe-bench-lite-answers.jsonl");
test.skipIf(!existsSync(recorded))("a public run of LocAgent is read as docs/locagent.md says", () => {
  const { answers: all, bad, notes } = readAnswers(readFileSync(recorded, "utf8"), { file: "answers.jsonl" });
  const answers = all.filter(({ backend }) => backend === "locagent");
  expect([answers.length, bad.length, notes.length]).toEqual([300, 0, 0]);
  const cases = grouped(answers);
  let same = 0;
  let wanted = 0;
  const missed: string[] = [];
  const extra: Record<string, number> = {};
  for (const samples of cases.values()) {
    const theirs = samples[0]?.details.locagent_files as string[];
    const entries = samples.flatMap(({ response, prompt }) => {
      const reading = parseAnswer(response, { truncated: false, prompt });
      return reading.kind === "answered" ? reading.entries : [];
    });
    const ours = new Map(entries.map(({ raw, spellings }) => [raw, spellings]));
    const read = new Set([...ours.values()].flat());
    wanted += theirs.length;
    missed.push(...theirs.filter((path) => !read.has(path)));
    const more = [...ours].filter(([, spellings]) => !spellings.some((spelling) => theirs.includes(spelling)));
    if (more.length === 0) same++;
    for (const [raw] of more) extra[reason(raw)] = (extra[reason(raw)] ?? 0) + 1;
  }
  expect({ cases: cases.size, wanted, missed, same, extra }).toEqual({
    cases: 150,
    wanted: 602,
    missed: [],
    same: 122,
    extra: {
      "a test": 13,
      "not in the repository": 6,
      "a name in prose": 7,
      "no Python file": 6,
      "path:Class on one line": 6,
      "another package": 5,
    },
  });
});

function grouped<T extends { readonly id: string }>(all: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(one.id, [...(groups.get(one.id) ?? []), one]);
  return groups;
}
