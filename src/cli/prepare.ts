/** From the path of a pipeline to something that can run: the checked graph, the kinds, the selection. Used by run, plan, explain and dag. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { renderDiagnostic } from "../base/diagnostics.js";
import { nearest } from "../base/nearest.js";
import type { RunOptions, World } from "../engine/context.js";
import type { StageKind } from "../engine/contract.js";
import { timestamp } from "../engine/files.js";
import type { Selection } from "../engine/selection.js";
import { checkPipeline } from "../pipeline/check.js";
import { extensionPaths } from "../pipeline/extensions.js";
import type { PipelineGraph, StageNode } from "../pipeline/model.js";
import { type CommandOption, type Io, type OptionValue, UsageError } from "./contract.js";
import { count, duration, flag, list } from "./options.js";
import { findProjectRoot } from "./project.js";

/** Options that choose what of a pipeline is meant; shared by run, plan and explain. */
export const PIPELINE_OPTIONS: readonly CommandOption[] = [
  { flag: "--set <k=v>", description: "Set a parameter of the pipeline (repeatable)", repeated: true },
  {
    flag: "--only <stage>",
    description: "Run only these stages; what they need must be in the cache (repeatable)",
    repeated: true,
  },
  { flag: "--from <stage>", description: "Run these stages and those after them (repeatable)", repeated: true },
  { flag: "--until <stage>", description: "Run these stages and those before them (repeatable)", repeated: true },
  { flag: "--force <stage>", description: "Do these stages again, whatever the cache holds (repeatable)", repeated: true },
  {
    flag: "--refresh <stage>",
    description: "Fetch these stages again, conditionally where the source allows it (repeatable)",
    repeated: true,
  },
  {
    flag: "--items <ids>",
    description: "Ask about these cases only (comma-separated; 12 also names owner/repo#12)",
    repeated: true,
  },
  {
    flag: "--sample <n>",
    description: "Ask about n cases only: the same ones every time, and a larger sample contains a smaller one",
  },
  { flag: "--offline", description: "No network: what is not in the cache fails" },
  { flag: "--jobs <n>", description: "At most n units at work at once, over all stages" },
  {
    flag: "--max-wait <duration>",
    description: "Longest wait for a limit (default 15m); beyond it the run stops and can be resumed",
  },
  { flag: "--out <folder>", description: "Where runs are written (default evaluation_results)" },
  { flag: "--cache <folder>", description: "The cache (default cache)" },
];

export interface Prepared {
  readonly graph: PipelineGraph;
  readonly kinds: ReadonlyMap<string, StageKind>;
  readonly projectRoot: string;
}

/** null = mistakes were shown on stderr: exit 2. */
export async function preparePipeline(
  path: string,
  options: Readonly<Record<string, OptionValue>>,
  io: Io,
): Promise<Prepared | null> {
  const absolute = resolve(io.cwd, path);
  let text: string;
  try {
    text = await readFile(absolute, "utf8");
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new UsageError(
      missing
        ? `there is no pipeline file ${path}`
        : `${path} can't be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const folder = dirname(absolute);
  const projectRoot = findProjectRoot(folder);
  const set = Array.isArray(options.set) ? (options.set as readonly string[]) : [];
  const { stageKinds } = await import("../stages/registry.js");
  const extensions = extensionPaths(text, set);
  const check = async (only: (name: string) => boolean) => {
    const kinds = await stageKinds({ extensions, folder, only });
    if (!kinds.ok) throw new UsageError(atModule(text, path, extensions, kinds.error));
    const checked = checkPipeline({ text, file: path, folder, projectRoot, kinds: kinds.value, env: io.env, set });
    return { kinds: kinds.value, checked };
  };
  // Kinds that are named nowhere need not be loaded; whoever made a mistake is told of all of them.
  let { kinds, checked } = await check((name) => text.includes(name));
  if (!checked.ok) ({ kinds, checked } = await check(() => true));
  if (!checked.ok) {
    io.stderr(
      `${checked.error.map(renderDiagnostic).join("\n\n")}\n\n${checked.error.length} mistake${checked.error.length === 1 ? "" : "s"} in ${path}; nothing was run.\n`,
    );
    return null;
  }
  for (const warning of checked.value.warnings) io.stderr(`${renderDiagnostic(warning)}\n`);
  return { graph: checked.value, kinds, projectRoot };
}

/** The message at the first place in the file that names the module; as it is where a parameter or the command line does. */
function atModule(text: string, file: string, modules: readonly string[], message: string): string {
  const module = modules.find((one) => message.includes(one)) ?? "";
  const at = module === "" ? -1 : text.indexOf(module);
  if (at === -1) return message;
  const before = text.slice(0, at).split(/\r?\n/);
  const sourceLine = text.split(/\r?\n/)[before.length - 1] ?? "";
  const column = (before.at(-1) ?? "").length + 1;
  const place = { file, line: before.length, column, sourceLine, length: module.length };
  return renderDiagnostic({ severity: "error", ...place, message: message });
}

/** Node ids that a name means: a node, a stage (all its cells), or a cell's label. */
export function nodesNamed(graph: PipelineGraph, name: string): StageNode[] {
  const found = graph.nodes.filter((node) => node.id === name || node.stage === name || node.label === name);
  if (found.length > 0) return found;
  const names = new Set(graph.nodes.flatMap(({ id, stage, label }) => [stage, id, ...(label === null ? [] : [label])]));
  const near = nearest(name, names);
  throw new UsageError(
    `no stage ${JSON.stringify(name)}${near === undefined ? "" : `; did you mean ${near}?`} Stages: ${[...new Set(graph.nodes.map(({ stage }) => stage))].join(", ")}`,
  );
}

function named(graph: PipelineGraph, options: Readonly<Record<string, OptionValue>>, option: string): Set<string> {
  return new Set(list(options, option).flatMap((name) => nodesNamed(graph, name).map(({ id }) => id)));
}

function reach(graph: PipelineGraph, from: ReadonlySet<string>, direction: "up" | "down"): Set<string> {
  const reached = new Set(from);
  const nodes = direction === "up" ? [...graph.nodes].reverse() : graph.nodes;
  for (const node of nodes) {
    if (direction === "up" && reached.has(node.id)) for (const id of node.needs) reached.add(id);
    if (direction === "down" && node.needs.some((id) => reached.has(id))) reached.add(node.id);
  }
  return reached;
}

export function runOptions(prepared: Prepared, options: Readonly<Record<string, OptionValue>>, now: number): RunOptions {
  const { graph } = prepared;
  const only = named(graph, options, "only");
  const from = named(graph, options, "from");
  const until = named(graph, options, "until");
  let may: Set<string> | null = null;
  const restrict = (set: ReadonlySet<string>) => {
    may = may === null ? new Set(set) : new Set([...may].filter((id) => set.has(id)));
  };
  if (only.size > 0) restrict(only);
  if (from.size > 0) restrict(reach(graph, from, "down"));
  if (until.size > 0) restrict(reach(graph, until, "up"));
  const allowed = may as ReadonlySet<string> | null;
  const needed = allowed === null ? null : reach(graph, allowed, "up");
  const skipped = new Set(needed === null ? [] : graph.nodes.map(({ id }) => id).filter((id) => !needed.has(id)));

  const items = list(options, "items");
  const selection: Selection = { items: items.length === 0 ? null : items, sample: count(options, "sample", 1) ?? null };
  return {
    runId: `${timestamp(now)}-${safeRunName(graph.name)}`,
    startedAt: now,
    runFolder: "",
    minedFolder: resolve(prepared.projectRoot, "mined_projects"),
    projectRoot: prepared.projectRoot,
    may: allowed,
    skipped,
    forced: named(graph, options, "force"),
    refreshed: named(graph, options, "refresh"),
    selection,
    offline: flag(options, "offline"),
    jobs: count(options, "jobs", 1) ?? null,
    maxWait: duration(options, "max-wait") ?? 15 * 60_000,
  };
}

function safeRunName(name: string): string {
  const safe = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[.-]+|-+$/g, "");
  return safe === "" ? "run" : safe.slice(0, 60);
}

/** `hold`: keeps the screen from drawing while a person is asked something. */
export function world(io: Io, hold: () => () => void = () => () => {}): World {
  return {
    get terminal() {
      return {
        get input() {
          return io.stdin ?? Readable.from([]);
        },
        output: io.stderr,
        get isTTY() {
          return io.terminal.isTTY && io.stdin?.isTTY === true;
        },
        hold,
      };
    },
    clock: {
      now: Date.now,
      sleep: (milliseconds, signal) =>
        new Promise((resolvePromise, reject) => {
          if (signal?.aborted) return reject(signal.reason);
          const onAbort = () => {
            clearTimeout(timer);
            reject(signal?.reason);
          };
          // setTimeout can't wait longer than 2^31 - 1 ms and would fire at once.
          const timer = setTimeout(
            () => {
              signal?.removeEventListener("abort", onAbort);
              resolvePromise();
            },
            Math.min(milliseconds, 2 ** 31 - 1),
          );
          signal?.addEventListener("abort", onAbort, { once: true });
        }),
    },
    random: Math.random,
    env: io.env,
  };
}
