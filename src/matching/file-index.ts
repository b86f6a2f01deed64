/**
 * Look-ups over the files of a corpus, built once per tree and shared by all its cases.
 *
 * Everything is a hash look-up, for trees of 100,000 files. The table of all suffixes would hold every path as often as it has
 * folders, so suffixes are indexed lazily, per base name, and only where many files share one (`__init__.py`).
 */
import type { FileList } from "./contract.js";
import { normalisePath } from "./normalise.js";

/** One file, `null` = several (ambiguous), `undefined` = none. */
export type Lookup = string | null | undefined;

export interface FileIndex {
  readonly roots: readonly string[];
  /** Extensions that occur in the corpus, without the dot. */
  readonly extensions: ReadonlySet<string>;
  readonly size: number;
  /** The whole path; exact bytes first, then equal after Unicode normalisation. */
  readonly byPath: (path: string) => Lookup;
  /** `path` is a suffix on a `/` border. */
  readonly bySuffix: (path: string) => Lookup;
  /** Like `bySuffix` over paths without extension: package and class. Prefers the file that lies directly in a source root. */
  readonly byName: (segments: readonly string[]) => Lookup;
  /** Class name alone, over source files. */
  readonly byClass: (name: string) => Lookup;
  /** Base name with extension. */
  readonly byBase: (base: string) => Lookup;
  /** The same look-ups over lower-cased paths, with lower-cased arguments. */
  readonly folded: () => FileIndex;
}

/** Folders below which packages start. */
const SOURCE_ROOTS = new Set(
  "java kotlin scala groovy src lib libs python main test tests app php cs include source sources js ts go core".split(" "),
);
/** Files of these kinds hold no classes: `JSONObject.md` doesn't make `JSONObject` ambiguous. */
const NO_CLASSES = new Set(
  "md mdx txt rst adoc html htm xml json yaml yml properties csv tsv png jpg jpeg gif svg ico pdf css scss lock toml ini cfg sql class map snap patch diff".split(
    " ",
  ),
);
/** A module is the folder of these. */
const MODULE_FILES = new Set(["__init__", "index", "mod"]);
/** Buckets up to this size are scanned; larger ones get a table of suffixes. */
const SCANNED = 16;

export function buildFileIndex(list: FileList): FileIndex {
  return indexOf(list, (text) => text);
}

interface Row {
  /** The file's path as the corpus spells it. */
  readonly file: string;
  /** What is compared: normalised, folded if asked, for names without extension. */
  readonly key: string;
}

function indexOf(list: FileList, fold: (text: string) => string): FileIndex {
  const files = new Set(list.paths);
  const folding = fold("A") !== "A";
  const paths = new Map<string, string | null>();
  const bases = new Buckets();
  const names = new Buckets();
  const classes = new Map<string, string | null>();
  const otherClasses = new Map<string, string | null>();
  const baseNames = new Map<string, string | null>();
  const extensions = new Set<string>();
  for (const file of files) {
    const path = fold(normalisePath(file));
    put(paths, path, file);
    const base = path.slice(path.lastIndexOf("/") + 1);
    bases.add(base, { file, key: path });
    put(baseNames, base, file);
    const dot = base.lastIndexOf(".");
    const extension = dot > 0 ? base.slice(dot + 1) : "";
    if (extension !== "") extensions.add(extension);
    const stem = dot > 0 ? base.slice(0, dot) : base;
    const bare = dot > 0 ? path.slice(0, path.length - extension.length - 1) : path;
    if (NO_CLASSES.has(extension.toLowerCase())) {
      put(otherClasses, stem, file);
      continue;
    }
    names.add(stem, { file, key: bare });
    put(classes, stem, file);
    const folder = bare.slice(0, Math.max(0, bare.length - stem.length - 1));
    if (MODULE_FILES.has(stem) && folder !== "") {
      names.add(folder.slice(folder.lastIndexOf("/") + 1), { file, key: folder });
    }
  }
  let lower: FileIndex | undefined;
  const index: FileIndex = {
    roots: list.roots.map((root) => normalisePath(root)),
    extensions,
    size: files.size,
    byPath: (path) => (!folding && files.has(path) ? path : paths.get(path)),
    bySuffix: (path) => single(bases.ending(path)),
    byName: (segments) => nameOf(names.ending(segments.join("/")), segments.join("/")),
    byClass: (name) => classes.get(name) ?? (classes.has(name) ? null : otherClasses.get(name)),
    byBase: (base) => baseNames.get(base),
    folded: () => {
      lower ??= indexOf({ paths: list.paths, roots: list.roots.map((root) => root.toLowerCase()) }, (text) => text.toLowerCase());
      return lower;
    },
  };
  return index;
}

function put(map: Map<string, string | null>, key: string, file: string): void {
  map.set(key, map.has(key) ? null : file);
}

function single(rows: readonly Row[]): Lookup {
  const first = rows[0];
  if (first === undefined) return undefined;
  return rows.every((row) => row.file === first.file) ? first.file : null;
}

/** Several files end in the name: the one whose package starts at a source root is meant, if it is one. */
function nameOf(rows: readonly Row[], name: string): Lookup {
  const one = single(rows);
  if (one !== null) return one;
  const rooted = rows.filter((row) => {
    const prefix = row.key.slice(0, Math.max(0, row.key.length - name.length - 1));
    return prefix === "" || SOURCE_ROOTS.has(prefix.slice(prefix.lastIndexOf("/") + 1));
  });
  return rooted.length === 0 ? null : single(rooted);
}

/** Rows by the last segment of their key; all rows whose key ends in a given path. */
class Buckets {
  readonly #rows = new Map<string, Row[]>();
  readonly #suffixes = new Map<string, Map<string, Row[]>>();

  add(last: string, row: Row): void {
    const bucket = this.#rows.get(last);
    if (bucket === undefined) this.#rows.set(last, [row]);
    else bucket.push(row);
  }

  ending(path: string): readonly Row[] {
    const last = path.slice(path.lastIndexOf("/") + 1);
    const bucket = this.#rows.get(last);
    if (bucket === undefined) return [];
    if (path === last) return bucket;
    if (bucket.length <= SCANNED) return bucket.filter((row) => row.key === path || row.key.endsWith(`/${path}`));
    return this.#table(last, bucket).get(path) ?? [];
  }

  #table(last: string, bucket: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
    const known = this.#suffixes.get(last);
    if (known !== undefined) return known;
    const table = new Map<string, Row[]>();
    for (const row of bucket) {
      for (let at = row.key.lastIndexOf("/"); ; at = row.key.lastIndexOf("/", at - 1)) {
        const suffix = row.key.slice(at + 1);
        const rows = table.get(suffix);
        if (rows === undefined) table.set(suffix, [row]);
        else rows.push(row);
        if (at <= 0) break;
      }
    }
    this.#suffixes.set(last, table);
    return table;
  }
}
