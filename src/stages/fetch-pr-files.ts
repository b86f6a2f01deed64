/**
 * `fetch-pr-files`: the files that each linked, merged pull request changed.
 *
 * A unit is a pull request, done once however many issues link it. One that was never merged, or that the links rule doesn't take,
 * costs no request.
 */
import * as z from "zod";
import { digestJson } from "../base/json.js";
import { hunksOfDiff } from "../base/line-changes.js";
import { part } from "../cache/key.js";
import { FILE_STATUSES } from "../dataset/schema.js";
import { itemStage, type StageTools, type Unit, type UnitOutcome } from "../engine/contract.js";
import { count, isFields, text } from "../github/fields.js";
import { hasFormerPath } from "../github/graphql-facts.js";
import { GraphTroubleError, graphFiles } from "../github/graphql-lookups.js";
import { type FilesItem, type LinkCandidate, linksItemSchema, type PullFile } from "../github/schema.js";
import {
  cantAsk,
  datasetConfig,
  GitHubSource,
  identifySource,
  outcomeOf,
  RECORDED_ELSEWHERE,
  sourceConfig,
  sourceResource,
} from "./github-source.js";
import { knownFiles, type OldDataset, readOldDataset } from "./old-dataset.js";

const configSchema = z.strictObject({
  ...datasetConfig,
  ...sourceConfig,
  lines: z
    .boolean()
    .default(false)
    .describe("Keep which lines each pull request changed; GraphQL does not tell, so each one then costs a request by REST"),
});
type Config = z.infer<typeof configSchema>;

interface Prepared {
  readonly source: GitHubSource;
  readonly githubUrl: string | undefined;
  readonly old: OldDataset | null;
  /** Changed lines are wanted. Both APIs give them or neither, so that the data set does not depend on the API. */
  readonly lines: boolean;
}

interface PullData {
  readonly link: LinkCandidate;
  readonly api: string;
  readonly recorded: boolean;
  /** What an older mined file holds. */
  readonly known: readonly PullFile[] | undefined;
}

/** GitHub lists 3,000 files of a pull request, a hundred a page. */
const MOST_FILES = 3000;
const MOST_PAGES = MOST_FILES / 100;

function units({ githubUrl, old, lines }: Prepared, value: unknown): Unit[] {
  const item = linksItemSchema.safeParse(value);
  if (!item.success) return [];
  return item.data.links
    .filter((link) => link.wanted && link.merged_at !== null)
    .map((link) => ({ link, known: old === null ? undefined : knownFiles(old, link.pull, lines) }))
    .map(({ link, known }) => ({
      id: link.pull,
      parts: [
        part("pull", link.pull),
        part("server", item.data.recorded ? "recording" : (githubUrl ?? item.data.api_url)),
        part("commits", { base: link.base_sha, merge: link.merge_commit_sha, changed_files: link.changed_files }),
        ...(lines ? [part("lines", true)] : []),
        ...(known === undefined ? [] : [part("known", digestJson(known))]),
      ],
      data: { link, api: item.data.api_url, recorded: item.data.recorded, known } satisfies PullData,
    }));
}

async function execute(prepared: Prepared, unit: Unit, tools: StageTools, signal: AbortSignal): Promise<UnitOutcome> {
  const { source, lines } = prepared;
  if (source.problem !== null) return cantAsk(source.problem);
  const { link, api, recorded, known } = unit.data as PullData;
  if (known !== undefined) return done(link, known, false);
  if (recorded && source.recording === null) return cantAsk(RECORDED_ELSEWHERE);
  const server = prepared.githubUrl ?? api;
  if (!lines && source.usesGraphql(server)) {
    const answered = await byGraphql(source, server, link, tools, signal);
    if (answered !== null) return answered;
  }
  const client = await source.client(server);
  const [owner = "", repo = ""] = link.repository.split("/");
  const route = "/repos/{owner}/{repo}/pulls/{pull_number}/files";
  const asked = await client.askAll(route, { owner, repo, pull_number: link.number, per_page: 100 }, MOST_PAGES, signal);
  if (!asked.ok && asked.error.type !== "absent" && asked.error.type !== "moved") return outcomeOf(asked.error);
  if (!asked.ok) tools.warn(`${link.pull} is linked, but its files are gone: ${asked.error.message}`);

  return filesOf(link, asked.ok ? asked.value.elements : [], !asked.ok || asked.value.cut, lines);
}

/** null where REST is to be asked: the server has no GraphQL that serves, or a file was renamed, whose former path only REST names. */
async function byGraphql(
  source: GitHubSource,
  api: string,
  link: LinkCandidate,
  tools: StageTools,
  signal: AbortSignal,
): Promise<UnitOutcome | null> {
  try {
    const found = await graphFiles(await source.graph(api), link.repository, link.number, signal);
    if (found === null) tools.warn(`${link.pull} is linked, but its files are gone`);
    else if (found.files.some(hasFormerPath)) return null;
    return filesOf(link, found?.files ?? [], found?.cut ?? true, false);
  } catch (error) {
    if (!(error instanceof GraphTroubleError)) throw error;
    const { trouble } = error;
    return trouble.type === "unsupported" && source.withoutGraphql(api, trouble.message) ? null : outcomeOf(trouble);
  }
}

function filesOf(link: LinkCandidate, elements: readonly unknown[], cut: boolean, lines: boolean): UnitOutcome {
  const byPath = new Map<string, PullFile>();
  for (const element of elements) {
    const file = fileOf(element, lines);
    if (file !== null && !byPath.has(file.path)) byPath.set(file.path, file);
  }
  const truncated = cut || elements.length >= MOST_FILES || (link.changed_files ?? 0) > elements.length;
  return done(link, [...byPath.values()], truncated);
}

function done(link: LinkCandidate, files: readonly PullFile[], truncated: boolean): UnitOutcome {
  const item: FilesItem = {
    id: link.pull,
    pull: link.pull,
    repository: link.repository,
    number: link.number,
    files: [...files],
    truncated,
    changed_files: link.changed_files,
    base_commit: link.base_sha,
    merge_commit: link.merge_commit_sha,
  };
  return { type: "done", items: [{ id: item.id, value: item }] };
}

function fileOf(element: unknown, lines: boolean): PullFile | null {
  if (!isFields(element)) return null;
  const path = text(element, "filename");
  if (path === null || path === "") return null;
  const status = text(element, "status");
  return {
    path,
    status: FILE_STATUSES.find((known) => known === status) ?? null,
    previous_path: text(element, "previous_filename"),
    additions: count(element, "additions"),
    deletions: count(element, "deletions"),
    ...(lines ? hunksOf(element) : {}),
  };
}

/** Numbers alone: the patch itself is other people's source text and stays out of the cache. */
function hunksOf(element: Readonly<Record<string, unknown>>): Pick<PullFile, "hunks"> {
  const status = text(element, "status");
  if (status === "added" || status === "copied") return {};
  const patch = text(element, "patch");
  // A rename alone has none, like a binary or a large file: GitHub does not tell them apart.
  const hunks = patch === null ? null : hunksOfDiff(patch);
  return hunks === null ? {} : { hunks: hunks.map(({ old: [start, lines] }) => [start, lines]) };
}

export const fetchPrFiles = itemStage<Config, Prepared>({
  kind: "fetch-pr-files",
  summary: "Files that each linked, merged pull request changed",
  version: 3,
  config: configSchema,
  produces: "files",
  consumes: { links: "one" },
  fetches: true,
  precious: true,
  shape: "items",
  over: "links",
  // A unit's own parts say all that it depends on: another limit or link rule must not ask again.
  keyConfig: () => null,
  stageConfig: ({ github_url, recording, lines }) => ({
    github_url,
    recorded: recording !== undefined,
    ...(lines ? { lines } : {}),
  }),
  identify: identifySource,
  resource: (config) => sourceResource(config, "github"),
  prepare: async (config, _inputs, tools) => {
    const source = await GitHubSource.open(config, tools);
    const old = config.dataset === undefined ? null : await readOldDataset(config.dataset, tools);
    return { source, githubUrl: source.api ?? undefined, old, lines: config.lines };
  },
  parts: ({ source }) => [part("source", source.digest === null ? "live" : { recording: source.digest })],
  // With the server that is asked, whichever stage named it.
  units: (prepared, _item, value) => units(prepared, value),
  execute,
});
