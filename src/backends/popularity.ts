/**
 * `popularity`: the files that the *other* cases changed most often, whatever the issue says. A system that does not beat it may know
 * the project's hot spots and nothing about the issue. Cases that share a pull request with the asked one are left out as well: they
 * would hand over its truth. The future is not left out: a file counts also when it was changed after the issue.
 */
import * as z from "zod";
import type { BackendKind, CaseTruth } from "./contract.js";
import { comparePaths, completed, type RankedFile, rankedResponse } from "./ranked.js";

const options = z.strictObject({
  top: z.number().int().min(1).default(15).describe("Longest list of files to answer with."),
});
type Options = z.infer<typeof options>;

interface Ranking {
  /** How many cases of the repository have the file as a target. */
  readonly counts: ReadonlyMap<string, number>;
  /** The files, most often changed first, ties in path order. */
  readonly order: readonly string[];
}

interface Popularity {
  /** Most often changed files of the other cases, at most `top`, only files that `exists` accepts. */
  rank(id: string, top: number, exists: (path: string) => boolean): RankedFile[];
}

/** Counts once over all cases; a question then only takes back what the cases that are left out had added. */
export function popularityOf(truths: readonly CaseTruth[]): Popularity {
  const byId = new Map(truths.map((truth) => [truth.id, truth]));
  const byPull = new Map<string, CaseTruth[]>();
  const targets = new Map(truths.map((truth) => [truth, new Set(truth.targets.map(({ path }) => path))]));
  const counts = new Map<string | null, Map<string, number>>();
  for (const truth of truths) {
    for (const { repository, number } of truth.links) append(byPull, `${repository}#${number}`, truth);
    const ofRepository = counts.get(truth.repository) ?? new Map<string, number>();
    counts.set(truth.repository, ofRepository);
    for (const path of targets.get(truth) ?? []) ofRepository.set(path, (ofRepository.get(path) ?? 0) + 1);
  }
  const rankings = new Map<string | null, Ranking>();
  for (const [repository, ofRepository] of counts) {
    const byCount = (a: string, b: string) => (ofRepository.get(b) ?? 0) - (ofRepository.get(a) ?? 0) || comparePaths(a, b);
    rankings.set(repository, { counts: ofRepository, order: [...ofRepository.keys()].sort(byCount) });
  }

  return {
    rank: (id, top, exists) => {
      const asked = byId.get(id);
      const ranking = asked === undefined ? undefined : rankings.get(asked.repository);
      if (asked === undefined || ranking === undefined) return [];
      const leftOut = new Set([asked]);
      for (const { repository, number } of asked.links) {
        // Cases of other repositories never counted here.
        for (const other of byPull.get(`${repository}#${number}`) ?? []) {
          if (other.repository === asked.repository) leftOut.add(other);
        }
      }
      const taken = new Map<string, number>();
      for (const truth of leftOut) for (const path of targets.get(truth) ?? []) taken.set(path, (taken.get(path) ?? 0) + 1);
      const score = (path: string) => (ranking.counts.get(path) ?? 0) - (taken.get(path) ?? 0);
      const files: RankedFile[] = [];
      let unchanged = 0;
      // The order of the files that lost nothing still holds: the first `top` of them suffice, beside all that lost something.
      for (const path of ranking.order) {
        if (taken.has(path) || !exists(path)) continue;
        files.push({ path, score: score(path) });
        if (++unchanged === top) break;
      }
      for (const path of taken.keys()) if (score(path) > 0 && exists(path)) files.push({ path, score: score(path) });
      return files.sort((a, b) => (b.score ?? 0) - (a.score ?? 0) || comparePaths(a.path, b.path)).slice(0, top);
    },
  };
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

export const popularity: BackendKind<Options> = {
  kind: "popularity",
  summary: "The files that the other cases' fixes changed most often (leave-one-out).",
  version: 1,
  options,
  identityOf: ({ top }) => ({ top }),
  needsCorpus: "optional",
  readsTruth: false,
  readsDataset: true,
  prompt: "none",
  concurrency: () => 4,
  open: async ({ top }, { truths }) => {
    if (truths === undefined) throw new Error("popularity was opened without the data set");
    const ranking = popularityOf(truths);
    const pathSets = new WeakMap<object, ReadonlySet<string>>();
    return {
      ask: async ({ id, corpus }) => {
        let exists = (_path: string) => true;
        if (corpus !== undefined) {
          const paths = pathSets.get(corpus.tree) ?? new Set(corpus.tree.files.map(({ path }) => path));
          pathSets.set(corpus.tree, paths);
          exists = (path) => paths.has(path);
        }
        return completed(rankedResponse(ranking.rank(id, top, exists)));
      },
      close: async () => {},
    };
  },
};
