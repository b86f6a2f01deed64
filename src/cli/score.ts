/**
 * `bench score`: answers and a data set in, figures out, without pipeline, cache, backend or clock. Its output is a function of the
 * files that it reads, byte for byte.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { readAnswers } from "../answers/file.js";
import type { Answer } from "../answers/schema.js";
import { renderDiagnostic, visible } from "../base/diagnostics.js";
import { digestJson } from "../base/json.js";
import { readDataset } from "../dataset/read.js";
import type { Dataset } from "../dataset/schema.js";
import type { RuleSet } from "../matching/contract.js";
import type { Measure } from "../measures/contract.js";
import { parseMeasures } from "../measures/registry.js";
import { reportJson } from "../report/json.js";
import { renderTable } from "../report/terminal.js";
import type { LeftOut, ScoreMeta } from "../scoring/contract.js";
import { type BootstrapSettings, DEFAULT_BOOTSTRAP, intervalRows } from "../scoring/intervals.js";
import { leftOut, scoreAnswers } from "../scoring/score-answers.js";
import { summarise } from "../scoring/summary.js";
import { type CorpusFiles, corpusFiles } from "../scoring/truth.js";
import { viewsOf } from "../scoring/views.js";
import { DEFAULT_MEASURES } from "../stages/measures.js";
import { resolveRules } from "../stages/rules.js";
import { type Command, EXIT, type Io, type OptionValue, UsageError } from "./contract.js";
import { corpusPaths } from "./corpus-paths.js";

type Options = Readonly<Record<string, OptionValue>>;

export const scoreCommand: Command = {
  usage: "score <answers>",
  summary: "Score a file of answers against a data set, without a pipeline",
  options: [
    { flag: "--dataset <file>", description: "The data set (required)" },
    { flag: "--rules <rules>", description: "strict, lenient, seed, or a YAML file (default: strict)" },
    { flag: "--measures <names>", description: `Measures, separated by commas (default: ${DEFAULT_MEASURES.join(",")})` },
    { flag: "--corpus <dir>", description: "Source tree that the questions were asked about" },
    { flag: "--project-root <dir>", description: "The same, by the original's name" },
    { flag: "--backend <name>", description: "Which backend's answers, where the file has several" },
    { flag: "--samples <n>", description: `Bootstrap resamples (default: ${DEFAULT_BOOTSTRAP.samples})` },
    { flag: "--seed <n>", description: `Bootstrap seed (default: ${DEFAULT_BOOTSTRAP.seed})` },
    { flag: "--only-answered", description: "Leave cases without an answer out instead of counting them as zero" },
    { flag: "--json", description: "The report as JSON on stdout" },
  ],
  examples: [
    "bench score answers.jsonl --dataset mined_projects/owner__repo.json --corpus ../repo",
    "bench score old-report.json --dataset mined.json --rules seed --json",
  ],
  run: score,
};

async function score(args: readonly string[], options: Options, io: Io): Promise<number> {
  const [answersFile, ...more] = args;
  if (answersFile === undefined) throw new UsageError("which answers? give a file: bench score ANSWERS --dataset DATASET");
  if (more.length > 0) throw new UsageError(`one file of answers at a time; ${more.join(", ")} was given too`);
  const datasetFile = text(options, "dataset");
  if (datasetFile === undefined) throw new UsageError("which data set? give it with --dataset FILE");
  const bootstrap = bootstrapOf(options);
  const measures = measuresOf(options);
  const rules = await rulesOf(options, io);

  const { dataset, bad: badCases } = await datasetOf(datasetFile, io);
  const given = await answersOf(answersFile, dataset, io);
  const { backend, answers } = ofOneBackend(given.answers, text(options, "backend"), answersFile);
  const corpus = await corpusOf(text(options, "corpus") ?? text(options, "project-root"), rules, io);
  const { meta, cases } = scoreAnswers({
    dataset,
    answers,
    settings: { rules, measures, corpus: corpus?.files ?? null, backend },
    corpus: corpus?.facts ?? null,
    onlyAnswered: options["only-answered"] === true || options.onlyAnswered === true,
    leftOut: [...badCases, ...given.bad],
    warnings: given.notes,
  });
  for (const { what, count, examples } of meta.left_out.slice(badCases.length + given.bad.length)) {
    io.stderr(`${answersFile}: ${count} ${what}: ${examples.map(visible).join(", ")}${count > examples.length ? ", ..." : ""}\n`);
  }
  const rows = intervalRows(viewsOf(cases, meta), measures, bootstrap, rules.engine);
  const summary = summarise(cases, meta, measures, { settings: bootstrap, rows });
  if (options.json === true) {
    const report = reportJson({ label: backend, meta, cases, summary }, { generatedAt: null, datasetFile });
    io.stdout(`${JSON.stringify(report, null, 2)}\n`);
  } else {
    io.stdout(renderTable({ [backend]: summary }, io.terminal));
  }
  return EXIT.done;
}

/** The last one given counts; cac hands dashed names on in camel case as well. */
function text(options: Options, name: string): string | undefined {
  const camel = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const value = options[name] ?? options[camel];
  const last = Array.isArray(value) ? value.at(-1) : value;
  if (last === true) throw new UsageError(`--${name} needs a value`);
  return typeof last === "string" ? last : undefined;
}

function whole(options: Options, name: string, least: number, fallback: number): number {
  const given = text(options, name);
  if (given === undefined) return fallback;
  const value = Number(given);
  if (!/^\d+$/.test(given) || !Number.isSafeInteger(value) || value < least) {
    throw new UsageError(`--${name} must be a whole number, ${least} or more, and is "${given}"`);
  }
  return value;
}

function bootstrapOf(options: Options): BootstrapSettings {
  return {
    ...DEFAULT_BOOTSTRAP,
    samples: whole(options, "samples", 1, DEFAULT_BOOTSTRAP.samples),
    seed: whole(options, "seed", 0, DEFAULT_BOOTSTRAP.seed),
  };
}

function measuresOf(options: Options): readonly Measure[] {
  const parsed = parseMeasures(text(options, "measures") ?? DEFAULT_MEASURES);
  if (parsed.ok) return parsed.value;
  const mistakes = parsed.error.map(({ message, suggestion }) =>
    suggestion === undefined ? message : `${message}; ${suggestion}`,
  );
  throw new UsageError(mistakes.map((mistake) => `--measures: ${mistake}`).join("\n"));
}

async function rulesOf(options: Options, io: Io): Promise<RuleSet> {
  const rules = await resolveRules(text(options, "rules") ?? "strict", io.cwd);
  if (!rules.ok) throw new UsageError(rules.error);
  return rules.value;
}

async function fileText(file: string, io: Io): Promise<string> {
  try {
    return await readFile(resolve(io.cwd, file), "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : (code ?? String(error));
    throw new UsageError(`${file} can't be read: ${why}`);
  }
}

async function datasetOf(file: string, io: Io): Promise<{ dataset: Dataset; bad: LeftOut[] }> {
  const read = readDataset(await fileText(file, io), file);
  if (!read.ok) throw new UsageError(renderDiagnostic(read.error));
  const { dataset, bad } = read.value;
  const lines = bad.map(({ record, what }) => `record ${record}: ${what}`);
  for (const line of lines) io.stderr(`${file}: ${visible(line)}\n`);
  if (dataset.cases.length === 0) throw new UsageError(`${file} holds no usable case`);
  return { dataset, bad: leftOut("records of the data set that are no cases", lines) };
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
    ...(project ? { project: header.project_name } : { caseIds: cases.map(({ id }) => id) }),
  });
  const lines = bad.map(({ record, line, what }) => `record ${record} (line ${line}): ${what}`);
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

async function corpusOf(
  folder: string | undefined,
  rules: RuleSet,
  io: Io,
): Promise<{ files: CorpusFiles; facts: NonNullable<ScoreMeta["corpus"]> } | null> {
  if (folder === undefined) return null;
  const list = await corpusPaths(folder, io.cwd, rules.engine === "seed");
  if (!list.ok) throw new UsageError(`--corpus: ${list.error}`);
  const { paths } = list.value;
  if (paths.length === 0) throw new UsageError(`--corpus: ${folder} holds no file`);
  return {
    files: corpusFiles(list.value),
    facts: { digest: digestJson(paths), source: folder, revision: null, files: paths.length, trees: 1 },
  };
}
