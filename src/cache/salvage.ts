/**
 * What of a damaged index database is still right. Everything in it vouches for itself, an object by its digest and a row by its check sum,
 * so what a page holds can be told from the page alone, whatever became of the header, the schema or the way to it.
 */
import { type Digest, isDigest } from "../base/json.js";
import { decodeForeignRow } from "./actions.js";
import { decodeObject } from "./objects.js";
import { OUR_PAGE_SIZE, PAGE_SIZES, RawDatabase } from "./raw-pages.js";

/** An object or a row as it is stored: what the tables' own `set` takes. */
export type Salvaged =
  | { readonly type: "object"; readonly key: Digest; readonly stored: Uint8Array }
  | { readonly type: "row"; readonly key: Digest; readonly stored: string; readonly at: number };

/**
 * Every object and row that verifies, from several databases (and their write-ahead logs) where there are several. An object comes once:
 * it is right whichever copy it was. A row comes again when a newer one of the same key is met, so that the last one that comes is the
 * newest, by the time it was made. Throws nothing on damage of any kind; files that are not there hold nothing.
 */
export async function* salvage(databases: readonly string[]): AsyncGenerator<Salvaged> {
  const objects = new Set<string>();
  const rows = new Map<string, number>();
  for (const path of databases) {
    const database = await RawDatabase.open(path);
    try {
      const stated = await database.statedPageSize();
      // Damage can turn one possible page size into another, so a stated one is not the only one that is tried.
      const likely = new Set([stated ?? OUR_PAGE_SIZE, OUR_PAGE_SIZE]);
      const before = objects.size + rows.size;
      for (const pageSize of [...likely, ...PAGE_SIZES.filter((size) => !likely.has(size))]) {
        if (!likely.has(pageSize) && objects.size + rows.size > before) break;
        for await (const { key, values } of database.entries(pageSize)) {
          if (!isDigest(key) || objects.has(key)) continue;
          for await (const value of values()) {
            const found = verified(key, value);
            if (found === undefined) continue;
            if (found.type === "object") objects.add(key);
            else if (found.at <= (rows.get(key) ?? Number.NEGATIVE_INFINITY)) break;
            else rows.set(key, found.at);
            yield found;
            break;
          }
        }
      }
    } finally {
      await database.close();
    }
  }
}

const BRACE = "{".charCodeAt(0);

function verified(key: Digest, value: Uint8Array): Salvaged | undefined {
  // A row lies in Keyv's JSON; an object begins with the number of its codec.
  if (value[0] !== BRACE) return decodeObject(value, key).ok ? { type: "object", key, stored: value } : undefined;
  const stored = keyvValue(value);
  const row = stored === null ? undefined : decodeForeignRow(key, stored);
  return stored === null || row === undefined ? undefined : { type: "row", key, stored, at: row.at };
}

/** The text in `{"value": "...", "expires": null}`; null = it is nothing of the kind. */
function keyvValue(bytes: Uint8Array): string | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
    return typeof parsed === "object" && parsed !== null && "value" in parsed && typeof parsed.value === "string"
      ? parsed.value
      : null;
  } catch {
    return null;
  }
}
