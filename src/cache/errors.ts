/** The two ways in which a cache lets one down, as exceptions: both are caught by the engine, which repairs and starts over. */
import type { Digest } from "../base/json.js";

/** Objects that are missing or whose bytes are not what their digest says. They have been reported and removed. */
export class DamagedEntry extends Error {
  readonly digests: readonly Digest[];
  constructor(digests: readonly Digest[]) {
    super(
      `damaged or missing in the cache: ${digests.slice(0, 3).join(", ")}${digests.length > 3 ? ` and ${digests.length - 3} more` : ""}`,
    );
    this.digests = digests;
  }
}

/** The index database itself can't be read any further (SQLite says that it is malformed or no database). */
export class CacheBroken extends Error {}

/** The cache can't be written (disk full, read-only): the run must say so and must not end with exit 0. */
export class CacheUnwritable extends Error {}

/** Turns SQLite's errors into the two above; anything else stays what it is. */
export function classify(error: unknown): unknown {
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    if (error.code === "SQLITE_CORRUPT" || error.code === "SQLITE_NOTADB")
      return new CacheBroken(error.message, { cause: error });
    if (error.code === "SQLITE_BUSY" || error.code === "SQLITE_LOCKED")
      return new CacheUnwritable(
        "the cache can't be written: another program has held its database (index.sqlite) for too long; end that program",
        { cause: error },
      );
    if (
      [
        "SQLITE_FULL",
        "SQLITE_READONLY",
        "SQLITE_IOERR",
        "ENOSPC",
        "EROFS",
        "EACCES",
        "EPERM",
        "ENOTDIR",
        "ENOENT",
        "EIO",
        "EDQUOT",
        "EMFILE",
        "ENFILE",
      ].includes(error.code)
    ) {
      return new CacheUnwritable(`the cache can't be written: ${error.message}`, { cause: error });
    }
  }
  return error;
}
