/** Everything below a project that a search for a text should see: its files, and what its cache holds, decompressed. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Digest } from "../../src/base/json.js";
import { Cache } from "../../src/cache/cache.js";
import { decodeObject } from "../../src/cache/objects.js";

export async function everythingIn(folder: string): Promise<{ where: string; text: string }[]> {
  const found = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ where: path, text: readFileSync(path).toString("latin1") }));
  const cache = await Cache.open({ folder: join(folder, "cache"), now: Date.now, warn: () => {} });
  const decoded = (digest: string, stored: Uint8Array) => {
    const object = decodeObject(stored, digest as Digest);
    if (!object.ok) throw new Error(`object ${digest} ${object.what}`);
    found.push({ where: `object ${digest}`, text: Buffer.from(object.bytes).toString("latin1") });
  };
  for await (const [digest, stored] of cache.tables.objects.scan()) decoded(digest, stored);
  for await (const { digest, path } of cache.objects.files()) if (digest !== null) decoded(digest, readFileSync(path));
  for await (const [key, text] of cache.tables.memory.scan()) found.push({ where: `memory ${key}`, text });
  await cache.close();
  return found;
}
