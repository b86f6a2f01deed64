/**
 * All measures by name. A name parses to a measure whose own name is canonical (`hit@05`, `Success@5` and `success_5` are all
 * `Hit@5`), so that reports, gates and caches speak of one thing by one word.
 */
import { nearest } from "../base/nearest.js";
import { err, ok, type Result } from "../base/result.js";
import { accLocAgentAt } from "./acc-locagent.js";
import { allAt } from "./all.js";
import { averagePrecision } from "./average-precision.js";
import { bpref } from "./bpref.js";
import { type BudgetUnit, precisionWithin, recallWithin } from "./budget.js";
import type { Measure } from "./contract.js";
import { f1 } from "./f1.js";
import { hitAt } from "./hit.js";
import { inferredAp } from "./inferred-ap.js";
import { judgedAt } from "./judged.js";
import { atLevel } from "./levels.js";
import { microF1, microPrecision, microRecall } from "./micro.js";
import { splitParameters } from "./names.js";
import { ndcg } from "./ndcg.js";
import { passAt } from "./pass.js";
import { precision, precisionAt } from "./precision.js";
import { rPrecision } from "./r-precision.js";
import { recall, recallAt } from "./recall.js";
import { reciprocalRank } from "./reciprocal-rank.js";

export interface MeasureFamily {
  /** Canonical, without a cut-off: `Hit`, `RR`, `P(micro)`. */
  readonly name: string;
  /** As documentation writes it: `Hit@k`, `RR, RR@k`. */
  readonly usage: string;
  /** Other names that are understood, lower case, without a cut-off; the first is the most usual. */
  readonly aliases: readonly string[];
  /** The measure for an example, whose definition, edge cases and citation explain the family. */
  readonly example: Measure;
  /** Without a cut-off; absent where one is needed. */
  readonly whole?: Measure;
  /** With a cut-off; absent where there is none. */
  readonly at?: (k: number) => Measure;
  /** With a budget of lines or tokens: `R@lines=200`; absent where there is none. */
  readonly within?: (unit: BudgetUnit, budget: number) => Measure;
  /** Parameters of its own, and the measure that their values stand for; a text = what is wrong with them. */
  readonly parameters?: readonly string[];
  readonly with?: (values: ReadonlyMap<string, string>, k: number | undefined) => Measure | string;
  /** False where it can't count classes, functions or lines. */
  readonly levels: boolean;
}

export const measureFamilies: readonly MeasureFamily[] = [
  family("P", ["precision", "set_p"], precision, precisionAt, { within: precisionWithin }),
  family("R", ["recall", "set_recall"], recall, recallAt, { within: recallWithin }),
  family("F1", ["f-1", "f_1", "set_f", "set_f_1"], f1),
  family("P(micro)", ["micro-precision", "precision(micro)", "micro-p"], microPrecision, undefined, { levels: false }),
  family("R(micro)", ["micro-recall", "recall(micro)", "micro-r"], microRecall, undefined, { levels: false }),
  family("F1(micro)", ["micro-f1"], microF1, undefined, { levels: false }),
  family("Hit", ["success", "hits", "hit_rate", "hitrate", "top"], undefined, hitAt),
  family("All", [], undefined, allAt),
  family("AccLocAgent", ["acc_locagent", "acc-locagent"], undefined, accLocAgentAt),
  family("RR", ["mrr", "recip_rank"], reciprocalRank(), reciprocalRank),
  family("AP", ["map", "map_cut"], averagePrecision(), averagePrecision),
  family("nDCG", ["ndcg_cut"], ndcg(), ndcg, { parameters: ["gain", "dcg"], with: ndcgWith }),
  family("Rprec", ["r-prec", "r-precision", "rprecision"], rPrecision),
  family("Bpref", [], bpref, undefined, { levels: false }),
  family("InfAP", ["inf_ap", "inferred_ap"], inferredAp, undefined, { levels: false }),
  family("Judged", [], undefined, judgedAt, { levels: false }),
  family("pass", [], undefined, passAt, { parameters: ["by"], with: passWith, levels: false }),
];

/** `gain=exp` in our words, `dcg=exp-log2` in those of ir_measures. */
function ndcgWith(values: ReadonlyMap<string, string>, k: number | undefined): Measure | string {
  const words = new Map([
    ["linear", "linear"],
    ["log2", "linear"],
    ["exp", "exp"],
    ["exponential", "exp"],
    ["exp-log2", "exp"],
  ] as const);
  const typed = values.get("gain") ?? values.get("dcg") ?? "linear";
  const gain = words.get(typed as "linear");
  return gain === undefined ? `gain=${typed} is neither linear nor exp` : ndcg(k, gain);
}

function passWith(values: ReadonlyMap<string, string>, k: number | undefined): Measure | string {
  if (k === undefined) return "it needs a cut-off";
  const by = parseMeasure(values.get("by") ?? "");
  if (!by.ok) return `by: ${by.error.message}`;
  if (!by.value.binary || by.value.ofRepeats !== undefined) {
    return `by=${by.value.name} is no measure of 0 and 1 for a single answer; Hit@5 is one`;
  }
  return passAt(k, by.value);
}

function family(
  name: string,
  aliases: readonly string[],
  whole: Measure | undefined,
  at?: (k: number) => Measure,
  more: Partial<Pick<MeasureFamily, "parameters" | "with" | "levels" | "within">> = {},
): MeasureFamily {
  const usage = [whole && name, at && `${name}@k`, more.within && `${name}@lines=N, ${name}@tokens=N`]
    .filter((form) => form !== undefined)
    .join(", ");
  const example = whole ?? at?.(5);
  if (example === undefined) throw new Error(`measure ${name} has neither form`);
  return {
    name,
    usage,
    aliases,
    example,
    ...(whole && { whole }),
    ...(at && { at: (k: number) => at(k) }),
    levels: true,
    ...more,
  };
}

const BY_NAME: ReadonlyMap<string, MeasureFamily> = new Map(
  measureFamilies.flatMap((entry) => [entry.name.toLowerCase(), ...entry.aliases].map((name) => [name, entry] as const)),
);

export interface MeasureNameError {
  readonly message: string;
  /** What to do: `did you mean Hit@5?` */
  readonly suggestion?: string;
}

/**
 * A measure by its name, letter case ignored; cut-offs are written `@5`, or `_5` as trec_eval does. Parameters stand in brackets:
 * `P(level=function)@5`, `nDCG(gain=exp)@10`.
 */
export function parseMeasure(text: string): Result<Measure, MeasureNameError> {
  const typed = text.trim();
  const shown = JSON.stringify(typed.length > 60 ? `${typed.slice(0, 60)}…` : typed);
  const parts = splitParameters(typed.toLowerCase());
  if (parts === null) {
    return err({ message: `the brackets of measure ${shown} can't be read`, suggestion: "write them as in P(level=function)@5" });
  }
  const named = parseName(parts.plain, shown);
  if (!named.ok || parts.parameters.length === 0) return named.ok ? ok(named.value.measure) : named;
  return withParameters(named.value, parts.parameters, shown);
}

interface Named {
  readonly family: MeasureFamily;
  readonly k: number | undefined;
  readonly measure: Measure;
}

function withParameters(
  { family: found, k, measure }: Named,
  typed: readonly (readonly [string, string])[],
  shown: string,
): Result<Measure, MeasureNameError> {
  const values = new Map(typed);
  const own = found.parameters ?? [];
  const known = [...own, ...(found.levels ? ["level", "iou"] : [])];
  const strange = typed.find(([name]) => !known.includes(name));
  if (strange !== undefined) {
    const name = JSON.stringify(strange[0].slice(0, 40));
    return err({
      message: `measure ${found.name} has no parameter ${name}`,
      suggestion: known.length === 0 ? `write ${found.usage}` : `it has ${known.join(", ")}`,
    });
  }
  if (values.size < typed.length) return err({ message: `measure ${shown} gives a parameter twice`, suggestion: "give it once" });
  const made = own.some((name) => values.has(name)) ? (found.with?.(values, k) ?? measure) : measure;
  const level = values.get("level");
  const iou = values.get("iou");
  const problem = (what: string) => err({ message: `measure ${shown} can't be used: ${what.slice(0, 300)}` });
  if (typeof made === "string") return problem(made);
  if (measure.budget !== undefined) return problem("a budget counts lines or tokens already, so it takes no parameters");
  const result = atLevel(made, { ...(level === undefined ? {} : { level }), ...(iou === undefined ? {} : { iou }) });
  return result.ok ? result : problem(result.error);
}

/** A name without parameters, in lower case. */
function parseName(name: string, shown: string): Result<Named, MeasureNameError> {
  if (name === "") return err({ message: "a measure's name is missing", suggestion: `known are ${known()}` });

  const plain = BY_NAME.get(name);
  if (plain !== undefined) {
    if (plain.whole !== undefined) return ok({ family: plain, k: undefined, measure: plain.whole });
    return err({ message: `measure ${shown} needs a cut-off`, suggestion: `say how many ranks count: ${plain.name}@5` });
  }

  const separator = Math.max(name.lastIndexOf("@"), name.includes("@") ? -1 : name.lastIndexOf("_"));
  const stem = separator === -1 ? name : name.slice(0, separator);
  const cutoff = separator === -1 ? null : name.slice(separator + 1);
  const found = BY_NAME.get(stem);
  if (found === undefined) return err(unknown(shown, stem, cutoff));
  if (found.at === undefined) {
    return err({ message: `measure ${found.name} has no cut-off, but ${shown} gives one`, suggestion: `write ${found.name}` });
  }
  const budget = /^(lines|tokens)=(\d{1,9})$/.exec(cutoff ?? "");
  if (budget !== null || (cutoff !== null && /^(?:lines|tokens)\b/.test(cutoff))) return withinBudget(found, budget, shown);
  const k = cutoff !== null && /^\d{1,9}$/.test(cutoff) ? Number(cutoff) : 0;
  if (k < 1) {
    return err({
      message: `the cut-off of measure ${shown} is not a whole number from 1 to 999999999`,
      suggestion: `for example ${found.name}@5`,
    });
  }
  return ok({ family: found, k, measure: found.at(k) });
}

function withinBudget(found: MeasureFamily, budget: RegExpExecArray | null, shown: string): Result<Named, MeasureNameError> {
  if (found.within === undefined) {
    const able = measureFamilies.filter(({ within }) => within !== undefined).map(({ name }) => name);
    return err({
      message: `measure ${found.name} can't be cut at lines or tokens, but ${shown} does`,
      suggestion: `${able.join(" and ")} can; otherwise write ${found.name}@5`,
    });
  }
  const size = Number(budget?.[2] ?? 0);
  if (size < 1) {
    return err({
      message: `the budget of measure ${shown} is not a whole number from 1 to 999999999`,
      suggestion: `for example ${found.name}@lines=200`,
    });
  }
  return ok({ family: found, k: undefined, measure: found.within(budget?.[1] === "tokens" ? "tokens" : "lines", size) });
}

function unknown(shown: string, stem: string, cutoff: string | null): MeasureNameError {
  if (/^acc(?:uracy)?$/.test(stem)) {
    const k = cutoff ?? "5";
    return {
      message: `${shown} is a name for several measures`,
      suggestion: `say Hit@${k} (at least one target), All@${k} (every target) or AccLocAgent@${k} (min(${k}, targets) of them)`,
    };
  }
  const guess = BY_NAME.get(nearest(stem, BY_NAME.keys()) ?? "");
  if (guess === undefined) return { message: `there is no measure ${shown}`, suggestion: `known are ${known()}` };
  const keepsCutoff = guess.at !== undefined && (guess.whole === undefined || cutoff !== null);
  const k = cutoff !== null && /^[1-9]\d{0,8}$/.test(cutoff) ? cutoff : "5";
  return {
    message: `there is no measure ${shown}`,
    suggestion: `did you mean ${keepsCutoff ? `${guess.name}@${k}` : guess.name}?`,
  };
}

function known(): string {
  return measureFamilies.map(({ usage }) => usage).join(", ");
}

/**
 * A list of names, or one text with commas. In the order given, each measure once; every wrong name is reported at once.
 */
export function parseMeasures(names: string | readonly string[]): Result<Measure[], MeasureNameError[]> {
  const list = (typeof names === "string" ? [names] : names).flatMap(splitList);
  const measures = new Map<string, Measure>();
  const errors: MeasureNameError[] = [];
  for (const name of list) {
    const parsed = parseMeasure(name);
    if (parsed.ok) measures.set(parsed.value.name, parsed.value);
    else errors.push(parsed.error);
  }
  return errors.length > 0 ? err(errors) : ok([...measures.values()]);
}

/** Commas inside brackets belong to a name. */
function splitList(text: string): string[] {
  const names: string[] = [];
  let from = 0;
  let inside = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") inside = true;
    else if (text[at] === ")") inside = false;
    else if (text[at] === "," && !inside) {
      names.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...names, text.slice(from)];
}
