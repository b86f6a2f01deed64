/**
 * `--fail-under`: figures that a run must reach, for build servers. `Hit@5=0.7`, `lower(Hit@5)=0.6` for the interval's bound,
 * `bm25:Hit@5=0.7` for one cell. Without a cell a gate is about the systems under test: baselines and self-tests are there to be beaten,
 * so they count only where a run has nothing else.
 */
import { parseMeasure } from "../measures/registry.js";
import { BASELINES, SELF_TESTS } from "../report/markdown.js";
import type { Summary } from "../scoring/summary-schema.js";
import { UsageError } from "./contract.js";

export interface Gate {
  /** As typed. */
  readonly text: string;
  /** null = every system. */
  readonly label: string | null;
  readonly measure: string;
  readonly of: "value" | "lower" | "upper";
  readonly threshold: number;
}

export interface GateResult {
  readonly gate: string;
  readonly label: string;
  readonly measure: string;
  readonly of: Gate["of"];
  /** null = there is no such figure: the gate counts as missed. */
  readonly value: number | null;
  readonly threshold: number;
  readonly met: boolean;
}

/** Names and numbers are checked before anything runs. */
export function parseGate(text: string): Gate {
  const problem = (what: string) =>
    new UsageError(`--fail-under ${text}: ${what}; write MEASURE=VALUE, lower(MEASURE)=VALUE or CELL:MEASURE=VALUE`);
  // The last sign: `P(level=function)@5=0.3` holds another.
  const equals = text.lastIndexOf("=");
  if (equals === -1) throw problem("there is no value");
  const value = text.slice(equals + 1).trim();
  const threshold = Number(value);
  if (value === "" || !(threshold >= 0 && threshold <= 1))
    throw problem(`${value === "" ? "the value" : value} is no number from 0 to 1`);
  const left = text.slice(0, equals).trim();
  const colon = left.indexOf(":");
  const label = colon === -1 ? null : left.slice(0, colon).trim();
  if (label === "") throw problem("the cell has no name");
  const figure = left.slice(colon + 1).trim();
  const bound = /^(lower|upper)\((.*)\)$/is.exec(figure);
  const parsed = parseMeasure(bound?.[2] ?? figure);
  if (!parsed.ok) throw problem([parsed.error.message, parsed.error.suggestion].filter((part) => part !== undefined).join("; "));
  const of = bound === null ? "value" : bound[1]?.toLowerCase() === "lower" ? "lower" : "upper";
  return { text, label, measure: parsed.value.name, of, threshold };
}

export function checkGates(gates: readonly Gate[], summaries: Readonly<Record<string, Summary>>): GateResult[] {
  return gates.flatMap((gate) => {
    const labels = gate.label === null ? systems(summaries) : [gate.label];
    // Without any figures a gate can't be met.
    return (labels.length === 0 ? ["(no figures)"] : labels).map((label) => check(gate, label, summaries));
  });
}

function check({ text, measure, of, threshold }: Gate, label: string, summaries: Readonly<Record<string, Summary>>): GateResult {
  const summary = Object.hasOwn(summaries, label) ? summaries[label] : undefined;
  const figure = summary !== undefined && Object.hasOwn(summary.measures, measure) ? summary.measures[measure] : undefined;
  const value = figure?.[of] ?? null;
  return { gate: text, label, measure, of, value, threshold, met: value !== null && value >= threshold };
}

function systems(summaries: Readonly<Record<string, Summary>>): string[] {
  const all = Object.entries(summaries);
  const own = all.filter(([, { kind }]) => !BASELINES.has(kind ?? "") && !SELF_TESTS.has(kind ?? ""));
  return (own.length > 0 ? own : all).map(([label]) => label);
}

/** A line per gate that was missed. */
export function missedGates(results: readonly GateResult[]): string[] {
  return results
    .filter(({ met }) => !met)
    .map(({ label, measure, of, value, threshold }) => {
      const figure = of === "value" ? measure : `the ${of} bound of ${measure}`;
      if (value === null)
        return `gate missed: ${label} has no value for ${figure} (is it among the measures of the score stage${of === "value" ? "" : ", and is there a bootstrap stage"}?)`;
      return `gate missed: ${label}: ${figure} is ${value.toFixed(4)}, below ${threshold}`;
    });
}
