/**
 * Paired randomisation test of a mean difference (Fisher, "The Design of Experiments", 1935; for retrieval: Smucker, Allan and
 * Carterette, CIKM 2007). If two systems were exchangeable, each case's difference could as well have the other sign: the p
 * value is the share of sign patterns whose mean difference is at least as large as the one seen.
 */
import { DEFAULT_SEED } from "./bootstrap.js";
import { randomStream } from "./generator.js";

/** Cases with a difference up to which all sign patterns are counted out (65,536 patterns). */
const EXACT_LIMIT = 16;
/** Sums of the same numbers in another order differ by rounding; patterns that tie with the one seen must count. */
const TOLERANCE = 1e-12;

export interface RandomisationOptions {
  /** Sign patterns drawn where there are too many to count out; 10,000 by default. */
  readonly samples?: number;
  readonly seed?: number;
  readonly stream?: string;
}

export interface RandomisationResult {
  /** Two-sided. Drawn patterns: (1 + hits) / (1 + samples), so it is never 0. */
  readonly p: number;
  readonly exact: boolean;
}

/** `differences[i]` = first system minus second on case i. With no difference at all, p = 1. */
export function randomisationTest(differences: readonly number[], options: RandomisationOptions = {}): RandomisationResult {
  // A difference of 0 has no sign to flip.
  const nonzero = differences.filter((difference) => difference !== 0);
  const seen = Math.abs(nonzero.reduce((total, difference) => total + difference, 0));
  const scale = nonzero.reduce((total, difference) => total + Math.abs(difference), 0);
  const threshold = seen - TOLERANCE * scale;
  if (nonzero.length <= EXACT_LIMIT) return { p: exactShare(nonzero, threshold), exact: true };

  const samples = options.samples ?? 10_000;
  if (!Number.isInteger(samples) || samples < 1) throw new RangeError(`${samples} sign patterns: at least 1 is needed`);
  const draw = randomStream(options.seed ?? DEFAULT_SEED, options.stream ?? "randomisation");
  let hits = 0;
  for (let sample = 0; sample < samples; sample++) {
    let total = 0;
    let bits = 0;
    for (const [i, difference] of nonzero.entries()) {
      if (i % 32 === 0) bits = draw.uint32();
      total += bits & 1 ? -difference : difference;
      bits >>>= 1;
    }
    if (Math.abs(total) >= threshold) hits++;
  }
  return { p: (1 + hits) / (1 + samples), exact: false };
}

function exactShare(differences: readonly number[], threshold: number): number {
  // Each round doubles the patterns: those so far, and the same with this difference's sign flipped.
  let sums = Float64Array.of(0);
  for (const difference of differences) {
    const doubled = new Float64Array(sums.length * 2);
    for (const [i, total] of sums.entries()) {
      doubled[2 * i] = total + difference;
      doubled[2 * i + 1] = total - difference;
    }
    sums = doubled;
  }
  let hits = 0;
  for (const total of sums) if (Math.abs(total) >= threshold) hits++;
  return hits / sums.length;
}

/**
 * The same test for a figure that is no mean: `figure(swapped)` is the difference of the two systems' figures where the units (cases)
 * marked 1 have changed sides. `units` of them differ at all; swapping any other changes nothing.
 */
export function swapTest(
  units: number,
  figure: (swapped: Uint8Array) => number,
  options: RandomisationOptions = {},
): RandomisationResult {
  const swapped = new Uint8Array(units);
  const seen = Math.abs(figure(swapped));
  const threshold = seen - TOLERANCE * Math.max(1, seen);
  let hits = 0;
  if (units <= EXACT_LIMIT) {
    const patterns = 2 ** units;
    for (let pattern = 0; pattern < patterns; pattern++) {
      for (let unit = 0; unit < units; unit++) swapped[unit] = (pattern >>> unit) & 1;
      if (Math.abs(figure(swapped)) >= threshold) hits++;
    }
    return { p: hits / patterns, exact: true };
  }
  const samples = options.samples ?? 10_000;
  if (!Number.isInteger(samples) || samples < 1) throw new RangeError(`${samples} sign patterns: at least 1 is needed`);
  const draw = randomStream(options.seed ?? DEFAULT_SEED, options.stream ?? "randomisation");
  for (let sample = 0; sample < samples; sample++) {
    let bits = 0;
    for (let unit = 0; unit < units; unit++) {
      if (unit % 32 === 0) bits = draw.uint32();
      swapped[unit] = bits & 1;
      bits >>>= 1;
    }
    if (Math.abs(figure(swapped)) >= threshold) hits++;
  }
  return { p: (1 + hits) / (1 + samples), exact: false };
}

/** The least p that the exact test can give with so many cases that differ: both unanimous patterns of 2^n. */
export function leastRandomisationP(discordant: number): number {
  return Math.min(1, 2 ** (1 - discordant));
}
