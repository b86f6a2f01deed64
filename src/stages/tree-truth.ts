/**
 * What source trees make of the data set's truth: targets that they lack, targets that lie in a submodule, and, where one commit is pinned
 * for all cases, the fixes that its tree already holds. Nobody should read a figure about a tree in which nothing is wrong any more
 * without being told.
 */
import * as z from "zod";
import { type Tree, treeSchema } from "../corpus/contract.js";
import { caseSchema } from "../dataset/schema.js";
import type { ItemRef, StageOutput, StageTools } from "../engine/contract.js";

const readSchema = caseSchema.pick({ id: true, base_commit: true, targets: true, links: true });
type ReadCase = z.infer<typeof readSchema>;

const EXAMPLES = 5;

/**
 * Sentences; none where every case has its targets in its own tree. `history`: the commits that are part of a commit, null where the source
 * has none, a text where they can't be read.
 */
export async function truthNotes(
  dataset: Pick<StageOutput, "items">,
  trees: readonly ItemRef[],
  tools: Pick<StageTools, "load">,
  history: (commit: string) => Promise<ReadonlySet<string> | string | null>,
): Promise<string[]> {
  const cases = z.array(readSchema).parse(await tools.load(dataset.items));
  const counts = { absent: 0, targets: 0, inSubmodule: [] as string[], cases: new Set<string>() };
  let pinned: Tree | null = null;
  // Trees are read one at a time: there may be hundreds.
  for (const ref of trees) {
    const [value] = await tools.load([ref]);
    const tree = treeSchema.parse(value);
    if (tree.id === "all") pinned = tree;
    const paths = new Set(tree.files.map(({ path }) => path));
    for (const one of cases) if (tree.id === "all" || tree.id === one.base_commit) countTargets(one, tree, paths, counts);
  }
  const where =
    pinned === null ? "their trees" : `the tree${pinned.revision === null ? "" : ` at ${pinned.revision.slice(0, 12)}`}`;
  const notes: string[] = [];
  if (counts.absent > 0) {
    notes.push(
      `${counts.absent} of ${counts.targets} targets, of ${counts.cases.size} cases, are not among the selected files of ${where}: they are counted apart`,
    );
  }
  if (counts.inSubmodule.length > 0) {
    notes.push(
      `${counts.inSubmodule.length} targets are in a submodule, or are one, and submodules are not followed: ${shown(counts.inSubmodule)}`,
    );
  }
  return pinned === null ? notes : [...notes, ...(await heldFixes(cases, pinned, history))];
}

function countTargets(
  one: ReadCase,
  tree: Tree,
  paths: ReadonlySet<string>,
  counts: { absent: number; targets: number; inSubmodule: string[]; cases: Set<string> },
): void {
  for (const { path, partial } of one.targets) {
    // Which file a path without its beginning means is for the scorer to say.
    if (partial === true) continue;
    counts.targets += 1;
    if (paths.has(path)) continue;
    counts.absent += 1;
    counts.cases.add(one.id);
    if (tree.submodules?.some((folder) => path === folder || path.startsWith(`${folder}/`))) counts.inSubmodule.push(path);
  }
}

async function heldFixes(
  cases: readonly ReadCase[],
  { revision }: Tree,
  history: Parameters<typeof truthNotes>[3],
): Promise<string[]> {
  const merges = cases.map(({ id, links }) => ({
    id,
    commits: links.flatMap(({ merge_commit }) => (merge_commit === null ? [] : [merge_commit])),
  }));
  const known = merges.filter(({ commits }) => commits.length > 0);
  if (revision === null || known.length === 0) return [];
  const commits = await history(revision);
  if (commits === null) return [];
  if (typeof commits === "string") return [`whether the tree already holds fixes could not be told: ${commits}`];
  const held = known.filter((one) => one.commits.some((commit) => commits.has(commit))).map(({ id }) => id);
  if (held.length === 0) return [];
  const unknown = cases.length - known.length;
  return [
    `the tree at ${revision.slice(0, 12)} already holds a fix of ${held.length} of ${cases.length} cases (${shown(held)}): what is asked about them is no longer so there${unknown > 0 ? `; of ${unknown} cases no merge commit is known` : ""}. \`at: base\` gives each case the tree before its fix`,
  ];
}

function shown(names: readonly string[]): string {
  const rest = names.length - EXAMPLES;
  return `${names.slice(0, EXAMPLES).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
