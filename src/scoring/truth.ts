/**
 * The truth of a case, cut to what an answer could have named: the targets that exist in the corpus at the base commit.
 *
 * A file that the fix adds, or one of a foreign repository, can't be found by looking at the tree, so demanding it would
 * measure the data set and not the backend. Such targets are never dropped in silence: they are listed as absent and every
 * report shows the figures against all targets beside the headline.
 */
import type { Case, Target } from "../dataset/schema.js";
import type { FileList, RuleSet, WantedFile } from "../matching/contract.js";
import { buildFileIndex, type FileIndex } from "../matching/file-index.js";
import { hasExtension } from "../matching/match.js";
import { mappedPath } from "../matching/normalise.js";
import { seedUniverse } from "../matching/seed.js";

/** The file list of one tree, ready for matching and for membership tests; built once per tree and shared by its cases. */
export interface CorpusFiles {
  readonly paths: readonly string[];
  /** Files of the tree, also where `paths` does not list them all. */
  readonly size: number;
  /** null: the list itself is not known, only which targets are in it (`knownTargets`); then only the path rung works. */
  readonly index: FileIndex | null;
  /** The corpus's own spelling of a path, or undefined. Unicode forms are told apart by no one, so not here either. */
  readonly spelling: (path: string) => string | undefined;
  /** Keys of the files for the `seed` rules; made when first asked for. */
  readonly seedUniverse: () => ReadonlySet<string>;
}

export function corpusFiles(list: FileList): CorpusFiles {
  const byForm = new Map<string, string>();
  for (const path of list.paths) {
    const form = path.normalize("NFC");
    // Where a tree holds both forms of one name, an exact match must win over its twin.
    if (!byForm.has(form) || form === path) byForm.set(form, path);
  }
  const exact = new Set(list.paths);
  let universe: ReadonlySet<string> | undefined;
  return {
    paths: list.paths,
    size: list.paths.length,
    index: buildFileIndex(list),
    spelling: (path) => (exact.has(path) ? path : byForm.get(path.normalize("NFC"))),
    seedUniverse: () => {
      universe ??= seedUniverse(list.paths);
      return universe;
    },
  };
}

/**
 * What a stored report says of a tree whose file list is gone: how many files it had, and which of the targets were among them. Truth
 * stays what it was; names can't be resolved any more.
 */
export function knownTargets(present: ReadonlySet<string>, size: number): CorpusFiles {
  return {
    paths: [...present],
    size,
    index: null,
    spelling: (path) => (present.has(path) ? path : undefined),
    seedUniverse: () => seedUniverse([...present]),
  };
}

/** Is a target a file of the tree? As scoring looks: a path without its beginning stands for the one file that ends with it. */
export function isInFiles({ path, partial }: Pick<Target, "path" | "partial">, { spelling, index }: CorpusFiles): boolean {
  return spelling(path) !== undefined || (partial === true && (index?.bySuffix(path) ?? null) !== null);
}

/** A target that counts: its path in the corpus's spelling, its other names, and its grade. */
export interface TrueFile extends WantedFile {
  readonly grade: number;
}

export interface Truth {
  /** Targets that exist in the corpus; all of them when there is no corpus. */
  readonly present: readonly TrueFile[];
  readonly absent: readonly TrueFile[];
}

type TruthRules = Pick<RuleSet, "extensions" | "renames" | "paths">;

/**
 * A renamed target counts by its old path, which is what `Target.path` holds, unless the rules say otherwise; where they map paths, by the
 * mapped path as well. Of several names the first that the corpus has is the target's. One file named twice counts once, by its best
 * grade. Targets of other extensions than the rules' are in neither list.
 */
export function truthOf(targets: readonly Target[], corpus: CorpusFiles | null, rules: TruthRules): Truth {
  const present = new Map<string, { grade: number; names: Set<string> }>();
  const absent: typeof present = new Map();
  for (const target of targets) {
    const names = namesOf(target, rules);
    const [first = target.path] = names;
    if (rules.extensions !== null && !hasExtension(first, rules.extensions)) continue;
    const spelling =
      corpus === null
        ? first
        : (names.map(corpus.spelling).find((found) => found !== undefined) ??
          (target.partial === true ? whole(first, corpus) : undefined));
    const into = spelling === undefined ? absent : present;
    const name = spelling ?? first;
    const known = into.get(name) ?? { grade: 0, names: new Set([name]) };
    into.set(name, known);
    known.grade = Math.max(target.grade, known.grade);
    for (const other of names) known.names.add(other);
  }
  return { present: asList(present), absent: asList(absent) };
}

/** Every path that means the target, best first. */
function namesOf({ path, renamed_to }: Target, { renames, paths }: TruthRules): string[] {
  const own = renames === "old" || renamed_to === null ? [path] : renames === "new" ? [renamed_to] : [path, renamed_to];
  return [...own, ...own.flatMap((name) => mappedPath(name, paths) ?? [])];
}

/** A path without its beginning stands for the one file that ends with it; of several, nobody knows which is meant. */
function whole(path: string, corpus: CorpusFiles): string | undefined {
  return corpus.index?.bySuffix(path) ?? undefined;
}

function asList(files: ReadonlyMap<string, { readonly grade: number; readonly names: ReadonlySet<string> }>): TrueFile[] {
  return [...files].map(([path, { grade, names }]) => ({ path, names: [...names], grade }));
}

/** What scoring needs of a case: text only as far as reports show it. */
export type ScoreableCase = Pick<Case, "id" | "number" | "title" | "url" | "targets" | "links" | "best_grade" | "strata"> &
  Partial<Pick<Case, "repository" | "body" | "created_at">>;

/**
 * The paths that the original takes for the truth: every file of every linked pull request by its name *after* the change.
 * A data set without pull requests (an import) has only targets to offer.
 */
export function impactedFiles({ links, targets }: Pick<Case, "links" | "targets">): string[] {
  const linked = links.flatMap((link) => link.files.map((file) => file.path));
  return [...new Set(linked.length > 0 ? linked : targets.map((target) => target.renamed_to ?? target.path))];
}
