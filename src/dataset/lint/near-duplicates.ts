/**
 * Cases whose texts are the same, or nearly: an answer to the one is an answer to the other, so they are no two draws.
 *
 * Nearly = at least four fifths of the three-word sequences in common (Jaccard). Candidates come from MinHash signatures in bands (Broder 1997), so that
 * ten thousand cases are not compared pair by pair; each candidate is then compared exactly. Deterministic: the hash functions are fixed.
 */
import type { Case } from "../schema.js";

const MOST_WORDS = 1500;
const FEWEST_WORDS = 8;
const SIMILAR = 0.8;
const BANDS = 10;
const ROWS = 4;
const COMPARED = 8;

export interface Duplicates {
  /** Ids in data-set order, the first of which is the one to keep. */
  readonly ids: readonly string[];
  readonly same: boolean;
}

export function duplicateTexts(cases: readonly Pick<Case, "id" | "title" | "body">[]): Duplicates[] {
  const words = cases.map(({ title, body }) => wordsOf(`${title}\n${body ?? ""}`));
  const group = cases.map((_, index) => index);
  const root = (index: number): number => {
    let at = index;
    while (group[at] !== at) at = group[at] ?? at;
    return at;
  };
  const join = (a: number, b: number) => {
    const [x, y] = [root(a), root(b)];
    group[Math.max(x, y)] = Math.min(x, y);
  };
  const sameAs = new Map<string, number>();
  const buckets = new Map<string, number[]>();
  const shingles = new Map<number, Set<number>>();
  for (const [index, list] of words.entries()) {
    if (list.length === 0) continue;
    const text = list.join(" ");
    const same = sameAs.get(text);
    if (same !== undefined) {
      join(same, index);
      continue;
    }
    sameAs.set(text, index);
    if (list.length < FEWEST_WORDS) continue;
    const own = shinglesOf(list);
    shingles.set(index, own);
    for (const key of bandsOf(own)) {
      const bucket = buckets.get(key) ?? [];
      buckets.set(key, bucket);
      for (const other of bucket.slice(0, COMPARED)) {
        if (root(other) !== root(index) && jaccard(own, shingles.get(other) ?? new Set()) >= SIMILAR) join(other, index);
      }
      bucket.push(index);
    }
  }
  const groups = new Map<number, number[]>();
  for (const index of cases.keys()) {
    const at = root(index);
    const members = groups.get(at);
    if (members === undefined) groups.set(at, [index]);
    else members.push(index);
  }
  return [...groups.values()]
    .filter((members) => members.length > 1)
    .map((members) => ({
      ids: members.map((index) => cases[index]?.id ?? ""),
      same: new Set(members.map((index) => words[index]?.join(" "))).size === 1,
    }));
}

/** Words without letter case; numbers count, since two reports may differ in nothing else. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const match of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    words.push(match[0].toLowerCase());
    if (words.length === MOST_WORDS) break;
  }
  return words;
}

function shinglesOf(words: readonly string[]): Set<number> {
  const shingles = new Set<number>();
  for (let at = 0; at + 2 < words.length; at++) shingles.add(hash(`${words[at]} ${words[at + 1]} ${words[at + 2]}`));
  return shingles;
}

/** FNV-1a over UTF-16 code units. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

function bandsOf(shingles: ReadonlySet<number>): string[] {
  const least = new Uint32Array(BANDS * ROWS).fill(0xffffffff);
  for (const shingle of shingles) {
    for (let row = 0; row < least.length; row++) {
      const value = mixed(shingle, row);
      if (value < (least[row] ?? 0)) least[row] = value;
    }
  }
  return Array.from({ length: BANDS }, (_, band) => `${band}:${least.subarray(band * ROWS, (band + 1) * ROWS).join(",")}`);
}

/** One of a family of hash functions (the finaliser of MurmurHash3 over a shifted value). */
function mixed(value: number, row: number): number {
  let h = value ^ Math.imul(row + 1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function jaccard(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  let common = 0;
  for (const shingle of a) if (b.has(shingle)) common++;
  const all = a.size + b.size - common;
  return all === 0 ? 0 : common / all;
}
