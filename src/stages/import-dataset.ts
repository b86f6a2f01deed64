/** `import-dataset`: a data set from a file, in whatever format it is; nothing is fetched. The key holds the file's content, not its place. */
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import * as z from "zod";
import { renderDiagnostic } from "../base/diagnostics.js";
import { digestBytes } from "../base/json.js";
import { recordPlace } from "../base/plain-words.js";
import { part } from "../cache/key.js";
import { DATASET_FORMATS, readDataset } from "../dataset/read.js";
import { restrictDataset } from "../dataset/restrict.js";
import { type StageTools, wholeStage } from "../engine/contract.js";
import { linkRuleSchema } from "../github/schema.js";
import { linkRuleText } from "../github/select.js";
import { datasetOutput, extensionList, extensionsSchema, gradesOf, roleList, rolesSchema } from "./dataset-options.js";

export const importDatasetConfigSchema = z.strictObject({
  path: z.string().min(1).describe("The file, relative to the pipeline file"),
  format: z
    .enum(["auto", ...DATASET_FORMATS])
    .default("auto")
    .describe("Told by the content unless given"),
  extensions: extensionsSchema,
  links: linkRuleSchema.optional().describe("Accept only links of these grades; default: as the file has them"),
  roles: rolesSchema,
});
type Config = z.infer<typeof importDatasetConfigSchema>;

/** Digest of the content when the run began, by path: a file that changes before it is read must not be stored under the old key. */
const IDENTIFIED = "imported-files";
const WARNINGS_SHOWN = 10;

export const importDataset = wholeStage<Config>({
  kind: "import-dataset",
  version: 2,
  summary:
    "A data set from a file: mined JSON (the original's and ours), SWE-bench or Loc-Bench JSON Lines, or cases as JSON Lines.",
  shape: "whole",
  config: importDatasetConfigSchema,
  produces: "dataset",
  consumes: {},
  precious: false,
  selectable: true,
  keyConfig: ({ format, extensions, links, roles }) => ({
    format,
    extensions: extensionList(extensions),
    links,
    roles: roleList(roles),
  }),
  // The name is part of the key because sets that don't name themselves are called by it.
  identify: async ({ path }, tools) => {
    const file = resolve(tools.baseFolder, path);
    const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => error.code ?? "unreadable");
    if (typeof bytes === "string") return [part("file", { unreadable: bytes })];
    const digest = digestBytes(bytes);
    await tools.memory(IDENTIFIED).set(file, digest);
    return [part("file", { name: basename(file), content: digest })];
  },
  run: async (config, _inputs, tools) => {
    const text = await readText(config.path, tools);
    if (!text.ok) return text;
    const read = readDataset(text.value, config.path, config.format);
    if (!read.ok) return { ok: false, message: renderDiagnostic(read.error) };
    for (const bad of read.value.bad.slice(0, WARNINGS_SHOWN))
      tools.warn(`${config.path}: ${recordPlace(bad)} is left out: ${bad.what}`);
    const more = read.value.bad.length - WARNINGS_SHOWN;
    if (more > 0) tools.warn(`${config.path}: ${more} more records are left out`);
    const grades = config.links === undefined ? null : gradesOf(config.links);
    const dataset = restrictDataset(read.value.dataset, {
      extensions: extensionList(config.extensions),
      roles: roleList(config.roles),
      links: config.links === undefined || grades === null ? null : { text: linkRuleText(config.links), grades },
    });
    if (!dataset.ok) return { ok: false, message: `${config.path}: ${dataset.error}` };
    return { ok: true, value: datasetOutput(dataset.value) };
  },
});

async function readText(path: string, tools: StageTools): Promise<{ ok: true; value: string } | { ok: false; message: string }> {
  const file = resolve(tools.baseFolder, path);
  const failed = (why: string) => ({ ok: false as const, message: `${path} ${why}. \`path\` is relative to the pipeline file` });
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return failed("does not exist");
    return failed(code === "EISDIR" ? "is a folder, not a file" : `can't be read (${code})`);
  }
  const identified = await tools.memory(IDENTIFIED).get(file);
  if (identified !== undefined && identified !== digestBytes(bytes)) return failed("changed while it was read: run again");
  try {
    return { ok: true, value: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return failed("is not UTF-8 text, or too large for one");
  }
}
