/**
 * `bench import FILE`: takes a bundle in. Nothing in it is believed: names must be those of a bundle, sizes and SHA-256 those that its head
 * states, every object must have the bytes that its digest names, and all that the run's record names must be there. Only then the
 * objects go into the cache and the run's files into a folder of their own. Rows of the action index are neither in a bundle nor made from
 * one: a stranger's file must not answer for questions that were never asked here.
 */
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { extract, list, type ReadEntry } from "tar";
import * as z from "zod";
import { visible } from "../base/diagnostics.js";
import { digestBytes } from "../base/json.js";
import { err, ok, type Result } from "../base/result.js";
import type { Cache } from "../cache/cache.js";
import { readRunRecord } from "../engine/record.js";
import { type BundleHead, bundleSchema, HEAD, HEAD_LIMIT, OBJECTS, objectLineSchema } from "./bundle-format.js";
import { cellOutputs } from "./cached-cells.js";
import { type Io, UsageError } from "./contract.js";

export interface Imported {
  readonly run_id: string;
  readonly folder: string;
  readonly objects: number;
}

/** `out`: where runs are. Error: what is wrong with the bundle; nothing was changed then. */
export async function importBundle(file: string, out: string, cache: Cache, io: Io): Promise<Result<Imported, string>> {
  const path = resolve(io.cwd, file);
  const head = await readHead(path);
  if (!head.ok) return err(`${file}: ${head.error}`);
  const { run_id, files } = head.value;
  const folder = join(out, run_id);
  await mkdir(out, { recursive: true });
  const staging = await mkdtemp(join(out, ".import-"));
  try {
    const unpacked = await unpack(path, staging, head.value);
    if (!unpacked.ok) return err(`${file}: ${unpacked.error}`);
    const runFiles = join(staging, "run");
    const record = await readRunRecord(runFiles);
    if (record === null || record.run_id !== run_id)
      return err(`${file}: its record (run/run.json) is not that of the run ${run_id}`);
    const wanted = new Set(
      cellOutputs(record).flatMap(({ answers, dataset, corpus, scores, intervals }) =>
        [answers, dataset, corpus, scores, intervals].filter((digest) => digest !== null),
      ),
    );
    const there = await checkObjects(join(staging, OBJECTS), head.value, wanted);
    if (!there.ok) return err(`${file}: ${there.error}`);
    if (existsSync(folder)) {
      const same = await sameFiles(runFiles, folder, files);
      if (!same) {
        throw new UsageError(
          `there is another run ${run_id} in ${out}: give another folder with --out, or remove it if it is an old import`,
        );
      }
    }
    await storeObjects(join(staging, OBJECTS), cache);
    if (!existsSync(folder)) await rename(runFiles, folder);
    return ok({ run_id, folder: relative(io.cwd, folder), objects: head.value.objects });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** The head, and that the archive holds exactly the files which it lists. */
async function readHead(path: string): Promise<Result<BundleHead, string>> {
  if (!(await stat(path).catch(() => null))?.isFile()) return err("there is no such file");
  const names: { readonly name: string; readonly size: number }[] = [];
  let problem: string | null = null;
  const chunks: Buffer[] = [];
  const onReadEntry = (entry: ReadEntry): void => {
    const { path: name, type, size = 0 } = entry;
    if (type !== "File") problem ??= `${shown(name)} is a ${type}, and a bundle has only files`;
    if (names.some((known) => known.name === name)) problem ??= `${shown(name)} is in it twice`;
    names.push({ name, size });
    if (name === HEAD && names.length === 1 && size <= HEAD_LIMIT) entry.on("data", (chunk: Buffer) => void chunks.push(chunk));
    else entry.resume();
  };
  try {
    await list({ file: path, strict: true, onReadEntry });
  } catch (error) {
    return err(`it is no bundle, or a damaged one (${error instanceof Error ? error.message : String(error)})`);
  }
  if (problem !== null) return err(problem);
  if (names[0]?.name !== HEAD) return err(`it is no bundle: a bundle begins with ${HEAD}`);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return err(`its ${HEAD} is not JSON`);
  }
  const head = bundleSchema.safeParse(value);
  if (!head.success) return err(`its ${HEAD} is not one that this version reads: ${z.prettifyError(head.error)}`);
  const stated = new Map(head.data.files.map(({ name, bytes }) => [name, bytes]));
  for (const { name, size } of names.slice(1)) {
    if (!stated.has(name)) return err(`${shown(name)} is in it and not in its list of files`);
    if (stated.get(name) !== size) return err(`${shown(name)} has ${size} bytes, its list says ${stated.get(name)}`);
  }
  const absent = [...stated.keys()].find((name) => !names.some((one) => one.name === name));
  if (absent !== undefined || stated.size !== head.data.files.length) return err(`${shown(absent ?? "a file")} is missing`);
  return ok(head.data);
}

function shown(name: string): string {
  return visible(name.slice(0, 200));
}

/** Text packs ten or twenty times; what unpacks to so much more is made to fill a disk. */
const MOST_UNPACKED = { factor: 400, bytes: 64 * 1024 * 1024 };

async function unpack(path: string, staging: string, head: BundleHead): Promise<Result<null, string>> {
  const total = head.files.reduce((sum, { bytes }) => sum + bytes, 0);
  const { size } = await stat(path);
  if (total > MOST_UNPACKED.bytes + size * MOST_UNPACKED.factor)
    return err(`it would unpack to ${total} bytes, which no bundle of ${size} does`);
  const wanted = new Set(head.files.map(({ name }) => name));
  await extract({
    file: path,
    cwd: staging,
    strict: true,
    filter: (name, entry) => wanted.has(name) && "type" in entry && entry.type === "File",
  });
  for (const { name, sha256 } of head.files) {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(join(staging, name))) hash.update(chunk);
    if (hash.digest("hex") !== sha256) return err(`${shown(name)} has other bytes than its digest says`);
  }
  return ok(null);
}

/** Lines end in LF and nothing else: texts may hold the separators that other readers of lines take for ends. */
async function* objectLines(path: string): AsyncGenerator<{ readonly line: number; readonly value: unknown }> {
  let line = 0;
  let rest: Buffer[] = [];
  const parse = (bytes: Buffer) => {
    line += 1;
    try {
      return { line, value: JSON.parse(bytes.toString("utf8")) as unknown };
    } catch {
      return { line, value: undefined };
    }
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      yield parse(Buffer.concat([...rest, chunk.subarray(from, at)]));
      rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (rest.length > 0) yield parse(Buffer.concat(rest));
}

/** Every object against its digest; every output that the record names, and every item of it, must be among them. */
async function checkObjects(path: string, head: BundleHead, outputs: ReadonlySet<string>): Promise<Result<null, string>> {
  const there = new Set<string>();
  const needed = new Set(outputs);
  for await (const { line, value } of objectLines(path)) {
    const object = objectLineSchema.safeParse(value);
    if (!object.success) return err(`${OBJECTS}, line ${line}: is no object`);
    const { digest, text } = object.data;
    if (digestBytes(text) !== digest)
      return err(`${OBJECTS}, line ${line}: the object ${digest.slice(0, 12)} has other bytes than its digest says`);
    if (there.has(digest)) return err(`${OBJECTS}, line ${line}: the object ${digest.slice(0, 12)} is there twice`);
    there.add(digest);
    if (outputs.has(digest)) for (const item of itemsOf(text)) needed.add(item);
  }
  if (there.size !== head.objects) return err(`it holds ${there.size} objects, its head says ${head.objects}`);
  const missing = [...needed].filter((digest) => !there.has(digest));
  if (missing.length > 0)
    return err(`it is not complete: ${missing.length} objects are missing, such as ${missing[0]?.slice(0, 12)}`);
  const extra = [...there].filter((digest) => !needed.has(digest));
  if (extra.length > 0)
    return err(`it holds ${extra.length} objects that the run does not name, such as ${extra[0]?.slice(0, 12)}`);
  return ok(null);
}

function itemsOf(manifest: string): string[] {
  const read = z.object({ items: z.array(z.tuple([z.string(), z.string()])) }).safeParse(JSON.parse(manifest));
  return read.success ? read.data.items.map(([, digest]) => digest) : [];
}

async function storeObjects(path: string, cache: Cache): Promise<void> {
  let batch: Promise<unknown>[] = [];
  for await (const { value } of objectLines(path)) {
    const { text } = objectLineSchema.parse(value);
    batch.push(cache.putBytes(Buffer.from(text, "utf8")));
    if (batch.length < 400) continue;
    await Promise.all(batch);
    batch = [];
  }
  await Promise.all(batch);
}

/** An import of the same bundle: nothing to do. */
async function sameFiles(from: string, folder: string, files: BundleHead["files"]): Promise<boolean> {
  for (const { name } of files) {
    if (name === OBJECTS) continue;
    const [ours, theirs] = await Promise.all(
      [join(folder, name.slice("run/".length)), join(from, name.slice("run/".length))].map((path) =>
        readFile(path).catch(() => null),
      ),
    );
    if (ours === null || theirs === null || ours === undefined || theirs === undefined || !ours.equals(theirs)) return false;
  }
  return true;
}
