/**
 * `checkout`: the source trees that the questions are asked about, by content.
 *
 * One tree for all cases (`npm`, `folder`, `git` at a ref), or one per distinct base commit (`git`, `at: base`). A unit's key says what
 * the tree is made of and never where it lies: an exact version, an address and ref, a commit, or the digest of a folder's content.
 */
import { isAbsolute, resolve } from "node:path";
import * as z from "zod";
import { digestJson } from "../base/json.js";
import type { Result } from "../base/result.js";
import { part } from "../cache/key.js";
import type { Tree } from "../corpus/contract.js";
import { folderDigest, folderTree, storeFolder } from "../corpus/folder.js";
import { type GitPlace, historyOf, isCommitId, localCommit, openClone, parsePlace, refProblem, Turns } from "../corpus/git.js";
import { type BlobMemo, gitTree } from "../corpus/git-source.js";
import { isSha512Integrity, type NpmSpec, parseNpmSpec } from "../corpus/npm.js";
import { npmTree } from "../corpus/npm-source.js";
import { isPerRepository, isRepositoryName, placeOfRepository } from "../corpus/repository-template.js";
import { type Globs, globProblem } from "../corpus/select.js";
import type { SourceFailure } from "../corpus/tools.js";
import { caseSchema } from "../dataset/schema.js";
import { itemStage, type StageInputs, type StageTools, type Unit, type UnitOutcome } from "../engine/contract.js";
import { treeNotes } from "./tree-notes.js";
import { truthNotes } from "./tree-truth.js";

const glob = z.string().superRefine((text, context) => {
  const problem = globProblem(text);
  if (problem !== null) context.addIssue({ code: "custom", message: problem });
});
const globs = z
  .union([glob, z.array(glob)])
  .default([])
  .describe("Globs relative to the tree's root: `src/**/*.java`");

export const checkoutConfigSchema = z
  .strictObject({
    npm: z.string().optional().describe("An npm package with its exact version: `name@1.2.3`"),
    folder: z.string().min(1).optional().describe("A folder, relative to the pipeline file"),
    git: z
      .string()
      .min(1)
      .optional()
      .describe("Address or path of a git repository; `{repository}` in it: each case's own (`owner/name`), with `at: base`"),
    at: z
      .string()
      .optional()
      .describe("With `git`: `base` (each case at its own base commit), or one branch, tag or commit for all"),
    integrity: z.string().optional().describe("With `npm`: the `sha512-...` value that the archive must have"),
    include: globs,
    exclude: globs,
  })
  .superRefine((config, context) => {
    const wrong = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    const sources = (["npm", "folder", "git"] as const).filter((name) => config[name] !== undefined);
    if (sources.length === 0) {
      context.addIssue({ code: "custom", message: "say where the sources come from: one of `npm`, `folder`, `git`" });
    }
    if (sources[1] !== undefined)
      wrong(sources[1], `there can be only one source: remove ${sources.slice(1).join(", ")} or ${sources[0]}`);
    if (config.npm !== undefined) {
      const spec = parseNpmSpec(config.npm);
      if (!spec.ok) wrong("npm", spec.error);
    }
    if (config.git !== undefined) {
      const place = parsePlace(config.git, "/");
      if (!place.ok) wrong("git", place.error);
      const problem =
        config.at === undefined
          ? "say which commit: `at: base` (each case's own), or a branch, tag or commit id"
          : refProblem(config.at);
      if (problem !== null) wrong(config.at === undefined ? "git" : "at", problem);
      else if (isPerRepository(config.git) && config.at !== "base")
        wrong("at", "`{repository}` is each case's own repository, so the commit must be each case's own, too: `at: base`");
    } else if (config.at !== undefined) wrong("at", "`at` goes with `git` only");
    if (config.integrity !== undefined) {
      if (config.npm === undefined) wrong("integrity", "`integrity` goes with `npm` only");
      else if (!isSha512Integrity(config.integrity)) wrong("integrity", "must be a `sha512-` value as in package-lock.json");
    }
  });
type Config = z.infer<typeof checkoutConfigSchema>;

function globsOf({ include, exclude }: Config): Globs {
  const list = (globs: string | string[]) => (typeof globs === "string" ? [globs] : [...globs]).sort();
  return { include: list(include), exclude: list(exclude) };
}

type Source =
  | { readonly kind: "npm"; readonly spec: NpmSpec }
  | { readonly kind: "folder"; readonly path: string }
  /** `perRepository`: the address as written, where each case has a repository of its own. */
  | { readonly kind: "git"; readonly place: GitPlace; readonly at: string; readonly perRepository?: string };

interface Prepared {
  readonly integrity: string | undefined;
  readonly globs: Globs;
  readonly source: Source;
  readonly units: readonly Unit[];
  readonly notes: readonly string[];
  /** Units of one repository share a clone and take turns in fetching into it. */
  readonly turns: (place: GitPlace) => Turns;
  readonly baseFolder: string;
  readonly blobs: BlobMemo;
  readonly executed: Set<string>;
}

/** What a unit is to do; `problem`: why it can't be done at all. */
type Work = {
  readonly id: string;
  readonly commit?: string;
  readonly repository?: string;
  readonly content?: string;
  readonly problem?: string;
};

function sourceOf(config: Config, baseFolder: string): Source {
  if (config.npm !== undefined) {
    const spec = parseNpmSpec(config.npm);
    if (spec.ok) return { kind: "npm", spec: spec.value };
  }
  if (config.folder !== undefined) {
    return { kind: "folder", path: isAbsolute(config.folder) ? config.folder : resolve(baseFolder, config.folder) };
  }
  const place = parsePlace(config.git ?? "", baseFolder);
  if (!place.ok) throw new Error(`checkout: the configuration was not checked: ${place.error}`);
  const own = isPerRepository(config.git ?? "") ? { perRepository: config.git ?? "" } : {};
  return { kind: "git", place: place.value, at: config.at ?? "HEAD", ...own };
}

/** What the tree is made of, without what only says where that lies. */
function keyConfig(config: Config): unknown {
  const { npm, integrity, git, at } = config;
  const place = git === undefined ? undefined : parsePlace(git, "/");
  return {
    source: npm !== undefined ? { npm, integrity } : place?.ok ? { git: place.value.shown, at } : "folder",
    ...globsOf(config),
  };
}

interface Content {
  readonly content?: string;
  readonly problem?: string;
}

/** Content that the configuration only names: a folder's digest, a local ref's commit. A failure has a part of its own, and its unit fails. */
async function contentOf(source: Source, globs: Globs, tools: StageTools): Promise<Content> {
  if (source.kind === "folder") {
    const tree = await folderTree(source.path, globs, tools);
    return tree.ok ? { content: folderDigest(tree.value) } : { problem: tree.error.message };
  }
  if (source.kind === "git" && source.place.kind === "path" && source.at !== "base") {
    const commit = await localCommit(source.place.path, source.at, tools, new AbortController().signal);
    return commit.ok ? { content: commit.value } : { problem: commit.error.message };
  }
  return {};
}

/** `contentOf` for the stage's key; remembered, so that `sameContent` can tell whether it still holds when the work begins. */
async function identifiedContent(source: Source, globs: Globs, tools: StageTools): Promise<Content> {
  const found = await contentOf(source, globs, tools);
  if (found.content !== undefined) await tools.memory("checkout").set(digestJson([source, globs]), found.content);
  return found;
}

async function sameContent(source: Source, globs: Globs, tools: StageTools): Promise<Content> {
  const found = await contentOf(source, globs, tools);
  if (found.content === undefined) return found;
  const identified = await tools.memory("checkout").get(digestJson([source, globs]));
  if (identified === undefined || identified === found.content) return found;
  return { problem: "the sources changed between the start of the run and their reading: run again" };
}

async function prepare(config: Config, inputs: StageInputs, tools: StageTools): Promise<Prepared> {
  const source = sourceOf(config, tools.baseFolder);
  const globs = globsOf(config);
  const notes: string[] = [];
  const units =
    source.kind === "git" && source.at === "base"
      ? await unitPerCommit(inputs, tools, notes, source.perRepository !== undefined)
      : [oneUnit(await sameContent(source, globs, tools))];
  const { integrity } = config;
  const { baseFolder } = tools;
  return { integrity, globs, source, units, notes, turns: turnsByPlace(), baseFolder, blobs: new Map(), executed: new Set() };
}

function turnsByPlace(): Prepared["turns"] {
  const all = new Map<string, Turns>();
  return (place) => {
    const name = place.kind === "url" ? place.url : place.path;
    const turns = all.get(name) ?? new Turns();
    all.set(name, turns);
    return turns;
  };
}

function oneUnit({ content, problem }: Content): Unit {
  const work: Work = { id: "all", ...(content === undefined ? {} : { content }), ...(problem === undefined ? {} : { problem }) };
  return { id: "all", parts: [part("content", content ?? null)], data: work };
}

const baseSchema = caseSchema.pick({ base_commit: true, repository: true });

async function unitPerCommit(inputs: StageInputs, tools: StageTools, notes: string[], perRepository: boolean): Promise<Unit[]> {
  const dataset = inputs.optional("dataset");
  if (dataset === undefined) {
    return [
      oneUnit({
        problem:
          "`at: base` takes each case's own base commit: add the data set's stage to `needs`, or pin one commit with `at: REF`",
      }),
    ];
  }
  // A commit's id is that of its content: if two repositories (a fork) have it, either gives the same tree, and the first one does.
  const commits = new Map<string, string | null>();
  let without = 0;
  let unusable = 0;
  let nameless = 0;
  for (const value of await tools.load(dataset.items)) {
    const { base_commit: commit = null, repository = null } = baseSchema.safeParse(value).data ?? {};
    if (commit === null) without += 1;
    else if (!isCommitId(commit)) unusable += 1;
    else if (perRepository && (repository === null || !isRepositoryName(repository))) nameless += 1;
    else if (!commits.has(commit) || (repository ?? "") < (commits.get(commit) ?? "")) commits.set(commit, repository);
  }
  if (nameless > 0)
    notes.push(`${nameless} of ${dataset.items.length} cases name no repository (owner/name): they have no source tree`);
  if (without > 0) notes.push(`${without} of ${dataset.items.length} cases have no base commit: they have no source tree`);
  if (unusable > 0)
    notes.push(
      `${unusable} of ${dataset.items.length} cases have a base commit that is no full commit id: they have no source tree`,
    );
  for (const note of notes) tools.warn(note);
  if (commits.size === 0 && dataset.items.length > 0) {
    const problem =
      nameless > 0
        ? "no case of the data set names its repository: write the repository's address instead of {repository}"
        : "no case of the data set has a usable base commit: pin one commit for all with `at: REF`";
    return [oneUnit({ problem })];
  }
  return [...commits]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([commit, repository]) => ({
      id: commit,
      parts: [part("commit", commit), ...(perRepository ? [part("repository", repository)] : [])],
      data: { id: commit, commit, ...(perRepository && repository !== null ? { repository } : {}) } satisfies Work,
    }));
}

async function execute(prepared: Prepared, unit: Unit, tools: StageTools, signal: AbortSignal): Promise<UnitOutcome> {
  const work = unit.data as Work;
  if (work.problem !== undefined) return { type: "failed", status: "failed", message: work.problem };
  // The same unit again means that its objects were lost: nothing that was stored before may be taken as still there.
  if (prepared.executed.has(unit.id)) prepared.blobs.clear();
  prepared.executed.add(unit.id);
  const tree = await makeTree(prepared, work, tools, signal);
  if (!tree.ok) {
    return { type: "failed", status: "failed", message: tree.error.message, ...(tree.error.transient ? { retry: {} } : {}) };
  }
  return { type: "done", items: [{ id: tree.value.id, value: tree.value }] };
}

async function makeTree(
  prepared: Prepared,
  work: Work,
  tools: StageTools,
  signal: AbortSignal,
): Promise<Result<Tree, SourceFailure>> {
  const { source, globs } = prepared;
  switch (source.kind) {
    case "npm":
      return npmTree(source.spec, { ...globs, integrity: prepared.integrity }, tools, signal);
    case "folder": {
      const tree = await storeFolder(source.path, globs, tools);
      // The key was made of the content as it was; a tree of other content must not be stored under it.
      if (!tree.ok || folderDigest(tree.value) === work.content) return tree;
      return {
        ok: false,
        error: { message: `the folder ${source.path} changed while it was read: run again`, transient: false },
      };
    }
    case "git": {
      const place =
        source.perRepository === undefined
          ? { ok: true as const, value: source.place }
          : placeOfRepository(source.perRepository, work.repository ?? null, prepared.baseFolder);
      if (!place.ok) return { ok: false, error: { message: place.error, transient: false } };
      const clone = await openClone(place.value, tools, prepared.turns(place.value), signal);
      if (!clone.ok) return clone;
      const commit = await clone.value.commit(work.commit ?? work.content ?? source.at, tools.refresh);
      if (!commit.ok) return commit;
      return gitTree(clone.value, commit.value, work.id, globs, prepared.blobs, tools);
    }
  }
}

/** Null where there is none (a package, a folder); a text says why it can't be read. */
async function historyAt(
  { source, turns }: Prepared,
  commit: string,
  tools: StageTools,
): Promise<ReadonlySet<string> | string | null> {
  if (source.kind !== "git" || source.at === "base") return null;
  const { signal } = new AbortController();
  const clone = await openClone(source.place, tools, turns(source.place), signal);
  const history = clone.ok ? await historyOf(clone.value, commit) : clone;
  return history.ok ? history.value : history.error.message;
}

export const checkout = itemStage<Config, Prepared>({
  kind: "checkout",
  version: 3,
  summary: "Source trees by content: an npm package, a folder, or a git repository at one commit or at each case's base commit.",
  shape: "items",
  config: checkoutConfigSchema,
  produces: "corpus",
  consumes: { dataset: "optional" },
  over: null,
  precious: false,
  resource: () => ({ name: "checkout", concurrency: 2 }),
  keyConfig,
  identify: async (config, tools) => {
    const { content, problem } = await identifiedContent(sourceOf(config, tools.baseFolder), globsOf(config), tools);
    if (content === undefined && problem === undefined) return [];
    return [part("content", content ?? { problem })];
  },
  prepare,
  parts: () => [],
  start: ({ units }) => units,
  execute,
  async finish(prepared, trees, tools, inputs) {
    for (const note of await treeNotes(trees, tools)) tools.warn(note);
    const dataset = inputs.optional("dataset");
    const truth =
      dataset === undefined ? [] : await truthNotes(dataset, trees, tools, (commit) => historyAt(prepared, commit, tools));
    for (const note of truth) tools.warn(note);
    return { notes: [...prepared.notes], ...(truth.length === 0 ? {} : { truth }) };
  },
});
