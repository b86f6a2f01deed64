/**
 * A variant of a data set whose texts do not name their answer: every path, file name and class of a target is replaced by a placeholder that
 * is the same wherever the name comes again (`Hidden1`, `Hidden1.java`, `hidden/Hidden1.java`). Line numbers, members, stack frames and the rest of
 * the text stay, so that what is left to understand stays understandable.
 *
 * The figures of the two variants side by side say how much of a result was reading and how much was finding.
 */
import { LEAK_CLASSES, leakageOf, namesOfTargets } from "./leakage.js";
import { isReplaceable, type Naming, type TargetNames } from "./names.js";
import type { Case, Dataset } from "./schema.js";

/** Name of the stratum that keeps what each case was before. */
export const UNMASKED_STRATUM = "leak_unmasked";

const PLACEHOLDERS = ["Hidden", "Masked", "Redacted", "Placeholder", "Veiled"];

/** Cases, truth and links stay; titles and bodies change, and so does the digest. */
export function maskDataset(dataset: Dataset): Dataset {
  const counts = new Map<string, number>(LEAK_CLASSES.map((name) => [name, 0]));
  let replaced = 0;
  const cases = dataset.cases.map((one) => {
    const before = leakageOf(one);
    if (before === null) return one;
    counts.set(before.class, (counts.get(before.class) ?? 0) + 1);
    const masked = maskCase(one);
    if (masked.title !== one.title || masked.body !== one.body) replaced++;
    return { ...masked, strata: { ...masked.strata, [UNMASKED_STRATUM]: before.class } };
  });
  const shown = LEAK_CLASSES.map((name) => `${name} ${counts.get(name) ?? 0}`).join(", ");
  const note = `masked: paths, file names and classes of the targets are replaced by placeholders in the texts of ${replaced} of ${cases.length} cases (leakage before: ${shown}); figures are not comparable with those of the unmasked data set`;
  return { header: { ...dataset.header, notes: [...dataset.header.notes, note] }, cases };
}

export function maskCase(one: Case): Case {
  if (one.targets.length === 0) return one;
  const { names } = namesOfTargets(one.targets);
  const own = one.targets.flatMap(({ path, renamed_to, classes = [], functions = [] }) => [
    path,
    renamed_to ?? "",
    ...[...classes, ...functions].map(({ name }) => name),
  ]);
  const stem = placeholderFor([one.title, one.body ?? "", ...own]);
  const numbers = new Map<string, number>();
  const title = settle(one.title, names, stem, numbers);
  return { ...one, title, body: one.body === null ? null : settle(one.body, names, stem, numbers) };
}

/** One that neither the text nor a target holds, so that no placeholder can be taken for a name. */
function placeholderFor(texts: readonly string[]): string {
  const lower = texts.map((text) => text.toLowerCase());
  const isFree = (candidate: string) => lower.every((text) => !text.includes(candidate.toLowerCase()));
  for (const candidate of PLACEHOLDERS) if (isFree(candidate)) return candidate;
  let letters = "x";
  while (!isFree(`Hidden${letters}`)) letters += "x";
  return `Hidden${letters}`;
}

const MOST_PASSES = 20;

/** What is left after a replacement may form a name anew (`a/x/b.js` with `x/b.js` taken out): it is read again until nothing is found. */
function settle(text: string, names: TargetNames, stem: string, numbers: Map<string, number>): string {
  let current = text;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const next = replaceNames(current, names, stem, numbers);
    if (next === current) return current;
    current = next;
  }
  return current;
}

function replaceNames(text: string, names: TargetNames, stem: string, numbers: Map<string, number>): string {
  let masked = "";
  let at = 0;
  for (const naming of names.namings(text, { parts: true })) {
    const name = text.slice(naming.start, naming.end);
    if (!isReplaceable(naming, name)) continue;
    const from = Math.max(at, naming.from);
    masked += text.slice(at, from) + placeholder(naming, text.slice(from, naming.start), name, stem, numbers);
    at = naming.end;
  }
  return masked + text.slice(at);
}

function placeholder({ isFile }: Naming, folders: string, name: string, stem: string, numbers: Map<string, number>): string {
  const dot = isFile ? name.lastIndexOf(".") : -1;
  const [base, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  const key = base.normalize("NFC").toLowerCase();
  const number = numbers.get(key) ?? numbers.size + 1;
  numbers.set(key, number);
  // The folders go as one, whose separator is the text's own: dots of a package, slashes of a path.
  const separator = /(?:%2f|%5c|[/\\]+|\.)$/i.exec(folders)?.[0] ?? "";
  return `${folders === "" ? "" : `${stem.toLowerCase()}${separator}`}${stem}${number}${extension}`;
}
