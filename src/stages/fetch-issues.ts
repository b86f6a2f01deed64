/**
 * `fetch-issues`: the closed issues of a repository, most recently updated first, page by page.
 *
 * A page is a unit: whoever was stopped goes on behind the last complete one. The limit counts issues, chooses among what pages hold,
 * and is no part of a page's key, so that a larger limit asks only for what is missing. Pull requests, which GitHub lists among the
 * issues, are no items; what the list says of them is kept in the page's note, because later stages would otherwise ask for it again.
 */
import * as z from "zod";
import { digestJson, type Json } from "../base/json.js";
import { ok, type Result } from "../base/result.js";
import { part } from "../cache/key.js";
import type { Case } from "../dataset/schema.js";
import {
  type ItemRef,
  itemStage,
  type OutItem,
  StageProblem,
  type StageTools,
  type Unit,
  type UnitOutcome,
} from "../engine/contract.js";
import type { ClientTrouble, Page } from "../github/client.js";
import { count, type Fields, isFields } from "../github/fields.js";
import type { GraphTrouble } from "../github/graphql-batch.js";
import { listedIssue, nextCursor, nodesOf } from "../github/graphql-facts.js";
import { type ReferencePatterns, referencesIn, webHostOf } from "../github/references.js";
import { apiUrl, parseRepository, type RepositoryName, repositoryAddress } from "../github/repository.js";
import { type IssueItem, type IssuesMeta, issueItemSchema } from "../github/schema.js";
import { type PullFacts, pullOfIssue } from "../github/timeline.js";
import {
  cantAsk,
  datasetConfig,
  GitHubSource,
  identifySource,
  outcomeOf,
  sourceConfig,
  sourceResource,
} from "./github-source.js";
import { issueItem, patternsFor } from "./issue-items.js";
import { issueFromOld, knowsIssue, type OldDataset, readOldDataset } from "./old-dataset.js";

const configSchema = z.strictObject({
  repo: z.string().min(1).describe("owner/name, or the repository's address"),
  limit: z.number().int().nonnegative().default(200).describe("Closed issues to list, most recently updated first; 0 = all"),
  ...datasetConfig,
  ...sourceConfig,
});
type Config = z.infer<typeof configSchema>;

const QUERY = { state: "closed", sort: "updated", direction: "desc", per_page: 100 } as const;
const GRAPH_QUERY = { graphql: "issues", states: "CLOSED", order: "UPDATED_AT DESC" } as const;
/** A million entries: no repository has them, an endless chain of links does. */
const MOST_PAGES = 10_000;

interface Prepared {
  readonly source: GitHubSource;
  readonly problem: string | null;
  readonly name: RepositoryName;
  readonly api: string;
  /** By host of web pages, as the issues' own addresses say. */
  readonly patterns: Map<string, ReferencePatterns>;
  readonly limit: number;
  /** An older mined file whose issues take the place of the list. */
  readonly old: OldDataset | null;
  /** The API that lists; part of the pages' keys. */
  readonly list: "rest" | "graphql";
  /** Issue ids that each page contributes, in the order of the chain: what an earlier page had is left out, and so is what is over the limit. */
  readonly admitted: Map<string, ReadonlySet<string>>;
  readonly seen: Set<string>;
}

interface PageData {
  /** Position of the page in GitHub's own words; empty = the first. */
  readonly query: Readonly<Record<string, string>>;
  readonly visited: readonly string[];
  /** Numbers on the page before it: an endless list repeats itself. */
  readonly before: readonly number[];
}

const noteSchema = z.object({
  next: z.record(z.string(), z.string()).nullable(),
  ids: z.array(z.string()),
  numbers: z.array(z.number()),
  pulls: z.array(
    z.object({
      repository: z.string(),
      number: z.number(),
      title: z.string().nullable(),
      url: z.string().nullable(),
      created_at: z.string().nullable(),
      merged_at: z.string().nullable(),
    }),
  ),
});
type Note = z.infer<typeof noteSchema>;

async function prepare(config: Config, tools: StageTools): Promise<Prepared> {
  const source = await GitHubSource.open(config, tools);
  const name = parseRepository(config.repo);
  const fallback: RepositoryName = { owner: "", name: "", slug: "", enterpriseHost: null };
  const api = name.ok ? apiUrl(name.value, config.github_url) : name;
  const base = api.ok ? api.value : "https://api.github.com";
  const old = config.dataset === undefined ? null : await readOldDataset(config.dataset, tools);
  const mismatch = name.ok ? wrongDataset(old, name.value) : null;
  // Thrown, since a file without issues has no unit that could say so.
  if (mismatch !== null) throw new StageProblem(mismatch);
  if (source.recording === null && source.token === null && !tools.offline) {
    tools.warn(
      "no GitHub token (GITHUB_TOKEN, or GITHUB_TOKEN=... in .env.github): GitHub then allows 60 requests an hour, enough for about 20 issues; with a token 5,000",
    );
  }
  return {
    source,
    problem: !name.ok ? `repo: ${name.error}` : !api.ok ? api.error : (source.problem ?? wrongRecording(source, name.value)),
    name: name.ok ? name.value : fallback,
    api: base,
    patterns: new Map(),
    limit: config.dataset === undefined ? config.limit : 0,
    old,
    list: source.usesGraphql(base) ? "graphql" : "rest",
    admitted: new Map(),
    seen: new Set(),
  };
}

function wrongRecording(source: GitHubSource, name: RepositoryName): string | null {
  const recorded = source.recording?.repository.full_name;
  if (recorded === undefined || recorded.toLowerCase() === name.slug.toLowerCase()) return null;
  return `the recording holds ${recorded}, and repo: names ${name.slug}: give repo: ${recorded}, or another recording`;
}

function wrongDataset(old: OldDataset | null, name: RepositoryName): string | null {
  if (old === null || old.header.project_name === name.slug.toLowerCase()) return null;
  return `the older mined file is of ${old.header.project_name}, and repo: names ${name.slug}`;
}

function pageUnit(data: PageData): Unit {
  const position = Object.entries(data.query).map(([name, value]) => `${name} ${value}`);
  return { id: position.length === 0 ? "page 1" : position.join(" "), parts: [part("page", data.query)], data };
}

async function execute(prepared: Prepared, unit: Unit, tools: StageTools, signal: AbortSignal): Promise<UnitOutcome> {
  if (prepared.problem !== null) return cantAsk(prepared.problem);
  if (prepared.old !== null) return fromOld(prepared, prepared.old, unit, signal);
  const { query, visited, before } = unit.data as PageData;
  const { owner, name } = prepared.name;
  const asked = await page(prepared, query, signal);
  if (!asked.ok) return outcomeOf(asked.error);
  const { data, next } = asked.value;
  const where = `GET /repos/${owner}/${name}/issues, ${unit.id}`;
  if (!Array.isArray(data)) return cantAsk(`${where}: a list of issues was expected and something else came`);

  const entries = data.filter(isFields);
  const numbers = entries.flatMap((entry) => count(entry, "number") ?? []);
  if (visited.length > 0 && numbers.join() === before.join())
    return cantAsk(`${where}: the page repeats the one before it, so the list has no end`);
  const behind = next === null ? null : JSON.stringify(next);
  if (
    behind !== null &&
    (behind === JSON.stringify(query) || visited.includes(behind) || pageNumber(next) <= pageNumber(query))
  ) {
    return cantAsk(`${where}: the links to the next page go in a circle`);
  }
  if (visited.length >= MOST_PAGES) return cantAsk(`${where}: the list has more than ${MOST_PAGES} pages`);

  const issues = new Map<string, IssueItem>();
  const pulls: Note["pulls"] = [];
  for (const entry of entries) {
    const pull = pullOfIssue(entry, prepared.name.slug);
    if (pull !== null) {
      if (pull.merged_at !== undefined) pulls.push(listed(pull));
      continue;
    }
    const issue = issueItem(entry, prepared);
    if (issue !== null) issues.set(issue.id, issue);
    else tools.warn(`${where}: an entry without number, title or state was left out`);
  }
  const items: OutItem[] = [...issues].map(([id, value]) => ({ id, value }));
  await prepared.source.keep(prepared.api, pulls);
  const note: Note = { next, ids: items.map(({ id }) => id), numbers, pulls };
  return { type: "done", items, note: note as unknown as Json };
}

/** Issues of an older file that make one unit. */
const SHARE = 50;

interface ShareData {
  readonly at: number;
}

function shareUnit(old: OldDataset, at: number): Unit {
  const cases = old.cases.slice(at, at + SHARE);
  const known = cases.filter((one) => knowsIssue(old, one));
  return {
    id: `issues ${at + 1} to ${at + cases.length} of the older file`,
    parts: [
      part(
        "issues",
        cases.map(({ id }) => id),
      ),
      part("known", known.length === 0 ? null : digestJson(known)),
    ],
    data: { at } satisfies ShareData,
  };
}

/** A share of an older file's issues: what it does not tell of them is asked for, each alone (REST) or all at once. */
async function fromOld(prepared: Prepared, old: OldDataset, unit: Unit, signal: AbortSignal): Promise<UnitOutcome> {
  const { at } = unit.data as ShareData;
  const cases = old.cases.slice(at, at + SHARE);
  const asked = await Promise.all(
    cases.map(async (one) => ({
      one,
      entry: knowsIssue(old, one) ? ok(null) : await oneIssue(prepared, one.number ?? 0, signal),
    })),
  );
  const items: OutItem[] = [];
  for (const { one, entry } of asked) {
    if (!entry.ok) return outcomeOf(entry.error);
    const found = entry.value === null ? null : issueItem(entry.value, prepared);
    // One that is gone stays, as far as the file tells of it: whoever looks for its links says so.
    const value = found ?? issueFromOld(one, whereOf(prepared, one));
    items.push({ id: value.id, value });
  }
  const behind = at + SHARE;
  const note: Note = {
    next: behind < old.cases.length ? { share: String(behind) } : null,
    ids: items.map(({ id }) => id),
    numbers: [],
    pulls: [],
  };
  return { type: "done", items, note: note as unknown as Json };
}

function whereOf(prepared: Prepared, { title, body, url }: Case) {
  const { slug: repository } = prepared.name;
  const references = referencesIn({ title, body, html_url: url }, repository, patternsFor(prepared, url));
  return { repository, references, api_url: prepared.api, recorded: prepared.source.recording !== null };
}

/** null where it is gone. */
async function oneIssue(
  prepared: Prepared,
  number: number,
  signal: AbortSignal,
): Promise<Result<Fields | null, ClientTrouble | GraphTrouble>> {
  const { source, api, name } = prepared;
  if (source.usesGraphql(api)) {
    const loaded = await (await source.graph(api)).load({ kind: "listed-issue", repository: name.slug, number }, signal);
    if (loaded.ok) return ok(loaded.value === null ? null : listedIssue(loaded.value, api));
    if (loaded.error.type !== "unsupported" || !source.withoutGraphql(api, loaded.error.message)) return loaded;
  }
  const client = await source.client(api);
  const route = "/repos/{owner}/{repo}/issues/{issue_number}";
  const asked = await client.ask(route, { owner: name.owner, repo: name.name, issue_number: number }, signal);
  if (asked.ok) return ok(isFields(asked.value.data) ? asked.value.data : null);
  return asked.error.type === "absent" || asked.error.type === "moved" ? ok(null) : asked;
}

/**
 * A page of the list. One chain of pages is asked of one API: their positions have nothing in common, and REST lists pull requests among
 * the issues.
 */
async function page(
  prepared: Prepared,
  query: PageData["query"],
  signal: AbortSignal,
): Promise<Result<Page, ClientTrouble | GraphTrouble>> {
  const { source, api, name } = prepared;
  const begun = Object.keys(query).length > 0;
  if (prepared.list === "graphql" && source.usesGraphql(api) && (!begun || query.graphql !== undefined)) {
    const asked = await (await source.graph(api)).list(name.slug, query.graphql ?? null, signal);
    if (asked.ok) {
      const found = asked.value ?? {};
      const after = nextCursor(found, "issues");
      return ok({
        data: nodesOf(found, "issues").map((node) => listedIssue(node, api)),
        next: after === null ? null : { graphql: after },
      });
    }
    if (asked.error.type !== "unsupported" || !source.withoutGraphql(api, asked.error.message)) return asked;
  }
  const client = await source.client(api);
  return client.ask("/repos/{owner}/{repo}/issues", { owner: name.owner, repo: name.name, ...QUERY, ...query }, signal);
}

function listed({ repository, number, title, url, created_at, merged_at }: PullFacts): Note["pulls"][number] {
  return { repository, number, title, url, created_at, merged_at: merged_at ?? null };
}

/** A page's number, growing along a chain; links with cursors have none, and their circles show by the cursor. */
function pageNumber(query: Readonly<Record<string, string>> | null): number {
  if (
    query === null ||
    query.graphql !== undefined ||
    query.after !== undefined ||
    query.before !== undefined ||
    query.cursor !== undefined
  )
    return Number.NaN;
  return query.page === undefined ? 1 : Number(query.page);
}

/** Which of a page's issues go out. Asked once per page, in the order of the chain; later questions get the same answer. */
function admit(prepared: Prepared, unit: Unit, ids: readonly string[]): ReadonlySet<string> {
  const known = prepared.admitted.get(unit.id);
  if (known !== undefined) return known;
  const admitted = new Set<string>();
  for (const id of ids) {
    if (prepared.limit > 0 && prepared.seen.size >= prepared.limit) break;
    if (prepared.seen.has(id)) continue;
    prepared.seen.add(id);
    admitted.add(id);
  }
  prepared.admitted.set(unit.id, admitted);
  return admitted;
}

function follow(prepared: Prepared, unit: Unit, note: Json | undefined): Unit | null {
  const parsed = noteSchema.safeParse(note);
  if (!parsed.success) return null;
  const { next, ids, numbers, pulls } = parsed.data;
  admit(prepared, unit, ids);
  for (const pull of pulls) prepared.source.learn(prepared.api, pull);
  for (const id of ids) {
    const hash = id.lastIndexOf("#");
    prepared.source.learnIssue(prepared.api, id.slice(0, hash), Number(id.slice(hash + 1)));
  }
  if (next === null || (prepared.limit > 0 && prepared.seen.size >= prepared.limit)) return null;
  if (prepared.old !== null) return shareUnit(prepared.old, Number(next.share));
  const { query, visited } = unit.data as PageData;
  return pageUnit({ query: next, visited: [...visited, JSON.stringify(query)], before: numbers });
}

async function finish(prepared: Prepared, items: readonly ItemRef[], tools: StageTools): Promise<Json> {
  const [first] = items.length > 0 ? await tools.load(items.slice(0, 1)) : [];
  const issue = issueItemSchema.safeParse(first);
  const repository = issue.success ? issue.data.repository : prepared.name.slug;
  const { recording } = prepared.source;
  const made = new Set((recording?.made_up.numbers ?? []).map((number) => `${repository.toLowerCase()}#${number}`));
  const madeUp = items.map(({ id }) => id).filter((id) => made.has(id));
  const meta: IssuesMeta = {
    repository,
    url: `https://${webHostOf(issue.success ? issue.data.url : null, prepared.api)}/${repository}`,
    listed: items.length,
    limit: prepared.limit,
    recorded: recording !== null,
    recorded_at: recording?.recorded_at ?? null,
    made_up_numbers: madeUp,
    notes: [
      ...(prepared.old === null
        ? []
        : [`completed from an older mined file: its ${prepared.old.cases.length} issues were looked at and no others`]),
      ...(recording?.notes ?? []),
      ...(madeUp.length > 0
        ? [`${madeUp.length} of ${items.length} issues have no real number: theirs were made up, from 100001 on`]
        : []),
    ],
  };
  return meta as unknown as Json;
}

export const fetchIssues = itemStage<Config, Prepared>({
  kind: "fetch-issues",
  summary: "Closed issues of a GitHub repository, live or from a recording",
  version: 1,
  config: configSchema,
  produces: "issues",
  consumes: {},
  fetches: true,
  precious: true,
  shape: "items",
  over: null,
  // A unit's own parts say all that it depends on: another limit or link rule must not ask again.
  keyConfig: () => null,
  stageConfig: ({ repo, limit, github_url, recording }) => {
    // As it was typed it may hold a password, which must not end in a key.
    const name = parseRepository(repo);
    return { repo: name.ok ? repositoryAddress(name.value) : null, limit, github_url, recorded: recording !== undefined };
  },
  identify: identifySource,
  // A queue of its own: pages behind hundreds of timelines would come last, and what they say would be asked for again.
  resource: (config) => sourceResource(config, "github-list"),
  prepare: (config, _inputs, tools) => prepare(config, tools),
  parts: ({ source, api, name, list, old }) => [
    part("source", source.digest === null ? { api } : { api, recording: source.digest }),
    part("repository", name.slug.toLowerCase()),
    part("query", old !== null ? "issues of an older file" : list === "rest" ? QUERY : GRAPH_QUERY),
  ],
  start: ({ old }) => {
    if (old === null) return [pageUnit({ query: {}, visited: [], before: [] })];
    return old.cases.length === 0 ? [] : [shareUnit(old, 0)];
  },
  follow,
  emit: (prepared, unit, items) => {
    const admitted = admit(
      prepared,
      unit,
      items.map(({ id }) => id),
    );
    return items.filter(({ id }) => admitted.has(id));
  },
  execute,
  finish,
});
