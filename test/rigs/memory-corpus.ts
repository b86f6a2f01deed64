/** A source tree in memory, for tests of what reads trees. */
import { type Digest, digestBytes, digestJson } from "../../src/base/json.js";
import type { Corpus, Tree } from "../../src/corpus/contract.js";

export interface MemoryCorpus extends Corpus {
  /** Paths whose text was asked for, in order. */
  readonly reads: string[];
}

export function memoryTree(files: Readonly<Record<string, string>>, id = "all"): Tree {
  return {
    id,
    source: "memory",
    revision: null,
    files: Object.entries(files)
      .map(([path, text]) => ({ path, digest: digestBytes(text), size: Buffer.byteLength(text) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    notes: [],
  };
}

export function memoryCorpus(files: Readonly<Record<string, string>>, folder = "/nowhere"): MemoryCorpus {
  const tree = memoryTree(files);
  const reads: string[] = [];
  return {
    tree,
    digest: treeDigest(tree),
    reads,
    text: async (path) => {
      reads.push(path);
      return files[path] ?? "";
    },
    folder: async () => folder,
  };
}

export function treeDigest(tree: Tree): Digest {
  return digestJson(tree.files.map(({ path, digest }) => [path, digest]));
}
