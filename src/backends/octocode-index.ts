/**
 * The index of octocode (Muvon's): what `octocode index` makes of a source tree, in a data folder of its own.
 *
 * The tool decides by its working folder what to index and where; it also looks for a Git repository around it. Our trees lie below a cache
 * that may lie in a repository, which must not be taken for theirs, so Git is kept from looking above the tree.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import * as z from "zod";
import { digestBytes, digestJson, type Json } from "../base/json.js";
import { writtenText } from "../base/written-text.js";
import { type BackendEnvironment, type DoctorEnvironment, type Finding, UnusableConfiguration } from "./contract.js";
import { toolFindings } from "./doctor.js";
import type { IndexTool } from "./index-tool.js";
import { TOML_PATH, type TomlValue, withTomlSettings } from "./toml-settings.js";
import { type Env, knownVersion, passedOn, runTool, versionForKey } from "./tool-process.js";

const OCTOCODE_INSTALL =
  "Install octocode (https://github.com/Muvon/octocode; npm's package of that name is another tool), or give its path with `bin:`";

/** Values by path, such as `search.hybrid.enabled`. */
export const octocodeSettings = z.record(
  z.string().regex(TOML_PATH, "is no path of a setting: write table.key"),
  z.union([z.string().max(10_000), z.number(), z.boolean()]),
);
type Settings = Readonly<Record<string, TomlValue>>;

/** Options that the index and the search share. */
export const octocodeCommon = {
  bin: z
    .string()
    .min(1)
    .default("octocode")
    .describe("The program; what starts with ./ or ../ is relative to the pipeline file."),
  config: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Its settings file (models, max_results, similarity_threshold), by content in the key. Default: octocode's defaults.",
    ),
  settings: octocodeSettings
    .default({})
    .describe("Values of its settings file to set, by path (`embedding.code_model`): for the index and every search."),
  version: writtenText.optional().describe("Version for the key; default: what `octocode --version` says."),
  env: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of an environment variable"))
    .default([])
    .describe("Names of further environment variables to pass on, such as VOYAGE_API_KEY."),
};

const indexOptions = z.strictObject({
  ...octocodeCommon,
  args: z.array(writtenText).default([]).describe("Further arguments for `octocode index`."),
  timeout: z.number().positive().nullable().default(3600).describe("Seconds per attempt; null = none."),
  concurrency: z.number().int().min(1).default(1).describe("Indexes built at once."),
});
export type OctocodeIndexOptions = z.infer<typeof indexOptions>;

const PASSED_ON = ["HF_HOME", "HF_TOKEN", "HF_ENDPOINT", "XDG_CACHE_HOME"];
/** Where older versions keep their models: beside the indexes, where they would be downloaded and stored once per tree. */
const MODEL_FOLDERS = ["fastembed", "sentencetransformer"];

export function octocodeFile(bin: string, baseFolder: string): string {
  return /^\.\.?[/\\]/.test(bin) ? resolve(baseFolder, bin) : bin;
}

/** The environment of octocode with this data folder (undefined: the person's own) for this tree; `file`: the settings file to use. */
export function octocodeEnv(
  options: { readonly config?: string | undefined; readonly env: readonly string[] },
  { baseFolder, env = {} }: { readonly baseFolder: string; readonly env?: Env },
  place?: { readonly folder: string | undefined; readonly tree: string; readonly file: string | undefined },
): Record<string, string> {
  const file = place === undefined && options.config !== undefined ? resolve(baseFolder, options.config) : place?.file;
  return {
    ...passedOn(env, [...PASSED_ON, ...options.env]),
    ...(file === undefined ? {} : { OCTOCODE_CONFIG_PATH: file }),
    ...(place === undefined ? {} : { GIT_CEILING_DIRECTORIES: dirname(place.tree) }),
    ...(place?.folder === undefined ? {} : { XDG_DATA_HOME: join(place.folder, "data") }),
  };
}

/**
 * The text of the settings file with `settings` and then `search` set; null where octocode's defaults are used as they are. Throws
 * `UnusableConfiguration` where there is no such file, or a value can't be set.
 */
async function settingsText(
  options: { readonly config?: string | undefined; readonly settings: Settings; readonly search?: Settings },
  baseFolder: string,
): Promise<string | null> {
  const set = { ...options.settings, ...options.search };
  if (options.config === undefined && Object.keys(set).length === 0) return null;
  const text = options.config === undefined ? "" : await readFile(resolve(baseFolder, options.config), "utf8").catch(() => null);
  if (text === null) {
    throw new UnusableConfiguration(`octocode: \`config:\` names ${options.config}, but there is no such file: check the path`);
  }
  const edited = withTomlSettings(text, set);
  if (!edited.ok) throw new UnusableConfiguration(`octocode: ${options.config ?? "`settings:`"}: ${edited.error}`);
  return edited.value;
}

/** The settings file to run with: the person's own, or a copy with the values set, named by its content. */
export async function octocodeSettingsFile(
  options: { readonly config?: string | undefined; readonly settings: Settings; readonly search?: Settings },
  { baseFolder, cacheFolder }: Pick<BackendEnvironment, "baseFolder" | "cacheFolder">,
): Promise<string | undefined> {
  const text = await settingsText(options, baseFolder);
  if (text === null) return undefined;
  if (options.config !== undefined && Object.keys({ ...options.settings, ...options.search }).length === 0)
    return resolve(baseFolder, options.config);
  if (cacheFolder === undefined) throw new UnusableConfiguration("octocode: `settings:` needs a cache to keep the file in");
  const folder = cacheFolder("octocode");
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${digestBytes(Buffer.from(text)).slice(0, 32)}.toml`);
  if ((await readFile(file, "utf8").catch(() => null)) === text) return file;
  const making = `${file}.${randomUUID()}.tmp`;
  await writeFile(making, text);
  await rename(making, file);
  return file;
}

/** The version, and the content of the settings file that the index is made with. */
export async function octocodeFingerprint(
  options: {
    readonly bin: string;
    readonly config?: string | undefined;
    readonly settings: Settings;
    readonly version?: string | undefined;
    readonly env: readonly string[];
  },
  { baseFolder, env = {} }: { readonly baseFolder: string; readonly env?: Env },
): Promise<Json> {
  const file = octocodeFile(options.bin, baseFolder);
  // Without what only the search sets: variants of the search share one index.
  const { config, settings } = options;
  const text = await settingsText({ config, settings }, baseFolder);
  const version = await versionForKey(options, file, octocodeEnv(options, { baseFolder, env }), OCTOCODE_INSTALL);
  return text === null ? { version } : { version, config: digestBytes(Buffer.from(text)) };
}

/**
 * A data folder to search with: it leads to the index and to the models. The index's own folder is left as it was stored, since it is
 * compared with its digests.
 */
export async function searchHome(index: string, environment: Pick<BackendEnvironment, "cacheFolder">): Promise<string> {
  const { cacheFolder } = environment;
  if (cacheFolder === undefined) return index;
  const home = join(cacheFolder("octocode"), digestJson(index).slice(0, 16));
  await shareModels(home, environment);
  for (const folder of await indexFolders(index)) {
    await symlink(join(index, folder), join(home, folder), "junction").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
  return home;
}

/** Lets the tool find its models in one folder for all trees, where its version keeps them beside the indexes. */
async function shareModels(folder: string, environment: Pick<BackendEnvironment, "cacheFolder">): Promise<void> {
  const { cacheFolder } = environment;
  if (cacheFolder === undefined) return;
  for (const name of MODEL_FOLDERS) {
    const shared = join(cacheFolder("models"), "octocode", name);
    await mkdir(shared, { recursive: true });
    await mkdir(join(folder, "data", "octocode"), { recursive: true });
    // Already there, or a system without links: then the models are downloaded again, and nothing else is lost.
    await symlink(shared, join(folder, "data", "octocode", name), "junction").catch(() => {});
  }
}

export function octocodeDoctor(
  options: {
    readonly bin: string;
    readonly config?: string | undefined;
    readonly env: readonly string[];
    readonly version?: string | undefined;
  },
  environment: DoctorEnvironment,
): Promise<readonly Finding[]> {
  return toolFindings({
    name: "octocode",
    file: octocodeFile(options.bin, environment.baseFolder),
    env: octocodeEnv(options, environment),
    declared: options.version,
    install: OCTOCODE_INSTALL,
    indexes: environment.cacheFolder("indexes"),
  });
}

export const octocodeIndex: IndexTool<OctocodeIndexOptions> = {
  kind: "octocode",
  summary: "The index of octocode (`octocode index`).",
  version: 1,
  options: indexOptions,
  identityOf: ({ args }) => ({ args }),
  fingerprint: octocodeFingerprint,
  // Its folder bears a digest of the tree's absolute path.
  pathBound: true,
  concurrency: ({ concurrency }) => concurrency,
  timeout: ({ timeout }) => timeout,
  doctor: octocodeDoctor,
  build: async (options, { corpus, folder }, environment, signal) => {
    const file = octocodeFile(options.bin, environment.baseFolder);
    const tree = await corpus.folder();
    await mkdir(join(folder, "data"), { recursive: true });
    await shareModels(folder, environment);
    const settings = await octocodeSettingsFile(options, environment);
    const env = octocodeEnv(options, environment, { folder, tree, file: settings });
    const args = ["index", "--no-git", ...options.args];
    const end = await runTool({ file, args, cwd: tree, env }, environment, signal, explainOctocode);
    if (!end.ok) {
      const { error, retry } = end.failure;
      return { type: "failed", message: error ?? "octocode index failed", ...(retry === undefined ? {} : { retry }) };
    }
    const keep = await indexFolders(folder);
    const version = await knownVersion(options.version, file, env);
    const fingerprint = await octocodeFingerprint({ ...options, version: version ?? "unknown" }, environment);
    return {
      type: "built",
      keep,
      digest: digestJson(["octocode", fingerprint, options.args, corpus.digest]),
      // Where the system has its own place for data (macOS) XDG_DATA_HOME counts for nothing: the index is there and can't be kept.
      facts: { version, config: configOf(fingerprint), kept: keep.length > 0 },
    };
  },
};

/** Digest of the settings file in a fingerprint; null = octocode's defaults. */
export function configOf(fingerprint: Json): Json {
  return (fingerprint as { readonly config?: string }).config ?? null;
}

/** Folders of projects: those with a `storage`. Models and settings beside them are not part of the index. */
async function indexFolders(folder: string): Promise<string[]> {
  const root = join(folder, "data", "octocode");
  const found: string[] = [];
  for (const name of (await readdir(root).catch(() => [])).sort()) {
    if (MODEL_FOLDERS.includes(name)) continue;
    if ((await stat(join(root, name, "storage")).catch(() => undefined))?.isDirectory() === true) {
      found.push(`data/octocode/${name}`);
    }
  }
  return found;
}

/** What octocode is known to complain of, in words that say what to do. */
export function explainOctocode(complaint: string): { message: string; again?: boolean } | undefined {
  if (complaint.includes("No index found")) {
    return {
      message: "octocode found no index of this source tree: run the index-corpus stage again (bench run ... --force STAGE)",
    };
  }
  if (complaint.includes("Not in a git repository root")) {
    return { message: "octocode wants a Git repository: this version does not know `index --no-git`; use 0.5 or newer" };
  }
  const unknown = /unexpected argument '([^'\n]{1,80})'/.exec(complaint)?.[1];
  if (unknown !== undefined) {
    return { message: `this octocode does not know ${unknown}: check \`args:\` and the version (octocode --version)` };
  }
  if (/no (?:more than|less than|at least) 500 characters/.test(complaint)) {
    return { message: "octocode refused the query as too long: set `query_bytes` lower" };
  }
  if (/huggingface|hf-hub|dns error|failed to lookup|Failed to download/i.test(complaint)) {
    return { message: "octocode could not get its model: it needs the network once", again: true };
  }
  return undefined;
}
