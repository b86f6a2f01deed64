/** Report files of runs made by hand, as a run's folder holds them. */
import { reportJson } from "../../src/report/json.js";
import type { ScoredCase, ScoreMeta } from "../../src/scoring/contract.js";
import { DEFAULT_BOOTSTRAP, intervalRows } from "../../src/scoring/intervals.js";
import { summarise } from "../../src/scoring/summary.js";
import { viewsOf } from "../../src/scoring/views.js";
import { measuresOf } from "../../src/stages/measures.js";
import { scoredCase, scoreMeta, viewScores } from "./scored-cases.js";

/** Text of a cell's report. */
export function reportText(label: string, cases: readonly ScoredCase[], changes: Partial<ScoreMeta> = {}): string {
  const meta = scoreMeta(cases, { backend: label, measures: ["P", "R", "F1", "Hit@1"], ...changes });
  const measures = measuresOf(meta.measures);
  const settings = { ...DEFAULT_BOOTSTRAP, samples: 100 };
  const rows = intervalRows(viewsOf(cases, meta), measures, settings, meta.rules.engine);
  const summary = summarise(cases, meta, measures, { settings, rows });
  const report = reportJson({ label, meta, cases, summary }, { generatedAt: "2026-01-02T03:04:05.000Z", datasetFile: null });
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** One case per character: `1` names the target first, `0` names another file. */
export function hitCases(hits: string, changes: (index: number) => Partial<ScoredCase> = () => ({})): ScoredCase[] {
  return [...hits].map((hit, i) => {
    const target = `src/T${i}.java`;
    const right = hit === "1";
    return scoredCase(`acme/tool#${i}`, right ? viewScores(1, 0, 0, { "Hit@1": 1 }) : viewScores(0, 1, 1, { "Hit@1": 0 }), {
      number: i,
      repository: "acme/tool",
      changes: [],
      targets: [target],
      predictions: [
        {
          id: null,
          raw: "x",
          path: right ? target : "src/X.java",
          read_by: "json",
          rung: "path",
          target: right ? target : null,
          ambiguous: false,
        },
      ],
      ...changes(i),
    });
  });
}
