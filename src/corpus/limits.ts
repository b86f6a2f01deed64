/**
 * How much a source tree may hold. Generous for real projects, small enough that a hostile archive can't fill memory or disk.
 */
export interface TreeLimits {
  /** Files of the whole source, before `include` and `exclude`. */
  readonly files: number;
  /** Bytes of one file; larger ones are left out with a note. */
  readonly fileBytes: number;
  /** Bytes of the whole tree (archives: unpacked, before `include` and `exclude`). */
  readonly totalBytes: number;
}

export const TREE_LIMITS: TreeLimits = { files: 300_000, fileBytes: 16 * 1024 * 1024, totalBytes: 1024 * 1024 * 1024 };
