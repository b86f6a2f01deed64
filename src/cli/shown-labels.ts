/** `--label bm25=BM25`: names for people in tables, where a cell's label is made for files. */
import { nearest } from "../base/nearest.js";
import { type OptionValue, UsageError } from "./contract.js";

/** From what a cell is called to what is shown, in the order given. */
export function shownLabels(options: Readonly<Record<string, OptionValue>>): ReadonlyMap<string, string> {
  const typed = Array.isArray(options.label) ? (options.label as readonly string[]) : [];
  const names = new Map<string, string>();
  for (const one of typed) {
    const at = one.indexOf("=");
    const [label, shown] = [one.slice(0, Math.max(0, at)).trim(), one.slice(at + 1).trim()];
    if (label === "" || shown === "") throw new UsageError(`--label ${one}: write LABEL=NAME`);
    names.set(label, shown);
  }
  return names;
}

/** Each cell with the name to show, under any of the names it goes by; a name that no cell has, or that two would share, is refused. */
export function relabelled<T extends { readonly label: string }>(
  cells: readonly T[],
  names: ReadonlyMap<string, string>,
  alsoCalled: (cell: T) => readonly string[] = () => [],
): T[] {
  const called = (cell: T) => [cell.label, ...alsoCalled(cell)];
  const known = new Set(cells.flatMap(called));
  for (const name of names.keys()) {
    if (known.has(name)) continue;
    const near = nearest(name, known);
    throw new UsageError(
      `--label ${name}=...: there is no such cell${near === undefined ? "" : `; did you mean ${near}?`} Cells: ${cells.map(({ label }) => label).join(", ")}`,
    );
  }
  const shown = cells.map((cell) => ({
    ...cell,
    label:
      called(cell)
        .flatMap((name) => names.get(name) ?? [])
        .at(-1) ?? cell.label,
  }));
  const twice = shown.find(({ label }, index) => shown.findIndex((other) => other.label === label) !== index);
  if (twice !== undefined && names.size > 0)
    throw new UsageError(`two cells would be called ${twice.label}: give them different names with --label`);
  return shown;
}
