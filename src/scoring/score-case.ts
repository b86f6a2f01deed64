/**
 * One answer against one case: text -> reading -> predictions -> figures. Pure, so that the same answer, truth and rules give
 * the same bytes for ever, whether the `score` stage or `bench score` asks.
 *
 * What has no predictions scores zero whatever the reason (an abstention, a refusal, a time-out, no answer at all); the
 * outcome says which it was, and the summary decides what each view counts.
 */
import { parseAnswer } from "../answers/parse.js";
import { type Answer, type Entry, FINAL_STATUSES, type Reading } from "../answers/schema.js";
import type { Prediction, RuleSet } from "../matching/contract.js";
import { matchEntries } from "../matching/match.js";
import type { Measure } from "../measures/contract.js";
import type { JudgeOptions } from "../measures/judgement.js";
import type { ScoredCase, ScoredPrediction, ViewScores } from "./contract.js";
import { derivedStrata } from "./derived-strata.js";
import { expectationOf } from "./expectation.js";
import { type Judgements, withJudged } from "./judgements.js";
import { judgeLines } from "./line-level.js";
import { seedFigures } from "./seed-case.js";
import { type CorpusFiles, impactedFiles, type ScoreableCase, truthOf } from "./truth.js";
import { meanScores, scoreList } from "./view-scores.js";

export interface ScoreSettings {
  readonly rules: RuleSet;
  readonly measures: readonly Measure[];
  /** Files of the tree that this case asks about; null = no corpus: only the path rung works, against the targets. */
  readonly corpus: CorpusFiles | null;
  /** Label of the backend, for cases without an answer. */
  readonly backend: string;
  /** What people judged beside the truth. The `seed` rules know of no such thing. */
  readonly judgements?: Judgements;
  /** Strata to derive from the case (`derived-strata.ts`). */
  readonly strata?: readonly string[];
}

/** The part of a scored case that the rules decide. */
export type Figures = ViewScores &
  Pick<
    ScoredCase,
    "targets" | "grades" | "absent_targets" | "scored" | "excluded" | "predictions" | "draws" | "all_targets" | "in_repo_only"
  > &
  Pick<ScoredCase, "expectation" | "outcome" | "why">;

/** `answer` null = the case has none (`unasked`). */
export function scoreCase(asked: ScoreableCase, answer: Answer | null, settings: ScoreSettings): ScoredCase {
  const figures =
    settings.rules.engine === "seed"
      ? seedFigures(impactedFiles(asked), answer, settings)
      : ladderFigures(asked, answer, settings);
  return {
    id: asked.id,
    repeat: answer?.repeat ?? 0,
    backend: answer?.backend ?? settings.backend,
    number: asked.number,
    title: asked.title,
    url: asked.url,
    ...independenceOf(asked),
    strata: { ...strataOf(asked), ...derivedStrata(settings.strata ?? [], asked, figures.targets) },
    best_grade: asked.best_grade,
    status: answer?.status ?? "unasked",
    error: answer?.error ?? null,
    finish_reason: answer?.finish_reason ?? null,
    ...figures,
    prompt: answer?.prompt ?? null,
    raw_response: answer?.response ?? "",
    seconds: answer?.seconds ?? null,
    usage: answer?.usage == null ? null : known(answer.usage),
    details: answer?.details ?? {},
  };
}

/** What ties cases together: issues of one repository, issues that one pull request closes. */
function independenceOf({ repository, links }: ScoreableCase): Pick<ScoredCase, "repository" | "changes"> {
  const changes = [...new Set(links.map((link) => `${link.repository}#${link.number}`))].sort();
  return { repository: repository ?? null, changes };
}

function known(usage: NonNullable<Answer["usage"]>): Record<string, number | null> {
  return Object.fromEntries(Object.entries(usage).map(([name, value]) => [name, value ?? null]));
}

/** `links` is ours; a stratum of that name in the data set gives way to it where the grade is known. */
function strataOf({ strata, best_grade }: ScoreableCase): Record<string, string> {
  return Object.fromEntries([...Object.entries(strata), ...(best_grade === null ? [] : [["links", best_grade] as const])]);
}

/**
 * The reading of a stored answer; null where there is nothing to read. What a process had printed when it timed out or failed
 * is no answer: it is kept for people, never read.
 */
function readingOf(answer: Answer | null): Reading | null {
  if (answer === null || !FINAL_STATUSES.has(answer.status)) return null;
  const known = readings.get(answer);
  if (known !== undefined) return known;
  const reading = readAnswer(answer);
  readings.set(answer, reading);
  return reading;
}

function readAnswer(answer: Answer): Reading {
  const reading = parseAnswer(answer.response, { truncated: answer.status === "truncated", prompt: answer.prompt });
  // Where the provider says itself that the model declined, an empty or odd text is no puzzle.
  const declined = answer.finish_reason === "content_filter" || answer.details.refused === true;
  if (!declined || (reading.kind !== "unparsable" && reading.kind !== "abstained")) return reading;
  return { kind: "refused", why: "the provider says that the model declined, or that a filter held the answer back" };
}

/** The same answer is scored by several rule sets, and they all read it alike. */
const readings = new WeakMap<Answer, Reading>();

function ladderFigures(asked: ScoreableCase, answer: Answer | null, settings: ScoreSettings): Figures {
  const { corpus, measures, rules } = settings;
  const judged = settings.judgements?.get(asked.id);
  const truth = truthOf(withJudged(asked.targets, judged), corpus, rules);
  const judging: JudgeOptions = settings.judgements === undefined ? {} : { judgements: judged ?? new Map() };
  const reading = readingOf(answer);
  const lists = listsOf(reading);
  const index = corpus?.index ?? null;
  const present = truth.present.map(({ path }) => path);
  const matches = lists.map((entries) => matchEntries(entries, truth.present, index, rules));
  const headline = meanScores(
    matches.map((match, list) =>
      scoreList(match, truth.present, measures, judging, ({ level, iou }) =>
        // What a class or a function is, no data set of ours says yet.
        level === "lines" ? judgeLines(lists[list] ?? [], asked.targets, truth.present, index, rules, iou) : null,
      ),
    ),
  );
  // An absent target is in no file list, but an answer that spells out its path names it all the same.
  const everything = [...truth.present, ...truth.absent];
  const allTargets =
    truth.absent.length === 0
      ? headline
      : meanScores(
          lists.map((entries) => scoreList(matchEntries(entries, everything, index, rules), everything, measures, judging)),
        );
  const absent = truth.absent.map(({ path }) => path);
  const outcome = outcomeOf(reading, answer);
  return {
    ...headline,
    ...outcome,
    targets: present,
    ...(truth.present.some(({ grade }) => grade !== 1) ? { grades: truth.present.map(({ grade }) => grade) } : {}),
    absent_targets: absent,
    scored: present.length > 0,
    excluded: rules.leaveOut.includes(outcome.outcome) ? `the rules leave out what is ${outcome.outcome}` : null,
    predictions: reading?.kind === "answered" ? (matches[0]?.predictions ?? []).map(shown) : [],
    draws: reading?.kind === "drawn" ? { count: reading.draws.length, pool: reading.pool, sizes: [...reading.sizes] } : null,
    all_targets: allTargets,
    in_repo_only: corpus === null ? null : { ...headline, retained: present, discarded: absent },
    expectation: reading?.kind === "drawn" ? expectationOf(reading, present.length, corpus?.size ?? null, measures) : null,
  };
}

function listsOf(reading: Reading | null): readonly (readonly Entry[])[] {
  if (reading?.kind === "answered") return [reading.entries];
  // A baseline without a single draw predicted nothing.
  if (reading?.kind === "drawn" && reading.draws.length > 0) return reading.draws;
  return [[]];
}

function outcomeOf(reading: Reading | null, answer: Answer | null): Pick<ScoredCase, "outcome" | "why"> {
  if (reading === null) return { outcome: answer?.status ?? "unasked", why: null };
  if (reading.kind === "answered") return { outcome: "answered", why: null };
  if (reading.kind !== "drawn") return { outcome: reading.kind, why: reading.why };
  // Size-matched to a case without a target in the pool, a draw has nothing to draw.
  if (reading.draws.some((draw) => draw.length > 0)) return { outcome: "answered", why: null };
  return { outcome: "abstained", why: "every draw is empty" };
}

function shown({ raw, path, readBy, rung, target, ambiguous }: Prediction): ScoredPrediction {
  return { id: null, raw, path, read_by: readBy, rung, target, ambiguous };
}
