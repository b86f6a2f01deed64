/**
 * Canonical JSON and digests: the one encoder behind every key, digest and lock file.
 *
 * Two values that are equal as JSON have the same canonical text whatever the order in which their members were made, so
 * a key never depends on how an object was built. Anything JSON can't carry faithfully (NaN, infinities, bigint, functions,
 * `undefined` inside an array) throws: a key part that can't be encoded must stop the step, never be skipped.
 */
import { createHash } from "node:crypto";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

declare const digestBrand: unique symbol;
/** Lower-case hexadecimal SHA-256 (64 characters). */
export type Digest = string & { readonly [digestBrand]: true };

/** Canonical JSON text: members sorted by UTF-16 code units, members with value `undefined` left out, `-0` written as `0`. */
export function canonicalJson(value: unknown): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean":
      return value ? "true" : "false";
    case "string":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical JSON form`);
      return JSON.stringify(Object.is(value, -0) ? 0 : value);
    case "object": {
      if (Array.isArray(value)) {
        return `[${value.map((element) => (element === undefined ? fail("undefined in an array") : canonicalJson(element))).join(",")}]`;
      }
      const prototype = Object.getPrototypeOf(value);
      if (prototype !== Object.prototype && prototype !== null) {
        fail(`an object of class ${String(prototype?.constructor?.name)}`);
      }
      const record = value as Record<string, unknown>;
      const members: string[] = [];
      for (const name of Object.keys(record).sort()) {
        const member = record[name];
        if (member !== undefined) members.push(`${JSON.stringify(name)}:${canonicalJson(member)}`);
      }
      return `{${members.join(",")}}`;
    }
    default:
      return fail(`a ${typeof value}`);
  }
}

function fail(what: string): never {
  throw new TypeError(`${what} has no canonical JSON form`);
}

export function digestBytes(bytes: string | Uint8Array): Digest {
  return createHash("sha256").update(bytes).digest("hex") as Digest;
}

/** Digest of the canonical text of `value`. */
export function digestJson(value: unknown): Digest {
  return digestBytes(canonicalJson(value));
}

export function isDigest(text: string): text is Digest {
  return /^[0-9a-f]{64}$/.test(text);
}
