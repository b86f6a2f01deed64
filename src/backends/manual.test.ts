import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, openBackend } from "../../test/rigs/ask-backend.js";
import type { Backend, BackendEnvironment, RawAnswer } from "./contract.js";
import { manual } from "./manual.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bench-manual-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Desk {
  readonly input: PassThrough;
  readonly shown: () => string;
  readonly environment: Partial<BackendEnvironment>;
  readonly warnings: string[];
  readonly holds: () => number;
}

/** A person's terminal. Pauses are over at once: what is typed in one go is there together, and nothing else is. */
function desk(isTTY = false, env: Record<string, string> = {}): Desk {
  const input = new PassThrough();
  const out: string[] = [];
  const warnings: string[] = [];
  let holds = 0;
  return {
    input,
    shown: () => out.join(""),
    warnings,
    holds: () => holds,
    environment: {
      env,
      clock: () => 0,
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
      cacheFolder: (name) => join(folder, name),
      warn: (message) => warnings.push(message),
      terminal: {
        input,
        output: (text) => out.push(text),
        isTTY,
        hold: () => {
          holds++;
          return () => holds--;
        },
      },
    },
  };
}

const QUIET = { copy_query: false };

async function session(typed: string, ids: readonly string[], options: Record<string, unknown> = QUIET): Promise<RawAnswer[]> {
  const { input, environment } = desk();
  const backend = await openBackend(manual, options, environment);
  input.end(typed);
  const answers = await Promise.all(ids.map((id) => ask(backend, { id, prompt: `Prompt of ${id}` })));
  await backend.close();
  return answers;
}

const gist = (answers: readonly RawAnswer[]) =>
  answers.map(({ status, response }) => (status === "completed" ? response : status));

describe("the end of an answer", () => {
  test("is the end token", async () => {
    expect(gist(await session("A.java\nEOF\nB.java\nEOF\n", ["1", "2"]))).toEqual(["A.java", "B.java"]);
    expect(gist(await session("A.java\nDONE\n", ["1"], { ...QUIET, end_token: "DONE" }))).toEqual(["A.java"]);
  });

  test("is the end of the input, with or without a last line break", async () => {
    expect(gist(await session("A.java\nB.java", ["1"]))).toEqual(["A.java\nB.java"]);
    expect(gist(await session("A.java\n\n", ["1"]))).toEqual(["A.java"]);
  });

  test("is no empty line inside a paste", async () => {
    const paste = '{"classes": [\n\n  {"path": "A.java"}\n\n]}';
    expect(gist(await session(`${paste}\nEOF\n`, ["1"]))).toEqual([paste]);
  });

  test("is an empty line that nothing follows for a moment", async () => {
    const { input, environment } = desk();
    const backend = await openBackend(manual, QUIET, environment);
    const answer = ask(backend, { id: "1", prompt: "P" });
    input.write("A.java\n\nB.java\n\n");
    expect((await answer).response).toBe("A.java\n\nB.java");
    const next = ask(backend, { id: "2", prompt: "P" });
    input.write("C.java\r\n\r\n");
    expect((await next).response).toBe("C.java");
    await backend.close();
  });

  test("nothing before it is an empty answer, which is valid", async () => {
    expect(gist(await session("EOF\nB.java\nEOF\n", ["1", "2"]))).toEqual(['{"classes":[]}', "B.java"]);
  });
});

describe("instead of an answer", () => {
  test("STOP leaves the rest to the next run and keeps what was given", async () => {
    const answers = await session("A.java\nEOF\nstop\n", ["1", "2", "3"]);
    expect(gist(answers)).toEqual(["A.java", "skipped", "skipped"]);
    expect(answers[1]?.error).toContain("stopped by the person");
  });

  test("STOP after some lines keeps them, too", async () => {
    expect(gist(await session("A.java\nSTOP\n", ["1", "2"]))).toEqual(["A.java", "skipped"]);
  });

  test("SKIP goes on with the next; inside an answer it is a word", async () => {
    expect(gist(await session("SKIP\nB.java\nskip\nEOF\n", ["1", "2"]))).toEqual(["skipped", "B.java\nskip"]);
  });

  test("BACK changes the answer before", async () => {
    expect(gist(await session("wrong\nEOF\nBACK\nA.java\nEOF\nB.java\nEOF\n", ["1", "2"]))).toEqual(["A.java", "B.java"]);
    expect(gist(await session("SKIP\nBACK\nA.java\nEOF\nB.java\nEOF\n", ["1", "2"]))).toEqual(["A.java", "B.java"]);
    expect(gist(await session("A.java\nEOF\nBACK\nSKIP\nB.java\nEOF\n", ["1", "2"]))).toEqual(["skipped", "B.java"]);
  });

  test("BACK and then nothing keeps what was given", async () => {
    expect(gist(await session("A.java\nEOF\nBACK\nSTOP\n", ["1", "2"]))).toEqual(["A.java", "skipped"]);
    expect(gist(await session("A.java\nEOF\nBACK\n", ["1", "2"]))).toEqual(["A.java", "skipped"]);
  });

  test("BACK at the first question says that there is no way back", async () => {
    const { input, environment, shown } = desk();
    const backend = await openBackend(manual, QUIET, environment);
    input.end("BACK\nA.java\nEOF\n");
    expect((await ask(backend, { prompt: "P" })).response).toBe("A.java");
    expect(shown()).toContain("no going back");
  });

  test("an input that ends leaves the rest to the next run", async () => {
    const answers = await session("A.java\nEOF\n", ["1", "2"]);
    expect(gist(answers)).toEqual(["A.java", "skipped"]);
    expect(answers[1]?.error).toContain("the input ended");
  });

  test("where nobody is there, nothing waits", async () => {
    const backend = await openBackend(manual, QUIET, {});
    expect(await ask(backend, { prompt: "P" })).toMatchObject({ status: "skipped", error: expect.stringContaining("nobody") });
  });
});

describe("what was given", () => {
  const file = () => readFileSync(join(folder, "manual", savedName()), "utf8");
  const savedName = () => {
    const [name] = existsSync(join(folder, "manual")) ? listed() : [];
    if (name === undefined) throw new Error("nothing is saved");
    return name;
  };
  const listed = () => readdirSync(join(folder, "manual"));

  async function halfWay(): Promise<{ backend: Backend; pending: Promise<RawAnswer>[]; input: PassThrough }> {
    const { input, environment } = desk();
    const backend = await openBackend(manual, QUIET, environment);
    const pending = ["1", "2"].map((id) => ask(backend, { id, prompt: `Prompt of ${id}` }));
    const saved = new Promise<void>((resolve) => {
      const look = () => (existsSync(join(folder, "manual")) ? resolve() : setImmediate(look));
      look();
    });
    input.write("A.java\nEOF\n");
    await saved;
    return { backend, pending, input };
  }

  test("is on disk before it is handed over, and a next run uses it instead of asking", async () => {
    const first = await halfWay();
    expect(JSON.parse(file())).toMatchObject({ id: "1", response: "A.java" });
    // That process is gone now; another one asks the same.
    const { environment, warnings, shown } = desk();
    const backend = await openBackend(manual, QUIET, environment);
    expect(await ask(backend, { id: "1", prompt: "Prompt of 1" })).toMatchObject({ status: "completed", response: "A.java" });
    expect(warnings).toHaveLength(1);
    expect(shown()).toBe("");
    await backend.close();
    expect(listed()).toEqual([]);
    first.input.end();
    await Promise.all(first.pending);
  });

  test("is no answer to another prompt", async () => {
    const first = await halfWay();
    const { input, environment } = desk();
    const backend = await openBackend(manual, QUIET, environment);
    input.end("B.java\nEOF\n");
    expect((await ask(backend, { id: "1", prompt: "Another prompt" })).response).toBe("B.java");
    first.input.end();
    await Promise.all(first.pending);
  });

  test("survives an interrupt: what is being asked is given up, what was given is handed over", async () => {
    const { input, environment } = desk();
    const backend = await openBackend(manual, QUIET, environment);
    const stop = new AbortController();
    const pending = ["1", "2"].map((id) => ask(backend, { id, prompt: "P" }, stop.signal));
    input.write("A.java\nEOF\n");
    while (!existsSync(join(folder, "manual"))) await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error("interrupted"));
    expect(gist(await Promise.all(pending))).toEqual(["A.java", "skipped"]);
    await backend.close();
  });

  test("a damaged file costs only what is damaged", async () => {
    const first = await halfWay();
    writeFileSync(join(folder, "manual", savedName()), `{"half\n${file()}`);
    const { environment } = desk();
    const backend = await openBackend(manual, QUIET, environment);
    expect((await ask(backend, { id: "1", prompt: "Prompt of 1" })).response).toBe("A.java");
    first.input.end();
    await Promise.all(first.pending);
  });
});

describe("the terminal", () => {
  test("is held while a person is asked, and shows no escape sequence of a stranger's", async () => {
    const { input, environment, shown, holds } = desk();
    const backend = await openBackend(manual, QUIET, environment);
    const answer = ask(backend, { id: "o/r#1", prompt: "Title\n\n\u001b[2Jgone\u0007" });
    expect(holds()).toBe(1);
    input.end("A.java\nEOF\n");
    await answer;
    await backend.close();
    expect(holds()).toBe(0);
    expect(shown()).toContain("o/r#1");
    expect(shown()).toContain("Title\n\n·[2Jgone·");
    expect(shown()).not.toContain("\u001b");
  });

  test("a lone empty line of a person's is doubted once", async () => {
    const { input, environment, shown } = desk(true);
    const backend = await openBackend(manual, QUIET, environment);
    const answer = ask(backend, { prompt: "P" });
    input.write("\r");
    while (!shown().includes("Nothing yet")) await new Promise((resolve) => setImmediate(resolve));
    input.write("\r");
    expect((await answer).response).toBe('{"classes":[]}');
    await backend.close();
  });

  test("a pasted line may be longer than a terminal's own line editing allows", async () => {
    const { input, environment } = desk(true);
    const backend = await openBackend(manual, QUIET, environment);
    const answer = ask(backend, { prompt: "P" });
    const long = `{"classes":[${'{"path":"a/A.java"},'.repeat(500)}{"path":"B.java"}]}`;
    input.write(`${long}\rEOF\r`);
    expect((await answer).response).toBe(long);
    await backend.close();
  });
});

describe("the clipboard", () => {
  function program(name: string, script: string): void {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const PATH = () => `${folder}:/usr/bin:/bin`;

  test("gets the question from the first program that works", async () => {
    program("pbcopy", "exit 1");
    program("wl-copy", `cat > "${folder}/clipboard"`);
    const { input, environment, shown } = desk(false, { PATH: PATH() });
    const backend = await openBackend(manual, {}, { ...environment, sleep: patient(environment) });
    input.end("A.java\nEOF\n");
    await ask(backend, { prompt: "The question" });
    await backend.close();
    expect(readFileSync(join(folder, "clipboard"), "utf8")).toBe("The question");
    expect(shown()).toContain("on the clipboard (wl-copy)");
  });

  test("that is not there is said once", async () => {
    const { input, environment, shown } = desk(false, { PATH: folder });
    const backend = await openBackend(manual, {}, { ...environment, sleep: patient(environment) });
    input.end("A.java\nEOF\nB.java\nEOF\n");
    await Promise.all(["1", "2"].map((id) => ask(backend, { id, prompt: id })));
    await backend.close();
    expect(shown().split("could not be copied")).toHaveLength(2);
  });

  /** The clipboard's patience never ends; other waits end at once. */
  function patient({ sleep }: Partial<BackendEnvironment>): BackendEnvironment["sleep"] {
    return (milliseconds, signal) =>
      milliseconds === 2000
        ? new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }))
        : (sleep?.(milliseconds, signal) ?? Promise.resolve());
  }
});

test("whose answers they are is part of the key, how they are taken is not", () => {
  const identity = (options: Record<string, unknown>) => manual.identityOf(manual.options.parse(options));
  expect(identity({ end_token: "X", pause: 2, copy_query: false })).toEqual(identity({}));
  expect(identity({ person: "ada" })).not.toEqual(identity({}));
});
