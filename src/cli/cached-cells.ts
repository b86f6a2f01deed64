/**
 * The cells of a run from the cache. The run's record names the outputs of its stages by digest and says which stage needed which; what
 * they hold are objects of the cache. No row of the action index is read, so outputs that no row promises (a stage with failed answers)
 * and imported ones serve as well.
 */
import * as z from "zod";
import type { Cache } from "../cache/cache.js";
import { DamagedEntry } from "../cache/errors.js";
import { treeSchema } from "../corpus/contract.js";
import { treeRoots } from "../corpus/tree.js";
import { type DatasetHeader, datasetHeaderSchema } from "../dataset/schema.js";
import type { ItemRef } from "../engine/contract.js";
import type { RunRecord } from "../engine/record.js";
import { uniqueLabels } from "../report/labels.js";
import { type ScoreMeta, scoredCaseSchema, scoreMetaSchema } from "../scoring/contract.js";
import { type BootstrapSettings, DEFAULT_BOOTSTRAP } from "../scoring/intervals.js";
import { datasetFacts } from "../scoring/score-answers.js";
import { corpusFiles } from "../scoring/truth.js";
import { inOrder } from "../scoring/views.js";
import { answersMetaSchema } from "../stages/answer-meta.js";
import { intervalsMetaSchema } from "../stages/bootstrap.js";
import { treeNotes } from "../stages/tree-notes.js";
import { answersOf, type CellTrees, casesOf, NO_TREES, type StoredCell, type StoredScores } from "./stored-cell.js";

type NodeRecord = RunRecord["nodes"][number];

/** One cell as the record names it: digests of manifests. */
export interface CellOutputs {
  readonly stage: string;
  readonly label: string | null;
  readonly scores: string | null;
  readonly answers: string;
  readonly dataset: string;
  readonly corpus: string | null;
  readonly intervals: string | null;
}

/** Every scored cell of a run, and every cell of answers that nothing scored. */
export function cellOutputs(record: Pick<RunRecord, "nodes">): CellOutputs[] {
  const byId = new Map(record.nodes.map((node) => [node.id, node]));
  const needed = (node: NodeRecord, type: string) =>
    node.needs.map((id) => byId.get(id)).find((one) => one?.produces === type && one.output !== null)?.output ?? null;
  const scoredAnswers = new Set<string>();
  const cells: CellOutputs[] = [];
  for (const node of record.nodes) {
    if (node.uses !== "score" || node.produces !== "scores") continue;
    const [answers, dataset] = [needed(node, "answers"), needed(node, "dataset")];
    if (node.output === null || answers === null || dataset === null) continue;
    for (const id of node.needs) scoredAnswers.add(id);
    const intervals = record.nodes.find((one) => one.produces === "intervals" && one.needs.includes(node.id))?.output ?? null;
    cells.push({
      ...{ stage: node.name, label: node.label, scores: node.output },
      ...{ answers, dataset, corpus: needed(node, "corpus"), intervals },
    });
  }
  for (const node of record.nodes) {
    const dataset = needed(node, "dataset");
    if (node.produces !== "answers" || node.output === null || dataset === null || scoredAnswers.has(node.id)) continue;
    const corpus = needed(node, "corpus");
    cells.push({ stage: node.name, label: node.label, scores: null, answers: node.output, dataset, corpus, intervals: null });
  }
  return cells;
}

const manifestSchema = z.object({ items: z.array(z.tuple([z.string(), z.string()])), meta: z.json() });
export type Manifest = z.infer<typeof manifestSchema>;

/** Reads of one cache, checked; a missing or damaged object rejects (`DamagedEntry`). */
export class StoredObjects {
  readonly #cache: Cache;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  get folder(): string {
    return this.#cache.folder;
  }

  async manifest(digest: string): Promise<Manifest> {
    const [text = ""] = await this.texts([digest]);
    return manifestSchema.parse(JSON.parse(text));
  }

  async texts(digests: readonly string[]): Promise<string[]> {
    const texts: string[] = [];
    for (let start = 0; start < digests.length; start += 500) {
      const batch = digests.slice(start, start + 500) as ItemRef["digest"][];
      for (const bytes of await this.#cache.getBytes(batch)) {
        texts.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
      }
    }
    return texts;
  }

  /** Rejects with `DamagedEntry` where one is not there; what is there is checked when it is read. */
  async demand(digests: readonly string[]): Promise<void> {
    const wanted = digests as ItemRef["digest"][];
    const there = await this.#cache.objects.has(wanted);
    const missing = wanted.filter((digest) => !there.has(digest));
    if (missing.length > 0) throw new DamagedEntry(missing);
  }

  async items(manifest: Manifest): Promise<unknown[]> {
    return (await this.texts(manifest.items.map(([, digest]) => digest))).map((text) => JSON.parse(text));
  }
}

/** Cells in the order of the record, all or those of one label; `labels` are those of all. They read trees from `objects` when scored. */
export async function cachedCells(
  record: RunRecord,
  objects: StoredObjects,
  wanted: string | null,
): Promise<{ readonly labels: readonly string[]; readonly cells: readonly StoredCell[] }> {
  const outputs = cellOutputs(record);
  const names = [];
  for (const one of outputs) {
    const meta = one.scores === null ? null : scoreMetaSchema.parse((await objects.manifest(one.scores)).meta);
    const answers = await objects.manifest(one.answers);
    names.push({ label: one.label ?? meta?.backend ?? nameIn(answers), rules: meta?.rules.name ?? "", stage: one.stage });
  }
  const labels = uniqueLabels(names);
  const cells: StoredCell[] = [];
  for (const [index, one] of outputs.entries()) {
    const label = labels[index] ?? one.stage;
    if (wanted === null || label === wanted || one.label === wanted) cells.push(await cachedCell(label, one, objects));
  }
  return { labels, cells };
}

function nameIn(answers: Manifest): string {
  const meta = answersMetaSchema.safeParse(answers.meta);
  return meta.success ? meta.data.name : "answers";
}

async function cachedCell(label: string, outputs: CellOutputs, objects: StoredObjects): Promise<StoredCell> {
  const [answersManifest, dataset] = [await objects.manifest(outputs.answers), await objects.manifest(outputs.dataset)];
  const before = outputs.scores === null ? null : await scoresIn(outputs.scores, objects);
  const header = headerOf(dataset.meta);
  const all = casesOf(await objects.items(dataset));
  // Scores name the cases that the run selected.
  const selected = before === null ? null : new Set(before.meta.order);
  const cases = selected === null ? all : all.filter(({ id }) => selected.has(id));
  const { answers, unreadable } = answersOf(await objects.items(answersManifest));
  const trees = outputs.corpus === null ? null : await treesIn(outputs.corpus, objects);
  return {
    label,
    answers,
    cases,
    header,
    facts: before === null ? await ownFacts(answersManifest, header, cases, trees, unreadable) : without(before.meta),
    trees: trees?.trees ?? NO_TREES,
    fileList: trees === null ? "none" : "known",
    before,
    bootstrap: await bootstrapIn(outputs.intervals, objects),
  };
}

async function scoresIn(digest: string, objects: StoredObjects): Promise<StoredScores> {
  const manifest = await objects.manifest(digest);
  const meta = scoreMetaSchema.parse(manifest.meta);
  await objects.demand(manifest.items.map(([, item]) => item));
  return {
    meta,
    digests: new Map(manifest.items),
    load: async () => ({ meta, cases: inOrder(z.array(scoredCaseSchema).parse(await objects.items(manifest)), meta) }),
  };
}

function without({ rules: _, measures: __, unasked: ___, ...facts }: ScoreMeta): StoredCell["facts"] {
  return facts;
}

/** A run that asked and never scored: the same facts, from what its stages left. */
async function ownFacts(
  answers: Manifest,
  header: DatasetHeader,
  cases: StoredCell["cases"],
  trees: StoredTrees | null,
  unreadable: number,
): Promise<StoredCell["facts"]> {
  const meta = answersMetaSchema.safeParse(answers.meta);
  const given = meta.success ? meta.data : null;
  return {
    backend: given?.name ?? "answers",
    kind: given?.kind ?? null,
    identity: given?.identity ?? null,
    dataset: datasetFacts({ header, cases }),
    corpus: trees?.facts ?? null,
    order: cases.map(({ id }) => id),
    only_answered: false,
    left_out: [
      ...(given?.left_out ?? []),
      ...(unreadable === 0 ? [] : [{ what: "records that are no answers", count: unreadable, examples: [] }]),
    ],
    warnings: [...(given?.notes ?? []), ...((await trees?.notes()) ?? [])],
  };
}

function headerOf(meta: unknown): DatasetHeader {
  const header = datasetHeaderSchema.safeParse(meta);
  if (header.success) return header.data;
  const [project_name, unknown] = ["data set", null];
  return {
    ...{ schema_version: 3, project_name, url: unknown, scanned: unknown, links: unknown, extensions: unknown },
    ...{ notes: [], audit: [] },
  };
}

interface StoredTrees {
  readonly trees: CellTrees;
  readonly facts: ScoreMeta["corpus"];
  readonly notes: () => Promise<readonly string[]>;
}

async function treesIn(digest: string, objects: StoredObjects): Promise<StoredTrees | null> {
  const { items } = await objects.manifest(digest);
  const [first] = items;
  if (first === undefined) return null;
  const byId = new Map(items);
  await objects.demand(items.map(([, tree]) => tree));
  const load = async (tree: string) => {
    const [text = ""] = await objects.texts([tree]);
    return treeSchema.parse(JSON.parse(text));
  };
  const refs = items.map(([id, tree]) => ({ id, digest: tree as ItemRef["digest"] }));
  const { source, revision, files } = await load(first[1]);
  return {
    facts: { digest, source, revision, files: files.length, trees: items.length },
    notes: () => treeNotes(refs, { load: (trees) => Promise.all(trees.map((tree) => load(tree.digest))) }),
    trees: {
      keyOf: ({ base_commit }) => byId.get("all") ?? (base_commit === null ? undefined : byId.get(base_commit)) ?? null,
      load: async (key) => {
        // One tree at a time: there may be hundreds.
        const tree = await load(key);
        const roots = treeRoots(tree, { cacheFolder: (name) => `${objects.folder}/${name}` });
        return corpusFiles({ paths: tree.files.map(({ path }) => path), roots });
      },
      reader: async (key) => {
        const digests = new Map((await load(key)).files.map((file) => [file.path, file.digest]));
        // A bundle has the lists of files and not the files.
        return async (path) => {
          const digest = digests.get(path);
          return digest === undefined ? null : objects.texts([digest]).then(([text]) => text ?? null, absent);
        };
      },
    },
  };
}

function absent(error: unknown): null {
  if (error instanceof DamagedEntry) return null;
  throw error;
}

async function bootstrapIn(digest: string | null, objects: StoredObjects): Promise<BootstrapSettings> {
  if (digest === null) return DEFAULT_BOOTSTRAP;
  const meta = intervalsMetaSchema.safeParse((await objects.manifest(digest)).meta);
  if (!meta.success) return DEFAULT_BOOTSTRAP;
  const { samples, seed, level, method } = meta.data;
  return { samples, seed, level, method };
}
