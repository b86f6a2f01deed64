/** A program that is started once: what it is told, what it may answer, and what becomes of it. Real processes; no test waits for a length of time. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import { command } from "./command.js";
import { readReply } from "./command-reply.js";
import type { Backend } from "./contract.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bench-session-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `answer(asked)`: code of a function from the question to what is printed (a value, or a string as it is); it may be async. Counts its starts. */
function program(answer: string): string[] {
  const file = join(folder, `program-${Math.abs(hash(answer))}.mjs`);
  writeFileSync(
    file,
    `import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
appendFileSync(${JSON.stringify(`${file}.starts`)}, "x");
const answer = ${answer};
console.log("loading the model ...");
for await (const line of createInterface({ input: process.stdin })) {
  const said = await answer(JSON.parse(line));
  console.log(typeof said === "string" ? said : JSON.stringify(said));
}`,
  );
  return [process.execPath, file];
}

const hash = (text: string) => [...text].reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) | 0, 7);
const starts = ([, file = ""]: readonly string[]) => readFileSync(`${file}.starts`, "utf8").length;

const opened: Backend[] = [];
async function open(run: readonly string[], more: Record<string, unknown> = {}, env: Record<string, string> = {}) {
  const backend = await openBackend(
    command,
    { run, protocol: "json-lines", ...more },
    { baseFolder: folder, sleep: () => new Promise<void>(() => {}), env: { PATH: process.env.PATH, ...env } },
  );
  opened.push(backend);
  return backend;
}
afterAll(() => Promise.all(opened.map((backend) => backend.close())));

describe("a program that is started once", () => {
  test("gets every question as a line, and its answers are read like any other's", async () => {
    const run = program(
      `(asked) => ({ id: asked.id, classes: [{ path: asked.corpus === null ? "none.c" : "a.c", score: 2, start_line: 3, end_line: 4 }], usage: { input_tokens: 7, cost_usd: 0.5 }, said: asked })`,
    );
    const backend = await open(run);
    const first = await ask(backend, { id: "o/r#1", prompt: "numbers\noverflow" });
    expect(first).toMatchObject({ status: "completed", usage: { input_tokens: 7, output_tokens: null, cost_usd: 0.5 } });
    expect(pathsOf(first)).toEqual(["none.c"]);
    expect(JSON.parse(first.response).said).toEqual({
      id: "o/r#1",
      repeat: 0,
      prompt: "numbers\noverflow",
      title: null,
      repository: null,
      base_commit: null,
      corpus: null,
    });
    const second = await ask(backend, { id: "o/r#2", corpus: memoryCorpus({ "a.c": "int a;" }) });
    expect(pathsOf(second)).toEqual(["a.c"]);
    expect(starts(run)).toBe(1);
  });

  test("may say a text, or that it failed and when to try again", async () => {
    const backend = await open(
      program(
        `({ id }) => ({ "a": { id, response: "It is src/A.java" }, "b": { id, error: "no index" }, "c": { id, error: "busy", retry: 3 } })[id]`,
      ),
    );
    expect(await ask(backend, { id: "a" })).toEqual({ status: "completed", response: "It is src/A.java" });
    expect(await ask(backend, { id: "b" })).toEqual({ status: "failed", response: "", error: "no index" });
    expect(await ask(backend, { id: "c" })).toMatchObject({ status: "failed", error: "busy", retry: { after: 3 } });
  });

  test("log lines and answers to other questions are passed over", async () => {
    const backend = await open(
      program(
        `({ id }) => 'warming up\\n{"id":"other","classes":[]}\\n[1]\\n' + JSON.stringify({ id, classes: [{ path: "x.c" }] })`,
      ),
    );
    expect(pathsOf(await ask(backend, { id: "mine" }))).toEqual(["x.c"]);
  });

  test("that dies is started again for the next question", async () => {
    const run = program(
      `({ id }) => { if (id === "die") { console.error("out of memory"); process.exit(3); } return { id, classes: [] }; }`,
    );
    const backend = await open(run);
    await ask(backend, { id: "one" });
    expect(await ask(backend, { id: "die" })).toMatchObject({
      status: "failed",
      retry: {},
      error: expect.stringMatching(/ended \(exit code 3\) before it answered.*out of memory/s),
    });
    expect((await ask(backend, { id: "two" })).status).toBe("completed");
    expect(starts(run)).toBe(2);
  });

  test("that gives no answer in time is ended, and says what it printed instead", async () => {
    const run = program(
      `({ id }) => id === "slow" ? (console.log("thinking about it"), console.error("now"), new Promise(() => {})) : { id, classes: [] }`,
    );
    const backend = await open(run);
    await ask(backend, { id: "first" });
    const controller = new AbortController();
    const running = ask(backend, { id: "slow" }, controller.signal);
    const late = Object.assign(new Error("time is up"), { name: "TimeoutError" });
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(late);
    expect(await running).toMatchObject({ status: "timed_out", error: expect.stringContaining("gave no answer in time") });
    expect((await ask(backend, { id: "next" })).status).toBe("completed");
    expect(starts(run)).toBe(2);
  });

  test("is asked side by side by as many processes as there are questions under way", async () => {
    const run = program(`({ id }) => ({ id, classes: [{ path: id + ".c" }] })`);
    const backend = await open(run, { concurrency: 3 });
    const answers = await Promise.all(["a", "b", "c"].map((id) => ask(backend, { id })));
    expect(answers.map((answer) => pathsOf(answer))).toEqual([["a.c"], ["b.c"], ["c.c"]]);
    expect(starts(run)).toBe(3);
    await ask(backend, { id: "d" });
    expect(starts(run)).toBe(3);
  });

  test("that is not there fails for every question; a secret in its error is not shown", async () => {
    expect(await ask(await open(["no-such-program"]), {})).toMatchObject({ status: "failed", ofAll: "fail", asked: false });
    const run = program(`({ id }) => ({ id, error: "key " + process.env.MY_KEY + " refused" })`);
    const answer = await ask(await open(run, { env: ["MY_KEY"] }, { MY_KEY: "sk-thisIsSecret" }), {});
    expect(answer.error).toBe("key [MY_KEY] refused");
  });

  test("options that make no sense with it are mistakes", () => {
    for (const more of [{ run: ["x", "{query}"] }, { stdin: "none" }, { output: "lines" }])
      expect(command.options.safeParse({ run: ["x"], protocol: "json-lines", ...more }).success).toBe(false);
  });
});

test("whatever is printed, it is an answer to this question or none at all", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc
          .record({ id: fc.constant("q"), error: fc.jsonValue(), usage: fc.jsonValue(), response: fc.jsonValue() })
          .map((value) => JSON.stringify(value)),
      ),
      (line) => {
        const answer = readReply(line, { id: "q", repeat: 0 });
        if (answer === null) return;
        expect(["completed", "failed"]).toContain(answer.status);
        expect(typeof answer.response).toBe("string");
      },
    ),
  );
});
