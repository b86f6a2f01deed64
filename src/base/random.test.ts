import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { randomStream } from "./random.js";

/** The published algorithm, word for word, on unbounded integers. */
function* reference(seed: Uint8Array): Generator<number> {
  const mask = 0xffffffffn;
  const rotl = (x: bigint, k: bigint) => ((x << k) | (x >> (32n - k))) & mask;
  const view = new DataView(seed.buffer, seed.byteOffset);
  const s = [0, 4, 8, 12].map((at) => BigInt(view.getUint32(at, true)));
  for (;;) {
    const [s0 = 0n, s1 = 0n, s2 = 0n, s3 = 0n] = s;
    yield Number((rotl((s1 * 5n) & mask, 7n) * 9n) & mask);
    const c = s2 ^ s0;
    const d = s3 ^ s1;
    s[1] = s1 ^ c;
    s[0] = s0 ^ d;
    s[2] = c ^ ((s1 << 9n) & mask);
    s[3] = rotl(d, 11n);
  }
}

describe("randomStream", () => {
  test("is xoshiro128** from the digest of its name", () => {
    const seed = createHash("sha256").update('["bench-random",1,[42,"a/b#1",0]]').digest();
    const expected = reference(new Uint8Array(seed));
    const stream = randomStream([42, "a/b#1", 0]);
    for (let i = 0; i < 1000; i++) expect(stream.next()).toBe(expected.next().value);
  });

  test("other names give other numbers", () => {
    const first = (name: string) => Array.from({ length: 4 }, randomStream(name).next);
    expect(first("a")).toEqual(first("a"));
    expect(first("a")).not.toEqual(first("b"));
  });

  test("below(limit) stays below, and every value comes up about equally often", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 32 }), fc.string(), (limit, name) => {
        const value = randomStream(name).below(limit);
        return Number.isInteger(value) && value >= 0 && value < limit;
      }),
    );
    const counts = new Array<number>(7).fill(0);
    const stream = randomStream("counts");
    for (let i = 0; i < 70_000; i++) {
      const value = stream.below(7);
      counts[value] = (counts[value] ?? 0) + 1;
    }
    // Standard deviation of each count is 93; the numbers are fixed, so this can't fail by chance later.
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400);
  });

  test("a limit that no integer is below is refused", () => {
    for (const limit of [0, -1, 1.5, 2 ** 32 + 1, Number.NaN]) expect(() => randomStream(0).below(limit)).toThrow(RangeError);
  });
});
