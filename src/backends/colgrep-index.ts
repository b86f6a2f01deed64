/**
 * The index of colgrep: what `colgrep init` makes of a source tree, in a data folder of its own, so that no index of another tree (or of a
 * parent folder, which colgrep would use instead) and no setting of the person's own colgrep plays a part.
 */
import { mkdir, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import * as z from "zod";
import { digestJson, type Json } from "../base/json.js";
import { writtenText } from "../base/written-text.js";
import { type DoctorEnvironment, type Finding, UnusableConfiguration } from "./contract.js";
import { toolFindings } from "./doctor.js";
import { digestsOfFolder } from "./file-digest.js";
import type { IndexTool } from "./index-tool.js";
import { type Env, knownVersion, passedOn, runTool, versionForKey } from "./tool-process.js";

const COLGREP_INSTALL =
  "Install colgrep (https://github.com/lightonai/next-plaid; for example `cargo install colgrep`), or give its path with `bin:`";

/** Options that the index and the search share. */
export const colgrepCommon = {
  bin: z.string().min(1).default("colgrep").describe("The program; what starts with ./ or ../ is relative to the pipeline file."),
  model: z
    .string()
    .min(1)
    .optional()
    .describe("Name of the model at Hugging Face, or (./ or ../) a folder that has one. Default: colgrep's own."),
  version: writtenText.optional().describe("Version for the key; default: what `colgrep --version` says."),
  env: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of an environment variable"))
    .default([])
    .describe("Names of further environment variables to pass on."),
};

const indexOptions = z.strictObject({
  ...colgrepCommon,
  args: z.array(writtenText).default([]).describe("Further arguments for `colgrep init`, such as --force-cpu."),
  timeout: z.number().positive().nullable().default(3600).describe("Seconds per attempt; null = none."),
  concurrency: z.number().int().min(1).default(1).describe("Indexes built at once."),
});
export type ColgrepIndexOptions = z.infer<typeof indexOptions>;

/** Where its models and their runtime come from; the data and settings folders are ours. */
const PASSED_ON = [
  "HF_HOME",
  "HF_TOKEN",
  "HUGGING_FACE_HUB_TOKEN",
  "HF_ENDPOINT",
  "HF_HUB_OFFLINE",
  "ORT_DYLIB_PATH",
  "XDG_CACHE_HOME",
];

export function colgrepFile(bin: string, baseFolder: string): string {
  return /^\.\.?[/\\]/.test(bin) ? resolve(baseFolder, bin) : bin;
}

/** The environment of colgrep with this data folder (undefined: the person's own). */
export function colgrepEnv(env: Env, also: readonly string[], folder: string | undefined): Record<string, string> {
  const passed = passedOn(env, [...PASSED_ON, ...also]);
  return folder === undefined
    ? passed
    : { ...passed, XDG_DATA_HOME: join(folder, "data"), XDG_CONFIG_HOME: join(folder, "config") };
}

export function modelArgument(model: string | undefined, baseFolder: string): string[] {
  if (model === undefined) return [];
  return ["--model", /^\.\.?[/\\]/.test(model) ? resolve(baseFolder, model) : model];
}

/** The version, and the content of a model that is given as a folder. */
export async function colgrepFingerprint(
  options: {
    readonly bin: string;
    readonly model?: string | undefined;
    readonly version?: string | undefined;
    readonly env: readonly string[];
  },
  { baseFolder, env = {} }: { readonly baseFolder: string; readonly env?: Env },
): Promise<Json> {
  const file = colgrepFile(options.bin, baseFolder);
  const version = await versionForKey(options, file, colgrepEnv(env, options.env, undefined), COLGREP_INSTALL);
  const { model } = options;
  if (model === undefined || !(/^\.\.?[/\\]/.test(model) || isAbsolute(model))) return { version };
  const digests = await digestsOfFolder(resolve(baseFolder, model));
  if (digests === null) {
    throw new UnusableConfiguration(`colgrep: \`model:\` names the folder ${model}, but there is none: check the path`);
  }
  return { version, model: digests };
}

export function colgrepDoctor(
  options: { readonly bin: string; readonly env: readonly string[]; readonly version?: string | undefined },
  environment: DoctorEnvironment,
): Promise<readonly Finding[]> {
  return toolFindings({
    name: "colgrep",
    file: colgrepFile(options.bin, environment.baseFolder),
    env: colgrepEnv(environment.env, options.env, undefined),
    declared: options.version,
    install: COLGREP_INSTALL,
    indexes: environment.cacheFolder("indexes"),
  });
}

export const colgrepIndex: IndexTool<ColgrepIndexOptions> = {
  kind: "colgrep",
  summary: "The index of colgrep (`colgrep init`).",
  version: 1,
  options: indexOptions,
  identityOf: ({ model, args }) => ({ model: model ?? null, args }),
  fingerprint: colgrepFingerprint,
  // Its folder bears a digest of the tree's absolute path.
  pathBound: true,
  concurrency: ({ concurrency }) => concurrency,
  timeout: ({ timeout }) => timeout,
  doctor: colgrepDoctor,
  build: async (options, { corpus, folder }, environment, signal) => {
    const { baseFolder, env } = environment;
    const file = colgrepFile(options.bin, baseFolder);
    const tree = await corpus.folder();
    await mkdir(join(folder, "data"), { recursive: true });
    await mkdir(join(folder, "config"), { recursive: true });
    const args = ["init", "-y", ...modelArgument(options.model, baseFolder), ...options.args, tree];
    const toolEnv = colgrepEnv(env, options.env, folder);
    const end = await runTool({ file, args, cwd: tree, env: toolEnv }, environment, signal, explainColgrep);
    if (!end.ok) {
      const { error, retry } = end.failure;
      return { type: "failed", message: error ?? "colgrep init failed", ...(retry === undefined ? {} : { retry }) };
    }
    const files = indexedFiles(end.stderr);
    if (files === 0) {
      return {
        type: "failed",
        message: `${NOTHING_INDEXED} (${corpus.tree.source})`,
      };
    }
    const version = await knownVersion(options.version, file, toolEnv);
    // Where the system has its own place for data (macOS) XDG_DATA_HOME counts for nothing: the index is there and can't be kept.
    const kept = (await stat(join(folder, "data", "colgrep")).catch(() => undefined))?.isDirectory() === true;
    return {
      type: "built",
      keep: kept ? ["data/colgrep"] : [],
      digest: digestJson(["colgrep", version, options.model ?? null, options.args, corpus.digest]),
      facts: { version, model: options.model ?? null, files, kept },
    };
  },
};

const NOTHING_INDEXED =
  "colgrep indexed no file: it leaves out what .gitignore names and folders such as tmp, build or vendor, also above the tree; is the cache below one?";

/** Files that colgrep says it indexed; null where it does not say. */
function indexedFiles(stderr: string): number | null {
  const counts = /added: (\d{1,9}), changed: (\d{1,9}), deleted: \d{1,9}, unchanged: (\d{1,9})/.exec(stderr);
  if (counts !== null) return Number(counts[1]) + Number(counts[2]) + Number(counts[3]);
  const upToDate = /up to date for [^\n]{0,4096}\((\d{1,9}) files\)/.exec(stderr);
  return upToDate === null ? null : Number(upToDate[1]);
}

/** What colgrep is known to complain of, in words that say what to do. */
export function explainColgrep(stderr: string): { message: string; again?: boolean } | undefined {
  if (stderr.includes("currently being built")) {
    return { message: "colgrep's index is being built by another process: asked again soon", again: true };
  }
  const unknown = /unexpected argument '([^'\n]{1,80})'/.exec(stderr)?.[1];
  if (unknown !== undefined) {
    return { message: `this colgrep does not know ${unknown}: check \`args:\` and the version (colgrep --version)` };
  }
  // Newer versions say `No index found. Index building may have failed (no indexable files found).`
  if (/No files indexed|no indexable files/.test(stderr)) return { message: NOTHING_INDEXED };
  if (stderr.includes("No index found")) {
    return {
      message: "colgrep found no index of this source tree: run the index-corpus stage again (bench run ... --force STAGE)",
    };
  }
  if (/huggingface|hf-hub|dns error|failed to lookup|Failed to download/i.test(stderr)) {
    return {
      message: "colgrep could not get its model: it needs the network once, or `model:` with a folder that has the model",
      again: true,
    };
  }
  return undefined;
}
