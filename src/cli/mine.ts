/**
 * `bench mine REPO...`: closed issues with the files that their merged pull requests changed, as a mined file.
 *
 * It is a pipeline run like any other, over a graph made in memory, so that limits, kills and repetition are the engine's business and
 * what was fetched is shared with every pipeline. Repositories follow each other; one that fails does not stop the next.
 */
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Cache } from "../cache/cache.js";
import { readDataset } from "../dataset/read.js";
import type { World } from "../engine/context.js";
import type { StageKind } from "../engine/contract.js";
import type { EngineEvent } from "../engine/events.js";
import { apiUrl, parseRepository, repositoryAddress } from "../github/repository.js";
import { type FoundToken, findToken, TOKEN_FILE } from "../github/token.js";
import { plural } from "../report/numbers.js";
import { type Command, EXIT, type Io, type OptionValue, UsageError } from "./contract.js";
import { FETCH_STAGES, mineGraph, STAGES } from "./mine-graph.js";
import { MINE_OPTIONS, type MineOptions, readMineOptions } from "./mine-options.js";
import {
  type LimitSeen,
  type MinedRepository,
  minedDataset,
  type RepositoryState,
  renderEnding,
  renderMined,
} from "./mine-report.js";
import { world as outsideWorld } from "./prepare.js";
import { type Screen, screen } from "./progress.js";
import { benchVersion, cacheFolder, findProjectRoot, openCache } from "./project.js";

export const command: Command = {
  usage: "mine [...repos]",
  summary: "Mine GitHub repositories: closed issues and the files that their merged pull requests changed",
  options: MINE_OPTIONS,
  examples: [
    "bench mine stleary/JSON-java",
    "bench mine https://github.com/owner/name --issue-limit 0 --extensions .java",
    "bench mine owner/one owner/two --links mentions",
    "bench mine --dataset mined_projects/old.json",
  ],
  run: async (repos, options, io) => mine(repos, options, io, outsideWorld(io)),
};

/** Returns the exit code. `outside`: clock, random numbers and environment. */
export async function mine(
  typed: readonly string[],
  options: Readonly<Record<string, OptionValue>>,
  io: Io,
  outside: World,
): Promise<number> {
  const settings = readMineOptions(options, io.cwd);
  const repos = await repositories(typed, settings);
  if (settings.recording !== undefined && repos.length > 1)
    throw new UsageError("a recording holds one repository: give one repository with --recording");
  const root = findProjectRoot(io.cwd);
  const token = settings.recording === undefined ? await tokenFor(settings, root, io) : null;
  const { stageKinds } = await import("../stages/registry.js");
  const kinds = await stageKinds({ extensions: [], folder: io.cwd });
  if (!kinds.ok) throw new UsageError(kinds.error);
  if (token !== null && !settings.quiet && token.source.endsWith(TOKEN_FILE))
    io.stderr(`Using the GitHub token of ${relative(io.cwd, token.source) || token.source}.\n`);

  let shown: Screen | undefined;
  const stderr = (text: string) => (shown === undefined ? io.stderr(text) : shown.note(text));
  const cache = await openCache(cacheFolder(options, root, io.cwd), { ...io, stderr });
  const limits = new Map<string, LimitSeen>();
  const results: MinedRepository[] = [];
  try {
    for (const repo of distinct(repos, settings)) {
      if (io.interrupted.aborted) {
        results.push(notBegun(repo));
        continue;
      }
      shown = screen(io, { quiet: settings.quiet });
      const result = await mineOne(repo, settings, {
        io,
        root,
        cache,
        kinds: kinds.value,
        // One clock object for all repositories: what is known of a token's limit lives as long as it.
        world: token === null ? outside : { ...outside, env: { ...io.env, GITHUB_TOKEN: token.token } },
        secrets: token === null ? new Map() : new Map([[token.token, "the GitHub token"]]),
        limits,
        screen: shown,
      });
      shown.end();
      shown = undefined;
      results.push(result);
      if (!settings.json) io.stdout(renderMined(result, io.cwd));
    }
  } finally {
    await cache.close();
  }
  const exit = exitOf(results);
  if (settings.json) io.stdout(`${JSON.stringify(jsonOf(results, limits, exit, io.cwd), null, 2)}\n`);
  io.stderr(renderEnding(results, limits, settings.quiet));
  return exit;
}

/** As typed, or the one that the older file is of. */
async function repositories(typed: readonly string[], { dataset }: MineOptions): Promise<readonly string[]> {
  if (dataset === undefined) {
    if (typed.length === 0) throw new UsageError("name a repository (owner/name or its address), or give --dataset FILE");
    return typed;
  }
  if (typed.length > 1) throw new UsageError("a mined file holds one repository: give one repository with --dataset, or none");
  if (typed.length === 1) return typed;
  const text = await readFile(dataset, "utf8").catch(() => null);
  if (text === null) throw new UsageError(`--dataset: ${dataset} can't be read`);
  const read = readDataset(text, dataset, "mined");
  if (!read.ok) throw new UsageError(`--dataset: ${read.error.message}`);
  const { url, project_name } = read.value.dataset.header;
  return [url !== null && parseRepository(url).ok ? url : project_name];
}

/** In the name of the audit that `build-dataset` writes beside the mined file. */
const AUDIT_MARK = "__audit";

interface Surroundings {
  readonly io: Io;
  readonly root: string;
  readonly cache: Cache;
  readonly kinds: ReadonlyMap<string, StageKind>;
  readonly world: World;
  readonly secrets: ReadonlyMap<string, string>;
  readonly limits: Map<string, LimitSeen>;
  readonly screen: Screen;
}

async function mineOne(typed: string, settings: MineOptions, around: Surroundings): Promise<MinedRepository> {
  const { io, root, cache, kinds, world, secrets, limits } = around;
  const failed = (message: string): MinedRepository => ({ ...notBegun(typed), state: "failed", message });
  const name = parseRepository(typed);
  if (!name.ok) return failed(name.error);
  const api = apiUrl(name.value, settings.githubUrl);
  if (!api.ok) return failed(api.error);
  const address = repositoryAddress(name.value);
  const graph = mineGraph(address, settings, kinds, io.cwd, secrets);
  if (!graph.ok) throw new UsageError(graph.error);

  const [{ runPipeline }, { openJournal }, { redactor }, { safeName, timestamp }] = await Promise.all([
    import("../engine/run.js"),
    import("../engine/journal.js"),
    import("../engine/redact.js"),
    import("../engine/files.js"),
  ]);
  const now = world.clock.now();
  const place = `${new URL(api.value).host}__${name.value.slug.replace("/", "__")}`.toLowerCase();
  // Beside the cache and not among the runs: `latest` must mean a run that has answers and scores.
  const runFolder = join(cache.folder, "mining", safeName(place));
  const journal = openJournal(runFolder, world.clock.now, redactor(secrets));
  const progress = progressLines(name.value.slug, settings, io, around.screen, limits);
  let failure: string | null = null;
  try {
    const result = await runPipeline({
      graph: graph.value,
      kinds,
      cache,
      options: {
        runId: `${timestamp(now)}-mine-${safeName(place)}`,
        startedAt: now,
        runFolder,
        minedFolder: settings.out ?? join(root, "mined_projects"),
        projectRoot: root,
        may: null,
        skipped: new Set(),
        forced: new Set(),
        refreshed: new Set(settings.refresh ? FETCH_STAGES : []),
        selection: { items: null, sample: null },
        offline: settings.offline,
        jobs: null,
        maxWait: settings.maxWait,
      },
      world,
      events: (event) => {
        journal.sink(event);
        around.screen.event(event);
        if (event.type === "limit") limits.set(event.resource, { left: event.left, of: event.of, resetAt: event.resetAt });
        if (event.type === "unit" && event.message !== undefined) failure ??= event.message;
        progress(event);
      },
      signal: io.interrupted,
      command: ["bench", "mine", address],
      version: await benchVersion(),
      lock: false,
    });
    const output = await result.output(STAGES.dataset);
    const blocking = result.nodes.find(({ state }) => state === "failed");
    return {
      repository: name.value.slug,
      state: result.state === "running" ? "failed" : result.state,
      message: result.message ?? failure ?? blocking?.message ?? null,
      resumeAt: result.resumeAt,
      requests: result.counts.requests ?? 0,
      saved: result.counts.requests_saved ?? 0,
      fromCache: result.nodes.reduce((sum, node) => sum + (FETCH_STAGES.some((stage) => stage === node.id) ? node.cached : 0), 0),
      dataset: output === null ? null : minedDataset(output),
      ...minedFiles(result.state === "done" ? result.files : []),
    };
  } finally {
    journal.close();
  }
}

function notBegun(typed: string): MinedRepository {
  const name = parseRepository(typed);
  return {
    repository: name.ok ? name.value.slug : withoutPassword(typed),
    state: "interrupted",
    message: null,
    resumeAt: null,
    requests: 0,
    saved: 0,
    fromCache: 0,
    dataset: null,
    file: null,
    audit: null,
  };
}

function withoutPassword(typed: string): string {
  return typed.slice(0, 200).replace(/\/\/[^/@]*@/, "//");
}

function minedFiles(paths: readonly string[]): Pick<MinedRepository, "file" | "audit"> {
  const audit = paths.find((path) => path.includes(AUDIT_MARK)) ?? null;
  return { file: paths.find((path) => path !== audit) ?? null, audit };
}

/** Each repository once, however it was spelt. */
function distinct(typed: readonly string[], settings: MineOptions): string[] {
  const seen = new Set<string>();
  return typed.filter((repo) => {
    const name = parseRepository(repo);
    const api = name.ok ? apiUrl(name.value, settings.githubUrl) : null;
    const key = name.ok && api?.ok ? `${api.value} ${name.value.slug.toLowerCase()}` : repo;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

async function tokenFor(settings: MineOptions, root: string, io: Io): Promise<FoundToken | null> {
  const folders = [...new Set([io.cwd, root])];
  const files = await Promise.all(
    folders.map(async (folder) => {
      const path = join(folder, TOKEN_FILE);
      return { path, text: await readFile(path, "utf8").catch(() => null) };
    }),
  );
  return findToken({ given: settings.token, env: io.env, files });
}

/** One line every so many issues, as the original prints them; on a terminal, where the stages are drawn, only if asked for. */
function progressLines(
  slug: string,
  settings: MineOptions,
  io: Io,
  shown: Screen,
  limits: ReadonlyMap<string, LimitSeen>,
): (event: EngineEvent) => void {
  const every = settings.progressEvery;
  if (every === 0 || settings.quiet || (io.terminal.isTTY && !settings.progressAsked)) return () => {};
  let told = 0;
  return (event) => {
    if (event.type !== "progress" || event.node.id !== STAGES.links || event.node.executed === 0) return;
    const done = event.node.executed + event.node.cached + event.node.failed;
    if (Math.floor(done / every) <= told) return;
    told = Math.floor(done / every);
    const [limit] = [...limits.values()].slice(-1);
    shown.note(
      `  ${slug}: ${plural(done, "issue")} scanned${limit === undefined ? "" : `, ${plural(limit.left, "request")} left`}\n`,
    );
  };
}

/** What can be resumed outweighs what failed: the same command goes on, and then says what is wrong with the rest. */
function exitOf(results: readonly MinedRepository[]): number {
  const states = new Set<RepositoryState>(results.map(({ state }) => state));
  if (states.has("interrupted")) return EXIT.interrupted;
  if (states.has("stopped")) return EXIT.resumable;
  return states.has("failed") ? EXIT.failed : EXIT.done;
}

function jsonOf(results: readonly MinedRepository[], limits: ReadonlyMap<string, LimitSeen>, exit: number, cwd: string): unknown {
  const instant = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds).toISOString());
  const resume = results.flatMap(({ state, resumeAt }) => (state === "stopped" && resumeAt !== null ? [resumeAt] : []));
  return {
    exit,
    repositories: results.map(({ repository, state, message, resumeAt, requests, saved, dataset, file, audit }) => ({
      repository,
      state,
      ...(message === null || state === "done" ? {} : { message }),
      ...(resumeAt === null ? {} : { resume_at: instant(resumeAt) }),
      requests,
      requests_saved: saved,
      ...(dataset ?? {}),
      file: file === null ? null : relative(cwd, file),
      audit_file: audit === null ? null : relative(cwd, audit),
    })),
    counts: {
      requests: results.reduce((sum, { requests }) => sum + requests, 0),
      requests_saved: results.reduce((sum, { saved }) => sum + saved, 0),
    },
    limits: Object.fromEntries(
      [...limits].map(([server, { left, of, resetAt }]) => [server, { left, of, reset_at: instant(resetAt) }]),
    ),
    ...(resume.length === 0 ? {} : { resume_at: instant(Math.max(...resume)) }),
  };
}
