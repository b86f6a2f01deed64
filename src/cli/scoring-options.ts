/** Options that the commands which score have in common: rules, measures, resamples, a tree, a data set. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { renderDiagnostic, visible } from "../base/diagnostics.js";
import { digestJson } from "../base/json.js";
import { recordPlace } from "../base/plain-words.js";
import { beginsLikeParquet } from "../dataset/parquet.js";
import { readDataset } from "../dataset/read.js";
import type { Dataset } from "../dataset/schema.js";
import { datasetText } from "../dataset/text.js";
import type { RuleSet } from "../matching/contract.js";
import type { Measure } from "../measures/contract.js";
import { parseMeasures } from "../measures/registry.js";
import type { LeftOut, ScoreMeta } from "../scoring/contract.js";
import { CLUSTERS } from "../scoring/design.js";
import { type BootstrapSettings, DEFAULT_BOOTSTRAP, MOST_SAMPLES } from "../scoring/intervals.js";
import { datasetFacts, leftOut } from "../scoring/score-answers.js";
import { type CorpusFiles, corpusFiles } from "../scoring/truth.js";
import { resolveRules } from "../stages/rules.js";
import { type Io, type OptionValue, UsageError } from "./contract.js";
import { folderReader } from "./corpus-contents.js";
import { corpusPaths } from "./corpus-paths.js";
import type { StoredCell } from "./stored-cell.js";

export type Options = Readonly<Record<string, OptionValue>>;

/** The last one given counts; cac hands dashed names on in camel case as well. */
export function text(options: Options, name: string): string | undefined {
  const camel = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const value = options[name] ?? options[camel];
  const last = Array.isArray(value) ? value.at(-1) : value;
  if (last === true) throw new UsageError(`--${name} needs a value`);
  return typeof last === "string" ? last : undefined;
}

function whole(options: Options, name: string, least: number, most: number, fallback: number): number {
  const given = text(options, name);
  if (given === undefined) return fallback;
  const value = Number(given);
  if (!/^\d+$/.test(given) || value < least || value > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
    throw new UsageError(`--${name} must be a whole number, ${range}, and is "${given}"`);
  }
  return value;
}

export function bootstrapOf(options: Options, defaults: BootstrapSettings = DEFAULT_BOOTSTRAP): BootstrapSettings {
  const samples = whole(options, "samples", 1, MOST_SAMPLES, defaults.samples);
  const cluster = text(options, "cluster");
  const unit = CLUSTERS.find((one) => one === cluster);
  if (cluster !== undefined && unit === undefined)
    throw new UsageError(`--cluster must be one of ${CLUSTERS.join(", ")}, and is "${cluster}"`);
  const seed = whole(options, "seed", 0, Number.MAX_SAFE_INTEGER, defaults.seed);
  return { ...defaults, samples, seed, ...(unit === undefined ? {} : { cluster: unit }) };
}

export function measuresOf(options: Options, defaults: readonly string[]): readonly Measure[] {
  const parsed = parseMeasures(text(options, "measures") ?? defaults);
  if (parsed.ok) return parsed.value;
  const mistakes = parsed.error.map(({ message, suggestion }) =>
    suggestion === undefined ? message : `${message}; ${suggestion}`,
  );
  throw new UsageError(mistakes.map((mistake) => `--measures: ${mistake}`).join("\n"));
}

/** The rule set that a person named. */
export async function rulesNamed(named: string, io: Io): Promise<RuleSet> {
  const rules = await resolveRules(named, io.cwd);
  if (!rules.ok) throw new UsageError(rules.error);
  return rules.value;
}

export async function fileText(file: string, io: Io): Promise<string> {
  return (await fileBytes(file, io)).toString("utf8");
}

/** A data set's file, also one in Parquet, as text. */
export async function datasetFileText(file: string, io: Io): Promise<string> {
  const bytes = await fileBytes(file, io);
  const read = await datasetText(bytes);
  // Bytes that are no UTF-8 have always been shown where they stand.
  if (!read.ok && beginsLikeParquet(bytes)) throw new UsageError(`${file} ${read.error}`);
  return read.ok ? read.value : bytes.toString("utf8");
}

async function fileBytes(file: string, io: Io): Promise<Buffer> {
  try {
    return await readFile(resolve(io.cwd, file));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : (code ?? String(error));
    throw new UsageError(`${file} can't be read: ${why}`);
  }
}

export async function datasetOf(file: string, io: Io): Promise<{ dataset: Dataset; bad: LeftOut[] }> {
  const read = readDataset(await datasetFileText(file, io), file);
  if (!read.ok) throw new UsageError(renderDiagnostic(read.error));
  const { dataset, bad } = read.value;
  const lines = bad.map((one) => `${recordPlace(one)}: ${one.what}`);
  for (const line of lines) io.stderr(`${file}: ${visible(line)}\n`);
  if (dataset.cases.length === 0) throw new UsageError(`${file} holds no usable case`);
  return { dataset, bad: leftOut("records of the data set that are no cases", lines) };
}

export interface GivenCorpus {
  readonly files: CorpusFiles;
  readonly facts: NonNullable<ScoreMeta["corpus"]>;
  /** Absolute. */
  readonly folder: string;
}

/** The tree of `--corpus`; `everything`: with what the original's list of the repository holds. */
export async function corpusOf(options: Options, everything: boolean, io: Io): Promise<GivenCorpus | null> {
  const folder = text(options, "corpus") ?? text(options, "project-root");
  if (folder === undefined) return null;
  const list = await corpusPaths(folder, io.cwd, everything);
  if (!list.ok) throw new UsageError(`--corpus: ${list.error}`);
  const { paths } = list.value;
  if (paths.length === 0) throw new UsageError(`--corpus: ${folder} holds no file`);
  return {
    files: corpusFiles(list.value),
    folder: resolve(io.cwd, folder),
    facts: { digest: digestJson(paths), source: folder, revision: null, files: paths.length, trees: 1 },
  };
}

/** The same answers about one tree for all cases. */
export function withCorpus(cell: StoredCell, { files, facts, folder }: GivenCorpus): StoredCell {
  return {
    ...cell,
    facts: { ...cell.facts, corpus: facts },
    trees: { keyOf: () => "all", load: async () => files, reader: async () => folderReader(folder) },
    fileList: "known",
  };
}

/** The same answers to other cases (or to corrected ones). */
export function withDataset(cell: StoredCell, dataset: Dataset, bad: readonly LeftOut[]): StoredCell {
  const ids = new Set(dataset.cases.map(({ id }) => id));
  const strangers = [...new Set(cell.answers.map(({ id }) => id))].filter((id) => !ids.has(id));
  return {
    ...cell,
    cases: dataset.cases,
    header: dataset.header,
    facts: {
      ...cell.facts,
      dataset: datasetFacts(dataset),
      order: dataset.cases.map(({ id }) => id),
      left_out: [...cell.facts.left_out, ...bad, ...leftOut("answers to cases that the data set does not have", strangers)],
    },
    before: null,
  };
}
