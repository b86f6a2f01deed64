/** Contents of files, for measures that look into them where there is no pipeline: of a folder (`--corpus`), or of a run's trees in the cache. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Answer } from "../answers/schema.js";
import { definitionsOf } from "../corpus/grammars.js";
import type { Case } from "../dataset/schema.js";
import { type FileContent, tokensOfLines } from "../scoring/contents.js";
import { filesNeeded, needsContents, type ScoreSettings } from "../scoring/score-case.js";

interface Asked {
  readonly item: Case;
  readonly answers: readonly Answer[];
}

/**
 * The settings with the contents of those files that answers or targets name; as they are where no measure needs them. One file that can't be
 * read (`null`) makes all of them unknown: figures of part of the files would be wrong, and nobody would see it.
 */
export async function withContents(
  settings: ScoreSettings,
  asked: readonly Asked[],
  read: (path: string) => Promise<string | null>,
): Promise<ScoreSettings> {
  if (settings.corpus === null || !needsContents(settings.measures)) return settings;
  const paths = new Set<string>();
  for (const { item, answers } of asked)
    for (const answer of answers.length === 0 ? [null] : answers)
      for (const path of filesNeeded(item, answer, settings)) paths.add(path);
  const contents = new Map<string, FileContent>();
  for (const path of paths) {
    const text = await read(path);
    if (text === null) return settings;
    contents.set(path, { tokens: tokensOfLines(text), definitions: await definitionsOf(path, text) });
  }
  return { ...settings, contents };
}

/** Reads files below a folder. */
export function folderReader(folder: string): (path: string) => Promise<string | null> {
  return (path) =>
    readFile(join(folder, ...path.split("/"))).then(
      (bytes) => new TextDecoder().decode(bytes),
      () => null,
    );
}
