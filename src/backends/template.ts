/** Placeholders in the arguments of a command: `{query}` and its like. Pure. */
import { nearest } from "../base/nearest.js";

export const PLACEHOLDERS = ["query", "query_file", "corpus", "folder", "id", "title", "repo", "base_commit", "repeat"] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

const PATTERN = /\{([a-z_]{1,40})\}/gi;
const KNOWN: ReadonlySet<string> = new Set(PLACEHOLDERS);

function isPlaceholder(name: string): name is Placeholder {
  return KNOWN.has(name);
}

/** The placeholders that the arguments use. */
export function placeholdersOf(args: readonly string[]): ReadonlySet<Placeholder> {
  const used = new Set<Placeholder>();
  for (const arg of args) for (const [, name = ""] of arg.matchAll(PATTERN)) if (isPlaceholder(name)) used.add(name);
  return used;
}

/**
 * A word in braces that is almost a placeholder: `{ wrong, right }`, or undefined. Other braces (`{print}`, JSON) are left alone: they
 * belong to the program.
 */
export function misspeltPlaceholder(args: readonly string[]): { wrong: string; right: string } | undefined {
  for (const arg of args) {
    for (const [, name = ""] of arg.matchAll(PATTERN)) {
      const right = isPlaceholder(name) ? undefined : nearest(name, PLACEHOLDERS);
      if (right !== undefined) return { wrong: name, right };
    }
  }
  return undefined;
}

/** Every argument with its placeholders replaced, once: braces inside the values are text and stay as they are. */
export function fillTemplate(args: readonly string[], values: Readonly<Record<Placeholder, string>>): string[] {
  return args.map((arg) => arg.replace(PATTERN, (whole, name: string) => (isPlaceholder(name) ? values[name] : whole)));
}
