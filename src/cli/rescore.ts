/**
 * `bench rescore RUN --rules RULES`: old answers, new rules, and the paired difference that the rules made. Asks nobody anything: a run's
 * answers, cases and file lists are in the cache (or in an imported bundle), and where they are gone its reports still have the answers.
 */
import { join, relative, resolve } from "node:path";
import { canonicalJson, digestJson } from "../base/json.js";
import { writeAtomically } from "../engine/record.js";
import type { RuleSet } from "../matching/contract.js";
import { builtInRules, rulesFromParts } from "../matching/rules.js";
import type { Measure } from "../measures/contract.js";
import { fileStem } from "../report/labels.js";
import { type DifferenceText, markdownDifference, renderDifference } from "../report/rule-difference.js";
import type { ScoredCase } from "../scoring/contract.js";
import { type RuleDifference, ruleDifference, type Scored } from "../scoring/rule-difference.js";
import { rulesFacts } from "../scoring/score-answers.js";
import { answerItemId } from "../stages/answer-meta.js";
import { DEFAULT_MEASURES } from "../stages/measures.js";
import { type Command, EXIT, type Io, UsageError } from "./contract.js";
import { flag } from "./options.js";
import { scoredFiles, summarisedCell } from "./scored-files.js";
import {
  bootstrapOf,
  corpusOf,
  datasetOf,
  measuresOf,
  type Options,
  rulesNamed,
  text,
  withCorpus,
  withDataset,
} from "./scoring-options.js";
import { listLost, type StoredCell, type StoredScores, scoreCell } from "./stored-cell.js";
import { locateRun, openStoredRun, runsFolder, type StoredRun } from "./stored-run.js";

export const command: Command = {
  usage: "rescore <run>",
  summary: "Score the answers of a run again by other rules, and show what the rules changed; asks nothing",
  options: [
    { flag: "--rules <rules>", description: "strict, lenient, seed, or a YAML file (required)" },
    { flag: "--from <rules>", description: "Compare with these rules instead of those of the run" },
    { flag: "--measures <names>", description: "Measures, separated by commas (default: those of the run)" },
    { flag: "--corpus <dir>", description: "Source tree of the questions, where the cache no longer has its list of files" },
    { flag: "--dataset <file>", description: "Data set of an original report; the report's own truth by default" },
    { flag: "--samples <n>", description: "Bootstrap resamples (default: as the run)" },
    { flag: "--seed <n>", description: "Bootstrap seed (default: as the run)" },
    { flag: "--out <folder>", description: "Where to write (default: rescored/<rules> in the run's folder)" },
    { flag: "--runs <folder>", description: "Where runs are (default evaluation_results)" },
    { flag: "--cache <folder>", description: "The cache (default cache)" },
    { flag: "--json", description: "One JSON value on stdout" },
  ],
  examples: ["bench rescore latest --rules lenient", "bench rescore latest:bm25 --rules my-rules.yaml --json"],
  run: async ([run], options, io) => {
    if (run === undefined) throw new UsageError("which run? bench rescore RUN --rules RULES");
    const named = text(options, "rules");
    if (named === undefined) throw new UsageError("which rules? give --rules strict, lenient, seed or a YAML file");
    const rules = await rulesNamed(named, io);
    const from = text(options, "from");
    const given = from === undefined ? null : await rulesNamed(from, io);
    const stored = await openStoredRun(await locateRun(run, runsFolder(options, io), io.cwd), options, io);
    try {
      return await rescore(stored, rules, given, options, io);
    } finally {
      await stored.close();
    }
  },
};

interface Rescored {
  readonly label: string;
  readonly before: Scored;
  readonly after: Scored;
  readonly measures: readonly Measure[];
  readonly difference: RuleDifference;
  readonly shown: DifferenceText;
  readonly notes: readonly string[];
}

async function rescore(stored: StoredRun, rules: RuleSet, from: RuleSet | null, options: Options, io: Io): Promise<number> {
  const cells: Rescored[] = [];
  for (const cell of stored.cells) {
    io.interrupted.throwIfAborted();
    const whole = await completed(cell, rules, options, io);
    const rescored = await rescoreCell(whole, rules, from, options);
    cells.push({ ...rescored, notes: [...rescored.notes, ...listLost([whole])] });
  }
  // Each choice has its own folder: a second look must not overwrite the first one's difference.
  const parts = [
    fileStem(rules.name),
    rulesFacts(rules).digest.slice(0, 8),
    ...(stored.label === null ? [] : [fileStem(stored.label)]),
  ];
  const rulesName = [...parts, ...(from === null ? [] : ["from", fileStem(from.name)])].join("-");
  const out = text(options, "out");
  const folder = out === undefined ? join(stored.folder, "rescored", rulesName) : resolve(io.cwd, out);
  const files = filesOf(stored, cells, options);
  for (const { name, text: content } of files) await writeAtomically(join(folder, name), content);

  const notes = [...new Set([...stored.notes, ...cells.flatMap((cell) => cell.notes)])];
  for (const note of notes) io.stderr(`note: ${note}\n`);
  const reports = files.map(({ name }) => relative(io.cwd, join(folder, name)));
  if (flag(options, "json")) io.stdout(`${JSON.stringify({ ...jsonOf(stored, cells, notes), reports }, null, 2)}\n`);
  else {
    io.stdout(cells.map(({ shown }) => renderDifference(shown)).join("\n"));
    io.stderr(`${reports.map((path) => `  ${path}\n`).join("")}`);
  }
  return EXIT.done;
}

/** The cell with what the command line adds to it; refuses what would give wrong numbers. */
async function completed(cell: StoredCell, rules: RuleSet, options: Options, io: Io): Promise<StoredCell> {
  let one = cell;
  const dataset = text(options, "dataset");
  if (dataset !== undefined) {
    if (one.before !== null) {
      throw new UsageError("rescore compares rules on the run's own data set; for another one: bench score RUN --dataset FILE");
    }
    const given = await datasetOf(dataset, io);
    one = withDataset(one, given.dataset, given.bad);
  }
  const corpus = await corpusOf(options, rules.engine === "seed", io);
  if (corpus !== null) {
    if (one.before !== null && one.fileList !== "lost") {
      throw new UsageError("rescore compares rules on the run's own tree; for another one: bench score RUN --corpus DIR");
    }
    const had = new Set((await one.before?.load())?.cases.flatMap(({ targets }) => targets));
    const missing = [...had].filter((path) => corpus.files.spelling(path) === undefined);
    if (missing.length > 0) {
      throw new UsageError(
        `--corpus is not the tree of the run: it lacks ${missing.length} targets that the run's tree had, such as ${missing[0]}`,
      );
    }
    one = withCorpus(one, corpus);
  }
  if (one.fileList === "lost" && rules.engine === "ladder" && rules.rungs.some((rung) => rung !== "path")) {
    throw new UsageError(
      `the rules ${rules.name} look names up in the list of the tree's files, which a report does not have: give the tree with --corpus DIR, or the cache of the run with --cache`,
    );
  }
  return one;
}

async function rescoreCell(cell: StoredCell, rules: RuleSet, from: RuleSet | null, options: Options): Promise<Rescored> {
  const measures = measuresOf(options, cell.before?.meta.measures ?? DEFAULT_MEASURES);
  const bootstrap = bootstrapOf(options, cell.bootstrap);
  const { before, notes } = await beforeOf(cell, from, measures);
  const after = await scoreCell(cell, rules, measures);
  const difference = ruleDifference(before, after, measures, bootstrap);
  const shown = { label: cell.label, before: before.meta.rules.name, after: rules.name, difference, bootstrap };
  return { label: cell.label, before, after, measures, difference, shown, notes };
}

/**
 * The scores to compare with. The run's own rules are applied anew wherever they are known in full: then both sides are read by the same
 * program, and what it reads otherwise than the one that wrote the run is told apart from what the rules do.
 */
async function beforeOf(
  cell: StoredCell,
  from: RuleSet | null,
  measures: readonly Measure[],
): Promise<{ readonly before: Scored; readonly notes: readonly string[] }> {
  if (from !== null) return { before: await scoreCell(cell, from, measures), notes: [] };
  const stored = cell.before;
  if (stored === null) {
    const assumed = cell.facts.kind === null ? builtInRules.seed : builtInRules.strict;
    const notes = [`Nothing had scored these answers: they are compared with the rules ${assumed.name} (--from names others).`];
    return { before: await scoreCell(cell, assumed, measures), notes };
  }
  const rules = rulesFromParts(stored.meta.rules.definition);
  if (rules === null || cell.fileList === "lost") {
    const unknown = measures.filter(({ name }) => !stored.meta.measures.includes(name)).map(({ name }) => name);
    if (unknown.length > 0) {
      throw new UsageError(
        `the run has no scores of ${unknown.join(", ")}, and its own rules can't be applied again: leave them out`,
      );
    }
    return { before: await stored.load(), notes: [] };
  }
  const anew = await scoreCell(cell, rules, measures);
  const differing = await differingCases(stored, anew, measures);
  if (differing === 0) return { before: anew, notes: [] };
  return {
    before: anew,
    notes: [
      `${cell.label}: this version scores ${differing} of ${anew.cases.length} answers otherwise than the run did with its own rules. Both sides of the comparison are by this version, so the difference is the rules'.`,
    ],
  };
}

/** How many answers score otherwise than they are stored: by digest at first, then by what decides a figure. */
async function differingCases(stored: StoredScores, anew: Scored, measures: readonly Measure[]): Promise<number> {
  const { digests } = stored;
  const isSame = (scored: ScoredCase) => {
    const digest = scored.status === "unasked" ? null : digests?.get(answerItemId(scored.id, scored.repeat));
    return digest === null || digest === digestJson(scored);
  };
  if (digests !== null && anew.cases.every(isSame)) return 0;
  const names = measures.map(({ name }) => name).filter((name) => stored.meta.measures.includes(name));
  const figures = ({ cases }: Scored) =>
    cases.map(({ counts, measures: values, outcome, predictions }) =>
      canonicalJson([
        counts,
        names.map((name) => values[name] ?? null),
        outcome,
        predictions.map(({ path, target }) => [path, target]),
      ]),
    );
  const [old, now] = [figures(await stored.load()), figures(anew)];
  return Math.max(old.length, now.length) - old.filter((one, index) => one === now[index]).length;
}

function filesOf(stored: StoredRun, cells: readonly Rescored[], options: Options): { name: string; text: string }[] {
  const bootstrapped = cells.map(({ label, after, measures }, index) =>
    summarisedCell(label, after, measures, bootstrapOf(options, stored.cells[index]?.bootstrap)),
  );
  const measures = new Map(cells.flatMap((cell) => cell.measures.map((measure) => [measure.name, measure] as const)));
  const difference = { run: stored.id, cells: cells.map(differenceJson) };
  return [
    ...scoredFiles(bootstrapped, [...measures.values()]),
    { name: "difference.json", text: `${JSON.stringify(difference, null, 2)}\n` },
    {
      name: "difference.md",
      text: markdownDifference(
        cells.map(({ shown }) => shown),
        { run: stored.id },
      ),
    },
  ];
}

function differenceJson({ label, before, after, difference, shown }: Rescored) {
  const { only_before, only_after, n, measures, cases } = difference;
  const changed = (change: string) => cases.filter((one) => one.change === change);
  return {
    label,
    rules: { before: before.meta.rules, after: after.meta.rules },
    bootstrap: shown.bootstrap,
    ...{ n, only_before, only_after, measures },
    gained: changed("gained"),
    lost: changed("lost"),
    other: changed("other"),
  };
}

function jsonOf(stored: StoredRun, cells: readonly Rescored[], notes: readonly string[]) {
  return { run: stored.id, source: stored.source, cells: cells.map(differenceJson), notes };
}
