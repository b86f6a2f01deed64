/**
 * `bench query DATASET --backend KIND`: asks one backend, without a pipeline file, and writes its answers in the form that `bench score` reads;
 * `--text` asks a single question of one's own, and shows which files are read from the answer. Answers are kept as those of a pipeline.
 */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parse as parseYaml } from "yaml";
import { writeAnswers } from "../answers/file.js";
import { parseAnswer } from "../answers/parse.js";
import type { Answer } from "../answers/schema.js";
import { visible } from "../base/diagnostics.js";
import { digestJson } from "../base/json.js";
import { treeSchema } from "../corpus/contract.js";
import { treeRoots } from "../corpus/tree.js";
import type { ItemRef, StageOutput } from "../engine/contract.js";
import { timestamp } from "../engine/files.js";
import { writeAtomically } from "../engine/record.js";
import { matchEntries } from "../matching/match.js";
import { plural } from "../report/numbers.js";
import { corpusFiles } from "../scoring/truth.js";
import { StoredObjects } from "./cached-cells.js";
import { type Command, type Io, type OptionValue, UsageError } from "./contract.js";
import { count, duration, flag, list, text } from "./options.js";
import { world } from "./prepare.js";
import { screen } from "./progress.js";
import { benchVersion, cacheFolder, findProjectRoot, openCache } from "./project.js";
import { ANSWERS, queryGraph, SOURCES } from "./query-graph.js";
import { rulesNamed } from "./scoring-options.js";
import { answersOf } from "./stored-cell.js";

type Options = Readonly<Record<string, OptionValue>>;

export const command: Command = {
  usage: "query [dataset]",
  summary: "Ask one backend about a data set or a question of your own, without a pipeline",
  options: [
    { flag: "--backend <kind>", description: "bm25, chat, octocode, ... or ./my-backend.js, or a mapping as in pipelines" },
    { flag: "--opt <k=v>", description: "An option of the backend; v is read as YAML (repeatable)", repeated: true },
    { flag: "--corpus <dir>", description: "Source tree to search" },
    { flag: "--text <question>", description: "Ask this instead of a data set's cases" },
    { flag: "--repeats <n>", description: "How often each case is asked (default 1)" },
    { flag: "--items <ids>", description: "Ask about these cases only", repeated: true },
    { flag: "--sample <n>", description: "Ask about n cases only: the same ones every time" },
    { flag: "--force", description: "Ask again, whatever the cache holds" },
    { flag: "--offline", description: "No network: what is not in the cache fails" },
    { flag: "--jobs <n>", description: "At most n questions at once" },
    { flag: "--max-wait <duration>", description: "Longest wait for a limit (default 15m)" },
    { flag: "--out <file>", description: "Where the answers go, as JSON Lines (default: stdout)" },
    { flag: "--cache <folder>", description: "The cache (default cache)" },
    { flag: "--json", description: "One JSON value on stdout" },
  ],
  examples: [
    "bench query dataset.json --backend bm25 --opt top=15 --corpus ../repo --out answers.jsonl",
    'bench query --text "where are numbers parsed" --backend bm25 --corpus ../repo',
  ],
  run: query,
};

async function query(args: readonly string[], options: Options, io: Io): Promise<number> {
  const question = text(options, "text");
  const [dataset] = args;
  if ((dataset === undefined) === (question === undefined)) {
    throw new UsageError("ask about what? give a data set (bench query DATASET --backend KIND) or one question with --text");
  }
  const root = findProjectRoot(io.cwd);
  const backend = backendOf(options);
  const kind = String(backend.kind);
  const { stageKinds } = await import("../stages/registry.js");
  const kinds = await stageKinds({ extensions: /^\.{1,2}\//.test(kind) ? [kind] : [], folder: io.cwd });
  if (!kinds.ok) throw new UsageError(kinds.error);
  const folder = cacheFolder(options, root, io.cwd);
  const corpus = text(options, "corpus");
  const file = dataset === undefined ? await questionFile(question ?? "", folder) : resolve(io.cwd, dataset);
  const settings = {
    ...{ dataset: file, backend, repeats: count(options, "repeats", 1, 1000) ?? 1 },
    corpus: corpus === undefined ? null : resolve(io.cwd, corpus),
  };
  const graph = queryGraph(settings, kinds.value, io.cwd);
  if (!graph.ok) throw new UsageError(graph.error);

  const [{ runPipeline }, { openJournal }] = await Promise.all([import("../engine/run.js"), import("../engine/journal.js")]);
  const shown = screen(io, { quiet: true });
  const outside = world(io, shown.hold);
  const now = outside.clock.now();
  // Beside the cache and not among the runs: `latest` must mean a run that has scores.
  const runFolder = join(folder, "querying", digestJson([settings.backend, settings.dataset, settings.corpus]).slice(0, 16));
  const journal = openJournal(runFolder, outside.clock.now, (line) => line);
  const cache = await openCache(folder, { ...io, stderr: (line) => shown.note(line) });
  const items = list(options, "items");
  try {
    const result = await runPipeline({
      graph: graph.value,
      kinds: kinds.value,
      cache,
      options: {
        ...{ runId: `${timestamp(now)}-query`, startedAt: now, runFolder, minedFolder: join(root, "mined_projects") },
        ...{ projectRoot: root, may: null, skipped: new Set(), refreshed: new Set() },
        forced: new Set(flag(options, "force") ? [ANSWERS] : []),
        selection: { items: items.length === 0 ? null : items, sample: count(options, "sample", 1) ?? null },
        ...{ offline: flag(options, "offline"), jobs: count(options, "jobs", 1) ?? null },
        maxWait: duration(options, "max-wait") ?? 15 * 60_000,
      },
      world: outside,
      events: (event) => {
        journal.sink(event);
        shown.event(event);
      },
      signal: io.interrupted,
      command: ["bench", "query"],
      version: await benchVersion(),
      lock: false,
    });
    shown.end();
    const objects = new StoredObjects(cache);
    const load = async (refs: readonly ItemRef[]) =>
      (await objects.texts(refs.map(({ digest }) => digest))).map((one): unknown => JSON.parse(one));
    const output = await result.output(ANSWERS);
    const answers = output === null ? [] : answersOf(await load(output.items)).answers;
    const failed = result.nodes.find(({ state }) => state === "failed");
    if (failed?.message != null) io.stderr(`${failed.stage}: ${failed.message}\n`);
    if (result.message !== null && result.state !== "done") io.stderr(`${result.message}\n`);
    for (const { id, status, error } of answers) {
      if (error !== null) io.stderr(`${visible(id)}: ${status}: ${visible(error)}\n`);
    }
    const queries = result.counts.queries ?? 0;
    const read = question === undefined ? null : await readFiles(answers, await result.output(SOURCES), load, folder, io);
    await put(answers, read, { exit: result.exit, queries }, options, io);
    io.stderr(`${plural(answers.length, "answer")}, ${plural(queries, "query", "queries")}\n`);
    return result.exit;
  } finally {
    journal.close();
    await cache.close();
  }
}

function backendOf(options: Options): Record<string, unknown> {
  const kind = text(options, "backend");
  if (kind === undefined) throw new UsageError("which backend? --backend bm25 (docs/backends lists them)");
  const typed = Array.isArray(options.opt) ? (options.opt as readonly string[]) : [];
  const pairs = typed.map((one): [string, unknown] => {
    const at = one.indexOf("=");
    if (at < 1) throw new UsageError(`--opt ${one}: write name=value`);
    try {
      return [one.slice(0, at), parseYaml(one.slice(at + 1), { schema: "core", maxAliasCount: 0 })];
    } catch {
      throw new UsageError(`--opt ${one}: the value is no YAML; put it into quotes`);
    }
  });
  if (!kind.trimStart().startsWith("{")) return Object.fromEntries([...pairs, ["kind", kind]]);
  // The whole backend as a pipeline has it, which is how the pages of the backends show them.
  try {
    const written: unknown = parseYaml(kind, { schema: "core", maxAliasCount: 0 });
    return { ...(written as Record<string, unknown>), ...Object.fromEntries(pairs) };
  } catch {
    throw new UsageError(`--backend ${kind}: no YAML; put it into quotes: --backend '{ kind: bm25, top: 15 }'`);
  }
}

/** A data set of one case: the stages know of nothing else. Named by the question, so that the same one is found in the cache. */
async function questionFile(question: string, cache: string): Promise<string> {
  if (question.trim() === "") throw new UsageError("--text is empty");
  const [title = "", ...rest] = question.split("\n");
  const one = { id: "question", repository: null, number: null, title, body: rest.join("\n"), targets: [] };
  await mkdir(join(cache, "questions"), { recursive: true });
  const file = join(cache, "questions", `${digestJson(question).slice(0, 32)}.jsonl`);
  await writeAtomically(file, `${JSON.stringify(one)}\n`);
  return file;
}

interface ReadAnswer {
  readonly answer: Answer;
  readonly reading: string;
  readonly why: string | null;
  /** `path`: in the source tree; null = the name stands for no single file of it (or no tree was given). */
  readonly files: readonly { readonly raw: string; readonly path: string | null }[];
}

async function readFiles(
  answers: readonly Answer[],
  sources: StageOutput | null,
  load: (refs: readonly ItemRef[]) => Promise<unknown[]>,
  folder: string,
  io: Io,
): Promise<ReadAnswer[]> {
  const rules = await rulesNamed("lenient", io);
  const [stored] = sources === null ? [] : await load(sources.all.slice(0, 1));
  const tree = stored === undefined ? null : treeSchema.parse(stored);
  const roots = tree === null ? [] : treeRoots(tree, { cacheFolder: (name) => join(folder, name) });
  const index = tree === null ? null : corpusFiles({ paths: tree.files.map(({ path }) => path), roots }).index;
  return answers.map((answer) => {
    const reading = parseAnswer(answer.response, { truncated: answer.status === "truncated", prompt: answer.prompt });
    if (reading.kind === "drawn") return { answer, reading: reading.kind, why: plural(reading.draws.length, "draw"), files: [] };
    if (reading.kind !== "answered") return { answer, reading: reading.kind, why: reading.why, files: [] };
    const { predictions } = matchEntries(reading.entries, [], index, rules);
    return { answer, reading: reading.kind, why: null, files: predictions.map(({ raw, path }) => ({ raw, path })) };
  });
}

async function put(
  answers: readonly Answer[],
  read: readonly ReadAnswer[] | null,
  facts: { readonly exit: number; readonly queries: number },
  options: Options,
  io: Io,
): Promise<void> {
  const out = text(options, "out");
  if (out !== undefined) await writeAtomically(resolve(io.cwd, out), writeAnswers(answers));
  if (flag(options, "json")) {
    const readings = read === null ? {} : { readings: read.map(({ reading, why, files }) => ({ reading, why, files })) };
    io.stdout(`${JSON.stringify({ ...facts, answers, ...readings }, null, 2)}\n`);
  } else if (read !== null) io.stdout(read.map(rendered).join("\n"));
  else if (out === undefined) io.stdout(writeAnswers(answers));
}

function rendered({ answer, reading, why, files }: ReadAnswer): string {
  if (answer.response === "" && answer.error !== null) return `no answer: ${answer.status}\n`;
  const lines = answer.response.split("\n").map(visible);
  const found = files.map(
    ({ raw, path }, index) => `  ${index + 1}. ${visible(path ?? raw)}${path === null ? " (no file of the tree)" : ""}`,
  );
  const head =
    files.length > 0
      ? `${plural(files.length, "file")} read from it:`
      : `no file read from it: ${reading}${why === null ? "" : `, ${why}`}`;
  return `${[...lines, "", head, ...found].join("\n")}\n`;
}
