/**
 * Reproducible random numbers: xoshiro128** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47,
 * 2021) seeded by SHA-256 of a name. A stream per name, and not one stream for everything, so that what one case draws
 * never depends on which other cases were drawn before it.
 */
import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "./json.js";

export interface RandomStream {
  /** Uniform integer in [0, 2^32). */
  next(): number;
  /** Uniform integer in [0, limit), without modulo bias; `limit` from 1 to 2^32. */
  below(limit: number): number;
}

/** The stream that belongs to `name` (any JSON value): the same name gives the same numbers on every machine. */
export function randomStream(name: Json): RandomStream {
  const digest = createHash("sha256")
    .update(canonicalJson(["bench-random", 1, name]))
    .digest();
  let a = digest.readUInt32LE(0);
  let b = digest.readUInt32LE(4);
  let c = digest.readUInt32LE(8);
  // The all-zero state is the one from which the generator never leaves.
  let d = digest.readUInt32LE(12) || 1;

  const next = (): number => {
    const result = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0;
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = rotateLeft(d, 11);
    return result;
  };
  return {
    next,
    below: (limit) => {
      if (!Number.isInteger(limit) || limit < 1 || limit > 2 ** 32) throw new RangeError(`no integer below ${limit}`);
      const fair = 2 ** 32 - (2 ** 32 % limit);
      let value = next();
      while (value >= fair) value = next();
      return value % limit;
    },
  };
}

function rotateLeft(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
