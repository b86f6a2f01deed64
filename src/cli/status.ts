/** `bench status [RUN]`: runs and what came of them; one run's stages, counts and outcomes. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { visible } from "../base/diagnostics.js";
import { effectiveState, type RunRecord, readRunRecord } from "../engine/record.js";
import { type Command, EXIT, UsageError } from "./contract.js";
import { flag } from "./options.js";
import { findProjectRoot, findRun, outFolder } from "./project.js";

const MEANING: Readonly<Record<string, string>> = {
  running: "running",
  done: "done",
  failed: "finished with failures",
  stopped: "stopped, resumable",
  interrupted: "interrupted, resumable",
  killed: "killed, resumable",
  unreadable: "unreadable: its run.json is damaged, or of another version of bench",
};

export const command: Command = {
  usage: "status [run]",
  summary: "Show runs: running, finished, resumable; with a run, its stages and outcomes",
  options: [
    { flag: "--out <folder>", description: "Where runs are (default evaluation_results)" },
    { flag: "--json", description: "One JSON value on stdout" },
  ],
  examples: ["bench status", "bench status latest"],
  run: async (args, options, io) => {
    const out = outFolder(options, findProjectRoot(io.cwd), io.cwd);
    if (args[0] === undefined) {
      const runs = await allRuns(out);
      if (flag(options, "json")) {
        const values = runs.map(({ id, record, state }) => ({ ...(record ?? { run_id: id }), state }));
        io.stdout(`${JSON.stringify(values, null, 2)}\n`);
      } else if (runs.length === 0)
        io.stdout(`No runs in ${relative(io.cwd, out) || out}. Start one: bench run pipelines/quickstart.yaml\n`);
      else {
        const width = Math.max(...runs.map(({ id }) => id.length));
        for (const { id, record, state } of runs) {
          io.stdout(`${id.padEnd(width)}  ${MEANING[state]}${record === null ? "" : progressOf(record)}\n`);
        }
      }
      return EXIT.done;
    }
    const folder = await findRun(args[0], out, io.cwd);
    const record = await readRunRecord(folder);
    if (record === null) throw new UsageError(`${folder}/run.json can't be read: it is damaged, or of another version of bench`);
    const state = effectiveState(record);
    if (flag(options, "json")) io.stdout(`${JSON.stringify({ ...record, state }, null, 2)}\n`);
    else io.stdout(render(record, state));
    return EXIT.done;
  },
};

interface ListedRun {
  /** The run's id; of an unreadable one its folder's name, which is the id too. */
  readonly id: string;
  readonly record: RunRecord | null;
  readonly state: ReturnType<typeof effectiveState> | "unreadable";
}

/** Oldest first. A run whose record is garbage is shown as such: results that vanish from a list look as if they had never been. */
async function allRuns(out: string): Promise<ListedRun[]> {
  const runs: ListedRun[] = [];
  for (const name of (await readdir(out).catch(() => [])).sort()) {
    const folder = join(out, name);
    if (!existsSync(join(folder, "run.json"))) continue;
    const record = await readRunRecord(folder);
    if (record === null) runs.push({ id: visible(name), record, state: "unreadable" });
    else runs.push({ id: record.run_id, record, state: effectiveState(record) });
  }
  return runs;
}

function progressOf(record: RunRecord): string {
  const done = record.nodes.filter(({ state }) => state === "done" || state === "cached").length;
  return record.state === "done" ? "" : `  (${done} of ${record.nodes.length} stages done)`;
}

function render(record: RunRecord, state: ReturnType<typeof effectiveState>): string {
  const lines = [
    `${record.run_id}: ${MEANING[state]}`,
    `  started ${record.started_at}${record.finished_at === null ? "" : `, ended ${record.finished_at}`}, bench ${record.versions.bench}, Node ${record.versions.node}`,
  ];
  const name = Math.max(...record.nodes.map(({ id }) => id.length), 5);
  for (const node of record.nodes) {
    const outcomes = Object.entries(node.statuses)
      .map(([status, count]) => `${count} ${status}`)
      .join(", ");
    lines.push(
      `  ${node.id.padEnd(name)}  ${node.state.padEnd(11)}  ${String(node.items).padStart(6)} ${node.items === 1 ? "item " : "items"}  ${node.executed} executed, ${node.cached} cached, ${node.failed} failed${outcomes === "" ? "" : `  [${outcomes}]`}`,
    );
    if (node.message !== null && node.state !== "done") lines.push(`    ${visible(node.message)}`);
  }
  for (const report of record.reports) lines.push(`  ${report}`);
  if (state !== "done" && state !== "running") {
    const when = record.resume_at === null ? "" : ` (from ${record.resume_at})`;
    lines.push(`  go on with the same command${when}: ${record.command.join(" ")}`);
  }
  return `${lines.join("\n")}\n`;
}
