/**
 * Judging by lines: a prediction hits a range of the truth that its own lines overlap, in the file that it resolved to. Ranges are hit once
 * each, so that several chunks inside of one range are one find and no measure exceeds 1.
 *
 * Predictions are matched one by one here: where files are judged, two chunks of one file are a repetition; where lines are, they are two
 * predictions.
 */
import type { Entry } from "../answers/schema.js";
import type { Target } from "../dataset/schema.js";
import type { RuleSet } from "../matching/contract.js";
import type { FileIndex } from "../matching/file-index.js";
import { matchEntries } from "../matching/match.js";
import type { CaseJudgement } from "../measures/contract.js";
import type { TrueFile } from "./truth.js";

type Range = readonly [number, number];

interface Wanted {
  readonly path: string;
  readonly range: Range;
  readonly grade: number;
}

/**
 * Null where the data set does not say which lines of every target are meant, or none were changed. `iou`: the least share of lines in common; absent = one line
 * suffices. A prediction without lines names none.
 */
export function judgeLines(
  entries: readonly Entry[],
  targets: readonly Target[],
  present: readonly TrueFile[],
  index: FileIndex | null,
  rules: RuleSet,
  iou: number | undefined,
): CaseJudgement | null {
  const wanted = wantedRanges(targets, present);
  if (wanted === null || wanted.length === 0) return null;
  const hit = new Set<number>();
  const ranking = entries.map((entry) => {
    const file = matchEntries([entry], present, index, rules).predictions[0]?.target ?? null;
    const { lines } = entry;
    if (file === null || lines === undefined) return -1;
    let best = -1;
    for (const [at, { path, range, grade }] of wanted.entries()) {
      if (path !== file || hit.has(at) || !overlaps(lines, range, iou)) continue;
      if (best === -1 || grade > (wanted[best]?.grade ?? 0)) best = at;
    }
    if (best !== -1) hit.add(best);
    return best;
  });
  return { ranking, targets: wanted.map(({ grade }) => grade) };
}

/** The ranges of all targets that the tree has; null where some are not known. */
export function wantedRanges(targets: readonly Target[], present: readonly TrueFile[]): Wanted[] | null {
  const wanted: Wanted[] = [];
  for (const { path, ranges, grade } of targets) {
    // A target that the tree lacks is no target here either.
    const file = present.find((one) => one.path === path || one.names.includes(path));
    if (file === undefined) continue;
    if (ranges === null) return null;
    for (const range of ranges) wanted.push({ path: file.path, range, grade });
  }
  return wanted;
}

/** Both inclusive. */
function overlaps(lines: Range, range: Range, iou: number | undefined): boolean {
  const shared = Math.min(lines[1], range[1]) - Math.max(lines[0], range[0]) + 1;
  if (shared < 1) return false;
  if (iou === undefined) return true;
  const together = lines[1] - lines[0] + 1 + (range[1] - range[0] + 1) - shared;
  return shared / together >= iou;
}
