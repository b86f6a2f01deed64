/** Digests of files that options only name: their content shapes the answers, their place does not. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** null where there is no such file. */
export async function digestOfFile(path: string): Promise<string | null> {
  if ((await stat(path).catch(() => undefined))?.isFile() !== true) return null;
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Digests of the files directly in a folder, by name (a model's folder); null where there is no such folder. */
export async function digestsOfFolder(path: string): Promise<Record<string, string> | null> {
  const names = await readdir(path).catch(() => null);
  if (names === null) return null;
  const digests: Record<string, string> = {};
  for (const name of names.sort()) {
    const digest = await digestOfFile(join(path, name));
    if (digest !== null) digests[name] = digest;
  }
  return digests;
}
