/**
 * Strata that are asked for and follow from the case itself: how many files were to be found, in which repository, when, of what role.
 *
 * A mean over a data set hides that issues with one target are another task than those with ten, and that issues older than a model are
 * no test of it. The number of targets is that of the targets that count (in the tree, selected), since these are what is scored.
 */
import type { Case, Target } from "../dataset/schema.js";

/** Names that `strata` takes; `split=DATE` parts the cases by when they were created. */
export const DERIVED_STRATA = ["targets", "repository", "year", "role"] as const;

type Asked = Partial<Pick<Case, "repository" | "created_at">> & { readonly targets: readonly Target[] };

/** What is wrong with a name, or null. */
export function strataProblem(name: string): string | null {
  if ((DERIVED_STRATA as readonly string[]).includes(name)) return null;
  const date = splitDate(name);
  if (date !== null && !Number.isNaN(Date.parse(date))) return null;
  return `unknown stratum ${JSON.stringify(name.slice(0, 60))}: ${DERIVED_STRATA.join(", ")}, or split=2024-01-31 (created before, or from then on)`;
}

/** `present`: paths of the targets that count. A case that doesn't say is `unknown`, so that the strata of one name add up to all cases. */
export function derivedStrata(names: readonly string[], asked: Asked, present: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => pairOf(name, asked, present)));
}

function pairOf(name: string, { repository, created_at, targets }: Asked, present: readonly string[]): [string, string][] {
  switch (name) {
    case "targets":
      return [[name, sizeClass(present.length)]];
    case "repository":
      return [[name, repository ?? "unknown"]];
    case "year":
      return [[name, /^\d{4}(?=-)/.exec(created_at ?? "")?.[0] ?? "unknown"]];
    case "role": {
      const counted = new Set(present);
      const own = targets.filter(({ path }) => counted.has(path));
      // A target without the beginning of its path counts by the file that it was found to be.
      const roles = new Set((own.length > 0 ? own : targets).map(({ role }) => role));
      return [[name, [...roles].sort().join(" and ") || "unknown"]];
    }
    default: {
      const date = splitDate(name);
      if (date === null) return [];
      const time = Date.parse(created_at ?? "");
      if (Number.isNaN(time)) return [["split", "unknown"]];
      return [["split", time < Date.parse(date) ? `before ${date}` : `from ${date}`]];
    }
  }
}

function sizeClass(count: number): string {
  return count >= 4 ? "4+" : count >= 2 ? "2-3" : String(count);
}

function splitDate(name: string): string | null {
  return /^split=(\d{4}-\d{2}-\d{2})$/.exec(name)?.[1] ?? null;
}

/** Strata whose values have an order of their own, which is that of their text. */
export function isOrdered(name: string): boolean {
  return name === "targets" || name === "year" || name === "split";
}
