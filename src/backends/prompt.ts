/**
 * The text that a backend is asked with. Pure; its exact bytes are part of an answer's key, so a change of wording here asks everything
 * again.
 */
import type { Case } from "../dataset/schema.js";
import type { PromptBlocks, PromptTemplate } from "./contract.js";

export const NO_DESCRIPTION = "(no description provided)";

export interface PromptOptions {
  /** The task in the asker's own words, instead of ours. */
  readonly extraPrompt?: string | null;
  /** Extensions of the files that may be targets, with the dot; null or empty = any file. */
  readonly extensions?: readonly string[] | null;
}

const DEFAULT_TASK =
  "Find the source files of this repository that have to be changed to resolve the issue, and list their paths, the most likely one first.";

/**
 * `text`: the title, a blank line, the body, both trimmed; what is empty is left out. `text+format`: four labelled blocks (title,
 * description, answer format, task), in which a missing description is said to be missing. `none`: the empty string.
 */
export function renderPrompt(template: PromptTemplate, issue: Pick<Case, "title" | "body">, options: PromptOptions = {}): string {
  const { title, description, format, task } = promptBlocks(issue, options);
  switch (template) {
    case "none":
      return "";
    case "text":
      return [title, description].filter((block) => block !== "").join("\n\n");
    case "text+format":
      return [
        `Issue title:\n${title}`,
        `Issue description:\n${description === "" ? NO_DESCRIPTION : description}`,
        `Required answer format:\n${format}`,
        `Task:\n${task}`,
      ].join("\n\n");
  }
}

/** What the prompt `text+format` is made of. */
export function promptBlocks(issue: Pick<Case, "title" | "body">, options: PromptOptions = {}): PromptBlocks {
  return {
    title: issue.title.trim(),
    description: (issue.body ?? "").trim(),
    format: answerFormat(options.extensions ?? []),
    task: options.extraPrompt?.trim() || DEFAULT_TASK,
  };
}

function answerFormat(extensions: readonly string[]): string {
  const ending = extensions.length === 0 ? "" : ` and ends with ${extensions.join(" or ")}`;
  return [
    'Your whole answer must be one JSON object of the form {"classes":[{"path":"<path of a file>"}]}.',
    "- The object has exactly one key, `classes`. Its value is an array of objects, each with exactly one key, `path`.",
    `- Each path is relative to the root of the repository${ending}.`,
    "- No Markdown, no code fence, no explanation, no other keys and no text before or after the object.",
  ].join("\n");
}
