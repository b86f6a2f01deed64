/**
 * Okapi BM25 over an inverted index. Pure.
 *
 * score(q, d) = sum over the query's terms t, each as often as the query has it, of
 *   idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * |d| / avgdl)),   idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))
 *
 * Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; the idf with `1 +` (as in Lucene) is never
 * negative, so a term that most files have can't count against a file.
 */
import { byScore, type RankedFile, rounded } from "./ranked.js";

export interface Bm25Parameters {
  readonly k1: number;
  readonly b: number;
  /** Longest list to return. */
  readonly top: number;
}

interface Postings {
  /** Document numbers, ascending, and beside them how often the document has the term. */
  readonly documents: number[];
  readonly counts: number[];
}

/** Term statistics only: `k1` and `b` come with the query, so that cells with other parameters share one index. */
export class Bm25Index {
  readonly #paths: string[] = [];
  readonly #lengths: number[] = [];
  readonly #postings = new Map<string, Postings>();
  #totalLength = 0;

  get size(): number {
    return this.#paths.length;
  }

  add(path: string, terms: readonly string[]): void {
    const document = this.#paths.length;
    this.#paths.push(path);
    this.#lengths.push(terms.length);
    this.#totalLength += terms.length;
    for (const term of terms) {
      let postings = this.#postings.get(term);
      if (postings === undefined) {
        postings = { documents: [], counts: [] };
        this.#postings.set(term, postings);
      }
      const last = postings.documents.length - 1;
      if (postings.documents[last] === document) postings.counts[last] = (postings.counts[last] ?? 0) + 1;
      else {
        postings.documents.push(document);
        postings.counts.push(1);
      }
    }
  }

  /** What each of the query's terms that any file has weighs: its idf, as often as the query has it. */
  weights(query: readonly string[]): Map<string, number> {
    const weights = new Map<string, number>();
    for (const [term, times] of countTerms(query)) {
      const df = this.#postings.get(term)?.documents.length ?? 0;
      if (df > 0) weights.set(term, times * Math.log(1 + (this.#paths.length - df + 0.5) / (df + 0.5)));
    }
    return weights;
  }

  /**
   * Files with a score above zero, best first. Scores are rounded to 6 decimals before they are compared and equal ones stand
   * in path order: the ranking must not hang on the order in which floating-point terms were added.
   */
  search(query: readonly string[], { k1, b, top }: Bm25Parameters): (RankedFile & { readonly score: number })[] {
    const averageLength = this.#totalLength / this.#paths.length;
    const scores = new Map<number, number>();
    for (const [term, weight] of this.weights(query)) {
      const postings = this.#postings.get(term);
      if (postings === undefined) continue;
      for (let i = 0; i < postings.documents.length; i++) {
        const document = postings.documents[i] ?? 0;
        const tf = postings.counts[i] ?? 0;
        const length = (this.#lengths[document] ?? 0) / averageLength;
        const score = (weight * tf * (k1 + 1)) / (tf + k1 * (1 - b + b * length));
        scores.set(document, (scores.get(document) ?? 0) + score);
      }
    }
    return [...scores]
      .map(([document, score]) => ({ path: this.#paths[document] ?? "", score: rounded(score) }))
      .filter(({ score }) => score > 0)
      .sort(byScore)
      .slice(0, top);
  }
}

function countTerms(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
