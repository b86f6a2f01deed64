/** `import-dataset`: a data set from a file, in whatever format it is; nothing is fetched. The key holds the file's content, not its place. */
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import * as z from "zod";
import { renderDiagnostic } from "../base/diagnostics.js";
import { type Digest, digestBytes } from "../base/json.js";
import { recordPlace } from "../base/plain-words.js";
import { part } from "../cache/key.js";
import { openCorpus } from "../corpus/tree.js";
import { maskDataset } from "../dataset/mask.js";
import { DATASET_FORMATS, readDataset } from "../dataset/read.js";
import type { ReadResult } from "../dataset/records.js";
import { restrictDataset } from "../dataset/restrict.js";
import type { Dataset } from "../dataset/schema.js";
import { datasetText } from "../dataset/text.js";
import { readTrecDataset } from "../dataset/trec-topics.js";
import { StageProblem, type StageTools, wholeStage } from "../engine/contract.js";
import { linkRuleSchema } from "../github/schema.js";
import { linkRuleText } from "../github/select.js";
import { caseTrees } from "./case-trees.js";
import {
  datasetOutput,
  extensionList,
  extensionsSchema,
  gradesOf,
  maskSchema,
  roleList,
  rolesSchema,
} from "./dataset-options.js";
import { contradiction } from "./truth-in-tree.js";

export const importDatasetConfigSchema = z.strictObject({
  path: z.string().min(1).describe("The file, relative to the pipeline file"),
  format: z
    .enum(["auto", ...DATASET_FORMATS])
    .default("auto")
    .describe("Told by the content unless given"),
  extensions: extensionsSchema,
  links: linkRuleSchema.optional().describe("Accept only links of these grades; default: as the file has them"),
  roles: rolesSchema,
  mask: maskSchema,
  commit: z
    .string()
    .min(1)
    .optional()
    .describe("Commit that the cases are about, where the file does not say; a file that says another is refused"),
  qrels: z.string().min(1).optional().describe("TREC qrels: `path` then holds the topics"),
  lines_from: z
    .union([z.literal(0), z.literal(1)])
    .default(1)
    .describe("How `path:from-to` counts lines: the number of a file's first line"),
});
type Config = z.infer<typeof importDatasetConfigSchema>;

/** Digest of the content when the run began, by path: a file that changes before it is read must not be stored under the old key. */
const IDENTIFIED = "imported-files";
const WARNINGS_SHOWN = 10;

export const importDataset = wholeStage<Config>({
  kind: "import-dataset",
  version: 2,
  summary:
    "A data set from a file: mined JSON (the original's and ours), SWE-bench or Loc-Bench (JSON Lines, Parquet), cases or bug reports as JSON Lines, CSV with named columns (octocode's too), BugLocator's XML, TREC topics and qrels.",
  shape: "whole",
  config: importDatasetConfigSchema,
  produces: "dataset",
  // A tree to check lines and commit against.
  consumes: { corpus: "optional" },
  precious: false,
  selectable: true,
  keyConfig: ({ format, extensions, links, roles, commit, mask, lines_from }) => ({
    format,
    ...(commit === undefined ? {} : { commit }),
    ...(lines_from === 1 ? {} : { lines_from }),
    extensions: extensionList(extensions),
    links,
    roles: roleList(roles),
    ...(mask ? { mask } : {}),
  }),
  // The name is part of the key because sets that don't name themselves are called by it.
  identify: async ({ path, qrels }, tools) => {
    const file = resolve(tools.baseFolder, path);
    const parts = [part("file", { name: basename(file), content: await identified(path, tools) })];
    return qrels === undefined ? parts : [...parts, part("qrels", await identified(qrels, tools))];
  },
  run: async (config, inputs, tools) => {
    const text = await readText(config.path, tools);
    if (!text.ok) return text;
    const read = await recordsOf(text.value, config, tools);
    if (!read.ok) return read;
    for (const bad of read.value.bad.slice(0, WARNINGS_SHOWN))
      tools.warn(`${config.path}: ${recordPlace(bad)} is left out: ${bad.what}`);
    const more = read.value.bad.length - WARNINGS_SHOWN;
    if (more > 0) tools.warn(`${config.path}: ${more} more records are left out`);
    const grades = config.links === undefined ? null : gradesOf(config.links);
    const pinned = atCommit(read.value.dataset, config.commit);
    if (typeof pinned === "string") return { ok: false, message: `${config.path}: ${pinned}` };
    const dataset = restrictDataset(pinned, {
      extensions: extensionList(config.extensions),
      roles: roleList(config.roles),
      links: config.links === undefined || grades === null ? null : { text: linkRuleText(config.links), grades },
    });
    if (!dataset.ok) return { ok: false, message: `${config.path}: ${dataset.error}` };
    const corpus = inputs.optional("corpus");
    if (corpus !== undefined) {
      const problem = await contradiction(dataset.value.cases, await caseTrees(corpus, tools, openCorpus, true));
      if (problem !== null) return { ok: false, message: `${config.path}: ${problem}` };
    }
    return { ok: true, value: datasetOutput(config.mask ? maskDataset(dataset.value) : dataset.value) };
  },
});

/** Digest of a file's content now; remembered, so that a file that changes before it is read is not stored under the old key. */
async function identified(path: string, tools: StageTools): Promise<Digest> {
  const file = resolve(tools.baseFolder, path);
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => error.code ?? "unreadable");
  if (typeof bytes === "string") throw new StageProblem(cantRead(path, bytes));
  const digest = digestBytes(bytes);
  await tools.memory(IDENTIFIED).set(file, digest);
  return digest;
}

type Read = { readonly ok: true; readonly value: ReadResult } | { readonly ok: false; readonly message: string };

async function recordsOf(text: string, { path, format, qrels, lines_from }: Config, tools: StageTools): Promise<Read> {
  if (qrels === undefined) {
    const read = readDataset(text, path, format, lines_from);
    return read.ok ? read : { ok: false, message: renderDiagnostic(read.error) };
  }
  if (format !== "auto")
    return { ok: false, message: `with \`qrels\` the file is one of topics: leave \`format: ${format}\` out` };
  const judged = await readText(qrels, tools);
  if (!judged.ok) return judged;
  const read = readTrecDataset(text, judged.value, basename(path).replace(/\.[^.]{1,10}$/, "") || "dataset");
  return read.ok ? read : { ok: false, message: `${path}: ${read.error}` };
}

function unusable(path: string, why: string): string {
  return `${path} ${why}. \`path\` is relative to the pipeline file`;
}

function cantRead(path: string, code: string): string {
  if (code === "ENOENT") return unusable(path, "does not exist");
  return unusable(path, code === "EISDIR" ? "is a folder, not a file" : `can't be read (${code})`);
}

/** Line ranges and paths are true of one commit only; two opinions of which one it is can't both be right. */
function atCommit(dataset: Dataset, commit: string | undefined): Dataset | string {
  if (commit === undefined) return dataset;
  const other = dataset.cases.find(({ base_commit }) => base_commit !== null && base_commit !== commit);
  if (other !== undefined) return `case ${other.id} is about commit ${other.base_commit}, not ${commit}: leave \`commit\` out`;
  return { ...dataset, cases: dataset.cases.map((one) => ({ ...one, base_commit: commit })) };
}

async function readText(path: string, tools: StageTools): Promise<{ ok: true; value: string } | { ok: false; message: string }> {
  const file = resolve(tools.baseFolder, path);
  const failed = (why: string) => ({ ok: false as const, message: unusable(path, why) });
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    return { ok: false, message: cantRead(path, (error as NodeJS.ErrnoException).code ?? "unreadable") };
  }
  const identified = await tools.memory(IDENTIFIED).get(file);
  if (identified !== undefined && identified !== digestBytes(bytes)) return failed("changed while it was read: run again");
  const text = await datasetText(bytes);
  return text.ok ? { ok: true, value: text.value } : failed(text.error);
}
