/**
 * What is derived from a source tree alone (an index), made once per tree and shared by all cells and cases that ask about it.
 *
 * It is keyed by the tree's content, so sharing can't mix up results. Only the trees used last are kept: a benchmark with a tree per
 * case asks about them one after the other, and hundreds of indexes would not fit into memory.
 */
import type { Corpus } from "../corpus/contract.js";

const KEPT_TREES = 8;

export type CorpusMemo<T> = (corpus: Corpus) => Promise<T>;

export function corpusMemo<T>(build: (corpus: Corpus) => Promise<T>): CorpusMemo<T> {
  const made = new Map<string, Promise<T>>();
  return (corpus) => {
    const known = made.get(corpus.digest);
    if (known !== undefined) {
      // Moved to the end: a Map keeps insertion order, so the first entry is the one not used for longest.
      made.delete(corpus.digest);
      made.set(corpus.digest, known);
      return known;
    }
    const promise = build(corpus);
    made.set(corpus.digest, promise);
    // A failure (a damaged cache entry that is about to be repaired) must not be remembered.
    promise.catch(() => {
      if (made.get(corpus.digest) === promise) made.delete(corpus.digest);
    });
    for (const oldest of made.keys()) {
      if (made.size <= KEPT_TREES) break;
      made.delete(oldest);
    }
    return promise;
  };
}
