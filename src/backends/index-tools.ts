/** The index tools that come with `bench`, and the schema of `tool:` in a pipeline file. */
import * as z from "zod";
import { nearest } from "../base/nearest.js";
import { colgrepIndex } from "./colgrep-index.js";
import { graphragIndex } from "./graphrag-index.js";
import type { IndexTool } from "./index-tool.js";
import { lightragIndex } from "./lightrag-index.js";
import { octocodeIndex } from "./octocode-index.js";

// biome-ignore lint/suspicious/noExplicitAny: the registry holds tools of every type of options; each is checked by its own schema
export type AnyIndexTool = IndexTool<any>;

const TOOLS: readonly AnyIndexTool[] = [graphragIndex, lightragIndex, colgrepIndex, octocodeIndex];

export const builtInIndexTools: ReadonlyMap<string, AnyIndexTool> = new Map(TOOLS.map((tool) => [tool.kind, tool]));

/** `kind`, `name` and the tool's own options (defaults filled). */
export type IndexToolConfig = { readonly kind: string; readonly name?: string } & Readonly<Record<string, unknown>>;

/** Strict schema of `tool:`: one member per kind. Throws if a tool's options are no object schema (a bug of that tool). */
export function indexToolConfigSchema(tools: ReadonlyMap<string, AnyIndexTool>): z.ZodType<IndexToolConfig> {
  const members = [...tools.values()].map((tool) => {
    if (!(tool.options instanceof z.ZodObject))
      throw new TypeError(`the options of index tool ${tool.kind} are no object schema`);
    return tool.options.safeExtend({
      kind: z.literal(tool.kind).describe(tool.summary),
      name: z.string().min(1).optional().describe("Label in reports and file names; default: the kind and what differs."),
    });
  });
  const [first, ...others] = members;
  if (first === undefined) throw new TypeError("there are no index tools");
  return z.discriminatedUnion("kind", [first, ...others], {
    error: (issue) => (issue.code === "invalid_union" ? unknownKind(issue.input, tools) : undefined),
  }) as unknown as z.ZodType<IndexToolConfig>;
}

function unknownKind(input: unknown, tools: ReadonlyMap<string, AnyIndexTool>): string {
  const given = typeof input === "object" && input !== null ? (input as { kind?: unknown }).kind : undefined;
  const known = [...tools.keys()].join(", ");
  if (given === undefined) return `needs \`kind\`: one of ${known}`;
  const near = typeof given === "string" ? nearest(given, tools.keys()) : undefined;
  return `unknown index tool ${JSON.stringify(given)}: ${near === undefined ? `one of ${known}` : `did you mean ${near}?`}`;
}
