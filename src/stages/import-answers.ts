/**
 * `import-answers`: answers that were given elsewhere, from a file: JSON Lines, or a report that kept raw responses. They are scored like
 * any others; what could not be read is counted and said, never dropped in silence.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import { answersFileStem } from "../answers/file.js";
import { type Answer, FINAL_STATUSES } from "../answers/schema.js";
import { canonicalJson, digestBytes, type Json } from "../base/json.js";
import { type RecordPlace, recordPlace } from "../base/plain-words.js";
import { part } from "../cache/key.js";
import { type StageKind, type WholeResult, wholeStage } from "../engine/contract.js";
import { type AnswersMeta, answerItemId } from "./answer-meta.js";

/** `readAnswers` of the answers room. */
export type ReadAnswers = (
  text: string,
  options: { file: string; unnamed?: string; caseIds?: readonly string[] },
) => {
  readonly answers: readonly Answer[];
  readonly bad: readonly BadAnswer[];
  readonly notes: readonly string[];
};

interface BadAnswer extends RecordPlace {
  readonly what: string;
}

const config = z.strictObject({
  path: z.string().min(1).describe("The file of answers, relative to the pipeline file."),
  backend: z.string().min(1).optional().describe("Only the answers of this backend, where the file has those of several."),
  name: z
    .string()
    .min(1)
    .optional()
    .describe("Label in reports; default: the backend that the file names, else the file's name."),
});
type Config = z.infer<typeof config>;

/** Bad records that are described one by one; the rest is a count. */
const SHOWN_BAD = 20;

export function importAnswersStage(readAnswers: ReadAnswers): StageKind {
  return wholeStage<Config>({
    kind: "import-answers",
    summary: "Answers from a file.",
    version: 2,
    shape: "whole",
    config,
    produces: "answers",
    consumes: { dataset: "optional" },
    // Cheap to read again; the file itself is what must be kept.
    precious: false,
    keyConfig: ({ backend, name }) => ({ backend, name }),
    identify: async ({ path, name }, tools) => {
      const bytes = await readFile(resolve(tools.baseFolder, path)).catch(() => undefined);
      // What is wrong with the file is said by the run, in one place.
      const content = part("file", bytes === undefined ? null : digestBytes(bytes));
      // Answers that name no backend are called by their file; a new name for the file is a new label then.
      return name === undefined ? [content, part("unnamed", answersFileStem(path))] : [content];
    },
    run: async (options, inputs, tools) => {
      let text: string;
      try {
        text = await readFile(resolve(tools.baseFolder, options.path), "utf8");
      } catch (error) {
        return { ok: false, message: `${options.path} can't be read: ${error instanceof Error ? error.message : String(error)}` };
      }
      const caseIds = inputs.optional("dataset")?.all.map(({ id }) => id);
      const unnamed = options.name ?? answersFileStem(options.path);
      const read = readAnswers(text, { file: options.path, unnamed, ...(caseIds === undefined ? {} : { caseIds }) });
      const result = collect(read, options, caseIds === undefined ? undefined : new Set(caseIds));
      if (result.ok) for (const note of result.notes) tools.warn(note);
      return result;
    },
  });
}

type Collected =
  | { readonly ok: true; readonly value: WholeResult; readonly notes: readonly string[] }
  | { readonly ok: false; readonly message: string };

function collect(read: ReturnType<ReadAnswers>, options: Config, caseIds: ReadonlySet<string> | undefined): Collected {
  const { path, backend } = options;
  const backends = [...new Set(read.answers.map((answer) => answer.backend))];
  const chosen = backend === undefined ? read.answers : read.answers.filter((answer) => answer.backend === backend);
  if (backend === undefined && backends.length > 1) {
    const all = backends.join(", ");
    return { ok: false, message: `${path} has answers of several backends (${all}): choose one with \`backend:\`` };
  }
  if (chosen.length === 0) {
    const others = backends.length > 0 ? ` of backend ${backend}; it has ${backends.join(", ")}` : "";
    const first = read.bad[0];
    return { ok: false, message: `${path} has no usable answer${others}${first === undefined ? "" : `; ${describe(first)}`}` };
  }

  const notes = [...read.notes];
  const said: string[] = [];
  if (read.bad.length > 0) {
    const records = read.bad.length === 1 ? "1 record" : `${read.bad.length} records`;
    said.push(`${path}: ${records} could not be used`, ...read.bad.slice(0, SHOWN_BAD).map(describe));
  }
  const { answers, duplicates } = lastFinal(chosen);
  if (duplicates > 0) {
    const answers = duplicates === 1 ? "1 answer was" : `${duplicates} answers were`;
    notes.push(`${path}: ${answers} given again; the later final one counts`);
  }
  const strangers = [...answers.values()].filter(({ id }) => caseIds !== undefined && !caseIds.has(id));
  if (strangers.length > 0) {
    const some = strangers.slice(0, 3).map(({ id }) => id);
    const answers = strangers.length === 1 ? "1 answer belongs" : `${strangers.length} answers belong`;
    notes.push(
      `${path}: ${answers} to no case of the data set (${some.join(", ")}${strangers.length > some.length ? ", ..." : ""})`,
    );
  }
  const meta: AnswersMeta = {
    kind: "import",
    name: options.name ?? backend ?? backends[0] ?? "import",
    identity: null,
    prompt: null,
    repeats: [...answers.values()].reduce((most, { repeat }) => Math.max(most, repeat + 1), 1),
    notes,
    left_out: leftOut(read.bad),
  };
  const items = [...answers].map(([id, value]) => ({ id, value }));
  return { ok: true, value: { items, meta: JSON.parse(canonicalJson(meta)) as Json }, notes: [...said, ...notes] };
}

/** Bad records counted by what is wrong with them, each with the numbers of a few. */
function leftOut(bad: readonly BadAnswer[]): AnswersMeta["left_out"] {
  const kinds = new Map<string, RecordPlace[]>();
  for (const one of bad) {
    const same = kinds.get(one.what);
    if (same === undefined) kinds.set(one.what, [one]);
    else same.push(one);
  }
  return [...kinds].map(([what, records]) => ({
    what: `records that are no answers (${what})`,
    count: records.length,
    examples: records.slice(0, 5).map(recordPlace),
  }));
}

/**
 * One answer per case and repeat. A file that grows over several tries has the failure first and the answer later; a late failure takes no
 * answer away.
 */
function lastFinal(all: readonly Answer[]): { answers: ReadonlyMap<string, Answer>; duplicates: number } {
  const answers = new Map<string, Answer>();
  for (const answer of all) {
    const id = answerItemId(answer.id, answer.repeat);
    const known = answers.get(id);
    if (known === undefined || FINAL_STATUSES.has(answer.status) || !FINAL_STATUSES.has(known.status)) answers.set(id, answer);
  }
  return { answers, duplicates: all.length - answers.size };
}

function describe(bad: BadAnswer): string {
  return `${recordPlace(bad)}: ${bad.what}`;
}
