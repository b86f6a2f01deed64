import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "./main.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bench-init-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function bench(argv: readonly string[], typed?: string) {
  const out: string[] = [];
  const err: string[] = [];
  const exit = await main(argv, {
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    env: { PATH: process.env.PATH },
    cwd: folder,
    terminal: { isTTY: false, columns: 80, colour: false },
    ...(typed === undefined ? {} : { stdin: Readable.from([typed]) }),
    interrupted: new AbortController().signal,
  });
  return { exit, stdout: out.join(""), stderr: err.join("") };
}
const written = (name: string) => readFileSync(join(folder, "pipelines", `${name}.yaml`), "utf8");

describe("bench init", () => {
  test("three questions over a pipe, and what it writes runs", async () => {
    writeFileSync(
      join(folder, "cases.jsonl"),
      ["a", "b"].map((id) => JSON.stringify({ id, title: `Parser ${id}`, targets: [{ path: "Parser.java" }] })).join("\n"),
    );
    writeFileSync(join(folder, "Parser.java"), "class Parser {}\n");
    const made = await bench(["init"], "cases.jsonl\n.\nbm25, names\n");
    expect([made.exit, made.stderr]).toEqual([0, expect.stringContaining("Which sources are searched?")]);
    expect(made.stdout).toContain("bench run pipelines/cases.yaml");
    const ran = await bench(["run", "pipelines/cases.yaml", "--json"]);
    expect([ran.exit, Object.keys(JSON.parse(ran.stdout).summary)]).toEqual([0, ["bm25", "names"]]);
  });

  test("nobody there: what is offered is taken; options answer without asking", async () => {
    expect((await bench(["init", "first"])).exit).toBe(0);
    expect(written("first")).toMatch(
      /repo: apache\/cordova-android.*git: "https:\/\/github\.com\/apache\/cordova-android", at: base/s,
    );
    const asked = await bench([
      "init",
      "second",
      "--issues",
      "acme/shop",
      "--sources",
      "none",
      "--systems",
      "openai:gpt-x,./mine.mjs",
    ]);
    // The module is not there yet: said with its place in what was written.
    expect([asked.exit, asked.stderr]).toEqual([
      2,
      expect.stringMatching(/pipelines\/second\.yaml:\d+:\d+: error: there is no module \.\/mine\.mjs/),
    ]);
    expect(written("second")).toContain('model: "gpt-x" }');
  });

  test("never writes over a pipeline without --force; what makes no sense is said", async () => {
    await bench(["init", "p"]);
    expect((await bench(["init", "p"])).stderr).toContain("pipelines/p.yaml is there already");
    expect((await bench(["init", "p", "--force", "--systems", "names"])).exit).toBe(0);
    for (const [argv, said] of [
      [["--systems", "nothing"], "is no system: bm25"],
      [["--issues", "no such thing"], "neither a file that is there nor a repository"],
    ] as const) {
      const { exit, stderr } = await bench(["init", "q", ...argv]);
      expect([exit, stderr]).toEqual([2, expect.stringContaining(said)]);
    }
    expect((await bench(["init", "../evil"])).stderr).toContain("is no name for a pipeline");
  });
});
