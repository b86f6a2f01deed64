/**
 * Measures of a TREC run against qrels, with the denominator of `trec_eval -c`: every query of the qrels counts, one that the run
 * lacks as 0 throughout. What the run answers beside them is counted and not scored.
 */
import type { Qrels, TrecRun } from "../base/trec.js";
import type { CaseJudgement, Measure } from "../measures/contract.js";
import { hitsWithin, judge } from "../measures/judgement.js";

export interface RunMeasures {
  /** Queries of the qrels. */
  readonly n: number;
  /** By canonical name; undefined values count as 0. Null where the qrels hold no query. */
  readonly mean: Readonly<Record<string, number | null>>;
  /** By query in the order of the qrels, then by name; null = undefined. */
  readonly per_query: ReadonlyMap<string, Readonly<Record<string, number | null>>>;
  /** Queries whose value is undefined, by name. */
  readonly undefined: Readonly<Record<string, number>>;
  /** Queries of the qrels that the run lacks. */
  readonly missing: readonly string[];
  /** Queries of the run that the qrels lack. */
  readonly unknown: readonly string[];
  /** Lines that named a document again, and documents that share a score, in the queries that count. */
  readonly duplicates: number;
  readonly tied: number;
  /** Documents judged to be not relevant; without any, Bpref is R and InfAP is AP. */
  readonly judged_nonrelevant: number;
}

export function measureRun(qrels: Qrels, run: TrecRun, measures: readonly Measure[]): RunMeasures {
  const values = new Map<string, Record<string, number | null>>();
  const pooled = { tp: 0, fp: 0, fn: 0 };
  const counts = { duplicates: 0, tied: 0, judged_nonrelevant: 0 };
  for (const [query, grades] of qrels) {
    const ranking = run.rankings.get(query);
    const judgement = judge(
      (ranking?.documents ?? []).map((path) => ({ path, target: (grades.get(path) ?? 0) > 0 ? path : null })),
      [...grades].map(([path, grade]) => ({ path, grade })),
      { judgements: grades },
    );
    values.set(query, Object.fromEntries(measures.map((measure) => [measure.name, valueIn(measure, judgement)])));
    const tp = hitsWithin(judgement);
    pooled.tp += tp;
    pooled.fp += judgement.ranking.length - tp;
    pooled.fn += judgement.targets.length - tp;
    counts.duplicates += ranking?.duplicates ?? 0;
    counts.tied += ranking?.tied ?? 0;
    counts.judged_nonrelevant += judgement.judged?.nonrelevant ?? 0;
  }
  const rows = [...values.values()];
  const mean = (measure: Measure): number | null => {
    if (rows.length === 0) return null;
    if (measure.pooled !== undefined) return measure.pooled(pooled);
    return rows.reduce((sum, row) => sum + (row[measure.name] ?? 0), 0) / rows.length;
  };
  const undefinedIn = (name: string) => rows.filter((row) => row[name] === null).length;
  return {
    n: rows.length,
    mean: Object.fromEntries(measures.map((measure) => [measure.name, mean(measure)])),
    per_query: values,
    undefined: Object.fromEntries(measures.map(({ name }) => [name, undefinedIn(name)])),
    missing: [...qrels.keys()].filter((query) => !run.rankings.has(query)),
    unknown: [...run.rankings.keys()].filter((query) => !qrels.has(query)),
    ...counts,
  };
}

/** A run has one answer per query: what is made of several (`pass@k`) sees one. */
function valueIn(measure: Measure, judgement: CaseJudgement): number | null {
  const value = measure.ofCase(judgement);
  return value === null || measure.ofRepeats === undefined ? value : measure.ofRepeats([value]);
}
