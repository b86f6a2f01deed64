/**
 * `query-backend`: asks a system under test about every case. Each answer is a unit with a key of its own, stored raw before anything is
 * made of it.
 *
 * The key of an answer is what the backend could know when it gave it, and nothing else: its declared identity, the prompt's bytes, and of
 * the case, the tree and the truth exactly what its kind says that it reads. What it does not say, it does not get, so that a
 * key can't be incomplete by oversight. Time-outs, concurrency, the cell's name and the number of repeats change no answer.
 */
import * as z from "zod";
import { type Estimator, needsCorpusOf, readsDatasetOf, UnusableConfiguration } from "../backends/contract.js";
import { type AnyBackendKind, type BackendConfig, backendConfigSchema } from "../backends/registry.js";
import { canonicalJson, digestJson, type Json } from "../base/json.js";
import { part } from "../cache/key.js";
import { caseSchema } from "../dataset/schema.js";
import { itemStage, type StageKind, StageProblem, type StageTools } from "../engine/contract.js";
import { NEVER_CACHED } from "../engine/input-check.js";
import type { AnswersMeta } from "./answer-meta.js";
import { type Budget, budgetSchema } from "./budget.js";
import { caseIndexes } from "./case-indexes.js";
import { caseTrees, type OpenCorpus } from "./case-trees.js";
import { contentOf, missingIn } from "./fingerprint.js";
import { estimateUnit, executeUnit, extensionsOf, loadTruths, notesOf, type Prepared, unitsOf } from "./query-unit.js";

interface Config {
  readonly backend: BackendConfig;
  readonly repeats: number;
  readonly extra_prompt?: string | undefined;
  readonly timeout?: number | undefined;
  readonly budget?: Budget | undefined;
  readonly breaker?: number | false | undefined;
  readonly index?: string | undefined;
}

/** The stage kind over these backends. */
export function queryBackendStage(kinds: ReadonlyMap<string, AnyBackendKind>, openCorpus: OpenCorpus): StageKind {
  const kindOf = ({ backend }: Config): { kind: AnyBackendKind; options: unknown } => {
    const { kind: name, name: _label, ...options } = backend;
    const kind = kinds.get(name);
    if (kind === undefined) throw new Error(`the checked configuration names an unknown backend kind ${name}`);
    return { kind, options };
  };

  return itemStage<Config, Prepared>({
    kind: "query-backend",
    summary: "Asks a backend about every case of a data set.",
    version: 1,
    shape: "items",
    config: z.strictObject({
      backend: backendConfigSchema(kinds).describe("The system under test: its kind and options."),
      repeats: z.number().int().min(1).max(1000).default(1).describe("How often each case is asked, as separate answers."),
      extra_prompt: z
        .string()
        .optional()
        .describe("The task in your own words, instead of the default, for backends whose prompt has one (language models)."),
      timeout: z.number().positive().optional().describe("Seconds per question, instead of the backend's own."),
      budget: budgetSchema
        .optional()
        .describe("What one run may spend on this stage, all its cells together; beyond it the run stops and can be resumed."),
      breaker: z
        .union([z.number().int().min(1), z.literal(false)], { error: "must be a whole number of at least 1, or false" })
        .optional()
        .describe("So many failed calls in a row, and a backend is given a pause and at last not asked any more; false = never."),
      index: z
        .string()
        .min(1)
        .optional()
        .describe(
          "Which index to search, where several index-corpus stages of the backend's kind are in `needs`: stage or label.",
        ),
    }),
    produces: "answers",
    consumes: { dataset: "one", corpus: "optional", index: "many" },
    over: "dataset",
    precious: true,

    // Without `repeats`, `extra_prompt` (the prompt's digest has it) and `name`: asking more often must not ask again what was answered.
    keyConfig: (config) => {
      const { kind, options } = kindOf(config);
      return { backend: { kind: kind.kind, version: kind.version, identity: identityOf(kind, options) } };
    },
    // What only steers is left out, so that another budget finds the whole stage again.
    stageConfig: ({ budget: _budget, breaker: _breaker, ...config }) => config,
    identify: async (config, tools) => {
      const { kind, options } = kindOf(config);
      if (config.budget?.usd !== undefined) await checkPrice(config, kind, options, tools);
      // No identity: the system may answer differently tomorrow for reasons that nobody states, so no two runs may share a key.
      if (identityOf(kind, options) === null) return [part(NEVER_CACHED, `${tools.clock.now()} ${tools.random()}`)];
      return kind.fingerprint === undefined ? [] : [part("content", await contentOf(() => kind.fingerprint?.(options, tools)))];
    },
    resource: (config) => {
      const { kind, options } = kindOf(config);
      const name = kind.resource?.(options) ?? `${kind.kind}:${digestJson(config.backend).slice(0, 12)}`;
      return { name, concurrency: kind.concurrency(options), adaptive: kind.adaptive === true };
    },
    budget: ({ budget }) => budget ?? null,
    breaker: (config) => (config.breaker === undefined ? (kindOf(config).kind.breaker ?? null) : config.breaker || null),
    inOrder: (config) => kindOf(config).kind.inOrder === true,
    estimate: estimateUnit,

    doctor: async (config, environment) => {
      const { kind, options } = kindOf(config);
      if (kind.doctor !== undefined) return kind.doctor(options, environment);
      const found = !kind.kind.includes("/") ? "is built in and needs nothing else" : "has no check of its own";
      return [{ check: "backend", status: "ok", found: `${kind.kind} ${found}` }];
    },

    prepare: async (config, inputs, tools) => {
      const { kind, options } = kindOf(config);
      const corpus = inputs.optional("corpus");
      const needsCorpus = needsCorpusOf(kind, options);
      if (needsCorpus === true && corpus === undefined) {
        throw new StageProblem(
          `${kind.kind} searches source trees, but the stage has none: add a checkout stage to its \`needs\``,
        );
      }
      const label = config.backend.name ?? kind.kind;
      const identity = identityOf(kind, options);
      if (identity === null) tools.warn(`${label} declares no identity: its answers are not cached and every run asks again`);
      const content = identity === null ? undefined : await contentOf(() => kind.fingerprint?.(options, tools));
      const missing = missingIn(content);
      if (missing !== null) tools.warn(`${label} can't be asked: ${missing}`);
      const wantsTrees = needsCorpus !== false || kind.readsTruth;
      const truths = readsDatasetOf(kind, options) ? await loadTruths(inputs.one("dataset").all, tools) : undefined;
      const template = typeof kind.prompt === "function" ? kind.prompt(options) : kind.prompt;
      const estimator = await estimatorOf(kind, options, tools);
      const wantsIndex = kind.usesIndex?.(options) ?? "no";
      const indexes = wantsIndex === "no" ? undefined : await caseIndexes(kind.kind, inputs.many("index"), config.index, tools);
      if (wantsIndex === "required" && indexes === undefined) {
        throw new StageProblem(
          `${kind.kind} searches an index, but the stage has none: add an index-corpus stage with \`tool: { kind: ${kind.kind} }\` to its \`needs\``,
        );
      }
      let opened: ReturnType<Prepared["open"]> | undefined;
      return {
        kind,
        options,
        template,
        needsCorpus,
        repeats: config.repeats,
        prompt: {
          extraPrompt: config.extra_prompt ?? null,
          extensions: template === "text+format" ? extensionsOf(inputs.one("dataset").meta) : null,
        },
        indexes,
        trees: wantsTrees && corpus ? await caseTrees(corpus, tools, openCorpus, kind.readsTruth) : undefined,
        truthsDigest: truths === undefined ? null : digestJson(truths),
        estimator,
        seconds: config.timeout ?? kind.timeout?.(options) ?? null,
        meta: {
          kind: kind.kind,
          name: label,
          identity: identity === null ? null : { version: kind.version, options: identity, content: content ?? null },
          prompt: template,
          repeats: config.repeats,
          notes: [],
          left_out: [],
        } satisfies AnswersMeta,
        hopeless: missing,
        open: () => {
          opened ??= kind.open(options, {
            clock: () => tools.clock.now() / 1000,
            sleep: (milliseconds, signal) => tools.clock.sleep(milliseconds, signal),
            env: tools.env,
            baseFolder: tools.baseFolder,
            cacheFolder: tools.cacheFolder,
            warn: tools.warn,
            offline: tools.offline,
            ...(tools.terminal === undefined ? {} : { terminal: tools.terminal }),
            ...(truths === undefined ? {} : { truths }),
          });
          return opened;
        },
        close: async () => {
          // One that could not be opened has nothing to close; its error was each unit's.
          const backend = await opened?.catch(() => undefined);
          await backend?.close();
        },
      };
    },
    parts: ({ truthsDigest }) => (truthsDigest === null ? [] : [part("truth of all cases", truthsDigest)]),
    units: (prepared, item, value) => {
      const parsed = caseSchema.safeParse(value);
      if (!parsed.success) throw new Error(`${item.id} is no case: ${z.prettifyError(parsed.error)}`);
      return unitsOf(prepared, parsed.data);
    },
    execute: executeUnit,
    finish: async ({ kind, meta }, items, tools) => {
      const notes = kind.noteOf === undefined ? [] : await notesOf(kind.noteOf, items, tools);
      return JSON.parse(canonicalJson({ ...meta, notes: [...meta.notes, ...notes] })) as Json;
    },
    close: ({ close }) => close(),
  });
}

const NO_QUESTION = { id: "", repeat: 0, prompt: "", case: { id: "" } };

/** A bound in dollars on what has no price would bound nothing; found before anything runs. */
async function checkPrice(config: Config, kind: AnyBackendKind, options: unknown, tools: StageTools): Promise<void> {
  const estimator = await estimatorOf(kind, options, tools);
  if (estimator === null || estimator(NO_QUESTION).usd !== null) return;
  throw new StageProblem(
    `budget.usd can't be kept: the price of ${config.backend.name ?? kind.kind} is unknown. Put it into a price table of your own (\`prices\` of the backend), or bound tokens or queries instead`,
  );
}

async function estimatorOf(kind: AnyBackendKind, options: unknown, tools: StageTools): Promise<Estimator | null> {
  try {
    return (await kind.estimator?.(options, tools)) ?? null;
  } catch (error) {
    throw error instanceof UnusableConfiguration ? new StageProblem(error.message) : error;
  }
}

/** Throws `StageProblem` where a person's own backend can't say what it is. */
function identityOf(kind: AnyBackendKind, options: unknown): Json | null {
  try {
    return kind.identityOf(options);
  } catch (error) {
    throw error instanceof UnusableConfiguration ? new StageProblem(error.message) : error;
  }
}
