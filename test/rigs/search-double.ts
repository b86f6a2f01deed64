/** A source tree on disk, a cache, and a double of a search tool: what tests of search tools share. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { BackendEnvironment } from "../../src/backends/contract.js";
import { type MemoryCorpus, memoryCorpus } from "./memory-corpus.js";

export const FILES: Readonly<Record<string, string>> = {
  "src/Parser.java":
    "class Parser {\n  // reads numbers\n  int parse() {\n    return 1;\n  }\n\n  void exponent() {\n    overflow();\n  }\n}\n",
  "src/Writer.java": "class Writer {\n  // writes numbers\n  void write() {}\n}\n",
  "docs/numbers.md": "# Numbers\n\nHow numbers overflow.\n",
};

export interface SearchRig {
  readonly corpus: MemoryCorpus;
  readonly folder: string;
  readonly environment: Partial<BackendEnvironment>;
  /** Another outside world: `DOUBLE_FAULT` and the like. */
  readonly faulty: (env: Record<string, string>) => Partial<BackendEnvironment>;
  /** Arguments of each call of the double, in order. */
  readonly calls: () => string[][];
  readonly remove: () => void;
}

/** `name`: a file of `test/doubles`. */
export function searchRig(name: string): SearchRig {
  const folder = mkdtempSync(join(tmpdir(), "bench-search-"));
  const tree = join(folder, "cache", "trees", "one");
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  const log = join(folder, "calls.log");
  const double = resolve(import.meta.dirname, "../doubles", `${name}.mjs`);
  // A wrapper by the tool's own name, so that the PATH finds it.
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${double}" "$@"\n`);
  chmodSync(join(bin, name), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH ?? ""}`, HOME: join(folder, "home"), DOUBLE_LOG: log };
  let seconds = 0;
  const faulty = (more: Record<string, string>): Partial<BackendEnvironment> => ({
    env: { ...env, ...more },
    baseFolder: folder,
    cacheFolder: (kind) => join(folder, "cache", kind),
    clock: () => seconds++,
    sleep: (milliseconds, signal) => setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal }),
  });
  return {
    corpus: memoryCorpus(FILES, tree),
    folder,
    environment: faulty({}),
    faulty,
    calls: () =>
      existsSync(log)
        ? readFileSync(log, "utf8")
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as string[])
        : [],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Names that the doubles read; a backend passes on only what is named. */
export const PASS = { env: ["DOUBLE_LOG", "DOUBLE_FAULT", "DOUBLE_VERSION"] };
