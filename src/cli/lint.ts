/**
 * `bench lint`: what is wrong with a data set, before a token is spent on it; the repaired and the masked variant, and its card. Its output is a
 * function of the files that it reads.
 */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { renderDiagnostic, visible } from "../base/diagnostics.js";
import { digestBytes } from "../base/json.js";
import { nearest } from "../base/nearest.js";
import { datasetDigest } from "../dataset/build.js";
import { cardMarkdown, datasetCard } from "../dataset/card.js";
import { FINDINGS, type FindingName, type LintFinding, type LintReport, SEVERITIES } from "../dataset/lint/contract.js";
import { fixDataset } from "../dataset/lint/link-rules.js";
import { lintDataset } from "../dataset/lint/lint.js";
import { maskDataset } from "../dataset/mask.js";
import { minedFile } from "../dataset/mined-file.js";
import { readDataset } from "../dataset/read.js";
import { restrictDataset } from "../dataset/restrict.js";
import { type BadRecord, type Dataset, FILE_ROLES, type FileRole, type Target } from "../dataset/schema.js";
import { writeAtomically } from "../engine/record.js";
import { corpusFiles, isInFiles } from "../scoring/truth.js";
import { type Command, EXIT, type Io, UsageError } from "./contract.js";
import { corpusPaths } from "./corpus-paths.js";
import { lintText } from "./lint-text.js";
import { flag, list } from "./options.js";
import { type Options, text } from "./scoring-options.js";

export const command: Command = {
  usage: "lint <dataset>",
  summary: "Say what is wrong with a data set, and what it does to the figures; repair it, mask it, write its card",
  options: [
    { flag: "--corpus <dir>", description: "Source tree that the questions are about: targets are looked up in it" },
    {
      flag: "--extensions <list>",
      description:
        "Endings of files that count, such as .java,.kt, or all (default: the data set's; .java for the original's files)",
    },
    { flag: "--roles <list>", description: `Roles of files that count: all, or some of ${FILE_ROLES.join(",")} (default: all)` },
    {
      flag: "--fail-on <findings>",
      description: "Exit 3 if one of these is found: names, error, warning, or any (repeatable)",
      repeated: true,
    },
    { flag: "--fix <file>", description: "Write the data set with the link rules applied, and what that removed" },
    { flag: "--mask <file>", description: "Write the data set with the names of the targets taken out of the texts" },
    { flag: "--card <dir>", description: "Write the data set's card, dataset-card.md and dataset-card.json, into a folder" },
    { flag: "--json", description: "One JSON value on stdout" },
  ],
  examples: [
    "bench lint mined_projects/owner__repo.json",
    "bench lint dataset.jsonl --corpus ../repo --fail-on foreign-repository,bulk-change",
    "bench lint old.json --fix repaired.json --roles source",
    "bench lint dataset.json --mask masked.json --card cards/",
  ],
  run: lint,
};

async function lint(args: readonly string[], options: Options, io: Io): Promise<number> {
  const [file = ""] = args;
  const failOn = gatesOf(list(options, "fail-on"), text(options, "corpus") !== undefined);
  const outputs = outputsOf(file, options, io);
  const given = await readFrom(file, io);
  const dataset = narrowed(given, options);
  const report = lintDataset(dataset, { bad: given.bad, exists: await treeOf(options, io) });
  const card = datasetCard(dataset, report, { file, fileDigest: given.fileDigest, minedAt: given.minedAt });
  const fixed = outputs.fix === undefined ? null : fixDataset(dataset);
  const contents: [path: string | undefined, content: () => string][] = [
    [outputs.fix, () => minedFile(fixed ?? dataset, given.minedAt ?? "")],
    // Both at once: the repaired data set, masked.
    [outputs.mask, () => minedFile(maskDataset(fixed ?? dataset), given.minedAt ?? "")],
    [outputs.card === undefined ? undefined : `${outputs.card}.md`, () => cardMarkdown(card)],
    [outputs.card === undefined ? undefined : `${outputs.card}.json`, () => `${JSON.stringify(card, null, 2)}\n`],
  ];
  const wrote: string[] = [];
  for (const [path, content] of contents) {
    if (path === undefined) continue;
    await writeAtomically(resolve(io.cwd, path), content());
    wrote.push(path);
  }
  const failed = report.findings.filter((finding) => failOn.some((isMeant) => isMeant(finding)));
  if (flag(options, "json")) {
    const head = { dataset: file, project_name: dataset.header.project_name, dataset_digest: datasetDigest(dataset) };
    const rules = { links: dataset.header.links, extensions: dataset.header.extensions };
    const value = { ...head, rules, ...report, failed_on: failed.map(({ name }) => name), wrote };
    io.stdout(`${JSON.stringify(value, null, 2)}\n`);
  } else io.stdout(lintText(dataset, report));
  for (const path of wrote) io.stderr(`wrote ${path}\n`);
  if (fixed !== null) io.stderr(`${fixText(report, dataset, fixed)}\n`);
  for (const { name, what } of failed) io.stderr(`bench lint: ${name}: ${visible(what)}\n`);
  return failed.length > 0 ? EXIT.gate : EXIT.done;
}

/** Where to write; the card's without its extension. */
function outputsOf(file: string, options: Options, io: Io): Record<"fix" | "mask" | "card", string | undefined> {
  const [fix, mask, folder] = ["fix", "mask", "card"].map((name) => text(options, name));
  const card =
    folder === undefined
      ? undefined
      : /\.(?:md|json)$/i.test(folder)
        ? folder.replace(/\.[^.]*$/, "")
        : join(folder, "dataset-card");
  const taken = new Map([[resolve(io.cwd, file), "the data set itself"]]);
  for (const [name, path] of [
    ["--fix", fix],
    ["--mask", mask],
    ["--card", card === undefined ? undefined : `${card}.json`],
  ]) {
    if (path === undefined || name === undefined) continue;
    const other = taken.get(resolve(io.cwd, path));
    if (other !== undefined) throw new UsageError(`${name}: ${path} is ${other}; give another name`);
    taken.set(resolve(io.cwd, path), `what ${name} writes`);
  }
  return { fix, mask, card };
}

interface Given {
  readonly dataset: Dataset;
  readonly bad: readonly BadRecord[];
  readonly original: boolean;
  readonly minedAt: string | null;
  readonly fileDigest: string;
}

async function readFrom(file: string, io: Io): Promise<Given> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(resolve(io.cwd, file));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : (code ?? String(error));
    throw new UsageError(`${file} can't be read: ${why}`);
  }
  const content = new TextDecoder().decode(bytes);
  const read = readDataset(content, file);
  if (!read.ok) throw new UsageError(renderDiagnostic(read.error));
  const { dataset, bad, format } = read.value;
  if (dataset.cases.length === 0) throw new UsageError(`${file} holds no usable case`);
  const mined = format === "mined" ? (JSON.parse(content.replace(/^\ufeff/, "")) as Record<string, unknown>) : {};
  return {
    dataset,
    bad,
    // Only the original's files have no version.
    original: format === "mined" && mined.schema_version === undefined,
    minedAt: typeof mined.mined_at === "string" ? mined.mined_at.slice(0, 40) : null,
    fileDigest: digestBytes(bytes),
  };
}

/** The original counts Java files alone, and its file holds every changed file. */
function narrowed({ dataset, original }: Given, options: Options): Dataset {
  const endings = list(options, "extensions").map((ending) => ending.toLowerCase());
  const named = endings.includes("all") ? null : endings.map((ending) => (ending.startsWith(".") ? ending : `.${ending}`));
  const extensions = endings.length > 0 ? named : (dataset.header.extensions ?? (original ? [".java"] : null));
  const roles = list(options, "roles");
  const unknown = roles.find((role) => role !== "all" && !(FILE_ROLES as readonly string[]).includes(role));
  if (unknown !== undefined) throw new UsageError(`--roles: ${JSON.stringify(unknown)} is none of all, ${FILE_ROLES.join(", ")}`);
  const chosen = roles.length === 0 || roles.includes("all") ? null : (roles as FileRole[]);
  if (extensions === null && chosen === null) return dataset;
  const restricted = restrictDataset(dataset, { links: null, extensions, roles: chosen });
  if (!restricted.ok) throw new UsageError(restricted.error);
  return restricted.value;
}

async function treeOf(options: Options, io: Io): Promise<((_: unknown, target: Target) => boolean) | null> {
  const folder = text(options, "corpus");
  if (folder === undefined) return null;
  const found = await corpusPaths(folder, io.cwd, false);
  if (!found.ok) throw new UsageError(`--corpus: ${found.error}`);
  if (found.value.paths.length === 0) throw new UsageError(`--corpus: ${folder} holds no file`);
  const files = corpusFiles(found.value);
  return (_, target) => isInFiles(target, files);
}

function gatesOf(names: readonly string[], hasTree: boolean): ((finding: LintFinding) => boolean)[] {
  const wide = ["any", ...SEVERITIES.filter((severity) => severity !== "info")];
  return names.map((name) => {
    if (name === "any") return () => true;
    // `warning` or worse.
    if (name === "error") return ({ severity }) => severity === "error";
    if (name === "warning") return ({ severity }) => severity !== "info";
    if (name === "absent-at-base" && !hasTree)
      throw new UsageError(`--fail-on ${name} needs a tree to look in: give --corpus DIR`);
    if ((FINDINGS as readonly string[]).includes(name)) return (finding) => finding.name === (name as FindingName);
    const near = nearest(name, [...FINDINGS, ...wide]);
    const hint =
      near === undefined ? `; findings are ${FINDINGS.join(", ")}, and ${wide.join(", ")}` : `; did you mean "${near}"?`;
    throw new UsageError(`--fail-on: ${JSON.stringify(name)} is no finding${hint}`);
  });
}

function fixText({ size }: LintReport, before: Dataset, { header, cases }: Dataset): string {
  const kept = cases.filter(({ targets }) => targets.length > 0);
  const targets = kept.reduce((sum, one) => sum + one.targets.length, 0);
  const removed = header.audit.slice(before.header.audit.length).map(({ rule, removed: count }) => `${rule} ${count}`);
  const what = removed.length === 0 ? "nothing was removed" : `removed: ${removed.join(", ")} (by name in the file's \`audit\`)`;
  return `repaired: ${kept.length} of ${size.cases_with_targets} cases with a target and ${targets} of ${size.targets} targets are left; ${what}`;
}
