/** Names of cells and of their files: safe on every system, and different for different cells. */
import type { Summary } from "../scoring/summary-schema.js";

/** `owner/repo` becomes `owner__repo`; what a file name should not hold becomes `_`. */
export function fileStem(name: string): string {
  const safe = name
    .toLowerCase()
    .replaceAll("/", "__")
    .replace(/[^a-z0-9._-]+/g, "_")
    .replace(/^\.+/, "_");
  return safe === "" ? "unnamed" : safe.slice(0, 100);
}

/** `<dataset>__<backend>_eval__{timestamp}.json`, as the original names its reports. */
export function reportFileName(project: string, label: string): string {
  return `${fileStem(project)}__${fileStem(label)}_eval__{timestamp}.json`;
}

/**
 * The label of each cell, unique: where two cells share one (the same backends scored twice), the rules tell them apart, then the
 * stage, then a number.
 */
export function uniqueLabels(
  cells: readonly { readonly label: string; readonly rules: string; readonly stage: string }[],
): string[] {
  let labels = cells.map(({ label }) => label);
  const clash = () =>
    new Set(labels.filter((label, index) => labels.map(fileStem).indexOf(fileStem(label)) !== index).map(fileStem));
  for (const suffix of ["rules", "stage"] as const) {
    const twice = clash();
    labels = labels.map((label, index) => (twice.has(fileStem(label)) ? `${label}-${cells[index]?.[suffix] ?? ""}` : label));
  }
  const seen = new Set<string>();
  return labels.map((label) => {
    let candidate = label;
    for (let number = 2; seen.has(fileStem(candidate)); number += 1) candidate = `${label}-${number}`;
    seen.add(fileStem(candidate));
    return candidate;
  });
}

/** Summaries from a stored report's meta, in the order of the pipeline and their measures in the order that was asked for. */
export function summariesInOrder(meta: {
  readonly labels: readonly string[];
  readonly summary: Readonly<Record<string, Summary>>;
}): Record<string, Summary> {
  return Object.fromEntries(
    meta.labels.flatMap((label) => {
      const summary = Object.hasOwn(meta.summary, label) ? meta.summary[label] : undefined;
      if (summary === undefined) return [];
      const measures = summary.measure_order.flatMap((name) => {
        const measure = summary.measures[name];
        return measure === undefined ? [] : [[name, measure] as const];
      });
      return [[label, { ...summary, measures: Object.fromEntries(measures) }] as const];
    }),
  );
}
