/** What several commands read from their options: files as text, names of measures. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Measure } from "../measures/contract.js";
import { parseMeasures } from "../measures/registry.js";
import { type OptionValue, UsageError } from "./contract.js";
import { text } from "./options.js";

/** Content of a file that the person named. */
export async function inputText(file: string, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : (code ?? String(error));
    throw new UsageError(`${file} can't be read: ${why}`);
  }
}

/** `--measures`, or the fallback. Every wrong name is told at once. */
export function chosenMeasures(options: Readonly<Record<string, OptionValue>>, fallback: readonly string[]): readonly Measure[] {
  const given = text(options, "measures");
  const parsed = parseMeasures(given ?? fallback);
  if (!parsed.ok) {
    const mistakes = parsed.error.map(({ message, suggestion }) =>
      suggestion === undefined ? message : `${message}; ${suggestion}`,
    );
    throw new UsageError(mistakes.map((mistake) => `--measures: ${mistake}`).join("\n"));
  }
  if (parsed.value.length === 0) throw new UsageError("--measures names no measure");
  return parsed.value;
}
