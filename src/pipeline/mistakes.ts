/**
 * Where mistakes are collected. Every part of the checker reports here and goes on, so that a person sees all mistakes of a
 * file in one pass, in the order of the file, each once (a mistake in a value that ten cells share is one mistake).
 */
import type { Diagnostic } from "../base/diagnostics.js";

/** UTF-16 offsets into the text, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** More than anyone reads; a file of garbage must not become a million objects. */
const MAX_MISTAKES = 500;

/** A text with the positions of its lines. */
export class SourceText {
  readonly file: string;
  readonly text: string;
  readonly #lineStarts: readonly number[];

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
    const starts = [0];
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    this.#lineStarts = starts;
  }

  /** 1-based; columns count UTF-16 units. An offset beyond the end is the end. */
  position(offset: number): { readonly line: number; readonly column: number } {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: Math.min(offset, this.text.length) - (this.#lineStarts[low] ?? 0) + 1 };
  }

  /** The text of a line (1-based) without its line break. */
  line(number: number): string {
    const start = this.#lineStarts[number - 1] ?? this.text.length;
    const next = this.#lineStarts[number];
    const line = this.text.slice(start, next === undefined ? this.text.length : next - 1);
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  }

  diagnostic(severity: Diagnostic["severity"], span: Span, message: string, suggestion?: string): Diagnostic {
    const { line, column } = this.position(span.start);
    const sourceLine = this.line(line);
    // A span over several lines is underlined to the end of its first.
    const length = Math.max(1, Math.min(span.end - span.start, sourceLine.length - column + 1));
    const base = { severity, file: this.file, line, column, sourceLine, length, message };
    return suggestion === undefined ? base : { ...base, suggestion };
  }
}

export class Mistakes {
  readonly source: SourceText;
  readonly #found: Diagnostic[] = [];
  readonly #seen = new Set<string>();
  #errors = 0;
  #dropped = 0;

  constructor(source: SourceText) {
    this.source = source;
  }

  get errors(): number {
    return this.#errors;
  }

  error(span: Span, message: string, suggestion?: string): void {
    this.add(this.source.diagnostic("error", span, message, suggestion));
  }

  warning(span: Span, message: string, suggestion?: string): void {
    this.add(this.source.diagnostic("warning", span, message, suggestion));
  }

  /** For a mistake in another text than the file (`--set`). */
  add(diagnostic: Diagnostic): void {
    const key = JSON.stringify([diagnostic.file, diagnostic.line, diagnostic.column, diagnostic.message]);
    if (this.#seen.has(key)) return;
    if (diagnostic.severity === "error") this.#errors += 1;
    if (this.#found.length >= MAX_MISTAKES) {
      this.#dropped += 1;
      return;
    }
    this.#seen.add(key);
    this.#found.push(diagnostic);
  }

  /** In the order of the file; those of the command line first. */
  sorted(): Diagnostic[] {
    const own = (diagnostic: Diagnostic): number => (diagnostic.file === this.source.file ? 1 : 0);
    const sorted = [...this.#found].sort(
      (a, b) => own(a) - own(b) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
    );
    const last = sorted.at(-1);
    if (this.#dropped > 0 && last !== undefined) {
      const message = `${this.#dropped} more mistakes are not shown`;
      sorted.push({ ...last, message, suggestion: "mend the ones above first" });
    }
    return sorted;
  }
}
