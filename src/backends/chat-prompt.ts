/** The messages of a chat: the system prompt, and the question with whatever of the repository is shown. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { nearest } from "../base/nearest.js";
import type { ChatOptions } from "./chat-options.js";
import { type BackendEnvironment, type Question, UnusableConfiguration } from "./contract.js";

export interface Message {
  readonly role: "system" | "user";
  readonly content: string;
}

const PLACEHOLDERS = ["prompt", "title", "description", "format", "task", "context", "repo", "id"] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];
const PATTERN = /\{([a-z_]{1,40})\}/gi;
const LARGEST_TEMPLATE = 1_000_000;

export interface Template {
  readonly text: string;
  readonly digest: string;
}

/** The template file; null where the options name none. Throws `UnusableConfiguration` where it can't be used. */
export async function readTemplate(
  { template, context }: Pick<ChatOptions, "template" | "context">,
  { baseFolder }: Pick<BackendEnvironment, "baseFolder">,
): Promise<Template | null> {
  if (template === undefined) return null;
  let text: string;
  try {
    text = await readFile(resolve(baseFolder, template), "utf8");
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new UnusableConfiguration(
      missing ? `there is no template file ${template}` : `the template file ${template} can't be read`,
    );
  }
  if (text.length > LARGEST_TEMPLATE)
    throw new UnusableConfiguration(`the template file ${template} is larger than ${LARGEST_TEMPLATE} characters`);
  const used = new Set([...text.matchAll(PATTERN)].map(([, name = ""]) => name));
  for (const name of used) {
    const near = isPlaceholder(name) ? undefined : nearest(name, PLACEHOLDERS);
    if (near !== undefined) throw new UnusableConfiguration(`${template} has no placeholder {${name}}: did you mean {${near}}?`);
  }
  if (!used.has("prompt") && !used.has("title") && !used.has("description")) {
    throw new UnusableConfiguration(
      `${template} never shows the issue: put {prompt} (everything), or {title} and {description}, into it`,
    );
  }
  if (context !== "none" && !used.has("context")) {
    throw new UnusableConfiguration(`${template} has no {context}, so the model would not see what \`context\` provides`);
  }
  return { text, digest: createHash("sha256").update(text).digest("hex") };
}

function isPlaceholder(name: string): name is Placeholder {
  return (PLACEHOLDERS as readonly string[]).includes(name);
}

/** `shown`: what of the repository the model sees; empty = nothing. */
export function messagesOf(system: string | null, template: Template | null, question: Question, shown: string): Message[] {
  const user =
    template === null
      ? [shown, question.prompt].filter((block) => block !== "").join("\n\n")
      : fill(template.text, question, shown);
  return [
    ...(system === null || system === "" ? [] : [{ role: "system" as const, content: system }]),
    { role: "user", content: user },
  ];
}

/** Once: braces inside an issue or a source file are text and stay as they are. */
function fill(template: string, question: Question, shown: string): string {
  const { blocks, prompt, id } = question;
  const values: Readonly<Record<Placeholder, string>> = {
    prompt,
    title: blocks?.title ?? "",
    description: blocks?.description ?? "",
    format: blocks?.format ?? "",
    task: blocks?.task ?? "",
    context: shown,
    repo: question.case.repository ?? "",
    id,
  };
  return template.replace(PATTERN, (whole, name: string) => (isPlaceholder(name) ? values[name] : whole));
}

/** What a model is told its answer must be like, where the provider can hold it to that. */
export const ANSWER_SCHEMA = {
  type: "object",
  properties: {
    classes: {
      type: "array",
      items: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false },
    },
  },
  required: ["classes"],
  additionalProperties: false,
} as const;
