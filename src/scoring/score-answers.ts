/** All answers of one backend against all cases: what `bench score` and `bench rescore` do without a pipeline. */
import type { Answer } from "../answers/schema.js";
import { digestJson } from "../base/json.js";
import { datasetDigest } from "../dataset/build.js";
import type { LintReport } from "../dataset/lint/contract.js";
import { effectText } from "../dataset/lint/effect.js";
import { knownLint } from "../dataset/lint/lint.js";
import type { Case, Dataset } from "../dataset/schema.js";
import type { RuleSet } from "../matching/contract.js";
import { rulesDigestParts } from "../matching/rules.js";
import type { DatasetFinding, LeftOut, ScoredCase, ScoreMeta } from "./contract.js";
import { countJudged } from "./judgements.js";
import { type ScoreSettings, scoreCase, unreadNote } from "./score-case.js";
import { inOrder } from "./views.js";

export interface ScoreRequest {
  readonly dataset: Dataset;
  /** Of one backend; several of one case are its repeats. */
  readonly answers: readonly Answer[];
  readonly settings: ScoreSettings;
  readonly corpus: ScoreMeta["corpus"];
  /** Leave cases without an answer out of the headline. */
  readonly onlyAnswered: boolean;
  /** What the readers of the files could not use. */
  readonly leftOut: readonly LeftOut[];
  readonly warnings: readonly string[];
}

const EXAMPLES = 10;

/** Cases come back in data-set order, those without an answer among them; answers to unknown cases are counted and named. */
export function scoreAnswers(request: ScoreRequest): { readonly meta: ScoreMeta; readonly cases: readonly ScoredCase[] } {
  const { dataset, settings } = request;
  const { asked, unknown } = answersByCase(dataset.cases, request.answers);
  const items = asked.flatMap(({ item, answers }) => answers.map((answer) => scoreCase(item, answer, settings)));
  const unasked = asked.filter(({ answers }) => answers.length === 0).map(({ item }) => scoreCase(item, null, settings));
  const meta: ScoreMeta = {
    backend: settings.backend,
    kind: null,
    identity: null,
    rules: rulesFacts(settings.rules),
    measures: settings.measures.map(({ name }) => name),
    dataset: datasetFacts(dataset),
    corpus: request.corpus,
    order: dataset.cases.map(({ id }) => id),
    unasked,
    only_answered: request.onlyAnswered,
    ...(settings.judgements === undefined ? {} : { judgements: countJudged(settings.judgements) }),
    ...(settings.strata === undefined ? {} : { strata: [...settings.strata] }),
    left_out: [...request.leftOut, ...leftOut("answers to cases that the data set does not have", unknown)],
    warnings: [...request.warnings, ...unreadNote(settings)],
  };
  return { meta, cases: inOrder(items, meta) };
}

/** Every case with its answers (none, or several repeats), and the ids of answers that no case is for. */
export function answersByCase(
  cases: readonly Case[],
  answers: readonly Answer[],
): {
  readonly asked: readonly { readonly item: Case; readonly answers: readonly Answer[] }[];
  readonly unknown: readonly string[];
} {
  const byId = new Map<string, Answer[]>(cases.map(({ id }) => [id, []]));
  const unknown = new Set<string>();
  for (const answer of answers) {
    const list = byId.get(answer.id);
    if (list === undefined) unknown.add(answer.id);
    else list.push(answer);
  }
  return { asked: cases.map((item) => ({ item, answers: byId.get(item.id) ?? [] })), unknown: [...unknown] };
}

/** What scores say of a data set that was read from a file. */
export function datasetFacts(dataset: Dataset, { lint = true } = {}): ScoreMeta["dataset"] {
  const { header, cases } = dataset;
  const digest = datasetDigest(dataset);
  return {
    digest,
    project_name: header.project_name,
    url: header.url,
    cases: cases.length,
    selected: cases.length,
    notes: header.notes,
    links: header.links,
    extensions: header.extensions,
    scanned: header.scanned,
    audit: header.audit.map(({ rule, removed, what }) => ({ rule, removed, what })),
    ...(lint ? { findings: findingsOf(knownLint({ cases }, digest)) } : {}),
  };
}

/** What the lint says of cases, as reports show it. */
export function findingsOf({ size, findings }: LintReport): DatasetFinding[] {
  return findings.map(({ name, severity, count, of, unit, what, cases: concerned, without }) => ({
    ...{ name, severity, count, of, unit, what },
    effect: without === null ? null : effectText(size, without),
    cases: [...concerned],
  }));
}

/** What scores say of the rules that made them. */
export function rulesFacts(rules: RuleSet): ScoreMeta["rules"] {
  const definition = rulesDigestParts(rules);
  return { name: rules.name, digest: digestJson(definition), engine: rules.engine, definition };
}

/** Nothing where nothing was left out; else one entry with the first few named. */
export function leftOut(what: string, all: readonly string[]): LeftOut[] {
  return all.length === 0 ? [] : [{ what, count: all.length, examples: all.slice(0, EXAMPLES) }];
}
