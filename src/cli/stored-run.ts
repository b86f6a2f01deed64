/**
 * RUN on a command line: a run's id, its folder, a report in it, `latest`, or a report that lies anywhere; `RUN:LABEL` picks one cell. From
 * the cache where it still holds what the run left, else from the run's reports.
 */
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { nearest } from "../base/nearest.js";
import { DamagedEntry } from "../cache/errors.js";
import { DATABASE } from "../cache/open.js";
import { type RunRecord, readRunRecord } from "../engine/record.js";
import { cachedCells, cellOutputs, StoredObjects } from "./cached-cells.js";
import { type Io, type OptionValue, UsageError } from "./contract.js";
import { text } from "./options.js";
import { cacheFolder, findProjectRoot, findRun } from "./project.js";
import { isOwnReport, isReport, reportCell } from "./report-cells.js";
import type { StoredCell } from "./stored-cell.js";

type Options = Readonly<Record<string, OptionValue>>;

export interface StoredRun {
  /** The run's id, or the report's path. */
  readonly id: string;
  /** Where new scores of it belong: the run's folder, or the report's. */
  readonly folder: string;
  /** null for a report outside of any run. */
  readonly record: RunRecord | null;
  /** The one cell that was asked for; null = all. */
  readonly label: string | null;
  readonly source: "cache" | "reports";
  readonly cells: readonly StoredCell[];
  /** What a reader must know of how it was read. */
  readonly notes: readonly string[];
  /** Trees are read while cells are scored: close when that is done. */
  readonly close: () => Promise<void>;
}

/** `--runs`, since `--out` says where to write. */
export function runsFolder(options: Options, io: Io): string {
  const given = text(options, "runs");
  return given === undefined ? join(findProjectRoot(io.cwd), "evaluation_results") : resolve(io.cwd, given);
}

/** A place that RUN names. */
export type Located =
  | { readonly kind: "run"; readonly folder: string; readonly record: RunRecord; readonly label: string | null }
  | { readonly kind: "report"; readonly file: string; readonly text: string; readonly value: unknown };

/** `out`: where runs are. Throws `UsageError` where nothing is named. */
export async function locateRun(run: string, out: string, cwd: string): Promise<Located> {
  try {
    return await locate(run, out, cwd);
  } catch (error) {
    const colon = run.lastIndexOf(":");
    if (!(error instanceof UsageError) || colon <= 0) throw error;
    const located = await locate(run.slice(0, colon), out, cwd);
    if (located.kind === "report") throw new UsageError(`${run.slice(0, colon)} is one report and has no cells to choose from`);
    return { ...located, label: run.slice(colon + 1) };
  }
}

async function locate(run: string, out: string, cwd: string): Promise<Located> {
  const file = resolve(cwd, run);
  if (run !== "latest" && (await stat(file).catch(() => null))?.isFile()) {
    const json = file.endsWith(".json") ? await readJson(file) : null;
    const record = await readRunRecord(dirname(file));
    if (record !== null) {
      const label = json !== null && isOwnReport(json.value) ? String((json.value as { label?: unknown }).label) : null;
      return { kind: "run", folder: dirname(file), record, label };
    }
    if (json === null || !isReport(json.value)) {
      throw new UsageError(`${run} is neither a report (JSON with \`issues\`) nor a file of a run`);
    }
    return { kind: "report", file, ...json };
  }
  const folder = await findRun(run, out, cwd);
  const record = await readRunRecord(folder);
  if (record === null) throw new UsageError(`${join(folder, "run.json")} can't be read: it is damaged, or of another version`);
  return { kind: "run", folder, record, label: null };
}

async function readJson(file: string): Promise<{ text: string; value: unknown } | null> {
  const content = await readFile(file, "utf8");
  try {
    return { text: content, value: JSON.parse(content.replace(/^\ufeff/, "")) };
  } catch {
    return null;
  }
}

/** Loads the cells; throws `UsageError` where there is none of that label, or nothing that could be scored. */
export async function openStoredRun(located: Located, options: Options, io: Io): Promise<StoredRun> {
  if (located.kind === "report") {
    const shown = relative(io.cwd, located.file);
    const cell = reportCell(located.text, located.value, shown);
    if (!cell.ok) throw new UsageError(cell.error);
    return {
      id: shown,
      folder: dirname(located.file),
      record: null,
      label: null,
      source: "reports",
      cells: [cell.value],
      notes: [],
      close: nothing,
    };
  }
  const { folder, record, label } = located;
  const cached = await fromCache(located, options, io);
  if (cached.found !== null) {
    const { labels, cells } = cached.found;
    try {
      return {
        id: record.run_id,
        folder,
        record,
        label,
        source: "cache",
        cells: chosen(cells, labels, label, record),
        notes: [],
        close: cached.close,
      };
    } catch (error) {
      await cached.close();
      throw error;
    }
  }
  const cells = await fromReports(folder, io);
  if (cells.length === 0) {
    throw new UsageError(
      `nothing is left of ${record.run_id} that could be scored: ${cached.why}, and there is no report (\`*_eval__*.json\`) in ${folder}`,
    );
  }
  const notes = [`Read from the run's reports, because ${cached.why}.`];
  const labels = cells.map((cell) => cell.label);
  const wanted = label === null ? cells : cells.filter((cell) => cell.label === label);
  return {
    id: record.run_id,
    folder,
    record,
    label,
    source: "reports",
    cells: chosen(wanted, labels, label, record),
    notes,
    close: nothing,
  };
}

async function nothing(): Promise<void> {}

function chosen(
  cells: readonly StoredCell[],
  labels: readonly string[],
  label: string | null,
  { run_id }: RunRecord,
): readonly StoredCell[] {
  if (cells.length > 0) return cells;
  const near = label === null ? undefined : nearest(label, labels);
  throw new UsageError(
    `${run_id} has no cell ${JSON.stringify(label)}${near === undefined ? ":" : `; did you mean ${near}?`} it has ${labels.join(", ")}`,
  );
}

/** The caches that may hold the run's outputs: the one that was named, else the project's here, else that of the run's own project. */
export function cacheFolders(located: { readonly folder: string }, options: Options, cwd: string): string[] {
  const here = cacheFolder(options, findProjectRoot(cwd), cwd);
  if (text(options, "cache") !== undefined) return [here];
  return [...new Set([here, join(findProjectRoot(located.folder), "cache")])];
}

/** Opens the first cache that has what `use` needs; whoever called closes it. `why` continues a sentence that begins with "because". */
export async function openStoredObjects<T>(
  folders: readonly string[],
  use: (objects: StoredObjects) => Promise<T>,
): Promise<{ readonly found: T; readonly close: () => Promise<void> } | { readonly found: null; readonly why: string }> {
  let why = `there is no cache in ${folders.join(" or ")}`;
  const { Cache } = await import("../cache/cache.js");
  for (const folder of folders) {
    if (!existsSync(join(folder, DATABASE))) continue;
    // What is missing is said once, by us, with what it means here.
    const cache = await Cache.open({ folder, now: Date.now, warn: () => {} });
    try {
      return { found: await use(new StoredObjects(cache)), close: () => cache.close() };
    } catch (error) {
      await cache.close();
      if (!(error instanceof DamagedEntry)) throw error;
      why = `the cache in ${folder} no longer holds all of it`;
    }
  }
  return { found: null, why };
}

async function fromCache({ record, folder, label }: Extract<Located, { kind: "run" }>, options: Options, io: Io) {
  if (cellOutputs(record).length === 0) {
    return { found: null, why: "its record names no complete answers and scores" };
  }
  return openStoredObjects(cacheFolders({ folder }, options, io.cwd), (objects) => cachedCells(record, objects, label));
}

async function fromReports(folder: string, io: Io): Promise<StoredCell[]> {
  const cells: StoredCell[] = [];
  for (const name of (await readdir(folder)).sort()) {
    if (!/_eval__[^/]*\.json$/.test(name)) continue;
    const json = await readJson(join(folder, name));
    if (json === null || !isOwnReport(json.value)) continue;
    const cell = reportCell(json.text, json.value, name);
    if (cell.ok) cells.push(cell.value);
    else io.stderr(`warning: ${cell.error}\n`);
  }
  return cells;
}
