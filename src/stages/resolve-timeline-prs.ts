/**
 * `resolve-timeline-prs`: for each issue, the pull requests that its timeline links, with grade, evidence and what speaks against them.
 *
 * A unit is an issue. The issue item's digest is in the key, and the item carries the time of its last update: a refreshed list makes
 * exactly the changed timelines stale.
 */
import * as z from "zod";
import { digestJson, type Json } from "../base/json.js";
import type { Result } from "../base/result.js";
import { part } from "../cache/key.js";
import type { Link } from "../dataset/schema.js";
import { type ItemRef, itemStage, type StageTools, type Unit, type UnitOutcome } from "../engine/contract.js";
import type { ClientTrouble, GitHubClient, Page, Pages } from "../github/client.js";
import { isFields, text } from "../github/fields.js";
import { GraphTroubleError, graphLookups } from "../github/graphql-lookups.js";
import { referencePatterns, webHostOf } from "../github/references.js";
import { type Lookups, LookupTrouble, type ResolveOptions, resolveLinks } from "../github/resolve.js";
import { changedRules, type LinkRules, rulesOf, rulesSchema } from "../github/rules.js";
import { type IssueItem, issueItemSchema, type LinkRule, type LinksMeta, linkRuleSchema } from "../github/schema.js";
import { type LinkScope, scopeOf } from "../github/select.js";
import { commitFacts, type PullDetails, pullDetails, readTimeline } from "../github/timeline.js";
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
import { knownLinks, linksFromOld, type OldDataset, readOldDataset } from "./old-dataset.js";

const configSchema = z.strictObject({
  links: linkRuleSchema
    .default("closing")
    .describe(
      "closing; mentions (every merged pull request that any text names); or a list of grades and `closing`, such as [closing, curated]",
    ),
  rules: rulesSchema
    .optional()
    .describe("Rules that take closing links away, each on or off: { bots: off, default_branch_only: on }"),
  ...datasetConfig,
  ...sourceConfig,
});
type Config = z.infer<typeof configSchema>;

interface Prepared {
  readonly source: GitHubSource;
  readonly links: LinkRule;
  readonly scope: LinkScope;
  readonly rules: LinkRules;
  readonly githubUrl: string | undefined;
  readonly old: OldDataset | null;
  /** Curated links by issue number. */
  readonly curated: ReadonlyMap<number, readonly { readonly pull: string; readonly why: string }[]>;
}

interface IssueData {
  readonly value: unknown;
  /** What an older mined file holds. */
  readonly known: readonly Link[] | undefined;
}

/** 30,000 events: more than any issue has, less than an endless list. */
const MOST_TIMELINE_PAGES = 300;
/** GitHub lists at most 250 commits of a pull request. */
const MOST_COMMIT_PAGES = 3;

async function prepare(config: Config, tools: StageTools): Promise<Prepared> {
  const source = await GitHubSource.open(config, tools);
  const curated = new Map<number, { pull: string; why: string }[]>();
  for (const { issue, pull, why } of source.recording?.curated_links ?? []) {
    const links = curated.get(issue) ?? [];
    links.push({ pull, why });
    curated.set(issue, links);
  }
  return {
    source,
    links: config.links,
    scope: scopeOf(config.links),
    rules: rulesOf(config.rules),
    githubUrl: source.api ?? undefined,
    old: config.dataset === undefined ? null : await readOldDataset(config.dataset, tools),
    curated,
  };
}

async function execute(prepared: Prepared, unit: Unit, _tools: StageTools, signal: AbortSignal): Promise<UnitOutcome> {
  const { source, scope, curated } = prepared;
  if (source.problem !== null) return cantAsk(source.problem);
  const { value, known } = unit.data as IssueData;
  const issue = issueItemSchema.safeParse(value);
  if (!issue.success) return cantAsk(`${unit.id}: the item of fetch-issues is not an issue`);
  if (issue.data.recorded && source.recording === null) return cantAsk(RECORDED_ELSEWHERE);
  if (known !== undefined) {
    const links = linksFromOld(issue.data, known, scope);
    return { type: "done", items: [{ id: links.id, value: links }] };
  }
  const api = prepared.githubUrl ?? issue.data.api_url;
  const webHost = webHostOf(issue.data.url, issue.data.api_url);
  const options = {
    scope,
    rules: prepared.rules,
    patterns: referencePatterns(webHost, issue.data.api_url),
    webHost,
    curated: curated.get(issue.data.number) ?? [],
  };
  if (source.usesGraphql(api)) {
    const resolved = await byGraphql(issue.data, source, api, options, signal);
    if (resolved !== null) return resolved;
  }
  const resolved = await resolveLinks(issue.data, lookups(issue.data, source, await source.client(api), api, signal), options);
  if (!resolved.ok) return outcomeOf(resolved.error);
  return { type: "done", items: [{ id: resolved.value.id, value: resolved.value }] };
}

/** null where the server has no GraphQL that serves, and REST is to be asked. */
async function byGraphql(
  issue: IssueItem,
  source: GitHubSource,
  api: string,
  options: ResolveOptions,
  signal: AbortSignal,
): Promise<UnitOutcome | null> {
  const look = graphLookups(await source.graph(api), {
    repository: issue.repository,
    texts: options.scope !== "closing",
    known: (repository, number) => source.recall(api, repository, number),
    learn: (pulls) => source.keep(api, pulls),
    signal,
  });
  try {
    const resolved = await resolveLinks(issue, look, options);
    if (!resolved.ok) return outcomeOf(resolved.error);
    return { type: "done", items: [{ id: resolved.value.id, value: resolved.value }] };
  } catch (error) {
    if (!(error instanceof GraphTroubleError)) throw error;
    const { trouble } = error;
    return trouble.type === "unsupported" && source.withoutGraphql(api, trouble.message) ? null : outcomeOf(trouble);
  }
}

function apiOf(value: unknown): string | null {
  return isFields(value) ? text(value, "api_url") : null;
}

function lookups(issue: IssueItem, source: GitHubSource, client: GitHubClient, api: string, signal: AbortSignal): Lookups {
  const [owner = "", repo = ""] = issue.repository.split("/");
  const own = { owner, repo };
  const home = issue.repository.toLowerCase();
  const details = async (repository: string, number: number): Promise<PullDetails | null> => {
    const [theirs = "", name = ""] = repository.split("/");
    const where = repository === home ? own : { owner: theirs, repo: name };
    const page = orNull(await client.ask("/repos/{owner}/{repo}/pulls/{pull_number}", { ...where, pull_number: number }, signal));
    if (page === null || !isFields(page.data)) return null;
    const pull = pullDetails(page.data, repository, number);
    source.learn(api, pull);
    return pull;
  };
  return {
    details,
    timeline: async (number) => {
      const route = "/repos/{owner}/{repo}/issues/{issue_number}/timeline";
      const pages = orNull(
        await client.askAll(route, { ...own, issue_number: number, per_page: 100 }, MOST_TIMELINE_PAGES, signal),
      );
      if (pages === null) return null;
      await source.keep(api, readTimeline(pages.elements, home).pulls);
      return pages.elements;
    },
    facts: async (repository, number) => {
      const known = await source.recall(api, repository, number);
      if (known !== undefined) return known === "issue" ? null : known;
      const asked = await details(repository, number);
      if (asked === null) return null;
      const { title, url, created_at, merged_at, bot } = asked;
      return { repository, number, title, url, created_at, merged_at, bot };
    },
    commits: async (number) => {
      const route = "/repos/{owner}/{repo}/pulls/{pull_number}/commits";
      const pages = orNull(await client.askAll(route, { ...own, pull_number: number, per_page: 100 }, MOST_COMMIT_PAGES, signal));
      return pages?.elements.filter(isFields).map(commitFacts) ?? null;
    },
    commit: async (sha) => {
      const page = orNull(await client.ask("/repos/{owner}/{repo}/commits/{ref}", { ...own, ref: sha }, signal), 422);
      return page !== null && isFields(page.data) ? commitFacts(page.data) : null;
    },
    pullsOfCommit: async (sha) => {
      const route = "/repos/{owner}/{repo}/commits/{commit_sha}/pulls";
      const pages = orNull(await client.askAll(route, { ...own, commit_sha: sha, per_page: 100 }, 1, signal), 422);
      return (
        pages?.elements.flatMap((pull) => {
          const number = isFields(pull) ? pull.number : undefined;
          return isFields(pull) && typeof number === "number" ? pullDetails(pull, home, number) : [];
        }) ?? null
      );
    },
  };
}

/** What does not exist (or has moved away) is an answer; other trouble ends the resolution. 422: GitHub's answer to an unknown commit id. */
function orNull<T extends Page | Pages>(asked: Result<T, ClientTrouble>, alsoAbsent?: number): T | null {
  if (asked.ok) return asked.value;
  const { error } = asked;
  if (error.type === "absent" || error.type === "moved") return null;
  if (alsoAbsent !== undefined && error.type === "failed" && error.status === alsoAbsent) return null;
  throw new LookupTrouble(error);
}

export const resolveTimelinePrs = itemStage<Config, Prepared>({
  kind: "resolve-timeline-prs",
  summary: "Pull requests that each issue's timeline links, with grade and evidence",
  version: 2,
  config: configSchema,
  produces: "links",
  consumes: { issues: "one" },
  fetches: true,
  precious: true,
  shape: "items",
  over: "issues",
  // A unit's own parts say all that it depends on: another limit or link rule must not ask again.
  keyConfig: () => null,
  stageConfig: ({ links, rules, github_url, recording }) => ({
    links,
    rules: changedRules(rulesOf(rules)),
    github_url,
    recorded: recording !== undefined,
  }),
  identify: identifySource,
  resource: (config) => sourceResource(config, "github"),
  prepare: (config, _inputs, tools) => prepare(config, tools),
  // The scope, not the rule: rules of one scope ask the same and get the same. Not the API either: both give the same links.
  parts: ({ source, scope, rules }) => [
    part("source", source.digest === null ? "live" : { recording: source.digest }),
    part("scope", scope),
    part("rules", scope === "mentions" ? [] : changedRules(rules)),
  ],
  // The server that is asked, whichever stage named it: here, or only where the issues were listed.
  units: ({ githubUrl, old, links, rules }, item: ItemRef, value) => {
    const known = old === null ? undefined : knownLinks(old, item.id, links, rules);
    const parts = [part("issue", item.digest), part("api", githubUrl ?? apiOf(value))];
    if (known !== undefined) parts.push(part("known", digestJson(known)));
    return [{ id: item.id, parts, data: { value, known } satisfies IssueData }];
  },
  execute,
  finish: async ({ links, scope, rules }) =>
    ({ links, scope, rules: changedRules(rules) }) satisfies LinksMeta as unknown as Json,
});
