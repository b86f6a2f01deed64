/**
 * One case by the `seed` rules: the original program's truth, matching and counts, with our measures computed on its ranking.
 *
 * Its denominators differ from ours: the truth is every `.java` file that a linked pull request names, whether the corpus has it
 * or not, and what failed or was never asked is left out of all figures instead of counting as zero.
 */
import { parseAnswer } from "../answers/parse.js";
import { type Answer, FINAL_STATUSES, type Reading } from "../answers/schema.js";
import { parseSeedAnswer } from "../answers/seed.js";
import { type SeedCase, type SeedScore, scoreSeed, seedCase } from "../matching/seed.js";
import type { Measure } from "../measures/contract.js";
import type { ScoredCase, ViewScores } from "./contract.js";
import { expectationOf } from "./expectation.js";
import type { Figures, ScoreSettings } from "./score-case.js";
import { meanScores, scoreList } from "./view-scores.js";

export function seedFigures(impacted: readonly string[], answer: Answer | null, settings: ScoreSettings): Figures {
  const { corpus, measures } = settings;
  const final = answer !== null && FINAL_STATUSES.has(answer.status);
  // Our own reading is wanted for a baseline's draws, and to say why nothing was predicted; else it is not made.
  const own = final
    ? once(() => parseAnswer(answer.response, { truncated: answer.status === "truncated", prompt: answer.prompt }))
    : null;
  const mayBeDrawn = own !== null && answer?.response.includes('"draws"') === true ? own() : null;
  const drawn = mayBeDrawn?.kind === "drawn" && mayBeDrawn.draws.length > 0 ? mayBeDrawn : null;
  const universe = corpus?.seedUniverse() ?? null;
  const responses = drawn === null ? [final ? answer.response : ""] : drawn.draws.map(asAnswer);
  // What never came is not read: an empty text stands for it and predicts nothing.
  const read = responses.map((response) => seedCase(response, impacted, universe));
  const [first] = read;
  const main = meanScores(read.map((one) => figuresOf(one, one.expected, measures)));
  return {
    ...main,
    ...outcomeOf(read, own, answer),
    targets: [...(first?.expected ?? [])],
    absent_targets: [...(first?.inRepo?.discarded ?? [])],
    scored: (first?.expected.length ?? 0) > 0,
    excluded: excludedBecause(first, answer, final),
    predictions: drawn === null ? (first?.predictions ?? []).map(shown) : [],
    draws: drawn === null ? null : { count: drawn.draws.length, pool: drawn.pool, sizes: [...drawn.sizes] },
    all_targets: main,
    in_repo_only: inRepoOf(responses, read, main, measures),
    // Targets that the corpus lacks count here and can't be drawn: the closed form knows no such case.
    expectation:
      drawn === null || (first?.inRepo?.discarded.length ?? 0) > 0
        ? null
        : expectationOf(drawn, first?.expected.length ?? 0, corpus?.size ?? null, measures),
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A draw as the original's random baseline would have answered it. */
function asAnswer(draw: Extract<Reading, { kind: "drawn" }>["draws"][number]): string {
  return JSON.stringify({ classes: draw.map(({ raw }) => ({ path: raw })) });
}

/** The original's own ratios replace ours, which may round otherwise in the last digit. */
function figuresOf(score: SeedScore, expected: readonly string[], measures: readonly Measure[]): ViewScores {
  const match = {
    predictions: score.predictions,
    truePositives: score.tp,
    falsePositives: score.fp,
    falseNegatives: score.fn,
    ambiguous: 0,
    duplicates: 0,
  };
  const targets = expected.map((path) => ({ path, grade: 1 }));
  // A further prediction of a file that was hit is neither hit nor miss for the original.
  const scores = scoreList(match, targets, measures, { repeats: "dropped" });
  return { ...scores, precision: score.precision, recall: score.recall, f1: score.f1 };
}

/** Predictions are matched anew here: with fewer targets a name may have become unambiguous. */
function inRepoOf(
  responses: readonly string[],
  read: readonly SeedCase[],
  main: ViewScores,
  measures: readonly Measure[],
): Figures["in_repo_only"] {
  const view = read[0]?.inRepo ?? null;
  if (view === null) return null;
  const { retained, discarded } = view;
  if (discarded.length === 0) return { ...main, retained: [...retained], discarded: [] };
  const scores = responses.map((response) => figuresOf(scoreSeed(parseSeedAnswer(response), retained), retained, measures));
  return { ...meanScores(scores), retained: [...retained], discarded: [...discarded] };
}

function outcomeOf(
  read: readonly SeedCase[],
  own: (() => Reading) | null,
  answer: Answer | null,
): Pick<ScoredCase, "outcome" | "why"> {
  if (own === null) return { outcome: answer?.status ?? "unasked", why: null };
  if (read.some(({ predictions }) => predictions.length > 0)) return { outcome: "answered", why: null };
  const crash = read[0]?.crash ?? null;
  if (crash !== null) return { outcome: "unparsable", why: `the original program fails on this answer: ${crash}` };
  const reading = own();
  if (reading.kind === "drawn") return { outcome: "abstained", why: "every draw is empty" };
  if (reading.kind !== "answered") return { outcome: reading.kind, why: reading.why };
  return { outcome: "unparsable", why: "the original program's parser finds no class in it" };
}

/**
 * Rows with status `error` are left out, `dry_run` rows are averaged in as zeros: answers read from the original's reports carry
 * that word in `details.original_status`.
 */
function excludedBecause(first: SeedCase | undefined, answer: Answer | null, final: boolean): string | null {
  if (answer === null) return "unasked";
  if (first?.crash != null) return "the original program fails on this answer";
  if (final || answer.details.original_status === "dry_run") return null;
  return answer.status;
}

function shown({ id, raw, target, rung }: SeedCase["predictions"][number]): ScoredCase["predictions"][number] {
  return { id, raw, path: target, read_by: "seed", rung, target, ambiguous: false };
}
