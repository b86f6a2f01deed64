/** The options of the `mcp` backend. */
import * as z from "zod";
import { writtenText } from "../base/written-text.js";
import { mappingSchema } from "./mcp-result.js";
import { misspeltPlaceholder } from "./template.js";

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of an environment variable");

export const options = z
  .strictObject({
    command: z
      .array(writtenText, { error: 'must be a list, such as [npx, my-server, "{corpus}"]: the program and its arguments' })
      .min(1)
      .optional()
      .describe("Program and arguments of a server to start (stdio). Placeholders: {corpus} {folder}."),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("Address of a server that runs already (streamable HTTP)."),
    cwd: z.string().min(1).optional().describe("Working folder of `command`; default: the source tree if the stage has one."),
    env: z.array(variable).default([]).describe("Names of environment variables to pass on to `command`."),
    token_env: variable.optional().describe("Name of the variable that holds the bearer token for `url`."),
    tool: z.string().min(1).describe("The tool to call."),
    arguments: z
      .record(z.string(), z.unknown())
      .default({ query: "{query}" })
      .describe("What the tool is called with. Texts may hold {query} {corpus} {id} {title} {repo} {base_commit} {repeat}."),
    query_bytes: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe("Longest query in bytes; longer ones are cut at a word. Default: as it is."),
    prompt: z
      .enum(["text", "text+format"])
      .default("text")
      .describe(
        "`text`: the issue alone. `text+format`: also the demanded answer format, for tools with a language model behind.",
      ),
    result: mappingSchema.optional().describe("Where files, scores and lines are in the tool's JSON. Default: read as text."),
    top: z.number().int().min(1).max(10_000).default(50).describe("Longest list of files to take with `result`."),
    files: z.array(z.string().min(1)).default([]).describe("Files that shape the answers: their content is part of the key."),
    version: writtenText.optional().describe("Version of the server: part of the key."),
    identity: z
      .unknown()
      .optional()
      .describe("Anything else that shapes the answers: part of the key. null: answers are not cached."),
    timeout: z.number().positive().nullable().default(180).describe("Seconds per question; null = none."),
    concurrency: z.number().int().min(1).default(1).describe("Calls at once."),
  })
  .check(({ value, issues }) => {
    if ((value.command === undefined) === (value.url === undefined)) {
      issues.push({
        code: "custom",
        input: value,
        message: "needs either `command` (a server to start) or `url` (one that runs)",
      });
    }
    const misspelt = misspeltPlaceholder([...(value.command ?? []), ...textsIn(value.arguments)]);
    if (misspelt !== undefined) {
      const message = `has no placeholder {${misspelt.wrong}}: did you mean {${misspelt.right}}?`;
      issues.push({ code: "custom", input: value, path: ["arguments"], message });
    }
  });
export type Options = z.infer<typeof options>;

/** Relative to the pipeline file. */
export function isRelative(argument: string): boolean {
  return /^\.\.?[/\\]/.test(argument);
}

/** Every text in a value, however deep. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
