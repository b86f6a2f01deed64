/**
 * Hostile input for everything that reads a stranger's file: pieces of good files (`test/fuzz/*`, which grows: what once broke a reader goes there) taken
 * apart and put together in bad ways. Each is read or refused with a message; nothing throws, hangs, pollutes a prototype, or grows out of proportion.
 *
 * FUZZ_RUNS (default 120 for each reader) says how many; FUZZ_SEED repeats a round. A failing input is written to test/fuzz/READER/found-*.txt.
 */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAnswers } from "../src/answers/file.js";
import { parseAnswer } from "../src/answers/parse.js";
import { UnusableConfiguration } from "../src/backends/contract.js";
import { parsePrices } from "../src/backends/prices.js";
import { digestBytes } from "../src/base/json.js";
import { parseQrels, parseTrecRun } from "../src/base/trec.js";
import { unpackTarball } from "../src/corpus/tarball.js";
import { lintDataset } from "../src/dataset/lint/lint.js";
import { maskDataset } from "../src/dataset/mask.js";
import { readDataset } from "../src/dataset/read.js";
import { parseRecording } from "../src/github/recording.js";
import { recordingServer } from "../src/github/recording-server.js";
import { parseRules } from "../src/matching/rules-file.js";
import { checkPipeline } from "../src/pipeline/check.js";
import { extensionPaths } from "../src/pipeline/extensions.js";
import { parseJudgements } from "../src/scoring/judgements.js";
import { stageKinds } from "../src/stages/registry.js";
import { bench } from "./rigs/bench-command.js";
import { tarBytes } from "./rigs/tar.js";

const RUNS = Number(process.env.FUZZ_RUNS ?? 120);
const SEED = process.env.FUZZ_SEED === undefined ? {} : { seed: Number(process.env.FUZZ_SEED) };
const CORPUS = join(import.meta.dirname, "fuzz");

const kinds = await stageKinds({ extensions: [], folder: "/" });
if (!kinds.ok) throw new Error(kinds.error);

/** Each gives what a person would be told, or throws what it must not. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  pipeline: (text) => {
    extensionPaths(text);
    const checked = checkPipeline({
      text,
      file: "p.yaml",
      folder: "/project/pipelines",
      projectRoot: "/project",
      kinds: kinds.value,
      env: { HOME: "/home/me" },
      set: [],
    });
    if (!checked.ok) for (const { file, message } of checked.error) expect([file, message.length > 0]).toEqual(["p.yaml", true]);
    return checked.ok ? checked.value.nodes.length : checked.error.length;
  },
  rules: (text) => parseRules(text, "r.yaml"),
  answers: (text) => [parseAnswer(text, { truncated: false, prompt: null }), readAnswers(text, { file: "a.jsonl" })],
  dataset: (text) => {
    const read = readDataset(text, "d.jsonl");
    if (!read.ok) return read.error.message;
    // What was read must be fit for what is done with it.
    return [lintDataset(read.value.dataset).findings.length, maskDataset(read.value.dataset).cases.length];
  },
  recording: (text) => {
    const recording = parseRecording(text);
    return recording.ok ? recordingServer(recording.value) : recording.error;
  },
  trec: (text) => [parseQrels(text), parseTrecRun(text)],
  judgements: (text) => parseJudgements(text),
  prices: (text) => {
    try {
      return parsePrices(text, "p.yaml");
    } catch (error) {
      if (error instanceof UnusableConfiguration) return error.message;
      throw error;
    }
  },
};

const TOKENS = [
  "__proto__",
  "constructor",
  "$".concat("{params.a}"),
  "$".concat("{env.HOME}"),
  "../../../etc/passwd",
  "\0",
  "\u202e",
  "\ud800",
  "&a [*a, *a]",
  "<<: *n",
  "!!js/function",
  "{{",
  "]]>",
  '<!ENTITY x SYSTEM "file:///etc/passwd">',
  "1e999",
  "-0",
  "null",
  '"',
  "\\",
  "\r",
  "\t",
  "- ",
  ": ",
  "#",
  "```",
  "|",
  "a".repeat(5000),
  "[".repeat(2000),
  '{"a":'.repeat(2000),
  "(".repeat(3000),
  "src/".repeat(1000),
  "1.".repeat(2000),
  "\n".repeat(2000),
  "=".repeat(3000),
];

type Change =
  | { readonly how: "cut" | "double" | "flip" | "end"; readonly at: number; readonly size: number }
  | { readonly how: "put"; readonly at: number; readonly token: string };

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    how: fc.constantFrom("cut" as const, "double" as const, "flip" as const, "end" as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    size: fc.integer({ min: 1, max: 60 }),
  }),
  fc.record({
    how: fc.constant("put" as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    token: fc.oneof(fc.constantFrom(...TOKENS), fc.string({ maxLength: 8, unit: "binary" })),
  }),
);

function changed(text: string, changes: readonly Change[]): string {
  let result = text;
  for (const one of changes) {
    const at = Math.floor(one.at * result.length);
    if (one.how === "put") result = result.slice(0, at) + one.token + result.slice(at);
    else if (one.how === "cut") result = result.slice(0, at) + result.slice(at + one.size);
    else if (one.how === "double")
      result = result.slice(0, at) + result.slice(at, at + one.size * 20).repeat(30) + result.slice(at);
    else if (one.how === "end") result = result.slice(0, at);
    else result = result.slice(0, at) + String.fromCharCode((result.charCodeAt(at) || 0) ^ one.size) + result.slice(at + 1);
  }
  return result.slice(0, 200_000);
}

const corpusOf = (reader: string) =>
  readdirSync(join(CORPUS, reader))
    .sort()
    .map((name) => readFileSync(join(CORPUS, reader, name), "utf8"));

function keep(reader: string, text: string): void {
  mkdirSync(join(CORPUS, reader), { recursive: true });
  writeFileSync(join(CORPUS, reader, `found-${digestBytes(text).slice(0, 12)}.txt`), text);
}

describe("files of strangers", () => {
  test.each(Object.entries(READERS))("%s", (reader, read) => {
    const seeds = corpusOf(reader);
    const keys = Object.keys(Object.prototype).length;
    for (const seed of seeds) read(seed);
    fc.assert(
      fc.property(fc.constantFrom(...seeds), fc.array(change, { minLength: 1, maxLength: 6 }), (seed, changes) => {
        const text = changed(seed, changes);
        try {
          read(text);
          expect(Object.keys(Object.prototype).length).toBe(keys);
          expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
        } catch (error) {
          keep(reader, text);
          throw error;
        }
      }),
      { numRuns: RUNS, ...SEED },
    );
  });

  test("archives: unpacked within limits, or refused; no path leaves its root", async () => {
    const path = fc.oneof(
      fc.constantFrom(
        "package/a.js",
        "package/../../x",
        "/etc/x",
        "package/b/../c",
        "package\\..\\x",
        "package/\0",
        "package/__proto__",
      ),
      fc.string({ maxLength: 40 }),
    );
    const entry = fc.record({
      path,
      content: fc.string({ maxLength: 300 }),
      type: fc.constantFrom("0", "1", "2", "3", "5", "x", "L"),
      link: fc.constantFrom("", "../../x", "/etc/passwd"),
      claimedSize: fc.option(fc.integer({ min: 0, max: 1 << 30 }), { nil: 0 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 5 }), fc.integer({ min: 0, max: 2000 }), async (entries, cut) => {
        const bytes = gzipSync(
          tarBytes(entries.map(({ claimedSize, ...one }) => (claimedSize === 0 ? one : { ...one, claimedSize }))),
        );
        const unpacked = await unpackTarball(bytes.subarray(0, bytes.length - (cut % 7 === 0 ? Math.min(cut, bytes.length) : 0)));
        if (!unpacked.ok) {
          expect(unpacked.error).not.toBe("");
          return;
        }
        for (const { path: name } of unpacked.value.files) expect(name).not.toMatch(/^\/|(?:^|[/\\])\.\.(?:[/\\]|$)|\0/);
      }),
      { numRuns: RUNS, ...SEED },
    );
  });

  test("bundles: taken in whole or not at all, and nothing is written beside the project", async () => {
    const around = mkdtempSync(join(tmpdir(), "bench-around-"));
    const head = { format: 1, run_id: "20260101T000000Z-x", files: [], objects: { count: 0, bytes: 0, sha256: "0".repeat(64) } };
    const name = fc.constantFrom(
      "bundle.json",
      "objects.jsonl",
      "run/run.json",
      "run/../../evil",
      "../evil",
      "/evil",
      "run/a/b",
      "run/.hidden",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            path: name,
            content: fc.oneof(fc.constant(JSON.stringify(head)), fc.json(), fc.string()),
            type: fc.constantFrom("0", "2", "5"),
          }),
          { maxLength: 4 },
        ),
        async (entries) => {
          const project = mkdtempSync(join(around, "p-"));
          const file = join(project, "b.tgz");
          writeFileSync(file, gzipSync(tarBytes(entries)));
          const { exit, stderr } = await bench(project, ["import", "b.tgz"]);
          expect([exit === 0, stderr === ""]).not.toEqual([false, true]);
          expect(stderr).not.toMatch(/internal error|\n {4}at /);
          expect(readdirSync(around).every((one) => one.startsWith("p-"))).toBe(true);
          rmSync(project, { recursive: true });
        },
      ),
      { numRuns: Math.min(RUNS, 25) + Math.floor(RUNS / 10), ...SEED },
    );
    rmSync(around, { recursive: true });
  });
});
