/** Names that are safe as file names on every platform. */

/** `con`, `con.txt`, `LPT1`: device names on Windows, with any ending. */
const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9]|lpt[0-9])(?:\.|$)/i;

export function isReserved(name: string): boolean {
  return RESERVED.test(name);
}

/** At most this many characters, `-2` of a repeated label included. */
export const MAX_LABEL = 80;

/** Lower case, only `a-z 0-9 . _ -`, no dot in front or behind, never empty, never a device name, at most `most` long. */
export function safeLabel(text: string, most: number = MAX_LABEL): string {
  const plain = text
    .slice(0, most * 8)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/-{2,}/g, "-");
  const trimmed = trim(trim(plain).slice(0, most));
  if (trimmed === "") return "cell";
  return isReserved(trimmed) ? `_${trimmed}` : trimmed;
}

/** Without dots and hyphens at the ends. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isEdge(text[start])) start += 1;
  while (end > start && isEdge(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isEdge(character: string | undefined): boolean {
  return character === "." || character === "-";
}

/** Each label safe and unlike all others, in order: a repeated one gets `-2`, `-3`. */
export function uniqueLabels(labels: readonly string[]): string[] {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  // A label that someone wrote out as `x-2` keeps it where it comes first; otherwise the first free number is taken.
  return labels.map((label) => {
    const safe = safeLabel(label);
    let candidate = safe;
    let number = counts.get(safe) ?? 1;
    while (taken.has(candidate)) {
      number += 1;
      const ending = `-${number}`;
      candidate = `${trim(safe.slice(0, MAX_LABEL - ending.length))}${ending}`;
    }
    counts.set(safe, number);
    taken.add(candidate);
    return candidate;
  });
}
