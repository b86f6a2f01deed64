/**
 * The table that a run or `bench score` ends with: aligned, as wide as the terminal at most, intervals under their values.
 *
 * No best value is marked: with the intervals of fifty cases the largest number is seldom the best system, and bold type would
 * say otherwise. Comparisons belong to a paired test.
 */
import { visible } from "../base/diagnostics.js";
import type { MeasureSummary, Summary, ViewSummary } from "../scoring/summary-schema.js";
import { grouped, percent, plural, range, ratio } from "./numbers.js";

export interface TableOptions {
  /** Width of the terminal. */
  readonly columns: number;
  readonly colour: boolean;
}

const NARROWEST = 40;
const GAP = 2;
const FAILURES = ["timed_out", "rate_limited", "failed", "skipped"] as const;
const FAILURES_AND_UNASKED: readonly string[] = [...FAILURES, "unasked"];

/** Lines end with a line break each; empty for no summary. Insertion order of `summaries` is the order of the rows. */
export function renderTable(summaries: Readonly<Record<string, Summary>>, options: TableOptions): string {
  const cells = Object.entries(summaries);
  if (cells.length === 0) return "";
  const width = Math.max(NARROWEST, options.columns);
  const dim = (text: string) => (options.colour && text !== "" ? `\u001b[2m${text}\u001b[22m` : text);
  const sections = [
    ...figures(cells, width, dim),
    ...outcomes(cells, width),
    notes(cells)
      .flatMap((note) => wrap(note, width))
      .join("\n"),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

interface Row {
  readonly label: string;
  readonly cells: readonly string[];
  readonly faint?: boolean;
}

function figures(cells: readonly (readonly [string, Summary])[], width: number, dim: (text: string) => string): string[] {
  const names = [...new Set(cells.flatMap(([, summary]) => summary.measure_order))];
  const rows = cells.flatMap(([label, summary]): Row[] => {
    const values = (measures: Readonly<Record<string, MeasureSummary>>) => names.map((name) => ratio(measures[name]?.value));
    const bounds = names.map((name) => range(summary.measures[name]));
    return [
      { label, cells: values(summary.measures) },
      ...(bounds.some((text) => text !== "") ? [{ label: "", cells: bounds, faint: true }] : []),
      ...(summary.without_failed === null
        ? []
        : [{ label: "  without failed", cells: values(summary.without_failed.measures), faint: true }]),
      ...(summary.expectation === null
        ? []
        : [{ label: "  expected", cells: names.map((name) => ratio(summary.expectation?.[name])), faint: true }]),
      // Of one system; of many, the report has the tables.
      ...(cells.length === 1 ? leakRows(summary, values) : []),
    ];
  });
  return blocks(names, rows, width, dim);
}

/** By what the texts give away, where they differ in it. */
function leakRows({ strata }: Summary, values: (measures: ViewSummary["measures"]) => string[]): Row[] {
  const classes = Object.entries(strata.leak ?? {});
  if (classes.length < 2) return [];
  return classes.map(([name, { n, measures }]) => ({ label: `  leak ${name} (n ${n})`, cells: values(measures), faint: true }));
}

function outcomes(cells: readonly (readonly [string, Summary])[], width: number): string[] {
  const failed = (summary: Summary) => FAILURES.reduce((sum, status) => sum + (summary.outcomes[status] ?? 0), 0);
  const columns: { name: string; always: boolean; of: (summary: Summary) => number }[] = [
    { name: "cases", always: true, of: (summary) => summary.n },
    ...["answered", "abstained", "refused", "unparsable"].map((name, index) => ({
      name,
      always: index < 2,
      of: (summary: Summary) => summary.outcomes[name] ?? 0,
    })),
    { name: "failed", always: true, of: failed },
    { name: "unasked", always: false, of: (summary) => summary.outcomes.unasked ?? 0 },
  ];
  const shown = columns.filter(({ always, of }) => always || cells.some(([, summary]) => of(summary) > 0));
  const rows = cells.map(([label, summary]): Row => ({ label, cells: shown.map(({ of }) => String(of(summary))) }));
  return blocks(
    shown.map(({ name }) => name),
    rows,
    width,
    (text) => text,
  );
}

/** Columns that don't fit side by side go into further blocks below, each with its labels. */
function blocks(names: readonly string[], rows: readonly Row[], width: number, dim: (text: string) => string): string[] {
  const labels = rows.map(({ label }) => shorten(label, Math.max(16, Math.floor(width / 3))));
  const labelWidth = labels.reduce((widest, label) => Math.max(widest, label.length), 0);
  const widths = names.map((name, column) =>
    rows.reduce((widest, row) => Math.max(widest, (row.cells[column] ?? "").length + GAP), name.length + GAP),
  );
  const result: string[] = [];
  let from = 0;
  while (from < names.length) {
    let to = from;
    let used = labelWidth;
    while (to < names.length && (to === from || used + (widths[to] ?? 0) <= width)) {
      used += widths[to] ?? 0;
      to += 1;
    }
    const line = (label: string, cells: readonly string[]) =>
      label.padEnd(labelWidth) +
      cells
        .slice(from, to)
        .map((cell, offset) => cell.padStart(widths[from + offset] ?? 0))
        .join("");
    const lines = rows.map((row, index) => {
      const text = line(labels[index] ?? "", row.cells).trimEnd();
      return row.faint === true ? dim(text) : text;
    });
    result.push([line("", names), ...lines].join("\n"));
    from = to;
  }
  return result;
}

/** A label as one line that fits; hostile characters are shown, not obeyed. */
function shorten(label: string, width: number): string {
  const text = visible(label);
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}

function notes(cells: readonly (readonly [string, Summary])[]): string[] {
  const each = (of: (summary: Summary) => string | null): string[] => {
    const texts = cells.map(([label, summary]) => [label, of(summary)] as const);
    const distinct = new Set(texts.map(([, text]) => text));
    // What is true of every cell is said once.
    if (distinct.size === 1) return texts[0]?.[1] == null ? [] : [texts[0][1]];
    const said = texts.flatMap(([label, text]) => (text === null ? [] : [[visible(label), text] as const]));
    return grouped(said).map(({ names, text }) => `${names}: ${text}`);
  };
  return [
    ...each(({ bootstrap, rules, n }) => {
      const scored = `${plural(n, "case")} scored with the rules "${visible(rules)}".`;
      if (bootstrap === null) return scored;
      const { level, samples, seed, cluster } = bootstrap;
      const units =
        cluster === undefined
          ? "the cases"
          : cluster === "repository"
            ? "the repositories"
            : "clusters of cases that share a pull request";
      return `${scored} Below each value its ${percent(level)} interval: ${plural(samples, "resample")} of ${units}, seed ${seed}.`;
    }),
    ...each(({ repeats }) => (repeats > 1 ? `Up to ${repeats} answers per case, averaged first; outcomes count answers.` : null)),
    ...each(({ failed, rules, left_out_by_rules: leftOut }) => {
      if (failed === 0) return null;
      if (rules === "seed") return `${plural(failed, "case")} failed or had no answer: left out, as the original does.`;
      const out = FAILURES_AND_UNASKED.reduce((sum, outcome) => sum + (leftOut[outcome] ?? 0), 0);
      const how =
        out === 0 ? "counted as zero" : out >= failed ? "left out by the rules" : `${out} left out by the rules, the others zero`;
      return `${plural(failed, "case")} failed or had no answer: ${how}.`;
    }),
    ...each(({ rules, left_out_by_rules: leftOut }) => {
      const others = Object.entries(leftOut).filter(([outcome]) => !FAILURES_AND_UNASKED.includes(outcome));
      if (rules === "seed" || others.length === 0) return null;
      return `The rules leave out ${others.map(([outcome, n]) => `${plural(n, "case")} that ${n === 1 ? "is" : "are"} ${outcome}`).join(", ")}.`;
    }),
    ...each(({ without_target: without }) =>
      without === 0 ? null : `${plural(without, "case has", "cases have")} no target that counts: shown, not scored.`,
    ),
    ...each(({ in_repo_only: { enabled }, rules }) =>
      enabled || rules === "seed" ? null : "There is no corpus: only exact paths match, and every target counts.",
    ),
    ...each(({ absent_targets: absent, with_absent_targets: concerned }) =>
      absent === 0 ? null : `The corpus lacks ${plural(absent, "target")} of ${plural(concerned, "case")}.`,
    ),
    ...(cells.some(([, { expectation }]) => expectation !== null) ? ['"expected" is the closed form for a random ranking.'] : []),
    ...each(({ left_out: left }) => (left === 0 ? null : `${plural(left, "record was", "records were")} left out.`)),
  ];
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
