/** Tokens and definitions of files, for scoring below the file level. Trees of one project share most of their files: each content is read once. */
import type { Corpus } from "../corpus/contract.js";
import type { StageTools } from "../engine/contract.js";
import { type Contents, type FileContent, tokensOfLines } from "../scoring/contents.js";
import { definitionsIn } from "./file-definitions.js";

export type ContentReader = (corpus: Corpus, paths: readonly string[], tools: Pick<StageTools, "memory">) => Promise<Contents>;

/** Lines of all files that are kept at once: some hundred megabytes at most. */
const MOST_LINES = 5_000_000;

/** Remembers contents by digest and path (whose ending says the language), the last ones used. */
export function contentReader(): ContentReader {
  const kept = new Map<string, Promise<FileContent>>();
  const sizes = new Map<string, number>();
  let lines = 0;
  const forget = (key: string) => {
    lines -= sizes.get(key) ?? 0;
    sizes.delete(key);
    kept.delete(key);
  };
  return async (corpus, paths, tools) => {
    const byPath = new Map(corpus.tree.files.map((file) => [file.path, file]));
    const contents = new Map<string, FileContent>();
    for (const path of paths) {
      const file = byPath.get(path);
      if (file === undefined) continue;
      const key = `${file.digest} ${path}`;
      const known = kept.get(key);
      const reading =
        known ??
        corpus.text(path).then(async (text) => ({
          tokens: tokensOfLines(text),
          definitions: await definitionsIn(file, async () => text, tools),
        }));
      kept.delete(key);
      kept.set(key, reading);
      try {
        const content = await reading;
        contents.set(path, content);
        if (!sizes.has(key)) {
          sizes.set(key, content.tokens.length);
          lines += content.tokens.length;
        }
      } catch (error) {
        // The engine repairs a damaged object and asks again.
        forget(key);
        throw error;
      }
      for (const oldest of kept.keys()) {
        if (lines <= MOST_LINES || oldest === key) break;
        forget(oldest);
      }
    }
    return contents;
  };
}
