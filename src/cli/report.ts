/** `bench report RUN --format FORMAT`: a stored run in another format. It computes nothing that the run's scores don't hold. */
import { mkdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeAtomically } from "../engine/record.js";
import { parseMeasures } from "../measures/registry.js";
import { csvReport } from "../report/csv.js";
import { type Cell, reportJson } from "../report/json.js";
import { junitReport } from "../report/junit.js";
import { fileStem } from "../report/labels.js";
import { latexFigures } from "../report/latex.js";
import { markdownReport } from "../report/markdown.js";
import type { ReadReport } from "../report/read.js";
import { hasDraws, trecQrelsOf, trecRuns } from "../report/trec.js";
import { summarise } from "../scoring/summary.js";
import { type Command, EXIT, type Io, type OptionValue, UsageError } from "./contract.js";
import { chosenMeasures } from "./inputs.js";
import { list, text } from "./options.js";
import { courseOf } from "./run-page.js";
import { relabelled, shownLabels } from "./shown-labels.js";
import { locateRun, runsFolder } from "./stored-run.js";
import { type Place, storedRun } from "./stored-runs.js";

type Options = Readonly<Record<string, OptionValue>>;

/** `trec` is a run per cell and the qrels; `qrels` these alone. */
export const REPORT_FORMATS = ["json", "jsonl", "csv", "markdown", "latex", "html", "junit", "trec", "qrels"] as const;
type Format = (typeof REPORT_FORMATS)[number];

const EXTENSION: Readonly<Record<Format, string>> = {
  json: "json",
  jsonl: "jsonl",
  csv: "csv",
  markdown: "md",
  latex: "tex",
  html: "html",
  junit: "xml",
  trec: "run",
  qrels: "qrels",
};

export const command: Command = {
  usage: "report <run>",
  summary: "Write a stored run in another format",
  options: [
    { flag: "--format <format>", description: `${REPORT_FORMATS.join(", ")} (default markdown)` },
    { flag: "--measures <names>", description: "Only these of the measures that were scored, in this order" },
    { flag: "--cells <labels>", description: "Only these cells, in this order" },
    { flag: "--label <label=name>", description: "What a cell is called in the tables (repeatable)", repeated: true },
    { flag: "--out <path>", description: "File to write, or a folder (default: stdout)" },
    { flag: "--runs <folder>", description: "Where runs are (default evaluation_results)" },
    { flag: "--cache <folder>", description: "The cache, for runs without JSON reports (default cache)" },
  ],
  examples: [
    "bench report latest --format csv --out results.csv",
    "bench report latest:bm25 --format trec > bm25.run",
    "bench report latest --format trec --out trec/",
    'bench report latest --format latex --measures "Hit@5,RR" --cells bm25,grep --label bm25=BM25 --out table.tex',
    "bench report latest --format html --out report.html",
  ],
  run: async (args, options, io) => {
    const typed = text(options, "format") ?? "markdown";
    const format = REPORT_FORMATS.find((known) => known === typed);
    if (format === undefined) throw new UsageError(`--format ${typed}: choose ${REPORT_FORMATS.join(", ")}`);
    const run = args[0] as string;
    const place = { out: runsFolder(options, io), cwd: io.cwd, io, options };
    const { reports } = await storedRun(run, place);
    const cells = chosenCells(reports, options);
    const files = format === "html" ? [await page(cells, run, place)] : rendered(format, cells, io);
    const out = text(options, "out");
    if (out === undefined) {
      if (files.length > 1) {
        const names = files.map(({ name }) => name).join(", ");
        throw new UsageError(`this is more than one file (${names}): give --out FOLDER, or choose a cell with RUN:LABEL`);
      }
      io.stdout(files[0]?.text ?? "");
      return EXIT.done;
    }
    for (const path of await write(files, out, io)) io.stderr(`wrote ${path}\n`);
    return EXIT.done;
  },
};

/** The cells that were asked for, with the measures that were asked for, by the names to show. */
function chosenCells(reports: readonly ReadReport[], options: Options): readonly ReadReport[] {
  const wanted = list(options, "cells");
  const cells = wanted.length === 0 ? reports : wanted.map((label) => cellNamed(reports, label));
  const measures = text(options, "measures") === undefined ? null : chosenMeasures(options, []).map(({ name }) => name);
  const narrowed = cells.map((report) => {
    if (measures === null) return report;
    const absent = measures.filter((name) => !report.meta.measures.includes(name));
    if (absent.length > 0) {
      throw new UsageError(
        `${report.label} was not scored by ${absent.join(", ")}, only by ${report.meta.measures.join(", ")}: bench score RUN --measures computes others`,
      );
    }
    const summary = report.summary === null ? null : { ...report.summary, measure_order: measures };
    return { ...report, meta: { ...report.meta, measures }, summary };
  });
  return relabelled(narrowed, shownLabels(options));
}

function cellNamed(reports: readonly ReadReport[], label: string): ReadReport {
  const found = reports.find((report) => report.label === label);
  if (found !== undefined) return found;
  throw new UsageError(`--cells ${label}: the run has ${reports.map((report) => report.label).join(", ")}`);
}

interface Rendered {
  readonly name: string;
  readonly text: string;
}

/** The page of a run's cells, with the run's course where its folder is there. */
async function page(reports: readonly ReadReport[], run: string, { out, cwd }: Place): Promise<Rendered> {
  const { htmlPage } = await import("../report/html/page.js");
  const located = await locateRun(run, out, cwd).catch(() => null);
  const course = located?.kind === "run" ? await courseOf(located.folder) : null;
  const facts = { generatedAt: reports[0]?.generatedAt ?? null, datasetFile: null };
  return { name: "report.html", text: htmlPage(reports.map(cellOf), facts, { work: "command" }, course) };
}

function rendered(format: Exclude<Format, "html">, reports: readonly ReadReport[], io: Io): readonly Rendered[] {
  const cells = reports.map(cellOf);
  const one = (content: string): Rendered[] => [{ name: `report.${EXTENSION[format]}`, text: content }];
  switch (format) {
    case "json": {
      const all = reports.map((report, index) => reportJson(cells[index] as Cell, report));
      return one(`${JSON.stringify(all.length === 1 ? all[0] : all, null, 2)}\n`);
    }
    case "jsonl": {
      const lines = reports.flatMap((report, index) => {
        const { label, issues } = reportJson(cells[index] as Cell, report);
        return issues.map((issue) => `${JSON.stringify({ run: label, ...issue })}\n`);
      });
      return one(lines.join(""));
    }
    case "csv":
      return one(csvReport(cells));
    case "markdown":
      return one(
        markdownReport(cells, {
          generatedAt: reports[0]?.generatedAt ?? null,
          datasetFile: null,
          definitions: definitions(cells),
        }),
      );
    case "latex":
      return one(latexFigures(cells));
    case "junit":
      return one(junitReport(cells));
    case "qrels":
      return one(trecQrelsOf(cells.flatMap(({ cases }) => cases)));
    case "trec":
      return trecFiles(cells, io);
  }
}

/** The run of a single cell on stdout; otherwise a file per cell (and repeat), and the qrels of all. */
function trecFiles(cells: readonly Cell[], io: Io): Rendered[] {
  const files: Rendered[] = [];
  for (const cell of cells) {
    if (hasDraws(cell.cases)) {
      io.stderr(`${cell.label}: a baseline that draws at random has no one list per case; no run is written for it\n`);
      continue;
    }
    if (cell.cases.some(({ details }) => details.ranking === "lost")) {
      throw new UsageError(`${cell.label}: this report kept no ranks, so no run can be made of it`);
    }
    for (const { repeat, text: content } of trecRuns(cell)) {
      files.push({ name: `${fileStem(cell.label)}${repeat === 0 ? "" : `~${repeat}`}.run`, text: content });
    }
  }
  if (cells.length > 1) files.push({ name: "qrels.txt", text: trecQrelsOf(cells.flatMap(({ cases }) => cases)) });
  return files;
}

function cellOf({ label, meta, cases, summary }: ReadReport): Cell {
  return { label, meta, cases, summary: summary ?? summarise(cases, meta, measuresOf(meta.measures), null) };
}

function measuresOf(names: readonly string[]) {
  const parsed = parseMeasures(names);
  if (!parsed.ok) throw new UsageError(parsed.error.map(({ message }) => message).join("\n"));
  return parsed.value;
}

function definitions(cells: readonly Cell[]): ReadonlyMap<string, string> {
  const names = [...new Set(cells.flatMap(({ meta }) => meta.measures))];
  return new Map(measuresOf(names).map(({ name, definition }) => [name, definition]));
}

/** One file goes where the person said, unless that is a folder; several go into a folder. */
async function write(files: readonly Rendered[], out: string, io: Io): Promise<string[]> {
  const path = resolve(io.cwd, out);
  const isFolder = /[\\/]$/.test(out) || ((await stat(path).catch(() => null))?.isDirectory() ?? false);
  if (files.length === 1 && !isFolder) {
    await writeAtomically(path, files[0]?.text ?? "");
    return [path];
  }
  await mkdir(path, { recursive: true });
  const written: string[] = [];
  for (const { name, text: content } of files) {
    await writeAtomically(join(path, name), content);
    written.push(join(path, name));
  }
  return written;
}
