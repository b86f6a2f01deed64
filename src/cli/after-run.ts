/** What `bench run` does with the figures of a run: gates, the table that accumulates over runs, the summary of a build server's step. */
import { readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import type { Json } from "../base/json.js";
import { redactor } from "../engine/redact.js";
import type { PipelineGraph } from "../pipeline/model.js";
import { resultRow } from "../report/results-table.js";
import type { Summary } from "../scoring/summary-schema.js";
import type { Io } from "./contract.js";
import { checkGates, type Gate, type GateResult, missedGates } from "./gates.js";
import { benchVersion } from "./project.js";
import { accumulateResults } from "./results.js";
import { completePages } from "./run-page.js";
import { appendStepSummary } from "./step-summary.js";

interface Finished {
  readonly gates: readonly Gate[];
  /** By report stage. */
  readonly reported: readonly {
    readonly summary: Readonly<Record<string, Summary>>;
    readonly provenance: Readonly<Partial<Record<string, { readonly dataset: string; readonly identity: unknown }>>>;
  }[];
  readonly summary: Readonly<Record<string, Summary>>;
  /** Files that the run wrote. */
  readonly files: readonly string[];
  readonly out: string;
  readonly runId: string;
  readonly graph: Pick<PipelineGraph, "name" | "params" | "secrets">;
  readonly io: Io;
}

export async function afterRun({ gates, reported, summary, files, out, runId, graph, io }: Finished): Promise<{
  readonly gates: readonly GateResult[];
  readonly missed: readonly string[];
  readonly files: readonly string[];
}> {
  await completePages(files, join(out, runId));
  const redact = redactor(graph.secrets);
  const run = {
    run_id: runId,
    finished_at: new Date().toISOString(),
    bench: await benchVersion(),
    params: JSON.parse(redact(JSON.stringify(graph.params))) as Record<string, Json>,
  };
  const rows = reported.flatMap((report) =>
    Object.entries(report.summary).map(([label, one]) => {
      const { dataset = null, identity = null } = report.provenance[label] ?? {};
      return resultRow(label, one, { dataset, identity }, run);
    }),
  );
  const written = await accumulateResults(out, graph.name, rows, (message) => io.stderr(`warning: ${message}\n`));
  const checked = checkGates(gates, summary);
  const missed = missedGates(checked);
  for (const report of files.filter((file) => basename(file) === "report.md")) {
    const gateLines = missed.length === 0 ? "" : `\n${missed.map((line) => `- ${line}`).join("\n")}\n`;
    await appendStepSummary(io, `${await readFile(report, "utf8")}${gateLines}`);
  }
  return { gates: checked, missed, files: written.map((file) => relative(io.cwd, file)) };
}
