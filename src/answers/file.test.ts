import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answersFileStem, readAnswers, writeAnswers } from "./file.js";
import { ANSWER_STATUSES, type Answer, answerSchema } from "./schema.js";

const options = { file: "answers.jsonl" };
const ids = (text: string, more = {}): string[] => readAnswers(text, { ...options, ...more }).answers.map((answer) => answer.id);

describe("JSON Lines", () => {
  test("id and response suffice; ids are lower-cased", () => {
    const { answers, bad, notes } = readAnswers('{"id": "Acme/Shop#12", "response": "x"}\n', options);
    expect(bad).toEqual([]);
    expect(notes).toEqual([]);
    expect(answers).toEqual([
      {
        id: "acme/shop#12",
        backend: "unnamed",
        repeat: 0,
        status: "completed",
        finish_reason: null,
        response: "x",
        error: null,
        usage: null,
        seconds: null,
        prompt: null,
        details: {},
      },
    ]);
  });

  test("other ids keep their letters", () => {
    expect(ids('{"id": "Django__django-1", "response": ""}\n{"instance_id": "Bug-7", "response": ""}')).toEqual([
      "Django__django-1",
      "Bug-7",
    ]);
  });

  test("the original's names", () => {
    expect(ids('{"project": "Acme/Shop", "issue_number": 12, "raw_response": "x"}')).toEqual(["acme/shop#12"]);
    expect(ids('{"issue_number": "#12", "raw_response": "x"}', { project: "acme/shop" })).toEqual(["acme/shop#12"]);
    expect(ids('{"issue_number": 12, "raw_response": "x"}', { caseIds: ["acme/shop#12", "acme/shop#112"] })).toEqual([
      "acme/shop#12",
    ]);
    expect(readAnswers('{"issue_number": 12, "raw_response": "x"}', options).bad[0]?.what).toContain("project");
  });

  test("mark of byte order, CRLF, blank lines, and bad lines between good ones", () => {
    const text =
      '\ufeff{"id": "a", "response": "1"}\r\n\r\n{oops\r\n[1]\r\n{"id": "b"}\r\n{"response": "2"}\r\n{"id": "c", "response": "3", "status": "complete"}\r\n{"id": "d", "response": "4"}\r\n';
    const { answers, bad } = readAnswers(text, options);
    expect(answers.map((answer) => answer.id)).toEqual(["a", "d"]);
    expect(bad.map((one) => [one.record, one.line])).toEqual([
      [2, 3],
      [3, 4],
      [4, 5],
      [5, 6],
      [6, 7],
    ]);
    expect(bad[4]?.what).toContain('did you mean "completed"?');
    expect(bad[2]?.what).toContain("response");
  });

  test("status: a failure needs no response; a stop at the limit is a cut", () => {
    const { answers } = readAnswers(
      '{"id": "a", "status": "failed", "error": "boom"}\n{"id": "b", "response": "x", "finish_reason": "length"}',
      options,
    );
    expect(answers).toMatchObject([
      { status: "failed", error: "boom", response: "" },
      { status: "truncated", finish_reason: "length" },
    ]);
  });

  test("of duplicates the later counts, and the notes say so", () => {
    const { answers, notes } = readAnswers(
      '{"id": "a", "response": "1"}\n{"id": "b", "response": "2"}\n{"id": "a", "response": "3"}\n{"id": "a", "repeat": 1, "response": "4"}',
      options,
    );
    expect(answers.map((answer) => answer.response)).toEqual(["3", "2", "4"]);
    expect(notes[0]).toMatch(/1 answer was given again/);
  });

  test("a late failure takes no answer away, whatever the order of the tries", () => {
    const tries = ['{"id": "a", "status": "failed"}', '{"id": "a", "response": "got it"}', '{"id": "a", "status": "timed_out"}'];
    for (const lines of [tries, [...tries].reverse()]) {
      expect(readAnswers(lines.join("\n"), options).answers).toMatchObject([{ status: "completed", response: "got it" }]);
    }
  });

  test("what is wrong is said in plain words", () => {
    const wrong = [
      '{"id": "a"}',
      '{"id": "", "response": "x"}',
      '{"response": "x"}',
      '{"id": "a", "response": 5}',
      '{"id": "a", "response": "x", "repeat": -1}',
      '{"id": "a", "response": "x", "usage": {"input_tokens": "many"}}',
      '{"id": true, "response": "x"}',
      "7",
    ];
    expect(readAnswers(wrong.join("\n"), options).bad.map(({ what }) => what)).toEqual([
      "`response` is missing: an answer needs `id` and `response`",
      expect.stringMatching(/^`id` is empty: give/),
      expect.stringMatching(/^`id` is missing: give/),
      "`response` must be text, and is a number",
      "`repeat` must be at least 0, and is the number -1",
      '`usage.input_tokens` must be a number, and is the text "many"',
      expect.stringMatching(/^`id` must be text such as .*, and is a boolean$/),
      "a record must be a JSON object, and this is a number",
    ]);
  });

  test("answers that name no backend may be called by their file", () => {
    expect(
      readAnswers('{"id": "a", "response": ""}\n{"id": "b", "backend": "x", "response": ""}', { ...options, unnamed: "f" }),
    ).toMatchObject({
      answers: [{ backend: "f" }, { backend: "x" }],
    });
    const stems = ["answers.jsonl", "../runs/my search.v2.jsonl", "C:\\data\\a.b.json", ".hidden", "plain", "dir/"].map(
      answersFileStem,
    );
    expect(stems).toEqual(["answers", "my search.v2", "a.b", ".hidden", "plain", "unnamed"]);
  });

  test("answers without a case are kept and counted", () => {
    expect(readAnswers('{"id": "zz", "response": ""}', { ...options, caseIds: new Set(["a"]) }).notes[0]).toContain("zz");
  });

  test("hostile records", () => {
    const { answers, bad } = readAnswers(
      '{"__proto__": {"id": "x"}, "id": "a", "response": "r", "constructor": 1}\n{"id": {"a": 1}, "response": "r"}\n{"id": "b", "response": "r", "repeat": -1}\nnull\n',
      options,
    );
    expect(answers.map((answer) => answer.id)).toEqual(["a"]);
    expect(bad).toHaveLength(3);
  });
});

describe("other containers", () => {
  test("a JSON array", () => {
    const { answers, bad } = readAnswers(
      '[\n  {"id": "a", "response": "["},\n  5,\n  {"id": "b",\n   "response": {"files": ["x.java"]}}\n]',
      options,
    );
    expect(answers.map((answer) => answer.response)).toEqual(["[", '{"files":["x.java"]}']);
    expect(bad).toMatchObject([{ record: 2, line: 3 }]);
  });

  test("a broken JSON array", () => {
    expect(readAnswers('[{"id": "a"', options).bad).toHaveLength(1);
  });

  test("the original's report with raw responses", () => {
    const report = {
      project_name: "shop",
      github_url: "https://github.com/Acme/Shop",
      summary: {},
      issues: [
        { issue_number: 1, status: "ok", raw_response: "envelope", llm_content: "the text", query: "Q?" },
        { issue_number: 2, status: "error", error: "exit 1", raw_response: null },
        { issue_number: 3, status: "dry_run" },
        { issue_number: 4, status: "ok", raw_response: "stdout" },
      ],
    };
    const { answers, notes } = readAnswers(JSON.stringify(report, null, 2), options);
    expect(answers).toMatchObject([
      { id: "acme/shop#1", status: "completed", response: "the text", prompt: "Q?" },
      { id: "acme/shop#2", status: "failed", error: "exit 1" },
      { id: "acme/shop#3", status: "skipped" },
      { id: "acme/shop#4", response: "stdout" },
    ]);
    expect(notes).toEqual([]);
  });

  test("an old report without raw responses says what it can't give", () => {
    const report = {
      project_name: "acme/shop",
      summary: {},
      issues: [{ issue_number: 1, status: "ok", predicted_classes: ["path:a.java"] }],
    };
    const { answers, notes, bad } = readAnswers(JSON.stringify(report), options);
    expect(answers).toEqual([]);
    expect(bad).toEqual([]);
    expect(notes[0]).toMatch(/1 of 1 issues .* no raw response.*rank/);
  });

  test("our own report", () => {
    const issue = {
      id: "acme/shop#1",
      repeat: 2,
      backend: "bm25",
      status: "completed",
      raw_response: "x",
      prompt: "p",
      seconds: 1.5,
      usage: null,
      details: { a: 1 },
    };
    const { answers } = readAnswers(
      JSON.stringify({ summary: {}, issues: [issue, { ...issue, id: "acme/shop#2", status: "unasked", raw_response: "" }] }),
      options,
    );
    expect(answers).toMatchObject([
      { id: "acme/shop#1", repeat: 2, backend: "bm25", response: "x", prompt: "p", seconds: 1.5, details: { a: 1 } },
    ]);
  });
});

const answers: fc.Arbitrary<Answer> = fc
  .record({
    id: fc.stringMatching(/^[a-z]{1,6}-\d{1,6}$/),
    backend: fc.string({ minLength: 1 }),
    repeat: fc.nat(5),
    status: fc.constantFrom(...ANSWER_STATUSES),
    finish_reason: fc.option(fc.string()),
    response: fc.string({ unit: "binary" }),
    error: fc.option(fc.string()),
    seconds: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => value + 0)),
  })
  .map((value) => answerSchema.parse(value));

test("what is written reads back the same", () => {
  fc.assert(
    fc.property(fc.uniqueArray(answers, { selector: (one) => JSON.stringify([one.id, one.backend, one.repeat]) }), (list) => {
      const back = readAnswers(writeAnswers(list), options);
      expect(back.bad).toEqual([]);
      expect(back.answers).toEqual(list);
    }),
  );
});

test("reading never throws", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.array(fc.json()).map((lines) => lines.join("\n")),
      ),
      (text) => {
        const { answers: read, bad } = readAnswers(text, options);
        expect(read.length + bad.length).toBeLessThanOrEqual(text.length + 1);
      },
    ),
  );
});

const vectors = resolve(import.meta.dirname, "../../../shared/data/vectors/seed-rules/answers.jsonl");
test.skipIf(!existsSync(vectors))("the recorded answers of three projects read without loss", () => {
  const text = readFileSync(vectors, "utf8");
  const { answers: read, bad } = readAnswers(text, options);
  expect(bad).toEqual([]);
  expect(read).toHaveLength(text.trim().split("\n").length);
  expect(read.every((answer) => /^[a-z0-9-]+\/[a-z0-9-]+#\d+$/.test(answer.id))).toBe(true);
});
