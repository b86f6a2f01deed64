/** Definitions of files of a source tree, made once per content however many trees and runs look at it. */
import * as z from "zod";
import { DEFINITION_KINDS, type Definition } from "../base/definitions.js";
import type { Tree } from "../corpus/contract.js";
import { definitionsOf, GRAMMARS_VERSION } from "../corpus/grammars.js";
import { languageOf } from "../corpus/languages.js";
import type { StageTools } from "../engine/contract.js";

const rowsSchema = z.array(z.tuple([z.enum(DEFINITION_KINDS), z.string(), z.number(), z.number()])).nullable();

const MEMORY = "definitions";

/** `text` is read only where the content was not seen before. Null where no grammar reads the file. */
export async function definitionsIn(
  file: Pick<Tree["files"][number], "path" | "digest">,
  text: () => Promise<string>,
  tools: Pick<StageTools, "memory">,
): Promise<readonly Definition[] | null> {
  const language = languageOf(file.path);
  if (language === null) return null;
  const key = `${GRAMMARS_VERSION} ${language.grammar} ${file.digest}`;
  const memory = tools.memory(MEMORY);
  const kept = rowsSchema.safeParse(await memory.get(key));
  if (kept.success) return kept.data?.map(([kind, name, from, to]) => ({ kind, name, lines: [from, to] })) ?? null;
  const definitions = await definitionsOf(file.path, await text());
  await memory.set(key, definitions?.map(({ kind, name, lines: [from, to] }) => [kind, name, from, to]) ?? null);
  return definitions;
}
