/** `--items` and `--sample`: which items of a selectable stage (a data set) are asked about. */
import { digestBytes, digestJson } from "../base/json.js";
import type { ItemRef, StageOutput } from "./contract.js";

export interface Selection {
  /** Ids, compared without case; `#12` or `12` also name `owner/repo#12`. null = all. */
  readonly items: readonly string[] | null;
  /** This many, chosen by the digest of the id: the same ones every time, and a larger sample contains a smaller one. null = all. */
  readonly sample: number | null;
}

export function isSelective(selection: Selection): boolean {
  return selection.items !== null || selection.sample !== null;
}

export function select(refs: readonly ItemRef[], selection: Selection): { chosen: ItemRef[]; unknown: string[] } {
  let chosen = [...refs];
  const unknown: string[] = [];
  if (selection.items !== null) {
    const wanted = new Set<string>();
    for (const name of selection.items) {
      const lower = name.toLowerCase();
      const matches = refs.filter(({ id }) => {
        const own = id.toLowerCase();
        return own === lower || own.endsWith(lower.startsWith("#") ? lower : `#${lower}`);
      });
      if (matches.length === 0) unknown.push(name);
      for (const { id } of matches) wanted.add(id);
    }
    chosen = chosen.filter(({ id }) => wanted.has(id));
  }
  if (selection.sample !== null && selection.sample < chosen.length) {
    const ranked = chosen
      .map((ref) => ({ ref, order: digestBytes(`sample\n${ref.id}`) }))
      .sort((a, b) => (a.order < b.order ? -1 : 1));
    const kept = new Set(ranked.slice(0, selection.sample).map(({ ref }) => ref.id));
    chosen = chosen.filter(({ id }) => kept.has(id));
  }
  return { chosen, unknown };
}

/** The output as its consumers see it. */
export function selected(output: StageOutput, selection: Selection): StageOutput {
  const { chosen } = select(output.all, selection);
  if (chosen.length === output.all.length) return output;
  return { ...output, items: chosen, digest: digestJson(["selection", output.digest, chosen.map(({ id }) => id)]) };
}
