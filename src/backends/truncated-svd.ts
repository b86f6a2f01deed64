/**
 * The largest singular values of a sparse matrix with their vectors, by subspace iteration: start with a random basis, multiply by the matrix
 * and back again and again, and solve the small problem that is left (Halko, Martinsson and Tropp, "Finding structure with randomness",
 * SIAM Review 53(2), 2011, algorithms 4.4 and 5.1). The random start has a fixed seed and every sum a fixed order, so the same matrix gives the
 * same numbers. Pure.
 */
import { randomStream } from "../base/random.js";

/** Rows of a sparse matrix: `columns[i]` and `values[i]` of row i, columns ascending. */
export interface SparseMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly entries: readonly { readonly columns: Int32Array; readonly values: Float64Array }[];
}

export interface Svd {
  /** Largest first. */
  readonly values: Float64Array;
  /** For each value, the left vector (one number per row) and the right one (one per column); their sign is arbitrary but fixed. */
  readonly left: readonly Float64Array[];
  readonly right: readonly Float64Array[];
}

/** More vectors than asked for are carried along: the last ones wanted converge by their gap to the first one that is not. */
const EXTRA = 10;
/** A singular value below this share of the largest is rounding. */
const NOTHING = 1e-10;

/** At most `rank` of them; fewer where the matrix has no more. `pause` is awaited between iterations, so that others get their turn. */
export async function truncatedSvd(
  matrix: SparseMatrix,
  rank: number,
  { iterations, seed, pause }: { readonly iterations: number; readonly seed: number; readonly pause: () => Promise<void> },
): Promise<Svd> {
  const size = Math.min(rank + EXTRA, matrix.rows, matrix.columns);
  let basis = orthonormal(randomBasis(matrix.columns, size, seed));
  for (let i = 0; i < iterations; i++) {
    basis = orthonormal(timesTransposed(matrix, times(matrix, basis)));
    await pause();
  }
  // Within the basis the problem is small: eigenvectors of (A Q)' (A Q).
  const images = times(matrix, basis);
  const { values, vectors } = symmetricEigen(gram(images));
  const largest = Math.sqrt(Math.max(0, values[0] ?? 0));
  const kept = [...values]
    .map((value) => Math.sqrt(Math.max(0, value)))
    .filter((value) => value > NOTHING * largest && value > 0);
  const found = kept.slice(0, rank);
  return {
    values: Float64Array.from(found),
    left: found.map((value, index) => scaled(combine(images, vectors[index] ?? new Float64Array()), 1 / value)),
    right: found.map((_, index) => combine(basis, vectors[index] ?? new Float64Array())),
  };
}

type Vectors = readonly Float64Array[];

function randomBasis(length: number, count: number, seed: number): Float64Array[] {
  const random = randomStream(["truncated svd", seed]);
  return Array.from({ length: count }, () => Float64Array.from({ length }, () => random.next() / 2 ** 31 - 1));
}

/** A times each vector. */
function times({ rows, entries }: SparseMatrix, vectors: Vectors): Float64Array[] {
  return vectors.map((vector) => {
    const product = new Float64Array(rows);
    for (let row = 0; row < rows; row++) {
      const entry = entries[row];
      if (entry === undefined) continue;
      let sum = 0;
      for (let i = 0; i < entry.columns.length; i++) sum += (entry.values[i] ?? 0) * (vector[entry.columns[i] ?? 0] ?? 0);
      product[row] = sum;
    }
    return product;
  });
}

/** A' times each vector. */
function timesTransposed({ rows, columns, entries }: SparseMatrix, vectors: Vectors): Float64Array[] {
  return vectors.map((vector) => {
    const product = new Float64Array(columns);
    for (let row = 0; row < rows; row++) {
      const entry = entries[row];
      const factor = vector[row] ?? 0;
      if (entry === undefined || factor === 0) continue;
      for (let i = 0; i < entry.columns.length; i++) {
        const column = entry.columns[i] ?? 0;
        product[column] = (product[column] ?? 0) + factor * (entry.values[i] ?? 0);
      }
    }
    return product;
  });
}

/** Modified Gram-Schmidt, twice: once loses digits where vectors are nearly parallel. What depends on the others is left out. */
function orthonormal(vectors: readonly Float64Array[]): Float64Array[] {
  const basis: Float64Array[] = [];
  for (const vector of vectors) {
    const before = Math.sqrt(dot(vector, vector));
    for (let round = 0; round < 2; round++) {
      for (const other of basis) {
        const share = dot(vector, other);
        for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) - share * (other[i] ?? 0);
      }
    }
    const length = Math.sqrt(dot(vector, vector));
    if (length > before * 1e-12 && length > 0) basis.push(scaled(vector, 1 / length));
  }
  return basis;
}

export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

function scaled(vector: Float64Array, factor: number): Float64Array {
  return vector.map((value) => value * factor);
}

function combine(vectors: Vectors, weights: Float64Array): Float64Array {
  const sum = new Float64Array(vectors[0]?.length ?? 0);
  for (const [index, vector] of vectors.entries()) {
    const weight = weights[index] ?? 0;
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + weight * (vector[i] ?? 0);
  }
  return sum;
}

function gram(vectors: Vectors): Float64Array[] {
  return vectors.map((a) => Float64Array.from(vectors, (b) => dot(a, b)));
}

const MOST_SWEEPS = 60;

/** Eigenvalues of a small symmetric matrix, largest first, by Jacobi's rotations. */
function symmetricEigen(matrix: Float64Array[]): { values: Float64Array; vectors: Float64Array[] } {
  const n = matrix.length;
  const a = matrix.map((row) => Float64Array.from(row));
  const vectors = Array.from({ length: n }, (_, i) => Float64Array.from({ length: n }, (_unused, j) => (i === j ? 1 : 0)));
  const at = (i: number, j: number) => a[i]?.[j] ?? 0;
  const put = (i: number, j: number, value: number) => {
    const row = a[i];
    if (row !== undefined) row[j] = value;
  };
  const scale = Math.max(...a.map((row, i) => Math.abs(row[i] ?? 0)), 0);
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let off = 0;
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) off = Math.max(off, Math.abs(at(i, j)));
    if (off <= scale * 1e-15) break;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        if (at(p, q) === 0) continue;
        const theta = (at(q, q) - at(p, p)) / (2 * at(p, q));
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        for (let k = 0; k < n; k++) {
          const [kp, kq] = [at(k, p), at(k, q)];
          put(k, p, c * kp - s * kq);
          put(k, q, s * kp + c * kq);
        }
        for (let k = 0; k < n; k++) {
          const [pk, qk] = [at(p, k), at(q, k)];
          put(p, k, c * pk - s * qk);
          put(q, k, s * pk + c * qk);
        }
        const [vp, vq] = [vectors[p], vectors[q]];
        if (vp === undefined || vq === undefined) continue;
        for (let k = 0; k < n; k++) {
          const [kp, kq] = [vp[k] ?? 0, vq[k] ?? 0];
          vp[k] = c * kp - s * kq;
          vq[k] = s * kp + c * kq;
        }
      }
    }
  }
  const order = Array.from({ length: n }, (_, i) => i).sort((x, y) => at(y, y) - at(x, x) || x - y);
  return {
    values: Float64Array.from(order, (i) => at(i, i)),
    vectors: order.map((i) => vectors[i] ?? new Float64Array(n)),
  };
}
