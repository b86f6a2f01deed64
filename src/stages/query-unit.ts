/** One question to a backend: its key, the asking, and the answer that is stored. */
import * as z from "zod";
import { type Answer, answerSchema, FINAL_STATUSES } from "../answers/schema.js";
import type { Backend, CaseTruth, Estimate, Estimator, PromptTemplate, Question, RawAnswer } from "../backends/contract.js";
import { type PromptOptions, promptBlocks, renderPrompt } from "../backends/prompt.js";
import type { AnyBackendKind } from "../backends/registry.js";
import { redactor } from "../base/env-secrets.js";
import { digestBytes, digestJson, type Json } from "../base/json.js";
import { type KeyPart, part } from "../cache/key.js";
import { type Case, caseSchema, type Target } from "../dataset/schema.js";
import type { ItemRef, StageTools, Unit, UnitOutcome } from "../engine/contract.js";
import { type AnswersMeta, answerItemId } from "./answer-meta.js";
import { askWithin, isTimeout } from "./ask-within.js";
import type { CaseIndex, CaseIndexes } from "./case-indexes.js";
import type { CaseTree, CaseTrees } from "./case-trees.js";

/** What all questions of a stage share. */
export interface Prepared {
  readonly kind: AnyBackendKind;
  readonly options: unknown;
  readonly template: PromptTemplate;
  readonly needsCorpus: boolean | "optional";
  readonly prompt: PromptOptions;
  readonly repeats: number;
  /** undefined: the stage has no corpus, or the kind reads neither trees nor truth. */
  readonly trees: CaseTrees | undefined;
  /** undefined: the kind searches no index of an index-corpus stage, or the stage has none. */
  readonly indexes: CaseIndexes | undefined;
  readonly truthsDigest: string | null;
  /** Says about what a question costs; null: it costs nothing that can be told before. */
  readonly estimator: Estimator | null;
  /** Time limit per question; null = none. */
  readonly seconds: number | null;
  readonly meta: AnswersMeta;
  /** Opens the backend once, when the first case is really asked: a run that finds all answers starts nothing. */
  readonly open: () => Promise<Backend>;
  readonly close: () => Promise<void>;
  /** Why every question fails (`RawAnswer.ofAll`), once that is known; held for as long as the stage runs. */
  hopeless: string | null;
}

interface UnitData {
  readonly question: Omit<Question, "corpus" | "index">;
  readonly tree: CaseTree | undefined;
  readonly index: CaseIndex | undefined;
}

export function unitsOf(prepared: Prepared, item: Case): Unit[] {
  const { kind, options, template, trees } = prepared;
  const prompt = renderPrompt(template, item, prepared.prompt);
  const tree = trees?.forCase(item);
  const shown = Object.fromEntries((kind.reads?.(options) ?? []).map((field) => [field, item[field]]));
  const parts: KeyPart[] = [part("case", item.id)];
  if (template !== "none") parts.push(part("prompt", digestBytes(prompt)));
  if (Object.keys(shown).length > 0) parts.push(part("case fields", shown));
  if (prepared.needsCorpus !== false) parts.push(part("source tree", tree?.digest ?? null));
  const index = prepared.indexes?.forCase(item);
  if (prepared.indexes !== undefined) parts.push(part("index", index?.digest ?? null));
  let truth: Target[] | undefined;
  if (kind.readsTruth) {
    // Without any corpus all targets count; a case that has no tree among many can't be asked about any file.
    truth = trees === undefined ? item.targets : item.targets.filter(({ path }) => tree?.has(path) ?? false);
    parts.push(part("truth", digestJson(truth)));
  }
  return Array.from({ length: prepared.repeats }, (_, repeat) => {
    const question = {
      id: item.id,
      repeat,
      prompt,
      ...(template === "text+format" ? { blocks: promptBlocks(item, prepared.prompt) } : {}),
      case: { id: item.id, ...shown },
      ...(truth === undefined ? {} : { truth }),
    };
    const data: UnitData = { question, tree, index };
    return { id: answerItemId(item.id, repeat), parts: [...parts, part("repeat", repeat)], data };
  });
}

/** About what asking will cost; reads the tree's list of files where the backend is shown them. */
export async function estimateUnit(prepared: Prepared, unit: Unit): Promise<Estimate | null> {
  const { estimator, needsCorpus } = prepared;
  if (estimator === null) return null;
  const { question, tree } = unit.data as UnitData;
  const corpus = needsCorpus === false ? undefined : await tree?.open();
  return estimator(corpus === undefined ? question : { ...question, corpus });
}

export async function executeUnit(prepared: Prepared, unit: Unit, tools: StageTools, signal: AbortSignal): Promise<UnitOutcome> {
  const { kind, seconds, trees } = prepared;
  const { question, tree, index } = unit.data as UnitData;
  if (prepared.needsCorpus !== false && trees !== undefined && tree === undefined) {
    const error = "no source tree was checked out for this case: see its base commit and the checkout stage";
    return outcomeOf({ status: "skipped", response: "", error, asked: false }, prepared, question, null);
  }
  if (prepared.indexes !== undefined && index === undefined) {
    const error = "no index was built for this case's source tree: see its base commit and the index-corpus stage";
    return outcomeOf({ status: "skipped", response: "", error }, prepared, question, null);
  }
  if (prepared.hopeless !== null)
    return outcomeOf({ status: "failed", response: "", error: prepared.hopeless, asked: false }, prepared, question, null);
  let backend: Backend;
  try {
    backend = await prepared.open();
  } catch (cause) {
    const why = redactor(tools.env)(cause instanceof Error ? cause.message : String(cause));
    const error = `${kind.kind} could not be started: ${why}`;
    prepared.hopeless = error;
    return outcomeOf({ status: "failed", response: "", error, asked: false }, prepared, question, null);
  }
  const corpus = prepared.needsCorpus === false ? undefined : await tree?.open();
  const asked: Question = {
    ...question,
    ...(corpus === undefined ? {} : { corpus }),
    ...(index === undefined ? {} : { index: index.open() }),
  };
  tools.count("queries");
  const started = tools.clock.now();
  const raw = await askWithin(seconds, (limited) => put(backend, asked, limited, tools), tools.clock, signal);
  if (raw.asked === false) tools.count("queries", -1);
  const took = Math.max(0, tools.clock.now() - started) / 1000;
  // A run that is being stopped keeps an answer that has come, and nothing else.
  if (!FINAL_STATUSES.has(raw.status) && !isTimeout(signal.reason)) signal.throwIfAborted();
  if (raw.ofAll === "stop") return { type: "stop", message: raw.error ?? `${kind.kind} takes no more questions`, resumeAt: null };
  if (raw.ofAll === "fail") prepared.hopeless ??= raw.error ?? `${kind.kind} fails for every question`;
  return outcomeOf(raw, prepared, question, raw.seconds ?? took);
}

/** Asks, and lets the next question follow: whoever is asked in order has this one now. */
function put(backend: Backend, question: Question, signal: AbortSignal, tools: StageTools): Promise<RawAnswer> {
  const answer = backend.ask(question, signal);
  tools.begun?.();
  return answer;
}

function outcomeOf(raw: RawAnswer, prepared: Prepared, question: UnitData["question"], seconds: number | null): UnitOutcome {
  const { kind, template } = prepared;
  const answer: Answer = {
    id: question.id,
    backend: kind.kind,
    repeat: question.repeat,
    status: raw.status,
    finish_reason: raw.finish_reason ?? null,
    response: raw.response,
    error: raw.error ?? null,
    usage: raw.usage ?? null,
    seconds,
    prompt: template === "none" ? null : question.prompt,
    details: raw.details ?? {},
  };
  const items = [{ id: answerItemId(question.id, question.repeat), value: answer }];
  const cost = costOf(raw.usage);
  if (!FINAL_STATUSES.has(raw.status)) {
    const message = raw.error ?? `${kind.kind} gave no answer (${raw.status})`;
    return {
      type: "failed",
      status: raw.status,
      message,
      items,
      ...(raw.retry === undefined ? {} : { retry: { ...raw.retry, limited: raw.status === "rate_limited" } }),
      ...(cost === undefined ? {} : { cost }),
      ...(raw.asked === undefined ? {} : { asked: raw.asked }),
    };
  }
  return { type: "done", status: raw.status, items, ...(cost === undefined ? {} : { cost }) };
}

function costOf(usage: RawAnswer["usage"]): { usd?: number; tokens?: number } | undefined {
  if (usage === null || usage === undefined) return undefined;
  const { cost_usd, input_tokens, output_tokens } = usage;
  const counted = typeof input_tokens === "number" || typeof output_tokens === "number";
  return {
    ...(typeof cost_usd === "number" ? { usd: cost_usd } : {}),
    ...(counted ? { tokens: (input_tokens ?? 0) + (output_tokens ?? 0) } : {}),
  };
}

const TRUTHS_BATCH = 500;
const ANSWERS_BATCH = 500;

/** The cases as a backend that `readsDataset` sees them: without any text, so that a changed text changes no key of it. */
export async function loadTruths(refs: readonly ItemRef[], tools: StageTools): Promise<CaseTruth[]> {
  const truths: CaseTruth[] = [];
  for (let i = 0; i < refs.length; i += TRUTHS_BATCH) {
    for (const value of await tools.load(refs.slice(i, i + TRUTHS_BATCH))) {
      const { id, repository, targets, links } = caseSchema.parse(value);
      truths.push({
        id,
        repository,
        targets: targets.map(({ path }) => ({ path })),
        links: links.map((link) => ({ repository: link.repository, number: link.number })),
      });
    }
  }
  return truths;
}

/** The kind's notes on its answers, each once with the number of answers that have it, in the order of the first. */
export async function notesOf(
  noteOf: NonNullable<AnyBackendKind["noteOf"]>,
  refs: readonly ItemRef[],
  tools: Pick<StageTools, "load">,
): Promise<string[]> {
  const counts = new Map<string, number>();
  for (let i = 0; i < refs.length; i += ANSWERS_BATCH) {
    for (const value of await tools.load(refs.slice(i, i + ANSWERS_BATCH))) {
      const note = noteOf(answerSchema.parse(value));
      if (note !== null) counts.set(note, (counts.get(note) ?? 0) + 1);
    }
  }
  return [...counts].map(([note, count]) => `${count} of ${refs.length} answers: ${note}`);
}

/** `extensions` of the data set's header, where it has them. */
export function extensionsOf(meta: Json): readonly string[] | null {
  const header = z.object({ extensions: z.array(z.string()).nullable() }).safeParse(meta);
  return header.success ? header.data.extensions : null;
}
