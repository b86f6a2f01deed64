/** A file cut into overlapping stretches of lines, for models that read a few hundred words at a time. Pure. */
import type { LineRange } from "./ranked.js";

export interface Chunk {
  readonly lines: LineRange;
  readonly text: string;
}

/** A minified line alone would be more than any model reads. */
const LONGEST_CHUNK = 8000;

/** At most `size` lines each, `overlap` of them shared with the one before. Blank stretches are left out; a blank file has none. */
export function chunksOf(text: string, size: number, overlap: number): Chunk[] {
  const lines = text.split("\n");
  const chunks: Chunk[] = [];
  const step = Math.max(1, size - overlap);
  for (let from = 0; from === 0 || from + overlap < lines.length; from += step) {
    const stretch = lines.slice(from, from + size);
    const content = stretch.join("\n").slice(0, LONGEST_CHUNK);
    if (content.trim() !== "") chunks.push({ lines: [from + 1, from + stretch.length], text: content });
  }
  return chunks;
}
