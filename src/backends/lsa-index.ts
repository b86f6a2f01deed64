/**
 * Latent semantic analysis: files and questions as points in a space of few dimensions, in which words that occur in the same files lie
 * together (Deerwester, Dumais, Furnas, Landauer and Harshman, "Indexing by latent semantic analysis", JASIS 41(6), 1990).
 *
 * Weight of term t in file d: (1 + ln tf) * idf(t), idf(t) = ln((1 + N) / (1 + df)) + 1, each file's weights scaled to length 1. A question
 * is weighted alike and folded in: q' = U' q; a file is V_d * S; the score is the cosine of the two.
 */
import { byScore, type RankedFile, rounded } from "./ranked.js";
import { dot, type SparseMatrix, truncatedSvd } from "./truncated-svd.js";

export interface LsaParameters {
  readonly dimensions: number;
  readonly iterations: number;
  readonly seed: number;
  /** Terms of fewer files say nothing of which words go together. */
  readonly min_files: number;
}

interface Space {
  readonly paths: readonly string[];
  readonly terms: ReadonlyMap<string, number>;
  readonly idf: Float64Array;
  /** One vector per dimension, one number per term. */
  readonly left: readonly Float64Array[];
  /** One vector per file, of length 1 (or all zeros). */
  readonly files: readonly Float64Array[];
}

export class LsaIndex {
  readonly #space: Space;

  private constructor(space: Space) {
    this.#space = space;
  }

  get dimensions(): number {
    return this.#space.left.length;
  }

  /** `documents` in path order; `pause` lets others have their turn. */
  static async build(
    documents: readonly { readonly path: string; readonly terms: readonly string[] }[],
    parameters: LsaParameters,
    pause: () => Promise<void>,
  ): Promise<LsaIndex> {
    const counts = documents.map(({ terms }) => countTerms(terms));
    const frequency = new Map<string, number>();
    for (const one of counts) for (const term of one.keys()) frequency.set(term, (frequency.get(term) ?? 0) + 1);
    const minimum = Math.min(parameters.min_files, documents.length);
    const known = [...frequency].filter(([, df]) => df >= minimum).map(([term]) => term);
    const terms = new Map(known.sort().map((term, index) => [term, index]));
    const n = documents.length;
    const idf = Float64Array.from(terms.keys(), (term) => Math.log((1 + n) / (1 + (frequency.get(term) ?? 0))) + 1);
    // One row per file and one column per term: the transposed of the literature's, whose left and right are then swapped.
    const matrix: SparseMatrix = {
      rows: n,
      columns: terms.size,
      entries: counts.map((one) => {
        const weights = weighted(one, terms, idf);
        return { columns: Int32Array.from(weights.keys()), values: Float64Array.from(weights.values()) };
      }),
    };
    const svd = await truncatedSvd(matrix, parameters.dimensions, { ...parameters, pause });
    const files = documents.map((_, file) =>
      unit(Float64Array.from(svd.values, (value, dimension) => value * (svd.left[dimension]?.[file] ?? 0))),
    );
    return new LsaIndex({ paths: documents.map(({ path }) => path), terms, idf, left: svd.right, files });
  }

  /** Files with a cosine above zero, best first; none where no term of the question is known. */
  search(query: readonly string[], top: number): (RankedFile & { readonly score: number })[] {
    const { paths, terms, idf, left, files } = this.#space;
    const weights = weighted(countTerms(query), terms, idf);
    const folded = unit(
      Float64Array.from(left, (vector) => {
        let sum = 0;
        for (const [term, weight] of weights) sum += weight * (vector[term] ?? 0);
        return sum;
      }),
    );
    return files
      .map((file, index) => ({ path: paths[index] ?? "", score: rounded(dot(file, folded)) }))
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

/** Weights by number of the term, ascending; length 1. */
function weighted(
  counts: ReadonlyMap<string, number>,
  terms: ReadonlyMap<string, number>,
  idf: Float64Array,
): Map<number, number> {
  const weights: [number, number][] = [];
  let square = 0;
  for (const [term, tf] of counts) {
    const number = terms.get(term);
    if (number === undefined) continue;
    weights.push([number, (1 + Math.log(tf)) * (idf[number] ?? 0)]);
  }
  weights.sort(([a], [b]) => a - b);
  for (const [, weight] of weights) square += weight * weight;
  const length = Math.sqrt(square) || 1;
  return new Map(weights.map(([number, weight]) => [number, weight / length]));
}

function unit(vector: Float64Array): Float64Array {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}
