/**
 * `locate-lines`: which lines, classes and functions of the tree each fix changed. A data set in, the same data set out with its targets filled in.
 *
 * Lines come from the repository (`git`: the fix alone, carried back to the case's tree), else from what the data set says (patches of pull
 * requests, SWE-bench's patch). Classes and functions come from the files as the tree has them. What is not known stays unknown and is counted:
 * a case without truth at a level is no case of that level.
 */
import * as z from "zod";
import { type Definition, namesOfHunks, namesOfLines, placesOf } from "../base/definitions.js";
import { type OldHunk, rangesOf, uniteHunks } from "../base/line-changes.js";
import { err, ok, type Result } from "../base/result.js";
import type { Corpus } from "../corpus/contract.js";
import { type Clone, openClone, parsePlace, Turns } from "../corpus/git.js";
import { changesOfFix, type FileChange } from "../corpus/git-changes.js";
import { readBlobs } from "../corpus/git-objects.js";
import { definitionsOf, GRAMMARS_VERSION } from "../corpus/grammars.js";
import { placeOfRepository } from "../corpus/repository-template.js";
import { openCorpus } from "../corpus/tree.js";
import { type Case, caseSchema, datasetHeaderSchema, type Target } from "../dataset/schema.js";
import { traceFiles } from "../dataset/targets.js";
import { type StageTools, wholeStage } from "../engine/contract.js";
import { caseTrees } from "./case-trees.js";
import { datasetOutput } from "./dataset-options.js";
import { definitionsIn } from "./file-definitions.js";

const configSchema = z
  .strictObject({
    git: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Address or path of the repository that has the fixes (`{repository}` in it: each case's own, `owner/name`); left out = lines as the data set states them",
      ),
  })
  .superRefine(({ git }, context) => {
    const place = git === undefined ? null : parsePlace(git, "/");
    if (place !== null && !place.ok) context.addIssue({ code: "custom", path: ["git"], message: place.error });
  });
type Config = z.infer<typeof configSchema>;

/** What became of the cases and targets, for the header's notes. */
interface Tally {
  treeless: number;
  targets: number;
  absent: number;
  lines: number;
  functions: number;
  readonly unreadable: string[];
  readonly compared: string[];
}

export const locateLines = wholeStage<Config>({
  kind: "locate-lines",
  version: 1,
  summary: "Line ranges, classes and functions that each fix changed, in the source tree of its case.",
  shape: "whole",
  config: configSchema,
  produces: "dataset",
  consumes: { dataset: "one", corpus: "one" },
  precious: false,
  selectable: true,
  keyConfig: ({ git }) => {
    const place = git === undefined ? null : parsePlace(git, "/");
    return { grammars: GRAMMARS_VERSION, git: place?.ok ? place.value.shown : null };
  },
  run: async ({ git }, inputs, tools, signal) => {
    const dataset = inputs.one("dataset");
    const header = datasetHeaderSchema.safeParse(dataset.meta);
    if (!header.success) return { ok: false, message: "the data set is in a form that is not known: make it again" };
    const clones = git === undefined ? null : clonesOf(git, tools, signal);
    const trees = await caseTrees(inputs.one("corpus"), tools, openCorpus, true);
    const chosen = new Set(dataset.items.map(({ id }) => id));
    const tally: Tally = { treeless: 0, targets: 0, absent: 0, lines: 0, functions: 0, unreadable: [], compared: [] };
    const cases: Case[] = [];
    for (const value of await tools.load(dataset.all)) {
      signal.throwIfAborted();
      const one = caseSchema.parse(value);
      // Only the selected cases have their trees.
      const tree = chosen.has(one.id) ? trees.forCase(one) : undefined;
      if (tree === undefined) {
        if (chosen.has(one.id)) tally.treeless += 1;
        cases.push(one);
        continue;
      }
      const opened = clones === null ? ok(null) : await clones(one.repository);
      if (!opened.ok) return { ok: false, message: `${one.id}: ${opened.error}` };
      const clone = opened.value;
      const changes = clone === null ? { ok: true as const, value: null } : await fixOf(one, await tree.open(), clone, tally);
      if (!changes.ok) return { ok: false, message: `${one.id}: ${changes.message}` };
      const targets: Target[] = [];
      for (const target of one.targets)
        targets.push(await located(target, await tree.open(), changes.value?.get(target.path), clone, tools, tally));
      cases.push({ ...one, targets });
    }
    const notes = notesOf(tally, chosen.size);
    for (const note of notes) tools.warn(note);
    return {
      ok: true,
      value: datasetOutput({ header: { ...header.data, notes: [...new Set([...header.data.notes, ...notes])] }, cases }),
    };
  },
});

/** The clone that has a case's fixes: each repository is opened once, and `openClone` fetches only what is missing. */
function clonesOf(
  git: string,
  tools: StageTools,
  signal: AbortSignal,
): (repository: string | null) => Promise<Result<Clone, string>> {
  const opened = new Map<string, Promise<Result<Clone, string>>>();
  return (repository) => {
    const place = placeOfRepository(git, repository, tools.baseFolder);
    if (!place.ok) return Promise.resolve(place);
    const where = place.value.kind === "url" ? place.value.url : place.value.path;
    const clone =
      opened.get(where) ??
      openClone(place.value, tools, new Turns(), signal).then((made) => (made.ok ? made : err(made.error.message)));
    opened.set(where, clone);
    return clone;
  };
}

interface Change {
  /** null = not told in lines. */
  hunks: OldHunk[] | null;
  readonly changes: FileChange[];
  readonly names: string[];
}

/** What all linked fixes changed, by the name at the base; null where the repository does not have one of them any more. */
async function fixOf(
  one: Case,
  { tree }: Corpus,
  clone: Clone,
  tally: Tally,
): Promise<{ ok: true; value: ReadonlyMap<string, Change> | null } | { ok: false; message: string }> {
  const base = tree.revision ?? one.base_commit;
  const changes = new Map<string, Change>();
  const fixes = traceFiles(one.links).filter(({ link }) => one.repository === null || link.repository === one.repository);
  if (fixes.length === 0) return { ok: true, value: null };
  for (const { link, files } of fixes) {
    const about = `${link.repository}#${link.number}`;
    if (base === null || link.merge_commit === null) {
      tally.unreadable.push(`${about} (no ${base === null ? "base" : "merge"} commit is known)`);
      return { ok: true, value: null };
    }
    const fix = {
      base,
      merge: link.merge_commit,
      listed: files.map(({ file }) => file.path),
      files: files.map(({ file, atBase, before }) => ({ atBase, before, after: file.path })),
    };
    const found = await changesOfFix(clone, fix, about);
    if (!found.ok) {
      if (found.error.absent !== true) return { ok: false, message: found.error.message };
      tally.unreadable.push(`${about} (${found.error.message})`);
      return { ok: true, value: null };
    }
    if (found.value.comparedWithBase) tally.compared.push(about);
    for (const [path, change] of found.value.files) {
      const known = changes.get(path) ?? { hunks: [], changes: [], names: [] };
      changes.set(path, known);
      known.changes.push(change);
      known.names.push(files.find(({ atBase }) => atBase === path)?.file.path ?? path);
      known.hunks = known.hunks === null || change.hunks === null ? null : uniteHunks([...known.hunks, ...change.hunks]);
    }
  }
  return { ok: true, value: changes };
}

async function located(
  target: Target,
  corpus: Corpus,
  change: Change | undefined,
  clone: Clone | null,
  tools: StageTools,
  tally: Tally,
): Promise<Target> {
  const file = corpus.tree.files.find(({ path }) => path === target.path);
  tally.targets += 1;
  if (file === undefined) {
    // Which file a path without its beginning means is for the scorer to say.
    if (target.partial === true) return target;
    tally.absent += 1;
    return { ...target, in_tree: false };
  }
  const hunks = change === undefined ? target.hunks : (change.hunks ?? undefined);
  const { hunks: _, ...rest } = target;
  const text = await corpus.text(file.path);
  const definitions = await definitionsIn(file, async () => text, tools);
  const ranges = hunks === undefined ? (change === undefined ? target.ranges : null) : rangesOf(hunks, linesOf(text));
  if (ranges !== null) tally.lines += 1;
  const made: Target = {
    ...rest,
    in_tree: true,
    ranges: ranges?.map(([from, to]) => [from, to]) ?? null,
    ...(hunks === undefined ? {} : { hunks: hunks.map(([start, count]) => [start, count]) }),
  };
  if (definitions === null) return made;
  const edges = change === undefined || clone === null ? [] : await insertedInto(change, definitions, clone);
  const named = (kind: "class" | "function"): Target["classes"] => {
    const stated = kind === "class" ? target.classes : target.functions;
    const touched =
      hunks !== undefined
        ? namesOfHunks(definitions, kind, hunks)
        : (ranges ?? []).flatMap((range) => namesOfLines(definitions, kind, range));
    // What the makers of a data set state is its truth; only where it lies is added.
    if (stated === undefined && ranges === null) return undefined;
    const names = stated?.map(({ name }) => name) ?? [
      ...touched,
      ...edges.filter((one) => one.kind === kind).map(({ name }) => name),
    ];
    return [...new Set(names)].sort().map((name) => {
      const places = placesOf(definitions, kind, name);
      return { name, ranges: places.length === 0 ? null : places.map(([from, to]) => [from, to]) };
    });
  };
  const [classes, functions] = [named("class"), named("function")];
  if (functions !== undefined) tally.functions += 1;
  return { ...made, ...(classes === undefined ? {} : { classes }), ...(functions === undefined ? {} : { functions }) };
}

/**
 * Lines that were put at the very end of a function belong to no function of the old file by their place alone; the file after the fix says
 * whether they are part of one that was there before.
 */
async function insertedInto(
  { changes, names }: Change,
  before: readonly Definition[],
  clone: Clone,
): Promise<{ readonly kind: Definition["kind"]; readonly name: string }[]> {
  const found: { kind: Definition["kind"]; name: string }[] = [];
  for (const [index, { inserted, blobAfter }] of changes.entries()) {
    if (inserted.length === 0 || blobAfter === null) continue;
    const after = await blobDefinitions(clone, names[index] ?? "", blobAfter);
    for (const kind of ["class", "function"] as const) {
      const known = new Set(before.filter((one) => one.kind === kind).map(({ name }) => name));
      for (const { after: place, lines } of inserted) {
        if (namesOfHunks(before, kind, [[place, 0]]).length > 0) continue;
        for (const name of namesOfLines(after, kind, lines)) if (known.has(name)) found.push({ kind, name });
      }
    }
  }
  return found;
}

async function blobDefinitions(clone: Clone, path: string, blob: string): Promise<readonly Definition[]> {
  for await (const { bytes } of readBlobs(clone.git, clone.folder, [blob]))
    if (bytes !== null) return (await definitionsOf(path, new TextDecoder().decode(bytes))) ?? [];
  return [];
}

/** As git counts them: a last line without a line break is one. */
function linesOf(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

const EXAMPLES = 3;

function notesOf({ treeless, targets, absent, lines, functions, unreadable, compared }: Tally, cases: number): string[] {
  const some = (names: readonly string[]) =>
    `${names.slice(0, EXAMPLES).join(", ")}${names.length > EXAMPLES ? ` and ${names.length - EXAMPLES} more` : ""}`;
  const inTree = targets - absent;
  const notes: string[] = [];
  if (treeless > 0) notes.push(`${treeless} of ${cases} cases have no source tree: their lines are as the data set states them`);
  if (lines < inTree) notes.push(`${inTree - lines} of ${inTree} targets that are in the tree have no line ranges`);
  if (functions < inTree)
    notes.push(`of ${inTree - functions} of ${inTree} targets that are in the tree it is not known which functions changed`);
  if (unreadable.length > 0)
    notes.push(
      `${unreadable.length} fixes can't be read from the repository, and count as the data set states them: ${some(unreadable)}`,
    );
  if (compared.length > 0)
    notes.push(
      `${compared.length} fixes are more than their merge commit: lines are those that differ between base and merge, other people's among them (${some(compared)})`,
    );
  return notes;
}
