/**
 * All measures by name. A name parses to a measure whose own name is canonical (`hit@05`, `Success@5` and `success_5` are all
 * `Hit@5`), so that reports, gates and caches speak of one thing by one word.
 */
import { nearest } from "../base/nearest.js";
import { err, ok, type Result } from "../base/result.js";
import { allAt } from "./all.js";
import { averagePrecision } from "./average-precision.js";
import type { Measure } from "./contract.js";
import { f1 } from "./f1.js";
import { hitAt } from "./hit.js";
import { microF1, microPrecision, microRecall } from "./micro.js";
import { ndcg } from "./ndcg.js";
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
}

export const measureFamilies: readonly MeasureFamily[] = [
  family("P", ["precision", "set_p"], precision, precisionAt),
  family("R", ["recall", "set_recall"], recall, recallAt),
  family("F1", ["f-1", "f_1", "set_f", "set_f_1"], f1),
  family("P(micro)", ["micro-precision", "precision(micro)", "micro-p"], microPrecision),
  family("R(micro)", ["micro-recall", "recall(micro)", "micro-r"], microRecall),
  family("F1(micro)", ["micro-f1"], microF1),
  family("Hit", ["success", "hits", "hit_rate", "hitrate", "top"], undefined, hitAt),
  family("All", [], undefined, allAt),
  family("RR", ["mrr", "recip_rank"], reciprocalRank(), reciprocalRank),
  family("AP", ["map", "map_cut"], averagePrecision(), averagePrecision),
  family("nDCG", ["ndcg_cut"], ndcg(), ndcg),
  family("Rprec", ["r-prec", "r-precision", "rprecision"], rPrecision),
];

function family(
  name: string,
  aliases: readonly string[],
  whole: Measure | undefined,
  at?: (k: number) => Measure,
): MeasureFamily {
  const usage = [whole && name, at && `${name}@k`].filter((form) => form !== undefined).join(", ");
  const example = whole ?? at?.(5);
  if (example === undefined) throw new Error(`measure ${name} has neither form`);
  return { name, usage, aliases, example, ...(whole && { whole }), ...(at && { at }) };
}

const BY_NAME: ReadonlyMap<string, MeasureFamily> = new Map(
  measureFamilies.flatMap((entry) => [entry.name.toLowerCase(), ...entry.aliases].map((name) => [name, entry] as const)),
);

export interface MeasureNameError {
  readonly message: string;
  /** What to do: `did you mean Hit@5?` */
  readonly suggestion?: string;
}

/** A measure by its name, letter case ignored; cut-offs are written `@5`, or `_5` as trec_eval does. */
export function parseMeasure(text: string): Result<Measure, MeasureNameError> {
  const typed = text.trim();
  const shown = JSON.stringify(typed.length > 60 ? `${typed.slice(0, 60)}…` : typed);
  const name = typed.toLowerCase();
  if (name === "") return err({ message: "a measure's name is missing", suggestion: `known are ${known()}` });

  const plain = BY_NAME.get(name);
  if (plain !== undefined) {
    if (plain.whole !== undefined) return ok(plain.whole);
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
  const k = cutoff !== null && /^\d{1,9}$/.test(cutoff) ? Number(cutoff) : 0;
  if (k < 1) {
    return err({
      message: `the cut-off of measure ${shown} is not a whole number from 1 to 999999999`,
      suggestion: `for example ${found.name}@5`,
    });
  }
  return ok(found.at(k));
}

function unknown(shown: string, stem: string, cutoff: string | null): MeasureNameError {
  if (/^acc(?:uracy)?$/.test(stem)) {
    const k = cutoff ?? "5";
    return {
      message: `${shown} is a name for several measures`,
      suggestion: `say Hit@${k} (at least one target) or All@${k} (every target)`,
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
  const list = (typeof names === "string" ? [names] : names).flatMap((name) => name.split(","));
  const measures = new Map<string, Measure>();
  const errors: MeasureNameError[] = [];
  for (const name of list) {
    const parsed = parseMeasure(name);
    if (parsed.ok) measures.set(parsed.value.name, parsed.value);
    else errors.push(parsed.error);
  }
  return errors.length > 0 ? err(errors) : ok([...measures.values()]);
}
