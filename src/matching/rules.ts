/**
 * Rule sets: what decides which prediction is which file, and which answers count. The three of ours, and the form in which a rule set enters
 * keys and reports. A person's own are read by `rules-file.ts`.
 */
import * as z from "zod";
import type { Json } from "../base/json.js";
import { MATCH_RUNGS, type MatchRung, NORMALISATIONS, RENAME_RULES, type RuleSet } from "./contract.js";

export type Rung = Exclude<MatchRung, "seed">;

/** In order of trust; `matchEntries` tries them in the order of the rule set. */
export const LADDER: readonly Rung[] = ["path", "suffix", "qualified-name", "simple-name", "letter-case"];

const COMMON: Omit<RuleSet, "name" | "rungs" | "engine"> = {
  version: 1,
  normalise: new Set(NORMALISATIONS),
  extensions: null,
  paths: [],
  innerClasses: true,
  renames: "old",
  leaveOut: [],
};

export const builtInRules: Record<"strict" | "lenient" | "seed", RuleSet> = {
  strict: { ...COMMON, name: "strict", rungs: ["path"], engine: "ladder" },
  lenient: { ...COMMON, name: "lenient", rungs: LADDER, engine: "ladder" },
  // It has its own parser, truth and denominators: of the members below only the name and the engine mean anything.
  seed: { ...COMMON, name: "seed", rungs: [], engine: "seed" },
};

/** What a cache key has to name of a rule set, and what a report says of it: everything that changes a decision, and the name. */
export function rulesDigestParts(rules: RuleSet): Json {
  return {
    name: rules.name,
    version: rules.version,
    engine: rules.engine,
    rungs: [...rules.rungs],
    normalise: NORMALISATIONS.filter((one) => rules.normalise.has(one)),
    extensions: rules.extensions === null ? null : [...rules.extensions].sort(),
    paths: rules.paths.map(({ from, to }) => [from, to]),
    inner_classes: rules.innerClasses,
    renames: rules.renames,
    leave_out: [...rules.leaveOut].sort(),
  };
}

const partsSchema = z.strictObject({
  name: z.string(),
  version: z.number(),
  engine: z.enum(["ladder", "seed"]),
  rungs: z.array(z.enum(MATCH_RUNGS).exclude(["seed"])),
  normalise: z.array(z.enum(NORMALISATIONS)),
  extensions: z.array(z.string()).nullable(),
  paths: z.array(z.tuple([z.string(), z.string()])),
  inner_classes: z.boolean(),
  renames: z.enum(RENAME_RULES),
  leave_out: z.array(z.string()),
});

/** The rule set that `rulesDigestParts` described; null where another version of the program wrote something else. */
export function rulesFromParts(parts: unknown): RuleSet | null {
  const read = partsSchema.safeParse(parts);
  if (!read.success) return null;
  const { normalise, paths, inner_classes, leave_out, ...same } = read.data;
  return {
    ...same,
    normalise: new Set(normalise),
    paths: paths.map(([from, to]) => ({ from, to })),
    innerClasses: inner_classes,
    leaveOut: leave_out,
  };
}
