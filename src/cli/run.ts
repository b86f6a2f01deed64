/** `bench run PIPELINE`. */
import { mkdir, rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { makeFolder } from "../cache/make-folder.js";
import type { RunResult } from "../engine/run.js";
import { plural } from "../report/numbers.js";
import type { Summary } from "../scoring/summary-schema.js";
import type { ReportMeta } from "../stages/report.js";
import { afterRun } from "./after-run.js";
import { type Command, EXIT, type Io, type OptionValue, UsageError } from "./contract.js";
import { parseGate } from "./gates.js";
import { flag, text } from "./options.js";
import { PIPELINE_OPTIONS, preparePipeline, runOptions, world } from "./prepare.js";
import { screen } from "./progress.js";
import { benchVersion, cacheFolder, openCache, outFolder } from "./project.js";

export const command: Command = {
  usage: "run <pipeline>",
  summary: "Run a pipeline; what is in the cache is not done again",
  options: [
    ...PIPELINE_OPTIONS,
    { flag: "--plan", description: "Only say what would be done (as bench plan)" },
    {
      flag: "--fail-under <gate>",
      description: 'Exit 3 below it: "Hit@5=0.7", "lower(Hit@5)=0.6", "bm25:Hit@5=0.7" (repeatable)',
      repeated: true,
    },
    { flag: "--trace <file>", description: "Write a Chrome trace: one span per stage and item (chrome://tracing, Perfetto)" },
    { flag: "--json", description: "One JSON value on stdout" },
    { flag: "--quiet", description: "Only warnings, failures and the result" },
  ],
  examples: [
    "bench run pipelines/quickstart.yaml",
    "bench run pipelines/quickstart.yaml --set rules=lenient",
    "bench run p.yaml --only answers --items 12,34",
    'bench run p.yaml --fail-under "Hit@5=0.7" --fail-under "lower(Hit@5)=0.6"',
  ],
  run: async (args, options, io) => {
    if (flag(options, "plan")) return (await import("./plan.js")).command.run(args, options, io);
    return runCommand(args[0] as string, options, io);
  },
};

async function runCommand(path: string, options: Readonly<Record<string, OptionValue>>, io: Io): Promise<number> {
  const gates = (Array.isArray(options["fail-under"]) ? (options["fail-under"] as readonly string[]) : []).map(parseGate);
  const prepared = await preparePipeline(path, options, io);
  if (prepared === null) return EXIT.usage;
  const out = outFolder(options, prepared.projectRoot, io.cwd);
  const folder = cacheFolder(options, prepared.projectRoot, io.cwd);
  const now = Date.now();
  const base = runOptions(prepared, options, now);
  const runFolder = await newRunFolder(out, base.runId);
  const runId = relative(out, runFolder);
  const quiet = flag(options, "quiet");
  const shown = screen(io, { quiet });
  const [{ runPipeline }, { openJournal }] = await Promise.all([import("../engine/run.js"), import("../engine/journal.js")]);
  const { redactor } = await import("../engine/redact.js");
  const journal = openJournal(runFolder, Date.now, redactor(prepared.graph.secrets));
  const tracePath = text(options, "trace");
  const trace =
    tracePath === undefined
      ? null
      : (await import("../engine/trace.js")).openTrace(resolve(io.cwd, tracePath), Date.now, redactor(prepared.graph.secrets));
  const cache = await openCache(folder, { ...io, stderr: (text) => shown.note(text) });
  let result: RunResult;
  let reported: Awaited<ReturnType<typeof reportMetas>>;
  let summary: Record<string, Summary>;
  let table = "";
  try {
    result = await runPipeline({
      graph: prepared.graph,
      kinds: prepared.kinds,
      cache,
      options: { ...base, runId, runFolder },
      world: world(io, shown.hold),
      events: (event) => {
        journal.sink(event);
        trace?.sink(event);
        shown.event(event);
      },
      signal: io.interrupted,
      command: ["bench", "run", path],
      version: await benchVersion(),
      lock: base.selection.items === null && base.selection.sample === null && base.may === null,
    });
    shown.end();
    reported = await reportMetas(result, prepared.graph.nodes, prepared.kinds);
    summary = Object.assign({}, ...reported.map(({ summary: part }) => part));
    if (!flag(options, "json") && reported.length > 0) {
      const { renderTable } = await import("../report/terminal.js");
      table = reported
        .map((report) => renderTable(report.summary, { columns: io.terminal.columns, colour: io.terminal.colour }))
        .join("\n");
    }
  } finally {
    journal.close();
    trace?.close();
    await cache.close();
  }

  if (result.exit === EXIT.usage) {
    await rm(runFolder, { recursive: true, force: true });
    io.stderr(`${result.message}\nNothing was run.\n`);
    return EXIT.usage;
  }
  const [reports, datasets] = [true, false].map((own) =>
    result.files.filter((file) => file.startsWith(runFolder) === own).map((file) => relative(io.cwd, file)),
  ) as [string[], string[]];
  const after = await afterRun({ gates, reported, summary, files: result.files, out, runId, graph: prepared.graph, io });
  // What failed weighs more than a figure that is too low because of it.
  const exit = result.exit === EXIT.done && after.missed.length > 0 ? EXIT.gate : result.exit;
  if (flag(options, "json")) {
    const json = jsonResult(runId, result, { reports, datasets }, summary);
    io.stdout(`${JSON.stringify({ ...json, exit, results: after.files, gates: after.gates }, null, 2)}\n`);
  } else {
    if (table !== "") io.stdout(`${table}\n`);
  }
  const files = [...datasets, ...reports, ...after.files];
  io.stderr(ending(result, files, path, quiet, relative(io.cwd, runFolder)));
  for (const line of after.missed) io.stderr(`${line}\n`);
  return exit;
}

/** Run ids begin with the second of their start; two runs of one second get a suffix. */
async function newRunFolder(out: string, runId: string): Promise<string> {
  try {
    await makeFolder(out);
  } catch (error) {
    throw new UsageError(
      `runs can't be written to ${out} (${error instanceof Error ? error.message : String(error)}): give another folder with --out`,
    );
  }
  for (let attempt = 1; ; attempt++) {
    const folder = join(out, attempt === 1 ? runId : `${runId}-${attempt}`);
    try {
      await mkdir(folder);
      return folder;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") continue;
      throw new UsageError(
        `runs can't be written to ${out} (${error instanceof Error ? error.message : String(error)}): give another folder with --out`,
      );
    }
  }
}

async function reportMetas(
  result: RunResult,
  nodes: readonly { id: string; kind: string }[],
  kinds: ReadonlyMap<string, { produces: string }>,
): Promise<{ summary: Record<string, Summary>; provenance: Partial<ReportMeta["provenance"]> }[]> {
  const metas: { summary: Record<string, Summary>; provenance: Partial<ReportMeta["provenance"]> }[] = [];
  for (const { id, kind } of nodes) {
    if (kinds.get(kind)?.produces !== "report") continue;
    const output = await result.output(id);
    if (output === null) continue;
    // Our own report stage says what was found; a person's own may say nothing.
    const meta = output.meta as Partial<ReportMeta> | null;
    if (meta?.summary === undefined || meta.labels === undefined) continue;
    const { summariesInOrder } = await import("../report/labels.js");
    const ordered = summariesInOrder({ labels: meta.labels, summary: meta.summary });
    metas.push({ summary: ordered, provenance: meta.provenance ?? {} });
  }
  return metas;
}

function jsonResult(
  runId: string,
  result: RunResult,
  files: { readonly reports: readonly string[]; readonly datasets: readonly string[] },
  summary: unknown,
): Record<string, unknown> {
  const sum = (pick: (node: RunResult["nodes"][number]) => number) => result.nodes.reduce((total, node) => total + pick(node), 0);
  return {
    run_id: runId,
    exit: result.exit,
    state: result.state,
    counts: {
      requests: result.counts.requests ?? 0,
      queries: result.counts.queries ?? 0,
      executed: sum(({ executed }) => executed),
      cached: sum(({ cached }) => cached),
      failed: sum(({ failed }) => failed),
      requests_saved: result.counts.requests_saved ?? 0,
    },
    spent: result.spent,
    stages: result.nodes.map((node) => ({
      name: node.stage,
      uses: node.kind,
      ...(node.label === null ? {} : { label: node.label }),
      state: node.state,
      items: node.items,
      units: node.units,
      executed: node.executed,
      cached: node.cached,
      failed: node.failed,
      seconds: node.seconds,
      statuses: node.statuses,
      ...(node.message === null ? {} : { message: node.message }),
    })),
    ...files,
    summary,
    warnings: result.warnings,
    ...(result.resumeAt === null ? {} : { resume_at: new Date(result.resumeAt).toISOString() }),
  };
}

/** What this run cost, where something has a price. */
function money({ spent }: RunResult): string {
  const stages = Object.values(spent);
  const usd = stages.reduce((sum, stage) => sum + stage.usd, 0);
  const unpriced = stages.reduce((sum, stage) => sum + stage.unpriced, 0);
  if (usd === 0) return "";
  return `, $${usd.toFixed(usd < 1 ? 4 : 2)} spent${unpriced > 0 ? ` and ${plural(unpriced, "call")} of unknown price` : ""}`;
}

function ending(result: RunResult, reports: readonly string[], path: string, quiet: boolean, folder: string): string {
  const lines: string[] = [];
  const failed = result.nodes.filter(({ state }) => state === "failed");
  for (const node of failed) lines.push(`failed: ${node.id}: ${node.message ?? "see the journal"}`);
  const blocked = result.nodes.filter(({ state }) => state === "blocked");
  if (blocked.length > 0) lines.push(`not run because of that: ${blocked.map(({ id }) => id).join(", ")}`);
  if (result.message !== null && result.state !== "done") lines.push(result.message);
  const sum = (pick: (node: RunResult["nodes"][number]) => number) => result.nodes.reduce((total, node) => total + pick(node), 0);
  const figures =
    `${sum(({ executed }) => executed)} executed, ${sum(({ cached }) => cached)} from the cache, ${sum(({ failed: count }) => count)} failed; ` +
    `${plural(result.counts.requests ?? 0, "request")}, ${plural(result.counts.queries ?? 0, "query", "queries")}${money(result)}`;
  switch (result.state) {
    case "done":
      if (!quiet) lines.push(`Done: ${figures}.`);
      break;
    case "failed":
      lines.push(`Finished with failures: ${figures}. What failed is tried again by the same command: bench run ${path}`);
      break;
    case "stopped": {
      const when = result.resumeAt === null ? "later" : `from ${new Date(result.resumeAt).toISOString()}`;
      lines.push(`Stopped, nothing is lost: ${figures}. Go on ${when} with the same command: bench run ${path}`);
      break;
    }
    default:
      lines.push(`Interrupted, nothing is lost: ${figures}. Go on with the same command: bench run ${path}`);
  }
  if (!quiet) {
    for (const report of reports) lines.push(`  ${report}`);
    lines.push(`  ${join(folder, "journal.jsonl")}`);
  }
  return `${lines.join("\n")}\n`;
}
