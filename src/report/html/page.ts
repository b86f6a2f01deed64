/** A run's cells as a page to look at: one file, offline. */
import type { Comparison } from "../../scoring/compare.js";
import type { Cell, ReportFacts } from "../json.js";
import { pageAssets } from "./assets.js";
import { pageParts } from "./collect.js";
import { comparedCells, WORK_OF_A_COMMAND, WORK_OF_A_STAGE } from "./compared.js";
import { htmlReport } from "./document.js";
import type { RunFacts } from "./page-data.js";

/** Comparisons that were made already, or how much work making them may take. */
export type Compared = { readonly comparisons: readonly Comparison[] } | { readonly work: "stage" | "command" };

/** `course`: of the run, where it is known (`withRun` puts it in later). Equal arguments give equal bytes. */
export function htmlPage(cells: readonly Cell[], facts: ReportFacts, compared: Compared, course: RunFacts | null = null): string {
  const comparisons =
    "comparisons" in compared && compared.comparisons.length > 0
      ? { comparisons: compared.comparisons, note: null }
      : comparedCells(cells, "work" in compared && compared.work === "command" ? WORK_OF_A_COMMAND : WORK_OF_A_STAGE);
  return htmlReport(pageParts(cells, facts, comparisons), pageAssets(), course);
}
