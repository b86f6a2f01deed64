/** The options of `bench mine`, read: what the original miner accepts is accepted here, and every mistake says what would be right. */
import { resolve } from "node:path";
import { FILE_ROLES, type FileRole, LINK_GRADES } from "../dataset/schema.js";
import { apiUrl } from "../github/repository.js";
import { parseRule, type RulesConfig } from "../github/rules.js";
import type { LinkRule } from "../github/schema.js";
import { parseLinkRule } from "../github/select.js";
import { type CommandOption, type OptionValue, UsageError } from "./contract.js";
import type { MineSettings } from "./mine-graph.js";
import { count, duration, flag, list, text } from "./options.js";

type Options = Readonly<Record<string, OptionValue>>;

const DEFAULT_LIMIT = 200;
const DEFAULT_PROGRESS = 25;
const DEFAULT_MAX_WAIT = 15 * 60_000;

export const MINE_OPTIONS: readonly CommandOption[] = [
  {
    flag: "--issue-limit [n]",
    description: `Closed issues to look at, most recently updated first (default ${DEFAULT_LIMIT}; 0 = all)`,
  },
  { flag: "--max-issues [n]", description: "The same" },
  {
    flag: "--links <rule>",
    description: `closing (default), mentions (the original's rule), or grades: ${LINK_GRADES.join(",")}`,
  },
  { flag: "--rule <rule>", description: "Switches a rule that takes links away: bots=off (repeatable)", repeated: true },
  {
    flag: "--extensions <list>",
    description: "File extensions that make a changed file a target: .java,.kt (default: every file)",
  },
  {
    flag: "--roles <list>",
    description: `Roles that make a changed file a target: all, or ${FILE_ROLES.join(",")} (default source; with --links mentions: all)`,
  },
  { flag: "--lines", description: "Keep which lines each pull request changed (by GraphQL a request more for each)" },
  { flag: "--github-url <url>", description: "REST API of a GitHub Enterprise server: https://HOST/api/v3" },
  { flag: "--token <token>", description: "GitHub token (default: GITHUB_TOKEN, then .env.github here, then in the project)" },
  { flag: "--out <folder>", description: "Where mined files are written (default mined_projects)" },
  { flag: "--output-dir <folder>", description: "The same, by the original's name" },
  { flag: "--api <api>", description: "auto (default: graphql with a token, else rest), graphql or rest" },
  { flag: "--refresh", description: "Ask GitHub again, conditionally (ETag): what has not changed costs nothing of the limit" },
  { flag: "--offline", description: "No network: what is not in the cache fails" },
  {
    flag: "--max-wait <duration>",
    description: "Longest wait for a limit (default 15m); beyond it mining stops and can be resumed",
  },
  { flag: "--dataset <file>", description: "An older mined file to complete: its issues alone, and only what it lacks" },
  { flag: "--recording <file>", description: "Recorded GitHub answers instead of the network" },
  { flag: "--progress-every <n>", description: `A progress line every n issues (default ${DEFAULT_PROGRESS}; 0 = none)` },
  { flag: "--cache <folder>", description: "The cache (default cache)" },
  { flag: "--json", description: "One JSON value on stdout" },
  { flag: "--quiet", description: "Only warnings, failures and the result" },
];

export interface MineOptions extends MineSettings {
  readonly token: string | undefined;
  /** Absolute, or undefined = the project's `mined_projects`. */
  readonly out: string | undefined;
  readonly refresh: boolean;
  readonly offline: boolean;
  /** Milliseconds. */
  readonly maxWait: number;
  /** 0 = no progress lines. */
  readonly progressEvery: number;
  /** True where the person asked for progress lines: they are then shown on a terminal too. */
  readonly progressAsked: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** Throws `UsageError`. */
export function readMineOptions(options: Options, cwd: string): MineOptions {
  const recording = text(options, "recording");
  const dataset = text(options, "dataset");
  const extensions = list(options, "extensions");
  if (options.extensions !== undefined && extensions.length === 0)
    throw new UsageError("--extensions needs a list such as .java,.kt (left out = every file)");
  return {
    limit: limitOf(options),
    links: linksOf(text(options, "links") ?? "closing"),
    extensions: extensions.length === 0 ? null : extensions,
    roles: rolesOf(options),
    lines: flag(options, "lines"),
    githubUrl: githubUrlOf(text(options, "github-url")),
    recording: recording === undefined ? undefined : resolve(cwd, recording),
    dataset: dataset === undefined ? undefined : resolve(cwd, dataset),
    api: apiOf(text(options, "api") ?? "auto"),
    rules: rulesOf(list(options, "rule")),
    token: text(options, "token"),
    out: outOf(options, cwd),
    refresh: flag(options, "refresh"),
    offline: flag(options, "offline"),
    maxWait: duration(options, "max-wait") ?? DEFAULT_MAX_WAIT,
    progressEvery: count(options, "progress-every", 0) ?? DEFAULT_PROGRESS,
    progressAsked: options["progress-every"] !== undefined,
    json: flag(options, "json"),
    quiet: flag(options, "quiet"),
  };
}

/** The option alone, and an empty value, mean the default: as the original reads them. */
function limitOf(options: Options): number {
  const given = (["issue-limit", "max-issues"] as const).flatMap((name) => {
    const value = options[name];
    if (value === undefined) return [];
    if (value === true || value === "") return [{ name, limit: DEFAULT_LIMIT }];
    const limit = Number(value);
    if (typeof value !== "string" || !/^\d+$/.test(value) || !Number.isSafeInteger(limit)) {
      const looksLikeRepo = typeof value === "string" && value.includes("/");
      throw new UsageError(
        `--${name} needs a whole number (0 = all), not ${JSON.stringify(value)}${looksLikeRepo ? ": name repositories before it, or write --issue-limit=200" : ""}`,
      );
    }
    return [{ name, limit }];
  });
  const [first, second] = given;
  if (first !== undefined && second !== undefined && first.limit !== second.limit) {
    throw new UsageError(
      `--${first.name} ${first.limit} and --${second.name} ${second.limit} mean the same thing: give one of them`,
    );
  }
  return first?.limit ?? DEFAULT_LIMIT;
}

function linksOf(typed: string): LinkRule {
  const rule = parseLinkRule(typed);
  if (!rule.ok) throw new UsageError(`--links: ${rule.error}`);
  return rule.value;
}

/** undefined = the links rule decides. */
function rolesOf(options: Options): readonly FileRole[] | "all" | undefined {
  if (options.roles === undefined) return undefined;
  const typed = list(options, "roles");
  if (typed.length === 1 && typed[0] === "all") return "all";
  const strange = typed.find((role) => !FILE_ROLES.some((known) => known === role));
  if (typed.length === 0 || strange !== undefined) {
    const what = strange === undefined ? "" : `, not ${JSON.stringify(strange)}`;
    throw new UsageError(`--roles needs all, or a list of ${FILE_ROLES.join(", ")}${what}`);
  }
  return FILE_ROLES.filter((role) => typed.includes(role));
}

function githubUrlOf(typed: string | undefined): string | undefined {
  if (typed === undefined) return undefined;
  const url = apiUrl({ enterpriseHost: null }, typed);
  if (!url.ok) throw new UsageError(`--github-url: ${url.error}`);
  return url.value;
}

function outOf(options: Options, cwd: string): string | undefined {
  const given = [...new Set([text(options, "out"), text(options, "output-dir")].filter((value) => value !== undefined))];
  if (given.length > 1) throw new UsageError("--out and --output-dir mean the same thing: give one of them");
  return given[0] === undefined ? undefined : resolve(cwd, given[0]);
}

function apiOf(typed: string): MineSettings["api"] {
  if (typed === "auto" || typed === "rest" || typed === "graphql") return typed;
  throw new UsageError(`--api needs auto, rest or graphql, not ${JSON.stringify(typed)}`);
}

function rulesOf(typed: readonly string[]): RulesConfig {
  let rules: RulesConfig = {};
  for (const one of typed) {
    const rule = parseRule(one);
    if (!rule.ok) throw new UsageError(`--rule: ${rule.error}`);
    rules = { ...rules, ...rule.value };
  }
  return rules;
}
