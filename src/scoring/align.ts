/**
 * Several runs on the same cases, made comparable: which cases all of them count, which only some do and why, and whether they were
 * asked the same questions at all. No case disappears without being named.
 */
import { err, ok, type Result } from "../base/result.js";
import type { Measure } from "../measures/contract.js";
import { judge } from "../measures/judgement.js";
import type { ScoredCase, ScoreMeta, ViewScores } from "./contract.js";
import { isFailed, type ViewRow, viewsOf } from "./views.js";

/** One run, or one cell of it. */
export interface Side {
  /** Unique among the sides. */
  readonly label: string;
  readonly meta: Pick<ScoreMeta, "backend" | "identity" | "rules" | "measures" | "only_answered" | "dataset">;
  /** In data-set order, cases without an answer included. */
  readonly cases: readonly ScoredCase[];
}

export interface AlignedSide {
  readonly side: Side;
  /** The common cases, in the same order for every side. */
  readonly rows: readonly ViewRow[];
  /** Common cases for which at least one answer failed or was never given: they count as zero. */
  readonly failed: readonly string[];
}

export interface LeftOutCase {
  readonly id: string;
  /** Labels of the runs that count it. */
  readonly counted_by: readonly string[];
  /** Why the others don't. */
  readonly missing_from: readonly { readonly run: string; readonly why: string }[];
}

export interface Aligned {
  readonly sides: readonly AlignedSide[];
  readonly left_out: readonly LeftOutCase[];
  /** Common cases whose targets are not the same for all. */
  readonly other_truth: readonly string[];
}

/** `common`: compare what runs over different data sets share. The error says what to do. */
export function align(sides: readonly Side[], measures: readonly Measure[], common: boolean): Result<Aligned, string> {
  const problem = common ? null : differentData(sides);
  if (problem !== null) return err(problem);
  const prepared: { side: Side; rows: Map<string, ViewRow> }[] = [];
  for (const side of sides) {
    const completed = completeMeasures(side, measures);
    if (!completed.ok) return completed;
    const headline = viewsOf(completed.value, side.meta)[0]?.rows ?? [];
    prepared.push({ side: { ...side, cases: completed.value }, rows: new Map(headline.map((row) => [row.id, row])) });
  }
  const all = new Set(prepared.flatMap(({ rows }) => [...rows.keys()]));
  const ids = [...all].filter((id) => prepared.every(({ rows }) => rows.has(id)));
  if (ids.length === 0) return err(`${sides.map(({ label }) => label).join(" and ")} have no case in common that counts`);
  const shared = new Set(ids);
  const truths = sides.map(truthsOf);
  return ok({
    sides: prepared.map(({ side, rows }) => ({
      side,
      rows: ids.flatMap((id) => rows.get(id) ?? []),
      failed: [...new Set(side.cases.filter((one) => shared.has(one.id) && isFailed(one)).map(({ id }) => id))],
    })),
    left_out: leftOutCases(
      [...all].filter((id) => !shared.has(id)),
      prepared,
    ),
    other_truth: ids.filter((id) => new Set(truths.map((of) => of.get(id))).size > 1),
  });
}

function differentData(sides: readonly Side[]): string | null {
  const digests = new Map<string, string>();
  for (const { label, meta } of sides) if (meta.dataset.digest !== "") digests.set(meta.dataset.digest, label);
  const advice = "Compare runs over one data set, or add --common: then only the cases that all of them have count";
  if (digests.size > 1) {
    const each = [...digests].map(([digest, label]) => `${label} ${digest.slice(0, 12)}`).join(", ");
    return `the runs are over different data sets (${each}). ${advice}`;
  }
  // Old reports don't say which data set they are about: then the cases and their targets must tell.
  const unknown = sides.find(({ meta }) => meta.dataset.digest === "");
  if (unknown === undefined) return null;
  const [first, ...others] = sides.map((side) => JSON.stringify([...truthsOf(side)].sort(([a], [b]) => (a < b ? -1 : 1))));
  if (others.every((other) => other === first)) return null;
  return `${unknown.label} does not say which data set it is over, and its cases or their targets are not those of the others. ${advice}`;
}

/** The targets of each case, as one text. */
function truthsOf({ cases }: Side): Map<string, string> {
  return new Map(cases.map(({ id, targets }) => [id, JSON.stringify([...targets].sort())]));
}

function leftOutCases(
  ids: readonly string[],
  prepared: readonly { readonly side: Side; readonly rows: ReadonlyMap<string, ViewRow> }[],
): LeftOutCase[] {
  const known = prepared.map(({ side }) => new Map(side.cases.map((one) => [one.id, one])));
  return ids.map((id) => ({
    id,
    counted_by: prepared.filter(({ rows }) => rows.has(id)).map(({ side }) => side.label),
    missing_from: prepared.flatMap(({ side, rows }, index) =>
      rows.has(id) ? [] : [{ run: side.label, why: whyMissing(known[index]?.get(id)) }],
    ),
  }));
}

function whyMissing(found: ScoredCase | undefined): string {
  if (found === undefined) return "not among its cases";
  if (found.excluded !== null) return `left out by its rules (${found.excluded})`;
  if (!found.scored) return "no target that counts";
  return "left out because it has no answer";
}

/**
 * Cases with a value for every measure: the stored one, or made from the stored ranking, which needs no backend. What a ranking can't
 * give (draws of a baseline, judgements, parts of files, reports that kept no ranking) must have been scored.
 */
function completeMeasures(side: Side, measures: readonly Measure[]): Result<readonly ScoredCase[], string> {
  const absent = measures.filter(({ name, pooled }) => pooled === undefined && !side.meta.measures.includes(name));
  if (absent.length === 0) return ok(side.cases);
  const names = absent.map(({ name }) => name).join(", ");
  const hint = `${side.label} was not scored by ${names}: add it to the measures of the score stage and run again (nothing is asked anew)`;
  const possible = absent.every(({ name, level }) => level === undefined && !/^(?:Bpref|InfAP|Judged)\b/.test(name));
  if (!possible || side.cases.some(({ draws, details }) => draws !== null || details.ranking === "lost")) return err(hint);
  const repeats = side.meta.rules.engine === "seed" ? ("dropped" as const) : ("wrong" as const);
  const more = (one: ScoredCase): ViewScores["measures"] => {
    const targets = one.targets.map((path, index) => ({ path, grade: one.grades?.[index] ?? 1 }));
    const judgement = judge(one.predictions, targets, { repeats });
    return Object.fromEntries(absent.map((measure) => [measure.name, measure.ofCase(judgement)]));
  };
  return ok(side.cases.map((one) => ({ ...one, measures: { ...one.measures, ...more(one) } })));
}
