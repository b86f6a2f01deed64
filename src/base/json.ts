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
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical JSON form`);
      // Of -0 too this makes "0".
      return String(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as Record<string, unknown>);
    default:
      return fail(`a ${typeof value}`);
  }
}

function canonicalArray(elements: readonly unknown[]): string {
  let text = "[";
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index];
    if (element === undefined) fail("undefined in an array");
    if (index > 0) text += ",";
    text += canonicalJson(element);
  }
  return `${text}]`;
}

function canonicalObject(record: Readonly<Record<string, unknown>>): string {
  const prototype = Object.getPrototypeOf(record);
  if (prototype !== Object.prototype && prototype !== null) fail(`an object of class ${String(prototype?.constructor?.name)}`);
  let text = "{";
  for (const name of sortedNames(record)) {
    const member = record[name];
    if (member === undefined) continue;
    if (text.length > 1) text += ",";
    text += memberLabel(name) + canonicalJson(member);
  }
  return `${text}}`;
}

/** What was read from canonical text is in order already. */
function sortedNames(record: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(record);
  for (let index = 1; index < names.length; index++) if ((names[index - 1] ?? "") > (names[index] ?? "")) return names.sort();
  return names;
}

/** Records of one type share their names; maps with names of their own (ids, paths) must not fill the memory. */
const MOST_LABELS = 2_000;
const LONGEST_LABEL = 40;
const labels = new Map<string, string>();

function memberLabel(name: string): string {
  const known = labels.get(name);
  if (known !== undefined) return known;
  const label = `${JSON.stringify(name)}:`;
  if (name.length <= LONGEST_LABEL && labels.size < MOST_LABELS) labels.set(name, label);
  return label;
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
