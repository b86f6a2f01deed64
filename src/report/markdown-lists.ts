/**
 * The lists of a Markdown report: targets that the corpus lacks, cases that failed, records that were left out. They are cut
 * where they grow long (the JSON beside the report has every case), and the cut is always said.
 */
import type { ScoredCase, ScoreMeta } from "../scoring/contract.js";
import { isFailed } from "../scoring/views.js";
import { markdownText } from "./escape.js";
import type { Cell } from "./json.js";
import { grouped, plural } from "./numbers.js";

const MOST_CASES = 50;
const MOST_PATHS = 8;

function caseName({ id, title, url }: ScoredCase): string {
  const safe = url !== null && /^https?:\/\/[\w.-]+(?::\d+)?\/[\w./#?=&%~+-]*$/.test(url);
  const name = safe ? `[${markdownText(id)}](${url.replaceAll("&", "&amp;")})` : markdownText(id);
  return title === "" ? name : `${name} ${markdownText(title, 90)}`;
}

function cut(lines: readonly string[]): string {
  const more = lines.length - MOST_CASES;
  const shown = lines.slice(0, MOST_CASES).map((line) => `- ${line}`);
  return [...shown, ...(more > 0 ? [`- and ${more} more, all of them in the JSON report`] : [])].join("\n");
}

function paths(all: readonly string[]): string {
  const shown = all.slice(0, MOST_PATHS).map((path) => markdownText(path, 200));
  return all.length > MOST_PATHS ? `${shown.join(", ")} and ${all.length - MOST_PATHS} more` : shown.join(", ");
}

/** One entry per case, told once for all cells with the same data set and corpus. */
export function absentTargets(cells: readonly Cell[]): string {
  const seen = new Set<string>();
  const blocks = cells.flatMap(({ meta, cases }) => {
    const key = JSON.stringify([meta.dataset.digest, meta.corpus?.digest ?? null, meta.rules.engine]);
    if (meta.corpus === null || seen.has(key)) return [];
    seen.add(key);
    const concerned = firstAnswers(cases).filter((scored) => scored.absent_targets.length > 0);
    if (concerned.length === 0) return [];
    const left = concerned.filter((scored) => !scored.scored).length;
    const source = markdownText(meta.corpus.source, 200);
    const intro = `The corpus ${source} lacks targets of ${plural(concerned.length, "case")}; ${left} of them have no target left and are not scored.`;
    return [`${intro}\n\n${cut(concerned.map((scored) => `${caseName(scored)}: ${paths(scored.absent_targets)}`))}`];
  });
  return blocks.length === 0 ? "" : ["## Targets that the corpus lacks", ...blocks].join("\n\n");
}

function firstAnswers(cases: readonly ScoredCase[]): ScoredCase[] {
  const first = new Map<string, ScoredCase>();
  for (const scored of cases) if (!first.has(scored.id)) first.set(scored.id, scored);
  return [...first.values()];
}

export function failures(cells: readonly Cell[]): string {
  const blocks = cells.flatMap(({ label, cases }) => {
    const failed = cases.filter((scored) => scored.scored && isFailed(scored));
    if (failed.length === 0) return [];
    const lines = failed.map((scored) => {
      const why = scored.error === null ? "" : `: ${markdownText(scored.error, 200)}`;
      const repeat = scored.repeat > 0 ? ` (repeat ${scored.repeat})` : "";
      return `${caseName(scored)}${repeat}, ${scored.status.replaceAll("_", " ")}${why}`;
    });
    return [`### ${markdownText(label)}\n\n${cut(lines)}`];
  });
  return blocks.length === 0 ? "" : ["## Failed or without an answer", ...blocks].join("\n\n");
}

/** What never became a case or an answer, and other things a reader must know. */
export function leftOut(cells: readonly Cell[]): string {
  const perCell = cells.flatMap(({ label, meta }) => {
    const texts = [...meta.left_out.map(leftOutText), ...meta.warnings.map((warning) => markdownText(warning, 400))];
    return texts.map((text) => [markdownText(label), text] as const);
  });
  // Cells of one run mostly share data set and tree, and so what is to be said of them.
  const lines = new Set(grouped(perCell).map(({ names, text }) => `${names}: ${text}`));
  for (const { meta } of cells) {
    const { scanned, audit, notes } = meta.dataset;
    if (scanned !== null)
      lines.add(`Data set: ${plural(scanned, "issue")} looked at, ${plural(meta.dataset.cases, "case")} kept`);
    for (const { rule, removed, what } of audit) {
      lines.add(`Data set, rule ${markdownText(rule)}: ${removed} removed (${markdownText(what, 200)})`);
    }
    for (const note of notes) lines.add(`Data set: ${markdownText(note, 400)}`);
  }
  return lines.size === 0 ? "" : `## Left out, and notes\n\n${[...lines].map((line) => `- ${line}`).join("\n")}`;
}

function leftOutText({ what, count, examples }: ScoreMeta["left_out"][number]): string {
  const some = examples.length === 0 ? "" : `: ${examples.map((example) => markdownText(example, 160)).join("; ")}`;
  const more = count > examples.length && examples.length > 0 ? `; and ${count - examples.length} more` : "";
  return `${count} ${markdownText(count === 1 ? singular(what) : what, 400)}${some}${more}`;
}

/** What is left out is kept under one name whatever its number, so that files of several runs can be joined by it. */
function singular(what: string): string {
  return what
    .replace(/^answers to cases that/, "answer to a case that")
    .replace(/^records (of the data set )?that are no (answer|case)s/, "record $1that is no $2");
}
