/** Making folders. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * `mkdir` with its parents. Not Node's `recursive: true`: that one tries for ever where the parent exists and the system says "no such
 * file" all the same (`/proc/x`). Rejects with the system's error.
 */
export async function makeFolder(path: string): Promise<void> {
  if ((await stat(path).catch(() => null))?.isDirectory()) return;
  try {
    await mkdir(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST" && (await stat(path).catch(() => null))?.isDirectory()) return;
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path || (await stat(parent).catch(() => null)) !== null) throw error;
    await makeFolder(parent);
    await mkdir(path).catch(async (again: unknown) => {
      if (!(await stat(path).catch(() => null))?.isDirectory()) throw again;
    });
  }
}
