/**
 * `hybrid`: the rankings of several backends put together by reciprocal rank fusion. Each is asked as if it were alone; the answer is the fused
 * list, and what each said is kept beside it. If one of them fails the whole fails: a fusion of the others would be another system.
 */
import * as z from "zod";
import { parseAnswer } from "../answers/parse.js";
import { type Answer, FINAL_STATUSES } from "../answers/schema.js";
import { canonicalJson, type Json } from "../base/json.js";
import type { InnerConfig, InnerKinds } from "./chat-options.js";
import {
  type AnyKind,
  type Backend,
  type BackendKind,
  type CaseField,
  type Estimate,
  needsCorpusOf,
  type Question,
  type RawAnswer,
  readsDatasetOf,
} from "./contract.js";
import { filesOf, fuse, USUAL_K } from "./fusion.js";
import { innerFindings } from "./inner-doctor.js";
import { renderPrompt } from "./prompt.js";
import { completed, type RankedFile, rankedResponse } from "./ranked.js";

interface Options {
  readonly of: readonly InnerConfig[];
  readonly k: number;
  readonly top: number;
}

interface Member {
  readonly name: string;
  readonly kind: AnyKind;
  readonly options: unknown;
}

/** `kinds`: backends that may be fused; `schema`: of their configuration. */
export function hybrid(kinds: InnerKinds, schema: z.ZodType<InnerConfig>): BackendKind<Options> {
  const options = z.strictObject({
    of: z.array(schema).min(2).max(10).describe("The backends whose rankings are put together, each with its options."),
    k: z
      .number()
      .min(0)
      .default(USUAL_K)
      .describe("How little the first ranks stand out: a file gets 1 / (k + rank) from each ranking."),
    top: z.number().int().min(1).default(15).describe("Longest list of files to answer with."),
  });
  const members = ({ of }: Options): Member[] =>
    of.map(({ kind: name, name: label, ...rest }) => {
      const kind = kinds.get(name);
      if (kind === undefined) throw new Error(`the checked configuration names an unknown backend kind ${name}`);
      return { name: label ?? name, kind, options: rest };
    });
  const templateOf = ({ kind, options: given }: Member) => (typeof kind.prompt === "function" ? kind.prompt(given) : kind.prompt);
  return {
    kind: "hybrid",
    summary: "Several backends, their rankings put together by reciprocal rank fusion.",
    version: 1,
    options: options as unknown as z.ZodType<Options>,
    identityOf: (given) => {
      const identities: Json[] = [];
      for (const { kind, options: own } of members(given)) {
        const identity = kind.identityOf(own);
        if (identity === null) return null;
        identities.push({ kind: kind.kind, version: kind.version, identity });
      }
      return JSON.parse(canonicalJson({ of: identities, k: given.k, top: given.top })) as Json;
    },
    fingerprint: (given, environment) =>
      Promise.all(members(given).map(async ({ kind, options: own }) => (await kind.fingerprint?.(own, environment)) ?? null)),
    needsCorpus: (given) => {
      const needs = members(given).map(({ kind, options: own }) => needsCorpusOf(kind, own));
      return needs.includes(true) ? true : "optional";
    },
    usesIndex: (given) => {
      const uses = members(given).map(({ kind, options: own }) => kind.usesIndex?.(own) ?? "no");
      return uses.includes("required") ? "required" : uses.includes("optional") ? "optional" : "no";
    },
    readsTruth: false,
    readsDataset: (given) => members(given).some(({ kind, options: own }) => readsDatasetOf(kind, own)),
    reads: (given) => {
      const fields = members(given).flatMap(({ kind, options: own }): readonly CaseField[] => kind.reads?.(own) ?? []);
      return [...new Set(fields)];
    },
    // A model needs the answer's format; a retriever is then given the text alone, rendered from the same blocks.
    prompt: (given) => {
      const templates = members(given).map(templateOf);
      return templates.includes("text+format") ? "text+format" : templates.includes("text") ? "text" : "none";
    },
    concurrency: (given) => Math.min(...members(given).map(({ kind, options: own }) => kind.concurrency(own))),
    timeout: (given) => {
      const limits = members(given).map(({ kind, options: own }) => kind.timeout?.(own) ?? null);
      // They are asked side by side; one that may take for ever makes no limit of the others'.
      return limits.reduce<number | null>((longest, limit) => (limit === null ? longest : Math.max(longest ?? 0, limit)), null);
    },
    estimator: async (given, environment) => {
      const estimators = await Promise.all(
        members(given).map(({ kind, options: own }) => kind.estimator?.(own, environment) ?? null),
      );
      return (question) => {
        const estimates = estimators.flatMap((estimator) => (estimator === null ? [] : [estimator(question)]));
        const sum = (of: (estimate: Estimate) => number | null) =>
          estimates.reduce<number | null>((all, one) => {
            const value = of(one);
            return all === null || value === null ? null : all + value;
          }, 0);
        return { tokens: sum(({ tokens }) => tokens), usd: sum(({ usd }) => usd) };
      };
    },
    doctor: (given, environment) => innerFindings(members(given), environment),
    open: async (given, environment) => {
      const opened: Opened[] = [];
      try {
        for (const member of members(given)) {
          const reads = readsDatasetOf(member.kind, member.options);
          const { truths, ...others } = environment;
          const own = reads && truths !== undefined ? { ...others, truths } : others;
          opened.push({ member, backend: await member.kind.open(member.options, own) });
        }
      } catch (error) {
        await Promise.all(opened.map(({ backend }) => backend.close()));
        throw error;
      }
      const session = new Session(opened, given, templateOf);
      return {
        ask: (question, signal) => session.ask(question, signal),
        close: async () => void (await Promise.all(opened.map(({ backend }) => backend.close()))),
      };
    },
  };
}

interface Opened {
  readonly member: Member;
  readonly backend: Backend;
}

class Session {
  readonly #opened: readonly Opened[];
  readonly #options: Options;
  readonly #templateOf: (member: Member) => string;
  /** What came from members whose fellow failed: another attempt must not pay for it again. */
  readonly #kept = new Map<string, RawAnswer>();

  constructor(opened: readonly Opened[], options: Options, templateOf: (member: Member) => string) {
    this.#opened = opened;
    this.#options = options;
    this.#templateOf = templateOf;
  }

  async ask(question: Question, signal: AbortSignal): Promise<RawAnswer> {
    const answers = await Promise.all(
      this.#opened.map(async ({ member, backend }, index) => {
        const name = JSON.stringify([question.id, question.repeat, index]);
        const kept = this.#kept.get(name);
        if (kept !== undefined) return kept;
        const answer = await backend.ask(this.#questionFor(member, question), signal);
        if (FINAL_STATUSES.has(answer.status)) this.#kept.set(name, answer);
        return answer;
      }),
    );
    const failed = answers.findIndex(({ status }) => !FINAL_STATUSES.has(status));
    const details = { members: this.#opened.map(({ member }, index) => said(member, answers[index])) };
    const usage = total(answers.map((answer) => answer.usage ?? null));
    if (failed !== -1) {
      const answer = answers[failed] as RawAnswer;
      const name = this.#opened[failed]?.member.name ?? "a backend";
      // What the others used is told when the fused answer comes.
      return { ...answer, response: "", error: `${name}: ${answer.error ?? answer.status}`, details };
    }
    for (const index of this.#opened.keys()) this.#kept.delete(JSON.stringify([question.id, question.repeat, index]));
    const rankings: (readonly RankedFile[])[] = [];
    for (const [index, answer] of answers.entries()) {
      const member = this.#opened[index]?.member;
      const ranking = rankingOf(answer, question);
      if (ranking === null) {
        return {
          status: "failed",
          response: "",
          error: `${member?.name} draws at random many times: there is no one ranking to put together`,
          details,
        };
      }
      rankings.push(ranking);
    }
    const fused = completed(rankedResponse(fuse(rankings, this.#options.k, this.#options.top)), details);
    return { ...fused, ...(usage === null ? {} : { usage }) };
  }

  #questionFor(member: Member, question: Question): Question {
    const { blocks, corpus, ...rest } = question;
    const template = this.#templateOf(member);
    const withCorpus = corpus !== undefined && needsCorpusOf(member.kind, member.options) !== false ? { corpus } : {};
    if (template === "text+format") return { ...rest, ...withCorpus, ...(blocks === undefined ? {} : { blocks }) };
    const prompt =
      template === "none"
        ? ""
        : blocks === undefined
          ? rest.prompt
          : renderPrompt("text", { title: blocks.title, body: blocks.description });
    return { ...rest, ...withCorpus, prompt };
  }
}

/** What a member says, read as its own answer would be; nothing where it refuses or can't be read. null: it drew many lists. */
function rankingOf({ response, status }: RawAnswer, { prompt, corpus }: Question): readonly RankedFile[] | null {
  const reading = parseAnswer(response, { truncated: status === "truncated", prompt });
  if (reading.kind === "drawn") return null;
  return reading.kind === "answered" ? filesOf(reading.entries, corpus?.tree.files.map(({ path }) => path) ?? []) : [];
}

/** Answers that were paid for are kept, raw. */
function said({ name, kind }: Member, answer: RawAnswer | undefined) {
  return {
    backend: name,
    kind: kind.kind,
    status: answer?.status ?? null,
    response: answer?.response ?? null,
    ...(answer?.error == null ? {} : { error: answer.error }),
    ...(answer?.usage == null ? {} : { usage: answer.usage }),
    ...(answer?.details === undefined ? {} : { details: answer.details }),
  };
}

type Usage = NonNullable<Answer["usage"]>;

/** Sums; unknown where any member that reports usage does not know. null where none reports any. */
function total(usages: readonly (Usage | null)[]): Usage | null {
  const known = usages.filter((usage) => usage !== null);
  if (known.length === 0) return null;
  const sum = (name: keyof Usage) =>
    known.some((usage) => typeof usage[name] !== "number") ? null : known.reduce((all, usage) => all + (usage[name] ?? 0), 0);
  return {
    input_tokens: sum("input_tokens"),
    output_tokens: sum("output_tokens"),
    reasoning_tokens: sum("reasoning_tokens"),
    cost_usd: sum("cost_usd"),
  };
}
