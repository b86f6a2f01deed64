/**
 * Reads a gzipped tar archive in memory: regular files only, nothing is written, nothing is run.
 *
 * Everything else that an archive can say (links, devices, absolute paths, `..`, the same file twice) is left out and noted, because
 * a reader of a benchmark must be able to see that the tree is not all of the archive. What breaks a limit refuses the whole.
 */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { Parser, type ReadEntry } from "tar";
import { err, ok, type Result } from "../base/result.js";
import { TREE_LIMITS, type TreeLimits } from "./limits.js";
import { byCodeUnits, collisionKey, LeftOut, shownPath, treePath } from "./paths.js";

interface UnpackedFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface Unpacked {
  /** Sorted by path. */
  readonly files: readonly UnpackedFile[];
  readonly notes: readonly string[];
}

const REGULAR = new Set(["File", "OldFile", "ContiguousFile"]);

/** Paths lose their first folder (`package/` in npm's archives). */
export async function unpackTarball(bytes: Uint8Array, limits: TreeLimits = TREE_LIMITS): Promise<Result<Unpacked, string>> {
  let archive: Uint8Array;
  try {
    archive = await promisify(gunzip)(bytes, { maxOutputLength: limits.totalBytes });
  } catch (error) {
    const tooLarge = error instanceof RangeError || (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return err(
      tooLarge
        ? `the archive unpacks to more than ${limits.totalBytes} bytes, which no source tree should`
        : `the archive is not a whole gzip file (${(error as Error).message})`,
    );
  }
  // The parser would unpack a second layer by itself, beyond the limit that has just been checked.
  if (LAYERS.some((magic) => magic.every((byte, index) => archive[index] === byte))) {
    return err("the archive is packed twice, which no package is");
  }
  return readEntries(archive, limits);
}

/** First bytes of gzip and Zstandard. */
const LAYERS = [
  [0x1f, 0x8b],
  [0x28, 0xb5, 0x2f, 0xfd],
];

function readEntries(archive: Uint8Array, limits: TreeLimits): Promise<Result<Unpacked, string>> {
  const leftOut = new LeftOut();
  const found = new Map<string, UnpackedFile>();
  let entries = 0;
  return new Promise((resolve) => {
    const refuse = (why: string) => resolve(err(why));
    const parser = new Parser({
      onwarn: (code, message) => {
        if (code === "TAR_BAD_ARCHIVE" || code === "TAR_ENTRY_INVALID" || code === "TAR_ABORT") {
          refuse(`the archive is damaged (${String(message)})`);
        }
      },
      onReadEntry: (entry) => {
        entries += 1;
        if (entries > limits.files) {
          refuse(`the archive has more than ${limits.files} entries, which no source tree should`);
          entry.resume();
          return;
        }
        const path = wantedPath(entry, limits, leftOut);
        if (path === null) {
          entry.resume();
          return;
        }
        const chunks: Uint8Array[] = [];
        entry.on("data", (chunk: Uint8Array) => chunks.push(chunk));
        entry.on("end", () => {
          // A second file of that name would be the one that an unpacker leaves on disk: which is meant can't be known, so the first stays.
          const key = collisionKey(path);
          const first = found.get(key);
          if (first === undefined) found.set(key, { path, bytes: Buffer.concat(chunks) });
          else leftOut.add(first.path === path ? "in the archive twice" : "differs from another path only in letter case", path);
        });
      },
    });
    parser.on("end", () =>
      resolve(
        ok({
          files: [...found.values()].sort((a, b) => byCodeUnits(a.path, b.path)),
          notes: leftOut.notes(),
        }),
      ),
    );
    parser.on("error", (error: Error) => refuse(`the archive is damaged (${error.message})`));
    parser.end(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength));
  });
}

function wantedPath(entry: ReadEntry, limits: TreeLimits, leftOut: LeftOut): string | null {
  const raw = entry.path;
  if (entry.type === "Directory" || entry.type === "GNUDumpDir") return null;
  if (!REGULAR.has(entry.type)) {
    leftOut.add(
      entry.type === "SymbolicLink" || entry.type === "Link" ? "links are not followed" : "not a regular file",
      shownPath(raw),
    );
    return null;
  }
  if (entry.size > limits.fileBytes) {
    leftOut.add(`larger than ${limits.fileBytes} bytes`, shownPath(raw));
    return null;
  }
  // Checked before the first folder goes, so that `/etc/passwd` and `../x` are refused and not shortened.
  const whole = treePath(raw);
  if (!whole.ok) {
    leftOut.add(whole.error, shownPath(raw));
    return null;
  }
  const slash = whole.value.indexOf("/");
  const inner = slash === -1 ? whole : treePath(whole.value.slice(slash + 1));
  if (!inner.ok) {
    leftOut.add(inner.error, shownPath(raw));
    return null;
  }
  return inner.value;
}
