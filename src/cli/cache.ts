/** `bench cache stats|verify|gc|rm`. */
import { existsSync } from "node:fs";
import { visible } from "../base/diagnostics.js";
import type { Digest } from "../base/json.js";
import { CacheBroken } from "../cache/errors.js";
import { cacheStats, collectGarbage, removeRows } from "../cache/maintain.js";
import { DATABASE } from "../cache/open.js";
import { lookFromOutside } from "../cache/seal.js";
import { type Verification, verifyCache, verifyWithoutDatabase } from "../cache/verify.js";
import { listRuns } from "../engine/record.js";
import { plural } from "../report/numbers.js";
import { type Command, EXIT, type Io, UsageError } from "./contract.js";
import { count, flag } from "./options.js";
import { cacheFolder, findProjectRoot, openCache, outFolder } from "./project.js";

export const command: Command = {
  usage: "cache <action> [...keys]",
  summary: "Look after the cache: stats, verify, gc, rm",
  options: [
    { flag: "--cache <folder>", description: "The cache (default cache)" },
    { flag: "--out <folder>", description: "Where runs are: gc keeps what they need (default evaluation_results)" },
    { flag: "--keep-runs <n>", description: "gc: keep what the newest n runs need (default: all runs in --out)" },
    { flag: "--answers", description: "gc: drop raw answers and fetched pages too, where no kept run needs them" },
    { flag: "--dry-run", description: "gc: only say what would be dropped" },
    { flag: "--repair", description: "verify: remove what is damaged, so that it is made again" },
    { flag: "--json", description: "One JSON value on stdout" },
  ],
  examples: ["bench cache stats", "bench cache verify", "bench cache gc --dry-run", "bench cache rm owner/repo#12"],
  run: async (args, options, io) => {
    const [action, ...keys] = args as [string, ...string[]];
    if (!["stats", "verify", "gc", "rm"].includes(action))
      throw new UsageError(`unknown action ${JSON.stringify(action)}: stats, verify, gc or rm`);
    const root = findProjectRoot(io.cwd);
    const folder = cacheFolder(options, root, io.cwd);
    const json = flag(options, "json");
    const print: Print = (value, lines) =>
      io.stdout(json ? `${JSON.stringify(value, null, 2)}\n` : lines.map((line) => `${line}\n`).join(""));
    if (!existsSync(folder)) throw new UsageError(`there is no cache in ${folder}`);

    if (action === "verify") return verify(folder, flag(options, "repair"), io, print);
    const cache = await openCache(folder, io);
    try {
      switch (action) {
        case "stats": {
          const stats = await cacheStats(cache);
          print(stats, [
            `${stats.folder}: index ${bytes(stats.database_bytes)}, ${stats.objects} objects (${bytes(stats.object_bytes)} stored), ${stats.large_objects} of them files (${bytes(stats.large_object_bytes)})`,
            ...Object.entries(stats.rows).map(([name, rows]) => `  ${String(rows).padStart(8)}  ${name}`),
            ...Object.entries(stats.folders).map(([name, size]) => `  ${name}/: ${bytes(size)}`),
          ]);
          return EXIT.done;
        }
        case "gc": {
          const others = await (await cache.claims()).others();
          if (others.length > 0) {
            io.stderr(`bench cache gc: process ${others[0]?.pid} is using this cache; run gc when it has ended.\n`);
            return EXIT.failed;
          }
          const keep = count(options, "keep-runs", 0);
          const runs = await listRuns(outFolder(options, root, io.cwd));
          const kept = keep === undefined ? runs : runs.slice(runs.length - keep);
          const roots = kept.flatMap(({ record }) =>
            record.nodes.flatMap(({ key, output }) =>
              [key, output].flatMap((digest) => (digest === null ? [] : [digest as Digest])),
            ),
          );
          const dryRun = flag(options, "dry-run");
          const result = await collectGarbage(cache, roots, { dropPrecious: flag(options, "answers"), dryRun });
          print({ ...result, kept_runs: kept.length, dry_run: dryRun }, [
            `${plural(kept.length, "run")} kept; ${plural(result.kept_rows, "row")} kept; ${dryRun ? "would drop" : "dropped"} ${plural(result.dropped_rows, "row")} and ${plural(result.dropped_objects, "object")} (${bytes(result.freed_bytes)}).`,
          ]);
          return EXIT.done;
        }
        default: {
          if (keys.length === 0)
            throw new UsageError("rm needs keys (at least 8 characters of one) or items such as owner/repo#12");
          const removed = await removeRows(cache, keys);
          const { units, stages } = removed;
          print({ removed: [...units, ...stages], ...removed }, [removedText(units.length, stages.length, keys)]);
          return units.length + stages.length === 0 ? EXIT.failed : EXIT.done;
        }
      }
    } finally {
      await cache.close();
    }
  },
};

type Print = (value: unknown, lines: readonly string[]) => void;

async function verify(folder: string, repair: boolean, io: Io, print: Print): Promise<number> {
  const problems: string[] = [];
  // Opening may write: what can be seen from outside must be known before.
  const seen = await lookFromOutside(folder);
  let found: Verification;
  let advice = repair
    ? "They were removed; the next run makes them again."
    : "Remove them with: bench cache verify --repair. A run heals only what it meets.";
  try {
    const cache = await openCache(folder, { ...io, stderr: (text) => void problems.push(text.trim()) }, repair);
    try {
      found = await verifyCache(cache, seen, repair);
    } finally {
      await cache.close();
    }
  } catch (error) {
    if (!(error instanceof CacheBroken) || repair) throw error;
    found = await verifyWithoutDatabase(folder, seen, error.message);
    advice = "bench run and --repair move the database to aside/ and carry over whatever in it is intact.";
  }
  const damaged = [...problems.map((problem) => ({ what: DATABASE, where: DATABASE, problem })), ...found.damaged];
  print({ checked: found.checked, damaged }, [
    ...damaged.map(({ what, where, problem }) => `damaged: ${what} (${where}): ${problem}`),
    damaged.length === 0
      ? `${found.checked} things checked, all intact.`
      : `${found.checked} things checked, ${damaged.length} damaged. ${advice}`,
  ]);
  return damaged.length === 0 ? EXIT.done : EXIT.failed;
}

function removedText(units: number, stages: number, wanted: readonly string[]): string {
  if (units + stages === 0) {
    return `Nothing removed: no key begins with ${wanted.map(visible).join(", ")} (8 characters at least), and no unit is called so.`;
  }
  const parts = [
    ...(units === 0 ? [] : [plural(units, "unit")]),
    ...(stages === 0 ? [] : [plural(stages, "stage summary", "stage summaries")]),
  ];
  return `${parts.join(" and ")} removed; the next run ${units === 0 ? "puts them together" : "does them"} again.`;
}

function bytes(size: number): string {
  if (size < 10_000) return `${size} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = size / 1000;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}
