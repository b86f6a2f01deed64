/** Pipeline texts for tests, with the place of each expected mistake marked: `needs: ‹isues›`. */
import { expect, test } from "vitest";
import type { Diagnostic } from "../../src/base/diagnostics.js";
import type { Result } from "../../src/base/result.js";
import { type CheckedPipeline, checkPipeline, type PipelineInput } from "../../src/pipeline/check.js";
import { testKinds } from "./pipeline-kinds.js";

export interface Mark {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** The text without the marks, and their places in order. Marks are not nested and don't span lines. */
export function unmark(marked: string): { text: string; marks: Mark[] } {
  const marks: Mark[] = [];
  const lines = marked.split("\n").map((line, index) => {
    let plain = "";
    let start = 0;
    for (const character of line) {
      if (character === "‹") start = plain.length;
      else if (character === "›") marks.push({ line: index + 1, column: start + 1, length: Math.max(1, plain.length - start) });
      else plain += character;
    }
    return plain;
  });
  return { text: lines.join("\n"), marks };
}

export function check(text: string, more: Partial<PipelineInput> = {}): Result<CheckedPipeline, Diagnostic[]> {
  return checkPipeline({
    text,
    file: "pipelines/test.yaml",
    folder: "/project/pipelines",
    projectRoot: "/project",
    kinds: testKinds,
    env: {},
    set: [],
    ...more,
  });
}

/** The graph of a text that must have no mistakes. */
export function graphOf(text: string, more: Partial<PipelineInput> = {}): CheckedPipeline {
  const result = check(text, more);
  if (!result.ok) throw new Error(result.error.map(({ line, message }) => `${line}: ${message}`).join("\n"));
  return result.value;
}

/** The errors of a text that must have some. */
export function mistakesOf(text: string, more: Partial<PipelineInput> = {}): Diagnostic[] {
  const result = check(text, more);
  if (result.ok) throw new Error("no mistake was found");
  return result.error;
}

/** Name, marked text, and for each mark in the order of the file what is said there and, where given, suggested. */
export type MistakeCase = readonly [name: string, text: string, ...expected: (readonly [message: RegExp, suggestion?: RegExp])[]];

/** One test per case: the errors stand at the marks, say what is expected, and there are no others. */
export function testMistakes(cases: readonly MistakeCase[]): void {
  test.each(cases.map((each) => [each[0], each] as const))("%s", (_, [, marked, ...expected]) => {
    const { text, marks } = unmark(marked);
    const errors = mistakesOf(text).filter(({ severity }) => severity === "error");
    const shown = errors.map(({ line, column, length, message }) => ({ line, column, length, message }));
    expect(marks).toHaveLength(expected.length);
    expect(shown).toEqual(
      marks.map((mark, index) => ({ ...mark, message: expect.stringMatching(expected[index]?.[0] ?? /^$/) })),
    );
    for (const [index, [, suggestion]] of expected.entries()) {
      if (suggestion !== undefined) expect(errors[index]?.suggestion).toMatch(suggestion);
      expect(errors[index]?.sourceLine).toBe(text.split("\n")[(errors[index]?.line ?? 0) - 1]);
    }
  });
}
