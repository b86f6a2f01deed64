/**
 * Lines of a data set are true of one commit. Where a tree is there to look at, a commit that is not the tree's, and ranges that a file of
 * the tree does not have, show that the two don't belong together; figures made of them would look like any others.
 */
import type { Corpus } from "../corpus/contract.js";
import type { Case } from "../dataset/schema.js";
import type { CaseTrees } from "./case-trees.js";

const SHOWN = 3;

/** What is wrong, for the first few cases by name, or null. Targets that the tree lacks are no contradiction: scoring counts them apart. */
export async function contradiction(cases: readonly Case[], trees: CaseTrees): Promise<string | null> {
  const commits: string[] = [];
  const lines: string[] = [];
  const counts = new Map<string, Promise<number>>();
  for (const one of cases) {
    const tree = trees.forCase(one);
    if (tree === undefined) continue;
    const ranged = one.targets.filter(({ path, ranges }) => ranges !== null && tree.has(path));
    if (ranged.length === 0 && one.base_commit === null) continue;
    const corpus = await tree.open();
    const { revision } = corpus.tree;
    if (one.base_commit !== null && revision !== null && isOther(one.base_commit, revision)) {
      commits.push(`${one.id} is about commit ${one.base_commit}`);
      continue;
    }
    for (const { path, ranges } of ranged) {
      const name = JSON.stringify([tree.digest, path]);
      const counting = counts.get(name) ?? linesOf(corpus, path);
      counts.set(name, counting);
      const count = await counting;
      for (const [from, to] of ranges ?? []) {
        if (to > count) lines.push(`${one.id}: ${path}:${from}-${to}, and the file has ${count} lines`);
      }
    }
  }
  const first = commits[0];
  if (first !== undefined) {
    return `the source tree is of another commit: ${some(commits)}. Check out the commit that the data set is about`;
  }
  if (lines.length === 0) return null;
  return `${lines.length} ranges lie beyond the end of their file (${some(lines)}): is it the right commit, and are lines counted from 1?`;
}

/** Commit ids may be cut short; what is no commit id (a version, a branch) can't be compared. */
function isOther(base: string, revision: string): boolean {
  const [a, b] = [base.toLowerCase(), revision.toLowerCase()];
  if (!/^[0-9a-f]{7,64}$/.test(a) || !/^[0-9a-f]{40,64}$/.test(b)) return false;
  return !b.startsWith(a);
}

async function linesOf(corpus: Corpus, path: string): Promise<number> {
  const text = await corpus.text(path);
  let count = text.endsWith("\n") || text === "" ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function some(list: readonly string[]): string {
  return `${list.slice(0, SHOWN).join("; ")}${list.length > SHOWN ? `; and ${list.length - SHOWN} more` : ""}`;
}
