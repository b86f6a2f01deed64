/**
 * `include:` and `exclude:` globs of a source tree.
 *
 * Globs see whole paths relative to the tree's root and match hidden files too: `*.java` means the root folder alone, two
 * stars and a slash before it mean every folder. A file is in when some include matches (none given: all are in) and no exclude does.
 */
import picomatch from "picomatch";

export interface Globs {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** What is wrong with a glob, or null. */
export function globProblem(glob: string): string | null {
  if (glob.trim() === "") return "an empty pattern matches nothing: leave it out, or write `**` for every file";
  if (glob.length > 500) return "a pattern may have at most 500 characters";
  if (glob.startsWith("!")) return "patterns are not negated with `!`: write it below `exclude` instead";
  if (glob.startsWith("/") || glob.includes("\\")) {
    return "patterns are relative to the root of the tree and use `/`: write `src/**/*.java`, not an absolute or Windows path";
  }
  if (glob.split("/").includes("..")) return "patterns can't leave the tree: remove `..`";
  return null;
}

const OPTIONS = { dot: true, nonegate: true, strictSlashes: true };

function compiled(globs: readonly string[]): ((path: string) => boolean)[] {
  return globs.map((glob) => picomatch(plain(glob), OPTIONS));
}

function plain(glob: string): string {
  return glob.replace(/^\.\//, "");
}

/** A name that no glob names: what matches it would match any. */
const ANY = "\u{f8ff}";

/**
 * May files below this folder be chosen? Exact for folders outside of where each `include` begins, and for those whose every file an
 * `exclude` takes (`vendor/**`); in doubt, yes.
 */
export function folderSelector({ include, exclude }: Globs): (folder: string) => boolean {
  const bases = include.map((glob) => picomatch.scan(plain(glob)).base).map((base) => (base === "" ? "" : `${base}/`));
  const excluded = compiled(exclude);
  return (folder) => {
    const prefix = `${folder}/`;
    const within = bases.length === 0 || bases.some((base) => base.startsWith(prefix) || prefix.startsWith(base));
    // Files of the folder itself, and any deep below it: a pattern that takes both of them takes all.
    const probes = [`${prefix}${ANY}`, `${prefix}${ANY}/${ANY}/${ANY}`];
    return within && !excluded.some((matches) => probes.every((probe) => matches(probe)));
  };
}

export function selector({ include, exclude }: Globs): (path: string) => boolean {
  const included = compiled(include);
  const excluded = compiled(exclude);
  return (path) =>
    (included.length === 0 || included.some((matches) => matches(path))) && !excluded.some((matches) => matches(path));
}

/** For notes and failures: how many of a source's files the globs chose. */
export function selectionNote(selected: number, total: number): string[] {
  return selected === total ? [] : [`${selected} of ${total} files ${SELECTION}`];
}

const SELECTION = "are selected by include and exclude";

/** What the pipeline file asked for is no surprise to its author, unlike what was left out unasked. */
export function isSelectionNote(note: string): boolean {
  return note.endsWith(SELECTION);
}

export function nothingSelected(source: string, total: number, { include, exclude }: Globs): string {
  if (total === 0) return `${source} has no files`;
  const globs = [...include.map((glob) => `include ${glob}`), ...exclude.map((glob) => `exclude ${glob}`)];
  return `none of the ${total} files of ${source} is selected by ${globs.join(", ")}. Patterns are relative to the tree's root; \`**/*.java\` means every folder`;
}
