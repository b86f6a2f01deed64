/**
 * Measures within a budget of reading: `R@lines=200`, `P@tokens=4000`. A tool that hands back whole files and one that hands back the ten lines
 * that matter both have one hit at rank 1; what differs is how much their reader (a person, or a model that pays per token) must take in.
 */
import type { CaseJudgement, Measure } from "./contract.js";

export type BudgetUnit = NonNullable<Measure["budget"]>;

const TOKENS =
  "A token is a run of letters, digits and underscores, or any other single character that is no white space; a language model's own tokens differ by its vocabulary.";

const ORDER =
  "What is handed back is, in the order of the answer, the lines that each prediction names in the file that it resolves to, or all lines of the file where it names none. Each line counts once, the first time.";

function unitText(unit: BudgetUnit): string {
  return unit === "tokens" ? ` ${TOKENS}` : "";
}

const EDGES =
  "A file that is not in the source tree costs nothing and finds nothing. A case whose data set does not say the lines of every target, or without a source tree whose files can be read, is undefined and left out. Never falls as the budget grows.";

export function recallWithin(unit: BudgetUnit, budget: number): Measure {
  return {
    name: `R@${unit}=${budget}`,
    definition: `${unit === "lines" ? "Lines" : "Tokens"} of the truth among the first ${budget} ${unit} that are handed back / all ${unit} of the truth. ${ORDER}${unitText(unit)}`,
    edgeCases: `Nothing handed back: 0. ${EDGES}`,
    citation:
      "Recall at a cut-off counted in text instead of documents, as passage retrieval does: Allan, HARD Track Overview, TREC 2004",
    binary: false,
    level: "lines",
    budget: unit,
    ofCase: ({ handed }) => (handed === undefined || handed.truth === 0 ? null : taken(handed.runs, budget).truth / handed.truth),
  };
}

export function precisionWithin(unit: BudgetUnit, budget: number): Measure {
  return {
    name: `P@${unit}=${budget}`,
    definition: `${unit === "lines" ? "Lines" : "Tokens"} of the truth among the first ${budget} ${unit} that are handed back / the ${unit} handed back, at most ${budget}. ${ORDER}${unitText(unit)}`,
    edgeCases: `Nothing handed back: counted as 0. Divides by what is there, not by ${budget}: who hands back little and right is precise. ${EDGES.replace(" Never falls as the budget grows.", "")}`,
    citation:
      "Precision at a cut-off counted in text instead of documents, as passage retrieval does: Allan, HARD Track Overview, TREC 2004",
    binary: false,
    level: "lines",
    budget: unit,
    ofCase: ({ handed }) => {
      if (handed === undefined || handed.truth === 0) return null;
      const { truth, all } = taken(handed.runs, budget);
      return all === 0 ? 0 : truth / all;
    },
  };
}

/** The first `budget` units; of a run that does not fit, as much as does. */
function taken(runs: NonNullable<CaseJudgement["handed"]>["runs"], budget: number): { truth: number; all: number } {
  let truth = 0;
  let all = 0;
  for (const run of runs) {
    const size = Math.min(run.size, budget - all);
    if (size <= 0) break;
    all += size;
    if (run.truth) truth += size;
  }
  return { truth, all };
}
