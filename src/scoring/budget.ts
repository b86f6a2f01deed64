/**
 * What an answer hands back, line by line, and which of it is truth: for measures within a budget of lines or tokens (`R@lines=200`).
 *
 * Each line is handed back once: that a tool shows it again costs nothing and finds nothing, so no measure leaves [0, 1].
 */
import type { Entry } from "../answers/schema.js";
import type { Target } from "../dataset/schema.js";
import type { RuleSet } from "../matching/contract.js";
import type { FileIndex } from "../matching/file-index.js";
import { matchEntries } from "../matching/match.js";
import type { BudgetUnit } from "../measures/budget.js";
import type { CaseJudgement } from "../measures/contract.js";
import type { Contents } from "./contents.js";
import { wantedRanges } from "./line-level.js";
import type { TrueFile } from "./truth.js";

/** Null where the lines of some target are not known, the truth has none, or files can't be read. */
export function judgeBudget(
  unit: BudgetUnit,
  entries: readonly Entry[],
  targets: readonly Target[],
  present: readonly TrueFile[],
  index: FileIndex | null,
  rules: RuleSet,
  contents: Contents | undefined,
): CaseJudgement | null {
  const wanted = wantedRanges(targets, present);
  if (wanted === null || contents === undefined) return null;
  const files = new Map<string, Lines>();
  const linesOf = (path: string): Lines | null => {
    const known = files.get(path);
    if (known !== undefined) return known;
    const content = contents.get(path);
    if (content === undefined) return null;
    const made = {
      weights: content.tokens.map((tokens) => (unit === "lines" ? 1 : tokens)),
      truth: new Set<number>(),
      handed: new Set<number>(),
    };
    files.set(path, made);
    return made;
  };
  let truth = 0;
  for (const { path, range } of wanted) {
    const file = linesOf(path);
    for (let line = range[0]; file !== null && line <= Math.min(range[1], file.weights.length); line++) {
      if (file.truth.has(line)) continue;
      file.truth.add(line);
      truth += file.weights[line - 1] ?? 0;
    }
  }
  if (truth === 0) return null;
  const runs: { size: number; truth: boolean }[] = [];
  for (const entry of entries) {
    const match = matchEntries([entry], present, index, rules).predictions[0];
    const path = match?.target ?? match?.path ?? null;
    const file = path === null ? null : linesOf(path);
    if (file === null) continue;
    const [from, to] = entry.lines ?? [1, file.weights.length];
    for (let line = Math.max(1, from); line <= Math.min(to, file.weights.length); line++) {
      if (file.handed.has(line)) continue;
      file.handed.add(line);
      const isTruth = file.truth.has(line);
      const size = file.weights[line - 1] ?? 0;
      const last = runs.at(-1);
      if (last !== undefined && last.truth === isTruth) last.size += size;
      else runs.push({ size, truth: isTruth });
    }
  }
  return { ranking: [], targets: [], handed: { runs, truth } };
}

interface Lines {
  /** Of each line, in units of the budget. */
  readonly weights: readonly number[];
  readonly truth: Set<number>;
  readonly handed: Set<number>;
}
