/** One folder for everything that tests put among temporary files, gone when they have ended: a person's machine is left as it was. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "bench-tests-"));
  process.env.TMPDIR = folder;
  // Some tests take the right to read away from files of theirs; whoever may remove the folder above them may remove them all the same.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
