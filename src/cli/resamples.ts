/**
 * Resamples as a file, so that another program can be given the same draws and the bounds be compared digit by digit: a JSON array with one
 * array of 0-based indices per resample, in the order in which the cases (or clusters) are listed.
 */
import { resolve } from "node:path";
import { writeAtomically } from "../engine/record.js";
import { type ResampleMatrix, resampleMatrix } from "../statistics/bootstrap.js";
import { UsageError } from "./contract.js";
import { inputText } from "./inputs.js";

/** `n`: how many units are drawn from. */
export async function readResamples(file: string, cwd: string, n: number): Promise<ResampleMatrix> {
  let rows: unknown;
  try {
    rows = JSON.parse(await inputText(file, cwd));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} is not valid JSON`);
  }
  if (!Array.isArray(rows) || rows.length === 0)
    throw new UsageError(`${file} must be an array with one array of indices per resample`);
  const indices = new Int32Array(n * rows.length);
  for (const [sample, row] of rows.entries()) {
    if (!Array.isArray(row) || row.length !== n) {
      const what = Array.isArray(row) ? `has ${row.length} indices` : "is no array";
      throw new UsageError(`${file}: resample ${sample + 1} ${what}; ${n} are drawn from ${n}`);
    }
    for (const [at, index] of row.entries()) {
      if (!Number.isInteger(index) || index < 0 || index >= n) {
        throw new UsageError(
          `${file}: resample ${sample + 1} names ${JSON.stringify(index)}, and the indices go from 0 to ${n - 1}`,
        );
      }
      indices[sample * n + at] = index;
    }
  }
  return { n, samples: rows.length, indices };
}

export async function writeResamples(
  file: string,
  cwd: string,
  n: number,
  options: { readonly samples: number; readonly seed: number; readonly stream: string },
): Promise<void> {
  const { indices, samples } = resampleMatrix(n, options);
  const rows = Array.from({ length: samples }, (_, sample) => JSON.stringify([...indices.subarray(sample * n, sample * n + n)]));
  await writeAtomically(resolve(cwd, file), `[\n${rows.join(",\n")}\n]\n`);
}
