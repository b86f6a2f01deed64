/**
 * A mistake in a file that a person wrote: where it is, what it is, and what would be right.
 * The same object is shown on the terminal and could be handed to an editor.
 */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  /** Path as the person gave it. */
  readonly file: string;
  /** 1-based; absent when the whole file is meant (an empty or unreadable one). */
  readonly line?: number;
  readonly column?: number;
  /** The text of that line, without its line break. */
  readonly sourceLine?: string;
  /** Columns to underline, at least 1. */
  readonly length?: number;
  readonly message: string;
  /** What to do about it: "did you mean `needs`?" */
  readonly suggestion?: string;
}

const MAX_SHOWN_LINE = 200;

/** Plain-text rendering, one diagnostic: `file:line:column: error: message`, the line, a caret, the suggestion. */
export function renderDiagnostic(diagnostic: Diagnostic): string {
  const place = [diagnostic.file, diagnostic.line, diagnostic.column].filter((part) => part !== undefined).join(":");
  const lines = [`${place}: ${diagnostic.severity}: ${diagnostic.message}`];
  if (diagnostic.sourceLine !== undefined && diagnostic.line !== undefined) {
    const gutter = String(diagnostic.line);
    // A tab is shown as one blank so that the caret stands under the right character; a very long line is cut.
    const shown = visible(diagnostic.sourceLine).slice(0, MAX_SHOWN_LINE);
    lines.push(`  ${gutter} | ${shown}`);
    if (diagnostic.column !== undefined && diagnostic.column <= shown.length + 1) {
      const width = Math.max(1, Math.min(diagnostic.length ?? 1, shown.length - diagnostic.column + 1));
      lines.push(`  ${" ".repeat(gutter.length)} | ${" ".repeat(diagnostic.column - 1)}${"^".repeat(width)}`);
    }
  }
  if (diagnostic.suggestion !== undefined) lines.push(`  = ${diagnostic.suggestion}`);
  return lines.join("\n");
}

/** Control characters (also terminal escapes) are shown as blanks or `·`: file contents are hostile input for a terminal. */
export function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject here
  return text.replaceAll("\t", " ").replace(/[\u0000-\u001f\u007f-\u009f]/g, "·");
}
