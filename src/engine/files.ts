/** Files for people: stored in the cache like everything else, and written where people look, on execution and on a hit alike. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Digest } from "../base/json.js";
import type { RunContext } from "./context.js";
import type { OutFile } from "./contract.js";
import { writeAtomically } from "./record.js";

export interface StoredFile {
  readonly root: "run" | "mined";
  readonly name: string;
  readonly text: Digest;
}

export async function storeFiles(context: RunContext, files: readonly OutFile[]): Promise<StoredFile[]> {
  return Promise.all(
    files.map(async ({ root, name, text }) => ({ root, name, text: await context.cache.putBytes(Buffer.from(text, "utf8")) })),
  );
}

/** `20261130T221500Z` */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds)
    .toISOString()
    .replace(/[-:]/g, "")
    .replace(/\.\d+Z$/, "Z");
}

/** `madeAt`: when the stage was executed (its `mined` files keep that time in their name). */
export async function materialise(context: RunContext, files: readonly StoredFile[], madeAt: number): Promise<void> {
  const { options, cache } = context;
  for (const file of files) {
    const time = timestamp(file.root === "run" ? options.startedAt : madeAt);
    const path = join(
      file.root === "run" ? options.runFolder : options.minedFolder,
      safeName(file.name.replaceAll("{timestamp}", time)),
    );
    // The same mined file from an earlier run is left alone: its content is that of its time.
    const there = file.root === "mined" && (await stat(path).catch(() => null))?.isFile() === true;
    if (!there) {
      const [bytes] = await cache.getBytes([file.text]);
      await writeAtomically(path, Buffer.from(bytes ?? []).toString("utf8"));
    }
    if (!context.files.has(path)) {
      context.files.add(path);
      context.events({ type: "file", path });
    }
  }
}

/** Names come from project names and labels: no separators, no leading dot, nothing that a file system minds. */
export function safeName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "_");
  return safe === "" ? "_" : safe.slice(0, 200);
}
