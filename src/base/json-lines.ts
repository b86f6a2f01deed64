/** Where the elements of a JSON array stand in its text: a parser keeps no places, and a mistake without one is hard to mend. */

/** 1-based lines on which the elements of the first array at or after `from` start. The text must be valid JSON; it is read once. */
export function elementLines(text: string, from = 0): number[] {
  const lines: number[] = [];
  let line = 1;
  for (let at = 0; at < from; at++) if (text.charCodeAt(at) === 10) line++;
  let depth = 0;
  let fresh = false;
  for (let at = text.indexOf("[", from), started = -1; at >= 0 && at < text.length; at++) {
    if (started < 0) {
      for (let before = from; before < at; before++) if (text.charCodeAt(before) === 10) line++;
      started = at;
    }
    const char = text.charAt(at);
    if (char === "\n") line++;
    if (/\s/.test(char)) continue;
    if (fresh && depth === 1 && char !== "]") {
      lines.push(line);
      fresh = false;
    }
    if (char === '"') {
      for (at++; at < text.length && text.charAt(at) !== '"'; at++) if (text.charAt(at) === "\\") at++;
    } else if (char === "[" || char === "{") {
      depth++;
      if (depth === 1) fresh = true;
    } else if (char === "]" || char === "}") {
      depth--;
      if (depth === 0) break;
    } else if (char === "," && depth === 1) fresh = true;
  }
  return lines;
}
