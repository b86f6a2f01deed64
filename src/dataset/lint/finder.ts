/** What every finder works on, and how it says what it found. */
import type { BadRecord, Case, Link, Target } from "../schema.js";
import { type FindingName, type LintFinding, MOST_EXAMPLES, type Severity, type Unit } from "./contract.js";
import { keepLinks } from "./link-rules.js";
import { sizeOf } from "./size.js";

export interface Context {
  readonly cases: readonly Case[];
  readonly withTargets: readonly Case[];
  readonly links: number;
  readonly targets: number;
  /** Whether a target is a file of the tree that the case asks about; null = no tree is known. */
  readonly exists: ((one: Case, target: Target) => boolean) | null;
  readonly bad: readonly BadRecord[];
}

/** null = it does not fire. */
export type Finder = (context: Context) => LintFinding | null;

interface Hit {
  readonly id: string;
  /** Shown; the heaviest first. */
  readonly example: string;
  readonly weight?: number;
}

interface Found {
  readonly name: FindingName;
  readonly severity: Severity;
  readonly unit: Unit;
  readonly of: number;
  readonly hits: readonly Hit[];
  readonly what: string;
  /** The cases as they are without what was found. */
  readonly without: readonly Case[] | null;
}

export function finding({ name, severity, unit, of, hits, what, without }: Found): LintFinding | null {
  if (hits.length === 0) return null;
  const worst = [...hits].sort((a, b) => (b.weight ?? 0) - (a.weight ?? 0));
  return {
    name,
    severity,
    count: hits.length,
    of,
    unit,
    what,
    examples: worst.slice(0, MOST_EXAMPLES).map(({ example }) => example),
    cases: [...new Set(hits.map(({ id }) => id))],
    without: without === null ? null : sizeIfAny(without),
  };
}

/** Where every case is concerned there is nothing to compare with. */
function sizeIfAny(cases: readonly Case[]): LintFinding["without"] {
  const size = sizeOf(cases);
  return size.cases_with_targets === 0 ? null : size;
}

/** Links that have a flaw: without them, their targets go too. */
export function linkFinding(
  { cases, links }: Context,
  isFlawed: (one: Case, link: Link) => string | null,
  says: Pick<Found, "name" | "severity"> & { readonly what: (links: number, cases: number) => string },
): LintFinding | null {
  const hits: Hit[] = [];
  for (const one of cases) {
    for (const link of one.links) {
      const why = isFlawed(one, link);
      if (why === null) continue;
      hits.push({
        id: one.id,
        example: `${one.id} <- ${link.repository}#${link.number}${why === "" ? "" : ` (${why})`}`,
        weight: link.files.length,
      });
    }
  }
  const without = cases.map((one) => keepLinks(one, (link) => isFlawed(one, link) === null));
  const concerned = new Set(hits.map(({ id }) => id)).size;
  return finding({ ...says, what: says.what(hits.length, concerned), unit: "links", of: links, hits, without });
}

/** Cases that have a flaw: without them, the others stay as they are. */
export function caseFinding(
  { cases }: Context,
  isFlawed: (one: Case) => { readonly example: string; readonly weight?: number } | null,
  says: Pick<Found, "name" | "severity"> & { readonly of?: number; readonly what: (cases: number) => string },
): LintFinding | null {
  const hits: Hit[] = [];
  for (const one of cases) {
    const flaw = isFlawed(one);
    if (flaw !== null) hits.push({ id: one.id, ...flaw });
  }
  const flawed = new Set(hits.map(({ id }) => id));
  const without = cases.filter(({ id }) => !flawed.has(id));
  return finding({ ...says, what: says.what(hits.length), unit: "cases", of: says.of ?? cases.length, hits, without });
}

/** Targets that have a flaw. `keep`: they are targets all the same. */
export function targetFinding(
  { cases, targets }: Context,
  isFlawed: (one: Case, target: Target) => boolean,
  says: Pick<Found, "name" | "severity"> & { readonly keep?: boolean; readonly what: (targets: number, cases: number) => string },
): LintFinding | null {
  const hits: Hit[] = [];
  for (const one of cases) {
    const flawed = one.targets.filter((target) => isFlawed(one, target));
    for (const { path, renamed_to } of flawed) {
      const name = renamed_to === null ? path : `${path} -> ${renamed_to}`;
      hits.push({ id: one.id, example: `${one.id}: ${name}`, weight: flawed.length });
    }
  }
  const concerned = new Set(hits.map(({ id }) => id)).size;
  const without =
    says.keep === true ? null : cases.map((one) => ({ ...one, targets: one.targets.filter((target) => !isFlawed(one, target)) }));
  return finding({ ...says, what: says.what(hits.length, concerned), unit: "targets", of: targets, hits, without });
}

/** Titles of strangers in an example: one line, cut. */
export function shortly(text: string, limit = 70): string {
  const line = text
    .slice(0, limit * 4)
    .replace(/\s+/g, " ")
    .trim();
  const characters = Array.from(line);
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
}
