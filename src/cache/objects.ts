/**
 * Content-addressed bytes. The name is the SHA-256 of the uncompressed bytes, and every read checks it, so a damaged object is
 * a miss and never a wrong answer.
 *
 * Up to 64 KiB lie in the index database (no file per item); larger ones are files, written under a temporary name in their own
 * folder and renamed, so that a killed writer leaves no half object under a good name.
 * On disk each has one byte before it that names the codec: 0 as they are, 1 brotli (quality 4: the default of 11 is a thousand
 * times slower).
 */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { type Digest, digestBytes, isDigest } from "../base/json.js";
import { classify } from "./errors.js";
import type { BlobTable } from "./tables.js";

export const INLINE_LIMIT = 64 * 1024;
/** Below this, compression costs more than it saves. */
const COMPRESS_FROM = 200;
/** No object that we write is larger; a decompressed stream that goes beyond is damage or malice. */
const LARGEST = 1024 * 1024 * 1024;

export interface DamagedObject {
  readonly digest: Digest;
  readonly where: string;
  readonly what: string;
}

export function encodeObject(bytes: Uint8Array): Uint8Array {
  if (bytes.length >= COMPRESS_FROM) {
    const packed = brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        // The default window of 4 MiB is allocated for every object, however small.
        [constants.BROTLI_PARAM_LGWIN]: Math.min(22, Math.max(10, 32 - Math.clz32(bytes.length))),
      },
    });
    if (packed.length < bytes.length * 0.9) return Buffer.concat([Buffer.of(1), packed]);
  }
  return Buffer.concat([Buffer.of(0), bytes]);
}

/** The bytes, or why they are not what `digest` says. */
export function decodeObject(stored: Uint8Array, digest: Digest): { ok: true; bytes: Uint8Array } | { ok: false; what: string } {
  let bytes: Uint8Array;
  try {
    const codec = stored[0];
    const rest = stored.subarray(1);
    if (codec === 0) bytes = rest;
    else if (codec === 1) bytes = brotliDecompressSync(rest, { maxOutputLength: LARGEST });
    else return { ok: false, what: stored.length === 0 ? "is empty" : "starts with an unknown codec" };
  } catch {
    return { ok: false, what: "can't be decompressed" };
  }
  if (digestBytes(bytes) !== digest) return { ok: false, what: "has other bytes than its digest says" };
  return { ok: true, bytes };
}

/**
 * Every object on disk below `folder`, wherever it lies, with its stored size in bytes; from the disk, not from the index. Also left-over
 * temporary files.
 */
export async function* objectFiles(folder: string): AsyncGenerator<{ digest: Digest | null; path: string; size: number }> {
  const shards = await readdir(folder).catch(() => []);
  for (const shard of shards.sort()) {
    const names = await readdir(join(folder, shard)).catch(() => []);
    for (const name of names.sort()) {
      const path = join(folder, shard, name);
      const entry = await stat(path).catch(() => undefined);
      const digest = `${shard}${name}`;
      yield { digest: entry?.isFile() && isDigest(digest) ? digest : null, path, size: entry?.size ?? 0 };
    }
  }
}

export class Objects {
  readonly #table: BlobTable;
  readonly #folder: string;
  readonly #onDamage: (damaged: DamagedObject) => void;

  constructor(table: BlobTable, folder: string, onDamage: (damaged: DamagedObject) => void) {
    this.#table = table;
    this.#folder = folder;
    this.#onDamage = onDamage;
  }

  async put(bytes: Uint8Array): Promise<Digest> {
    const digest = digestBytes(bytes);
    if (bytes.length <= INLINE_LIMIT) {
      await this.#table.set(digest, encodeObject(bytes));
      return digest;
    }
    const path = this.#path(digest);
    // An object that is there and intact need not be written again; one that is there and damaged must be.
    const there = await readFile(path).catch(() => undefined);
    if (there !== undefined && decodeObject(there, digest).ok) return digest;
    try {
      await mkdir(join(this.#folder, digest.slice(0, 2)), { recursive: true });
      const temporary = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
      await writeFile(temporary, encodeObject(bytes));
      await rename(temporary, path).catch(async (error) => {
        // Something else than a file stands there (a directory, say): it is not ours, so it goes.
        await rm(path, { recursive: true, force: true });
        await rename(temporary, path).catch(() => Promise.reject(error));
      });
    } catch (error) {
      throw classify(error);
    }
    return digest;
  }

  /**
   * Stores many; those that are there already are not written again (their bytes are checked when somebody reads them). `trust` false
   * writes all of them, for after damage.
   */
  async putMany(contents: readonly Uint8Array[], trust: boolean): Promise<Digest[]> {
    const digests = contents.map((bytes) => digestBytes(bytes));
    const there = trust ? await this.has(digests) : new Set<Digest>();
    let pending: Promise<Digest>[] = [];
    for (const [index, digest] of digests.entries()) {
      if (there.has(digest)) continue;
      there.add(digest);
      pending.push(this.put(contents[index] as Uint8Array));
      if (pending.length < 400) continue;
      await Promise.all(pending);
      pending = [];
    }
    await Promise.all(pending);
    return digests;
  }

  /**
   * The bytes of those that are there and intact. Damaged ones are reported and removed, missing ones are simply absent from the
   * result: the caller knows whether that is a miss or damage.
   */
  async getMany(digests: readonly Digest[]): Promise<Map<Digest, Uint8Array>> {
    const found = new Map<Digest, Uint8Array>();
    const wanted = [...new Set(digests)];
    const inline = await this.#table.getMany(wanted);
    const bad: Digest[] = [];
    for (const digest of wanted) {
      const stored = inline.get(digest);
      if (stored !== undefined) {
        const decoded = decodeObject(stored, digest);
        if (decoded.ok) found.set(digest, decoded.bytes);
        else {
          bad.push(digest);
          this.#onDamage({ digest, where: "index.sqlite", what: decoded.what });
        }
        continue;
      }
      const fromFile = await this.#readFile(digest);
      if (fromFile !== undefined) found.set(digest, fromFile);
    }
    if (bad.length > 0) await this.#table.deleteMany(bad);
    return found;
  }

  /** Which of them exist; their bytes are not looked at. */
  async has(digests: readonly Digest[]): Promise<Set<Digest>> {
    const wanted = [...new Set(digests)];
    const found = (await this.#table.has(wanted)) as Set<Digest>;
    for (const digest of wanted) {
      if (!found.has(digest) && statSync(this.#path(digest), { throwIfNoEntry: false })?.isFile()) found.add(digest);
    }
    return found;
  }

  async #readFile(digest: Digest): Promise<Uint8Array | undefined> {
    const path = this.#path(digest);
    let stored: Uint8Array;
    try {
      stored = await readFile(path);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      this.#onDamage({
        digest,
        where: this.#shown(digest),
        what: `can't be read (${error instanceof Error ? error.message : String(error)})`,
      });
      await rm(path, { recursive: true, force: true }).catch(() => {});
      return undefined;
    }
    const decoded = decodeObject(stored, digest);
    if (decoded.ok) return decoded.bytes;
    this.#onDamage({ digest, where: this.#shown(digest), what: decoded.what });
    await unlink(path).catch(() => {});
    return undefined;
  }

  async delete(digests: readonly Digest[]): Promise<void> {
    await this.#table.deleteMany(digests);
    for (const digest of digests) await rm(this.#path(digest), { recursive: true, force: true });
  }

  /** Every object that is a file of its own. */
  files(): ReturnType<typeof objectFiles> {
    return objectFiles(this.#folder);
  }

  #path(digest: Digest): string {
    return join(this.#folder, digest.slice(0, 2), digest.slice(2));
  }

  #shown(digest: Digest): string {
    return `objects/${digest.slice(0, 2)}/${digest.slice(2)}`;
  }
}
