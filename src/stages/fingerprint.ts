/**
 * What a backend or an index tool says of the content that its options only name (a version, a script), for keys.
 *
 * A tool that is not there is its questions' failure and not the pipeline's mistake, so that other cells go on. A message stands in place of what the
 * tool would have said; nothing is ever stored under such a key, since failures are not.
 */
import { MissingTool, UnusableConfiguration } from "../backends/contract.js";
import type { Json } from "../base/json.js";
import { StageProblem } from "../engine/contract.js";

/** undefined: there is no such content. Throws `StageProblem` for mistakes of the configuration. */
export async function contentOf(said: () => Promise<Json> | undefined): Promise<Json | undefined> {
  try {
    return await said();
  } catch (error) {
    if (error instanceof MissingTool) return { missing: error.message };
    throw error instanceof UnusableConfiguration ? new StageProblem(error.message) : error;
  }
}

/** Why the tool can't be used, or null. */
export function missingIn(content: Json | undefined): string | null {
  const missing = typeof content === "object" && content !== null && "missing" in content ? content.missing : undefined;
  return typeof missing === "string" ? missing : null;
}
