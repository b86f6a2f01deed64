/** `bench compare RUN_A RUN_B...`: paired comparison of stored runs; asks nothing and needs no cache. */
import { resolve } from "node:path";
import { writeAtomically } from "../engine/record.js";
import type { Measure } from "../measures/contract.js";
import { parseMeasures } from "../measures/registry.js";
import { comparisonHtml } from "../report/comparison-html.js";
import { comparisonMarkdown, renderComparison } from "../report/comparison-text.js";
import { latexComparison } from "../report/latex.js";
import type { Side } from "../scoring/align.js";
import { type CompareSettings, type Comparison, compareRuns, DEFAULT_COMPARE } from "../scoring/compare.js";
import { CLUSTERS } from "../scoring/design.js";
import { MOST_SAMPLES } from "../scoring/intervals.js";
import { COMPARE_STREAM } from "../scoring/paired.js";
import { INTERVAL_METHODS } from "../statistics/interval-methods.js";
import { type Command, EXIT, type Io, type OptionValue, UsageError } from "./contract.js";
import { chosenMeasures } from "./inputs.js";
import { count, flag, text } from "./options.js";
import { readResamples, writeResamples } from "./resamples.js";
import { relabelled, shownLabels } from "./shown-labels.js";
import { appendStepSummary } from "./step-summary.js";
import { runsFolder } from "./stored-run.js";
import { type StoredRun, storedRun } from "./stored-runs.js";

const FORMATS = ["text", "json", "markdown", "latex", "html"] as const;

type Options = Readonly<Record<string, OptionValue>>;

export const command: Command = {
  usage: "compare <...runs>",
  summary: "Compare runs case by case: intervals of differences, tests, gains and losses",
  options: [
    { flag: "--measures <names>", description: "The declared family, separated by commas (default: all that the runs share)" },
    { flag: "--baseline <label>", description: "Compare only with this run, instead of every pair" },
    { flag: "--common", description: "Runs over different data sets: compare the cases that all of them have" },
    { flag: "--samples <n>", description: `Resamples and drawn sign patterns (default ${DEFAULT_COMPARE.samples})` },
    { flag: "--seed <n>", description: `Seed of the random numbers (default ${DEFAULT_COMPARE.seed})` },
    { flag: "--method <method>", description: `Interval: ${INTERVAL_METHODS.join(", ")} (default ${DEFAULT_COMPARE.method})` },
    {
      flag: "--cluster <unit>",
      description: "What is drawn: none (cases), repository, change (issues that share a pull request)",
    },
    { flag: "--alpha <p>", description: `Chance of a false claim in the whole family (default ${DEFAULT_COMPARE.alpha})` },
    { flag: "--resamples <file>", description: "Take these resamples: a JSON array of arrays of case indices" },
    { flag: "--export-resamples <file>", description: "Write the resamples that were drawn, for another program" },
    { flag: "--markdown <file>", description: "Also write the comparison as Markdown" },
    { flag: "--latex <file>", description: "Also write its table for LaTeX (package booktabs)" },
    {
      flag: "--label <label=name>",
      description: "What a run is called in the tables: latest:bm25=BM25, or by its label (repeatable)",
      repeated: true,
    },
    { flag: "--html <file>", description: "Also write it as a fragment of HTML that needs nothing else" },
    { flag: "--format <format>", description: `On stdout: ${FORMATS.join(", ")} (default text)` },
    { flag: "--runs <folder>", description: "Where runs are (default evaluation_results)" },
    { flag: "--cache <folder>", description: "The cache, for runs without JSON reports (default cache)" },
    { flag: "--json", description: "One JSON value on stdout, with the ids of all cases gained and lost" },
  ],
  examples: [
    "bench compare latest",
    "bench compare latest:bm25 latest:grep --measures F1,Hit@5",
    "bench compare old-report.json new-report.json --json",
  ],
  run: async (args, options, io) => {
    const format = formatOf(options);
    const out = runsFolder(options, io);
    const runs: StoredRun[] = [];
    for (const argument of args) runs.push(await storedRun(argument, { out, cwd: io.cwd, io, options }));
    const { sides, cells } = sidesOf(runs, args, shownLabels(options));
    if (sides.length < 2) {
      throw new UsageError(`${args.join(" ")} is a single cell; give another run to compare it with: bench compare RUN_A RUN_B`);
    }
    const measures = measuresFor(sides, options);
    const baseline = text(options, "baseline");
    if (baseline !== undefined && !sides.some(({ label }) => label === baseline)) {
      throw new UsageError(`--baseline ${baseline} is none of the runs: ${sides.map(({ label }) => label).join(", ")}`);
    }
    const sameCell = runs.length > 1 && runs.some(({ reports }) => reports.length > 1);
    const pair = (a: string, b: string): boolean => {
      if (baseline !== undefined) return a === baseline || b === baseline;
      return !sameCell || cells.get(a) === cells.get(b);
    };
    // The baseline is always the first of a pair, so that what is better than it gains.
    const ordered =
      baseline === undefined ? sides : [...sides].sort((a, b) => Number(b.label === baseline) - Number(a.label === baseline));
    const settings = settingsOf(options);
    const scope = { common: flag(options, "common"), pair };
    const given = text(options, "resamples");
    let compared = compareRuns(ordered, measures, given === undefined ? settings : { ...settings, samples: 1 }, scope);
    if (!compared.ok) throw new UsageError(compared.error);
    const units = compared.value.settings.clusters ?? compared.value.n;
    if (given !== undefined) {
      // How many indices a resample has is known only now.
      const matrix = await readResamples(given, io.cwd, units);
      compared = compareRuns(ordered, measures, settings, { ...scope, resamples: () => matrix });
      if (!compared.ok) throw new UsageError(compared.error);
    }
    const exported = text(options, "export-resamples");
    if (exported !== undefined) {
      if (given !== undefined)
        throw new UsageError("--export-resamples writes what was drawn, and --resamples says that nothing is");
      await writeResamples(exported, io.cwd, units, { samples: settings.samples, seed: settings.seed, stream: COMPARE_STREAM });
    }
    if (compared.value.family === 0) {
      throw new UsageError(
        `the runs have no cell of the same name: choose one of each with RUN:LABEL (${sides.map(({ label }) => label).join(", ")})`,
      );
    }
    const file = text(options, "markdown");
    if (file !== undefined) await writeAtomically(resolve(io.cwd, file), comparisonMarkdown(compared.value));
    const latex = text(options, "latex");
    if (latex !== undefined) await writeAtomically(resolve(io.cwd, latex), latexComparison(compared.value));
    const html = text(options, "html");
    if (html !== undefined) await writeAtomically(resolve(io.cwd, html), comparisonHtml(compared.value));
    await appendStepSummary(io, comparisonMarkdown(compared.value));
    io.stdout(rendered(compared.value, format, io));
    return EXIT.done;
  },
};

function formatOf(options: Options): (typeof FORMATS)[number] {
  const typed = text(options, "format");
  const format = flag(options, "json") ? "json" : FORMATS.find((known) => known === (typed ?? "text"));
  if (format === undefined) throw new UsageError(`--format ${typed}: choose ${FORMATS.join(", ")}`);
  return format;
}

function rendered(comparison: Comparison, format: (typeof FORMATS)[number], io: Io): string {
  switch (format) {
    case "json":
      return `${JSON.stringify(comparison, null, 2)}\n`;
    case "markdown":
      return comparisonMarkdown(comparison);
    case "latex":
      return latexComparison(comparison);
    case "html":
      return comparisonHtml(comparison);
    case "text":
      return renderComparison(comparison, { colour: io.terminal.colour });
  }
}

/** Labels as short as they can be and still differ; `cells`: the label within its own run. */
function sidesOf(
  runs: readonly StoredRun[],
  typed: readonly string[],
  names: ReadonlyMap<string, string>,
): { sides: Side[]; cells: ReadonlyMap<string, string> } {
  // A run of one cell goes by what was typed for it, too.
  const all = runs.flatMap(({ name, reports }, index) =>
    reports.map((report) => ({ name, report, typed: reports.length === 1 ? [typed[index] ?? ""] : [] })),
  );
  const plain = all.map(({ report }) => report.label);
  const unique = new Set(plain).size === plain.length;
  const cells = new Map<string, string>();
  const sides = all.map(({ name, report, typed: also }): Side & { readonly also: readonly string[] } => {
    const wanted = unique ? report.label : `${name}:${report.label}`;
    let label = wanted;
    // The same cell given twice is a fair question (it must differ in nothing).
    for (let number = 2; cells.has(label); number++) label = `${wanted} (${number})`;
    cells.set(label, report.label);
    return { label, meta: report.meta, cases: report.cases, also };
  });
  const shown = relabelled(sides, names, ({ also }) => also);
  const own = new Map(shown.map(({ label }, index) => [label, cells.get(sides[index]?.label ?? "") ?? label]));
  return { sides: shown, cells: own };
}

function measuresFor(sides: readonly Side[], options: Options): readonly Measure[] {
  if (text(options, "measures") !== undefined) return chosenMeasures(options, []);
  const [first, ...others] = sides;
  const shared = (first?.meta.measures ?? []).filter((name) => others.every(({ meta }) => meta.measures.includes(name)));
  const parsed = parseMeasures(shared.length > 0 ? shared : ["P", "R", "F1"]);
  if (!parsed.ok) throw new UsageError(parsed.error.map(({ message }) => message).join("\n"));
  return parsed.value;
}

function settingsOf(options: Options): CompareSettings {
  const choice = <T extends string>(name: string, known: readonly T[], fallback: T): T => {
    const typed = text(options, name);
    if (typed === undefined) return fallback;
    const found = known.find((one) => one === typed);
    if (found === undefined) throw new UsageError(`--${name} ${typed}: choose ${known.join(", ")}`);
    return found;
  };
  const alpha = Number(text(options, "alpha") ?? DEFAULT_COMPARE.alpha);
  if (!(alpha > 0 && alpha < 1))
    throw new UsageError(`--alpha ${text(options, "alpha")}: a number between 0 and 1, such as 0.05`);
  return {
    samples: count(options, "samples", 1, MOST_SAMPLES) ?? DEFAULT_COMPARE.samples,
    seed: count(options, "seed", 0) ?? DEFAULT_COMPARE.seed,
    method: choice("method", INTERVAL_METHODS, DEFAULT_COMPARE.method),
    cluster: choice("cluster", CLUSTERS, DEFAULT_COMPARE.cluster),
    alpha,
  };
}
