/** Real child processes. A puppet says over a socket when it is ready; no test waits for a length of time. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ask as askBackend, openBackend, pathsOf } from "../../test/rigs/ask-backend.js";
import { memoryCorpus } from "../../test/rigs/memory-corpus.js";
import { command } from "./command.js";
import type { BackendEnvironment, Question, RawAnswer } from "./contract.js";

let folder: string;
let server: Server;
const connections: Socket[] = [];
const arrivals: ((puppet: Puppet) => void)[] = [];

/** A process that has reported: its first line, and a promise of its end (its socket closes when it dies, however it dies). */
interface Puppet {
  readonly said: string;
  readonly gone: Promise<void>;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "bench-command-"));
  server = createServer((socket) => {
    connections.push(socket);
    const gone = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {});
    socket.once("data", (data) => arrivals.shift()?.({ said: String(data), gone }));
  });
  await new Promise<void>((resolve) => server.listen(join(folder, "s"), resolve));
});
afterEach(() => {
  for (const socket of connections.splice(0)) socket.destroy();
  arrivals.length = 0;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function arrival(): Promise<Puppet> {
  return new Promise((resolve) => arrivals.push(resolve));
}

let scripts = 0;
/** Arguments that run this code, with `report(text)` (resolves once the test has it in hand) and `stay()` (until killed). */
function script(code: string): string[] {
  const file = join(folder, `puppet-${scripts++}.mjs`);
  const prelude = `
    import { connect } from "node:net";
    import { spawn } from "node:child_process";
    const report = (text) => new Promise((resolve) => {
      const socket = connect(${JSON.stringify(join(folder, "s"))}, () => socket.write(text, resolve));
      socket.on("error", () => {});
    });
    const stay = () => new Promise(() => setInterval(() => {}, 1 << 30));
  `;
  writeFileSync(file, `${prelude}\n${code}`);
  return [process.execPath, file];
}

async function ask(
  options: Record<string, unknown>,
  question: Partial<Question> = {},
  environment: Partial<BackendEnvironment> = {},
  signal?: AbortSignal,
): Promise<RawAnswer> {
  const sleep = () => new Promise<void>(() => {});
  const env = { PATH: process.env.PATH, ...environment.env };
  return askBackend(await openBackend(command, options, { baseFolder: folder, sleep, ...environment, env }), question, signal);
}

function timeout(): Error {
  return Object.assign(new Error("time is up"), { name: "TimeoutError" });
}

const PRINT_ARGS = "process.stdout.write(JSON.stringify(process.argv.slice(2)));";

describe("what the program is given", () => {
  test("the prompt on stdin, byte for byte", async () => {
    const prompt = `ünï \u2028 "quotes" $(touch x) \`y\`\r\n\r\n${"long ".repeat(100_000)}`;
    const answer = await ask({ run: script("process.stdin.pipe(process.stdout);") }, { prompt });
    expect(answer).toEqual({ status: "completed", response: prompt, details: { exit_code: 0, signal: null } });
  });

  test("nothing on stdin where it is not wanted", async () => {
    const run = script(`let n = 0; for await (const chunk of process.stdin) n += chunk.length; console.log("read", n);`);
    expect((await ask({ run, stdin: "none" }, { prompt: "text" })).response).toBe("read 0\n");
  });

  test("placeholders in the arguments, without any shell", async () => {
    const run = [...script(PRINT_ARGS), "{id}:{repeat}", "{query}", "{title}", "{repo}@{base_commit}", "{corpus}", "*", "$HOME"];
    const answer = await ask(
      { run },
      {
        id: "o/r#1",
        repeat: 2,
        prompt: "a b; 'c' {id}",
        case: { id: "o/r#1", title: "T", repository: "o/r", base_commit: "abc" },
        corpus: memoryCorpus({}, folder),
      },
    );
    expect(JSON.parse(answer.response)).toEqual(["o/r#1:2", "a b; 'c' {id}", "T", "o/r@abc", folder, "*", "$HOME"]);
  });

  test("the prompt in a file that is gone afterwards", async () => {
    const run = [
      ...script(
        `import { readFileSync } from "node:fs"; console.log(process.argv[2]); console.log(readFileSync(process.argv[2], "utf8"));`,
      ),
      "{query_file}",
    ];
    const [file = "", text] = (await ask({ run }, { prompt: "in a file" })).response.split("\n");
    expect(text).toBe("in a file");
    expect(existsSync(file)).toBe(false);
  });

  test("only the environment that it needs and that is passed on by name", async () => {
    const env = { HOME: "/h", SECRET_KEY: "hidden", WANTED: "yes", LANG: "C" };
    const run = script("console.log(JSON.stringify(process.env));");
    const seen = JSON.parse((await ask({ run, env: ["WANTED", "ABSENT"] }, {}, { env })).response) as Record<string, string>;
    expect(seen).toMatchObject({ HOME: "/h", WANTED: "yes", LANG: "C" });
    expect(Object.keys(seen)).not.toContain("SECRET_KEY");
    expect(Object.keys(seen)).not.toContain("ABSENT");
  });

  test("the working folder: the source tree, else the pipeline file's, or the one that is named", async () => {
    const run = script("console.log(process.cwd());");
    const tree = mkdtempSync(join(folder, "tree-"));
    const cwd = async (options: object, question: Partial<Question>) =>
      (await ask({ run, ...options }, question)).response.trim();
    expect(await cwd({}, { corpus: memoryCorpus({}, tree) })).toBe(tree);
    expect(await cwd({}, {})).toBe(folder);
    expect(await cwd({ cwd: tree.slice(folder.length + 1) }, {})).toBe(tree);
    expect(await ask({ run, cwd: "nowhere" })).toMatchObject({ status: "failed", error: expect.stringContaining("`cwd:`") });
  });

  test("paths that start with ./ are relative to the pipeline file, also in another working folder", async () => {
    writeFileSync(join(folder, "tool.sh"), '#!/bin/sh\necho "tool $1"\n');
    chmodSync(join(folder, "tool.sh"), 0o755);
    const tree = mkdtempSync(join(folder, "tree-"));
    const answer = await ask({ run: ["./tool.sh", "../up"] }, { corpus: memoryCorpus({}, tree) });
    expect(answer.response).toBe(`tool ${join(folder, "..", "up")}\n`);
  });

  test("{corpus} without a tree is a failure that says what is missing", async () => {
    expect(await ask({ run: ["echo", "{corpus}"] })).toMatchObject({
      status: "failed",
      error: expect.stringContaining("checkout"),
    });
  });
});

describe("what becomes of its end", () => {
  test("an exit code is a failure with the last of stderr, without secrets and control characters", async () => {
    const run = script(`console.error("first\\nbad key: " + process.env.API_KEY + "\\x1b[31m"); process.exit(3);`);
    const answer = await ask({ run, env: ["API_KEY"] }, {}, { env: { API_KEY: "sk-123456" } });
    expect(answer).toMatchObject({ status: "failed", response: "", details: { exit_code: 3, signal: null } });
    expect(answer.error).toContain("exit code 3: first | bad key: [API_KEY]·[31m");
    expect(JSON.stringify(answer)).not.toContain("sk-123456");
    expect(answer.retry).toBeUndefined();
  });

  test("an exit code that says `try again` is worth another attempt", async () => {
    expect((await ask({ run: script("process.exit(75);") })).retry).toEqual({});
    expect((await ask({ run: script("process.exit(7);"), retry_exit_codes: [7] })).retry).toEqual({});
  });

  test("a signal is a failure, worth another attempt", async () => {
    const answer = await ask({ run: script(`process.kill(process.pid, "SIGKILL"); await stay();`) });
    expect(answer).toMatchObject({ status: "failed", details: { exit_code: null, signal: "SIGKILL" }, retry: {} });
    expect(answer.error).toContain("SIGKILL");
  });

  test("a program that is not there, or may not be run", async () => {
    expect(await ask({ run: ["no-such-program-anywhere"] })).toMatchObject({
      status: "failed",
      error: expect.stringContaining("not found"),
    });
    writeFileSync(join(folder, "plain.txt"), "text");
    chmodSync(join(folder, "plain.txt"), 0o644);
    expect(await ask({ run: ["./plain.txt"] })).toMatchObject({ status: "failed", error: expect.stringContaining("chmod") });
  });

  test("arguments that no system takes", async () => {
    const run = ["echo", "{query}"];
    expect((await ask({ run }, { prompt: "a\0b" })).error).toContain("NUL");
    expect((await ask({ run }, { prompt: "x".repeat(5_000_000) })).error).toContain("{query_file}");
  });

  test("a program that never reads its input is none the worse", async () => {
    const answer = await ask({ run: script(`console.log("done"); process.exit(0);`) }, { prompt: "x".repeat(10_000_000) });
    expect(answer).toMatchObject({ status: "completed", response: "done\n" });
  });

  test("silence is a failure, unless it means `nothing found`", async () => {
    const run = script("process.exit(0);");
    expect(await ask({ run })).toMatchObject({ status: "failed", error: expect.stringContaining("printed nothing") });
    expect(pathsOf(await ask({ run, empty_is_answer: true }))).toEqual([]);
  });

  test("lines become ranked files; what is not JSON fails where JSON is promised", async () => {
    const run = script(`console.log("src/a b.c\\nsrc/c.h");`);
    expect(pathsOf(await ask({ run, output: "lines" }))).toEqual(["src/a b.c", "src/c.h"]);
    expect(await ask({ run, output: "json" })).toMatchObject({ status: "failed", response: "src/a b.c\nsrc/c.h\n" });
  });

  test("binary output is kept as text", async () => {
    const answer = await ask({ run: script("process.stdout.write(Buffer.from([0, 255, 254, 97]));") });
    expect(answer).toMatchObject({ status: "completed", response: "\0\ufffd\ufffda", details: { invalid_utf8: true } });
  });

  test("endless output ends the program", async () => {
    const puppet = arrival();
    const run = script(
      `process.stdout.on("error", () => {}); await report("up"); const more = () => process.stdout.write("x".repeat(65536), more); more();`,
    );
    const answer = await ask({ run, max_output: 100_000 });
    expect(answer).toMatchObject({ status: "failed", error: expect.stringContaining("max_output") });
    await (await puppet).gone;
  });

  test("more than max_output fails also when the program ends by itself", async () => {
    expect(await ask({ run: script(`process.stdout.write("12345");`), max_output: 4 })).toMatchObject({ status: "failed" });
    expect(await ask({ run: script(`process.stdout.write("1234");`), max_output: 4 })).toMatchObject({ status: "completed" });
  });
});

describe("stopping it", () => {
  test("time is up: timed_out, and the program is gone", async () => {
    const stop = new AbortController();
    const arriving = arrival();
    const answer = ask(
      { run: script(`process.stdout.write("half"); console.error("still loading"); await report("up"); await stay();`) },
      {},
      {},
      stop.signal,
    );
    const puppet = await arriving;
    stop.abort(timeout());
    expect(await answer).toMatchObject({ status: "timed_out", response: "", error: expect.stringContaining("in time") });
    await puppet.gone;
  });

  test("the run stops: failed, and the program is gone", async () => {
    const stop = new AbortController();
    const arriving = arrival();
    const answer = ask({ run: script(`await report("up"); await stay();`) }, {}, {}, stop.signal);
    const puppet = await arriving;
    stop.abort(new Error("interrupted"));
    expect(await answer).toMatchObject({ status: "failed", error: expect.stringContaining("stopped") });
    await puppet.gone;
  });

  test("a program that ignores TERM is killed when the grace is over", async () => {
    const stop = new AbortController();
    const arriving = arrival();
    const sleeps: number[] = [];
    const told = arrival();
    const run = script(`process.on("SIGTERM", () => report("ignored")); await report("up"); await stay();`);
    // Time passes once only, when the program has said that it ignores TERM.
    const sleep = async (milliseconds: number) => {
      sleeps.push(milliseconds);
      await (sleeps.length === 1 ? told : new Promise<void>(() => {}));
    };
    const answer = ask({ run }, {}, { sleep }, stop.signal);
    const puppet = await arriving;
    stop.abort(timeout());
    expect(await answer).toMatchObject({ status: "timed_out", details: { signal: "SIGKILL" } });
    await puppet.gone;
    expect((await told).said).toBe("ignored");
    expect(sleeps[0]).toBe(2000);
  });

  test("what it has started dies with it", async () => {
    const stop = new AbortController();
    const arriving = [arrival(), arrival()];
    const child = script(`await report("child"); await stay();`);
    const run = script(
      `spawn(${JSON.stringify(child[0])}, ${JSON.stringify(child.slice(1))}, { stdio: "inherit" }); await report("parent"); await stay();`,
    );
    const answer = ask({ run }, {}, {}, stop.signal);
    const puppets = await Promise.all(arriving);
    expect(puppets.map(({ said }) => said).sort()).toEqual(["child", "parent"]);
    stop.abort(timeout());
    expect((await answer).status).toBe("timed_out");
    await Promise.all(puppets.map(({ gone }) => gone));
  });

  test("a grandchild that holds the pipe after a good end does not hold the answer", async () => {
    const arriving = arrival();
    const child = script(`await report("child"); process.send("ready"); await stay();`);
    const run = script(`
      const child = spawn(${JSON.stringify(child[0])}, ${JSON.stringify(child.slice(1))}, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      child.once("message", () => process.stdout.write("answer", () => process.exit(0)));
    `);
    expect(await ask({ run })).toMatchObject({ status: "completed", response: "answer" });
    await (await arriving).gone;
  });

  test("one that has left the group and holds the pipe is waited for a moment only", async () => {
    const arriving = arrival();
    const child = script(`await report(String(process.pid)); process.send("ready"); await stay();`);
    const run = script(`
      const child = spawn(${JSON.stringify(child[0])}, ${JSON.stringify(child.slice(1))}, { detached: true, stdio: ["ignore", "inherit", "inherit", "ipc"] });
      child.once("message", () => process.stdout.write("answer", () => process.exit(0)));
    `);
    const waits: number[] = [];
    // Time passes at once, but after what already lies in the pipe.
    const sleep = (milliseconds: number) => {
      waits.push(milliseconds);
      return new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
    };
    const answer = await ask({ run }, {}, { sleep });
    const puppet = await arriving;
    process.kill(Number(puppet.said), "SIGKILL");
    expect(answer).toMatchObject({ status: "completed", response: "answer" });
    expect(waits).toEqual([2000, 1000]);
    await puppet.gone;
  });

  test("stopped before it began: nothing is started", async () => {
    const run = [
      ...script(`import { writeFileSync } from "node:fs"; writeFileSync(process.argv[2], "");`),
      join(folder, "started"),
    ];
    expect(await ask({ run }, {}, {}, AbortSignal.abort(timeout()))).toMatchObject({ status: "timed_out" });
    expect(existsSync(join(folder, "started"))).toBe(false);
  });
});

describe("options and identity", () => {
  const parse = (options: Record<string, unknown>) => command.options.safeParse(options);
  const identity = (options: Record<string, unknown>) => command.identityOf(command.options.parse({ run: ["x"], ...options }));

  test("a command line in one string is refused with the list that it should be", () => {
    expect(JSON.stringify(parse({ run: "search --top 15" }).error?.issues)).toContain("must be a list");
    expect(JSON.stringify(parse({ run: [] }).error?.issues)).toContain("names no program");
    expect(JSON.stringify(parse({ run: ["x", "{qurey}"] }).error?.issues)).toContain("did you mean {query}?");
    expect(parse({ run: ["x"], shell: true }).success).toBe(false);
    expect(parse({ run: ["x"], env: ["A=B"] }).success).toBe(false);
  });

  test("what shapes the answers is in the identity, what steers is not", () => {
    const plain = identity({});
    for (const steering of [{ timeout: 1 }, { concurrency: 9 }, { max_output: 5 }, { retry_exit_codes: [1] }]) {
      expect(identity(steering)).toEqual(plain);
    }
    expect(identity({ cwd: "a" })).toEqual(identity({ cwd: "b" }));
    expect(identity({ env: ["A", "B"] })).toEqual(identity({ env: ["B", "A"] }));
    for (const shaping of [{ run: ["y"] }, { output: "lines" }, { version: "2" }, { identity: { model: "m" } }, { env: ["A"] }]) {
      expect(identity(shaping)).not.toEqual(plain);
    }
    expect(identity({ identity: null })).toBeNull();
  });

  test("reads only the case fields that its arguments show", () => {
    const reads = (run: string[]) => command.reads?.(command.options.parse({ run }));
    expect(reads(["x", "{query}", "{id}"])).toEqual([]);
    expect(reads(["x", "{title}{repo}", "{title}"])).toEqual(["title", "repository"]);
  });

  test("the content of the files that it names is part of the key", async () => {
    const fingerprint = (options: Record<string, unknown>) =>
      command.fingerprint?.(command.options.parse(options), { baseFolder: folder });
    writeFileSync(join(folder, "a.py"), "one");
    writeFileSync(join(folder, "model.bin"), "weights");
    const options = { run: ["python3", "./a.py", "./not-there"], files: ["model.bin"] };
    const before = await fingerprint(options);
    expect(Object.keys(before as object)).toEqual(["./a.py", "model.bin"]);
    writeFileSync(join(folder, "a.py"), readFileSync(join(folder, "a.py")));
    expect(await fingerprint(options)).toEqual(before);
    writeFileSync(join(folder, "a.py"), "two");
    expect(await fingerprint(options)).not.toEqual(before);
    await expect(fingerprint({ run: ["x"], files: ["lost"] })).rejects.toThrow("lost");
  });
});
