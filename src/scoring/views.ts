/**
 * Which cases a figure is about. One set of scored cases can be averaged over several denominators, and choosing one in
 * silence is how benchmarks flatter: so each choice has a name, and every figure says which view it belongs to.
 *
 * | view | cases |
 * | --- | --- |
 * | `headline` | every selected case with a target; what failed or was never asked counts as zero |
 * | `without_failed` | the same without the answers that failed and the cases that were never asked |
 * | `all_targets` | every case with any target, also targets that the corpus lacks |
 * | `in_repo_only` | the original's second view: cases with a target in the corpus |
 * | `stratum:NAME=VALUE` | the headline's cases of one stratum |
 *
 * The `seed` rules keep the original's denominators: failed and unasked cases are left out of every view.
 */
import { FINAL_STATUSES } from "../answers/schema.js";
import { LEAK_CLASSES } from "../dataset/leakage.js";
import { UNMASKED_STRATUM } from "../dataset/mask.js";
import { LINK_GRADES } from "../dataset/schema.js";
import type { ScoredCase, ScoreMeta, ViewScores } from "./contract.js";
import { isOrdered } from "./derived-strata.js";
import { scoresOfRepeats } from "./view-scores.js";

/** One case of a view; its repeats are averaged first, so that a case asked three times weighs no more than another. */
export interface ViewRow {
  readonly id: string;
  readonly scores: ViewScores;
  /** Of each of its answers. */
  readonly answers: readonly ViewScores[];
  readonly repository: string | null;
  readonly changes: readonly string[];
  readonly expectation: ScoredCase["expectation"];
}

export interface View {
  readonly name: string;
  readonly rows: readonly ViewRow[];
  readonly stratum?: { readonly name: string; readonly value: string };
}

/** Failed, for a denominator: nothing final came back. An answer that can't be read is no failure of the call. */
export function isFailed({ status }: Pick<ScoredCase, "status">): boolean {
  return status === "unasked" || !FINAL_STATUSES.has(status);
}

/** Stored items and the cases without an answer, in data-set order; repeats of a case side by side. */
export function inOrder(items: readonly ScoredCase[], meta: Pick<ScoreMeta, "order" | "unasked">): ScoredCase[] {
  const position = new Map(meta.order.map((id, index) => [id, index]));
  const at = (scored: ScoredCase): number => position.get(scored.id) ?? meta.order.length;
  return [...items, ...meta.unasked].sort((a, b) => at(a) - at(b) || a.repeat - b.repeat);
}

/** Every view of `cases` (in data-set order) that has something to say; `headline` always, and first. */
export function viewsOf(cases: readonly ScoredCase[], meta: Pick<ScoreMeta, "rules" | "only_answered">): View[] {
  const seed = meta.rules.engine === "seed";
  const counted = cases.filter(({ excluded, status }) => excluded === null && !(meta.only_answered && status === "unasked"));
  const scored = counted.filter((one) => one.scored);
  const views: View[] = [{ name: "headline", rows: rowsOf(scored, main) }];
  if (scored.some(isFailed) && !seed) {
    views.push({
      name: "without_failed",
      rows: rowsOf(
        scored.filter((one) => !isFailed(one)),
        main,
      ),
    });
  }
  const withTargets = counted.filter((one) => one.targets.length + one.absent_targets.length > 0);
  views.push({ name: "all_targets", rows: rowsOf(withTargets, (one) => one.all_targets) });
  if (counted.some((one) => one.in_repo_only !== null)) {
    const inRepo = counted.filter((one) => (one.in_repo_only?.retained.length ?? 0) > 0);
    views.push({ name: "in_repo_only", rows: rowsOf(inRepo, (one) => one.in_repo_only ?? main(one)) });
  }
  for (const { name, value, members } of strataOf(scored)) {
    // Only the first `=` is a separator: one in the stratum's own name must not make two strata look like one.
    const safe = name.replaceAll("%", "%25").replaceAll("=", "%3D");
    views.push({ name: `stratum:${safe}=${value}`, rows: rowsOf(members, main), stratum: { name, value } });
  }
  return views;
}

function main(scored: ScoredCase): ViewScores {
  return scored;
}

function rowsOf(cases: readonly ScoredCase[], of: (scored: ScoredCase) => ViewScores): ViewRow[] {
  const groups = new Map<string, ScoredCase[]>();
  for (const scored of cases) {
    const group = groups.get(scored.id);
    if (group === undefined) groups.set(scored.id, [scored]);
    else group.push(scored);
  }
  return [...groups].map(([id, group]) => ({
    id,
    scores: scoresOfRepeats(group.map(of)),
    answers: group.map(of),
    repository: group[0]?.repository ?? null,
    changes: group[0]?.changes ?? [],
    expectation: group.find((scored) => scored.expectation !== null)?.expectation ?? null,
  }));
}

interface Stratum {
  readonly name: string;
  readonly value: string;
  readonly members: readonly ScoredCase[];
}

/** Strata in order of name, then of first appearance in the data set; grades of links best first, leaks least first, numbers and years in their order. */
function strataOf(cases: readonly ScoredCase[]): Stratum[] {
  const strata = new Map<string, Map<string, ScoredCase[]>>();
  for (const scored of cases) {
    for (const [name, value] of Object.entries(scored.strata)) {
      const values = strata.get(name) ?? new Map<string, ScoredCase[]>();
      strata.set(name, values);
      const members = values.get(value) ?? [];
      values.set(value, members);
      members.push(scored);
    }
  }
  return [...strata.keys()].sort().flatMap((name) => {
    const values = [...(strata.get(name) ?? [])].map(([value, members]) => ({ name, value, members }));
    const order: readonly string[] | undefined = ORDERS.get(name);
    if (order !== undefined) return values.sort((a, b) => rankIn(order, a.value) - rankIn(order, b.value));
    return isOrdered(name) ? values.sort((a, b) => (a.value < b.value ? -1 : 1)) : values;
  });
}

const ORDERS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["links", LINK_GRADES],
  ["leak", LEAK_CLASSES],
  [UNMASKED_STRATUM, LEAK_CLASSES],
]);

function rankIn(order: readonly string[], value: string): number {
  const rank = order.indexOf(value);
  return rank === -1 ? order.length : rank;
}
