/**
 * `bench export queries|answers|dataset|bundle`: what other programs and other people need. Goes to stdout unless `--out` names a file; a
 * bundle is always a file.
 */
import { resolve } from "node:path";
import { writeAnswers } from "../answers/file.js";
import { renderPrompt } from "../backends/prompt.js";
import { renderDiagnostic } from "../base/diagnostics.js";
import { minedFile } from "../dataset/mined-file.js";
import { readDataset } from "../dataset/read.js";
import type { Case, Dataset } from "../dataset/schema.js";
import { writeAtomically } from "../engine/record.js";
import { type Command, EXIT, type Io, UsageError } from "./contract.js";
import { count, flag, list } from "./options.js";
import { datasetFileText, type Options, text } from "./scoring-options.js";
import { locateRun, openStoredRun, runsFolder, type StoredRun } from "./stored-run.js";

const WHAT = ["queries", "answers", "dataset", "bundle"] as const;

export const command: Command = {
  usage: "export <what> <from>",
  summary: "Write queries, answers, a data set, or a bundle that others can score again",
  options: [
    { flag: "--out <file>", description: "The file to write (default: stdout; bundle: RUN.bundle.tgz)" },
    { flag: "--with-truth", description: "queries: also the files that each answer should name (the original's export)" },
    { flag: "--issue-limit <n>", description: "queries: at most so many" },
    { flag: "--extra-prompt <text>", description: "queries: the task in your own words" },
    { flag: "--include-empty-java", description: "queries: also cases without any file to name" },
    {
      flag: "--extensions <list>",
      description: "queries: endings of files that count, such as .java,.kt (default: the data set's)",
    },
    { flag: "--not-secret <fingerprints>", description: "bundle: what looks like a token and is none", repeated: true },
    { flag: "--runs <folder>", description: "Where runs are (default evaluation_results)" },
    { flag: "--cache <folder>", description: "The cache (default cache)" },
  ],
  examples: [
    "bench export queries mined_projects/owner__repo.json",
    "bench export answers latest:bm25 --out answers.jsonl",
    "bench export bundle latest --out paper.bundle.tgz",
  ],
  run: async ([what, from], options, io) => {
    if (from === undefined) throw new UsageError(`export what of what? bench export ${WHAT.join("|")} RUN`);
    switch (what) {
      case "queries":
        return put(await queries(from, options, io), options, io);
      case "answers":
        return withRun(from, options, io, (run) => put(answersText(run), options, io));
      case "dataset":
        return withRun(from, options, io, (run) => put(datasetText(run), options, io));
      case "bundle":
        return (await import("./export-bundle.js")).exportBundle(from, options, io);
      default:
        throw new UsageError(`unknown export ${JSON.stringify(what)}: ${WHAT.join(", ")}`);
    }
  },
};

async function put(content: string, options: Options, io: Io): Promise<number> {
  const out = text(options, "out");
  if (out === undefined) io.stdout(content);
  else {
    await writeAtomically(resolve(io.cwd, out), content);
    io.stderr(`wrote ${out}\n`);
  }
  return EXIT.done;
}

async function withRun(named: string, options: Options, io: Io, use: (run: StoredRun) => Promise<number>): Promise<number> {
  const run = await openStoredRun(await locateRun(named, runsFolder(options, io), io.cwd), options, io);
  try {
    for (const note of run.notes) io.stderr(`note: ${note}\n`);
    return await use(run);
  } finally {
    await run.close();
  }
}

/** Answers bear the label of their cell: two cells of one kind must not become one backend. */
function answersText(run: StoredRun): string {
  return writeAnswers(run.cells.flatMap(({ label, answers }) => answers.map((answer) => ({ ...answer, backend: label }))));
}

/** The cases that the run was about, as a mined file; its time is that of the run, so that the same run gives the same bytes. */
function datasetText(run: StoredRun): string {
  const [first] = run.cells;
  if (first === undefined) throw new UsageError(`${run.id} has no cell`);
  const other = run.cells.find(({ facts }) => facts.dataset.digest !== first.facts.dataset.digest);
  if (other !== undefined)
    throw new UsageError(
      `the cells of ${run.id} have several data sets: choose one, ${run.id}:${first.label} or ${run.id}:${other.label}`,
    );
  if (run.source === "reports") {
    throw new UsageError(
      `the data set of ${run.id} is no longer in the cache, and a report has no issue texts and no links: give the cache with --cache`,
    );
  }
  return minedFile({ header: first.header, cases: first.cases }, run.record?.started_at ?? "");
}

async function queries(from: string, options: Options, io: Io): Promise<string> {
  const { dataset, original } = await datasetFrom(from, options, io);
  const given = list(options, "extensions").map((ending) => (ending.startsWith(".") ? ending : `.${ending}`));
  const extensions = given.length > 0 ? given : (dataset.header.extensions ?? (original ? [".java"] : null));
  const counts = (path: string) =>
    extensions === null || extensions.some((ending) => path.toLowerCase().endsWith(ending.toLowerCase()));
  const limit = count(options, "issue-limit", 1) ?? Number.POSITIVE_INFINITY;
  const truth = flag(options, "with-truth");
  // As the original: the limit cuts the list before cases without a file to name are skipped.
  const rows = dataset.cases
    .slice(0, limit)
    .map((one) => ({ one, expected: expectedOf(one, original).filter(counts) }))
    .filter(({ expected }) => expected.length > 0 || flag(options, "include-empty-java"))
    .map(({ one, expected }) => ({
      id: one.id,
      issue_number: one.number,
      query: renderPrompt("text+format", one, { extraPrompt: text(options, "extra-prompt") ?? null, extensions }),
      ...(truth ? { expected_classes_paths: expected } : {}),
    }));
  return `${JSON.stringify(rows, null, 2)}\n`;
}

/** The original's truth is a file's name after the change; ours is the one that the tree in question has. */
function expectedOf({ targets, links }: Case, original: boolean): string[] {
  const paths = original ? links.flatMap(({ files }) => files.map(({ path }) => path)) : targets.map(({ path }) => path);
  return [...new Set(paths)].sort();
}

async function datasetFrom(from: string, options: Options, io: Io): Promise<{ dataset: Dataset; original: boolean }> {
  let content: string;
  try {
    content = await datasetFileText(from, io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { dataset: await datasetOfRun(from, options, io), original: false };
  }
  const read = readDataset(content, from);
  if (!read.ok) throw new UsageError(renderDiagnostic(read.error));
  for (const { record, what } of read.value.bad) io.stderr(`${from}: record ${record}: ${what}\n`);
  // Only the original's files have no version.
  return { dataset: read.value.dataset, original: read.value.format === "mined" && !/"schema_version"\s*:/.test(content) };
}

async function datasetOfRun(from: string, options: Options, io: Io): Promise<Dataset> {
  const run = await openStoredRun(await locateRun(from, runsFolder(options, io), io.cwd), options, io);
  try {
    const [first] = run.cells;
    if (first === undefined || run.source === "reports") {
      throw new UsageError(`the texts of the issues of ${run.id} are no longer in the cache: give the data set's file`);
    }
    return { header: first.header, cases: first.cases };
  } finally {
    await run.close();
  }
}
