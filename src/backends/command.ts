/**
 * `command`: any program as a system under test. It gets the issue on stdin (or as an argument or file) and prints its answer.
 *
 * No shell ever reads the arguments: issue texts are written by strangers. The program sees only the few environment variables that it
 * needs, and its failures (exit code, signal, time-out, silence) become statuses, never answers.
 */
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import * as z from "zod";
import { redactor } from "../base/env-secrets.js";
import type { Json } from "../base/json.js";
import { writtenText } from "../base/written-text.js";
import { readOutput } from "./command-output.js";
import { Sessions } from "./command-session.js";
import {
  type BackendEnvironment,
  type BackendKind,
  type CaseField,
  type Finding,
  type Question,
  type RawAnswer,
  type Surroundings,
  UnusableConfiguration,
} from "./contract.js";
import { digestOfFile } from "./file-digest.js";
import { findProgram } from "./find-program.js";
import { type ProcessEnd, runProcess } from "./process.js";
import { fillTemplate, misspeltPlaceholder, type Placeholder, placeholdersOf } from "./template.js";
import { lastLines, NOT_THERE, notStarted, passedOn, SHORT_OF_RESOURCES } from "./tool-process.js";

const runSchema = z
  .array(writtenText, {
    error: 'must be a list, such as ["my-search", "--top", "15"]: the program and its arguments, which no shell will split',
  })
  .min(1, "names no program: give the program and its arguments")
  .check(({ value, issues }) => {
    const misspelt = misspeltPlaceholder(value);
    if (misspelt !== undefined) {
      issues.push({
        code: "custom",
        input: value,
        message: `has no placeholder {${misspelt.wrong}}: did you mean {${misspelt.right}}?`,
      });
    }
    if (value[0] === "") issues.push({ code: "custom", input: value, message: "begins with an empty program name" });
  });

const settings = z.strictObject({
  run: runSchema.describe(
    "Program and arguments, not read by a shell. Placeholders: {query} {query_file} {corpus} {folder} {id} {title} {repo} {base_commit} {repeat}. What starts with ./ or ../ is relative to the pipeline file.",
  ),
  protocol: z
    .enum(["per-question", "json-lines"])
    .default("per-question")
    .describe(
      "`per-question`: the program is started for each question. `json-lines`: it is started once; each question is a line of JSON on its standard input, each answer a line of JSON on its standard output.",
    ),
  stdin: z.enum(["query", "none"]).default("query").describe("What is written to the program's standard input."),
  prompt: z
    .enum(["text", "text+format"])
    .default("text")
    .describe("`text`: the issue alone. `text+format`: also the demanded answer format, for language models."),
  output: z
    .enum(["auto", "json", "lines", "text"])
    .default("auto")
    .describe("`json`: anything but JSON is a failure. `lines`: each line is one path, best first. `auto`, `text`: as printed."),
  empty_is_answer: z.boolean().default(false).describe("Printing nothing means that nothing was found; else it is a failure."),
  cwd: z.string().min(1).optional().describe("Working folder; default: the source tree if the stage has one."),
  env: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of an environment variable"))
    .default([])
    .describe("Names of environment variables to pass on, beside PATH, HOME, LANG and TMPDIR."),
  files: z.array(z.string().min(1)).default([]).describe("Files that shape the answers: their content is part of the key."),
  version: writtenText.optional().describe("Version of the program: part of the key."),
  identity: z
    .unknown()
    .optional()
    .describe("Anything else that shapes the answers (model, index): part of the key. null: answers are not cached."),
  timeout: z.number().positive().nullable().default(180).describe("Seconds per question; null = none."),
  max_output: z.number().int().positive().default(16_777_216).describe("Bytes of output beyond which the program is ended."),
  retry_exit_codes: z
    .array(z.number().int().min(1).max(255))
    .default([75])
    .describe("Exit codes that say `try again soon`; 75 is the customary one."),
  concurrency: z.number().int().min(1).default(2).describe("Programs at once."),
});
const options = settings.superRefine(({ protocol, run, stdin, output }, context) => {
  if (protocol !== "json-lines") return;
  const wrong = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  const used = [...placeholdersOf(run)].filter((name) => name !== "folder");
  if (used.length > 0)
    wrong(
      "run",
      `with \`protocol: json-lines\` the program is started before any question: {${used[0]}} comes in each line instead`,
    );
  if (stdin !== "query") wrong("stdin", "with `protocol: json-lines` questions come on standard input");
  if (output !== "auto" && output !== "json") wrong("output", "with `protocol: json-lines` each answer is a line of JSON");
});
type Options = z.infer<typeof options>;

/** What each line of `json-lines` tells of the case beside the prompt. */
const LINE_FIELDS: readonly CaseField[] = ["title", "repository", "base_commit"];

const SHOWN_STDERR = 2000;

const FIELDS: Partial<Record<Placeholder, CaseField>> = { title: "title", repo: "repository", base_commit: "base_commit" };

function isRelativePath(argument: string, position: number): boolean {
  if (/^\.\.?[/\\]/.test(argument)) return true;
  // A program such as `tools/search`; a bare name is looked up on the PATH.
  return position === 0 && argument.includes("/") && !argument.startsWith("/") && !argument.startsWith("{");
}

export const command: BackendKind<Options> = {
  kind: "command",
  summary: "Any program: the issue on its standard input, the answer on its standard output.",
  version: 1,
  options,
  identityOf: ({ run, protocol, stdin, prompt, output, empty_is_answer, cwd, env, version, identity }) =>
    identity === null
      ? null
      : {
          run,
          // Left out where it is as it was before there was another.
          ...(protocol === "per-question" ? {} : { protocol }),
          stdin,
          prompt,
          output,
          empty_is_answer,
          // Where the folder lies is no property of the answers; that it is not the source tree is one.
          own_folder: cwd !== undefined,
          env: [...env].sort(),
          version: version ?? null,
          identity: (identity ?? null) as Json,
        },
  fingerprint: async ({ run, files }, { baseFolder }) => {
    const digests: Record<string, string> = {};
    for (const [position, argument] of run.entries()) {
      if (!isRelativePath(argument, position)) continue;
      const digest = await digestOfFile(resolve(baseFolder, argument));
      if (digest !== null) digests[argument] = digest;
    }
    for (const file of files) {
      const digest = await digestOfFile(resolve(baseFolder, file));
      if (digest === null)
        throw new UnusableConfiguration(`command: \`files:\` names ${file}, but there is no such file in ${baseFolder}`);
      digests[file] = digest;
    }
    return digests;
  },
  needsCorpus: "optional",
  readsTruth: false,
  readsDataset: false,
  reads: ({ run, protocol }) =>
    protocol === "json-lines" ? LINE_FIELDS : [...placeholdersOf(run)].flatMap((name) => FIELDS[name] ?? []),
  prompt: ({ prompt }) => prompt,
  concurrency: ({ concurrency }) => concurrency,
  timeout: ({ timeout }) => timeout,
  doctor: (config, environment) => look(config, environment),
  open: async (config, environment) => {
    if (config.protocol === "per-question")
      return { ask: (question, signal) => ask(config, environment, question, signal), close: async () => {} };
    const sessions = sessionsOf(config, environment);
    return {
      ask: async (question, signal) => sessions.ask(question, await lineOf(question), signal),
      close: () => sessions.close(),
    };
  },
};

function sessionsOf(config: Options, environment: BackendEnvironment): Sessions {
  const [file = "", ...args] = rootedRun(config, environment.baseFolder).map((argument) =>
    argument.replaceAll("{folder}", () => environment.baseFolder),
  );
  return new Sessions(
    {
      file,
      args,
      // There may be many source trees: which one is asked about stands in each line.
      cwd: config.cwd === undefined ? environment.baseFolder : resolve(environment.baseFolder, config.cwd),
      env: passedOn(environment.env, config.env),
      maxLine: config.max_output,
    },
    environment.sleep,
    redactor(environment.env, config.env),
  );
}

/** `corpus`: the source tree's folder, null where the stage has none. */
async function lineOf({ id, repeat, prompt, case: asked, corpus }: Question): Promise<string> {
  const { title = null, repository = null, base_commit = null } = asked;
  return JSON.stringify({ id, repeat, prompt, title, repository, base_commit, corpus: (await corpus?.folder()) ?? null });
}

function rootedRun({ run }: Options, baseFolder: string): string[] {
  return run.map((argument, position) => (isRelativePath(argument, position) ? resolve(baseFolder, argument) : argument));
}

async function ask(
  config: Options,
  environment: BackendEnvironment,
  question: Question,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const used = placeholdersOf(config.run);
  if (used.has("corpus") && question.corpus === undefined) {
    return failure("failed", "the command uses {corpus}, but the stage has no source tree: add a checkout stage to its `needs`");
  }
  const corpus = await question.corpus?.folder();
  const cwd = config.cwd === undefined ? (corpus ?? environment.baseFolder) : resolve(environment.baseFolder, config.cwd);
  if ((await stat(cwd).catch(() => undefined))?.isDirectory() !== true) {
    return failure("failed", `the working folder ${cwd} does not exist: check \`cwd:\``);
  }
  // The system's folder for temporary files is where the program may read; the source tree is not ours to write to.
  const scratch = used.has("query_file") ? await mkdtemp(join(environment.env.TMPDIR ?? tmpdir(), "bench-query-")) : undefined;
  try {
    const queryFile = scratch === undefined ? "" : join(scratch, "query.txt");
    if (scratch !== undefined) await writeFile(queryFile, question.prompt);
    const [file = "", ...args] = fillTemplate(rootedRun(config, environment.baseFolder), {
      query: question.prompt,
      query_file: queryFile,
      corpus: corpus ?? "",
      folder: environment.baseFolder,
      id: question.id,
      title: question.case.title ?? "",
      repo: question.case.repository ?? "",
      base_commit: question.case.base_commit ?? "",
      repeat: String(question.repeat),
    });
    const end = await runProcess(
      {
        file,
        args,
        cwd,
        env: passedOn(environment.env, config.env),
        input: config.stdin === "query" ? question.prompt : "",
        maxOutput: config.max_output,
      },
      environment.sleep,
      signal,
    );
    return judge(end, config, question, redactor(environment.env, config.env), signal);
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
}

function judge(
  end: ProcessEnd,
  config: Options,
  { corpus }: Question,
  redact: (text: string) => string,
  signal: AbortSignal,
): RawAnswer {
  const program = config.run[0] ?? "";
  if (end.type === "not-started") {
    const retry = SHORT_OF_RESOURCES.has(end.code) ? {} : undefined;
    const failed = failure("failed", notStarted(end.code, redact(end.message), program), {}, retry);
    return NOT_THERE.has(end.code) ? { ...failed, ofAll: "fail", asked: false } : failed;
  }
  const errorOutput = redact(end.stderr).slice(-SHOWN_STDERR);
  const details: Record<string, unknown> = { exit_code: end.exitCode, signal: end.signal };
  if (errorOutput.trim() !== "") details.stderr = errorOutput;
  const said = lastLines(errorOutput);
  switch (end.type) {
    case "overflow":
      // Not `truncated`: the cut is our limit's and not the system's, and the limit is no part of the key.
      return failure("failed", `\`${program}\` printed more than ${config.max_output} bytes: raise max_output`, details);
    case "stopped": {
      const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
      const partial = end.stdout.length > 0 ? ` (${end.stdout.length} bytes were printed)` : "";
      return timedOut
        ? failure("timed_out", `\`${program}\` gave no answer in time${partial}${said}`, details)
        : failure("failed", `\`${program}\` was stopped before it answered`, details);
    }
    case "exited": {
      if (end.signal !== null) return failure("failed", `\`${program}\` was ended by ${end.signal}${said}`, details, {});
      if (end.exitCode !== 0) {
        const retry = config.retry_exit_codes.includes(end.exitCode ?? -1) ? {} : undefined;
        return failure("failed", `\`${program}\` ended with exit code ${end.exitCode}${said}`, details, retry);
      }
      const isFile = (path: string) => corpus?.tree.files.some((file) => file.path === path) ?? false;
      const output = readOutput(end.stdout, config.output, config.empty_is_answer, isFile);
      Object.assign(details, output.details);
      return output.error === undefined
        ? { status: "completed", response: output.response, details, ...(output.usage ? { usage: output.usage } : {}) }
        : { ...failure("failed", `\`${program}\` ${output.error}${said}`, details), response: output.response };
    }
  }
}

function failure(
  status: "failed" | "timed_out",
  error: string,
  details: Record<string, unknown> = {},
  retry?: { after?: number },
): RawAnswer {
  return { status, response: "", error, details, ...(retry === undefined ? {} : { retry }) };
}

async function look({ run, env, cwd }: Options, environment: Surroundings): Promise<readonly Finding[]> {
  const [program = ""] = run;
  const { baseFolder } = environment;
  const findings: Finding[] = [];
  // A program inside the source tree is there when a question is asked.
  if (!program.includes("{")) {
    const path = await findProgram(program, environment.env, baseFolder);
    findings.push(
      path === null
        ? {
            check: "installed",
            status: "problem",
            found: notStarted("ENOENT", "", program),
            fix: "install it, or correct `run:`",
          }
        : { check: "installed", status: "ok", found: path },
    );
  }
  const unset = env.filter((name) => environment.env[name] === undefined);
  if (unset.length > 0) {
    findings.push({
      check: "environment",
      status: "warning",
      found: `${unset.join(", ")}: named in \`env:\` and not set`,
      fix: "set it",
    });
  }
  if (cwd !== undefined && (await stat(resolve(baseFolder, cwd)).catch(() => undefined))?.isDirectory() !== true) {
    findings.push({ check: "folder", status: "problem", found: `the working folder ${cwd} does not exist`, fix: "check `cwd:`" });
  }
  return findings;
}
