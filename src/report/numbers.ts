/** Numbers and words for people. Three digits, never more: with fifty cases the second is uncertain already. */

/** `0.691`; a dash where there is no value. */
export function ratio(value: number | null | undefined): string {
  return value === null || value === undefined ? "-" : value.toFixed(3);
}

/** `0.585-0.791`; empty without an interval. */
export function range(bounds: { readonly lower: number | null; readonly upper: number | null } | undefined): string {
  if (bounds === undefined || bounds.lower === null || bounds.upper === null) return "";
  return `${bounds.lower.toFixed(3)}-${bounds.upper.toFixed(3)}`;
}

/** A count that may be a mean over draws or repeats: whole numbers as they are, others with up to three digits. */
export function count(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}

/** Coverage as a percentage: `95 %`. */
export function percent(level: number): string {
  return `${Number((level * 100).toFixed(2))} %`;
}

/**
 * The same text about several things is said once, with all of their names: `bm25, random: text`. `pairs`: name and text; the order is that of
 * the first name of each.
 */
export function grouped(
  pairs: Iterable<readonly [name: string, text: string]>,
): { readonly names: string; readonly text: string }[] {
  const byText = new Map<string, Set<string>>();
  for (const [name, text] of pairs) {
    const names = byText.get(text);
    if (names === undefined) byText.set(text, new Set([name]));
    else names.add(name);
  }
  return [...byText].map(([text, names]) => ({ names: [...names].join(", "), text }));
}

/** `1 case`, `2 cases`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
