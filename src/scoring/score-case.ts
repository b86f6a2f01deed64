/**
 * One answer against one case: text -> reading -> predictions -> figures. Pure, so that the same answer, truth and rules give
 * the same bytes for ever, whether the `score` stage or `bench score` asks.
 *
 * What has no predictions scores zero whatever the reason (an abstention, a refusal, a time-out, no answer at all); the
 * outcome says which it was, and the summary decides what each view counts.
 */
import { parseAnswer } from "../answers/parse.js";
import { type Answer, type Entry, FINAL_STATUSES, type Reading } from "../answers/schema.js";
import { knownLeakage } from "../dataset/leakage.js";
import type { Prediction, RuleSet } from "../matching/contract.js";
import { matchEntries } from "../matching/match.js";
import type { Measure } from "../measures/contract.js";
import type { JudgeOptions } from "../measures/judgement.js";
import { judgeBudget } from "./budget.js";
import type { Contents } from "./contents.js";
import type { ScoredCase, ScoredPrediction, ViewScores } from "./contract.js";
import { derivedStrata } from "./derived-strata.js";
import { expectationOf } from "./expectation.js";
import { type Judgements, withJudged } from "./judgements.js";
import { judgeLines } from "./line-level.js";
import { judgeNames } from "./name-level.js";
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
  /** Of the files that `filesNeeded` names, for measures of classes, functions and budgets; absent = no file can be read. */
  readonly contents?: Contents;
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

/**
 * `links` and `leak` are ours; strata of these names in the data set give way to them where grade and text are known. A case whose text is
 * not at hand (read back from a report) keeps what was found when it was.
 */
export function strataOf(asked: ScoreableCase): Record<string, string> {
  const { strata, best_grade, title, body, targets } = asked;
  const isStored = body === undefined || (body === null && strata.leak !== undefined);
  const leak = isStored ? undefined : knownLeakage(asked, { title, body, targets })?.class;
  return Object.fromEntries([
    ...Object.entries(strata),
    ...(best_grade === null ? [] : [["links", best_grade] as const]),
    ...(leak === undefined ? [] : [["leak", leak] as const]),
  ]);
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
      scoreList(match, truth.present, measures, judging, ({ level, iou, budget }) => {
        const entries = lists[list] ?? [];
        const { contents } = settings;
        if (budget !== undefined) return judgeBudget(budget, entries, asked.targets, truth.present, index, rules, contents);
        if (level === "lines") return judgeLines(entries, asked.targets, truth.present, index, rules, iou);
        // A tree whose files can't be read says nothing of what predictions lie in; figures that depend on that are none.
        if (level === undefined || (corpus !== null && contents === undefined)) return null;
        return judgeNames(level, entries, asked.targets, truth.present, index, rules, contents);
      }),
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

/** Does some measure look into files? */
export function needsContents(measures: readonly Measure[]): boolean {
  return measures.some(({ level, budget }) => budget !== undefined || level === "class" || level === "function");
}

/** A sentence where measures look into files and nobody can, so that nobody wonders why they are undefined. */
export function unreadNote({ measures, rules, corpus, contents }: Omit<ScoreSettings, "backend">): string[] {
  const looking = measures.filter(
    (measure) => needsContents([measure]) && (corpus !== null || measure.budget !== undefined) && rules.engine !== "seed",
  );
  if (looking.length === 0 || contents !== undefined) return [];
  const names = looking.map(({ name }) => name).join(", ");
  return [
    `${names}: undefined, since the files of the source tree are not at hand here. The \`score\` stage reads them, and so does \`bench score ANSWERS --dataset DATASET --corpus DIR\``,
  ];
}

/** Paths of the files that an answer's predictions resolve to and of the targets: what `ScoreSettings.contents` must have. */
export function filesNeeded(
  asked: ScoreableCase,
  answer: Answer | null,
  { corpus, rules, measures }: Pick<ScoreSettings, "corpus" | "rules" | "measures">,
): string[] {
  if (rules.engine === "seed" || corpus === null || !needsContents(measures)) return [];
  const truth = truthOf(asked.targets, corpus, rules);
  const predicted = listsOf(readingOf(answer)).flatMap((entries) =>
    matchEntries(entries, truth.present, corpus.index, rules).predictions.flatMap(({ path }) => path ?? []),
  );
  return [...new Set([...truth.present.map(({ path }) => path), ...predicted])];
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
