/**
 * Stage `score`: one unit per answer. A unit's key holds the answer, what scoring reads of the case, the file list, the rules and
 * the measures; so new rules score everything anew and ask nothing, and one changed issue text scores that case alone.
 *
 * Cases that have no answer at all can't be units of the answers' stream; they are told apart when the stream has ended and
 * travel in the meta, already scored (as zero).
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import { type Answer, answerSchema } from "../answers/schema.js";
import { digestJson, type Json } from "../base/json.js";
import { part } from "../cache/key.js";
import { type Corpus, type Tree, treeSchema } from "../corpus/contract.js";
import { GRAMMARS_VERSION } from "../corpus/grammars.js";
import { openCorpus, treeRoots } from "../corpus/tree.js";
import { datasetDigest } from "../dataset/build.js";
import { datasetCard } from "../dataset/card.js";
import type { LintReport } from "../dataset/lint/contract.js";
import { hasLint, knownLint } from "../dataset/lint/lint.js";
import { type Case, caseSchema, datasetHeaderSchema, type Target } from "../dataset/schema.js";
import {
  type ItemRef,
  itemStage,
  type StageInputs,
  type StageOutput,
  StageProblem,
  type StageTools,
  type Unit,
} from "../engine/contract.js";
import type { RuleSet } from "../matching/contract.js";
import { rulesDigestParts } from "../matching/rules.js";
import type { Measure } from "../measures/contract.js";
import type { LeftOut, ScoreMeta } from "../scoring/contract.js";
import { strataProblem } from "../scoring/derived-strata.js";
import { countJudged, type Judgements, parseJudgements } from "../scoring/judgements.js";
import { findingsOf, rulesFacts } from "../scoring/score-answers.js";
import { filesNeeded, needsContents, type ScoreSettings, scoreCase, strataOf } from "../scoring/score-case.js";
import { type CorpusFiles, corpusFiles, impactedFiles, isInFiles } from "../scoring/truth.js";
import { type ContentReader, contentReader } from "./file-contents.js";
import { DEFAULT_MEASURES, measureNames, measuresOf } from "./measures.js";
import { resolveRules, rulesName } from "./rules.js";
import { treeNotes } from "./tree-notes.js";

const strataSchema = z
  .array(
    z.string().superRefine((name, context) => {
      const problem = strataProblem(name);
      if (problem !== null) context.addIssue({ code: "custom", message: problem });
    }),
  )
  .default([]);

const configSchema = z.strictObject({
  rules: rulesName.default("strict").describe("How predictions are matched: strict, lenient, seed, or a YAML file"),
  judgements: z
    .string()
    .min(1)
    .optional()
    .describe("File of what people judged beside the truth (bench pool), relative to the pipeline file"),
  measures: measureNames.default(DEFAULT_MEASURES).describe("Names of measures: P, R, F1, Hit@5, R@10, RR, ..."),
  strata: strataSchema.describe(
    "Figures also by what follows from the cases: targets (how many), repository, year, role, split=2024-01-31 (created before, or from then on)",
  ),
});
type Config = z.infer<typeof configSchema>;

interface Prepared {
  readonly rules: RuleSet;
  readonly judgements: Judgements | undefined;
  readonly measures: readonly Measure[];
  readonly strata: readonly string[];
  readonly cases: ReadonlyMap<string, Case>;
  /** Ids of cases that `--items` or `--sample` left out: their answers are no mistake. */
  readonly unselected: ReadonlySet<string>;
  readonly dataset: StageOutput;
  readonly corpus: StageOutput | null;
  readonly trees: ReadonlyMap<string, ItemRef>;
  readonly files: (tree: ItemRef, tools: StageTools) => Promise<ScoredTree>;
  readonly contents: ContentReader;
  /** Filled while the answers stream by. */
  readonly answered: Set<string>;
  readonly backends: Set<string>;
  readonly unknown: Set<string>;
  readonly unreadable: Set<string>;
}

interface ScoredTree {
  readonly files: CorpusFiles;
  readonly corpus: Corpus;
}

interface ScoreWork {
  readonly asked: Case;
  readonly answer: Answer;
  readonly tree: ItemRef | null;
}

/** What the answers' stage may say of itself; whatever is missing or of another shape is unknown. */
const answersMetaSchema = z.object({
  name: z.string().nullish().catch(null),
  kind: z.string().nullish().catch(null),
  identity: z.unknown().optional(),
  notes: z.array(z.string()).catch([]),
  left_out: z.array(z.object({ what: z.string(), count: z.number(), examples: z.array(z.string()) })).catch([]),
});

/** What the stage that made the trees says of the data set's truth in them. */
const corpusMetaSchema = z.object({ truth: z.array(z.string()).catch([]) }).catch({ truth: [] });

export const scoreStage = itemStage<Config, Prepared>({
  kind: "score",
  summary: "Scores answers against the data set's truth",
  config: configSchema,
  produces: "scores",
  consumes: { answers: "one", dataset: "one", corpus: "optional" },
  shape: "items",
  over: "answers",
  version: 7,
  precious: false,
  // Scoring waits for nothing but the disk: what many units write is committed together.
  resource: () => ({ name: "scoring", concurrency: 64 }),
  keyConfig: ({ measures, strata }) => ({
    measures: measuresOf(measures).map(({ name }) => name),
    ...(strata.length === 0 ? {} : { strata }),
    ...(needsContents(measuresOf(measures)) ? { grammars: GRAMMARS_VERSION } : {}),
  }),
  identify: async ({ rules, judgements }, tools) => {
    const judged = await judgementsOf(judgements, tools);
    return [
      part("rules", rulesDigestParts(await rulesOf(rules, tools))),
      ...(judged === undefined ? [] : [part("judgements", digestJson([...judged].map(([id, grades]) => [id, [...grades]])))]),
    ];
  },
  prepare,
  parts: () => [],
  units,
  async execute(prepared, unit, tools) {
    const { asked, answer, tree } = unit.data as ScoreWork;
    const scored = scoreCase(asked, answer, await settingsFor(prepared, asked, answer, answer.backend, tree, tools));
    return { type: "done", items: [{ id: unit.id, value: scored }] };
  },
  finish,
});

/** What scoring one answer takes: the case's tree, and the contents of those of its files that the measures look into. */
async function settingsFor(
  { rules, measures, strata, files, contents, judgements }: Prepared,
  asked: Case,
  answer: Answer | null,
  backend: string,
  ref: ItemRef | null,
  tools: StageTools,
): Promise<ScoreSettings> {
  const tree = ref === null ? null : await files(ref, tools);
  const settings = { rules, measures, strata, corpus: tree?.files ?? null, backend, ...(judgements && { judgements }) };
  if (tree === null || !needsContents(measures)) return settings;
  return { ...settings, contents: await contents(tree.corpus, filesNeeded(asked, answer, settings), tools) };
}

async function rulesOf(named: string, tools: StageTools): Promise<RuleSet> {
  const rules = await resolveRules(named, tools.baseFolder);
  if (!rules.ok) throw new StageProblem(rules.error);
  return rules.value;
}

async function judgementsOf(file: string | undefined, tools: StageTools): Promise<Judgements | undefined> {
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = await readFile(resolve(tools.baseFolder, file), "utf8");
  } catch (error) {
    throw new StageProblem(`judgements: ${file} can't be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
  const read = parseJudgements(text);
  if (!read.ok) throw new StageProblem(`judgements: ${read.error.map((what) => `${file}: ${what}`).join("; ")}`);
  return read.value;
}

async function prepare(config: Config, inputs: StageInputs, tools: StageTools): Promise<Prepared> {
  const dataset = inputs.one("dataset");
  const corpus = inputs.optional("corpus") ?? null;
  const cases = (await tools.load(dataset.items)).map((value) => caseSchema.parse(value));
  const selected = new Set(dataset.items.map(({ id }) => id));
  return {
    rules: await rulesOf(config.rules, tools),
    judgements: await judgementsOf(config.judgements, tools),
    measures: measuresOf(config.measures),
    strata: config.strata,
    cases: new Map(cases.map((one) => [one.id, one])),
    unselected: new Set(dataset.all.flatMap(({ id }) => (selected.has(id) ? [] : [id]))),
    dataset,
    corpus,
    trees: new Map(corpus?.all.map((ref) => [ref.id, ref])),
    files: treeMemo(),
    contents: contentReader(),
    answered: new Set(),
    backends: new Set(),
    unknown: new Set(),
    unreadable: new Set(),
  };
}

const TREES_KEPT = 8;

/** File lists are made once per tree and shared; only the last few stay, since a run may ask about hundreds of commits. */
function treeMemo(): Prepared["files"] {
  const memo = new Map<string, Promise<ScoredTree>>();
  return (ref, tools) => {
    const known = memo.get(ref.digest);
    const files = known ?? loadTree(ref, tools).then((tree) => scoredTree(tree, tools));
    memo.delete(ref.digest);
    memo.set(ref.digest, files);
    // A failed load is the engine's to repair and must be tried anew then.
    if (known === undefined) files.catch(() => memo.delete(ref.digest));
    for (const oldest of memo.keys()) {
      if (memo.size <= TREES_KEPT) break;
      memo.delete(oldest);
    }
    return files;
  };
}

async function loadTree(ref: ItemRef, tools: StageTools): Promise<Tree> {
  const [value] = await tools.load([ref]);
  return treeSchema.parse(value);
}

function scoredTree(tree: Tree, tools: StageTools): ScoredTree {
  const files = corpusFiles({ paths: tree.files.map(({ path }) => path), roots: treeRoots(tree, tools) });
  return { files, corpus: openCorpus(tree, tools) };
}

/** The tree that a case asks about: the one for all, else that of its base commit; null where there is none. */
function treeOf({ trees }: Prepared, { base_commit }: Case): ItemRef | null {
  return trees.get("all") ?? (base_commit === null ? undefined : trees.get(base_commit)) ?? null;
}

function units(prepared: Prepared, item: ItemRef, value: unknown): readonly Unit[] {
  const parsed = answerSchema.safeParse(value);
  if (!parsed.success) {
    prepared.unreadable.add(item.id);
    return [];
  }
  const answer = parsed.data;
  const asked = prepared.cases.get(answer.id);
  if (asked === undefined) {
    if (!prepared.unselected.has(answer.id)) prepared.unknown.add(answer.id);
    return [];
  }
  prepared.answered.add(asked.id);
  prepared.backends.add(answer.backend);
  const tree = treeOf(prepared, asked);
  const data: ScoreWork = { asked, answer, tree };
  return [
    {
      id: item.id,
      parts: [part("answer", item.digest), part("case", caseDigest(asked, prepared)), part("tree", tree?.digest ?? null)],
      data,
    },
  ];
}

/** What scoring reads of a case and what reports show of it, nothing else. */
function caseDigest(asked: Case, { rules, strata: wanted }: Prepared): string {
  const { id, number, title, url, repository, targets, best_grade } = asked;
  // With what the text gives away, which is all that scores hold of the text.
  const strata = strataOf(asked);
  const changes = asked.links.map((link) => `${link.repository}#${link.number}`);
  const impacted = rules.engine === "seed" ? impactedFiles(asked) : null;
  const created = wanted.length === 0 ? {} : { created_at: asked.created_at };
  return digestJson({ id, number, title, url, repository, changes, targets, best_grade, strata, impacted, ...created });
}

const EXAMPLES = 10;

function leftOut(what: string, ids: ReadonlySet<string>): LeftOut[] {
  if (ids.size === 0) return [];
  return [{ what, count: ids.size, examples: [...ids].slice(0, EXAMPLES) }];
}

async function finish(prepared: Prepared, _items: readonly ItemRef[], tools: StageTools, inputs: StageInputs): Promise<Json> {
  const { dataset, corpus, rules, measures, judgements } = prepared;
  const header = datasetHeaderSchema.safeParse(dataset.meta);
  const given = answersMetaSchema.safeParse(inputs.optional("answers")?.meta ?? {});
  const answers = given.success ? given.data : null;
  const backend = answers?.name ?? [...prepared.backends].sort().join(", ") ?? "";
  const unaskedCases = [...prepared.cases.values()].filter(({ id }) => !prepared.answered.has(id));
  const unasked = [];
  for (const asked of unaskedCases) {
    const settings = await settingsFor(prepared, asked, null, backend, treeOf(prepared, asked), tools);
    unasked.push(scoreCase(asked, null, settings));
  }
  const treeless = corpus === null ? 0 : [...prepared.cases.values()].filter((one) => treeOf(prepared, one) === null).length;
  const digest = await casesDigest(prepared, tools);
  const isWhole = dataset.all.length === dataset.items.length;
  const selected = [...prepared.cases.values()];
  const lint = await lintOf(prepared, isWhole ? digest : datasetDigest({ cases: selected }), tools);
  const meta: ScoreMeta = {
    backend,
    kind: answers?.kind ?? null,
    identity: answers?.identity ?? null,
    rules: rulesFacts(rules),
    measures: measures.map(({ name }) => name),
    dataset: {
      digest,
      project_name: header.success ? header.data.project_name : "data set",
      url: header.success ? header.data.url : null,
      cases: dataset.all.length,
      selected: dataset.items.length,
      notes: header.success ? header.data.notes : [],
      links: header.success ? header.data.links : null,
      extensions: header.success ? header.data.extensions : null,
      scanned: header.success ? header.data.scanned : null,
      audit: header.success ? header.data.audit.map(({ rule, removed, what }) => ({ rule, removed, what })) : [],
      findings: findingsOf(lint),
    },
    ...(header.success
      ? { card: datasetCard({ header: header.data, cases: selected }, lint, { file: null, fileDigest: null, minedAt: null }) }
      : {}),
    corpus: await corpusFacts(corpus, tools),
    order: [...prepared.cases.keys()],
    unasked,
    only_answered: false,
    ...(judgements && { judgements: countJudged(judgements) }),
    ...(prepared.strata.length > 0 && { strata: [...prepared.strata] }),
    left_out: [
      ...(answers?.left_out ?? []),
      ...leftOut("answers to cases that the data set does not have", prepared.unknown),
      ...leftOut("records that are no answers", prepared.unreadable),
    ],
    warnings: [
      ...(answers?.notes ?? []),
      ...(corpus === null ? [] : await treeNotes(corpus.all, tools)),
      ...corpusMetaSchema.parse(corpus?.meta ?? {}).truth,
      ...(treeless > 0
        ? [
            `${treeless === 1 ? "1 case has" : `${treeless} cases have`} no source tree (no base commit, or none was checked out): only the path rung works there`,
          ]
        : []),
    ],
  };
  // Through text: what is stored must be plain JSON, without members that are undefined.
  return JSON.parse(JSON.stringify(meta)) as Json;
}

/** The lint of the selected cases, their targets looked up in the trees that they are asked about. */
async function lintOf(prepared: Prepared, digest: string, tools: StageTools): Promise<LintReport> {
  const { cases, corpus, files } = prepared;
  const selected = { cases: [...cases.values()] };
  if (corpus === null) return knownLint(selected, digest);
  const id = `${digest} ${corpus.digest}`;
  const absent = new Set<Target>();
  // Case by case, so that no more trees are held than the memo keeps.
  if (!hasLint(id)) {
    for (const one of selected.cases) {
      const tree = treeOf(prepared, one);
      if (tree === null) continue;
      const known = (await files(tree, tools)).files;
      for (const target of one.targets) if (!isInFiles(target, known)) absent.add(target);
    }
  }
  return knownLint(selected, id, (_, target) => !absent.has(target));
}

/** Names all cases of the data set, selected or not, as `bench score` and the mined file do: runs over equal data sets can be compared. */
async function casesDigest({ dataset, cases }: Prepared, tools: StageTools): Promise<string> {
  if (dataset.all.length === dataset.items.length) return datasetDigest({ cases: [...cases.values()] });
  return datasetDigest({ cases: (await tools.load(dataset.all)).map((value) => caseSchema.parse(value)) });
}

async function corpusFacts(corpus: StageOutput | null, tools: StageTools): Promise<ScoreMeta["corpus"]> {
  const first = corpus?.all[0];
  if (corpus === null || first === undefined) return null;
  const { source, revision, files } = await loadTree(first, tools);
  return { digest: corpus.digest, source, revision, files: files.length, trees: corpus.all.length };
}
