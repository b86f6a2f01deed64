import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dot, type SparseMatrix, truncatedSvd } from "./truncated-svd.js";

const settings = { iterations: 30, seed: 1, pause: async () => {} };

function sparse(rows: readonly (readonly number[])[]): SparseMatrix {
  return {
    rows: rows.length,
    columns: rows[0]?.length ?? 0,
    entries: rows.map((row) => {
      const columns = row.flatMap((value, column) => (value === 0 ? [] : [column]));
      return { columns: Int32Array.from(columns), values: Float64Array.from(columns, (column) => row[column] ?? 0) };
    }),
  };
}

describe("truncatedSvd", () => {
  test("a worked example", async () => {
    // [[3, 0], [4, 5]] has the singular values sqrt(45) and sqrt(5).
    const { values, left, right } = await truncatedSvd(sparse([[3, 0], [4, 5]]), 2, settings); // biome-ignore format: a matrix
    expect(values[0]).toBeCloseTo(Math.sqrt(45), 10);
    expect(values[1]).toBeCloseTo(Math.sqrt(5), 10);
    expect(Math.abs(right[0]?.[0] ?? 0)).toBeCloseTo(Math.SQRT1_2, 10);
    expect(Math.abs(left[0]?.[1] ?? 0)).toBeCloseTo(3 / Math.sqrt(10), 10);
  });

  test("all of them give the matrix back", async () => {
    const cell = fc.oneof(fc.constant(0), fc.integer({ min: -9, max: 9 }));
    const matrices = fc
      .record({ rows: fc.integer({ min: 1, max: 7 }), columns: fc.integer({ min: 1, max: 7 }) })
      .chain(({ rows, columns }) =>
        fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: rows, maxLength: rows }),
      );
    await fc.assert(
      fc.asyncProperty(matrices, async (matrix) => {
        const { values, left, right } = await truncatedSvd(sparse(matrix), 7, settings);
        expect([...values]).toEqual([...values].sort((a, b) => b - a));
        for (const [row, cells] of matrix.entries()) {
          for (const [column, value] of cells.entries()) {
            const sum = [...values].reduce((all, s, k) => all + s * (left[k]?.[row] ?? 0) * (right[k]?.[column] ?? 0), 0);
            expect(sum).toBeCloseTo(value, 6);
          }
        }
        for (const [k, vector] of right.entries()) {
          for (const [l, other] of right.entries()) expect(dot(vector, other)).toBeCloseTo(k === l ? 1 : 0, 6);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("the same seed gives the same bits; nothing gives nothing", async () => {
    const matrix = sparse([[1, 2, 0], [0, 1, 1], [4, 0, 1]]); // biome-ignore format: a matrix
    expect(await truncatedSvd(matrix, 2, settings)).toEqual(await truncatedSvd(matrix, 2, settings));
    expect((await truncatedSvd(sparse([[0, 0], [0, 0]]), 2, settings)).values).toHaveLength(0); // biome-ignore format: a matrix
    expect((await truncatedSvd({ rows: 0, columns: 0, entries: [] }, 2, settings)).values).toHaveLength(0);
  });
});
