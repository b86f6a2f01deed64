/**
 * `colgrep`: semantic code search by late interaction, an external program (lightonai/next-plaid).
 *
 * `colgrep search --json -k N QUERY` in the tree's folder prints one JSON array of code units, best first. Units are collapsed to files
 * (the best unit of each, with its lines), so `results` units give at most so many files. The list that it prints is the answer; `[]` is
 * a valid, empty one, and silence is a failure.
 */
import { realpath } from "node:fs/promises";
import * as z from "zod";
import { writtenText } from "../base/written-text.js";
import {
  type ColgrepIndexOptions,
  colgrepCommon,
  colgrepDoctor,
  colgrepEnv,
  colgrepFile,
  colgrepFingerprint,
  colgrepIndex,
  explainColgrep,
  modelArgument,
} from "./colgrep-index.js";
import type { BackendEnvironment, BackendKind, Question, RawAnswer } from "./contract.js";
import { type IndexOnDemand, indexOnDemand } from "./index-on-demand.js";
import { bestChunks, type RankedFile, rankedResponse } from "./ranked.js";
import { atLeast, fitQuery, knownVersion, runTool } from "./tool-process.js";

const options = z.strictObject({
  ...colgrepCommon,
  results: z.number().int().min(1).max(10_000).default(15).describe("Code units to ask for; several may belong to one file."),
  include: z.array(z.string().min(1)).default([]).describe("Search only files that match one of these, such as *.java."),
  args: z
    .array(writtenText)
    .default([])
    .describe("Further arguments for `colgrep search`, such as --semantic-only or --code-only."),
  index_args: z
    .array(writtenText)
    .default([])
    .describe(
      "Further arguments for `colgrep init` where the stage has no index-corpus stage and the index is made on first use.",
    ),
  timeout: z.number().positive().nullable().default(180).describe("Seconds per question; null = none."),
  concurrency: z.number().int().min(1).default(2).describe("Searches at once."),
});
type Options = z.infer<typeof options>;

/** Systems limit one argument to 128 KiB; no model reads that much of a query. */
const MAX_QUERY_BYTES = 100_000;

const outputSchema = z.array(z.unknown());
const hitSchema = z.object({
  unit: z.object({
    file: z.string().min(1),
    line: z.number().int().nullish(),
    end_line: z.number().int().nullish(),
  }),
  score: z.number().nullish(),
});

export const colgrep: BackendKind<Options> = {
  kind: "colgrep",
  summary: "colgrep: semantic code search, an external program.",
  version: 1,
  options,
  identityOf: ({ model, results, include, args, index_args }) => ({ model: model ?? null, results, include, args, index_args }),
  fingerprint: colgrepFingerprint,
  needsCorpus: true,
  usesIndex: () => "optional",
  readsTruth: false,
  readsDataset: false,
  prompt: "text",
  concurrency: ({ concurrency }) => concurrency,
  timeout: ({ timeout }) => timeout,
  noteOf: ({ details }) =>
    details.query_cut === undefined ? null : `the query was longer than ${MAX_QUERY_BYTES} bytes and was cut`,
  open: async (config, environment) => {
    const file = colgrepFile(config.bin, environment.baseFolder);
    const fingerprint = await colgrepFingerprint(config, environment);
    const version =
      (await knownVersion(undefined, file, colgrepEnv(environment.env, config.env, undefined))) ?? config.version ?? "";
    const index = indexOnDemand(colgrepIndex, indexConfig(config), fingerprint, environment);
    return {
      ask: (question, signal) => ask(config, version, index, environment, question, signal),
      close: index.close,
    };
  },
  doctor: colgrepDoctor,
};

function indexConfig({ bin, model, version, env, index_args }: Options): ColgrepIndexOptions {
  return { bin, model, version, env, args: index_args, timeout: null, concurrency: 1 };
}

async function ask(
  config: Options,
  version: string,
  index: IndexOnDemand,
  environment: BackendEnvironment,
  question: Question,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const { corpus } = question;
  if (corpus === undefined) return { status: "failed", response: "", error: "colgrep searches source trees, and there is none" };
  const { query, cutFrom } = fitQuery(question.prompt, MAX_QUERY_BYTES);
  if (query === "")
    return { status: "failed", response: "", error: "the question has no text, and colgrep refuses an empty query" };
  const indexed = question.index?.facts.model;
  if (indexed !== undefined && indexed !== (config.model ?? null)) {
    const error = `the index was made with ${named(indexed)} and the search would use ${named(config.model ?? null)}: give both the same \`model\``;
    return { status: "failed", response: "", error };
  }
  const began = environment.clock();
  const place = await index.placeFor(question, corpus, signal);
  if (!place.ok) return place.failure;
  const tree = await corpus.folder();
  const args = [
    "search",
    "--json",
    "-k",
    String(config.results),
    ...config.include.flatMap((pattern) => ["--include", pattern]),
    "-y",
    // The index is there: bringing it up to date is no part of a search, and older versions do not know the option.
    ...(atLeast(version, [1, 6]) ? ["--no-update"] : []),
    ...modelArgument(config.model, environment.baseFolder),
    ...config.args,
    // A question may begin with a dash.
    "--",
    query,
  ];
  const file = colgrepFile(config.bin, environment.baseFolder);
  const env = colgrepEnv(environment.env, config.env, place.folder);
  const end = await runTool({ file, args, cwd: tree, env }, environment, signal, explainColgrep);
  if (!end.ok) return end.failure;
  const seconds = Math.max(0, environment.clock() - began - place.waited);
  const read = readUnits(end.stdout, await prefixesOf(tree));
  if (typeof read === "string") return { status: "failed", response: end.stdout.slice(0, 10_000), error: read, seconds };
  const files = bestChunks(read.units);
  const details: Record<string, unknown> = { version, units: read.units.length };
  if (read.unreadable > 0) details.unreadable_units = read.unreadable;
  if (cutFrom !== undefined) details.query_cut = { from_bytes: cutFrom, to_bytes: Buffer.byteLength(query) };
  return { status: "completed", response: rankedResponse(files), details, seconds };
}

function named(model: unknown): string {
  return typeof model === "string" ? `the model ${model}` : "colgrep's own model";
}

/** The tree's folder as given and as the system resolves it: colgrep prints absolute, resolved paths. */
async function prefixesOf(tree: string): Promise<string[]> {
  const resolved = await realpath(tree).catch(() => tree);
  return [tree, resolved].map((prefix) => prefix.replaceAll("\\", "/"));
}

/** The units of colgrep's JSON, paths relative to the tree (outside it: as printed), or what is wrong with it. */
export function readUnits(
  stdout: string,
  prefixes: readonly string[],
): { readonly units: RankedFile[]; readonly unreadable: number } | string {
  if (stdout.trim() === "") return "colgrep printed nothing, not even an empty list: is it colgrep, and does it know --json?";
  let value: unknown;
  try {
    value = JSON.parse(stdout);
  } catch {
    return "colgrep printed something that is not JSON: check `args:`";
  }
  const list = outputSchema.safeParse(value);
  if (!list.success) return "colgrep printed JSON that is no list of code units: this version is not known";
  const units: RankedFile[] = [];
  for (const entry of list.data) {
    const hit = hitSchema.safeParse(entry);
    if (!hit.success) continue;
    const { unit, score } = hit.data;
    const path = relativeTo(prefixes, unit.file.replaceAll("\\", "/"));
    const lines =
      typeof unit.line === "number" && unit.line >= 1
        ? { start_line: unit.line, end_line: Math.max(unit.line, unit.end_line ?? unit.line) }
        : {};
    units.push({ path, ...(typeof score === "number" ? { score } : {}), ...lines });
  }
  const unreadable = list.data.length - units.length;
  if (units.length === 0 && unreadable > 0) return "colgrep printed a list whose entries name no file: this version is not known";
  return { units, unreadable };
}

function relativeTo(prefixes: readonly string[], path: string): string {
  const prefix = prefixes.find((candidate) => candidate !== "" && path.startsWith(`${candidate}/`));
  return prefix === undefined ? path : path.slice(prefix.length + 1);
}
