/**
 * Keys. A key is the digest of an ordered list of *named parts*, and the same list rendered as text explains it: the two
 * can't drift because there is only one object.
 *
 * Parts are small JSON values; anything large enters as its digest. A part that can't be encoded throws (see
 * `base/json.ts`): a key made of the other parts would give wrong hits.
 */
import { canonicalJson, type Digest, digestBytes, type Json } from "../base/json.js";

/** Part of every key: raised when the way keys are made changes, so that old rows become honest misses. */
export const KEY_SCHEME = 1;

export interface KeyPart {
  readonly name: string;
  readonly value: Json;
}

export function part(name: string, value: unknown): KeyPart {
  return { name, value: JSON.parse(canonicalJson(value)) as Json };
}

export function keyDigest(parts: readonly KeyPart[]): Digest {
  return digestBytes(canonicalJson(["bench-key", KEY_SCHEME, parts.map(({ name, value }) => [name, value])]));
}

export interface PartDifference {
  readonly name: string;
  /** undefined = the part did not exist on that side. */
  readonly before: Json | undefined;
  readonly now: Json | undefined;
}

/**
 * Which parts differ, in the order of `now`; for objects the differing members are named one by one (`config.rules`), so that
 * a person reads "rules: strict -> lenient" and not two walls of JSON.
 */
export function keyDifferences(before: readonly KeyPart[], now: readonly KeyPart[]): PartDifference[] {
  const old = new Map(before.map(({ name, value }) => [name, value]));
  const differences: PartDifference[] = [];
  for (const { name, value } of now) {
    compare(name, old.get(name), value, differences);
    old.delete(name);
  }
  for (const [name, value] of old) differences.push({ name, before: value, now: undefined });
  return differences;
}

function compare(name: string, before: Json | undefined, now: Json | undefined, into: PartDifference[]): void {
  if (before !== undefined && now !== undefined && canonicalJson(before) === canonicalJson(now)) return;
  if (isObject(before) && isObject(now)) {
    for (const member of new Set([...Object.keys(now), ...Object.keys(before)])) {
      compare(`${name}.${member}`, before[member], now[member], into);
    }
    return;
  }
  if (before === undefined && now === undefined) return;
  into.push({ name, before, now });
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
