import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { randomStream, xoshiro128 } from "./generator.js";

describe("xoshiro128**", () => {
  test("gives the reference implementation's numbers", () => {
    const stream = xoshiro128([1, 2, 3, 4]);
    expect(Array.from({ length: 10 }, () => stream.uint32())).toEqual([
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
    ]);
    const high = xoshiro128([0xffffffff, 0x80000000, 7, 0]);
    expect(Array.from({ length: 6 }, () => high.uint32())).toEqual([
      576, 4294921783, 4294962679, 17689536, 3575139328, 1994884900,
    ]);
  });

  test("leaves the all-zero state, which would give zeros for ever", () => {
    const stream = xoshiro128([0, 0, 0, 0]);
    expect(Array.from({ length: 8 }, () => stream.uint32()).some((number) => number !== 0)).toBe(true);
  });
});

describe("streams", () => {
  test("the numbers of a stream are pinned: reports promise them", () => {
    const stream = randomStream(42, "bootstrap");
    expect(Array.from({ length: 5 }, () => stream.uint32())).toEqual([2189080160, 2184074390, 2499281623, 2794443404, 945761434]);
  });

  test("another name or another seed gives another stream", () => {
    const first = (seed: number, name: string) => randomStream(seed, name).uint32();
    expect(new Set([first(42, "a"), first(42, "b"), first(43, "a"), first(-42, "a"), first(0.5, "a")]).size).toBe(5);
  });
});

describe("below", () => {
  test("stays in range for every n, and is 0 for n = 1", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 32 }), fc.integer(), (n, seed) => {
        const stream = randomStream(seed, "below");
        for (let i = 0; i < 20; i++) {
          const value = stream.below(n);
          expect(Number.isInteger(value) && value >= 0 && value < n).toBe(true);
        }
        expect(stream.below(1)).toBe(0);
      }),
    );
  });

  test("is uniform: a chi-squared of 7 classes stays below its 99.9 % point", () => {
    const stream = randomStream(7, "uniformity");
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < 70_000; i++) {
      const value = stream.below(7);
      counts[value] = (counts[value] ?? 0) + 1;
    }
    expect(counts.reduce((total, count) => total + (count - 10_000) ** 2 / 10_000, 0)).toBeLessThan(22.46);
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 32 + 1])("refuses n = %s", (n) => {
    expect(() => randomStream(1, "x").below(n)).toThrow(RangeError);
  });
});

test("uniform lies in [0, 1) and has the mean it should", () => {
  const stream = randomStream(3, "uniform");
  const values = Array.from({ length: 20_000 }, () => stream.uniform());
  expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
  expect(values.reduce((total, value) => total + value, 0) / values.length).toBeCloseTo(0.5, 2);
});
