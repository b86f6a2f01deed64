/**
 * A cell of a run as it is stored: answers, cases, file lists and the scores that were made of them, whatever they were read from. What
 * `rescore`, `score RUN` and `export` work on; scoring it needs no backend, no network and no clock.
 */
import { type Answer, answerSchema } from "../answers/schema.js";
import { type Case, caseSchema, type DatasetHeader } from "../dataset/schema.js";
import type { RuleSet } from "../matching/contract.js";
import type { Measure } from "../measures/contract.js";
import type { ScoredCase, ScoreMeta } from "../scoring/contract.js";
import type { BootstrapSettings } from "../scoring/intervals.js";
import { countJudged, type Judgements } from "../scoring/judgements.js";
import type { Scored } from "../scoring/rule-difference.js";
import { answersByCase, rulesFacts } from "../scoring/score-answers.js";
import { type ScoreSettings, scoreCase, unreadNote } from "../scoring/score-case.js";
import type { CorpusFiles } from "../scoring/truth.js";
import { inOrder } from "../scoring/views.js";
import { withContents } from "./corpus-contents.js";

/** Which tree a case asks about; trees are loaded one after the other, since a run may ask about hundreds. */
export interface CellTrees {
  /** null = none. */
  readonly keyOf: (asked: Case) => string | null;
  readonly load: (key: string) => Promise<CorpusFiles>;
  /** The text of a file of a tree, null where it is not at hand; absent = of none. */
  readonly reader?: (key: string) => Promise<(path: string) => Promise<string | null>>;
}

/** The scores that a run made. They are large and seldom looked into: their digests say whether they are what they would be today. */
export interface StoredScores {
  readonly meta: ScoreMeta;
  /** By item (`<case id>`, `<case id>~<repeat>`); null where there are only the scores themselves. */
  readonly digests: ReadonlyMap<string, string> | null;
  readonly load: () => Promise<Scored>;
}

export interface StoredCell {
  /** As in the run's reports. */
  readonly label: string;
  readonly answers: readonly Answer[];
  /** The cases that the run was about, in data-set order. */
  readonly cases: readonly Case[];
  readonly header: DatasetHeader;
  /** What is true of the scores whatever the rules. */
  readonly facts: Omit<ScoreMeta, "rules" | "measures" | "unasked">;
  readonly trees: CellTrees;
  /**
   * `known`: names can be resolved. `none`: the run had no corpus. `lost`: it had one, and only which targets were in it is known, so that
   * no rung but `path` works.
   */
  readonly fileList: "known" | "none" | "lost";
  /** The scores that the run made; null where it made none. */
  readonly before: StoredScores | null;
  /** How the run made its intervals. */
  readonly bootstrap: BootstrapSettings;
}

/** What a reader must know where a list of files is gone. */
export function listLost(cells: readonly StoredCell[]): string[] {
  if (cells.every(({ fileList }) => fileList !== "lost")) return [];
  return [
    "A report does not have the list of the tree's files: only exact paths were looked up. Give the tree with --corpus DIR, or the run's cache with --cache.",
  ];
}

export const NO_TREES: CellTrees = {
  keyOf: () => null,
  load: async (key) => {
    throw new Error(`there is no tree ${key}`);
  },
};

/** Every answer scored by these rules, the cases without an answer among them. */
export async function scoreCell(
  cell: StoredCell,
  rules: RuleSet,
  measures: readonly Measure[],
  judgements?: Judgements,
  /** Derived strata; default: those of the scores before. */
  strata: readonly string[] = cell.before?.meta.strata ?? [],
): Promise<Scored> {
  const { asked } = answersByCase(cell.cases, cell.answers);
  const groups = new Map<string | null, (typeof asked)[number][]>();
  for (const one of asked) {
    const key = cell.trees.keyOf(one.item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  const items: ScoredCase[] = [];
  const unasked = new Map<string, ScoredCase>();
  const unread = new Set<string>();
  for (const [key, group] of groups) {
    const corpus = key === null ? null : await cell.trees.load(key);
    const plain = { rules, measures, corpus, backend: cell.facts.backend, strata, ...(judgements && { judgements }) };
    const read = key === null ? undefined : await cell.trees.reader?.(key);
    const settings: ScoreSettings = read === undefined ? plain : await withContents(plain, group, read);
    for (const note of unreadNote(settings)) unread.add(note);
    for (const { item, answers } of group) {
      if (answers.length === 0) unasked.set(item.id, scoreCase(item, null, settings));
      for (const answer of answers) items.push(scoreCase(item, answer, settings));
    }
  }
  const meta: ScoreMeta = {
    ...cell.facts,
    warnings: [...new Set([...cell.facts.warnings, ...unread])],
    rules: rulesFacts(rules),
    measures: measures.map(({ name }) => name),
    ...(judgements && { judgements: countJudged(judgements) }),
    ...(strata.length > 0 && { strata: [...strata] }),
    unasked: cell.cases.flatMap(({ id }) => unasked.get(id) ?? []),
  };
  return { meta, cases: inOrder(items, meta) };
}

/** Stored answers as such; what is none is dropped and counted. */
export function answersOf(values: readonly unknown[]): { answers: Answer[]; unreadable: number } {
  const answers = values.flatMap((value) => {
    const read = answerSchema.safeParse(value);
    return read.success ? [read.data] : [];
  });
  return { answers, unreadable: values.length - answers.length };
}

export function casesOf(values: readonly unknown[]): Case[] {
  return values.map((value) => caseSchema.parse(value));
}
