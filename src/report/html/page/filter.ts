/** Which cases a list shows, and in which order. On columns, without objects per case: ten thousand are looked through at each key stroke. */
import type { CaseTable } from "../page-data.js";

export interface Filter {
  readonly q: string;
  /** Positions of the cell that is looked at, of the one beside it (-1: none), and of the measure. */
  readonly cell: number;
  readonly other: number;
  readonly measure: number;
  readonly outcome: string;
  /** `name=value` */
  readonly stratum: string;
  /** `0`, `1`, `2-4`, `5+` */
  readonly targets: string;
  /** Against `other`: `gained`, `lost`, `equal`. */
  readonly change: string;
  /** `zero`, `partial`, `full`, or any. */
  readonly score: string;
  /** `worst`, `best`, `dataset`, `targets`. */
  readonly sort: string;
}

export const TARGET_RANGES: Readonly<Record<string, readonly [number, number]>> = {
  "0": [0, 0],
  "1": [1, 1],
  "2-4": [2, 4],
  "5+": [5, Number.POSITIVE_INFINITY],
};

/** What a search looks into, lower case; made once. */
export function haystack(table: CaseTable): readonly string[] {
  return table.ids.map((id, index) => `${id} ${table.numbers[index] ?? ""} ${table.titles[index] ?? ""}`.toLowerCase());
}

export function scoreOf(table: CaseTable, cell: number, measure: number, index: number): number | null {
  return table.cells[cell]?.values[measure]?.[index] ?? null;
}

/** Second minus first, where both count the case; undefined values are 0, as in the figures. */
export function differenceOf(table: CaseTable, a: number, b: number, measure: number, index: number): number | null {
  const [left, right] = [table.cells[a], table.cells[b]];
  if (left?.counted[index] !== 1 || right?.counted[index] !== 1) return null;
  if ((left.values[measure]?.length ?? 0) === 0 || (right.values[measure]?.length ?? 0) === 0) return null;
  return (right.values[measure]?.[index] ?? 0) - (left.values[measure]?.[index] ?? 0);
}

/** Values are rounded to four digits on their way here. */
const EQUAL = 1e-9;

export function changeOf(difference: number): "gained" | "lost" | "equal" {
  return difference > EQUAL ? "gained" : difference < -EQUAL ? "lost" : "equal";
}

export function filtered(table: CaseTable, words: readonly string[], filter: Filter): number[] {
  const wanted = filter.q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const cell = table.cells[filter.cell];
  const outcome = filter.outcome === "" ? null : table.outcomes.indexOf(filter.outcome);
  const equals = filter.stratum.indexOf("=");
  const stratum = equals === -1 ? null : (table.strata[filter.stratum.slice(0, equals)] ?? []);
  const stratumValue = filter.stratum.slice(equals + 1);
  const range = Object.hasOwn(TARGET_RANGES, filter.targets) ? TARGET_RANGES[filter.targets] : undefined;
  const found: number[] = [];
  for (let index = 0; index < table.ids.length; index++) {
    const text = words[index] ?? "";
    if (!wanted.every((word) => text.includes(word))) continue;
    if (outcome !== null && cell?.outcome[index] !== outcome) continue;
    if (stratum !== null && stratum[index] !== stratumValue) continue;
    const targets = table.targets[index] ?? 0;
    if (range !== undefined && (targets < range[0] || targets > range[1])) continue;
    if (filter.score !== "") {
      if (cell?.counted[index] !== 1) continue;
      const value = scoreOf(table, filter.cell, filter.measure, index) ?? 0;
      const kind = value <= 0 ? "zero" : value >= 1 ? "full" : "partial";
      if (kind !== filter.score) continue;
    }
    if (filter.change !== "" && filter.other !== -1) {
      const difference = differenceOf(table, filter.cell, filter.other, filter.measure, index);
      if (difference === null || changeOf(difference) !== filter.change) continue;
    }
    found.push(index);
  }
  return sorted(table, found, filter);
}

function sorted(table: CaseTable, found: number[], { sort, cell, measure }: Filter): number[] {
  if (sort === "dataset") return found;
  if (sort === "targets") return found.sort((a, b) => (table.targets[b] ?? 0) - (table.targets[a] ?? 0) || a - b);
  const counted = table.cells[cell]?.counted ?? [];
  const sign = sort === "best" ? -1 : 1;
  // Cases that count in no figure come last, whatever their values.
  return found.sort((a, b) => {
    const by = (counted[b] ?? 0) - (counted[a] ?? 0);
    if (by !== 0) return by;
    return sign * ((scoreOf(table, cell, measure, a) ?? 0) - (scoreOf(table, cell, measure, b) ?? 0)) || a - b;
  });
}
