/**
 * What a TypeScript program does with bench: score answers that it has, compare what was scored, run a pipeline. Data in, data out: nothing is printed,
 * mistakes of the caller are results and not exceptions.
 */
import { readAnswers } from "./answers/file.js";
import type { Answer } from "./answers/schema.js";
import { renderDiagnostic } from "./base/diagnostics.js";
import { err, ok, type Result } from "./base/result.js";
import type { Io, OptionValue } from "./cli/contract.js";
import { readDataset } from "./dataset/read.js";
import type { Dataset } from "./dataset/schema.js";
import type { RuleSet } from "./matching/contract.js";
import { builtInRules } from "./matching/rules.js";
import { parseRules } from "./matching/rules-file.js";
import type { Measure } from "./measures/contract.js";
import { parseMeasures } from "./measures/registry.js";
import { type CompareSettings, type Comparison, compareRuns, DEFAULT_COMPARE } from "./scoring/compare.js";
import type { ScoredCase, ScoreMeta } from "./scoring/contract.js";
import { scoreAnswers } from "./scoring/score-answers.js";
import { needsContents } from "./scoring/score-case.js";
import { summarise } from "./scoring/summary.js";
import type { Summary } from "./scoring/summary-schema.js";
import { corpusFiles } from "./scoring/truth.js";

const USUAL_MEASURES = ["P", "R", "F1", "Hit@1", "Hit@5", "R@10", "RR"];

export interface ScoreInput {
  /** Text of a file in any format that `import-dataset` reads, or a data set. */
  readonly dataset: string | Dataset;
  /** Text of an answers file (JSON Lines, TREC, LocAgent's output), or answers; of one system, several of one case being its repeats. */
  readonly answers: string | readonly Answer[];
  /** `strict`, `lenient`, `seed`, or the text of a rules file. Default: strict. */
  readonly rules?: string;
  /** Names of measures, such as `nDCG@10`. Those that read the contents of files need a pipeline. */
  readonly measures?: readonly string[];
  /** Paths of the source tree's files: names are resolved among them, and targets that it lacks are not counted. */
  readonly files?: readonly string[];
  /** What the system is called. Default: unnamed. */
  readonly backend?: string;
}

export interface Scored {
  /** The figures of the report's JSON, without intervals (`compare` has those of differences). */
  readonly summary: Summary;
  readonly cases: readonly ScoredCase[];
  readonly meta: ScoreMeta;
  /** Records that could not be used, in sentences. */
  readonly bad: readonly string[];
}

/** Answers against a data set's truth. Pure; the error says what can't be used, and where. */
export function score({
  dataset,
  answers,
  rules = "strict",
  measures = USUAL_MEASURES,
  files,
  backend = "unnamed",
}: ScoreInput): Result<Scored, string> {
  const bad: string[] = [];
  const data = typeof dataset === "string" ? readText(dataset, bad) : ok(dataset);
  if (!data.ok) return data;
  const ruleSet = rulesOf(rules);
  if (!ruleSet.ok) return ruleSet;
  const chosen = measuresOf(measures);
  if (!chosen.ok) return chosen;
  const contents = chosen.value.filter((one) => needsContents([one])).map(({ name }) => name);
  if (contents.length > 0) return err(`${contents.join(", ")} read the contents of files: score them in a pipeline`);
  let given: readonly Answer[];
  if (typeof answers === "string") {
    const read = readAnswers(answers, { file: "answers", caseIds: data.value.cases.map(({ id }) => id), unnamed: backend });
    for (const { line, what } of read.bad) bad.push(`answers, line ${line}: ${what}`);
    given = read.answers;
  } else given = answers;
  const corpus = files === undefined ? null : corpusFiles({ paths: [...files], roots: [] });
  const facts = files === undefined ? null : { digest: "", source: "files", revision: null, files: files.length, trees: 1 };
  const { meta, cases } = scoreAnswers({
    ...{ dataset: data.value, answers: given, corpus: facts, onlyAnswered: false, leftOut: [], warnings: [] },
    settings: { rules: ruleSet.value, measures: chosen.value, corpus, backend },
  });
  return ok({ summary: summarise(cases, meta, chosen.value, null), cases, meta, bad });
}

/**
 * Two or more scored systems on the same cases: intervals of the paired differences, tests, Holm, the cases behind them (second minus first). The
 * error says why they can't be compared.
 */
export function compare(
  runs: Readonly<Record<string, Pick<Scored, "meta" | "cases">>>,
  { common, ...settings }: Partial<CompareSettings> & { readonly common?: boolean } = {},
): Result<Comparison, string> {
  const sides = Object.entries(runs).map(([label, { meta, cases }]) => ({ label, meta, cases }));
  const [first] = sides;
  if (first === undefined || sides.length < 2) return err("a comparison needs two runs at least");
  const shared = first.meta.measures.filter((name) => sides.every(({ meta }) => meta.measures.includes(name)));
  const measures = measuresOf(shared);
  if (!measures.ok) return measures;
  return compareRuns(sides, measures.value, { ...DEFAULT_COMPARE, ...settings }, common === undefined ? {} : { common });
}

export interface PipelineOptions {
  /** Folder that a relative path starts from. Default: the process's. */
  readonly cwd?: string;
  /** Variables of the environment. Default: the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Options of `bench run` by name: `{ set: ["rules=lenient"], offline: true, items: "a#1" }`. */
  readonly options?: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly signal?: AbortSignal;
  /** What the terminal would show. */
  readonly onText?: (text: string) => void;
}

export interface PipelineEnd {
  /** 0 done, 1 something failed, 2 the pipeline has mistakes, 3 a gate was missed, 75 stopped and resumable, 130 interrupted. */
  readonly exit: number;
  /** What `bench run --json` prints; null where nothing was run. */
  readonly result: {
    readonly run_id: string;
    readonly state: string;
    readonly counts: Readonly<Record<string, number>>;
    readonly reports: readonly string[];
    readonly warnings: readonly string[];
    readonly summary: Readonly<Record<string, Summary>>;
  } | null;
  /** What was said beside the result: progress, warnings, mistakes with line and column. */
  readonly text: string;
}

/** `bench run FILE --json`, in this process: same cache, same results, resumable by either. */
export async function runPipeline(
  file: string,
  { cwd = process.cwd(), env = process.env, options = {}, signal, onText }: PipelineOptions = {},
): Promise<PipelineEnd> {
  const { command } = await import("./cli/run.js");
  const { UsageError, EXIT } = await import("./cli/contract.js");
  const out: string[] = [];
  const said: string[] = [];
  const io: Io = {
    stdout: (text) => void out.push(text),
    stderr: (text) => {
      said.push(text);
      onText?.(text);
    },
    env,
    cwd,
    terminal: { isTTY: false, columns: 100, colour: false },
    interrupted: signal ?? new AbortController().signal,
  };
  const typed: Record<string, OptionValue> = { ...options, json: true };
  let exit: number;
  try {
    exit = await command.run([file], typed, io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr(`${error.message}\n`);
    exit = EXIT.usage;
  }
  const text = out.join("");
  return { exit, result: text === "" ? null : (JSON.parse(text) as NonNullable<PipelineEnd["result"]>), text: said.join("") };
}

function readText(text: string, bad: string[]): Result<Dataset, string> {
  const read = readDataset(text, "dataset");
  if (!read.ok) return err(renderDiagnostic(read.error));
  for (const { record, what } of read.value.bad) bad.push(`data set, record ${record}: ${what}`);
  return ok(read.value.dataset);
}

function rulesOf(rules: string): Result<RuleSet, string> {
  if (Object.hasOwn(builtInRules, rules)) return ok(builtInRules[rules as keyof typeof builtInRules]);
  if (!rules.includes("\n") && !rules.includes(":"))
    return err(`there are no rules ${JSON.stringify(rules)}: strict, lenient, seed, or the text of a rules file`);
  const parsed = parseRules(rules, "rules");
  return parsed.ok ? parsed : err(parsed.error.map(renderDiagnostic).join("\n"));
}

function measuresOf(names: readonly string[]): Result<Measure[], string> {
  const parsed = parseMeasures([...names]);
  if (parsed.ok) return parsed;
  return err(
    parsed.error.map(({ message, suggestion }) => (suggestion === undefined ? message : `${message}; ${suggestion}`)).join("\n"),
  );
}
