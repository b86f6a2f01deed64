/**
 * `bench measure`: measures of a TREC run against qrels. No pipeline, no cache; the output is a function of the two files. Ids are taken
 * as the files spell them.
 */
import { visible } from "../base/diagnostics.js";
import type { Result } from "../base/result.js";
import { parseQrels, parseTrecRun, type TrecMistake } from "../base/trec.js";
import { plural } from "../report/numbers.js";
import { measureRun, type RunMeasures } from "../scoring/trec.js";
import { type Command, EXIT, type Io, type OptionValue, UsageError } from "./contract.js";
import { chosenMeasures, inputText } from "./inputs.js";
import { flag, text } from "./options.js";

const DEFAULT = ["AP", "nDCG@10", "RR", "P@10", "R@10", "Hit@5"];

export const command: Command = {
  usage: "measure",
  summary: "Measure a TREC run against qrels",
  options: [
    { flag: "--qrels <file>", description: "The truth: lines of query, iteration, document, grade (required)" },
    { flag: "--run <file>", description: "The answers: lines of query, Q0, document, rank, score, tag (required)" },
    { flag: "--measures <names>", description: `Measures, separated by commas (default: ${DEFAULT.join(",")})` },
    { flag: "--per-query", description: "Also show each query" },
    { flag: "--json", description: "One JSON value on stdout, in full precision" },
  ],
  examples: [
    'bench measure --qrels qrels.txt --run run.txt --measures "AP,nDCG@10,Bpref"',
    "bench explain-measure nDCG@10 says what a measure is",
  ],
  run: async (_args, options, io) => {
    const measures = chosenMeasures(options, DEFAULT);
    const level = measures.find((measure) => measure.level !== undefined);
    if (level !== undefined) {
      throw new UsageError(
        `--measures: ${level.name} is about parts of files, of which TREC files know nothing; leave out its level`,
      );
    }
    const qrels = parsed(parseQrels, ...(await given("qrels", options, io)));
    const run = parsed(parseTrecRun, ...(await given("run", options, io)));
    const measured = measureRun(qrels, run, measures);
    if (measured.n === 0) throw new UsageError(`${text(options, "qrels")} holds no query`);
    // A run without a line is an honest answer (nothing was found, anywhere); one about other queries is a mistake.
    if (measured.missing.length === measured.n && run.rankings.size > 0) {
      const some = (ids: readonly string[]) => ids.slice(0, 2).map(visible).join(", ");
      throw new UsageError(
        `the run answers none of the ${measured.n} queries of the qrels (they name ${some(measured.missing)} ...; the run ${some(measured.unknown)}): do both use the same ids?`,
      );
    }
    for (const note of notes(
      measured,
      measures.map(({ name }) => name),
    ))
      io.stderr(`${note}\n`);
    const perQuery = flag(options, "per-query");
    if (flag(options, "json")) {
      io.stdout(`${JSON.stringify({ ...measured, per_query: plainObject(measured.per_query) }, null, 2)}\n`);
    } else io.stdout(table(measured, perQuery));
    return EXIT.done;
  },
};

async function given(
  name: string,
  options: Readonly<Record<string, OptionValue>>,
  io: Io,
): Promise<readonly [content: string, file: string]> {
  const file = text(options, name);
  if (file === undefined) throw new UsageError(`--${name} FILE is missing: bench measure --qrels FILE --run FILE`);
  return [await inputText(file, io.cwd), file];
}

function parsed<T>(parse: (content: string) => Result<T, readonly TrecMistake[]>, content: string, file: string): T {
  const read = parse(content);
  if (read.ok) return read.value;
  throw new UsageError(read.error.map(({ line, what }) => `${file}:${line}: ${what}`).join("\n"));
}

function notes(measured: RunMeasures, names: readonly string[]): string[] {
  const { missing, unknown, duplicates, tied, judged_nonrelevant: nonrelevant } = measured;
  const lines: string[] = [];
  if (missing.length > 0) {
    lines.push(
      `${plural(missing.length, "query", "queries")} of the qrels ${missing.length === 1 ? "has" : "have"} no line in the run and count as 0.`,
    );
  }
  if (unknown.length > 0)
    lines.push(`${plural(unknown.length, "query", "queries")} of the run are not in the qrels and do not count.`);
  if (duplicates > 0) lines.push(`${plural(duplicates, "line names", "lines name")} a document again; the best line counts.`);
  if (tied > 0) lines.push(`${tied} documents share their score with another: ties go to the later id, as in trec_eval.`);
  if (nonrelevant === 0) {
    const same = names.flatMap((name) => (name === "Bpref" ? ["Bpref equals R"] : name === "InfAP" ? ["InfAP equals AP"] : []));
    if (same.length > 0) lines.push(`No document is judged to be not relevant, so ${same.join(" and ")}.`);
  }
  const undefinedOnes = Object.entries(measured.undefined).filter(([, count]) => count > 0);
  if (undefinedOnes.length > 0) {
    lines.push(
      `Undefined, counted as 0: ${undefinedOnes.map(([name, count]) => `${name} for ${plural(count, "query", "queries")}`).join(", ")}.`,
    );
  }
  return lines;
}

function table({ n, mean, per_query: values }: RunMeasures, perQuery: boolean): string {
  const names = Object.keys(mean);
  const digits = (value: number | null | undefined) => (value == null ? "-" : value.toFixed(4));
  const rows: [string, readonly string[]][] = [
    ...(perQuery
      ? [...values].map(([query, row]): [string, string[]] => [visible(query), names.map((name) => digits(row[name]))])
      : []),
    [`all (${n})`, names.map((name) => digits(mean[name]))],
  ];
  const first = Math.max(...rows.map(([label]) => label.length));
  const widths = names.map((name) => Math.max(name.length, 6) + 2);
  const line = (label: string, cells: readonly string[]) =>
    `${label.padEnd(first)}${cells.map((cell, column) => cell.padStart(widths[column] ?? 0)).join("")}\n`;
  return [line("", names), ...rows.map(([label, cells]) => line(label, cells))].join("");
}

/** `__proto__` may be a query's name: own members only. */
function plainObject<T>(map: ReadonlyMap<string, T>): Record<string, T> {
  return Object.fromEntries(map);
}
