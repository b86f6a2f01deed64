/**
 * The truth of a case, cut to what an answer could have named: the targets that exist in the corpus at the base commit.
 *
 * A file that the fix adds, or one of a foreign repository, can't be found by looking at the tree, so demanding it would
 * measure the data set and not the backend. Such targets are never dropped in silence: they are listed as absent and every
 * report shows the figures against all targets beside the headline.
 */
import type { Case, Target } from "../dataset/schema.js";
import type { FileList } from "../matching/contract.js";
import { buildFileIndex, type FileIndex } from "../matching/file-index.js";
import { seedUniverse } from "../matching/seed.js";

/** The file list of one tree, ready for matching and for membership tests; built once per tree and shared by its cases. */
export interface CorpusFiles {
  readonly paths: readonly string[];
  readonly index: FileIndex;
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
    index: buildFileIndex(list),
    spelling: (path) => (exact.has(path) ? path : byForm.get(path.normalize("NFC"))),
    seedUniverse: () => {
      universe ??= seedUniverse(list.paths);
      return universe;
    },
  };
}

/** A target that counts: its path in the corpus's spelling, and its grade. */
export interface TrueFile {
  readonly path: string;
  readonly grade: number;
}

export interface Truth {
  /** Targets that exist in the corpus; all of them when there is no corpus. */
  readonly present: readonly TrueFile[];
  readonly absent: readonly TrueFile[];
}

/** A renamed target counts by its old path, which is what `Target.path` holds. One file named twice counts once, by its best grade. */
export function truthOf(targets: readonly Target[], corpus: CorpusFiles | null): Truth {
  const present = new Map<string, number>();
  const absent = new Map<string, number>();
  for (const { path, grade } of targets) {
    const spelling = corpus === null ? path : corpus.spelling(path);
    const into = spelling === undefined ? absent : present;
    const name = spelling ?? path;
    into.set(name, Math.max(grade, into.get(name) ?? 0));
  }
  return { present: asList(present), absent: asList(absent) };
}

function asList(grades: ReadonlyMap<string, number>): TrueFile[] {
  return [...grades].map(([path, grade]) => ({ path, grade }));
}

/** What scoring needs of a case: text only as far as reports show it. */
export type ScoreableCase = Pick<Case, "id" | "number" | "title" | "url" | "targets" | "links" | "best_grade" | "strata"> &
  Partial<Pick<Case, "repository">>;

/**
 * The paths that the original takes for the truth: every file of every linked pull request by its name *after* the change.
 * A data set without pull requests (an import) has only targets to offer.
 */
export function impactedFiles({ links, targets }: Pick<Case, "links" | "targets">): string[] {
  const linked = links.flatMap((link) => link.files.map((file) => file.path));
  return [...new Set(linked.length > 0 ? linked : targets.map((target) => target.renamed_to ?? target.path))];
}
