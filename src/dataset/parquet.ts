/**
 * Parquet, the form in which data sets are downloaded from model hubs, as JSON Lines: what reads the records is then the same for both.
 *
 * The library is loaded only when a file begins and ends like Parquet. What JSON has no word for becomes what JSON Lines of the same data
 * set have: times as ISO 8601, whole numbers as numbers where they fit, bytes as UTF-8 text.
 */
import { err, ok, type Result } from "../base/result.js";

const MAGIC = "PAR1";

/** By its content: the mark at both ends. */
export function isParquet(bytes: Uint8Array): boolean {
  return bytes.byteLength >= 12 && beginsLikeParquet(bytes) && mark(bytes.subarray(-4));
}

/** Without the mark at its end it was cut off. */
export function beginsLikeParquet(bytes: Uint8Array): boolean {
  return mark(bytes.subarray(0, 4));
}

function mark(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes) === MAGIC;
}

/** A line per row; the error is a sentence without the file's name. */
export async function parquetAsJsonLines(bytes: Uint8Array): Promise<Result<string, string>> {
  const [{ parquetReadObjects }, { compressors }] = await Promise.all([import("hyparquet"), import("hyparquet-compressors")]);
  const file = {
    byteLength: bytes.byteLength,
    slice: (start: number, end?: number) => new Uint8Array(bytes.slice(start, end)).buffer,
  };
  try {
    const rows = await parquetReadObjects({ file, compressors });
    return ok(rows.map((row) => `${JSON.stringify(plain(row))}\n`).join(""));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return err(`is a Parquet file that can't be read (${why.slice(0, 200)}): was it downloaded whole?`);
  }
}

function plain(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (ArrayBuffer.isView(value) && "length" in value) return Array.from(value as unknown as ArrayLike<unknown>, plain);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}
