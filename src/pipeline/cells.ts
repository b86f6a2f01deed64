/**
 * How the cells of matrices flow through the graph.
 *
 * Each matrix is a dimension, an *axis*, named by its stage. A cell of a stage is a choice of one cell on each axis that reaches
 * it. A stage that needs two stages pairs their cells where they share an axis (answers and scores of the same matrix) and multiplies
 * them where they don't: the natural join of two tables. A need that is joined brings no axis.
 */
import type { Axis } from "./matrix.js";
import { MAX_CELLS } from "./matrix.js";
import { uniqueLabels } from "./names.js";
import type { ResolvedNeed } from "./needs.js";

export interface Cell {
  /** Stage that has the matrix -> index of its cell, in the order of the label's parts. */
  readonly choice: ReadonlyMap<string, number>;
  readonly label: string | null;
}

export interface StageCells {
  readonly axes: readonly string[];
  readonly cells: readonly Cell[];
  /** Cells by their choice, for lookup. */
  readonly index: ReadonlyMap<string, number>;
}

/** `axes` has every axis so far, `own` included. null where there would be more than `MAX_CELLS` cells. */
export function cellsOf(
  needs: readonly ResolvedNeed[],
  own: Axis | null,
  done: ReadonlyMap<string, StageCells>,
  axes: ReadonlyMap<string, Axis>,
): StageCells | null {
  let rows: ReadonlyMap<string, number>[] = [new Map()];
  const reached = new Set<string>();
  for (const { stage, mode } of needs) {
    const other = done.get(stage);
    if (mode === "join" || other === undefined) continue;
    const fresh = other.axes.filter((axis) => !reached.has(axis));
    if (fresh.length === 0) continue;
    const joined: ReadonlyMap<string, number>[] = [];
    for (const row of rows) {
      for (const { choice } of other.cells) {
        if (!agree(row, choice)) continue;
        if (joined.length === MAX_CELLS) return null;
        joined.push(new Map([...row, ...choice]));
      }
    }
    rows = joined;
    for (const axis of fresh) reached.add(axis);
  }
  if (own !== null) {
    if (rows.length * own.cells.length > MAX_CELLS) return null;
    rows = rows.flatMap((row) => own.cells.map((_, index) => new Map([...row, [own.stage, index]])));
    reached.add(own.stage);
  }
  return stageCells([...reached], rows, axes);
}

function stageCells(
  reached: readonly string[],
  rows: readonly ReadonlyMap<string, number>[],
  axes: ReadonlyMap<string, Axis>,
): StageCells {
  const labels = uniqueLabels(
    rows.map((row) => reached.map((axis) => axes.get(axis)?.cells[row.get(axis) ?? 0]?.label ?? "cell").join("-")),
  );
  const cells = rows.map((choice, index) => ({ choice, label: reached.length === 0 ? null : (labels[index] ?? "cell") }));
  return { axes: reached, cells, index: new Map(rows.map((row, index) => [choiceKey(row, reached), index])) };
}

/** The same stage outside any matrix: what stands in where its cells are too many to be made. */
export function singleCell(): StageCells {
  return stageCells([], [new Map()], new Map());
}

function agree(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  for (const [axis, index] of a) if ((b.get(axis) ?? index) !== index) return false;
  return true;
}

function choiceKey(choice: ReadonlyMap<string, number>, axes: readonly string[]): string {
  return axes.map((axis) => choice.get(axis)).join(",");
}

/** The cells of a needed stage that belong to `cell`: one for a pair, every one that agrees for a join. */
export function neededCells(cell: Cell, mode: ResolvedNeed["mode"], other: StageCells): readonly number[] {
  if (mode === "join") return other.cells.flatMap(({ choice }, index) => (agree(cell.choice, choice) ? [index] : []));
  const index = other.index.get(choiceKey(cell.choice, other.axes));
  return index === undefined ? [] : [index];
}
