/** Source trees by content: what a question is asked about. */
import * as z from "zod";
import type { Digest } from "../base/json.js";

export const treeFileSchema = z.object({
  /** Relative, `/` separated, NFC as given by the source. */
  path: z.string().min(1),
  digest: z.string(),
  /** Bytes. */
  size: z.number().int().nonnegative(),
});
export type TreeFile = z.infer<typeof treeFileSchema>;

/** One source tree at one commit, the item that `checkout` gives. Files sorted by path (code units). */
export const treeSchema = z.object({
  /** `all` where every case asks about this tree, else the commit id. */
  id: z.string(),
  /** What it was made from, for people: `npm:cordova-android@8.0.0`. */
  source: z.string(),
  /** Commit or version; null for a folder. */
  revision: z.string().nullable(),
  files: z.array(treeFileSchema),
  /** What was left out and why (links, too large, outside `include`). */
  notes: z.array(z.string()).default([]),
  /** Paths where another repository is mounted: nothing below them is in `files`. Absent = none, or not known. */
  submodules: z.array(z.string()).optional(),
});
export type Tree = z.infer<typeof treeSchema>;

/** What a backend sees of a tree: the list at once, the contents when asked for, a folder on disk only on demand. */
export interface Corpus {
  readonly tree: Tree;
  /** Digest of the list of (path, digest). Equal trees have equal digests, whatever they were made from. */
  readonly digest: Digest;
  /** UTF-8 text of a file of the tree (bytes that are no UTF-8 become U+FFFD). */
  text(path: string): Promise<string>;
  /** A read-only copy as files, below the cache; verified against the digests. Absolute path. */
  folder(): Promise<string>;
}
