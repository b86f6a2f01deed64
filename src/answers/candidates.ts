/** Entries of an answer in words together with where they stand, and which of them count. */
import type { Section } from "./blocks.js";
import type { HeadEntry } from "./heads.js";
import type { ReadBy } from "./schema.js";

export interface TextEntry extends HeadEntry {
  readonly readBy: ReadBy;
}

export interface Candidate {
  readonly entry: TextEntry;
  readonly section: Section;
  readonly final: boolean;
}

/** Open sections before soft ones, final answers before drafts; excluded and dropped sections give nothing. */
export function choose(candidates: readonly Candidate[]): readonly TextEntry[] {
  for (const section of ["open", "soft"] as const) {
    const here = candidates.filter((one) => one.section === section);
    const final = here.filter((one) => one.final);
    const best = final.length > 0 ? final : here;
    if (best.length > 0) return best.map((one) => one.entry);
  }
  return [];
}
