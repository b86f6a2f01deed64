/**
 * SQLite's files read page by page, without SQLite: one flipped byte in the header, the schema or a root page makes SQLite refuse a whole
 * database, although nearly every page of it is as it was written.
 *
 * The tree is not followed. Every page of the database and of its write-ahead log is read as if it were a leaf of one of our tables
 * (key, value), whatever its type byte says, and what does not fit that shape to the last byte is skipped. Nothing found is vouched for
 * here: pages that were freed, replaced or damaged are among it, and the reader must check every value against its digest or check sum.
 * The layout is that of https://www.sqlite.org/fileformat2.html, the numbers in brackets are its sections.
 */
import { type FileHandle, open } from "node:fs/promises";

/** Page size of the databases that bench makes (SQLite's default). */
export const OUR_PAGE_SIZE = 4096;
export const PAGE_SIZES = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];

/** Keys that are looked for: 64 characters of text, which is serial type 13 + 2 * 64 (2.1). */
const KEY_LENGTH = 64;
const KEY_TYPE = 13 + 2 * KEY_LENGTH;

export interface RawEntry {
  readonly key: string;
  /**
   * The value's bytes, as one moment or another of the database has them: a value that spills over into other pages (overflow pages) may
   * find these in several versions. The likeliest first; usually there is one.
   */
  readonly values: () => AsyncGenerator<Uint8Array>;
}

interface Cell {
  readonly key: string;
  readonly valueLength: number;
  /** What of the value lies in the page itself. */
  readonly local: Uint8Array;
  /** First overflow page; 0 = none. */
  readonly overflow: number;
}

/** Where a page's bytes are. */
interface Place {
  readonly file: RawFile;
  readonly position: number;
}

/** Which version of each page a reader of some moment sees; undefined = there is no such page. */
type View = (page: number) => Place | undefined;

export class RawDatabase {
  readonly #main: RawFile;
  readonly #log: RawFile;

  private constructor(main: RawFile, log: RawFile) {
    this.#main = main;
    this.#log = log;
  }

  /** The database at `path` and the write-ahead log beside it. What is not there, or can't be opened, counts as empty. */
  static async open(path: string): Promise<RawDatabase> {
    return new RawDatabase(await RawFile.open(path), await RawFile.open(`${path}-wal`));
  }

  async close(): Promise<void> {
    await this.#main.close();
    await this.#log.close();
  }

  /** Page size in bytes as the header states it (1.3.2); null where it states none that could be. */
  async statedPageSize(): Promise<number | null> {
    const stated = (await this.#main.read(16, 2)).readUInt16BE(0);
    const size = stated === 1 ? 65_536 : stated;
    return PAGE_SIZES.includes(size) ? size : null;
  }

  /** Every cell that has the shape of our rows, in every version there is of its page: the database first, then its log. */
  async *entries(pageSize: number): AsyncGenerator<RawEntry> {
    const main = this.#main;
    const frames = await readFrames(this.#log, pageSize);
    const versions = new Map<number, number[]>();
    for (const [index, { page }] of frames.entries()) {
      const known = versions.get(page);
      if (known === undefined) versions.set(page, [index]);
      else known.push(index);
    }
    const pages = Math.ceil(main.size / pageSize);
    const inMain: View = (page) => (page > 0 && page <= pages ? { file: main, position: (page - 1) * pageSize } : undefined);
    const after =
      (last: number): View =>
      (page) => {
        const index = versions.get(page)?.findLast((version) => version <= last);
        return index === undefined ? inMain(page) : { file: this.#log, position: frames[index]?.position ?? 0 };
      };
    const newest = after(frames.length);
    const most = (pages + frames.length) * pageSize;
    // Page 1 holds the schema, never one of our rows.
    for (let page = 2; page <= pages; page++) {
      const bytes = await main.read((page - 1) * pageSize, pageSize);
      yield* entriesOf(bytes, most, frames.length === 0 ? [inMain] : [inMain, newest]);
    }
    for (const { position, end } of frames) {
      const bytes = await this.#log.read(position, pageSize);
      yield* entriesOf(bytes, most, [after(end), newest, inMain]);
    }
  }
}

function* entriesOf(page: Buffer, most: number, views: readonly View[]): Generator<RawEntry> {
  for (const cell of cellsOf(page)) {
    if (cell.valueLength > most) continue;
    yield {
      key: cell.key,
      values: async function* () {
        if (cell.overflow === 0) yield cell.local;
        else
          for (const view of views) {
            const value = await withOverflow(cell, view, page.length);
            if (value !== undefined) yield value;
          }
      },
    };
  }
}

/** The value together with its chain of overflow pages (1.6); undefined where the chain breaks off. */
async function withOverflow(cell: Cell, view: View, pageSize: number): Promise<Uint8Array | undefined> {
  const parts = [cell.local];
  let next = cell.overflow;
  // The length was checked against the files' size, so a chain that runs in a circle ends too.
  for (let missing = cell.valueLength - cell.local.length; missing > 0; missing -= pageSize - 4) {
    const place = view(next);
    if (place === undefined) return undefined;
    const page = await place.file.read(place.position, pageSize);
    next = page.readUInt32BE(0);
    parts.push(page.subarray(4, 4 + Math.min(missing, pageSize - 4)));
  }
  return Buffer.concat(parts);
}

/** The cells of a table leaf (1.6): a header of 8 bytes, then two bytes for each cell that say where it begins. */
function* cellsOf(page: Buffer): Generator<Cell> {
  // More than fit is damage; those that do fit are looked at all the same.
  const count = Math.min(page.readUInt16BE(3), (page.length - 8) >> 1);
  for (let index = 0; index < count; index++) {
    const cell = cellAt(page, page.readUInt16BE(8 + 2 * index));
    if (cell !== undefined) yield cell;
  }
}

/** A cell whose record (2.1) is a key of ours and one text or byte string, with lengths that agree with each other. */
function cellAt(page: Buffer, start: number): Cell | undefined {
  const payload = varint(page, start);
  const rowId = varint(page, payload.end);
  const header = rowId.end;
  const headerLength = page[header] ?? 0;
  const keyType = varint(page, header + 1);
  if (keyType.value !== KEY_TYPE) return undefined;
  const valueType = varint(page, keyType.end);
  if (valueType.value < 12 || valueType.end !== header + headerLength) return undefined;
  // Even types are bytes and odd ones text. The bytes tell that themselves, so a damaged last bit here costs nothing.
  const valueLength = Math.floor((valueType.value - 12) / 2);
  if (payload.value !== headerLength + KEY_LENGTH + valueLength) return undefined;

  const inPage = localLength(payload.value, page.length);
  const keyStart = header + headerLength;
  const end = header + inPage;
  const spills = inPage < payload.value;
  if (keyStart + KEY_LENGTH > end || end + (spills ? 4 : 0) > page.length) return undefined;
  return {
    key: page.toString("latin1", keyStart, keyStart + KEY_LENGTH),
    valueLength,
    local: page.subarray(keyStart + KEY_LENGTH, end),
    overflow: spills ? page.readUInt32BE(end) : 0,
  };
}

/** How many bytes of a record lie in the leaf itself (1.6; our databases reserve no bytes at the end of a page). */
function localLength(payload: number, pageSize: number): number {
  if (payload <= pageSize - 35) return payload;
  const least = Math.floor(((pageSize - 12) * 32) / 255) - 23;
  const wanted = least + ((payload - least) % (pageSize - 4));
  return wanted <= pageSize - 35 ? wanted : least;
}

/** A number of 7 bits a byte, up to nine bytes (1.6). Beyond the page there are only zeros. Those too large to be exact fit no length. */
function varint(page: Buffer, start: number): { value: number; end: number } {
  let value = 0;
  for (let at = start; at < start + 8; at++) {
    const byte = page[at] ?? 0;
    value = value * 128 + (byte & 127);
    if (byte < 128) return { value, end: at + 1 };
  }
  return { value: value * 256 + (page[start + 8] ?? 0), end: start + 9 };
}

interface Frame {
  readonly page: number;
  /** Of the page's bytes in the log. */
  readonly position: number;
  /** Index of the last frame of its transaction: a reader sees all of it or nothing. */
  readonly end: number;
}

const LOG_HEADER = 32;
const FRAME_HEADER = 24;

/**
 * The frames of a write-ahead log (4.1), oldest first. The log is written from its beginning again and again: what an earlier round left
 * behind the frames of the present one carries other salts, and is older. Their check sums are not looked at: contents vouch for themselves.
 */
async function readFrames(log: RawFile, pageSize: number): Promise<Frame[]> {
  const count = Math.floor((log.size - LOG_HEADER) / (FRAME_HEADER + pageSize));
  if (count <= 0) return [];
  const header = await log.read(0, LOG_HEADER + FRAME_HEADER);
  // Stated twice, so that damage in one of them puts nothing out of order.
  const salts = new Set([header.toString("latin1", 16, 24), header.toString("latin1", LOG_HEADER + 8, LOG_HEADER + 16)]);
  const present: { page: number; position: number; commits: boolean }[] = [];
  const older: typeof present = [];
  for (let index = 0; index < count; index++) {
    const start = LOG_HEADER + index * (FRAME_HEADER + pageSize);
    const frame = await log.read(start, FRAME_HEADER);
    const list = salts.has(frame.toString("latin1", 8, 16)) ? present : older;
    list.push({ page: frame.readUInt32BE(0), position: start + FRAME_HEADER, commits: frame.readUInt32BE(4) !== 0 });
  }
  const all = [...older, ...present];
  const frames: Frame[] = [];
  let end = all.length - 1;
  for (let index = all.length - 1; index >= 0; index--) {
    const frame = all[index];
    if (frame === undefined) continue;
    if (frame.commits) end = index;
    frames.push({ page: frame.page, position: frame.position, end });
  }
  return frames.reverse();
}

const BLOCK = 64 * 1024;
const SECTOR = 4096;

/** A file read in blocks: neighbours of what was asked for are usually asked for next. Beyond its end there are zeros. */
class RawFile {
  readonly size: number;
  readonly #handle: FileHandle | null;
  /** Two: overflow pages lie elsewhere than the page that is being gone through. The one used last comes first. */
  #blocks: { start: number; bytes: Buffer }[] = [];

  private constructor(handle: FileHandle | null, size: number) {
    this.#handle = handle;
    this.size = size;
  }

  static async open(path: string): Promise<RawFile> {
    const handle = await open(path, "r").catch(() => null);
    const entry = await handle?.stat();
    if (entry?.isFile() !== true) {
      await handle?.close();
      return new RawFile(null, 0);
    }
    return new RawFile(handle, entry.size);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }

  async read(position: number, length: number): Promise<Buffer> {
    const at = position % BLOCK;
    const block = await this.#block(position - at);
    if (at + length <= BLOCK) return block.subarray(at, at + length);
    const rest = await this.read(position - at + BLOCK, at + length - BLOCK);
    return Buffer.concat([block.subarray(at), rest]);
  }

  async #block(start: number): Promise<Buffer> {
    const known = this.#blocks.find((block) => block.start === start);
    if (known !== undefined) {
      if (known !== this.#blocks[0]) this.#blocks.reverse();
      return known.bytes;
    }
    const bytes = Buffer.alloc(BLOCK);
    const handle = this.#handle;
    if (handle !== null && start < this.size) {
      try {
        await handle.read(bytes, 0, BLOCK, start);
      } catch {
        // A sector that the disk can't read is lost, its neighbours are not.
        for (let at = 0; at < BLOCK; at += SECTOR) await handle.read(bytes, at, SECTOR, start + at).catch(() => undefined);
      }
    }
    this.#blocks = [{ start, bytes }, ...this.#blocks.slice(0, 1)];
    return bytes;
  }
}
