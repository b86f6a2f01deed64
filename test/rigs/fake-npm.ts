/** A program called `npm` in a folder of its own: it hands out the archive it was given, or fails as the real one would, and logs each call. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface FakeNpm {
  /** Environment in which `npm` is this one. */
  readonly env: Record<string, string>;
  /** Arguments and environment of each call so far. */
  calls(): { args: string[]; env: Record<string, string> }[];
  /** From now on it gives this archive. */
  give(archive: Uint8Array, integrity?: string): void;
  /** From now on it fails with this code. */
  fail(code: string, summary: string, how?: "json" | "text"): void;
  remove(): void;
}

export function fakeNpm(): FakeNpm {
  const folder = mkdtempSync(join(tmpdir(), "bench-npm-"));
  const bin = join(folder, "bin");
  const file = (name: string) => join(folder, name);
  mkdirSync(bin);
  writeFileSync(
    join(bin, "npm"),
    `#!${process.execPath}
const fs = require("node:fs"), path = require("node:path");
const args = process.argv.slice(2), folder = ${JSON.stringify(folder)};
fs.appendFileSync(path.join(folder, "log"), JSON.stringify({ args, env: process.env }) + "\\n");
const answer = JSON.parse(fs.readFileSync(path.join(folder, "answer.json"), "utf8"));
if (answer.code) {
  if (answer.how === "json") console.log(JSON.stringify({ error: { code: answer.code, summary: answer.summary } }));
  console.error("npm error code " + answer.code + "\\nnpm error " + answer.summary);
  process.exit(1);
}
fs.copyFileSync(path.join(folder, "archive"), path.join(args[args.indexOf("--pack-destination") + 1], "scope-x-1.0.0.tgz"));
console.log(JSON.stringify([{ filename: "@scope/x-1.0.0.tgz", integrity: answer.integrity }]));
`,
  );
  chmodSync(join(bin, "npm"), 0o755);
  return {
    env: { PATH: bin, HOME: folder },
    calls: () =>
      readFileSync(file("log"), { encoding: "utf8", flag: "a+" })
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line)),
    give: (archive, integrity) => {
      writeFileSync(file("archive"), archive);
      writeFileSync(file("answer.json"), JSON.stringify({ integrity }));
    },
    fail: (code, summary, how = "json") => writeFileSync(file("answer.json"), JSON.stringify({ code, summary, how })),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
