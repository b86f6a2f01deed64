/**
 * What was left out of source trees without the pipeline file saying so: links, history, packages, files that are too large. Said when trees
 * are made and in every report, since a target among it is counted as absent.
 */

import { treeSchema } from "../corpus/contract.js";
import { isSelectionNote } from "../corpus/select.js";
import type { ItemRef, StageTools } from "../engine/contract.js";

/** Trees of many commits may each have a note of their own. */
const MOST_NOTES = 10;

/** Sentences, each once however many trees have it. Trees are read one at a time: there may be hundreds. */
export async function treeNotes(trees: readonly ItemRef[], tools: Pick<StageTools, "load">): Promise<string[]> {
  const counts = new Map<string, number>();
  for (const ref of trees) {
    const [value] = await tools.load([ref]);
    const { notes } = treeSchema.pick({ notes: true }).parse(value);
    for (const note of notes) if (!isSelectionNote(note)) counts.set(note, (counts.get(note) ?? 0) + 1);
  }
  const said = [...counts].map(([note, count]) =>
    trees.length === 1 ? `source tree: ${note}` : `${count} of ${trees.length} source trees: ${note}`,
  );
  if (said.length <= MOST_NOTES) return said;
  return [...said.slice(0, MOST_NOTES), `${said.length - MOST_NOTES} more notes like these on other source trees`];
}
