/**
 * `octocode`: semantic code search, an external program (Muvon/octocode; npm's `octocode` is another tool).
 *
 * `octocode search --mode code --format json QUERY` in the tree's folder prints blocks, best first. The awkward cases: it takes queries of
 * 3 to 500 bytes, so longer questions are cut (said in the answer and counted in the report); `--mode all` prints three lists that have no
 * common order; JSON has the parser's 0-based line numbers; `distance` has no agreed sign, so the order printed is the rank.
 */
import * as z from "zod";
import type { Json } from "../base/json.js";
import { writtenText } from "../base/written-text.js";
import type { BackendEnvironment, BackendKind, Question, RawAnswer } from "./contract.js";
import { type IndexOnDemand, indexOnDemand } from "./index-on-demand.js";
import {
  configOf,
  explainOctocode,
  type OctocodeIndexOptions,
  octocodeCommon,
  octocodeDoctor,
  octocodeEnv,
  octocodeFile,
  octocodeFingerprint,
  octocodeIndex,
  octocodeSettings,
  octocodeSettingsFile,
  searchHome,
} from "./octocode-index.js";
import { bestChunks, type RankedFile, rankedResponse } from "./ranked.js";
import { fitQuery, runTool } from "./tool-process.js";

const options = z.strictObject({
  ...octocodeCommon,
  mode: z.enum(["code", "docs", "text", "all"]).default("code").describe("What to search; `all`: the three lists in turn."),
  top: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(15)
    .describe("Longest list to answer with. How many blocks the tool gives is set in its `config`."),
  chunks: z
    .enum(["best", "all"])
    .default("best")
    .describe("`best`: each file once, with its best block; `all`: every block, for measures of lines."),
  threshold: z.number().min(0).max(1).optional().describe("Least similarity; default: the tool's (0.65 in 0.22)."),
  query_bytes: z
    .number()
    .int()
    .min(3)
    .max(100_000)
    .default(500)
    .describe("Longest query in bytes; the tool refuses more than 500."),
  search: octocodeSettings
    .default({})
    .superRefine((settings, context) => {
      for (const path of Object.keys(settings).filter((name) => !name.startsWith("search."))) {
        const message = "is no setting of the search (`search.…`): what shapes the index belongs into `settings`, on both sides";
        context.addIssue({ code: "custom", path: [path], message });
      }
    })
    .describe("Settings of the search alone, by path (`search.hybrid.enabled`): variants share one index."),
  args: z
    .array(writtenText)
    .default([])
    .describe("Further arguments for `octocode search`. Never --expand: it prints beside the JSON."),
  timeout: z.number().positive().nullable().default(120).describe("Seconds per question; null = none."),
  concurrency: z.number().int().min(1).default(1).describe("Searches at once."),
});
type Options = z.infer<typeof options>;

const LEAST_BYTES = 3;

const blockSchema = z.object({
  path: z.string().min(1),
  start_line: z.number().int().nonnegative().nullish(),
  end_line: z.number().int().nonnegative().nullish(),
});
const LISTS = ["code_blocks", "document_blocks", "text_blocks"] as const;

export const octocode: BackendKind<Options> = {
  kind: "octocode",
  summary: "octocode: semantic code search, an external program.",
  version: 1,
  options,
  identityOf: ({ mode, top, threshold, query_bytes, args, search, chunks }) => ({
    ...{ mode, top, threshold: threshold ?? null, query_bytes, args },
    ...(chunks === "best" ? {} : { chunks }),
    ...(Object.keys(search).length === 0 ? {} : { search }),
  }),
  fingerprint: octocodeFingerprint,
  needsCorpus: true,
  usesIndex: () => "optional",
  readsTruth: false,
  readsDataset: false,
  prompt: "text",
  concurrency: ({ concurrency }) => concurrency,
  timeout: ({ timeout }) => timeout,
  noteOf: ({ details }) => {
    const cut = details.query_cut as { limit?: unknown } | undefined;
    return cut === undefined
      ? null
      : `the query was longer than ${String(cut.limit)} bytes, which octocode refuses, and was cut at a word`;
  },
  open: async (config, environment) => {
    const fingerprint = await octocodeFingerprint(config, environment);
    const { bin, config: file, settings, version, env } = config;
    const common = { bin, config: file, settings, version, env };
    const indexConfig: OctocodeIndexOptions = { ...common, args: [], timeout: null, concurrency: 1 };
    const index = indexOnDemand(octocodeIndex, indexConfig, fingerprint, environment);
    const searchFile = await octocodeSettingsFile(config, environment);
    return {
      ask: (question, signal) => ask({ ...config, searchFile }, fingerprint, index, environment, question, signal),
      close: index.close,
    };
  },
  doctor: octocodeDoctor,
};

async function ask(
  config: Options & { readonly searchFile: string | undefined },
  fingerprint: Json,
  index: IndexOnDemand,
  environment: BackendEnvironment,
  question: Question,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const { corpus } = question;
  if (corpus === undefined) return { status: "failed", response: "", error: "octocode searches source trees, and there is none" };
  const { query, cutFrom } = fitQuery(question.prompt, config.query_bytes);
  const bytes = Buffer.byteLength(query);
  if (bytes < LEAST_BYTES) {
    const error = `octocode refuses queries under ${LEAST_BYTES} bytes, and the question has ${bytes}`;
    return { status: "failed", response: "", error };
  }
  const indexed = question.index?.facts.config;
  if (indexed !== undefined && indexed !== configOf(fingerprint)) {
    const error = "the index was made with other settings than the search would use: give both the same `config` and `settings`";
    return { status: "failed", response: "", error };
  }
  const began = environment.clock();
  const place = await index.placeFor(question, corpus, signal);
  if (!place.ok) return place.failure;
  const tree = await corpus.folder();
  const folder = place.folder === undefined ? undefined : await searchHome(place.folder, environment);
  const args = [
    "search",
    "--mode",
    config.mode,
    "--format",
    "json",
    ...(config.threshold === undefined ? [] : ["--threshold", String(config.threshold)]),
    ...config.args,
    // A question may begin with a dash.
    "--",
    query,
  ];
  const file = octocodeFile(config.bin, environment.baseFolder);
  const env = octocodeEnv(config, environment, { folder, tree, file: config.searchFile });
  const end = await runTool({ file, args, cwd: tree, env }, environment, signal, explainOctocode);
  if (!end.ok) return end.failure;
  const seconds = Math.max(0, environment.clock() - began - place.waited);
  const read = readBlocks(end.stdout);
  if (typeof read === "string") return { status: "failed", response: end.stdout.slice(0, 10_000), error: read, seconds };
  const details: Record<string, unknown> = { tool: fingerprint, blocks: read.blocks.length };
  if (read.unreadable > 0) details.unreadable_blocks = read.unreadable;
  if (cutFrom !== undefined) details.query_cut = { from_bytes: cutFrom, to_bytes: bytes, limit: config.query_bytes };
  const blocks = config.chunks === "all" ? read.blocks.slice(0, config.top) : bestChunks(read.blocks, config.top);
  return { status: "completed", response: rankedResponse(blocks), details, seconds };
}

/**
 * The blocks of octocode's JSON, best first, with 1-based lines, or what is wrong with it. Of three lists the first ones come first, then
 * the second ones: nothing orders a code block against a document.
 */
export function readBlocks(stdout: string): { readonly blocks: RankedFile[]; readonly unreadable: number } | string {
  // Progress and notes may stand before the JSON, each on lines of its own.
  const start = /^[ \t]*[[{]/m.exec(stdout)?.index;
  if (start === undefined) {
    return stdout.trim() === ""
      ? "octocode printed nothing, not even an empty list: is it Muvon's octocode, and does it know --format json?"
      : "octocode printed no JSON: check `args:`";
  }
  let value: unknown;
  try {
    value = JSON.parse(stdout.slice(start));
  } catch {
    return "octocode printed something that is not JSON: check `args:`";
  }
  let lists: unknown[][];
  if (Array.isArray(value)) lists = [value];
  else {
    const members = value as Readonly<Record<string, unknown>>;
    lists = LISTS.flatMap((name) => (Array.isArray(members[name]) ? [members[name] as unknown[]] : []));
    if (lists.length === 0) return "octocode printed JSON without any list of blocks: this version is not known";
  }
  const blocks: RankedFile[] = [];
  let total = 0;
  const longest = Math.max(...lists.map((list) => list.length));
  for (let rank = 0; rank < longest; rank++) {
    for (const list of lists) {
      if (rank >= list.length) continue;
      total++;
      const block = blockSchema.safeParse(list[rank]);
      if (!block.success) continue;
      const { path, start_line, end_line } = block.data;
      const lines =
        typeof start_line === "number"
          ? { start_line: start_line + 1, end_line: Math.max(start_line, end_line ?? start_line) + 1 }
          : {};
      blocks.push({ path: path.replaceAll("\\", "/"), ...lines });
    }
  }
  const unreadable = total - blocks.length;
  if (blocks.length === 0 && unreadable > 0) return "octocode printed blocks that name no file: this version is not known";
  return { blocks, unreadable };
}
