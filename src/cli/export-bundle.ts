/** `bench export bundle RUN --out FILE`: writes a bundle (see `bundle-format.ts`), unless it would give a secret away. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { finished } from "node:stream/promises";
import { create } from "tar";
import { visible } from "../base/diagnostics.js";
import { type FoundToken, findTokens, secretVariables } from "../base/token-shapes.js";
import type { RunRecord } from "../engine/record.js";
import { plural } from "../report/numbers.js";
import { BUNDLE_FORMAT, type BundleHead, HEAD, OBJECTS, RUN_FILE } from "./bundle-format.js";
import { type CellOutputs, cellOutputs, type StoredObjects } from "./cached-cells.js";
import { EXIT, type Io, UsageError } from "./contract.js";
import { list } from "./options.js";
import { benchVersion } from "./project.js";
import { type Options, text } from "./scoring-options.js";
import { cacheFolders, locateRun, openStoredObjects, runsFolder } from "./stored-run.js";

/** Never needed to score, and full of paths of this machine. */
const LEFT_HERE = new Set(["journal.jsonl"]);

export async function exportBundle(run: string, options: Options, io: Io): Promise<number> {
  const located = await locateRun(run, runsFolder(options, io), io.cwd);
  if (located.kind === "report") throw new UsageError(`${run} is a report; a bundle is made of a run`);
  if (located.label !== null) throw new UsageError(`a bundle holds all cells of a run: leave :${located.label} out`);
  const { record, folder } = located;
  const outputs = cellOutputs(record);
  if (outputs.length === 0) throw new UsageError(`${record.run_id} has no complete answers and scores that could be bundled`);
  const target = resolve(io.cwd, text(options, "out") ?? `${record.run_id}.bundle.tgz`);
  const staging = await mkdtemp(join(tmpdir(), "bench-bundle-"));
  try {
    const tokens = new Tokens(options, io);
    const opened = await openStoredObjects(cacheFolders({ folder }, options, io.cwd), (objects) =>
      writeObjects(outputs, objects, join(staging, OBJECTS), tokens),
    );
    if (opened.found === null) throw new UsageError(`${record.run_id} can't be bundled: ${opened.why}`);
    await opened.close();
    await copyRun(folder, record, join(staging, "run"), tokens);
    if (tokens.found.length > 0) {
      io.stderr(tokens.refusal());
      return EXIT.failed;
    }
    const head = await headOf(staging, record, opened.found);
    await writeFile(join(staging, HEAD), `${JSON.stringify(head, null, 2)}\n`);
    await mkdir(dirname(target), { recursive: true });
    const temporary = `${target}.${process.pid}.tmp`;
    // Without times and owners: the same run gives the same bytes.
    const archive = { file: temporary, cwd: staging, gzip: true, portable: true, noMtime: true };
    await create(archive, [HEAD, ...head.files.map(({ name }) => name)]);
    await rename(temporary, target);
    const { size } = await stat(target);
    io.stderr(
      `wrote ${target}: ${plural(head.cells.length, "cell")}, ${plural(head.objects, "object")}, ${size} bytes; no token was found in it\n`,
    );
    return EXIT.done;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** What was found, where; and what the person has looked at and said is none. */
class Tokens {
  readonly found: { readonly where: string; readonly token: FoundToken }[] = [];
  readonly #secrets: ReadonlyMap<string, string>;
  readonly #allowed: ReadonlySet<string>;

  constructor(options: Options, io: Io) {
    this.#secrets = secretVariables(io.env);
    this.#allowed = new Set(list(options, "not-secret"));
  }

  look(where: string, content: string): void {
    for (const token of findTokens(content, this.#secrets)) {
      if (!this.#allowed.has(token.fingerprint)) this.found.push({ where, token });
    }
  }

  refusal(): string {
    const shown = this.found.slice(0, 20).map(({ where, token: { shape, shown: beginning, fingerprint } }) => {
      return `  ${visible(where)}: ${shape} ${visible(beginning)} (fingerprint ${fingerprint})`;
    });
    const more = this.found.length > shown.length ? [`  ... and ${this.found.length - shown.length} more`] : [];
    return [
      `bench export: nothing was written, because it would give away what looks like ${this.found.length === 1 ? "a token" : `${this.found.length} tokens`}:`,
      ...shown,
      ...more,
      "If it is one, revoke it: it is in the cache already. If it is none (an example in an issue's text), say so: --not-secret FINGERPRINT",
      "",
    ].join("\n");
  }
}

/** Writes every object that scoring reads, in an order that the outputs alone decide; returns their digests. */
async function writeObjects(
  outputs: readonly CellOutputs[],
  objects: StoredObjects,
  path: string,
  tokens: Tokens,
): Promise<string[]> {
  const file = createWriteStream(path);
  const written = new Set<string>();
  const put = async (digests: readonly string[]): Promise<void> => {
    const wanted = [...new Set(digests)].filter((digest) => !written.has(digest));
    for (let start = 0; start < wanted.length; start += 200) {
      const batch = wanted.slice(start, start + 200);
      for (const [index, content] of (await objects.texts(batch)).entries()) {
        const digest = batch[index] ?? "";
        written.add(digest);
        tokens.look(`object ${digest.slice(0, 12)}${idIn(content)}`, content);
        if (!file.write(`${JSON.stringify({ digest, text: content })}\n`)) await once(file, "drain");
      }
    }
  };
  try {
    for (const { answers, dataset, corpus, scores, intervals } of outputs) {
      const manifests = [answers, dataset, corpus, scores, intervals].filter((digest) => digest !== null);
      await put(manifests);
      for (const digest of manifests) await put((await objects.manifest(digest)).items.map(([, item]) => item));
    }
  } finally {
    file.end();
    await finished(file);
  }
  return [...written];
}

/** ` (acme/house#12)`: which record an object is, where it says so. */
function idIn(content: string): string {
  const id = /"id":"([^"\\]{1,100})"/.exec(content)?.[1];
  return id === undefined ? "" : ` (${id})`;
}

/** The run's own files. Its record loses what tells of this machine: folders, host, process. */
async function copyRun(folder: string, record: RunRecord, to: string, tokens: Tokens): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of (await readdir(folder)).sort()) {
    if (LEFT_HERE.has(name) || !RUN_FILE.test(`run/${name}`) || !(await stat(join(folder, name))).isFile()) continue;
    const content =
      name === "run.json" ? `${JSON.stringify(portable(record), null, 1)}\n` : await readFile(join(folder, name), "utf8");
    tokens.look(`run/${name}`, content);
    await writeFile(join(to, name), content);
  }
}

function portable(record: RunRecord): RunRecord {
  return {
    ...record,
    pipeline: basename(record.pipeline),
    process: { host: "", pid: 0, start: "" },
    // One that was still running here is not running there.
    state: record.state === "running" ? "interrupted" : record.state,
    reports: record.reports.map((path) => basename(path)),
  };
}

async function headOf(staging: string, record: RunRecord, digests: readonly string[]): Promise<BundleHead> {
  const names = [...(await readdir(join(staging, "run"))).sort().map((name) => `run/${name}`), OBJECTS];
  const files = [];
  for (const name of names) {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(join(staging, name))) hash.update(chunk);
    files.push({ name, bytes: (await stat(join(staging, name))).size, sha256: hash.digest("hex") });
  }
  const cells = cellOutputs(record).map(({ stage, label }) => label ?? stage);
  return {
    bundle_format: BUNDLE_FORMAT,
    run_id: record.run_id,
    bench: await benchVersion(),
    cells,
    objects: digests.length,
    files,
  };
}
