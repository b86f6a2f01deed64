/**
 * The report of a run for people: figures with their intervals, baselines beside each backend, what became of every case, the
 * strata apart, what the corpus lacks, what was left out, and how all of it was made. Everything that strangers wrote is escaped.
 */
import { canonicalJson } from "../base/json.js";
import type { MeasureSummary, ViewSummary } from "../scoring/summary-schema.js";
import { datasetSection } from "./dataset-section.js";
import { effortSection } from "./effort.js";
import { fenced, markdownTable, markdownText } from "./escape.js";
import type { Cell, ReportFacts } from "./json.js";
import { absentTargets, failures, leftOut } from "./markdown-lists.js";
import { count, grouped, percent, plural, range, ratio } from "./numbers.js";

/** Kinds that need no system under test; they say what a figure is worth. */
export const BASELINES: ReadonlySet<string> = new Set(["bm25", "random", "popularity", "names"]);
export const SELF_TESTS: ReadonlySet<string> = new Set(["oracle", "empty"]);

/** `definitions`: what each measure is, by name, for the reader who wants to know. */
export function markdownReport(
  cells: readonly Cell[],
  facts: ReportFacts & { readonly definitions: ReadonlyMap<string, string> },
): string {
  const ordered = inReadingOrder(cells);
  // What a self-test scores says nothing of the data set.
  const systems = ordered.filter(({ meta }) => !SELF_TESTS.has(meta.kind ?? ""));
  const sections = [
    heading(ordered, facts),
    figures(ordered),
    pooled(ordered),
    datasetSection(systems.length > 0 ? systems : ordered),
    outcomes(ordered),
    rungs(ordered),
    effort(ordered),
    strata(ordered),
    allTargets(ordered),
    absentTargets(ordered),
    failures(ordered),
    leftOut(ordered),
    provenance(ordered, facts.definitions),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

/** Systems first, then the baselines they are read against, then self-tests; within each, the order of the pipeline. */
function inReadingOrder(cells: readonly Cell[]): Cell[] {
  const rank = ({ meta }: Cell) => (BASELINES.has(meta.kind ?? "") ? 1 : SELF_TESTS.has(meta.kind ?? "") ? 2 : 0);
  return [...cells].sort((a, b) => rank(a) - rank(b));
}

function nameOf({ label, meta }: Cell, several: boolean): string {
  const kind = meta.kind ?? "";
  const role = BASELINES.has(kind) ? " (baseline)" : SELF_TESTS.has(kind) ? " (self-test)" : "";
  return `${markdownText(label)}${role}${several ? `, ${markdownText(meta.rules.name)}` : ""}`;
}

/** Several rule sets in one report: each row says which it is. */
function names(cells: readonly Cell[]): (cell: Cell) => string {
  const several = new Set(cells.map(({ meta }) => meta.rules.name)).size > 1;
  return (cell) => nameOf(cell, several);
}

function heading(cells: readonly Cell[], facts: ReportFacts): string {
  const projects = [...new Set(cells.map(({ meta }) => meta.dataset.project_name))];
  const lines = [`# ${projects.map((project) => markdownText(project)).join(", ")}`];
  for (const { dataset, cases, without } of distinctDatasets(cells)) {
    const scored = cases === dataset.cases ? "" : ` of ${dataset.cases}`;
    const links = dataset.links === null ? "" : `; links: ${markdownText(dataset.links)}`;
    lines.push(
      `${markdownText(dataset.project_name)}: ${plural(cases, "case")}${scored}${links}; ` +
        `${plural(cases - without, "case")} with a target that counts, ${without} without one (shown, not scored).`,
    );
  }
  const versions = Object.entries(facts.versions ?? {}).map(([program, version]) => markdownText(`${program} ${version}`));
  const by = versions.length === 0 ? "" : ` by ${versions.join(", ")}`;
  if (facts.generatedAt !== null) lines.push(`Made at ${markdownText(facts.generatedAt)}${by}.`);
  if (cells.some(({ meta }) => meta.corpus === null)) {
    lines.push("Without a corpus only the path rung matches, against the targets alone.");
  }
  return lines.join("\n\n");
}

function distinctDatasets(cells: readonly Cell[]) {
  const seen = new Map<string, { dataset: Cell["meta"]["dataset"]; cases: number; without: number }>();
  for (const { meta, summary } of cells) {
    const key = JSON.stringify([meta.dataset.digest, meta.dataset.selected, summary.without_target]);
    if (!seen.has(key)) seen.set(key, { dataset: meta.dataset, cases: meta.dataset.selected, without: summary.without_target });
  }
  return [...seen.values()];
}

function measureNames(cells: readonly Cell[]): string[] {
  return [...new Set(cells.flatMap(({ summary }) => Object.keys(summary.measures)))];
}

function withRange(measure: MeasureSummary | undefined): string {
  const bounds = range(measure);
  return bounds === "" ? ratio(measure?.value) : `${ratio(measure?.value)} (${bounds})`;
}

function figures(cells: readonly Cell[]): string {
  const measures = measureNames(cells);
  const name = names(cells);
  const rows = cells.flatMap((cell) => {
    const { summary } = cell;
    const own = [name(cell), String(summary.n), ...measures.map((measure) => withRange(summary.measures[measure]))];
    const extra: string[][] = [];
    if (summary.without_failed !== null) {
      const { n, measures: values } = summary.without_failed;
      extra.push([`${name(cell)}, without failed`, String(n), ...measures.map((measure) => withRange(values[measure]))]);
    }
    if (summary.expectation !== null) {
      const { expectation, n } = summary;
      extra.push([`${name(cell)}, expected`, String(n), ...measures.map((measure) => ratio(expectation[measure]))]);
    }
    return [own, ...extra];
  });
  const notes = [
    ...intervalNote(cells),
    ...insteadNote(cells),
    ...(cells.some(({ summary }) => summary.expectation !== null)
      ? ['"Expected" is the closed-form expectation of a uniformly random ranking, beside the mean over the draws.']
      : []),
    ...undefinedNote(cells),
    ...judgementNote(cells),
  ];
  return ["## Figures", markdownTable(["backend", "n", ...measures.map((text) => markdownText(text))], rows), ...notes].join(
    "\n\n",
  );
}

function intervalNote(cells: readonly Cell[]): string[] {
  const kinds = new Set(cells.map(({ summary }) => canonicalJson(summary.bootstrap)));
  const settings = cells[0]?.summary.bootstrap;
  if (kinds.size !== 1 || settings == null) return [];
  return [
    `In brackets: ${percent(settings.level)} intervals, ${settings.method === "bca" ? "BCa" : settings.method} bootstrap over ${drawn(settings)}, ${plural(settings.samples, "resample")}, ` +
      `seed ${settings.seed}, type 7 quantiles. They say how much the figure depends on which cases were chosen, not how much a model's answers vary.`,
  ];
}

function drawn({ cluster, answers }: { readonly cluster?: string | undefined; readonly answers?: boolean | undefined }): string {
  const units =
    cluster === undefined ? "cases" : cluster === "repository" ? "repositories" : "clusters of cases that share a pull request";
  return answers === true ? `${units} and the answers within cases` : units;
}

/** Where a method could not be used, the bounds are percentile ones, and the reader is told. */
function insteadNote(cells: readonly Cell[]): string[] {
  const lines = cells.flatMap(({ label, summary }) => {
    const fallen = Object.entries(summary.measures).filter(([, { instead }]) => instead !== undefined);
    return fallen.length === 0 ? [] : [[markdownText(label), fallen.map(([name]) => markdownText(name)).join(", ")] as const];
  });
  if (lines.length === 0) return [];
  return [`Percentile bounds stand in where all cases or all resamples agree, so that BCa is undefined: ${perBackend(lines)}.`];
}

/** Measures for truth with holes say nothing of their own until somebody has judged what the truth leaves open. */
function judgementNote(cells: readonly Cell[]): string[] {
  const names = measureNames(cells);
  const same = [
    ...(names.includes("Bpref") ? ["Bpref equals R"] : []),
    ...(names.includes("InfAP") ? ["InfAP equals AP"] : []),
    ...(names.some((name) => name.startsWith("Judged@")) ? ["Judged@k equals P@k"] : []),
  ];
  const given = cells.find(({ meta }) => meta.judgements !== undefined)?.meta.judgements;
  if (given !== undefined) {
    return [`Judged by people beside the truth: ${given.relevant} right, ${given.nonrelevant} wrong, ${given.open} left open.`];
  }
  return same.length === 0
    ? []
    : [`Nobody judged anything beside the truth, so ${same.join(", ")} (bench pool collects what to judge).`];
}

function undefinedNote(cells: readonly Cell[]): string[] {
  const lines = cells.flatMap(({ label, summary }) => {
    const undefined_ = Object.entries(summary.measures).filter(([, measure]) => measure.undefined > 0);
    if (undefined_.length === 0) return [];
    const counts = undefined_.map(([name, measure]) => `${markdownText(name)} ${measure.undefined}`);
    return [[markdownText(label), counts.join(", ")] as const];
  });
  return lines.length === 0 ? [] : [`Cases where a measure is undefined (0/0, counted as 0): ${perBackend(lines)}.`];
}

/** `bm25, names: P 3; random: P 1`. */
function perBackend(lines: readonly (readonly [name: string, text: string])[]): string {
  return grouped(lines)
    .map(({ names: backends, text }) => `${backends}: ${text}`)
    .join("; ");
}

function pooled(cells: readonly Cell[]): string {
  const name = names(cells);
  const rows = cells.map((cell) => {
    const { micro, confidence_interval_95: interval } = cell.summary;
    const figure = (ratioName: "precision" | "recall" | "f1") =>
      withRange({ value: micro[ratioName], ...(interval?.micro[ratioName] ?? { lower: null, upper: null }), n: 0, undefined: 0 });
    const counts = [micro.true_positives, micro.false_positives, micro.false_negatives].map(count);
    return [name(cell), ...counts, figure("precision"), figure("recall"), figure("f1")];
  });
  return [
    "## Pooled counts (micro)",
    markdownTable(["backend", "hits", "false", "missed", "precision", "recall", "F1"], rows),
    "A case with many targets weighs more here than one with a single target.",
  ].join("\n\n");
}

function outcomes(cells: readonly Cell[]): string {
  const name = names(cells);
  const all = [...new Set(cells.flatMap(({ summary }) => Object.keys(summary.outcomes)))];
  const always = new Set(["answered", "abstained", "failed"]);
  const shown = all.filter((outcome) => always.has(outcome) || cells.some(({ summary }) => (summary.outcomes[outcome] ?? 0) > 0));
  const rows = cells.map((cell) => [
    name(cell),
    String(cell.summary.n),
    ...shown.map((outcome) => String(cell.summary.outcomes[outcome] ?? 0)),
    String(cell.summary.left_out),
  ]);
  const repeats = cells.some(({ summary }) => summary.repeats > 1)
    ? " Outcomes count answers, of which a case may have several."
    : "";
  return [
    "## Outcomes",
    markdownTable(["backend", "n", ...shown.map((outcome) => outcome.replaceAll("_", " ")), "records left out"], rows),
    `What has no predictions scores zero, whatever the reason.${originalNote(cells)}${repeats}`,
  ].join("\n\n");
}

/** How the text was read and matched: figures that rest on guessed names deserve another look than those that rest on paths. */
function rungs(cells: readonly Cell[]): string {
  const read = cells.filter(({ summary }) => Object.keys(summary.read_by).length > 0);
  if (read.length === 0) return "";
  const name = names(cells);
  const counts = (of: Readonly<Record<string, number>>) =>
    Object.entries(of)
      .sort(([, a], [, b]) => b - a)
      .map(([rung, n]) => `${markdownText(rung)} ${n}`)
      .join(", ");
  const rows = read.map((cell) => {
    const { read_by, matched_by, ambiguous, duplicates } = cell.summary;
    return [name(cell), counts(read_by), counts(matched_by), count(ambiguous), count(duplicates)];
  });
  return [
    "## Predictions",
    markdownTable(["backend", "read as", "matched by", "ambiguous", "duplicates"], rows, 3),
    "An ambiguous name counts as a false prediction; a repeated file counts once.",
  ].join("\n\n");
}

function effort(cells: readonly Cell[]): string {
  const name = names(cells);
  return effortSection(cells.map((cell) => ({ name: name(cell), cases: cell.cases })));
}

function originalNote(cells: readonly Cell[]): string {
  const seed = cells.some(({ meta }) => meta.rules.engine === "seed")
    ? " With the rules `seed`, failed and unasked cases are left out instead, as the original program does."
    : "";
  const own = cells.filter(
    ({ meta, summary }) => meta.rules.engine !== "seed" && Object.keys(summary.left_out_by_rules).length > 0,
  );
  const name = names(cells);
  const lists = own.map((cell) => {
    const outcomes = Object.entries(cell.summary.left_out_by_rules).map(([outcome, n]) => `${n} ${outcome.replaceAll("_", " ")}`);
    return [name(cell), outcomes.join(", ")] as const;
  });
  return lists.length === 0 ? seed : `${seed} The rules leave these cases out instead: ${perBackend(lists)}.`;
}

/** Fewer cases than this say next to nothing: the interval of a share of 9 cases spans half of what is possible. */
const FEW = 10;

/** Each stratum apart; where all cases are in one, its table would be that of the figures again. */
function strata(cells: readonly Cell[]): string {
  const strataNames = [...new Set(cells.flatMap(({ summary }) => Object.keys(summary.strata)))];
  const measures = measureNames(cells);
  const name = names(cells);
  return strataNames
    .map((stratum) => {
      const values = [...new Set(cells.flatMap(({ summary }) => Object.keys(summary.strata[stratum] ?? {})))];
      if (values.length < 2) return "";
      const few = cells.some(({ summary }) => Object.values(summary.strata[stratum] ?? {}).some(({ n }) => n < FEW));
      const rows = values.flatMap((value) =>
        cells.flatMap((cell) => {
          const view: ViewSummary | undefined = cell.summary.strata[stratum]?.[value];
          if (view === undefined) return [];
          const figures = measures.map((measure) => withRange(view.measures[measure]));
          return [[markdownText(value), name(cell), view.n < FEW ? `${view.n} †` : String(view.n), ...figures]];
        }),
      );
      const header = [markdownText(stratum), "backend", "n", ...measures.map((text) => markdownText(text))];
      const mark = few ? `\n\n† n < ${FEW}: read with care.` : "";
      return `## By ${markdownText(stratum)}\n\n${markdownTable(header, rows, 2)}${mark}`;
    })
    .filter((table) => table !== "")
    .join("\n\n");
}

/** Only where it differs from the headline: some target is absent from the corpus. */
function allTargets(cells: readonly Cell[]): string {
  const concerned = cells.filter(({ summary }) => summary.absent_targets > 0);
  if (concerned.length === 0) return "";
  const measures = measureNames(concerned);
  const name = names(cells);
  const rows = concerned.map((cell) => {
    const { n, measures: values } = cell.summary.all_targets;
    return [name(cell), String(n), ...measures.map((measure) => withRange(values[measure]))];
  });
  return [
    "## Against all targets",
    markdownTable(["backend", "n", ...measures.map((text) => markdownText(text))], rows),
    "Targets that the corpus lacks count here as missed unless an answer names their path.",
  ].join("\n\n");
}

/** What is the same in all cells is told once. */
function provenance(cells: readonly Cell[], definitions: ReadonlyMap<string, string>): string {
  const facts = cells.map(({ label, meta, summary }) => {
    const { project_name, digest, url } = meta.dataset;
    const shared = {
      rules: meta.rules,
      dataset: { project_name, digest, url },
      corpus: meta.corpus,
      bootstrap: summary.bootstrap,
    };
    const own = {
      backend: { name: meta.backend, kind: meta.kind, identity: meta.identity ?? null },
      seconds: rounded(summary.seconds),
      cost_usd: rounded(summary.cost_usd),
    };
    return { label, shared, own };
  });
  const same = new Set(facts.map(({ shared }) => canonicalJson(shared))).size === 1;
  const block = (title: string, value: unknown) =>
    `### ${markdownText(title)}\n\n${fenced(JSON.stringify(value, null, 2), "json")}`;
  const first = facts[0];
  const measures = measureNames(cells).flatMap((name) => {
    const definition = definitions.get(name);
    return definition === undefined ? [] : [`- ${markdownText(name)}: ${markdownText(definition, 400)}`];
  });
  return [
    "## How it was made",
    ...(measures.length > 0 ? [measures.join("\n")] : []),
    ...(same && first !== undefined ? [block("all cells", first.shared)] : []),
    ...facts.map(({ label, shared, own }) => block(label, same ? own : { ...own, ...shared })),
  ].join("\n\n");
}

/** Totals in three digits after the point; the JSON has them in full. */
function rounded(sum: { readonly total: number; readonly answers: number } | null) {
  return sum === null ? null : { ...sum, total: Number(sum.total.toFixed(3)) };
}
