/**
 * A GraphRAG folder as it lies on disk: which files are the index, what they and the settings come to as a digest, and which environment
 * variables the settings read.
 *
 * The digest is of content and never of times or places: a copied index is the same index, and one that was made again is another. It does
 * cover the settings and the prompts, since they choose the model and its task; it does not cover `.env`, where the keys are.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { digestBytes, digestJson, type Json } from "../base/json.js";

const SETTINGS = ["settings.yaml", "settings.yml", "settings.json"];
/** What releases before 0.4 wrote beside the tables is in a folder per run. */
const ARTIFACTS = "artifacts";

export interface IndexData {
  /** As GraphRAG is told: relative to its folder, or absolute. */
  readonly argument: string;
  readonly path: string;
  /** Names of the tables, sorted. */
  readonly tables: readonly string[];
}

/**
 * The folder with the tables: `data` itself, or, for old releases, the `artifacts` of its newest run. null: no tables there.
 */
export async function findData(dir: string, data: string): Promise<IndexData | null> {
  const path = resolve(dir, data);
  const tables = await tablesIn(path);
  if (tables.length > 0) return { argument: data, path, tables };
  for (const run of (await entries(path)).reverse()) {
    const inside = join(path, run, ARTIFACTS);
    const found = await tablesIn(inside);
    if (found.length === 0) continue;
    return {
      argument: isAbsolute(data) ? inside : `${data.replace(/\/+$/, "")}/${run}/${ARTIFACTS}`,
      path: inside,
      tables: found,
    };
  }
  return null;
}

async function tablesIn(folder: string): Promise<string[]> {
  return (await entries(folder)).filter((name) => name.endsWith(".parquet"));
}

async function entries(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [] as string[])).sort();
}

export async function settingsOf(dir: string): Promise<{ name: string; text: string } | null> {
  for (const name of SETTINGS) {
    const text = await readFile(join(dir, name), "utf8").catch(() => null);
    if (text !== null) return { name, text };
  }
  return null;
}

/** `${NAME}` and `$NAME`, as Python's string.Template reads them; sorted. */
export function variablesOf(settings: string): string[] {
  const names = new Set<string>();
  for (const [, braced, bare] of settings.matchAll(/\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*)|\$)/g)) {
    const name = braced ?? bare;
    if (name !== undefined) names.add(name);
  }
  return [...names].sort();
}

/** `NAME=value` lines of a `.env` file, quotes taken away. The real environment wins over them, as it does in GraphRAG. */
export async function dotEnv(dir: string): Promise<Record<string, string>> {
  const text = await readFile(join(dir, ".env"), "utf8").catch(() => "");
  const values: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const found = /^\s{0,20}(?:export )?([A-Za-z_][A-Za-z0-9_]*)\s{0,20}=(.*)$/.exec(line);
    if (found?.[1] === undefined) continue;
    const value = (found[2] ?? "").trim();
    const quote = value[0];
    values[found[1]] = value.length > 1 && (quote === '"' || quote === "'") && value.endsWith(quote) ? value.slice(1, -1) : value;
  }
  return values;
}

const SECRET_NAME = /key|token|secret|passw|credential|auth|connection_string/i;

/** Values of the variables that the settings read, without those that sound secret: a new key gives the same answers. */
function openValues(names: readonly string[], env: Readonly<Record<string, string | undefined>>): Record<string, string | null> {
  return Object.fromEntries(names.filter((name) => !SECRET_NAME.test(name)).map((name) => [name, env[name] ?? null]));
}

/**
 * What determines GraphRAG's answers from one folder; null for what is not there as files. That is not yet a mistake (an index may lie in a
 * cloud's storage), and where it is one, GraphRAG's own message about it becomes the answer's.
 */
export async function folderIdentity(
  dir: string,
  data: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly index: Json; readonly settings: Json; readonly prompts: Json; readonly variables: Json }> {
  const settings = await settingsOf(dir);
  const found = await findData(dir, data);
  const prompts = (await entries(join(dir, "prompts"))).filter((name) => name.endsWith(".txt"));
  return {
    index: found === null ? null : await digestOfFiles(found.path, found.tables),
    settings: settings === null ? null : digestBytes(settings.text),
    prompts: await digestOfFiles(join(dir, "prompts"), prompts),
    variables: openValues(variablesOf(settings?.text ?? ""), { ...(await dotEnv(dir)), ...env }),
  };
}

/** Digest over names, sizes and contents. */
async function digestOfFiles(folder: string, names: readonly string[]): Promise<string> {
  const list: [string, string][] = [];
  for (const name of names) list.push([name, await digestOfFile(join(folder, name))]);
  return digestJson(list);
}

/** Every cell of a matrix asks for the same digests: a file is read again only if anything about it changed. */
const memo = new Map<string, { readonly stamp: string; readonly digest: string }>();

async function digestOfFile(path: string): Promise<string> {
  const { size, mtimeMs, ctimeMs, ino } = await stat(path);
  const stamp = [size, mtimeMs, ctimeMs, ino].join(" ");
  const known = memo.get(path);
  if (known?.stamp === stamp) return known.digest;
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  const digest = hash.digest("hex");
  memo.set(path, { stamp, digest });
  return digest;
}

/** Where releases write what their searches swallowed. */
const LOGS = [
  "logs/query.log",
  "logs/logs.txt",
  "logs/logs.json",
  "logs/indexing-engine.log",
  "output/reports/logs.txt",
  "output/reports/indexing-engine.log",
];
const MOST_LOG = 256 * 1024;

/** How long the logs are now: what is in them afterwards belongs to what happens from now on. */
export async function logMarks(dir: string): Promise<ReadonlyMap<string, number>> {
  const marks = new Map<string, number>();
  for (const name of LOGS) marks.set(name, (await stat(join(dir, name)).catch(() => undefined))?.size ?? 0);
  return marks;
}

/** What was written into the logs since then (its end, where it is long). */
export async function logSince(dir: string, marks: ReadonlyMap<string, number>): Promise<string> {
  const parts: string[] = [];
  for (const [name, mark] of marks) {
    const file = await open(join(dir, name)).catch(() => null);
    if (file === null) continue;
    try {
      const { size } = await file.stat();
      // A log that is shorter than before was begun anew.
      const from = Math.max(size < mark ? 0 : mark, size - MOST_LOG);
      const bytes = Buffer.alloc(Math.max(0, size - from));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
      if (bytesRead > 0) parts.push(bytes.toString("utf8", 0, bytesRead));
    } finally {
      await file.close();
    }
  }
  return parts.join("\n");
}
