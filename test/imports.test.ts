/** Imports point downwards: each room of `src` may import only the rooms listed for it. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { expect, test } from "vitest";

const src = resolve(import.meta.dirname, "../src");

/** Pure rooms first: they import only pure rooms, and no module that reaches outside. */
const PURE: Record<string, readonly string[]> = {
  base: [],
  statistics: ["base"],
  measures: ["base", "matching"],
  answers: ["base"],
  matching: ["base", "answers"],
  scoring: ["base", "answers", "matching", "measures", "statistics", "dataset"],
  pipeline: ["base"],
};
const ROOMS: Record<string, readonly string[]> = {
  ...PURE,
  cache: ["base"],
  dataset: ["base"],
  corpus: ["base"],
  github: ["base", "dataset"],
  backends: ["base", "answers", "corpus", "dataset"],
  engine: ["base", "cache", "pipeline"],
  report: ["base", "answers", "dataset", "matching", "measures", "scoring", "statistics"],
  stages: [
    "base",
    "cache",
    "engine",
    "pipeline",
    "github",
    "corpus",
    "dataset",
    "backends",
    "answers",
    "matching",
    "measures",
    "statistics",
    "scoring",
    "report",
  ],
};
/** node:crypto's hash is a function of its argument; node:path's posix half computes on text. */
const PURE_MODULES = new Set(["node:crypto", "node:path/posix", "zod", "yaml"]);

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return files(path);
    return path.endsWith(".ts") && !path.endsWith(".test.ts") ? [path] : [];
  });
}

function imports(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return [
    ...text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;]*?from\s*"([^"]+)"|import\("([^"]+)"\)|(?:^|\n)import\s*"([^"]+)"/g),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}

function roomOf(file: string): string {
  const parts = relative(src, file).split(sep);
  return parts.length > 1 ? (parts[0] ?? "") : "";
}

test("rooms import only the rooms below them", () => {
  const wrong: string[] = [];
  for (const file of files(src)) {
    const room = roomOf(file);
    if (room === "" || room === "cli") continue;
    const allowed = ROOMS[room];
    if (allowed === undefined) {
      wrong.push(`${relative(src, file)}: room ${room} is not in the house`);
      continue;
    }
    for (const specifier of imports(file)) {
      if (specifier.startsWith(".")) {
        const target = roomOf(resolve(dirname(file), specifier));
        if (target !== room && !allowed.includes(target)) wrong.push(`${relative(src, file)} imports ${target || "the index"}`);
      } else if (room in PURE && !PURE_MODULES.has(specifier)) {
        wrong.push(`${relative(src, file)} is pure but imports ${specifier}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});
