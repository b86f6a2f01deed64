/**
 * A cell as TREC files: a run that any retrieval tool ranks as we do, and the qrels that it is about. A document is the path that a
 * prediction resolved to, or what the answer said where it resolved to nothing: such a document is in no qrels and counts as wrong.
 */
import { trecQrels, trecRun } from "../base/trec.js";
import type { ScoredCase } from "../scoring/contract.js";
import type { Cell } from "./json.js";

export interface TrecRunText {
  /** Repeat of the answers, 0 for the first. */
  readonly repeat: number;
  readonly text: string;
}

/** One run per repeat: a query has one list in a run. Cases that don't count are left out; those without predictions have no line. */
export function trecRuns({ label, cases }: Pick<Cell, "label" | "cases">): TrecRunText[] {
  const repeats = new Map<number, ScoredCase[]>();
  for (const one of cases) {
    if (!counts(one)) continue;
    repeats.set(one.repeat, [...(repeats.get(one.repeat) ?? []), one]);
  }
  return [...repeats]
    .sort(([a], [b]) => a - b)
    .map(([repeat, answers]) => {
      const tag = repeat === 0 ? label : `${label}~${repeat}`;
      const lists = answers.map(({ id, predictions }) => ({
        query: id,
        documents: predictions.map(({ target, path, raw }) => target ?? path ?? raw).filter((document) => document !== ""),
      }));
      return { repeat, text: trecRun(lists, tag) };
    });
}

/** Each case that counts, with the targets that count. Equal for all cells that were scored by the same rules. */
export function trecQrelsOf(cases: readonly ScoredCase[]): string {
  const seen = new Map<string, [string, number][]>();
  for (const one of cases) {
    if (counts(one) && !seen.has(one.id))
      seen.set(
        one.id,
        one.targets.map((path, index) => [path, one.grades?.[index] ?? 1]),
      );
  }
  return trecQrels(seen);
}

/** A baseline's draws have no one list: their runs would say something else than their figures. */
export function hasDraws(cases: readonly ScoredCase[]): boolean {
  return cases.some(({ draws }) => draws !== null);
}

function counts({ scored, excluded }: ScoredCase): boolean {
  return scored && excluded === null;
}
