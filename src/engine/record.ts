/**
 * What a run leaves for people and for later commands: `run.json` in the run's folder (kept up to date while it runs) and the lock file
 * beside the pipeline, with the digests of what was used.
 */
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import * as z from "zod";
import { isAlive, processStart } from "../cache/claims.js";
import { makeFolder } from "../cache/make-folder.js";

const nodeRecord = z.object({
  id: z.string(),
  name: z.string(),
  uses: z.string(),
  label: z.string().nullable(),
  /** Ids of the nodes that it needs, and the type of what it gives: enough to find answers, data set and trees of a score without the pipeline. */
  needs: z.array(z.string()).default([]),
  produces: z.string().default(""),
  state: z.string(),
  /** Key and output digest of the stage as a whole; null while unknown. */
  key: z.string().nullable(),
  output: z.string().nullable(),
  items: z.number(),
  units: z.number(),
  executed: z.number(),
  cached: z.number(),
  failed: z.number(),
  statuses: z.record(z.string(), z.number()),
  seconds: z.number(),
  message: z.string().nullable(),
});

export const runRecordSchema = z.object({
  schema_version: z.literal(1),
  run_id: z.string(),
  pipeline: z.string(),
  name: z.string(),
  command: z.array(z.string()),
  state: z.enum(["running", "done", "failed", "stopped", "interrupted"]),
  started_at: z.string(),
  finished_at: z.string().nullable(),
  /** When the same command goes on (a limit's reset), for `stopped`. */
  resume_at: z.string().nullable(),
  exit: z.number().nullable(),
  process: z.object({ host: z.string(), pid: z.number(), start: z.string() }),
  versions: z.object({ bench: z.string(), node: z.string() }),
  params: z.record(z.string(), z.unknown()),
  counts: z.record(z.string(), z.number()),
  nodes: z.array(nodeRecord),
  reports: z.array(z.string()),
  warnings: z.array(z.string()),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

export function thisProcess(): RunRecord["process"] {
  return { host: hostname(), pid: process.pid, start: processStart(process.pid) ?? "" };
}

/** `running` in the file, but the process is gone: it was killed. */
export function effectiveState(record: RunRecord): RunRecord["state"] | "killed" {
  if (record.state !== "running") return record.state;
  if (record.process.host !== hostname()) return "running";
  return isAlive(record.process) ? "running" : "killed";
}

export async function writeAtomically(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

export async function writeRunRecord(folder: string, record: RunRecord): Promise<void> {
  await writeAtomically(join(folder, "run.json"), `${JSON.stringify(record, null, 1)}\n`);
}

export async function readRunRecord(folder: string): Promise<RunRecord | null> {
  try {
    return runRecordSchema.parse(JSON.parse(await readFile(join(folder, "run.json"), "utf8")));
  } catch {
    return null;
  }
}

/** All runs below `out`, oldest first. Run ids begin with their time, so their order is that of their names. */
export async function listRuns(out: string): Promise<{ folder: string; record: RunRecord }[]> {
  const names = await readdir(out).catch(() => []);
  const runs: { folder: string; record: RunRecord }[] = [];
  for (const name of names.sort()) {
    const folder = join(out, name);
    if (!(await stat(folder).catch(() => null))?.isDirectory()) continue;
    const record = await readRunRecord(folder);
    if (record !== null) runs.push({ folder, record });
  }
  return runs;
}

export interface LockFile {
  readonly lock_version: 1;
  readonly pipeline: string;
  readonly key_scheme: number;
  readonly params: unknown;
  readonly stages: Readonly<
    Record<string, { readonly uses: string; readonly key: string; readonly output: string; readonly items: number }>
  >;
}

/** `pipelines/json-java.yaml` -> `pipelines/json-java.lock.json`. Deterministic: no times, so that a version control shows real changes. */
export function lockPath(pipelineFile: string): string {
  return join(dirname(pipelineFile), `${basename(pipelineFile).replace(/\.ya?ml$/i, "")}.lock.json`);
}
