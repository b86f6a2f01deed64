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
