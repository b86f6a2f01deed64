/** Files for people: stored in the cache like everything else, and written where people look, on execution and on a hit alike. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, digestBytes } from "../base/json.js";
import type { RunContext } from "./context.js";
import { type OutFile, StageProblem } from "./contract.js";
import { writeAtomically } from "./record.js";

export interface StoredFile {
  readonly root: "run" | "mined";
  readonly name: string;
  readonly text: Digest;
  readonly fill?: boolean | undefined;
}

export async function storeFiles(context: RunContext, files: readonly OutFile[]): Promise<StoredFile[]> {
  return Promise.all(
    files.map(async ({ root, name, text, fill }) => ({
      root,
      name,
      text: await context.cache.putBytes(Buffer.from(text, "utf8")),
      ...(fill === true ? { fill } : {}),
    })),
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
  const { options } = context;
  for (const file of files) {
    const time = timestamp(file.root === "run" ? options.startedAt : madeAt);
    const name = safeName(file.name.replaceAll("{timestamp}", time));
    const path =
      file.root === "run"
        ? await writeRunFile(context, file, name)
        : await writeMinedFile(context, file, options.minedFolder, name);
    if (!context.files.has(path)) {
      context.files.add(path);
      context.events({ type: "file", path });
    }
  }
}

async function writeRunFile(context: RunContext, file: StoredFile, name: string): Promise<string> {
  const path = join(context.options.runFolder, name);
  const text = await textOf(context, file);
  await writeForPeople(path, file.fill === true ? text.replaceAll("{timestamp}", timestamp(context.options.startedAt)) : text);
  return path;
}

/**
 * The same mined file from an earlier run is left alone: its content is that of its time. Another content of the same second (mined by
 * another rule, or edited by hand since) is never overwritten: the new one is written under the next free name.
 */
async function writeMinedFile(context: RunContext, file: StoredFile, folder: string, name: string): Promise<string> {
  const dot = name.lastIndexOf(".");
  for (let attempt = 1; ; attempt++) {
    const path = join(folder, attempt === 1 ? name : `${name.slice(0, dot)}-${attempt}${name.slice(dot)}`);
    const there = await readFile(path).catch(() => null);
    if (there === null) {
      await writeForPeople(path, await textOf(context, file));
      return path;
    }
    if (digestBytes(there) === file.text) return path;
  }
}

/** What a file system refuses is the stage's failure, said with the file's name; everything is in the cache and is written by the next run. */
async function writeForPeople(path: string, text: string): Promise<void> {
  try {
    await writeAtomically(path, text);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "") throw error;
    throw new StageProblem(
      `${path} can't be written (${code}): make room or check the permissions, and type the same command again; everything is in the cache`,
    );
  }
}

async function textOf(context: RunContext, file: StoredFile): Promise<string> {
  const [bytes] = await context.cache.getBytes([file.text]);
  return Buffer.from(bytes ?? []).toString("utf8");
}

/** Names come from project names and labels: no separators, no leading dot, nothing that a file system minds. */
export function safeName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "_");
  return safe === "" ? "_" : safe.slice(0, 200);
}
