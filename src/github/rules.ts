/**
 * The rules that take links away, by name, each on or off; and what a title or a text says of a pull request's kind.
 *
 * They concern links that claim to close (and those made by hand); what the makers of a recording state, and the rule `mentions`, are
 * left alone. A rule's audit names are the objections that it raises: they are counted under them.
 */
import * as z from "zod";
import { err, ok, type Result } from "../base/result.js";
import { proseOf } from "./prose.js";
import type { PullDetails, PullFacts } from "./timeline.js";

const RULES = {
  time_window: { on: true, objections: ["merged-before-issue", "merged-after-close"] },
  same_repository: { on: true, objections: ["other-repository"] },
  default_branch_only: { on: false, objections: ["other-branch"] },
  reverted: { on: true, objections: ["reverted"] },
  reverts: { on: false, objections: ["revert"] },
  backports: { on: true, objections: ["backport"] },
  bots: { on: true, objections: ["bot"] },
  releases: { on: true, objections: ["release"] },
  not_planned: { on: true, objections: ["not-planned"] },
  duplicates: { on: true, objections: ["duplicate"] },
  transferred: { on: false, objections: ["transferred"] },
} as const;
export type RuleName = keyof typeof RULES;
const NAMES = Object.keys(RULES) as RuleName[];

/** Every rule, on or off. */
export type LinkRules = Readonly<Record<RuleName, boolean>>;
export const DEFAULT_RULES: LinkRules = Object.fromEntries(NAMES.map((name) => [name, RULES[name].on])) as Record<
  RuleName,
  boolean
>;

/** YAML 1.2 reads `on` and `off` as words. */
const switchSchema = z.union([z.boolean(), z.enum(["on", "off"])]);
export const rulesSchema = z.strictObject(
  Object.fromEntries(
    NAMES.map((name) => [name, switchSchema.optional().describe(`default ${RULES[name].on ? "on" : "off"}`)]),
  ) as Record<RuleName, z.ZodOptional<typeof switchSchema>>,
);
export type RulesConfig = z.infer<typeof rulesSchema>;

export function rulesOf(config: RulesConfig | undefined): LinkRules {
  const rules: Record<RuleName, boolean> = { ...DEFAULT_RULES };
  for (const name of NAMES) {
    const given = config?.[name];
    if (given !== undefined) rules[name] = given === true || given === "on";
  }
  return rules;
}

/** Those that differ from the default, for keys and notes: `bots=off`. */
export function changedRules(rules: LinkRules): string[] {
  return NAMES.filter((name) => rules[name] !== DEFAULT_RULES[name]).map((name) => `${name}=${rules[name] ? "on" : "off"}`);
}

/** `bots=off`, as it is typed. */
export function parseRule(typed: string): Result<RulesConfig, string> {
  const match = /^\s*([A-Za-z_-]{1,40})\s*=\s*(on|off|true|false)\s*$/i.exec(typed);
  const name = NAMES.find((one) => one === match?.[1]?.toLowerCase().replaceAll("-", "_"));
  if (match === null || name === undefined)
    return err(`${JSON.stringify(typed.slice(0, 100))} is no rule: give NAME=on or NAME=off with one of ${NAMES.join(", ")}`);
  return ok({ [name]: /^(?:on|true)$/i.test(match[2] ?? "") });
}

/** Does a rule that is on raise this objection? What belongs to no rule (`not-merged`) always holds. */
export function isOn(rules: LinkRules, objection: string): boolean {
  const name = NAMES.find((one) => (RULES[one].objections as readonly string[]).includes(objection));
  return name === undefined || rules[name];
}

const VERSION = "v?[0-9]{1,6}\\.[0-9][0-9A-Za-z.+-]{0,40}";
/** `chore(deps): ` and the like, as conventional commits begin. */
const PREFIX = "(?:(?:chore|build|ci|deps|fix)(?:\\([^)]{0,40}\\))?: {0,2})?";
const RELEASES: readonly RegExp[] = [
  `${PREFIX}(?:release|prepare(?: for)?(?: the)? release|version)(?: of)? {1,2}(?:version )?${VERSION}\\.?$`,
  `(?:chore\\(release\\): {0,2})?${VERSION}$`,
  `${PREFIX}(?:update|upgrade) .{1,200} from ${VERSION} to ${VERSION}`,
  // Some versions are dates, without a dot.
  `${PREFIX}bump .{1,200} from v?[0-9][0-9A-Za-z.+-]{0,40} to v?[0-9]`,
  `${PREFIX}bump (?:the )?version(?: number)?(?: to ${VERSION})?$`,
  `${PREFIX}(?:release (?:main|master)|version packages|prepare (?:for )?(?:the )?(?:next )?(?:release|development(?: iteration)?))$`,
  "\\[maven-release-plugin\\]",
].map((pattern) => new RegExp(`^${pattern}`, "i"));

/** A release, a version bump, a release tool's preparation. */
export function isRelease(title: string | null): boolean {
  const line = (title ?? "").trim().slice(0, 300);
  return RELEASES.some((pattern) => pattern.test(line));
}

/** A pull request that takes another one back: GitHub's own title. A revert of a revert brings a change back, and is none. */
export function isRevert(title: string | null): boolean {
  const line = (title ?? "").trim();
  return /^revert "/i.test(line) && !/^revert "revert "/i.test(line);
}

/** The same change again on another branch, as the tools that make such pull requests name it. */
export function isBackport(pull: Pick<PullFacts, "title" | "body">, details: Pick<PullDetails, "head_ref"> | null): boolean {
  const title = (pull.title ?? "").slice(0, 300);
  if (/^(?:\[|\()?(?:automated )?(?:back-?port|cherry-?pick)(?:ed|ing)?\b/i.test(title)) return true;
  if (/[([]back-?port(?:ed)?\b[^)\]]{0,60}[)\]]/i.test(title)) return true;
  if (/^(?:back-?port|cherry-?pick)(?:s|ed)?[/_-]/i.test(details?.head_ref ?? "")) return true;
  const prose = proseOf(pull.body ?? "").slice(0, 2000);
  return /(?:^|\n)[ \t>*]{0,8}(?:this is an? )?(?:automated |manual |automatic )?(?:back-?port|cherry-?pick) of (?:pr |pull request )?(?:[A-Za-z0-9_.-]{1,100}\/[A-Za-z0-9_.-]{1,100})?#[0-9]/i.test(
    prose,
  );
}
