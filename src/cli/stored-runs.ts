/** RUN arguments: a run's id, its folder, `latest`, or a report file, each with `:LABEL` for one of its cells. */
import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { nearest } from "../base/nearest.js";
import { type ReadReport, readReport } from "../report/read.js";
import { type Io, type OptionValue, UsageError } from "./contract.js";
import { inputText } from "./inputs.js";
import { findRun } from "./project.js";
import { type StoredRun as CachedRun, locateRun, openStoredRun } from "./stored-run.js";

export interface StoredRun {
  /** What the person typed, without the label. */
  readonly name: string;
  /** True where one cell was chosen. */
  readonly chosen: boolean;
  readonly reports: readonly ReadReport[];
}

/** Where runs are, and what opening the cache takes. */
export interface Place {
  readonly out: string;
  readonly cwd: string;
  readonly io: Io;
  readonly options: Readonly<Record<string, OptionValue>>;
}

export async function storedRun(argument: string, place: Place): Promise<StoredRun> {
  const { out, cwd } = place;
  const exact = await source(argument, out, cwd);
  if (exact !== null) return { name: argument, chosen: false, reports: await reportsOf(exact, argument, place) };
  const colon = argument.lastIndexOf(":");
  const name = argument.slice(0, colon);
  const found = colon > 0 ? await source(name, out, cwd) : null;
  // Says what a RUN may be.
  if (found === null)
    throw await findRun(colon > 0 ? name : argument, out, cwd).then(
      () => new UsageError(`${argument} holds no report`),
      (error: unknown) => error,
    );
  const label = argument.slice(colon + 1);
  const all = await reportsOf(found, name, place);
  const reports = all.filter((report) => report.label === label);
  if (reports.length === 0) {
    const labels = all.map((report) => report.label);
    const near = nearest(label, labels);
    throw new UsageError(
      `${name} has no cell ${JSON.stringify(label)}${near === undefined ? ":" : `; did you mean ${name}:${near}?`} it has ${labels.join(", ")}`,
    );
  }
  return { name, chosen: true, reports };
}

type Source = { readonly folder: string } | { readonly file: string };

async function source(name: string, out: string, cwd: string): Promise<Source | null> {
  const path = resolve(cwd, name);
  const entry = name === "" ? null : await stat(path).catch(() => null);
  if (entry?.isFile()) return { file: path };
  if (entry?.isDirectory() && (await reportFiles(path)).length > 0) return { folder: path };
  return findRun(name === "" ? undefined : name, out, cwd).then(
    (folder) => ({ folder }),
    () => null,
  );
}

async function reportFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((file) => /_eval__.*\.json$/.test(file)).sort();
}

async function reportsOf(found: Source, name: string, { out, cwd, io, options }: Place): Promise<readonly ReadReport[]> {
  const files = "file" in found ? [found.file] : (await reportFiles(found.folder)).map((file) => join(found.folder, file));
  // A run that wrote no JSON still has its scores in the cache.
  if (files.length === 0) return cachedReports(await openStoredRun(await locateRun(name, out, cwd), options, io), name);
  const reports: ReadReport[] = [];
  for (const file of files) {
    const read = readReport(await inputText(file, cwd), basename(file));
    if (!read.ok) throw new UsageError(read.error);
    reports.push(read.value);
  }
  const order = "folder" in found ? await labelOrder(found.folder, cwd) : [];
  const at = ({ label }: ReadReport) => (order.includes(label) ? order.indexOf(label) : order.length);
  return reports.sort((a, b) => at(a) - at(b));
}

async function cachedReports(run: CachedRun, name: string): Promise<ReadReport[]> {
  try {
    const reports: ReadReport[] = [];
    for (const { label, before } of run.cells) {
      if (before === null) throw new UsageError(`${name} has no scores of ${label}: run it again (nothing is asked anew)`);
      reports.push({ label, ...(await before.load()), summary: null, generatedAt: null, datasetFile: null });
    }
    return reports;
  } finally {
    await run.close();
  }
}

/** The order of the pipeline, which names of files do not keep. */
async function labelOrder(folder: string, cwd: string): Promise<readonly string[]> {
  try {
    const results: unknown = JSON.parse(await inputText(join(folder, "results.json"), cwd));
    const cells = (results as { cells?: unknown }).cells;
    return Array.isArray(cells) ? cells.map((cell: { label?: unknown }) => String(cell.label)) : [];
  } catch {
    return [];
  }
}
