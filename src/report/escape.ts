/**
 * Text of strangers (titles, paths, error messages, labels) inside Markdown. Whatever it holds, it must come out as text: it may
 * not end a table cell, open HTML, make a link or a mention, or turn the line around.
 */
import { visible } from "../base/diagnostics.js";

/** Characters without width and those that change the direction of writing: they can make a line read as another. */
export const INVISIBLE = /[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** One line of plain Markdown text; longer text is cut to `limit` characters. */
export function markdownText(text: string, limit = 120): string {
  const line = visible(
    text
      .slice(0, limit * 4)
      .replace(/\s+/g, " ")
      .replace(INVISIBLE, ""),
  ).trim();
  const characters = Array.from(line);
  const cut = characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
  return (
    cut
      .replace(/[\\`*_[\]|~]/g, (character) => `\\${character}`)
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      // A heading, a list or a rule where the text begins a block.
      .replace(/^[#+=-]/, (character) => `\\${character}`)
      .replace(/^(\d{1,9})([.)])/, "$1\\$2")
      // GitHub turns these into links and mentions without any markup.
      .replaceAll("://", "&#58;//")
      .replace(/@(?=[a-z])/gi, "&#64;")
      .replace(/www\./gi, (www) => `${www.slice(0, 3)}&#46;`)
  );
}

/** A fenced block that its own content can't close. */
export function fenced(text: string, language: string): string {
  const runs = text.match(/`+/g) ?? [];
  const fence = "`".repeat(runs.reduce((longest, run) => Math.max(longest, run.length + 1), 3));
  return `${fence}${language}\n${text}\n${fence}`;
}

/** A GitHub table; cells must be escaped already. The first column is text, the others are figures. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[], textColumns = 1): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = header.map((_, column) => (column < textColumns ? "---" : "---:"));
  return [line(header), line(rule), ...rows.map(line)].join("\n");
}
