/** Where a program is that would be started by this name. */
import { access, constants, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import type { Env } from "./tool-process.js";

/** Absolute path, or null. A name with a slash is a path (relative to `folder`), any other is looked up on the PATH. */
export async function findProgram(name: string, env: Env, folder: string): Promise<string | null> {
  const candidates = /[/\\]/.test(name)
    ? [resolve(folder, name)]
    : (env.PATH ?? "")
        .split(delimiter)
        .filter((part) => part !== "")
        .map((part) => join(part, name));
  for (const candidate of candidates) {
    const runs = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs && (await stat(candidate).catch(() => undefined))?.isFile() === true) return candidate;
  }
  return null;
}
