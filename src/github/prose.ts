/**
 * The prose of a Markdown text: what is left when code and comments are taken out.
 *
 * GitHub reads closing words in rendered text outside `pre` and `code`, and templates keep their hints in HTML comments. Quotes
 * stay: the platform reads them too. This is no Markdown parser; it knows the constructs that hide text, line by line, and each
 * character is looked at a fixed number of times.
 */

/** The text with code blocks, inline code and HTML comments replaced by a blank, line breaks kept. */
export function proseOf(markdown: string): string {
  return withoutInlineCode(withoutCodeBlocks(markdown.replaceAll("\r\n", "\n")));
}

interface Fence {
  readonly mark: string;
  readonly length: number;
}

/** Fenced and indented code blocks, and HTML comments (which may span lines, and inside which no fence opens). */
function withoutCodeBlocks(markdown: string): string {
  const kept: string[] = [];
  let fence: Fence | null = null;
  let inComment = false;
  let afterBlank = true;
  let inIndented = false;
  let inList = false;
  for (const line of markdown.split("\n")) {
    if (fence !== null) {
      if (closes(line, fence)) fence = null;
      kept.push("");
      continue;
    }
    if (!inComment) {
      const opened = opens(line);
      if (opened !== null) {
        fence = opened;
        kept.push("");
        afterBlank = false;
        inIndented = false;
        continue;
      }
    }
    const blank = line.trim() === "";
    const indented = /^(?: {4}| {0,3}\t)/.test(line);
    if (!inComment && indented && !blank && !inList && (afterBlank || inIndented)) {
      inIndented = true;
      afterBlank = false;
      kept.push("");
      continue;
    }
    if (!blank) {
      inIndented = false;
      // Inside a list four blanks continue an item; the list ends at a line that stands at the margin.
      if (/^ {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?:\s|$)/.test(line)) inList = true;
      else if (!/^\s/.test(line) && afterBlank) inList = false;
    }
    afterBlank = blank;
    const rest = withoutComments(line, inComment);
    inComment = rest.inComment;
    kept.push(rest.text);
  }
  return kept.join("\n");
}

function opens(line: string): Fence | null {
  // Quote and list marks may stand before a fence.
  const match = /^[\s>]{0,20}(?:[-*+] {1,4}|[0-9]{1,9}[.)] {1,4})?(`{3,}|~{3,})(.*)$/.exec(line);
  if (!match) return null;
  const marks = match[1] ?? "";
  // ```a``` on one line is inline code.
  if (marks.startsWith("`") && (match[2] ?? "").includes("`")) return null;
  return { mark: marks[0] ?? "`", length: marks.length };
}

function closes(line: string, fence: Fence): boolean {
  const bare = line.replace(/^[\s>]{0,20}/, "").trimEnd();
  return bare.length >= fence.length && bare === fence.mark.repeat(bare.length);
}

function withoutComments(line: string, inComment: boolean): { text: string; inComment: boolean } {
  let text = "";
  let at = 0;
  let inside = inComment;
  while (at < line.length) {
    if (inside) {
      const end = line.indexOf("-->", at);
      if (end < 0) return { text, inComment: true };
      at = end + 3;
      inside = false;
      text += " ";
    } else {
      const start = commentStart(line, at);
      if (start < 0) return { text: text + line.slice(at), inComment: false };
      text += line.slice(at, start);
      at = start + 4;
      inside = true;
    }
  }
  return { text, inComment: inside };
}

/** A `<!--` that stands in inline code opens nothing: `\`<!--\`` would otherwise hide the rest of the text. */
function commentStart(line: string, from: number): number {
  const start = line.indexOf("<!--", from);
  if (start < 0) return -1;
  const before = line.slice(from, start).split("`").length - 1;
  return before % 2 === 1 && line.indexOf("`", start) >= 0 ? commentStartAfterCode(line, start) : start;
}

function commentStartAfterCode(line: string, start: number): number {
  const tick = line.indexOf("`", start);
  const next = line.indexOf("<!--", tick);
  return next;
}

/** Runs of backticks of equal length enclose code, within one paragraph. An unmatched run is text. */
function withoutInlineCode(text: string): string {
  return text
    .split(/\n[ \t]*\n/)
    .map((paragraph) => codeSpansRemoved(paragraph))
    .join("\n\n");
}

function codeSpansRemoved(paragraph: string): string {
  const runs = [...paragraph.matchAll(/`+/g)].map((match) => ({ at: match.index, length: match[0].length }));
  if (runs.length < 2) return paragraph;
  // For each run, the next one of the same length: one pass from the end, so that hostile text stays cheap.
  const following = new Map<number, number>();
  const closing = runs.map(() => -1);
  for (let i = runs.length - 1; i >= 0; i--) {
    const length = runs[i]?.length ?? 0;
    closing[i] = following.get(length) ?? -1;
    following.set(length, i);
  }
  let kept = "";
  let at = 0;
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i];
    const end = runs[closing[i] ?? -1];
    if (run === undefined || end === undefined || run.at < at) continue;
    kept += `${paragraph.slice(at, run.at)} `;
    at = end.at + end.length;
    i = closing[i] ?? i;
  }
  return kept + paragraph.slice(at);
}
