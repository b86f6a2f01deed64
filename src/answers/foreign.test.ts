import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readAnswers } from "./file.js";
import { parseAnswer } from "./parse.js";

function files(response: string): string[] {
  const reading = parseAnswer(response, { truncated: false, prompt: null });
  return reading.kind === "answered" ? reading.entries.map(({ raw }) => raw) : [];
}

describe("TREC runs", () => {
  test("are one answer per query, in the order of the scores, ids decoded", () => {
    const run = "o/r#2 Q0 src/a%20b.java 1 1 my%20tool\no/r#2 Q0 src/c.java 2 9 my%20tool\no/r#1 Q0 src/c.java 1 1 my%20tool\n";
    const { answers, bad, notes } = readAnswers(run, { file: "x.run" });
    expect([bad, notes]).toEqual([[], []]);
    expect(answers.map(({ id, backend, response }) => [id, backend, files(response)])).toEqual([
      ["o/r#2", "my tool", ["src/c.java", "src/a b.java"]],
      ["o/r#1", "my tool", ["src/c.java"]],
    ]);
  });
  test("a malformed line is told, and nothing is read", () => {
    const { answers, bad } = readAnswers("q Q0 a 1 2 t\nq Q0 b 2 t\n", { file: "x.run" });
    expect(answers).toEqual([]);
    expect(bad).toEqual([{ record: 2, line: 2, what: expect.stringContaining("5 columns") }]);
  });
  test("ties, repeats and several tags are said", () => {
    const { notes } = readAnswers("q Q0 a 1 2 s\nq Q0 b 2 2 t\nq Q0 b 3 1 t\n", { file: "x.run" });
    expect(notes.join("\n")).toMatch(/tags s, t.*\n.*1 lines.*\n.*2 documents/);
  });
});

describe("LocAgent's output", () => {
  test("samples are repeats, and its own reading is a backend of its own", () => {
    const record = {
      instance_id: "a__b-1",
      raw_output_loc: ["```\nx/y.py\nfunction: f\n```", null],
      found_files: ["x/y.py", "x/z.py"],
    };
    const { answers } = readAnswers(JSON.stringify(record), { file: "l.jsonl" });
    expect(answers.map(({ id, backend, repeat, status }) => [id, backend, repeat, status])).toEqual([
      ["a__b-1", "locagent", 0, "completed"],
      ["a__b-1", "locagent", 1, "failed"],
      ["a__b-1", "locagent-files", 0, "completed"],
    ]);
    expect(files(answers[2]?.response ?? "")).toEqual(["x/y.py", "x/z.py"]);
  });
  test("lists of lists (one per sample) are not guessed to be one list", () => {
    const record = { instance_id: "a__b-1", raw_output_loc: ["x/y.py"], found_files: [["x/y.py"]] };
    expect(readAnswers(JSON.stringify(record), { file: "l.jsonl" }).answers).toHaveLength(1);
  });
});

const recorded = resolve(import.meta.dirname, "../../../shared/data/answers/swe-bench-lite-answers.jsonl");
test.skipIf(!existsSync(recorded))("a recorded run: every sample, and every file that LocAgent read, in its order", () => {
  const text = readFileSync(recorded, "utf8");
  const rows = text
    .trim()
    .split("\n")
    .map((line): { instance_id: string; raw_answers: string[]; predicted_files: string[] } => JSON.parse(line));
  const { answers, bad } = readAnswers(text, { file: "r.jsonl" });
  expect(bad).toEqual([]);
  const merged = new Map(
    answers.filter(({ backend }) => backend === "locagent-files").map(({ id, response }) => [id, files(response)]),
  );
  for (const { instance_id, predicted_files } of rows) expect(merged.get(instance_id), instance_id).toEqual(predicted_files);
  expect(answers.filter(({ backend }) => backend === "locagent")).toHaveLength(
    rows.reduce((sum, row) => sum + row.raw_answers.length, 0),
  );
});
