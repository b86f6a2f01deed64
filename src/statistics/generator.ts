/**
 * Pseudo-random numbers for resampling: xoshiro128** 1.1 (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", ACM TOMS 47(4), 2021), one independent stream per (seed, name).
 *
 * A stream's state is the SHA-256 of seed and name, so it depends on nothing else: asking for one more measure, or for the
 * same ones in another order, never changes the interval of any of them. The numbers are part of what a report promises
 * (same seed, same bounds), hence the scheme has a version and the tests pin its first outputs.
 */
import { digestJson } from "../base/json.js";

/** Bump it when the numbers of a stream change. */
const STREAM_SCHEME = "random-stream/1";

export interface RandomStream {
  /** Uniform on 0 .. 2^32 - 1. */
  uint32(): number;
  /** Uniform on 0 .. n - 1, exactly (candidates beyond the range are rejected). `n` is an integer from 1 to 2^32. */
  below(n: number): number;
  /** Uniform on [0, 1) with 53 bits. */
  uniform(): number;
}

/** The stream of that name under `seed` (any finite number). */
export function randomStream(seed: number, name: string): RandomStream {
  const digest = digestJson([STREAM_SCHEME, seed, name]);
  const word = (index: number) => Number.parseInt(digest.slice(index * 8, index * 8 + 8), 16);
  return xoshiro128([word(0), word(1), word(2), word(3)]);
}

/** xoshiro128** from a given state of four 32-bit words, not all zero. */
export function xoshiro128(state: readonly [number, number, number, number]): RandomStream {
  let [a, b, c, d] = state;
  // The all-zero state is the generator's one fixed point.
  if ((a | b | c | d) === 0) d = 1;

  function uint32(): number {
    const scrambled = Math.imul(b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  }

  return {
    uint32,
    below(n) {
      if (!Number.isInteger(n) || n < 1 || n > 2 ** 32) throw new RangeError(`below(${n}): n must be an integer from 1 to 2^32`);
      // clz32(0) is 32, and a shift by 32 shifts by nothing.
      if (n === 1) return 0;
      const shift = Math.clz32(n - 1);
      let candidate = uint32() >>> shift;
      while (candidate >= n) candidate = uint32() >>> shift;
      return candidate;
    },
    uniform() {
      const high = uint32() >>> 5;
      const low = uint32() >>> 6;
      return (high * 2 ** 26 + low) / 2 ** 53;
    },
  };
}
