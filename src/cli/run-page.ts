/** The course of a run, for its page: read from the run's folder, and put into the page that its report stage wrote before the run had ended. */
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { writeAtomically } from "../engine/record.js";
import { withRun } from "../report/html/document.js";
import type { RunFacts } from "../report/html/page-data.js";
import { runFacts } from "../report/html/run-facts.js";

/** Null where the folder holds no readable record. */
export async function courseOf(folder: string): Promise<RunFacts | null> {
  try {
    const record: unknown = JSON.parse(await readFile(join(folder, "run.json"), "utf8"));
    return runFacts(record, await readFile(join(folder, "journal.jsonl"), "utf8").catch(() => ""));
  } catch {
    return null;
  }
}

export async function completePages(files: readonly string[], folder: string): Promise<void> {
  const pages = files.filter((file) => basename(file) === "report.html");
  if (pages.length === 0) return;
  const run = await courseOf(folder);
  if (run === null) return;
  for (const page of pages) await writeAtomically(page, withRun(await readFile(page, "utf8"), run));
}
