/** The backends that come with `bench`, and the schema of `backend:` in a pipeline file. */
import * as z from "zod";
import { nearest } from "../base/nearest.js";
import { bm25 } from "./bm25.js";
import { chat } from "./chat.js";
import { colgrep } from "./colgrep.js";
import { command } from "./command.js";
import type { BackendKind } from "./contract.js";
import { embedding } from "./embedding.js";
import { empty } from "./empty.js";
import { graphrag } from "./graphrag.js";
import { hybrid } from "./hybrid.js";
import { lightrag } from "./lightrag.js";
import { lsa } from "./lsa.js";
import { manual } from "./manual.js";
import { mcp } from "./mcp.js";
import { names } from "./names.js";
import { octocode } from "./octocode.js";
import { oracle } from "./oracle.js";
import { popularity } from "./popularity.js";
import { random } from "./random.js";

// biome-ignore lint/suspicious/noExplicitAny: the registry holds kinds of every type of options; each is checked by its own schema
export type AnyBackendKind = BackendKind<any>;

const KINDS: readonly AnyBackendKind[] = [
  bm25,
  random,
  popularity,
  names,
  oracle,
  empty,
  command,
  colgrep,
  octocode,
  graphrag,
  lightrag,
  mcp,
  manual,
  lsa,
  embedding,
];

function byKind(kinds: readonly AnyBackendKind[]): ReadonlyMap<string, AnyBackendKind> {
  return new Map(kinds.map((kind) => [kind.kind, kind]));
}

function fusion(kinds: readonly AnyBackendKind[]): AnyBackendKind {
  const fused = byKind(kinds);
  return hybrid(fused, backendConfigSchema(fused));
}

/** What a model may be shown the files of: a retriever that knew the truth would give it away. */
const RETRIEVERS = KINDS.filter((kind) => !kind.readsTruth && !kind.readsDataset);
const shown = byKind([...RETRIEVERS, fusion(RETRIEVERS)]);
const CHAT: AnyBackendKind = chat(shown, backendConfigSchema(shown));

export const builtInBackends: ReadonlyMap<string, AnyBackendKind> = byKind([
  ...KINDS,
  CHAT,
  fusion([...KINDS.filter((kind) => !kind.readsTruth), CHAT]),
]);

/** `kind`, `name` and the kind's own options (defaults filled). */
export type BackendConfig = { readonly kind: string; readonly name?: string } & Readonly<Record<string, unknown>>;

/**
 * Strict schema of `backend:`: one member per kind, told apart by `kind`. Throws if a kind's options are no object schema (a bug of
 * that kind).
 */
export function backendConfigSchema(kinds: ReadonlyMap<string, AnyBackendKind>): z.ZodType<BackendConfig> {
  const members = [...kinds.values()].map((kind) => {
    if (!(kind.options instanceof z.ZodObject)) throw new TypeError(`the options of backend ${kind.kind} are no object schema`);
    return kind.options.safeExtend({
      kind: z.literal(kind.kind).describe(kind.summary),
      name: z.string().min(1).optional().describe("Label in reports and file names; default: the kind and what differs."),
    });
  });
  const [first, ...others] = members;
  if (first === undefined) throw new TypeError("there are no backends");
  return z.discriminatedUnion("kind", [first, ...others], {
    error: (issue) => (issue.code === "invalid_union" ? unknownKind(issue.input, kinds) : undefined),
  }) as unknown as z.ZodType<BackendConfig>;
}

function unknownKind(input: unknown, kinds: ReadonlyMap<string, AnyBackendKind>): string {
  const given = typeof input === "object" && input !== null ? (input as { kind?: unknown }).kind : undefined;
  const known = [...kinds.keys()].join(", ");
  if (given === undefined) return `needs \`kind\`: one of ${known}`;
  const near = typeof given === "string" ? nearest(given, kinds.keys()) : undefined;
  return `unknown backend kind ${JSON.stringify(given)}: ${near === undefined ? `one of ${known}` : `did you mean ${near}?`}`;
}
