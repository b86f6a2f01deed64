/** The options that are common to every stage, and durations. */
import type { Mistakes } from "./mistakes.js";
import type { CommonOptions, StageKindInfo } from "./model.js";
import { type Member, placeOf, type SourceNode } from "./tree.js";
import { code, found } from "./words.js";

export const DEFAULT_OPTIONS: CommonOptions = {
  retry: 2,
  timeout: null,
  concurrency: null,
  resource: null,
  allowFailures: { count: 0 },
  freshness: "pinned",
};

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
/** Ten years: what is longer is a slip of units. */
const LONGEST = 10 * 366 * 86_400;
const MAX_COUNT = 1_000_000_000;

/** Seconds of `90s`, `15m`, `1.5h`, `1d` (greater than zero, at most ten years), or null. */
export function parseDuration(text: string): number | null {
  const match = /^([0-9]{1,12}(?:\.[0-9]{1,6})?)(s|m|h|d)$/.exec(text);
  const unit = UNITS[match?.[2] ?? ""];
  if (match === null || unit === undefined) return null;
  return inRange(Number(match[1]) * unit);
}

function inRange(seconds: number): number | null {
  return seconds > 0 && seconds <= LONGEST ? seconds : null;
}

const DURATION = "a duration such as 90s, 15m, 1h or 1d (a number is seconds)";

/** Members with references replaced. `kind` is null where the stage's kind is unknown. */
export function readOptions(members: readonly Member[], kind: StageKindInfo | null, mistakes: Mistakes): CommonOptions {
  const options: { -readonly [K in keyof CommonOptions]: CommonOptions[K] } = { ...DEFAULT_OPTIONS };
  for (const { key, keySpan, value } of members) {
    if (key === "freshness" && kind !== null && kind.fetches !== true) {
      mistakes.error(
        keySpan,
        `${code("freshness")} is for stages that fetch something, and ${code(kind.kind)} does not`,
        "remove it",
      );
      continue;
    }
    if (value.type === "unknown") continue;
    const problem = readOption(key, value, options);
    if (problem === null) continue;
    mistakes.error(
      placeOf({ keySpan, value }),
      `${code(key)}: expected ${problem.expected}, found ${found(value)}`,
      problem.advice,
    );
  }
  return options;
}

interface Problem {
  readonly expected: string;
  readonly advice?: string;
}

function readOption(
  key: string,
  node: SourceNode,
  options: { -readonly [K in keyof CommonOptions]: CommonOptions[K] },
): Problem | null {
  const value = node.type === "scalar" ? node.value : null;
  switch (key) {
    case "retry":
      if (!isCount(value, 0)) return { expected: "a whole number of attempts after the first" };
      options.retry = value;
      return null;
    case "concurrency":
      if (!isCount(value, 1)) return { expected: "a whole number of at least 1" };
      options.concurrency = value;
      return null;
    case "timeout": {
      const seconds = duration(value);
      if (seconds === null) return durationProblem(DURATION, value);
      options.timeout = seconds;
      return null;
    }
    case "resource":
      if (typeof value !== "string" || !/^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,99}$/.test(value))
        return { expected: "the name of a resource (letters, digits, _ . : / -)" };
      options.resource = value;
      return null;
    case "allow_failures": {
      const allowed = failures(value);
      if (allowed === null) return { expected: 'a whole number, or a share such as "5%"' };
      options.allowFailures = allowed;
      return null;
    }
    case "freshness": {
      if (value === "pinned" || value === "always") {
        options.freshness = value;
        return null;
      }
      const seconds = duration(value);
      if (seconds === null) return durationProblem("`pinned`, `always` or a duration such as 1d", value);
      options.freshness = seconds;
      return null;
    }
    default:
      return null;
  }
}

function durationProblem(expected: string, value: unknown): Problem {
  if (typeof value === "string" && /^[0-9]+$/.test(value)) return { expected, advice: `add the unit: ${value}s` };
  return { expected };
}

function isCount(value: unknown, least: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= MAX_COUNT;
}

function duration(value: unknown): number | null {
  if (typeof value === "number") return inRange(value);
  return typeof value === "string" ? parseDuration(value) : null;
}

function failures(value: unknown): CommonOptions["allowFailures"] | null {
  if (isCount(value, 0)) return { count: value };
  const match = typeof value === "string" ? /^([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%$/.exec(value) : null;
  const percent = Number(match?.[1] ?? Number.NaN);
  return percent <= 100 ? { share: percent / 100 } : null;
}
