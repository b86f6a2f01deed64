/**
 * `import-answers`: answers that were given elsewhere, from a file: JSON Lines, or a report that kept raw responses. They are scored like
 * any others; what could not be read is counted and said, never dropped in silence.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import { type Answer, FINAL_STATUSES } from "../answers/schema.js";
import { canonicalJson, digestBytes, type Json } from "../base/json.js";
import { part } from "../cache/key.js";
import { type StageKind, type WholeResult, wholeStage } from "../engine/contract.js";
import { type AnswersMeta, answerItemId } from "./answer-meta.js";

/** `readAnswers` of the answers room. */
export type ReadAnswers = (
  text: string,
  options: { file: string; caseIds?: readonly string[] },
) => {
  readonly answers: readonly Answer[];
  readonly bad: readonly BadAnswer[];
  readonly notes: readonly string[];
};

interface BadAnswer {
  readonly record: number;
  readonly line?: number | undefined;
  readonly what: string;
}

const config = z.strictObject({
  path: z.string().min(1).describe("The file of answers, relative to the pipeline file."),
  backend: z.string().min(1).optional().describe("Only the answers of this backend, where the file has those of several."),
  name: z.string().min(1).optional().describe("Label in reports; default: the backend that the file names."),
});
type Config = z.infer<typeof config>;

/** Bad records that are described one by one; the rest is a count. */
const SHOWN_BAD = 20;

export function importAnswersStage(readAnswers: ReadAnswers): StageKind {
  return wholeStage<Config>({
    kind: "import-answers",
    summary: "Answers from a file.",
    version: 1,
    shape: "whole",
    config,
    produces: "answers",
    consumes: { dataset: "optional" },
    // Cheap to read again; the file itself is what must be kept.
    precious: false,
    keyConfig: ({ backend, name }) => ({ backend, name }),
    identify: async ({ path }, tools) => {
      const bytes = await readFile(resolve(tools.baseFolder, path)).catch(() => undefined);
      // What is wrong with the file is said by the run, in one place.
      return [part("file", bytes === undefined ? null : digestBytes(bytes))];
    },
    run: async (options, inputs, tools) => {
      let text: string;
      try {
        text = await readFile(resolve(tools.baseFolder, options.path), "utf8");
      } catch (error) {
        return { ok: false, message: `${options.path} can't be read: ${error instanceof Error ? error.message : String(error)}` };
      }
      const caseIds = inputs.optional("dataset")?.all.map(({ id }) => id);
      const read = readAnswers(text, { file: options.path, ...(caseIds === undefined ? {} : { caseIds }) });
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
    said.push(`${path}: ${read.bad.length} records could not be used`, ...read.bad.slice(0, SHOWN_BAD).map(describe));
  }
  const { answers, duplicates } = lastFinal(chosen);
  if (duplicates > 0) notes.push(`${path}: ${duplicates} answers are there more than once; the last final one counts`);
  const strangers = [...answers.values()].filter(({ id }) => caseIds !== undefined && !caseIds.has(id));
  if (strangers.length > 0) {
    const some = strangers.slice(0, 3).map(({ id }) => id);
    notes.push(`${path}: ${strangers.length} answers belong to no case of the data set (${some.join(", ")} ...)`);
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
  const kinds = new Map<string, number[]>();
  for (const { record, what } of bad) kinds.set(what, [...(kinds.get(what) ?? []), record]);
  return [...kinds].map(([what, records]) => ({
    what,
    count: records.length,
    examples: records.slice(0, 5).map((record) => `record ${record}`),
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

function describe({ record, line, what }: BadAnswer): string {
  return `record ${record}${line === undefined ? "" : ` (line ${line})`}: ${what}`;
}
