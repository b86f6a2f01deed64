/** Contents of the files of `--corpus`, for measures that look into them; only of files that answers or targets name. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Answer } from "../answers/schema.js";
import { definitionsOf } from "../corpus/grammars.js";
import type { Dataset } from "../dataset/schema.js";
import { type Contents, type FileContent, tokensOfLines } from "../scoring/contents.js";
import { answersByCase } from "../scoring/score-answers.js";
import { filesNeeded, needsContents, type ScoreSettings } from "../scoring/score-case.js";

/** Nothing where no measure needs it. A file that can't be read is as if it were empty of definitions and lines: it is not there. */
export async function folderContents(
  folder: string,
  dataset: Dataset,
  answers: readonly Answer[],
  settings: ScoreSettings,
): Promise<{ contents?: Contents }> {
  if (!needsContents(settings.measures)) return {};
  const paths = new Set<string>();
  for (const { item, answers: given } of answersByCase(dataset.cases, answers).asked)
    for (const answer of given.length === 0 ? [null] : given)
      for (const path of filesNeeded(item, answer, settings)) paths.add(path);
  const contents = new Map<string, FileContent>();
  for (const path of paths) {
    const bytes = await readFile(join(folder, ...path.split("/"))).catch(() => null);
    if (bytes === null) continue;
    const text = new TextDecoder().decode(bytes);
    contents.set(path, { tokens: tokensOfLines(text), definitions: await definitionsOf(path, text) });
  }
  return { contents };
}
