/** The summary page of a GitHub Actions step: a file that the runner names, to which Markdown is appended. */
import { appendFile } from "node:fs/promises";
import type { Io } from "./contract.js";

/** What GitHub accepts per step. */
const LIMIT = 1024 * 1024;

/** Does nothing outside of such a step. A summary that can't be written is no failure of the run. */
export async function appendStepSummary({ env, stderr }: Pick<Io, "env" | "stderr">, markdown: string): Promise<void> {
  const file = env.GITHUB_STEP_SUMMARY;
  if (file === undefined || file === "") return;
  const bytes = Buffer.from(markdown);
  // The end of a report is its appendix; cut between lines, so that no table row is left half.
  const fits = bytes.length <= LIMIT - 200;
  const kept = fits
    ? markdown
    : bytes
        .subarray(0, LIMIT - 200)
        .toString("utf8")
        .replace(/\n[^\n]*$/, "");
  try {
    await appendFile(file, `${kept}${fits ? "" : "\n\n(cut: the whole report is among the run's files)"}\n`);
  } catch (error) {
    stderr(`warning: the step summary could not be written: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
