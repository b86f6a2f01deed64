/**
 * Changes by lines: what a unified diff does to the old file, as ranges of its lines, and how such ranges are carried back through an earlier
 * diff. Texts are never kept, only numbers. A change that only inserts lines has no old line of its own: it is a place between two lines.
 */

/** 1-based, both inclusive. */
export type LineRange = readonly [number, number];

/** Old side of a change: its first line and how many; with a count of 0 lines were inserted after that line (0 = before the first). */
export type OldHunk = readonly [number, number];

export interface Hunk {
  readonly old: OldHunk;
  /** New side, in the same form. */
  readonly new: OldHunk;
}

/** Four groups: old start and count, new start and count; a count that is left out is 1. */
export const HUNK_HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/**
 * The runs of changed lines in the hunks of one file's diff; context lines are no part of them. Headers before the first `@@` are skipped. Null
 * where there is no hunk at all (a binary file, a rename alone, a text that is cut before its first).
 */
export function hunksOfDiff(diff: string): Hunk[] | null {
  const reader = new HunkReader();
  let seen = false;
  for (const line of lines(diff)) {
    if (reader.inside) reader.line(line);
    else {
      const header = HUNK_HEADER.exec(line);
      if (header === null) continue;
      seen = true;
      reader.open(header);
    }
  }
  reader.close();
  return seen ? reader.hunks : null;
}

/** One line at a time: a diff may be large, and an array of all its lines larger. */
function* lines(text: string): Generator<string> {
  let from = 0;
  while (from <= text.length) {
    const end = text.indexOf("\n", from);
    if (end === -1) break;
    yield text.slice(from, end);
    from = end + 1;
  }
  if (from < text.length) yield text.slice(from);
}

/** Told the header and then the lines of a hunk, finds the runs of changes. */
export class HunkReader {
  readonly hunks: Hunk[] = [];
  #oldLeft = 0;
  #newLeft = 0;
  #old = 0;
  #new = 0;
  #run: { old: number; oldCount: number; new: number; newCount: number } | null = null;

  /** Are lines of the present hunk still to come? */
  get inside(): boolean {
    return this.#oldLeft > 0 || this.#newLeft > 0;
  }

  /** `header`: the match of a hunk's `@@` line, with four groups. */
  open(header: readonly (string | undefined)[]): void {
    this.close();
    this.#oldLeft = Number(header[2] ?? 1);
    this.#newLeft = Number(header[4] ?? 1);
    // With a count of 0 the header names the line before.
    this.#old = Number(header[1]) + (this.#oldLeft === 0 ? 1 : 0);
    this.#new = Number(header[3]) + (this.#newLeft === 0 ? 1 : 0);
  }

  line(text: string): void {
    const sign = text[0] ?? " ";
    if (sign === "\\") return;
    if (sign === "+" || sign === "-") {
      this.#run ??= { old: this.#old, oldCount: 0, new: this.#new, newCount: 0 };
      if (sign === "+") {
        this.#run.newCount += 1;
        this.#new += 1;
        this.#newLeft -= 1;
      } else {
        this.#run.oldCount += 1;
        this.#old += 1;
        this.#oldLeft -= 1;
      }
    } else {
      this.close();
      this.#old += 1;
      this.#new += 1;
      this.#oldLeft -= 1;
      this.#newLeft -= 1;
    }
    if (!this.inside) this.close();
  }

  close(): void {
    const run = this.#run;
    if (run === null) return;
    this.#run = null;
    this.hunks.push({
      old: [run.oldCount === 0 ? run.old - 1 : run.old, run.oldCount],
      new: [run.newCount === 0 ? run.new - 1 : run.new, run.newCount],
    });
  }
}

/**
 * Ranges of old lines that changes concern, sorted, those that overlap joined. An insertion concerns the two lines that it comes between, one
 * at either end of the file. `length`: lines of the old file, where it is known.
 */
export function rangesOf(hunks: readonly OldHunk[], length = Number.POSITIVE_INFINITY): LineRange[] {
  const ranges = hunks.map(([start, count]): LineRange => {
    if (count > 0) return [start, Math.min(start + count - 1, length)];
    return [Math.max(1, start), Math.max(1, Math.min(start + 1, length))];
  });
  return joined(ranges.filter(([from, to]) => from <= to));
}

function joined(ranges: readonly LineRange[]): LineRange[] {
  const result: [number, number][] = [];
  for (const [from, to] of [...ranges].sort(([a, b], [c, d]) => a - c || b - d)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

/** Sorted, each once, those that overlap joined; insertions inside of a changed run are part of it. */
export function uniteHunks(hunks: readonly OldHunk[]): OldHunk[] {
  const runs = joined(hunks.filter(([, count]) => count > 0).map(([start, count]) => [start, start + count - 1] as const));
  const places = new Set(hunks.filter(([, count]) => count === 0).map(([start]) => start));
  const apart = [...places].filter((place) => !runs.some(([from, to]) => from - 1 <= place && place <= to));
  return [...runs.map(([from, to]): OldHunk => [from, to - from + 1]), ...apart.map((place): OldHunk => [place, 0])].sort(
    ([a, b], [c, d]) => a - c || b - d,
  );
}

/**
 * A change of a later file as a change of an earlier one, where `earlier` is what lies between them (old side: the earlier file, in order).
 * Lines that are not there yet in the earlier file become the place where they were put; lines that were changed between become all of what
 * they were changed from.
 */
export function carryBack([start, count]: OldHunk, earlier: readonly Hunk[]): OldHunk {
  const low = placed(start, earlier, "low");
  const high = placed(count === 0 ? start : start + count - 1, earlier, "high");
  if (count === 0 || low > high) return [Math.max(0, high), 0];
  return [low, high - low + 1];
}

/** The earlier line of a later one; of a line that was changed between, the first or the last of what it was changed from. */
function placed(line: number, earlier: readonly Hunk[], end: "low" | "high"): number {
  let shift = 0;
  for (const { old, new: later } of earlier) {
    const [laterStart, laterCount] = later;
    if (laterCount > 0 && line >= laterStart && line < laterStart + laterCount) {
      const [oldStart, oldCount] = old;
      if (oldCount === 0) return end === "low" ? oldStart + 1 : oldStart;
      return end === "low" ? oldStart : oldStart + oldCount - 1;
    }
    // The line after which the hunk stands, or its last line, lies before ours: it moves us.
    const last = laterCount === 0 ? laterStart : laterStart + laterCount - 1;
    if (last >= line) break;
    shift += old[1] - laterCount;
  }
  return line + shift;
}
