/**
 * `bench score`: answers and a data set in, figures out, without backend or clock. The answers are a file (ours, or a report that kept raw
 * responses) or those of a stored run. Its output is a function of what it reads, byte for byte.
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { answersFileStem, readAnswers } from "../answers/file.js";
import type { Answer } from "../answers/schema.js";
import { visible } from "../base/diagnostics.js";
import { recordPlace } from "../base/plain-words.js";
import type { Dataset } from "../dataset/schema.js";
import { type Cell, reportJson, resultsJson } from "../report/json.js";
import { renderTable } from "../report/terminal.js";
import type { LeftOut } from "../scoring/contract.js";
import { strataProblem } from "../scoring/derived-strata.js";
import { DEFAULT_BOOTSTRAP } from "../scoring/intervals.js";
import type { Judgements } from "../scoring/judgements.js";
import { answersByCase, leftOut, scoreAnswers } from "../scoring/score-answers.js";
import { DEFAULT_MEASURES } from "../stages/measures.js";
import { type Command, EXIT, type Io, UsageError } from "./contract.js";
import { folderReader, withContents } from "./corpus-contents.js";
import { list } from "./options.js";
import { judgementsOf } from "./pool.js";
import { isReport } from "./report-cells.js";
import { summarisedCell } from "./scored-files.js";
import {
  bootstrapOf,
  corpusOf,
  datasetOf,
  fileText,
  measuresOf,
  type Options,
  rulesNamed,
  text,
  withCorpus,
  withDataset,
} from "./scoring-options.js";
import { listLost, type StoredCell, scoreCell } from "./stored-cell.js";
import { locateRun, openStoredRun, runsFolder } from "./stored-run.js";

export const scoreCommand: Command = {
  usage: "score <answers>",
  summary: "Score answers against a data set, without a pipeline: a file of answers, a report, or a stored run",
  options: [
    { flag: "--dataset <file>", description: "The data set (a run and a report have their own)" },
    { flag: "--rules <rules>", description: "strict, lenient, seed, or a YAML file (default: strict)" },
    { flag: "--measures <names>", description: `Measures, separated by commas (default: ${DEFAULT_MEASURES.join(",")})` },
    { flag: "--corpus <dir>", description: "Source tree that the questions were asked about (a run has its own)" },
    { flag: "--project-root <dir>", description: "The same, by the original's name" },
    { flag: "--backend <name>", description: "Which backend's answers, where the file has several" },
    { flag: "--judgements <file>", description: "What people judged beside the truth (bench pool; repeatable)", repeated: true },
    { flag: "--strata <names>", description: "Figures also by targets, repository, year, role, split=DATE" },
    { flag: "--samples <n>", description: `Bootstrap resamples (default: ${DEFAULT_BOOTSTRAP.samples})` },
    { flag: "--seed <n>", description: `Bootstrap seed (default: ${DEFAULT_BOOTSTRAP.seed})` },
    {
      flag: "--cluster <unit>",
      description: "What is resampled: none (cases), repository, or change (cases that share a pull request)",
    },
    { flag: "--only-answered", description: "Leave cases without an answer out instead of counting them as zero" },
    { flag: "--runs <folder>", description: "Where runs are (default evaluation_results)" },
    { flag: "--cache <folder>", description: "The cache (default cache)" },
    { flag: "--json", description: "The report as JSON on stdout" },
  ],
  examples: [
    "bench score answers.jsonl --dataset mined_projects/owner__repo.json --corpus ../repo",
    "bench score old-report.json --dataset mined.json --rules seed --json",
    "bench score latest:bm25 --measures P,R,F1,nDCG@10",
  ],
  run: score,
};

async function score(args: readonly string[], options: Options, io: Io): Promise<number> {
  const [named, ...more] = args;
  if (named === undefined) {
    throw new UsageError("which answers? give a file (bench score ANSWERS --dataset DATASET) or a run (bench score RUN)");
  }
  if (more.length > 0) throw new UsageError(`one file of answers or one run at a time; ${more.join(", ")} was given too`);
  const cells = (await isAnswersFile(named, options, io))
    ? [await scoreFile(named, options, io)]
    : await scoreRun(named, options, io);
  const [only] = cells;
  if (options.json === true && cells.length === 1 && only !== undefined) {
    const report = reportJson(only, { generatedAt: null, datasetFile: text(options, "dataset") ?? null });
    io.stdout(`${JSON.stringify(report, null, 2)}\n`);
  } else if (options.json === true) {
    // The cases of all cells would be one report after the other: RUN:LABEL gives those of one.
    const results = resultsJson(cells, new Map(), { generatedAt: null, datasetFile: null });
    io.stdout(`${JSON.stringify(results, null, 2)}\n`);
  } else {
    io.stdout(renderTable(Object.fromEntries(cells.map(({ label, summary }) => [label, summary])), io.terminal));
  }
  return EXIT.done;
}

/** A file with `--dataset` is a file of answers, whatever it is; without, a report or a file of a run speaks for itself. */
async function isAnswersFile(named: string, options: Options, io: Io): Promise<boolean> {
  const isFile = (await stat(resolve(io.cwd, named)).catch(() => null))?.isFile() === true;
  if (text(options, "dataset") !== undefined) return isFile || !(await namesRun(named, options, io));
  if (!isFile) {
    if (await namesRun(named, options, io)) return false;
    // A name with an ending is more likely a file that is not there than a run.
    if (/\.[a-z]{2,6}$/i.test(named)) throw new UsageError(`${named} can't be read: there is no such file`);
    return false;
  }
  if (await namesRun(named, options, io)) return false;
  throw new UsageError("which data set? give it with --dataset FILE");
}

async function namesRun(named: string, options: Options, io: Io): Promise<boolean> {
  try {
    const located = await locateRun(named, runsFolder(options, io), io.cwd);
    return located.kind === "run" || isReport(located.value);
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

async function scoreRun(named: string, options: Options, io: Io): Promise<Cell[]> {
  const rules = await rulesNamed(text(options, "rules") ?? "strict", io);
  const datasetFile = text(options, "dataset");
  const dataset = datasetFile === undefined ? null : await datasetOf(datasetFile, io);
  const corpus = await corpusOf(options, rules.engine === "seed", io);
  const stored = await openStoredRun(await locateRun(named, runsFolder(options, io), io.cwd), options, io);
  const cells: Cell[] = [];
  try {
    for (const cell of stored.cells) {
      let one: StoredCell = dataset === null ? cell : withDataset(cell, dataset.dataset, dataset.bad);
      if (corpus !== null) one = withCorpus(one, corpus);
      if (text(options, "backend") !== undefined) one = ofBackend(one, text(options, "backend") ?? "", named);
      if (options["only-answered"] === true || options.onlyAnswered === true) {
        one = { ...one, facts: { ...one.facts, only_answered: true } };
      }
      const lost = listLost([one]);
      for (const note of lost) io.stderr(`note: ${note}\n`);
      one = { ...one, facts: { ...one.facts, warnings: [...one.facts.warnings, ...lost] } };
      const measures = measuresOf(options, cell.before?.meta.measures ?? DEFAULT_MEASURES);
      const scored = await scoreCell(
        one,
        rules,
        measures,
        (await judgementsFor(options, io)).judgements,
        strataOf(options).strata,
      );
      cells.push(summarisedCell(cell.label, scored, measures, bootstrapOf(options, cell.bootstrap)));
    }
  } finally {
    await stored.close();
  }
  for (const note of stored.notes) io.stderr(`note: ${note}\n`);
  return cells;
}

function ofBackend(cell: StoredCell, wanted: string, file: string): StoredCell {
  const { answers, backend } = ofOneBackend(cell.answers, wanted, file);
  return { ...cell, answers, facts: { ...cell.facts, backend } };
}

async function scoreFile(file: string, options: Options, io: Io): Promise<Cell> {
  const bootstrap = bootstrapOf(options);
  const measures = measuresOf(options, DEFAULT_MEASURES);
  const rules = await rulesNamed(text(options, "rules") ?? "strict", io);

  const { dataset, bad: badCases } = await datasetOf(text(options, "dataset") ?? "", io);
  const given = await answersOf(file, dataset, io);
  const { backend, answers } = ofOneBackend(given.answers, text(options, "backend"), file);
  const corpus = await corpusOf(options, rules.engine === "seed", io);
  const settings = {
    ...{ rules, measures, corpus: corpus?.files ?? null, backend },
    ...strataOf(options),
    ...(await judgementsFor(options, io)),
  };
  const scored = scoreAnswers({
    dataset,
    answers,
    settings:
      corpus === null
        ? settings
        : await withContents(settings, answersByCase(dataset.cases, answers).asked, folderReader(corpus.folder)),
    corpus: corpus?.facts ?? null,
    onlyAnswered: options["only-answered"] === true || options.onlyAnswered === true,
    leftOut: [...badCases, ...given.bad],
    warnings: given.notes,
  });
  for (const { what, count, examples } of scored.meta.left_out.slice(badCases.length + given.bad.length)) {
    io.stderr(`${file}: ${count} ${what}: ${examples.map(visible).join(", ")}${count > examples.length ? ", ..." : ""}\n`);
  }
  return summarisedCell(backend, scored, measures, bootstrap);
}

function strataOf(options: Options): { strata?: readonly string[] } {
  const strata = list(options, "strata");
  const problem = strata.map(strataProblem).find((one) => one !== null);
  if (problem !== undefined) throw new UsageError(`--strata: ${problem}`);
  return strata.length === 0 ? {} : { strata };
}

async function judgementsFor(options: Options, io: Io): Promise<{ judgements?: Judgements }> {
  const files = list(options, "judgements");
  return files.length === 0 ? {} : { judgements: await judgementsOf(files, io) };
}

async function answersOf(
  file: string,
  dataset: Dataset,
  io: Io,
): Promise<{ answers: readonly Answer[]; bad: LeftOut[]; notes: readonly string[] }> {
  const { header, cases } = dataset;
  // Records may give a bare issue number: the project completes it, or else the one case that has it.
  const project = /^[^\s/#]+\/[^\s/#]+$/.test(header.project_name);
  const { answers, bad, notes } = readAnswers(await fileText(file, io), {
    file,
    unnamed: answersFileStem(file),
    ...(project ? { project: header.project_name } : { caseIds: cases.map(({ id }) => id) }),
  });
  const lines = bad.map((one) => `${recordPlace(one)}: ${one.what}`);
  for (const line of lines) io.stderr(`${file}: ${visible(line)}\n`);
  for (const note of notes) io.stderr(`${visible(note)}\n`);
  if (answers.length === 0) throw new UsageError(`${file} holds no usable answer`);
  return { answers, bad: leftOut("records that are no answers", lines), notes };
}

/** One report is about one backend: averaging two would describe neither. */
function ofOneBackend(
  answers: readonly Answer[],
  wanted: string | undefined,
  file: string,
): { backend: string; answers: readonly Answer[] } {
  const names = [...new Set(answers.map(({ backend }) => backend))];
  const backend = wanted ?? names[0] ?? "";
  if (wanted === undefined && names.length > 1) {
    throw new UsageError(`${file} has answers of ${names.length} backends (${names.join(", ")}): choose one with --backend NAME`);
  }
  if (!names.includes(backend)) {
    throw new UsageError(`${file} has no answers of the backend "${backend}"; it has ${names.join(", ")}`);
  }
  return { backend, answers: answers.filter((answer) => answer.backend === backend) };
}
