/** What scoring below the file level must know of files: given from outside, since scoring reads nothing itself. */
import type { Definition } from "../base/definitions.js";

export interface FileContent {
  /** Tokens of each line, in order: as many numbers as the file has lines. */
  readonly tokens: readonly number[];
  /** Classes and functions; null = no grammar reads the file. */
  readonly definitions: readonly Definition[] | null;
}

/** By path, in the tree's spelling. */
export type Contents = ReadonlyMap<string, FileContent>;

/** A run of letters, digits and underscores is a token, and so is every other character that is no white space. */
export function tokensOfLines(text: string): number[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (text.endsWith("\n")) lines.pop();
  return lines.map((line) => line.match(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu)?.length ?? 0);
}
