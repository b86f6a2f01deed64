/**
 * `graphrag`: Microsoft's GraphRAG through its command line, whatever its generation.
 *
 * There is no server and no machine-readable output: each question is a process that prints prose. What makes it usable as a system under
 * test is knowing which of its silences mean what (`graphrag-failures.ts`), and that each process takes its children with it when it ends.
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import type { Result } from "../base/result.js";
import type { BackendEnvironment, BackendKind, Question, RawAnswer } from "./contract.js";
import { knowsMethod, queryCall } from "./graphrag-command.js";
import { graphragFindings, noIndex, readsCloud } from "./graphrag-doctor.js";
import { type Advice, emptyAnswer, failureInLog, failureOfExit, type GraphragFailure, plain } from "./graphrag-failures.js";
import { findData, folderIdentity, logMarks, logSince, settingsOf } from "./graphrag-folder.js";
import { citationsOf, isNoDataAnswer, readGraphragOutput } from "./graphrag-output.js";
import { findGraphrag, type Generation, type GraphragProgram } from "./graphrag-program.js";
import { detectGeneration, graphragRunner, type Runner } from "./graphrag-run.js";
import type { ProcessEnd } from "./process.js";

/** The form that GraphRAG is asked to answer in: the demand of the program whose reports this continues. */
const RESPONSE_TYPE = 'JSON object {"classes": [{"path": "src/main/java/com/example/Name.java"}]}, no other text';

const DEFAULT_DIR = "../graphrag";
const DEFAULT_DATA = "./output";
const SHOWN_STDERR = 2000;

/** Seconds: global search reads every report of a level, drift search runs tens of local ones. */
const TIMEOUTS = { local: 180, basic: 180, global: 600, drift: 900 } as const;

export const programOptions = {
  mode: z
    .enum(["auto", "venv", "uv"])
    .default("auto")
    .describe("How GraphRAG is started: `venv` from a virtual environment, `uv` by `uv run`, `auto` whichever is there."),
  venv: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Virtual environment that GraphRAG is installed in, relative to the pipeline file; default: `.venv` in its folder.",
    ),
  cli: z
    .enum(["auto", "underscore", "query", "positional"])
    .default("auto")
    .describe(
      "Its command line: `underscore` (up to 0.3), `query` (up to 2.x), `positional` (from 3.0); `auto`: by its version.",
    ),
};

const options = z.strictObject({
  dir: z
    .string()
    .min(1)
    .optional()
    .describe(
      `Folder with GraphRAG's settings and index, relative to the pipeline file; default: the index-corpus stage's, else ${DEFAULT_DIR}.`,
    ),
  method: z
    .preprocess(
      (value) => (typeof value === "string" ? value.toLowerCase() : value),
      z.enum(["local", "global", "drift", "basic"]),
    )
    .default("local")
    .describe("Search method: local, global, drift or basic."),
  ...programOptions,
  data: z.string().min(1).default(DEFAULT_DATA).describe("Folder of the index, relative to `dir`."),
  community_level: z.number().int().min(0).optional().describe("Level of the community hierarchy; default: GraphRAG's own (2)."),
  response_type: z.string().min(1).default(RESPONSE_TYPE).describe("Form of the answer that GraphRAG is asked for."),
  prompt: z
    .enum(["text", "text+format"])
    .default("text+format")
    .describe("`text`: the issue alone. `text+format`: also the task and the demanded answer format."),
  timeout: z
    .number()
    .positive()
    .nullable()
    .optional()
    .describe("Seconds per question; null = none. Default: 180 (local, basic), 600 (global), 900 (drift)."),
  concurrency: z
    .number()
    .int()
    .min(1)
    .default(1)
    .describe("Questions at once. They share one log, so that with more than one an error may be laid at another's door."),
});
type Options = z.infer<typeof options>;

export const graphrag: BackendKind<Options> = {
  kind: "graphrag",
  summary: "Microsoft's GraphRAG through its command line.",
  version: 1,
  options,
  // Where the folder lies, how the program is started and which command line it has change no answer; its version and its index do.
  identityOf: ({ method, community_level, response_type, prompt }) => ({
    method,
    community_level: community_level ?? null,
    response_type,
    prompt,
  }),
  // A GraphRAG that is not installed, or a folder that is not there, is each answer's failure and not the stage's: other cells go on.
  fingerprint: async (config, { baseFolder, env = {} }) => {
    const program = await findProgram(config, baseFolder, env);
    const identity = await folderIdentity(resolve(baseFolder, config.dir ?? DEFAULT_DIR), config.data, env);
    return { version: program.ok ? program.value.version : null, ...identity };
  },
  needsCorpus: false,
  usesIndex: ({ dir }) => (dir === undefined ? "optional" : "no"),
  readsTruth: false,
  readsDataset: false,
  prompt: ({ prompt }) => prompt,
  concurrency: ({ concurrency }) => concurrency,
  doctor: async (config, { baseFolder, env }) =>
    graphragFindings({
      program: await findProgram(config, baseFolder, env),
      cli: config.cli,
      method: config.method,
      dir:
        config.dir === undefined && !(await isFolder(resolve(baseFolder, DEFAULT_DIR)))
          ? null
          : resolve(baseFolder, config.dir ?? DEFAULT_DIR),
      shownDir: config.dir ?? DEFAULT_DIR,
      data: config.data,
      env,
    }),
  timeout: ({ timeout, method }) => (timeout === undefined ? TIMEOUTS[method] : timeout),
  open: async (config, environment) => {
    const generations = new Map<string, Promise<Generation>>();
    return {
      ask: (question, signal) => ask(config, environment, generations, question, signal),
      close: async () => {},
    };
  },
};

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** The program belongs to the folder that is asked; an index stage's index has none, so that the default folder's is taken, or the pipeline's. */
async function findProgram(
  { mode, venv, dir }: Pick<Options, "mode" | "venv" | "dir">,
  baseFolder: string,
  env: BackendEnvironment["env"],
): Promise<Result<GraphragProgram, string>> {
  const named = resolve(baseFolder, dir ?? DEFAULT_DIR);
  const place = dir === undefined && !(await isFolder(named)) ? baseFolder : named;
  return findGraphrag({ dir: place, venv: venv === undefined ? undefined : resolve(baseFolder, venv), mode, env });
}

async function ask(
  config: Options,
  environment: BackendEnvironment,
  generations: Map<string, Promise<Generation>>,
  question: Question,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const built = config.dir === undefined ? question.index : undefined;
  // Damage of the cache goes through to the engine, which repairs it; what follows is GraphRAG's business.
  const dir = built === undefined ? resolve(environment.baseFolder, config.dir ?? DEFAULT_DIR) : await built.folder();
  if (!(await isFolder(dir)))
    return forAll(`there is no folder ${dir}: check \`dir:\`, or add an index-corpus stage to \`needs\``);
  const found = await findProgram(config, environment.baseFolder, environment.env);
  if (!found.ok) return forAll(found.error);
  const program = found.value;
  const runner = await graphragRunner(dir, environment.env, environment.sleep);
  const detect = () => detectGeneration(program, config.cli, runner, environment.warn, signal);
  let generation: Generation;
  try {
    generation = await remembered(generations, dir, detect).catch(() => detect());
  } catch {
    return stopped(signal, {}, null);
  }
  if (!knowsMethod(generation, config.method)) {
    return forAll(
      `GraphRAG ${program.version ?? "of that generation"} has no ${config.method} search: use local or global, or a newer GraphRAG`,
    );
  }
  const tables = await findData(dir, config.data);
  // It would start, take its seconds and say the same in a page of Python, for each question.
  if (tables === null && !readsCloud((await settingsOf(dir))?.text ?? "")) {
    const { found: what, fix } = noIndex(config.dir ?? DEFAULT_DIR, config.data);
    return forAll(`${what}: ${fix}`);
  }
  const data = tables?.argument ?? config.data;
  const call = queryCall(program, generation, {
    method: config.method,
    data,
    communityLevel: config.community_level,
    responseType: config.response_type,
    query: question.prompt,
  });
  if (typeof call === "string") return failed(call);
  const marks = await logMarks(dir);
  const end = await runner.run(call.argv, call.input, signal);
  const log = end.type === "not-started" ? "" : runner.redact(await logSince(dir, marks));
  const details: Record<string, unknown> = {
    graphrag_version: program.version,
    cli: generation,
    method: config.method,
    ...(call.input === "" ? {} : { query_by: "stdin" }),
  };
  return judge(end, log, { dir: config.dir ?? DEFAULT_DIR, data, generation }, runner, details, signal);
}

/** What concerns every question, and was found without asking. */
function forAll(error: string): RawAnswer {
  return { ...failed(error), ofAll: "fail", asked: false };
}

/** Asked once per folder, however many questions wait for it; a failure is not remembered. */
function remembered(known: Map<string, Promise<Generation>>, key: string, find: () => Promise<Generation>): Promise<Generation> {
  const found = known.get(key);
  if (found !== undefined) return found;
  const promise = find();
  known.set(key, promise);
  promise.catch(() => known.delete(key));
  return promise;
}

function judge(
  end: ProcessEnd,
  log: string,
  advice: Advice,
  runner: Runner,
  details: Record<string, unknown>,
  signal: AbortSignal,
): RawAnswer {
  if (end.type === "not-started") {
    const retry = ["EAGAIN", "EMFILE", "ENFILE", "ENOMEM", "ETXTBSY"].includes(end.code) ? {} : undefined;
    return failed(`GraphRAG could not be started (${end.code}): ${runner.redact(end.message)}`, details, retry);
  }
  const stderr = plain(runner.redact(end.stderr));
  details.exit_code = end.exitCode;
  if (end.signal !== null) details.signal = end.signal;
  if (stderr !== "") details.stderr = stderr.slice(-SHOWN_STDERR);
  switch (end.type) {
    case "overflow":
      return failed("GraphRAG printed more than 16 MiB: that is no answer", details);
    case "stopped":
      return stopped(signal, details, failureInLog(log, advice));
    case "exited": {
      if (end.signal !== null) return failed(`GraphRAG was ended by ${end.signal}`, details, {});
      if (end.exitCode !== 0) return asAnswer(failureOfExit(end.exitCode, stderr, log, advice), details);
      const stdout = end.stdout.toString("utf8");
      const { answer, cleaned } = readGraphragOutput(stdout);
      if (cleaned) details.stdout = runner.redact(stdout);
      const printed = cleaned ? runner.redact(stdout.replace(answer, "")) : "";
      const cause = failureInLog([log, stderr, printed].join("\n"), advice);
      if (answer === "") return asAnswer(emptyAnswer(cause), details);
      if (isNoDataAnswer(answer) && cause !== null) {
        return {
          ...asAnswer(
            { ...cause, error: `GraphRAG says that it has no data, because its model calls failed: ${cause.error}` },
            details,
          ),
          response: answer,
        };
      }
      // Some of a global search's many calls may fail while the others answer: that is an answer, and worth knowing.
      if (cause !== null) details.log_problem = cause.error;
      const citations = citationsOf(answer);
      if (citations.length > 0) details.citations = citations;
      return { status: "completed", response: answer, details };
    }
  }
}

/** `cause`: what the log knows of why it took so long. */
function stopped(signal: AbortSignal, details: Record<string, unknown>, cause: GraphragFailure | null): RawAnswer {
  const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  if (!timedOut) return failed("GraphRAG was stopped before it answered", details);
  const why = cause === null ? "" : `; its log says: ${cause.error}`;
  const error = `GraphRAG gave no answer in time: raise \`timeout\`, or use a quicker method${why}`;
  return { status: "timed_out", response: "", error, details };
}

function asAnswer({ error, ...failure }: GraphragFailure, details: Record<string, unknown>): RawAnswer {
  return { ...failure, response: "", error, details };
}

function failed(error: string, details: Record<string, unknown> = {}, retry?: { readonly after?: number }): RawAnswer {
  return { status: "failed", response: "", error, details, ...(retry === undefined ? {} : { retry }) };
}
