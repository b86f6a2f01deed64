import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stageInputs, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { readAnswers as readAnswersFile } from "../answers/file.js";
import { type Answer, answerSchema } from "../answers/schema.js";
import type { WholeStageKind } from "../engine/contract.js";
import { answersMetaSchema } from "./answer-meta.js";
import { importAnswersStage, type ReadAnswers } from "./import-answers.js";

/** A reader of JSON Lines that is just good enough: the real one is another module's. */
const readAnswers: ReadAnswers = (text, { caseIds }) => {
  const answers = [];
  const bad = [];
  for (const [i, line] of text.trim().split("\n").entries()) {
    try {
      answers.push(answerSchema.parse(JSON.parse(line)));
    } catch {
      bad.push({ record: i + 1, line: i + 1, what: "is no answer" });
    }
  }
  return { answers, bad, notes: caseIds === undefined ? [] : [`${caseIds.length} cases`] };
};

async function run(lines: readonly (object | string)[], options: Record<string, unknown> = {}, cases?: readonly string[]) {
  const tools = stageToolsRig();
  const path = "answers.jsonl";
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  writeFileSync(join(tools.baseFolder, path), text);
  const stage = importAnswersStage(readAnswers) as WholeStageKind;
  const config = stage.config.parse({ path, ...options });
  const inputs = stageInputs(cases === undefined ? {} : { dataset: tools.output(cases.map((id) => ({ id, value: {} }))) });
  const identity = await stage.identify?.(config, tools);
  return { stage, config, tools, identity, result: await stage.run(config, inputs, tools, new AbortController().signal) };
}

describe("import-answers", () => {
  test("each answer is an item, a repeat one of its own", async () => {
    const { result, tools } = await run([
      { id: "a", backend: "x", response: "1" },
      { id: "a", backend: "x", response: "2", repeat: 1 },
      { id: "b", backend: "x", response: "3", status: "failed", error: "e" },
    ]);
    if (!result.ok) throw new Error(result.message);
    expect(result.value.items.map(({ id }) => id)).toEqual(["a", "a~1", "b"]);
    expect(answersMetaSchema.parse(result.value.meta)).toEqual({
      kind: "import",
      name: "x",
      identity: null,
      prompt: null,
      repeats: 2,
      notes: [],
      left_out: [],
    });
    expect(tools.warnings).toEqual([]);
  });

  test("what can't be used is counted and said; the rest counts", async () => {
    const { result, tools } = await run([{ id: "a", response: "1" }, "{broken", { id: "z", response: "2" }], {}, ["a"]);
    expect(result.ok && result.value.items.map(({ id }) => id)).toEqual(["a", "z"]);
    expect(tools.warnings).toEqual([
      "answers.jsonl: 1 record could not be used",
      "record 2 (line 2): is no answer",
      "1 cases",
      "answers.jsonl: 1 answer belongs to no case of the data set (z)",
    ]);
    expect(result.ok && answersMetaSchema.parse(result.value.meta)).toMatchObject({
      notes: tools.warnings.slice(2),
      left_out: [{ what: "records that are no answers (is no answer)", count: 1, examples: ["record 2 (line 2)"] }],
    });
  });

  test("the last final answer of a case counts", async () => {
    const { result, tools } = await run([
      { id: "a", response: "", status: "failed" },
      { id: "a", response: "first" },
      { id: "a", response: "second" },
      { id: "a", response: "", status: "timed_out" },
    ]);
    expect(result.ok && result.value.items).toMatchObject([{ id: "a", value: { response: "second" } }]);
    expect(tools.warnings).toEqual([expect.stringContaining("3 answers were given again; the later final one counts")]);
  });

  test("several backends in one file: one must be chosen", async () => {
    const lines = [
      { id: "a", backend: "x", response: "1" },
      { id: "a", backend: "y", response: "2" },
    ];
    expect((await run(lines)).result).toMatchObject({ ok: false, message: expect.stringContaining("x, y") });
    const { result } = await run(lines, { backend: "y", name: "why" });
    expect(result.ok && result.value).toMatchObject({ items: [{ value: { response: "2" } }], meta: { name: "why" } });
    expect((await run(lines, { backend: "q" })).result).toMatchObject({
      ok: false,
      message: expect.stringContaining("it has x, y"),
    });
  });

  test("nothing usable, or no file", async () => {
    expect((await run(["{"])).result).toMatchObject({ ok: false, message: expect.stringContaining("record 1") });
    const { stage, config, tools } = await run([{ id: "a", response: "" }]);
    const elsewhere = { ...(config as object), path: "lost.jsonl" };
    expect(await stage.run(elsewhere, stageInputs({}), tools, new AbortController().signal)).toMatchObject({
      ok: false,
      message: expect.stringContaining("lost.jsonl can't be read"),
    });
    expect(await stage.identify?.(elsewhere, tools)).toMatchObject([{ name: "file", value: null }, {}]);
  });

  test("answers that name no backend are called by their file, unless a name is given", async () => {
    const tools = stageToolsRig();
    const stage = importAnswersStage(readAnswersFile) as WholeStageKind;
    const imported = async (path: string, answer: object, options: object = {}) => {
      writeFileSync(join(tools.baseFolder, path), JSON.stringify({ id: "a", response: "1", ...answer }));
      const config = stage.config.parse({ path, ...options });
      const key = JSON.stringify([stage.keyConfig?.(config), await stage.identify?.(config, tools)]);
      const result = await stage.run(config, stageInputs({}), tools, new AbortController().signal);
      if (!result.ok) throw new Error(result.message);
      const { name } = answersMetaSchema.parse(result.value.meta);
      return { key, name, backends: result.value.items.map(({ value }) => (value as Answer).backend) };
    };
    const own = await imported("my-search.v2.jsonl", {});
    expect(own).toMatchObject({ name: "my-search.v2", backends: ["my-search.v2"] });
    const renamed = await imported("other.jsonl", {});
    expect(renamed).toMatchObject({ name: "other", backends: ["other"] });
    expect(renamed.key).not.toBe(own.key);
    expect(await imported("file.jsonl", { backend: "x" })).toMatchObject({ name: "x", backends: ["x"] });
    expect(await imported("file.jsonl", {}, { name: "label" })).toMatchObject({ name: "label", backends: ["label"] });
  });

  test("the key has the file's content and not its path", async () => {
    const first = await run([{ id: "a", response: "1" }]);
    const second = await run([{ id: "a", response: "2" }]);
    expect(second.identity).not.toEqual(first.identity);
    expect(first.stage.keyConfig?.({ path: "one" })).toEqual(first.stage.keyConfig?.({ path: "two" }));
  });
});
