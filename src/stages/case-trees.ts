/**
 * Which source tree a case is asked about, from what a corpus stage gave: the tree `all` for every case, else the one that bears the
 * case's base commit.
 *
 * Trees may be many and large (one per case). Their file lists are read once, in small batches, for what keys need (digest, paths);
 * the contents only when a case is really asked.
 */
import type { Digest } from "../base/json.js";
import { type Corpus, type Tree, treeSchema } from "../corpus/contract.js";
import type { Case } from "../dataset/schema.js";
import type { ItemRef, StageOutput, StageTools } from "../engine/contract.js";

/** `openCorpus` of the corpus room: no reading until contents are asked for. */
export type OpenCorpus = (tree: Tree, tools: StageTools) => Corpus;

export interface CaseTree {
  readonly digest: Digest;
  /** Does the tree have that file? Always true if paths were not asked for. */
  readonly has: (path: string) => boolean;
  readonly open: () => Promise<Corpus>;
}

export interface CaseTrees {
  /** undefined: no tree is for this case. */
  forCase(item: Pick<Case, "base_commit">): CaseTree | undefined;
}

const BATCH = 8;
const KEPT_OPEN = 8;

export async function caseTrees(
  output: StageOutput,
  tools: StageTools,
  openCorpus: OpenCorpus,
  keepPaths: boolean,
): Promise<CaseTrees> {
  const trees = new Map<string, CaseTree>();
  // Trees of one project are mostly the same paths: each is held once, however many commits there are.
  const interned = new Map<string, string>();
  const intern = (path: string) => {
    const known = interned.get(path);
    if (known === undefined) interned.set(path, path);
    return known ?? path;
  };
  const open = new Map<string, Corpus>();
  const remember = (id: string, corpus: Corpus): Corpus => {
    open.delete(id);
    open.set(id, corpus);
    for (const oldest of open.keys()) {
      if (open.size <= KEPT_OPEN) break;
      open.delete(oldest);
    }
    return corpus;
  };
  const read = async (refs: readonly ItemRef[]) =>
    (await tools.load(refs)).map((value) => openCorpus(treeSchema.parse(value), tools));

  // `all`: selecting cases with --items must not hide trees.
  for (let i = 0; i < output.all.length; i += BATCH) {
    const refs = output.all.slice(i, i + BATCH);
    for (const [j, corpus] of (await read(refs)).entries()) {
      const ref = refs[j];
      if (ref === undefined) continue;
      const { id, files } = corpus.tree;
      const paths = keepPaths ? new Set(files.map(({ path }) => intern(path))) : undefined;
      remember(id, corpus);
      trees.set(id, {
        digest: corpus.digest,
        has: (path) => paths?.has(path) ?? true,
        open: async () => {
          const known = open.get(id);
          if (known !== undefined) return remember(id, known);
          const [again] = await read([ref]);
          if (again === undefined) throw new Error(`the source tree ${id} was there and is gone`);
          return remember(id, again);
        },
      });
    }
  }
  const forAll = trees.get("all");
  return {
    forCase: ({ base_commit }) => forAll ?? (base_commit === null ? undefined : trees.get(base_commit)),
  };
}
